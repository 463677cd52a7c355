"""A progress bar: tqdm's where it is installed, a plain line otherwise."""

import sys
from collections.abc import Iterable, Iterator
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
    last = start + delay - SECONDS_BETWEEN_LINES if delay else start
    for count, item in enumerate(items, start=1):
        yield item
        now = perf_counter()
        if now - last >= SECONDS_BETWEEN_LINES or (count == total and now - start >= delay):
            last = now
            print(line(label, count, total, now - start), file=sys.stderr, flush=True)


def line(label: str, count: int, total: int, seconds: float) -> str:
    """Return one line of progress, with the expected rest at the mean pace so far."""
    rest = seconds / count * (total - count)
    return f"{label}: {count}/{total}, {clock(seconds)} gone, {clock(rest)} to go"


def clock(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds.

    >>> clock(59.6), clock(3725)
    ('1:00', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
