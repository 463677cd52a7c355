"""The outlier hunter: test each prediction against the events of its bin. Lesson 08."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit import plot
from calibkit.bins import Binning, EqualMass, Pava, PavaBC
from calibkit.fakes import LogitDistortion
from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit.plot.strips import LeaveRoom
from calibkit.results import Result
from calibkit.significance import TestBasedError, test_based_calibration_error
from calibkit.validation import as_choice
from calibkit_course.explore import Choice, Explorer, Preset, Slider

MODELS = {"calibrated": LogitDistortion(), "over-confident": LogitDistortion(slope=0.7)}
RULES = ("mass", "root", "pava", "pava-bc")
# Smallest and largest size of a block of PAVA-BC, as n divided by these numbers.
SIZES = {"small": (40, 10), "source": (20, 5), "large": (10, 2)}
_DRAWS = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Hunt(Result):
    """One state of the outlier hunter: what was rejected of which fake classifier."""

    error: TestBasedError
    model: str

    def describe(self) -> str:
        """Say the rejected share beside its null level, and what the model is."""
        error = self.error
        return (
            f"The TCE is {100 * error.value:.1f} % ({int(error.rejected.sum()):,} of {error.n:,} "
            f"predictions are rejected) in {int(error.table.occupied.sum())} bins at the level "
            f"{100 * error.alpha:g} %; a calibrated model with these predictions would show "
            f"{100 * error.null_mean:.1f} ± {100 * error.null_sd:.1f} % (p = "
            f"{error.p_value:.2f}). This model is {self.model}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return self.error._columns()


def outlier_hunter_view(
    *,
    n: int = 2000,
    model: str = "calibrated",
    rule: str = "mass",
    alpha: float = 0.05,
    sizes: str = "source",
    seed: int = 8,
) -> Hunt:
    """Draw predictions from a fake classifier, and test each against its bin."""
    as_choice(model, "model", MODELS)
    as_choice(rule, "rule", RULES)
    as_choice(sizes, "sizes", SIZES)
    if n < SIZES["small"][0]:
        raise ValueError(f"n={n} is too small; take at least {SIZES['small'][0]} predictions.")
    sample = MODELS[model].sample(n, seed)
    error = test_based_calibration_error(
        sample.y_true,
        sample.y_prob,
        bins=_binning(n, rule, sizes),
        alpha=alpha,
        null_draws=_DRAWS,
        rng=seed,
    )
    return Hunt(error=error, model=model)


def _binning(n: int, rule: str, sizes: str) -> Binning:
    smallest, largest = SIZES[sizes]
    rules: dict[str, Binning] = {
        "mass": EqualMass(10),
        "root": EqualMass(round(float(np.sqrt(n)))),
        "pava": Pava(),
        "pava-bc": PavaBC(n_min=n // smallest, n_max=n // largest),
    }
    return rules[rule]


def _draw(hunt: Hunt, figure: AnyFigure, compact: bool) -> None:
    ax = plot.test_based(hunt.error, figure.subplots())
    _all_shares_or_none(ax, int(hunt.error.table.occupied.sum()))
    if not compact:
        plot.legend(figure)
        return
    # Four states beside each other: the sum of all bins says more than a histogram each.
    _child(ax, "predictions").remove()
    LeaveRoom.of(ax).right = 0.0
    error = hunt.error
    ax.text(
        0.02,
        0.98,
        f"rejected: {100 * error.value:.0f} %\nby chance: {100 * error.null_mean:.0f} %",
        transform=ax.transAxes,
        fontsize=look.FONT_SIZE,
        va="top",
        zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        gid="sum",
    )


def _child(ax: Axes, name: str) -> Any:
    return next(child for child in ax.child_axes if child.get_label() == name)


def _all_shares_or_none(ax: Axes, bins: int) -> None:
    """Take the shares above the bars away if some bins are too narrow to have theirs."""
    strip = _child(ax, "counts")
    printed = [text for text in strip.texts if text.get_gid() == "share"]
    if 0 < len(printed) < bins:
        for text in printed:
            text.remove()
        if strip.get_xlabel():
            strip.set_xlabel("predicted probability", fontsize=look.FONT_SIZE)


_CONTROLS = (
    Slider(
        name="n",
        label="Sample size",
        values=(100, 200, 500, 1000, 2000, 4000, 8000),
        default=2000,
        book=(500, 2000, 8000),
        unit="predictions",
    ),
    Choice(
        name="model",
        label="Model",
        values=tuple(MODELS),
        default="calibrated",
        book=tuple(MODELS),
    ),
    Choice(
        name="rule",
        label="Bins",
        values=RULES,
        default="mass",
        book=RULES,
        texts={
            "mass": "10 of equal mass",
            "root": "√n of equal mass",
            "pava": "PAVA",
            "pava-bc": "PAVA-BC",
        },
    ),
    Slider(
        name="alpha",
        label="Level α",
        values=(0.001, 0.01, 0.05, 0.1, 0.2),
        default=0.05,
        book=(0.01, 0.05),
        form="{:g}",
    ),
    Choice(
        name="sizes",
        label="Sizes of PAVA-BC",
        values=tuple(SIZES),
        default="source",
        texts={
            "small": "n/40 to n/10",
            "source": "n/20 to n/5",
            "large": "n/10 to n/2",
        },
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("2,000 predictions, 10 bins", {}),
    ("8,000 predictions, 10 bins", {"n": 8000}),
    ("8,000 predictions, PAVA", {"n": 8000, "rule": "pava"}),
    ("8,000, PAVA, over-confident", {"n": 8000, "rule": "pava", "model": "over-confident"}),
)


def outlier_hunter(**defaults: Any) -> Explorer[Hunt]:
    """Return the outlier hunter: it shows which predictions the events of their bin reject."""
    return Explorer(
        name="outlier-hunter",
        title="Outlier hunter",
        controls=_CONTROLS,
        view=outlier_hunter_view,
        draw=_draw,
        presets=_PRESETS,
        size=(5.4, 5.2),
        cell=(4.0, 3.7),
    ).starting_at(**defaults)
