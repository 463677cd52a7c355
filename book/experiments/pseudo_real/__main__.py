"""The pseudo-real study: run it, store it beside the book, write its page.

``python dev.py pseudo`` measures clones of sixteen real networks' answers, seed by seed and size by
size, and stores every block that is whole. It goes on where it stopped, and measures only blocks
that are not stored; with ``--afresh``, all of them. ``--seeds 1`` makes the smallest balanced
study, ``--sizes 1000 10000`` leaves out the size between, ``--tasks`` takes single questions.
``--tables`` only rewrites the page from the stored numbers. The files must be in the folder that
``CALIBKIT_DATA`` names, or be downloaded before: `calibkit_course.data.load`. ``--jobs`` is the
number of workers; ``--data`` and ``--folder`` name other places for whole blocks, and for what is
unfinished.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from functools import partial
from itertools import product
from pathlib import Path

from book.experiments.pseudo_real import (
    EVOLVED,
    EVOLVED_SEED,
    EVOLVED_SIZE,
    SEARCHED,
    TASKS,
    PseudoGrid,
    PseudoSet,
    all_evaluators,
    likeness,
    missing,
)
from book.experiments.pseudo_real.page import rewrite
from book.experiments.pseudo_real.stored import CLONES, DATA, store, stored
from book.experiments.pseudo_real.targets import update
from book.experiments.synthetic import Measures, measure_all
from tools.virtual_environment import ROOT

FOLDER = ROOT / "build" / "pseudo_real"


def run_block(
    block: Iterable[PseudoSet], folder: Path | None, jobs: int | None, progress: bool = True
) -> dict[PseudoSet, dict[str, Measures]]:
    """Measure data sets; small samples of one seed and some networks by random search, too."""
    run = partial(measure_all, n_jobs=jobs, folder=folder, progress=progress)
    found = run(block, all_evaluators())
    searched = [
        d for d in found if (d.n, d.seed) == (EVOLVED_SIZE, EVOLVED_SEED) and d.task in SEARCHED
    ]
    more = run(searched, EVOLVED) if searched else {}
    return {data_set: rows | more.get(data_set, {}) for data_set, rows in found.items()}


def main(arguments: list[str] | None = None) -> int:
    """Run the study, or only rewrite its page."""
    parser = argparse.ArgumentParser(prog="dev.py pseudo", description=__doc__)
    full = PseudoGrid()
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="workers (default: all)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where unfinished work is kept")
    parser.add_argument("--data", type=Path, default=DATA, help="where whole blocks are stored")
    parser.add_argument("--seeds", type=int, default=len(full.seeds), help="how many seeds")
    parser.add_argument(
        "--sizes", type=int, nargs="+", choices=full.sizes, default=full.sizes, help="which sizes"
    )
    parser.add_argument(
        "--tasks", nargs="+", choices=full.tasks, default=full.tasks, help="which questions"
    )
    parser.add_argument("--afresh", action="store_true", help="also blocks that are stored already")
    parser.add_argument("--tables", action="store_true", help="only rewrite the page")
    chosen = parser.parse_args(arguments)
    if not chosen.tables:
        if absent := missing(tuple(TASKS)):
            print(
                f"The study clones real networks, and these are not on this machine: "
                f"{', '.join(absent)}. Set CALIBKIT_DATA to the folder that holds them, or call "
                "calibkit_course.data.load with each name once.",
                file=sys.stderr,
            )
            return 1
        known = {} if chosen.afresh else stored(chosen.data)
        for seed, n in product(range(chosen.seeds), chosen.sizes):
            grid = PseudoGrid(chosen.tasks, sizes=(n,), seeds=(seed,))
            block = [data_set for data_set in grid if data_set not in known]
            print(f"seed {seed}, n = {n}: {len(block)} data sets to measure", flush=True)
            if block:
                store(run_block(block, chosen.folder, chosen.jobs), chosen.data)
        update(stored(chosen.data), chosen.data)
        text = json.dumps({task: likeness(task) for task in TASKS}, indent=1) + "\n"
        (chosen.data / CLONES).write_text(text, encoding="utf-8")
    rewrite()
    return 0


if __name__ == "__main__":
    sys.exit(main())
