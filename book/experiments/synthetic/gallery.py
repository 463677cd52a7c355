"""The figures of `book/study.md`: shapes, all evaluators on them, PL as a network, two slopes."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from book.experiments.synthetic.published import PRINTED_SHAPES
from calibkit import plot
from calibkit.bins import EqualMass
from calibkit.calibrators import (
    BetaCalibrator,
    CrossValidatedBinning,
    IsotonicCalibrator,
    PiecewiseLinear,
    PlattCalibrator,
    SlopeOneBinning,
    SweepBinning,
)
from calibkit.calibrators.base import Calibrator
from calibkit.fakes import SyntheticShape
from calibkit.fit_on_test import compare_evaluators
from calibkit.inputs import FloatVector, expit, logit
from calibkit.plot import look
from tools.virtual_environment import ROOT

IMAGES = ROOT / "book" / "_static"
ERROR, ROWS, SEED = 0.1, 10_000, 0


def evaluators() -> dict[str, Calibrator]:
    """Return the evaluators of Kängsepp, Valk and Kull (2022), unfitted."""
    return {
        "15 equal-mass bins": SlopeOneBinning(EqualMass(15)),
        "bins by the sweep": SweepBinning(),
        "bins by cross-validation": CrossValidatedBinning(),
        "Platt": PlattCalibrator(),
        "beta": BetaCalibrator(),
        "isotonic": IsotonicCalibrator(),
        "PL": PiecewiseLinear("probability"),
        "PL3": PiecewiseLinear("logit"),
    }


def shapes() -> tuple[Figure, str]:
    """Draw the five shapes in full, and two derivates of the stairs."""
    truth = np.linspace(0, 1, 1001)
    with plot.style():
        figure, axes = plt.subplots(1, 5, figsize=(7.8, 2.0), sharey=True, layout="constrained")
        for ax, shape in zip(axes, PRINTED_SHAPES, strict=True):
            weights = {1.0: "-", 2 / 3: "--", 1 / 3: ":"} if shape == "stairs" else {1.0: "-"}
            ax.plot([0, 1], [0, 1], color=look.GREY, linewidth=0.6)
            for weight, style in weights.items():
                said = SyntheticShape(shape, weight).predict(truth)
                ax.plot(said, truth, style, color=look.OVER, linewidth=1.3)
            ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1], aspect="equal")
            ax.set(title=shape, xlabel="prediction")
        axes[0].set_ylabel("truth")
    return figure, (
        "Five panels with the truth over the prediction. square lies above the diagonal and sqrt "
        "below it; beta1 crosses it from below, beta2 from above; stairs climbs in two flights, "
        "and two dashed lines between it and the diagonal are less steep."
    )


def gallery() -> tuple[Figure, str]:
    """Draw the map of every standard evaluator on one data set of every shape."""
    told, compared = [], {}
    for shape in PRINTED_SHAPES:
        fake = SyntheticShape.with_error(shape, ERROR)
        data = fake.sample(ROWS, SEED)
        compared[shape] = compare_evaluators(
            data.y_true, data.y_prob, evaluators=evaluators(), truth=data.true_prob
        )
    names = compared[shape].names
    with plot.style():
        figure, axes = plt.subplots(
            len(names), len(PRINTED_SHAPES), figsize=(7.8, 12.4), sharex=True, sharey=True,
            layout="constrained",
        )  # fmt: skip
        for column, (shape, found) in enumerate(compared.items()):
            true = SyntheticShape.with_error(shape, ERROR).true_map
            for ax, one, off in zip(axes[:, column], found.results, found.map_error, strict=True):
                _panel(ax, (one.line_x, one.line_y), true, off)
            axes[0, column].set_title(shape)
            told.append(f"{shape}: {names[int(found.map_error.argmin())]}")
        for ax, name in zip(axes[:, 0], names, strict=True):
            ax.set_ylabel(name, fontsize=8.5)
    return figure, (
        f"{len(names)} rows of evaluators and five columns of shapes, with the fitted map and the "
        f"dashed true one in every panel. The closest maps are, {', '.join(told)}."
    )


def _panel(
    ax: Axes,
    line: tuple[FloatVector, FloatVector],
    true: Callable[[FloatVector], FloatVector],
    off: float,
) -> None:
    grid = np.linspace(0, 1, 201)
    ax.plot([0, 1], [0, 1], color=look.GREY, linewidth=0.6)
    ax.plot(*line, color=look.OVER, linewidth=1.3)
    ax.plot(grid, true(grid), color=look.INK, linewidth=1.0, linestyle="--")
    ax.text(0.97, 0.04, f"{1000 * off:.0f}", ha="right", transform=ax.transAxes, fontsize=9)
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1], aspect="equal")


def inside() -> tuple[Figure, str]:
    """Draw PL as a network, and beta calibration beside two pieces of PL3 on logit axes."""
    with plot.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.8, 3.7), layout="constrained")
        _network(left)
        words = _slopes(right)
    return figure, (
        "Left: a network whose input is a prediction p. A layer of widths makes the knots, each "
        "knot has a share of p, the shares are multiplied by heights and added to the output. "
        f"Right: {words}"
    )


def _network(ax: Axes) -> None:
    heights = np.linspace(0.9, 0.1, 4)
    for k, y in enumerate(heights):
        for x, target in ((0.05, 0.42), (0.62, 0.95)):
            ends = ((0.5, y), (y, 0.5))[x > 0.5]
            ax.annotate("", (target, ends[1]), (x, ends[0]), arrowprops={"arrowstyle": "-"})
        ax.text(0.52, y, f"share of knot $B_{k}$", ha="center", va="center", fontsize=9,
                bbox={"boxstyle": "round", "fc": "white", "ec": look.INK})  # fmt: skip
        ax.text(0.8, 0.5 + 0.72 * (y - 0.5) + 0.035, f"$H_{k}$", color=look.OVER, fontsize=10)
    for x, text in ((0.04, "$p$"), (0.97, r"$\hat c(p)$")):
        ax.text(x, 0.5, text, ha="center", va="center", fontsize=12,
                bbox={"boxstyle": "circle", "fc": "white", "ec": look.INK})  # fmt: skip
    ax.set(xlim=(-0.06, 1.08), ylim=(0, 1.08), title="PL with three pieces, as a network")
    ax.axis("off")


def _slopes(ax: Axes) -> str:
    a, b, rng = 2.0, 0.5, np.random.default_rng(0)
    prob = rng.random(20_000)
    label = rng.random(20_000) < expit(a * np.log(prob) - b * np.log1p(-prob))
    z = np.linspace(-6, 6, 241)
    beta = BetaCalibrator().fit(prob, label)
    pieces = PiecewiseLinear("logit", 2).fit(prob, label)
    for model, style, name in ((beta, "-", "beta calibration"), (pieces, "--", "PL3, two pieces")):
        colour = look.INK if style == "-" else look.OVER
        ax.plot(z, logit(model.curve(expit(z))), style, color=colour, label=name)
    ax.set(xlabel="logit of the prediction", ylabel="logit of the map")
    ax.legend(fontsize=9)
    ax.set_title("Two slopes on logit axes")
    slopes = np.diff(logit(pieces.heights_)) / np.diff(logit(pieces.knots_))
    return (
        f"on logit axes beta calibration bends from slope {beta.a_:.1f} to {beta.b_:.1f}, and two "
        f"pieces of PL3 have slopes {slopes[0]:.1f} and {slopes[1]:.1f}."
    )


FIGURES: dict[str, tuple[Callable[[], tuple[Figure, str]], str]] = {
    "shapes": (
        shapes,
        "The true maps in full, and of the stairs two derivates: two thirds and one third of the "
        "way from the diagonal, in the horizontal direction.",
    ),
    "gallery": (
        gallery,
        f"Fitted maps and, dashed, the true one: {ROWS:,} predictions with a true error of "
        f"{ERROR}. In each corner stands the mean distance from the true map, times 1000.",
    ),
    "inside": (
        inside,
        "Left, the network of the source's Figure 6. Right, its Figure 14: what PL3 and beta "
        "calibration have in common.",
    ),
}


def draw_all() -> None:
    """Write the figures; the words that describe a figure are stored inside it."""
    for name, (draw, _) in FIGURES.items():
        figure, words = draw()
        path = IMAGES / f"study_{name}.png"
        figure.savefig(path, dpi=100, metadata={"Description": words, "Software": None})
        plt.close(figure)


def directives() -> dict[str, str]:
    """Return the figures as Markdown, with the words that are stored inside them."""
    found = {}
    for name, (_, caption) in FIGURES.items():
        with Image.open(IMAGES / f"study_{name}.png") as stored:
            words = stored.info["Description"]
        found[name] = (
            f"```{{figure}} _static/study_{name}.png\n:name: study-{name}\n:alt: {words}\n"
            f":width: 100%\n\n{caption}\n```"
        )
    return found
