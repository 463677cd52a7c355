"""Merging items into blocks under the rules of PAVA-BC, fast and exactly.

The definition is `_Stack.push`, item by item. With it alone, 50,000 predictions take ten times
as long (`tools/bench.py` promises a ratio), and lesson 08's explorer passes 300 ms at 8,000.
"""

from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

# 64 bits wide everywhere: products of events and predictions are compared exactly.
Counts = NDArray[np.int64]
# Of each level: where units begin among the smaller ones, events and predictions before them.
Levels = list[tuple[Any, ...]]


def merge(hits: Counts, counts: Counts, n_min: int, n_max: int) -> list[int]:
    """Merge items into blocks and return the sizes of these.

    Items are given by the events and the predictions before each of them, and by those of all.
    Runs of items that isotonic regression pools are taken as one unit where it can be proved
    that the result is the same, and in parts elsewhere, down to single items: see `_Stack.take`.
    """
    levels: Levels = []
    first = np.empty(0, dtype=np.intp)
    while True:
        # A view gives plain integers, several times as fast as an array does.
        levels.append((first.data, hits.data, counts.data))
        y, w = hits[1:] - hits[:-1], counts[1:] - counts[:-1]
        begins = np.ones(len(counts), dtype=bool)
        begins[1:-1] = y[1:] * w[:-1] > y[:-1] * w[1:]
        if begins.all():
            break
        first = np.flatnonzero(begins)
        hits, counts = hits[first], counts[first]
    stack = _Stack(n_min, n_max)
    for unit in range(len(w)):
        _feed(stack, levels, len(levels) - 1, unit, unit + 1)
    return stack.counts


def _feed(stack: "_Stack", levels: Levels, depth: int, start: int, stop: int) -> None:
    """Add neighbouring units of a level that would pool: as many at once as possible.

    Frequencies do not increase from one of them to the next, so some of them would pool as well.
    """
    first, hits, counts = levels[depth]
    while start < stop:
        end = stop
        while room := stack.take(hits[end] - hits[start], counts[end] - counts[start]):
            if end - start > 1:
                end = bisect_right(counts, counts[start] + room, start + 2, end) - 1
                continue
            if depth:
                _feed(stack, levels, depth - 1, first[start], first[end])
            else:
                stack.push(hits[end] - hits[start], counts[end] - counts[start])
            break
        start = end


class _Stack:
    """Blocks so far, as events and sizes. All but the last hold at least `n_min` predictions."""

    __slots__ = ("counts", "hits", "n_max", "n_min")

    def __init__(self, n_min: int, n_max: int) -> None:
        self.hits: list[int] = []
        self.counts: list[int] = []
        self.n_min, self.n_max = n_min, n_max

    def push(self, y: int, w: int) -> None:
        """Add one item and merge as long as the rules ask for it: the definition."""
        hits, counts = self.hits, self.counts
        while counts:
            before = counts[-1]
            higher = hits[-1] * w >= y * before
            if before >= self.n_min and not (before + w <= self.n_max and higher):
                break
            y, w = y + hits.pop(), w + counts.pop()
        hits.append(y)
        counts.append(w)

    def take(self, unit_y: int, unit_w: int) -> int:
        """Add a run of items that isotonic regression pools, if the rules lead there too.

        Returns 0, or how large a beginning of the run might be added if the run cannot be.
        None of its beginnings has a lower frequency than all of it, none of its ends a higher one.
        Three cases are safe.

        1. The last block is full enough, and has a lower frequency than the run or no room. So it
           has against each beginning, and stays apart. Blocks within the run cannot have increasing
           frequencies at its end, so they are one, if `n_max` has room for it.
        2. The last block has at least the frequency of the run, and there is room for both. Then
           no end of the run can stand apart from what is before it.
        3. All items are still needed to reach `n_min`.

        In 2 and 3 the grown block may go on to merge with those before it. If it does so during
        the run, the rest of the run has a frequency no higher than theirs and joins as well; so
        the state at the end of the run decides, unless there is room for a part of the run but
        not for all of it: then, as elsewhere, nothing is done.
        """
        hits, counts, n_min, n_max = self.hits, self.counts, self.n_min, self.n_max
        y, w = (hits[-1], counts[-1]) if counts else (0, n_max)
        lower = y * unit_w < unit_y * w
        if w >= n_min and (lower or w >= n_max):
            if unit_w > n_max:
                return n_max
            hits.append(unit_y)
            counts.append(unit_w)
            return 0
        room = (n_min if lower else n_max) - w
        if unit_w > room:
            return room
        y, w, depth = y + unit_y, w + unit_w, 1
        while depth < len(counts):
            other = counts[-1 - depth]
            if other + w <= n_max:
                if hits[-1 - depth] * w < y * other:
                    break
                y, w, depth = y + hits[-1 - depth], w + other, depth + 1
            elif other + w - unit_w >= n_max:
                break
            else:
                return n_max - other - w + unit_w
        del hits[-depth:], counts[-depth:]
        hits.append(y)
        counts.append(w)
        return 0
