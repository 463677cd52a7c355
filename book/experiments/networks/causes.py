"""What makes a network too sure? Four causes, one by one, and what one temperature leaves of each.

``python -m book.experiments.networks.causes`` trains what is not stored yet (85 small networks;
needs torch) and draws the figure; ``python -m book.experiments.repairs --tables`` writes the page.
The base is lesson 10's plain network on digits under noise; a cause changes one thing of it. All
levels of one seed share images, noise and order, so that they are compared in pairs.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from book.experiments.networks import MEASURED, SEEDS, SETS, interval, measured
from book.experiments.pages import markdown
from calibkit import plot
from calibkit.plot import look
from calibkit_course.lesson10 import nets
from tools.virtual_environment import ROOT

DATA = ROOT / "book" / "_data" / "causes.csv"
IMAGE = ROOT / "book" / "_static" / "repairs_causes.png"
BASE = {"width": 1.0, "weight decay": 0.0, "epochs": 40.0, "label smoothing": 0.0}
LEVELS = {
    "width": (0.25, 0.5, 1, 2, 4),
    "weight decay": (0, 0.03, 0.1, 0.3, 1),
    "epochs": (5, 10, 20, 40, 80),
    "label smoothing": (0, 0.02, 0.05, 0.1, 0.2),
}
KEY = ["cause", "level", "seed"]
DIGITS = {"accuracy": 3, "temperature": 2, "ece": 3, "ece_scaled": 3, "loss": 3, "loss_scaled": 3}
HEADS = ["cause", "level", "accuracy", "T", "ECE", "after T", "log loss", "after T"]
DRAWN = (
    ("as trained", "ece", look.OVER, "o"),
    ("after one temperature", "ece_scaled", look.UNDER, "s"),
)


def trained(cause: str, level: float, seed: int) -> dict[str, float]:
    """Train one network, with one thing changed, and measure it before and after scaling."""
    chosen = BASE | {cause: level}
    split = nets.mnist_digits(noise=SETS["digits under noise"], seed=seed)
    sizes = [round(chosen["width"] * size) for size in (16, 32, 64)]
    network = nets.image_network(sizes[:2], sizes[2], rng=seed)
    nets.train_network(
        network, split, loss="label-smoothing", strength=chosen["label smoothing"],
        weight_decay=chosen["weight decay"], epochs=round(chosen["epochs"]), rng=seed,
    )  # fmt: skip
    logits = [nets.logits_of(network, x) for x in (split.validation_x, split.test_x)]
    return measured((logits[0], logits[1]), split)


def stored() -> pd.DataFrame:
    """Return one row per training; the base stands once, as cause *base*."""
    if not DATA.exists():
        return pd.DataFrame(columns=[*KEY, *MEASURED])
    return pd.read_csv(DATA)


def measure() -> None:
    """Train and store what is not stored yet, one network after the other."""
    table = stored()
    done = set(table[KEY].itertuples(index=False, name=None))
    steps = [(cause, level) for cause in LEVELS for level in LEVELS[cause] if level != BASE[cause]]
    for cause, level in [("base", 0), *steps]:
        for seed in SEEDS:
            if (cause, level, seed) in done:
                continue
            name, value = ("width", BASE["width"]) if cause == "base" else (cause, level)
            row = [cause, level, seed, *trained(name, value, seed).values()]
            table.loc[len(table)] = row
            part = DATA.with_suffix(".part")
            table.to_csv(part, index=False)
            part.replace(DATA)
            print(*row, flush=True)


def rows_of(table: pd.DataFrame, cause: str, level: float) -> pd.DataFrame:
    """Return the trainings of one level, seed by seed; those of the base serve every cause."""
    name, value = ("base", 0) if level == BASE[cause] else (cause, level)
    return table[(table.cause == name) & (table.level == value)].set_index("seed")


def differs(rows: pd.DataFrame, base: pd.DataFrame, quantity: str) -> bool:
    """Tell whether a level differs from the base: a 95 % interval, for all sixteen, omits 0."""
    mean, half = interval(rows[quantity] - base[quantity], 16)
    return abs(mean) > half


def shown(table: pd.DataFrame) -> str:
    """Return the table of the page: means over seeds, bold where a level differs from the base."""
    lines, base = [], rows_of(table, "width", BASE["width"])
    for cause, level in ((name, one) for name, levels in LEVELS.items() for one in levels):
        rows, cells = rows_of(table, cause, level), []
        for quantity, digits in DIGITS.items():
            text = f"{rows[quantity].mean():.{digits}f}"
            cells.append(f"**{text}**" if differs(rows, base, quantity) else text)
        lines.append([cause, f"{level:g}" + " (base)" * (level == BASE[cause]), *cells])
    return markdown(HEADS, lines)


def figure(table: pd.DataFrame) -> Figure:
    """Draw the ECE of every level, as trained and after one temperature: means and five seeds."""
    with plot.style():
        drawn, axes = plt.subplots(2, 2, figsize=(7.2, 6.2), sharey=True, layout="constrained")
        for ax, (cause, levels) in zip(axes.flat, LEVELS.items(), strict=True):
            place = np.arange(len(levels))
            for name, quantity, colour, mark in DRAWN:
                seeds = np.array([rows_of(table, cause, level)[quantity] for level in levels])
                ax.plot(place, seeds, mark, color=colour, markersize=4, alpha=0.5)
                ax.plot(place, seeds.mean(axis=1), f"{mark}-", color=colour, label=name)
            ax.set(xlabel=cause, xticks=place, xticklabels=[f"{level:g}" for level in levels])
            ax.set_ylabel("ECE of the confidence")
            ax.tick_params(labelleft=True)  # a telephone shows one panel at a time
        axes[0, 0].set_ylim(0, None)
        plot.legend(drawn)
    return drawn


if __name__ == "__main__":
    measure()
    print(shown(stored()))
    figure(stored()).savefig(IMAGE, dpi=100, metadata={"Software": None})
