"""Speed of the package, as ratios to a yardstick timed in the same run.

``python dev.py bench`` prints one line per case: the time, the yardstick, the ratio, and the
ratio that the project promises. ``--race`` compares with other libraries instead (`tools/race.py`),
none of which may be quicker. Inputs include validation; one thread. The best of several runs
counts: absolute seconds differ between machines, ratios to what was timed in the same run hardly
do, if the yardstick does work of the same kind. Sums and sorts of NumPy are none: they are ten
times as quick on a processor with wide registers. A promise is what was measured, and a half more.
Exit code 1 if a promise is broken.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from timeit import Timer
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import calibkit as ck
from calibkit import bins, calibrators
from calibkit.fakes import SyntheticShape
from calibkit_audit.auditing.predictions import keep_rows, rows_of_files
from calibkit_audit.counts.files import open_log
from calibkit_course import explore, lessons

FEW = 1000  # rows of a single quick call
ROWS_OF_A_GROUP = 1_000_000
SAMPLE = "import sys; from tools.bench import sample; sample(sys.argv[1])"
Run = Callable[[], object]


class Case(NamedTuple):
    """One measured line: a time, and how many of its yardsticks it may take."""

    name: str
    ms: float
    promised: float
    yardstick: str = "one millisecond"
    unit: float = 1.0


def best_ms(run: Run) -> float:
    """Return the time of a run in milliseconds, by the least disturbed of three rounds."""
    timer = Timer(run)
    number, _ = timer.autorange()
    return 1e3 * min(timer.repeat(3, number)) / number


def timed(name: str, run: Run, promised: float, *yardstick: Any) -> Case:
    """Time a case, and its yardstick where that is no millisecond: a name, and what is run."""
    return Case(name, best_ms(run), promised, *yardstick[:1], *map(best_ms, yardstick[1:]))


def measures(n: int, rng: np.random.Generator) -> Iterator[Case]:
    """Time few rows, the table of bins, tests with redraws; measure the memory of many rows."""
    top_label = partial(ck.expected_calibration_error, view="top-label")
    table, classes = rng.dirichlet(np.ones(10), n), rng.integers(0, 10, n)
    yield timed("top-label ECE, 1e3 x 10", partial(top_label, classes[:FEW], table[:FEW]), 0.4)
    tracemalloc.start()
    top_label(classes, table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield Case("extra memory", peak / 1e6, 1.0, "MB of input", table.nbytes / 1e6)
    prob = rng.random(n)
    label = (rng.random(n) < prob).astype(np.int64)
    binned = partial(ck.reliability_table, label, prob)
    yield timed("table of bins", binned, 3.5, "np.histogram of p", partial(np.histogram, prob, 15))
    p, y = prob[:50_000], label[:50_000]
    edges = partial(bins.PavaBC().edges, p, y)
    yield timed("PAVA-BC bins, n = 50000", edges, 6, "bool of each row", lambda: [*map(bool, y)])
    p, y = p[:10_000], y[:10_000]
    ece = partial(ck.bootstrap_interval, ck.expected_calibration_error, y, p)
    indices = partial(rng.integers, 0, 10_000, (1000, 10_000))
    yield timed("1000 resamples, n = 1e4", partial(ece, rng=0), 12, "drawing the indices", indices)


def fits(rng: np.random.Generator) -> Iterator[Case]:
    """Time what has no rival in the race."""
    shape = SyntheticShape.with_error("stairs", 0.05)
    samples = [shape.sample(n, seed=0) for n in (3000, 10_000)]
    small, large = ((sample.y_prob, sample.y_true) for sample in samples)
    platt = partial(calibrators.PlattCalibrator().fit, *small)
    for space, name, promised in (("probability", "PL", 100), ("logit", "PL3", 300)):
        single = partial(calibrators.PiecewiseLinear(space, 6).fit, *small)
        yield timed(f"{name}, 6 pieces, n = 3000", single, promised, "Platt fit of them", platt)
        search = partial(calibrators.PiecewiseLinear(space).fit, *large)
        yield timed(f"{name}, search to 16, n = 10000", search, 3000)
    choice = partial(calibrators.CrossValidatedBinning().fit, *small)
    yield timed("bins by folds, 1 to 40, n = 3000", choice, 75, "Platt fit of them", platt)
    truth = 1.5 * rng.standard_normal((5000, 10))
    label = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    dirichlet = calibrators.DirichletCalibrator("logits", penalty=1e-3)
    yield timed("Dirichlet, ODIR, 5000 x 10", partial(dirichlet.fit, 1.8 * truth, label), 80)
    venn_abers = calibrators.VennAbers("probabilities")
    yield timed("Venn-Abers, 1e4", partial(venn_abers.fit, *large), 25)


# --- a large log, against merely reading it ------------------------------------------------------


def write_log(path: Path, n: int) -> None:
    """Write over-confident float32 scores and int8 labels as Parquet (zstd)."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(20)
    logit = rng.normal(-1, 1.5, n)
    label = (rng.random(n) < expit(0.7 * logit)).astype(np.int8)
    table = pa.table({"score": expit(logit).astype(np.float32), "label": label})
    parquet.write_table(table, path, row_group_size=ROWS_OF_A_GROUP, compression="zstd")


