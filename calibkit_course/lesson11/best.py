"""Best by what? Who picks the best of six calibrators, on clones of real networks. Lesson 11.

The table ``best.json`` is made by the study of clones: for each network and size, one text per
draw, whose first three digits name the calibrator that is best by each target, and whose others
name the one that each evaluator picks.

Source: Kängsepp, Valk and Kull (2022), section 6.1, Theorem 3, Figure 15 and Table 28.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from calibkit.inputs import FloatVector, as_choice
from calibkit.results import Described, spell

FILE = Path(__file__).with_name("best.json")
TARGETS = {
    "left": "the least calibration error left",
    "log_loss": "the lowest expected log loss",
    "map": "the map closest to the truth",
}
ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Picks(Described):
    """How often each calibrator is best by a target, and how often evaluators find it."""

    target: str
    evaluator: str
    network: str
    n: int
    draws: int
    calibrators: tuple[str, ...]
    best: FloatVector  # share of draws in which each calibrator is the best: (C,)
    picked: FloatVector  # share of draws in which the evaluator picks it: (C,)
    evaluators: tuple[str, ...]
    right: FloatVector  # share of right picks of each evaluator: (E,)
    error: FloatVector  # its standard error by network; NaN for a single one

    def share(self, evaluator: str) -> float:
        """Return how often an evaluator picks the best calibrator."""
        return float(self.right[self.evaluators.index(evaluator)])

    def describe(self) -> str:
        """Say how often the evaluator picks the best, and who picks it most often."""
        mine = self.evaluators.index(self.evaluator)
        most = self.evaluators[int(self.right.argmax())]
        error = "" if np.isnan(self.error[mine]) else f" ± {self.error[mine]:.2f}"
        where = "all networks" if self.network == ALL else self.network
        return (
            f"{where[0].upper()}{where[1:]}, {self.n:,} test rows, {spell(self.draws, 'draw')}: "
            f"by {self.evaluator}, the calibrator with {TARGETS[self.target]} is picked in "
            f"{self.right[mine]:.2f}{error} of them; most often by {most}, in "
            f"{self.right.max():.2f}."
        )


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """Return what is stored: calibrators, evaluators, and the draws by network and size."""
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def networks() -> tuple[str, ...]:
    """Return the names of the networks that were cloned."""
    return tuple(table()["draws"])


def best_by_view(
    *, target: str = "left", evaluator: str = "log loss", network: str = ALL, n: int = 10_000
) -> Picks:
    """Count right picks: shares of draws for each network, then the mean over networks."""
    stored = table()
    as_choice(target, "target", TARGETS)
    as_choice(evaluator, "evaluator", stored["evaluators"])
    as_choice(network, "network", (ALL, *networks()))
    if n not in stored["sizes"]:
        raise ValueError(f"n={n!r} does not exist; choose one of {stored['sizes']}.")
    groups = [
        np.array([[int(digit) for digit in draw] for draw in draws[str(n)]])
        for name, draws in stored["draws"].items()
        if network in (ALL, name)
    ]
    place, count = list(TARGETS).index(target), len(stored["calibrators"])
    mine = len(TARGETS) + stored["evaluators"].index(evaluator)
    right = np.array(
        [(draws[:, len(TARGETS) :] == draws[:, [place]]).mean(axis=0) for draws in groups]
    )
    best, picked = (
        np.mean([np.bincount(d[:, k], minlength=count) / len(d) for d in groups], axis=0)
        for k in (place, mine)
    )
    spread = right.std(axis=0, ddof=1) if len(groups) > 1 else np.full(right.shape[1], np.nan)
    return Picks(
        target=target,
        evaluator=evaluator,
        network=network,
        n=n,
        draws=sum(map(len, groups)),
        calibrators=tuple(stored["calibrators"]),
        best=best,
        picked=picked,
        evaluators=tuple(stored["evaluators"]),
        right=right.mean(axis=0),
        error=spread / np.sqrt(len(groups)),
    )


def best_by_table(n: int = 10_000) -> str:
    """Return the share of right picks of each evaluator by each target, with standard errors."""
    views = [best_by_view(target=target, n=n) for target in TARGETS]
    lines = [f"{'':18}" + "".join(f"{name:>16}" for name in ("error left", "log loss", "map"))]
    for place, name in enumerate(views[0].evaluators):
        cells = (f"{view.right[place]:.2f} ± {view.error[place]:.2f}" for view in views)
        lines.append(f"{name:18}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def favourites(chosen: tuple[str, ...], asked: tuple[str, ...], n: int = 10_000) -> str:
    """Return whom each evaluator picks most often on the clones of some networks."""
    width = max(map(len, chosen)) + 2
    lines = [" " * width + "".join(f"{name:<13}" for name in (*asked, "least error"))]
    for network in chosen:
        views = [best_by_view(evaluator=name, network=network, n=n) for name in asked]
        shares = [*(view.picked for view in views), views[0].best]
        picks = (views[0].calibrators[int(share.argmax())] for share in shares)
        lines.append(f"{network:<{width}}" + "".join(f"{pick:<13}" for pick in picks))
    return "\n".join(line.rstrip() for line in lines)
