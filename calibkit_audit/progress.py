"""A progress bar: tqdm's where it is installed, a plain line otherwise."""

import sys
from collections.abc import Iterable, Iterator
from datetime import timedelta
from time import perf_counter
from typing import TypeVar

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 10.0
SECONDS_OF_SILENCE = 5.0


def track(
    items: Iterable[Item], total: int, *, show: bool, label: str, delay: float = 0.0
) -> Iterator[Item]:
    """Yield the items, and say on standard error how many have come and how long it will take.

    For `delay` seconds nothing is said, so that short runs stay silent.
    """
    if not show or total == 0:
        return iter(items)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _plain(items, total, label, delay)
    return iter(tqdm(items, total=total, desc=label, mininterval=1.0, delay=delay))


def watched(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Track a run that may take long, if a person is there to see it; silent in scripts."""
    return track(items, total, show=interactive(), label=label, delay=SECONDS_OF_SILENCE)


def interactive() -> bool:
    """Tell whether a person watches: at a terminal, or a notebook that can ask questions."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    asks = getattr(getattr(shell, "kernel", None), "_allow_stdin", False)
    return sys.stderr.isatty() or bool(asks)


def _plain(items: Iterable[Item], total: int, label: str, delay: float) -> Iterator[Item]:
    start = perf_counter()
    due = start + (delay or SECONDS_BETWEEN_LINES)
    for count, item in enumerate(items, start=1):
        yield item
        now = perf_counter()
        if now >= due or (count == total and now - start >= delay):
            due = now + SECONDS_BETWEEN_LINES
            rest = timedelta(seconds=round((now - start) / count * (total - count)))
            print(f"{label}: {count}/{total}, {rest} to go", file=sys.stderr, flush=True)
