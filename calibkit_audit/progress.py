"""A progress bar: tqdm's where it is installed, a plain line otherwise."""

import sys
from collections.abc import Iterable, Iterator
from datetime import timedelta
from time import perf_counter
from typing import TypeVar

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 10.0


def track(items: Iterable[Item], total: int, *, show: bool, label: str) -> Iterator[Item]:
    """Yield the items, and say on standard error how many have come and how long it will take."""
    if not show or total == 0:
        return iter(items)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _plain(items, total, label)
    return iter(tqdm(items, total=total, desc=label, mininterval=1.0))


def _plain(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    start = perf_counter()
    due = start + SECONDS_BETWEEN_LINES
    for count, item in enumerate(items, start=1):
        yield item
        now = perf_counter()
        if now >= due or count == total:
            due = now + SECONDS_BETWEEN_LINES
            rest = timedelta(seconds=round((now - start) / count * (total - count)))
            print(f"{label}: {count}/{total}, {rest} to go", file=sys.stderr, flush=True)