def sample(path: Path | str) -> object:
    """Keep a random sample of a log that is larger than 64 megabytes, as the command does."""
    return keep_rows(rows_of_files([open_log([path], label="label", prob="score")]), 2**26)


def reading(n: int) -> Iterator[Case]:
    """Time a sample, and measure the memory of a process that draws one and does nothing else."""
    try:
        from pyarrow import parquet
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_log(path, n)
        read = partial(parquet.read_table, path, columns=["score", "label"], use_threads=False)
        yield timed(f"sample of {n:.0e} rows", partial(sample, path), 5, "reading them", read)
        subprocess.run([sys.executable, "-c", SAMPLE, path], check=True)
    if sys.platform == "win32":
        return
    import resource

    unit = 2**20 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
    yield Case("memory of a process that samples", peak, 1.0, "1024 MB", 1024.0)


# --- explorers -----------------------------------------------------------------------------------


def redraws() -> Iterator[Case]:
    """Time one redraw of each explorer, at its default and at the far end of each control."""
    rooms = [import_module(f"calibkit_course.lesson{number}") for number in lessons()]
    found = {name: thing for room in rooms for name, thing in vars(room).items()}
    for name, make in found.items():
        given = getattr(make, "__annotations__", {}).get("return", "")
        if not re.search(r"Explorer|Quiz", str(given)):
            continue
        shown = make()
        if isinstance(shown, explore.Quiz):
            picture = partial(shown.picture, shown.first, revealed=True)
            yield timed(f"redraw, {name}", picture, 200)
            continue
        ends = [{control.name: control.values[-1]} for control in shown.controls]
        slowest = max(best_ms(partial(shown.show, **state)) for state in ({}, *ends))
        yield Case(f"slowest redraw, {name}", slowest, 200)


def main(arguments: list[str] | None = None) -> int:
    """Run all cases, print each as soon as it is measured; 1 where a promise is broken."""
    parser = argparse.ArgumentParser(prog="dev.py bench", description=__doc__)
    parser.add_argument("--race", action="store_true", help="against other libraries instead")
    chosen = parser.parse_args(arguments)
    n, rng = 1_000_000, np.random.default_rng(0)
    print(f"{'case':<36}{'time (ms)':>10}  {'yardstick':<26}{'(ms)':>8}{'ratio':>8}{'promise':>9}")
    broken = 0
    cases = chain(measures(n, rng), fits(rng), reading(4 * n), redraws())
    for case in import_module("tools.race").cases(n) if chosen.race else cases:
        ratio = case.ms / case.unit
        over = ratio > case.promised
        broken += over
        figures = f"{case.unit:>8.3f}{ratio:>8.2f}{case.promised:>9.1f}{'  <- broken' * over}"
        print(f"{case.name:<36}{case.ms:>10.3f}  {case.yardstick:<26}{figures}", flush=True)
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
