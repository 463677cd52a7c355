"""Speed of the package, as ratios to a yardstick timed in the same run.

``python dev.py bench`` prints one line per case: the time, the yardstick, the ratio, and the
ratio that the project promises; ``--quick`` takes a tenth of the rows, ``--rows`` says how many
of a log are counted. ``--race`` compares with other libraries instead (`tools/race.py`). Inputs
include validation; one thread. The best of several runs counts: absolute seconds differ between
machines, ratios to what was timed in the same run hardly do. Exit code 1 if a promise is broken.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

import calibkit as ck
from calibkit import bins, calibrators, hypothesis_tests
from calibkit.fakes import KnobClassifier, SyntheticShape
from calibkit_audit import counts
from calibkit_course import explore, lessons

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
FEW = 1000  # rows of a single quick call
ROWS_OF_A_GROUP = 1_000_000
GIGABYTE = Yardstick("1024 MB", 1024.0)
COUNT = "import sys; from calibkit_audit.counts import count_files; count_files(sys.argv[1:], **{})"
READ = {"label": "label", "prob": "score"}


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
    few = partial(top_label, classes[:FEW], table[:FEW])
    yield timed("top-label ECE, 1e3 x 10", few, MILLISECOND, 0.4)
    tracemalloc.start()
    top_label(classes, table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield Case("extra memory", peak / 1e6, Yardstick("MB of input", table.nbytes / 1e6), 1.0)
    prob = rng.random(n)
    table_of = partial(ck.reliability_table, rng.random(n) < prob, prob)
    yield timed("table of bins", table_of, yardstick("np.sum of p", lambda: prob.sum()), 40)


def draws(n: int, rng: np.random.Generator) -> Iterator[Case]:
    """Time exact bootstrap resamples, and samples of a fake classifier with ten classes."""
    prob = rng.random(10_000)
    data = (rng.random(10_000) < prob, prob)
    ece = partial(ck.bootstrap_interval, ck.expected_calibration_error, *data, n_resamples=1000)
    indices = yardstick("drawing the indices", lambda: rng.integers(0, 10_000, (1000, 10_000)))
    yield timed("1000 bootstrap resamples, n = 1e4", partial(ece, rng=rng), indices, 4)
    gammas = yardstick("as many gammas", lambda: rng.standard_gamma(1.0, 10 * n))
    sample = KnobClassifier(10, 0.9, budget_share=0.5).sample
    yield timed("fake sample, x 10", partial(sample, n, rng), gammas, 6)


# --- what is fitted ------------------------------------------------------------------------------


def searches() -> Iterator[Case]:
    """Time single fits, whole searches, and the choice among 40 numbers of bins."""
    shape = SyntheticShape.with_error("stairs", 0.05)
    samples = [shape.sample(n, seed=0) for n in (3000, 10_000)]
    small, large = ((sample.y_prob, sample.y_true) for sample in samples)
    sort = yardstick("np.sort of p", lambda: np.sort(large[0]))
    for space, name in {"probability": "PL", "logit": "PL3"}.items():
        single = partial(calibrators.PiecewiseLinear(space, 6).fit, *small)
        yield timed(f"{name}, 6 pieces, n = 3000", single, MILLISECOND, 30)
        search = partial(calibrators.PiecewiseLinear(space).fit, *large)
        found = timed(f"{name}, search to 16, n = 10000", search, MILLISECOND, 3000)
        yield from (found, Case("  the same, by the sort", found.ms, sort, 60_000))
    choice = partial(calibrators.CrossValidatedBinning().fit, *small)
    yield timed("bins by folds, 1 to 40, n = 3000", choice, MILLISECOND, 30)


def test_based_errors(rng: np.random.Generator) -> Iterator[Case]:
    """Time the test-based error with PAVA-BC bins and its null level, sorting included."""
    prob = rng.random(50_000)
    label = (rng.random(50_000) < prob).astype(np.int64)
    sort = yardstick("np.sort of p", lambda: np.sort(prob))
    error = partial(hypothesis_tests.test_based_calibration_error, label, prob, rng=0)
    alone = timed("test-based error, n = 50000", partial(error, null_draws=0), sort, 20)
    redraw = (best_ms(partial(error, null_draws=50), 0.1) - alone.ms) / 50
    yield from (alone, Case("test-based error, one redraw", redraw, sort, 8))
    yield timed("PAVA-BC bins, n = 50000", partial(bins.PavaBC().edges, prob, label), sort, 6)


def fits(rng: np.random.Generator) -> Iterator[Case]:
    """Time what has no rival in the race: Dirichlet calibration and Venn-Abers."""
    truth = 1.5 * rng.standard_normal((5000, 10))
    dirichlet = calibrators.DirichletCalibrator("logits", penalty=1e-3)
    fit = partial(dirichlet.fit, 1.8 * truth, (truth + rng.gumbel(size=truth.shape)).argmax(axis=1))
    yield timed("Dirichlet, ODIR, 5000 x 10", fit, MILLISECOND, 80)
    p = rng.random(10_000)
    fit = partial(calibrators.VennAbers("probabilities").fit, p, rng.random(10_000) < p**1.5)
    yield timed("Venn-Abers, 1e4", fit, MILLISECOND, 25)


# --- a large log, against merely reading it ------------------------------------------------------


def write_log(path: Path, n: int) -> None:
    """Write over-confident float32 scores and int8 labels as Parquet (zstd)."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("score", pa.float32()), ("label", pa.int8())])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for group, first in enumerate(range(0, n, ROWS_OF_A_GROUP)):
            rng = np.random.default_rng([20, group])
            rows = min(ROWS_OF_A_GROUP, n - first)
            logit = rng.normal(-1, 1.5, rows)
            score = (1 / (1 + np.exp(-logit))).astype(np.float32)
            label = (rng.random(rows) < 1 / (1 + np.exp(-0.7 * logit))).astype(np.int8)
            writer.write_table(pa.table({"score": score, "label": label}, schema=schema), rows)


