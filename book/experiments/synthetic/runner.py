"""Run a study: in parallel, in any order, again after an interruption, always the same numbers."""

import sys
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import joblib

import calibkit
from book.experiments.synthetic import _store
from book.experiments.synthetic.evaluators import Evaluators, default_evaluators, specification
from book.experiments.synthetic.grid import Cell, Grid
from book.experiments.synthetic.measures import Known, Measures, measure
from book.experiments.synthetic.result import StudyResult

Data = TypeVar("Data", bound=Known)
Job = tuple[Known, tuple[str, ...]]


def run_study(
    grid: Grid | None = None,
    evaluators: Evaluators | None = None,
    *,
    n_jobs: int | None = None,
    folder: str | PathLike[str] | None = None,
    progress: bool = True,
) -> StudyResult:
    """Measure evaluators on made-to-order data, where the truth is known."""
    grid = Grid() if grid is None else grid
    evaluators = default_evaluators() if evaluators is None else evaluators
    found = measure_all(grid, evaluators, n_jobs=n_jobs, folder=folder, progress=progress)
    cells = {
        Cell(d.shape, d.error, d.n, d.seed, name): row
        for d, rows in found.items()
        for name, row in rows.items()
    }
    return StudyResult.of(cells)


def measure_all(
    data_sets: Iterable[Data],
    evaluators: Evaluators,
    *,
    n_jobs: int | None = None,
    folder: str | PathLike[str] | None = None,
    progress: bool = True,
) -> dict[Data, dict[str, Measures]]:
    """Measure evaluators on any data sets of known truth, in their order."""
    evaluators = dict(evaluators)
    if not evaluators:
        raise ValueError("A study needs at least one evaluator.")
    specs = {name: _specification(name, evaluators) for name in evaluators}
    store = None if folder is None else Path(folder)
    known = {data_set: _known(store, data_set, specs) for data_set in data_sets}
    jobs: list[tuple[Data, tuple[str, ...]]] = []
    for data_set, rows in known.items():
        missing = tuple(name for name in evaluators if name not in rows)
        if missing:
            jobs.append((data_set, missing))
    # Results are taken, and written, in the order in which they are ready.
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    done = parallel(joblib.delayed(_work)(job, evaluators) for job in jobs)
    for count, (data_set, rows) in enumerate(done, start=1):
        known[data_set].update(rows)
        if store is not None:
            _keep(store, data_set, rows, specs)
        if progress and count % 100 == 0:
            print(f"study: {count}/{len(jobs)}", file=sys.stderr, flush=True)
    return {d: {name: rows[name] for name in evaluators} for d, rows in known.items()}


def _specification(name: str, evaluators: Evaluators) -> str:
    return f"calibkit {calibkit.__version__} {specification(name, evaluators)}"


def _work(job: Job, evaluators: Evaluators) -> tuple[Known, dict[str, Measures]]:
    data_set, names = job
    return data_set, measure(data_set, evaluators, names)


def _known(store: Path | None, data_set: Known, specs: Mapping[str, str]) -> dict[str, Measures]:
    """Return what earlier runs have found about a data set with these very evaluators."""
    rows = {} if store is None else _store.read(store, data_set.key)
    return {
        name: Measures(*rows[name]["values"])
        for name, spec in specs.items()
        if name in rows and rows[name]["spec"] == spec
    }


def _keep(
    store: Path, data_set: Known, rows: Mapping[str, Measures], specs: Mapping[str, str]
) -> None:
    """Add rows to the file of a data set; rows of other evaluators in it stay."""
    content: dict[str, dict[str, Any]] = _store.read(store, data_set.key)
    content |= {name: {"spec": specs[name], "values": list(row)} for name, row in rows.items()}
    _store.write(store, data_set.key, content)
