"""How a speed is measured and stated: the best of several runs, in units of a yardstick.

Absolute seconds differ between machines, ratios to what was timed in the same run hardly do.
"""

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import NamedTuple

import numpy as np

Run = Callable[[], object]


class Yardstick(NamedTuple):
    """What a time is compared with."""

    name: str
    ms: float


class Case(NamedTuple):
    """One measured line: a time, and how many yardsticks it may take."""

    name: str
    ms: float
    yardstick: Yardstick
    promised: float

    @property
    def ratio(self) -> float:
        """Time in units of the yardstick."""
        return self.ms / self.yardstick.ms


MILLISECOND = Yardstick("one millisecond", 1.0)


def best_ms(run: Run, seconds: float = 1.0) -> float:
    """Return the fastest of several runs, in milliseconds: the least disturbed one."""
    run()
    best, spent = np.inf, 0.0
    while spent < seconds:
        start = perf_counter()
        run()
        took = perf_counter() - start
        best, spent = min(best, took), spent + took
    return 1e3 * best


def yardstick(name: str, run: Run) -> Yardstick:
    """Time a yardstick."""
    return Yardstick(name, best_ms(run))


def timed(name: str, run: Run, stick: Yardstick, promised: float) -> Case:
    """Time a case."""
    return Case(name, best_ms(run), stick, promised)


def printed(cases: Iterable[Case]) -> int:
    """Print each case as soon as it is measured; 1 where a promise is broken."""
    print(f"{'case':<36}{'time (ms)':>10}  {'yardstick':<22}{'(ms)':>8}{'ratio':>8}{'promise':>9}")
    broken = 0
    for case in cases:
        over = case.ratio > case.promised
        broken += over
        print(
            f"{case.name:<36}{case.ms:>10.3f}  {case.yardstick.name:<22}{case.yardstick.ms:>8.3f}"
            f"{case.ratio:>8.2f}{case.promised:>9.1f}{'  <- broken' * over}",
            flush=True,
        )
    return int(broken > 0)