def counting(n: int) -> Iterator[Case]:
    """Time counting, and measure the memory of a process that counts and does nothing else."""
    try:
        from pyarrow import parquet
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_log(path, n)
        read = partial(parquet.read_table, path, columns=["score", "label"], use_threads=False)
        count = partial(counts.count_files, [path], label="label", prob="score")
        yield timed(f"count table of {n:.0e} rows", count, yardstick("reading them", read), 2)
        subprocess.run([sys.executable, "-c", COUNT.format(READ), path], check=True)
    if sys.platform == "win32":
        return
    import resource

    unit = 2**20 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
    yield Case("memory of a process that counts", peak, GIGABYTE, 1.0)


# --- explorers -----------------------------------------------------------------------------------


def redraws() -> Iterator[Case]:
    """Time one redraw of each explorer, at its default and at the far end of each control."""
    rooms = [import_module(f"calibkit_course.lesson{number}") for number in lessons()]
    found = {name: getattr(room, name) for room in rooms for name in getattr(room, "__all__", ())}
    for name, make in found.items():
        given = getattr(make, "__annotations__", {}).get("return", "")
        if not re.search(r"Explorer|Quiz", str(given)):
            continue
        shown = make()
        if isinstance(shown, explore.Quiz):
            picture = partial(shown.picture, shown.first, revealed=True)
            yield timed(f"redraw, {name}", picture, MILLISECOND, 200)
            continue
        ends = [{control.name: control.values[-1]} for control in shown.controls]
        slowest = max(best_ms(partial(shown.show, **state), 0.6) for state in ({}, *ends))
        yield Case(f"slowest redraw, {name}", slowest, MILLISECOND, 200)


def cases(n: int, n_counted: int) -> Iterator[Case]:
    """Measure them all."""
    rng = np.random.default_rng(0)
    yield importing()
    yield from chain(measures(n, rng), draws(n, rng), searches(), test_based_errors(rng))
    yield from chain(fits(rng), counting(n_counted), redraws())


def main(arguments: list[str] | None = None) -> int:
    """Run all cases and print them."""
    parser = argparse.ArgumentParser(prog="dev.py bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the log to count")
    parser.add_argument("--race", action="store_true", help="against other libraries instead")
    chosen = parser.parse_args(arguments)
    n = 100_000 if chosen.quick else 1_000_000
    if chosen.race:
        return import_module("tools.race").run(n)  # type: ignore[no-any-return]
    return printed(cases(n, chosen.rows))


if __name__ == "__main__":
    sys.exit(main())
