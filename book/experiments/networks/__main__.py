"""The stored outputs of lesson 10: its training, and its table of five seeds.

``python dev.py networks`` trains 120 small networks (a quarter of an hour on two cores; it goes on
where it stopped) and stores what the lesson reads, in ``calibkit_course/lesson10``. With ``--run``
it only trains the two networks that the lesson follows. ``--jobs`` is the number of workers,
``--folder`` the place of what is unfinished.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from book.experiments.networks import RECIPES, SEEDS, SETS, one_seed, with_verdicts
from calibkit_course.lesson10 import runs
from calibkit_course.lesson10.nets.history import MEASURED
from tools.virtual_environment import ROOT

UNFINISHED = ROOT / "build" / "networks"
Row = dict[str, float]


def resumed(data: str, seed: int, folder: Path) -> dict[str, Row]:
    """Return what every recipe measures with one seed, from a file where it is there already."""
    path = folder / f"{data.replace(' ', '_')}_{seed}.json"
    if path.exists():
        kept: dict[str, Row] = json.loads(path.read_text(encoding="utf-8"))
        if set(RECIPES) < set(kept):
            return kept
    found = one_seed(data, seed)
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found), encoding="utf-8")
    part.replace(path)
    return found


def store(run: runs.Run, path: Path) -> None:
    """Write a training in less than 300 kB."""
    numbers = [getattr(run.history, name) for name in MEASURED]
    logits = {name: getattr(run, name).astype(np.float64) for name in ("kept", "train", "test")}
    np.savez_compressed(
        path,
        measured=np.round(numbers, 4).astype(np.float32),
        labels=run.history.labels.astype(np.int8),
        **{name: np.rint(runs.UNIT * part).astype(np.int16) for name, part in logits.items()},
    )


def store_smoothed(parts: tuple[runs.Logits, runs.Logits], path: Path) -> None:
    """Write the outputs of the smoothed network in less than 100 kB."""
    whole = [np.rint(runs.FINE * part).astype(np.int16) for part in parts]
    np.savez_compressed(path, validation=whole[0], test=whole[1])


def table(jobs: int | None, folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return data set, recipe, quantity: one number per seed, and the verdicts."""
    work = [(data, seed) for data in SETS for seed in SEEDS]
    parts = Parallel(n_jobs=jobs, verbose=5)(delayed(resumed)(*one, folder) for one in work)
    rows = dict(zip(work, parts, strict=True))
    first = parts[0]
    return {
        data: with_verdicts(
            {
                name: {key: [rows[data, seed][name][key] for seed in SEEDS] for key in first[name]}
                for name in first
            }
        )
        for data in SETS
    }


def main(arguments: list[str] | None = None, target: Path = runs.FOLDER) -> int:
    """Train, and store what the lesson reads."""
    parser = argparse.ArgumentParser(prog="dev.py networks", description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="workers (default: all)")
    parser.add_argument("--folder", type=Path, default=UNFINISHED, help="where parts are kept")
    parser.add_argument("--run", action="store_true", help="only the network that is followed")
    chosen = parser.parse_args(arguments)
    store(runs.train(), target / runs.RUN)
    store_smoothed(runs.train_smoothed(), target / runs.SMOOTHED)
    if not chosen.run:
        text = json.dumps(table(chosen.jobs, chosen.folder), indent=1)
        (target / runs.TABLE).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
