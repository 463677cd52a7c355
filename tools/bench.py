"""Speed of the package, as ratios to a yardstick timed in the same run.

``python dev.py bench`` prints one line per case: the time, the yardstick, the ratio, and the
ratio that the project promises; ``--quick`` takes a tenth of the rows, ``--rows`` says how many
of a log are counted. Inputs include validation; one thread. Exit code 1 if a promise is broken.
"""

import argparse
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import Any, get_origin

import numpy as np

import calibkit as ck
from calibkit.fakes import KnobClassifier
from calibkit_course import explore, lessons
from tools import bench_counts, bench_fits
from tools.timing import MILLISECOND, Case, Run, Yardstick, best_ms, printed, timed, yardstick

FEW = 1000  # rows of a single quick call


def importing() -> Case:
    """Time the import of the package against that of what it needs."""

    def fresh(names: str) -> Run:
        return partial(subprocess.run, [sys.executable, "-c", f"import {names}"], check=True)

    needed = yardstick("numpy, special", fresh("numpy, scipy.special"))
    return timed("import calibkit", fresh("calibkit"), needed, 2)


def measures(n: int, rng: np.random.Generator) -> Iterator[Case]:
    """Time the measures on many rows and on few, and measure what memory they take."""
    top_label = partial(ck.expected_calibration_error, view="top-label")
    table, classes = rng.dirichlet(np.ones(10), n), rng.integers(0, 10, n)
    many, few = partial(top_label, classes, table), partial(top_label, classes[:FEW], table[:FEW])
    yield timed("top-label ECE, x 10", many, yardstick("np.sum of it", lambda: table.sum()), 16)
    yield timed("top-label ECE, 1e3 x 10", few, MILLISECOND, 0.4)
    tracemalloc.start()
    many()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield Case("extra memory", peak / 1e6, Yardstick("MB of input", table.nbytes / 1e6), 1.0)

    prob = rng.random(n)
    label = (rng.random(n) < prob).astype(np.int64)
    column = yardstick("np.sum of p", lambda: prob.sum())
    sort = yardstick("np.sort of p", lambda: np.sort(prob))
    yield timed("binary equal-width table", partial(ck.reliability_table, label, prob), column, 40)
    error = partial(ck.adaptive_calibration_error, label, prob)
    yield timed("binary equal-mass error", error, sort, 1.3)


def draws(n: int, rng: np.random.Generator) -> Iterator[Case]:
    """Time exact bootstrap resamples, and samples of a fake classifier with ten classes."""
    prob = rng.random(10_000)
    data = (rng.random(10_000) < prob, prob)
    ece = partial(ck.bootstrap_interval, ck.expected_calibration_error, *data, n_resamples=1000)
    indices = yardstick("drawing the indices", lambda: rng.integers(0, 10_000, (1000, 10_000)))
    yield timed("1000 bootstrap resamples, n = 1e4", partial(ece, rng=rng), indices, 4)
    gammas = yardstick("as many gammas", lambda: rng.standard_gamma(1.0, 10 * n))
    for spread in ("equal", "random"):
        fake = KnobClassifier(10, 0.9, budget_share=0.5, spread=spread)
        yield timed(f"fake sample, {spread} spread, x 10", partial(fake.sample, n, rng), gammas, 6)


def redraws() -> Iterator[Case]:
    """Time one redraw of each explorer, at its default and at the far end of each control."""
    rooms = [import_module(f"calibkit_course.lesson{number}") for number in lessons()]
    found = [(name, getattr(room, name)) for room in rooms for name in getattr(room, "__all__", ())]
    for name, make in found:
        if not _makes_an_explorer(make):
            continue
        shown = make()
        if isinstance(shown, explore.Quiz):
            picture = partial(shown.picture, shown.first, revealed=True)
            yield timed(f"redraw, {name}", picture, MILLISECOND, 200)
            continue
        ends = [{control.name: control.values[-1]} for control in shown.controls]
        slowest = max(best_ms(partial(shown.show, **state), 0.6) for state in ({}, *ends))
        yield Case(f"slowest redraw, {name}", slowest, MILLISECOND, 200)


def _makes_an_explorer(function: Any) -> bool:
    """Tell whether a function returns something that a reader can set by hand."""
    if not isinstance(function, FunctionType):
        return False
    kind = function.__annotations__.get("return")
    kind = get_origin(kind) or kind
    return isinstance(kind, type) and issubclass(kind, explore.Explorer | explore.Quiz)


def cases(n: int, n_counted: int) -> Iterator[Case]:
    """Measure them all."""
    rng = np.random.default_rng(0)
    yield importing()
    yield from measures(n, rng)
    yield from draws(n, rng)
    yield from bench_fits.cases(rng)
    yield from bench_counts.cases(n_counted)
    yield from redraws()


def main(arguments: list[str] | None = None) -> int:
    """Run all cases and print them."""
    parser = argparse.ArgumentParser(prog="dev.py bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the log to count")
    chosen = parser.parse_args(arguments)
    return printed(cases(100_000 if chosen.quick else 1_000_000, chosen.rows))


if __name__ == "__main__":
    sys.exit(main())
