"""Where torch comes in: on first use, with one thread, and without its global generator."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def need_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            'Lesson 10 trains small networks with torch; install it with pip install "calibkit'
            '[nets]", or torch alone from the index of its builds without graphics cards.'
        ) from error
    return torch


@contextmanager
def one_thread() -> Iterator[Any]:
    """Compute with one thread, and give the caller's number back, also after an error.

    Small networks get slower with more; with one the same numbers come out twice, bit by bit.
    """
    torch = need_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield torch
    finally:
        torch.set_num_threads(before)


def on_processor(values: Any) -> Any:
    """Return a copy as a tensor of the same type, whatever device is the caller's default."""
    return need_torch().tensor(values, device="cpu")
