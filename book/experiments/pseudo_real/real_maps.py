"""Figure 7 of Kängsepp, Valk and Kull (2022) on a real network: three maps, in two spaces.

``python -m book.experiments.pseudo_real.real_maps`` stores how far maps of twenty draws are from
the isotonic map of the other rows (two to three minutes).
"""

from collections.abc import Callable
from typing import Final

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit, logit

from book.experiments.pseudo_real.clones import Scores, TemperatureMap
from book.experiments.pseudo_real.stored import DATA
from calibkit import EqualMass, plot, reliability_table
from calibkit.calibrators import BetaCalibrator, IsotonicCalibrator, PiecewiseLinear
from calibkit.calibrators.base import Calibrator
from calibkit.inputs import FloatVector
from calibkit.plot import look
from calibkit_course import data

# A network that comes with the package; so many of its 50 000 rows fit the maps, the others judge.
NETWORK: Final = "imagenet-efficientnet"
FITTED: Final = 5_000
# Where one segment nearly suffices; both networks come with the package.
OTHER: Final = "imagenet-resnext101"
DRAWS: Final = DATA / "real_maps.csv"  # network, seed, thousandths of PL3 and beta
# Single precision says 1 of some rows, and 1 has no logit.
ENDS: Final = (1e-6, 1 - 1e-6)
STYLES: Final = {
    "temperature": (look.GREY, ":"),
    "beta": (look.UNDER, "--"),
    "PL3": (look.OVER, "-"),
}


def fitted_maps(seed: int = 0, name: str = NETWORK) -> tuple[dict[str, Calibrator], Scores]:
    """Fit the maps to a draw of a network's rows; return them, and all other rows."""
    network = data.load(name)
    prob, label = np.clip(network.y_prob, *ENDS), network.y_true.astype(np.int64)
    order = np.random.default_rng(seed).permutation(len(prob))
    some, others = order[:FITTED], order[FITTED:]
    recipes = (TemperatureMap(), BetaCalibrator(), PiecewiseLinear("logit"))
    maps = [recipe.fit(prob[some], label[some]) for recipe in recipes]
    return dict(zip(STYLES, maps, strict=True)), Scores(prob[others], label[others])


def distances_of(maps: dict[str, Calibrator], others: Scores) -> dict[str, float]:
    """Return how far each map is, in the mean, from the isotonic map of the other rows."""
    nearly = IsotonicCalibrator().fit(*others).calibrate(others.prob)
    return {
        name: float(np.mean(np.abs(one.calibrate(others.prob) - nearly)))
        for name, one in maps.items()
    }


def both_spaces() -> tuple[Figure, str]:
    """Draw the maps beside the frequencies of the other rows, plainly and on logit axes."""
    maps, others = fitted_maps()
    table = reliability_table(others.label, others.prob, bins=EqualMass(30))
    error = 2 * np.sqrt(table.frequency * (1 - table.frequency) / table.count)
    seen = np.array([table.frequency, table.frequency - error, table.frequency + error])
    first, last = logit(table.mean_prob[[0, -1]]).tolist()
    prob = expit(np.linspace(first, last, 401))
    spaces: dict[str, Callable[[FloatVector], FloatVector]] = {"": np.asarray, "logit of ": logit}
    with plot.style():
        figure, axes = plt.subplots(1, 2, figsize=(7.8, 4.2), layout="constrained")
        for ax, (words, to) in zip(axes, spaces.items(), strict=True):
            look.set_frame(ax)
            ax.vlines(to(table.mean_prob), *to(np.clip(seen[1:], *ENDS)), color=look.INK, lw=1)
            ax.plot(to(table.mean_prob), to(seen[0]), "o", color=look.INK, ms=3.5,
                    label="frequency in other rows")  # fmt: skip
            for name, one in maps.items():
                colour, style = STYLES[name]
                ax.plot(to(prob), to(one.curve(prob)), style, color=colour, label=name)
            ax.set(xlabel=f"{words}confidence", ylabel=f"{words}share of right answers")
        look.legend(figure)
    off = distances_of(maps, others)
    told = ", ".join(f"{name} {1000 * distance:.0f}" for name, distance in off.items())
    return figure, (
        "Two panels, plain and on logit axes: three maps of a real network, and thirty points with "
        "bars, the frequencies in its other rows. Mean distance of the maps from the isotonic one "
        f"of those rows, in thousandths: {told}."
    )


def thousandths(seed: int, name: str) -> tuple[float, float]:
    """Return how far PL3 and beta are off on one draw of a network's rows."""
    off = distances_of(*fitted_maps(seed, name))
    return 1000 * off["PL3"], 1000 * off["beta"]


def main() -> None:
    """Store twenty draws of each network."""
    lines = ["network,seed,PL3,beta"]
    for name in (NETWORK, OTHER):
        for seed in range(20):
            pl3, beta = thousandths(seed, name)
            lines += [f"{name},{seed},{pl3:.3f},{beta:.3f}"]
    DRAWS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
