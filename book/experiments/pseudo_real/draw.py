"""The pictures of `book/pseudo_real.md`: two from the stored numbers, one of a real network."""

import re
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from book.experiments.compared import Table, everything
from book.experiments.pseudo_real.clones import TRUTHS
from book.experiments.pseudo_real.real_maps import FITTED, both_spaces
from book.experiments.pseudo_real.result import is_foreign, of_truth
from book.experiments.pseudo_real.study import KINDS, TITLES, Study
from calibkit import plot
from calibkit.plot import look
from tools.virtual_environment import ROOT

IMAGES = ROOT / "book" / "_static"
CODES = {"confidence": (look.UNDER, "o", 0.14), "one-vs-rest": (look.OVER, "^", -0.14)}
NARROW = (3.7, 6.0)  # inches: as a telephone shows it
WORST = 2.5  # the heat map's colours end here; the numbers do not


def questions(study: Study) -> tuple[Figure, str]:
    """Draw the three questions side by side, evaluators from best to worst map."""
    maps = study.maps.where(everything)
    names = sorted(maps.names, key=maps.mean, reverse=True)
    panels = (
        ("distance of map × 1000", study.maps, 1000.0),
        ("distance of error × 1000", study.errors, 1000.0),
        ("rank correlation", study.ranks, 1.0),
    )
    with plot.style():
        figure, axes = plt.subplots(1, 3, figsize=(7.6, 5.2), sharey=True, layout="constrained")
        for ax, (title, table, factor) in zip(axes, panels, strict=True):
            look.set_frame(ax, grid="x")
            look.label(ax, title, "")
            for kind, keep in KINDS.items():
                _dots(ax, table.where(keep), names, kind, factor)
        axes[0].set_yticks(range(len(names)), [TITLES[name] for name in names])
        look.legend(figure)
    best, worst = TITLES[names[-1]], TITLES[names[0]]
    words = (
        f"Three panels with one row per evaluator, from the closest map ({best}, "
        f"{1000 * maps.mean(names[-1]):.1f} thousandths) to the farthest ({worst}, "
        f"{1000 * maps.mean(names[0]):.1f}): distance of the map, distance of the error, rank "
        "correlation, each for confidence and one-vs-rest, with bars of two standard errors. "
        "The tables below hold the numbers."
    )
    return figure, words


def _dots(ax: Axes, table: Table, names: list[str], kind: str, factor: float) -> None:
    colour, marker, shift = CODES[kind]
    kept = [(place, name) for place, name in enumerate(names) if name in table.names]
    ax.errorbar(
        [factor * table.mean(name) for _, name in kept],
        [place + shift for place, _ in kept],
        xerr=[2 * factor * table.standard_error(name) for _, name in kept],
        fmt=marker,
        color=colour,
        markersize=4.5,
        linewidth=1.0,
        label=kind,
        gid=f"dots-{kind}",
    )


def truths(study: Study) -> tuple[Figure, str]:
    """Draw the distance of the map by family of the truth, against the best foreign one."""
    maps = study.maps.where(everything)
    names = sorted(maps.names, key=maps.mean)
    parts = {truth: maps.where(of_truth(truth)) for truth in TRUTHS}
    ratio = np.empty((len(names), len(parts)))
    for column, (truth, part) in enumerate(parts.items()):
        least = min(part.mean(name) for name in names if is_foreign(name, truth))
        ratio[:, column] = [part.mean(name) / least for name in names]
    with plot.style():
        figure, ax = plt.subplots(figsize=NARROW, layout="constrained")
        ax.imshow(ratio, cmap="Blues", vmin=1, vmax=WORST, aspect="auto")
        for i, name in enumerate(names):
            for j, truth in enumerate(parts):
                colour = "white" if ratio[i, j] > (1 + 2 * WORST) / 3 else look.INK
                ax.text(j, i, f"{ratio[i, j]:.2f}", ha="center", va="center", color=colour)
                if not is_foreign(name, truth):
                    ax.add_patch(
                        Rectangle(
                            (j - 0.47, i - 0.44), 0.94, 0.88, fill=False, ec=look.OVER, lw=1.6
                        )
                    )
        ax.set_xticks(range(len(parts)), list(parts))
        titles = [re.sub("(?<=loss,) | (?=cross)", "\n", TITLES[name]) for name in names]
        ax.set_yticks(range(len(names)), titles)
        look.label(ax, "family of the true map\n(framed: the evaluator’s own)", "")
    winners = {
        truth: names[int(np.argmin(np.where([is_foreign(n, truth) for n in names], col, np.inf)))]
        for truth, col in zip(parts, ratio.T, strict=True)
    }
    told = ", ".join(f"{truth}: {TITLES[name]}" for truth, name in winners.items())
    words = (
        "A table in colours: for each evaluator and family of the true map, the distance of its "
        f"map over that of the best evaluator of another family. Those best are {told}."
    )
    return figure, words


FIGURES: dict[str, tuple[Callable[[Study], tuple[Figure, str]], str]] = {
    "questions": (
        questions,
        "Mean and two standard errors, behind calibrators. Differences vary less, see the tables.",
    ),
    "truths": (
        truths,
        "Distance of the map as a multiple of the best evaluator whose family is not the truth’s.",
    ),
    "spaces": (
        lambda study: both_spaces(),
        f"Maps of EfficientNet on ImageNet, fitted to {FITTED} rows, beside the frequencies of the "
        "other 45 000, with bars of two standard errors.",
    ),
}


def image(name: str) -> str:
    """Return the file name of a figure."""
    return f"pseudo_real_{name}.png"


def draw_all(study: Study) -> None:
    """Write the figures; the words that describe a figure are stored inside it."""
    for name, (draw, _) in FIGURES.items():
        figure, words = draw(study)
        path = IMAGES / image(name)
        figure.savefig(path, dpi=100, metadata={"Description": words, "Software": None})
        plt.close(figure)


def directive(name: str, study: Study) -> str:
    """Return a figure as Markdown, with what it shows in words."""
    draw, caption = FIGURES[name]
    figure, words = draw(study)
    plt.close(figure)
    return (
        f"```{{figure}} _static/{image(name)}\n:name: pseudo-real-{name}\n:alt: {words}\n"
        f":width: {100 * figure.get_figwidth():.0f}px\n\n{caption}\n```"
    )
