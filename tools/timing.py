"""How a speed is measured and stated: the best of several runs, in units of a yardstick."""

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np


class Case(NamedTuple):
    """One measured line."""

    name: str
    milliseconds: float
    yardstick: str
    yardstick_ms: float
    promised: float

    @property
    def ratio(self) -> float:
        """Time in units of the yardstick."""
        return self.milliseconds / self.yardstick_ms


def best_ms(run: Callable[[], object], seconds: float = 1.0) -> float:
    """Return the fastest of several runs, in milliseconds: the least disturbed one."""
    run()
    best, spent = np.inf, 0.0
    while spent < seconds:
        start = perf_counter()
        run()
        took = perf_counter() - start
        best, spent = min(best, took), spent + took
    return 1e3 * best
