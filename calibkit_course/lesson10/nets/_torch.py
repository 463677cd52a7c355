"""Where torch comes in: on first use, with one thread, and without its global generator."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local
from typing import Any

_here = local()  # what belongs to one Python thread
_lock = Lock()
_users = 0
_outside = 1


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
    global _users, _outside
    torch = need_torch()
    if getattr(_here, "inside", False):
        yield torch
        return
    # The setting belongs to the Python thread that made it, but a new Python thread starts with
    # the latest one of all. If that 1 is ours, the number from before is meant.
    with _lock:
        mine = int(torch.get_num_threads())
        if _users == 0:
            _outside = mine
        elif mine == 1:
            mine = _outside
        _users += 1
        _here.inside = True
    try:
        torch.set_num_threads(1)
        yield torch
    finally:
        with _lock:
            _users -= 1
            _here.inside = False
            torch.set_num_threads(mine)


def on_processor(values: Any) -> Any:
    """Return a copy as a tensor of the same type, whatever device is the caller's default."""
    return need_torch().tensor(values, device="cpu")
