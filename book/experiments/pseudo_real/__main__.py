"""The pseudo-real study: run it, store it beside the book, write its page.

``python dev.py pseudo`` measures clones of nine real networks' answers, seed by seed and size by
size, and stores every block that is whole. It goes on where it stopped, and measures only blocks
that are not stored; with ``--afresh``, all of them. ``--seeds 1`` makes the smallest balanced
study, ``--sizes 1000 10000`` leaves out the size between. ``--tables`` only rewrites the page from
the stored numbers. The files must be in the folder that ``CALIBKIT_DATA`` names, or be downloaded
before: `calibkit_course.data.load`. ``--jobs`` is the number of workers; ``--data`` and
``--folder`` name other places for whole blocks, and for what is unfinished.
"""

import argparse
import json
import os
import sys
from functools import partial
from itertools import product
from pathlib import Path

from book.experiments.pseudo_real import (
    EVOLVED,
    EVOLVED_SEED,
    EVOLVED_SIZE,
    TASKS,
    PseudoGrid,
    PseudoSet,
    all_evaluators,
    likeness,
    missing,
)
from book.experiments.pseudo_real.page import rewrite
from book.experiments.pseudo_real.stored import CLONES, DATA, path_of, store
from book.experiments.synthetic import Measures, measure_all
from tools.virtual_environment import ROOT

FOLDER = ROOT / "build" / "pseudo_real"


def run_block(
    grid: PseudoGrid, folder: Path | None, jobs: int | None, progress: bool = True
) -> dict[PseudoSet, dict[str, Measures]]:
    """Measure one block; the small samples of one seed also by differential evolution."""
    run = partial(measure_all, grid, n_jobs=jobs, folder=folder, progress=progress)
    found = run(all_evaluators())
    if (grid.sizes, grid.seeds) == ((EVOLVED_SIZE,), (EVOLVED_SEED,)):
        more = run(EVOLVED)
        found = {data_set: rows | more[data_set] for data_set, rows in found.items()}
    return found


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
        for seed, n in product(range(chosen.seeds), chosen.sizes):
            block = PseudoGrid(sizes=(n,), seeds=(seed,))
            if path_of(n, seed, chosen.data).exists() and not chosen.afresh:
                print(f"seed {seed}, n = {n}: stored")
                continue
            print(f"seed {seed}, n = {n}: {len(block)} data sets", flush=True)
            store(run_block(block, chosen.folder, chosen.jobs), chosen.data)
        text = json.dumps({task: likeness(task) for task in TASKS}, indent=1) + "\n"
        (chosen.data / CLONES).write_text(text, encoding="utf-8")
    rewrite()
    return 0


if __name__ == "__main__":
    sys.exit(main())
