"""Speed of the package, as ratios to a yardstick timed in the same run.

``python dev.py bench`` prints one line per case: the time, the yardstick, the ratio, and the
ratio that the project promises. Absolute seconds differ between machines, ratios hardly do.
Inputs include validation; one thread. Exit code 1 if a promise is broken.
"""

import argparse
import subprocess
import sys
import tracemalloc
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import Any, get_origin

import numpy as np

import calibkit as ck
from calibkit.fakes import KnobClassifier
from calibkit_course import lessons
from calibkit_course.explore import Quiz, Shown
from tools import bench_counts, bench_fits, bench_multiclass
from tools.timing import Case, best_ms


def large_inputs(n: int, rng: np.random.Generator) -> list[Case]:
    """Time the measures on a million rows."""
    table = rng.dirichlet(np.ones(10), n)
    classes = rng.integers(0, 10, n)
    prob = rng.random(n)
    label = (rng.random(n) < prob).astype(np.int64)
    full, column, sort = (
        best_ms(lambda: np.sum(table)),
        best_ms(lambda: np.sum(prob)),
        best_ms(lambda: np.sort(prob)),
    )
    return [
        Case(
            "top-label ECE, 1e6 x 10",
            best_ms(lambda: ck.expected_calibration_error(classes, table, view="top-label")),
            "np.sum of the table",
            full,
            16,
        ),
        Case(
            "binary equal-width table, 1e6",
            best_ms(lambda: ck.reliability_table(label, prob)),
            "np.sum of p",
            column,
            40,
        ),
        Case(
            "binary equal-mass error, 1e6",
            best_ms(lambda: ck.adaptive_calibration_error(label, prob)),
            "np.sort of p",
            sort,
            1.3,
        ),
    ]


def resampling(n: int, n_resamples: int, rng: np.random.Generator) -> Case:
    """Time exact bootstrap resamples of the expected calibration error."""
    prob = rng.random(n)
    label = rng.random(n) < prob
    return Case(
        f"{n_resamples} bootstrap resamples, n = {n:.0e}",
        best_ms(
            lambda: ck.bootstrap_interval(
                ck.expected_calibration_error, label, prob, n_resamples=n_resamples, rng=rng
            )
        ),
        "drawing the indices",
        best_ms(lambda: rng.integers(0, n, size=(n_resamples, n))),
        4,
    )


def fake_samples(n: int, rng: np.random.Generator) -> list[Case]:
    """Time drawing labels, predictions and truths of a fake classifier with ten classes."""
    gammas = best_ms(lambda: rng.standard_gamma(1.0, 10 * n))
    cases = []
    for spread in ("equal", "random"):
        fake = KnobClassifier(10, 0.9, budget_share=0.5, spread=spread)
        took = best_ms(partial(fake.sample, n, rng))
        cases.append(Case(f"fake sample, {spread} spread, x 10", took, "1e7 gammas", gammas, 6))
    return cases


def small_input(rng: np.random.Generator) -> Case:
    """Time one call on a thousand rows, against one millisecond."""
    table, classes = rng.dirichlet(np.ones(10), 1000), rng.integers(0, 10, 1000)
    return Case(
        "top-label ECE, 1e3 x 10",
        best_ms(lambda: ck.expected_calibration_error(classes, table, view="top-label")),
        "one millisecond",
        1.0,
        0.4,
    )


def redraws() -> list[Case]:
    """Time one redraw of each explorer, at its default and at the far end of each control."""
    cases = []
    rooms = [import_module(f"calibkit_course.lesson{number}") for number in lessons()]
    for name, make in (
        (n, getattr(room, n)) for room in rooms for n in getattr(room, "__all__", ())
    ):
        if not _makes_an_explorer(make):
            continue
        shown = make()
        if isinstance(shown, Quiz):
            took = best_ms(partial(shown.picture, shown.first, revealed=True))
            cases.append(Case(f"redraw, {name}", took, "one millisecond", 1.0, 200))
            continue
        ends = [{control.name: control.values[-1]} for control in shown.controls]
        slowest = max(best_ms(partial(shown.show, **state), 0.6) for state in ({}, *ends))
        cases.append(Case(f"slowest redraw, {name}", slowest, "one millisecond", 1.0, 200))
    return cases


def _makes_an_explorer(function: Any) -> bool:
    """Tell whether a function returns something that a reader can set by hand."""
    if not isinstance(function, FunctionType):
        return False
    kind = function.__annotations__.get("return")
    kind = get_origin(kind) or kind
    return isinstance(kind, type) and issubclass(kind, Shown)


def importing() -> Case:
    """Time the import of the package against that of what it needs."""

    def run(names: str) -> float:
        command = [sys.executable, "-c", f"import {names}"]
        return best_ms(partial(subprocess.run, command, check=True))

    return Case(
        "import calibkit", run("calibkit"), "numpy, special", run("numpy, scipy.special"), 2
    )


def peak_memory(n: int, rng: np.random.Generator) -> Case:
    """Measure the peak of extra memory of the top-label error, in megabytes."""
    table, classes = rng.random((n, 10)), rng.integers(0, 10, n)
    table /= table.sum(axis=1, keepdims=True)
    tracemalloc.start()
    ck.expected_calibration_error(classes, table, view="top-label")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Case("top-label ECE, extra memory", peak / 1e6, "MB of input", table.nbytes / 1e6, 1.0)


def main(arguments: list[str] | None = None) -> int:
    """Run all cases and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    n = 100_000 if parser.parse_args(arguments).quick else 1_000_000
    rng = np.random.default_rng(0)
    cases = [importing(), *large_inputs(n, rng), resampling(10_000, 1000, rng), small_input(rng)]
    cases += [
        *fake_samples(n, rng),
        *bench_fits.cases(rng),
        *bench_multiclass.cases(rng),
        *bench_counts.cases(),
        peak_memory(n, rng),
        *redraws(),
    ]
    print(f"{'case':<36}{'time (ms)':>10}  {'yardstick':<22}{'(ms)':>8}{'ratio':>8}{'promise':>9}")
    for case in cases:
        mark = "" if case.ratio <= case.promised else "  <- broken"
        print(
            f"{case.name:<36}{case.milliseconds:>10.3f}  {case.yardstick:<22}"
            f"{case.yardstick_ms:>8.3f}{case.ratio:>8.2f}{case.promised:>9.1f}{mark}"
        )
    return int(any(case.ratio > case.promised for case in cases))


if __name__ == "__main__":
    sys.exit(main())
