"""The progress of a long run, in plain lines."""

import sys
from collections.abc import Iterable, Iterator
from datetime import timedelta
from time import perf_counter
from typing import TypeVar

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 10.0


def track(items: Iterable[Item], total: int, *, show: bool, label: str) -> Iterator[Item]:
    """Yield the items, and say on standard error how many have come and how long it will take."""
    start = perf_counter()
    due = start + SECONDS_BETWEEN_LINES
    for count, item in enumerate(items, start=1):
        yield item
        now = perf_counter()
        if show and (now >= due or count == total):
            due = now + SECONDS_BETWEEN_LINES
            rest = timedelta(seconds=round((now - start) / count * (total - count)))
            print(f"{label}: {count}/{total}, {rest} to go", file=sys.stderr, flush=True)
