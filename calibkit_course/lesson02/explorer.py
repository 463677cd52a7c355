"""Distort me: rename a forecaster's numbers and see which virtue it costs. Lesson 02."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score, roc_curve

from calibkit import plot
from calibkit.corp import CorpDecomposition, corp_decomposition, miscalibration
from calibkit.fakes import LogitDistortion
from calibkit.plot.look import AnyFigure
from calibkit.reliability import BinTable, reliability_table
from calibkit.results import Result, read_only
from calibkit.scores import log_loss
from calibkit.significance import NullLevel, null_level
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson02 import figures

STARTS = {"calibrated": LogitDistortion(), "over-confident": LogitDistortion(slope=0.5)}
_HIGHEST_SCORE = 0.5
_BINS, _DRAWS = 10, 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Virtues(Result):
    """Both virtues of a forecaster after ``expit(logit(p) / temperature + bias)``."""

    temperature: float
    bias: float
    false_alarms: NDArray[np.float64]  # the ROC curve, one point per threshold
    hits: NDArray[np.float64]
    at_half: tuple[float, float]  # false alarms and hits of the threshold 0.5
    area: float  # under the curve
    accuracy: float  # of the threshold 0.5
    log_loss: float  # in nats
    table: BinTable
    parts: CorpDecomposition
    null: NullLevel

    def describe(self) -> str:
        """Give what stays, what moves, and the level that chance explains."""
        parts = self.parts
        return (
            f"The area under the ROC curve is {self.area:.3f}, the accuracy {self.accuracy:.3f}, "
            f"the log loss {self.log_loss:.4f} nats. "
            f"The Brier score is {parts.score:.4f} = miscalibration "
            f"{parts.miscalibration:.4f} - discrimination {parts.discrimination:.4f} + "
            f"uncertainty {parts.uncertainty:.4f}. A calibrated model with these predictions "
            f"would show the miscalibration {self.null.mean:.4f} ± {self.null.sd:.4f}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {"false_alarms": self.false_alarms, "hits": self.hits}


def distort_me_view(
    *,
    temperature: float = 1.0,
    bias: float = 0.0,
    start: str = "calibrated",
    n: int = 3000,
    seed: int = 22,
) -> Virtues:
    """Rename the predictions of a fake classifier, and measure both virtues."""
    if start not in STARTS:
        raise ValueError(f"start={start!r} does not exist; choose one of {tuple(STARTS)}.")
    if not 0 < temperature < np.inf:
        raise ValueError(f"temperature must be a positive number, got {temperature!r}.")
    if not np.isfinite(bias):
        raise ValueError(f"bias must be finite, got {bias!r}.")
    sample = STARTS[start].sample(n, seed)
    # The order is fixed before the renaming: rounding cannot merge two predictions.
    false_alarms, hits, _ = roc_curve(sample.y_true, sample.y_prob)
    prob = expit(logit(sample.y_prob) / temperature + bias)
    named, event = prob > 0.5, sample.y_true == 1
    return Virtues(
        temperature=float(temperature),
        bias=float(bias),
        false_alarms=read_only(false_alarms),
        hits=read_only(hits),
        at_half=(float(named[~event].mean()), float(named[event].mean())),
        area=float(roc_auc_score(sample.y_true, sample.y_prob)),
        accuracy=float((named == event).mean()),
        log_loss=log_loss(sample.y_true, prob).value,
        table=reliability_table(sample.y_true, prob, bins=_BINS),
        parts=corp_decomposition(sample.y_true, prob),
        null=null_level(miscalibration, sample.y_true, prob, n_draws=_DRAWS, rng=seed),
    )


def _draw(view: Virtues, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 3)
    titles = ("", "", "") if compact else ("Ranking", "Reliability", "Parts of the Brier score")
    figures.roc(view, axes[0], title=titles[0], legend=False)
    plot.reliability(view.table, ax=axes[1], show={"means", "gaps"}, title=titles[1], legend=False)
    axes[1].set_ylabel("observed frequency")
    figures.score_parts(view.parts, axes[2], title=titles[2], top=_HIGHEST_SCORE)
    if not compact:
        plot.legend(figure)


_CONTROLS = (
    Slider(
        name="temperature",
        label="Temperature",
        values=(0.25, 0.33, 0.5, 0.75, *(round(1 + 0.25 * k, 2) for k in range(13)), 5.0),
        default=1.0,
        book=(0.33, 0.5, 1.0, 1.5, 2.0, 2.5),
        form="{:g}",
    ),
    Slider(
        name="bias",
        label="Bias",
        values=tuple(round(-2 + 0.25 * k, 2) for k in range(17)),
        default=0.0,
        book=(-1.0, 0.0, 1.0),
        unit="on the logit scale",
        form="{:+g}",
    ),
    Choice(
        name="start",
        label="Start",
        values=tuple(STARTS),
        default="calibrated",
        book=tuple(STARTS),
    ),
)


def distort_me(**defaults: Any) -> Explorer[Virtues]:
    """Return the explorer *distort me*, which renames the numbers of a forecaster."""
    return Explorer(
        name="distort-me",
        title="Distort me",
        controls=_CONTROLS,
        view=distort_me_view,
        draw=_draw,
        presets=[
            ("as it is", {}),
            ("bold: temperature 0.33", {"temperature": 0.33}),
            ("timid: temperature 2.5", {"temperature": 2.5}),
            ("too high: bias +1", {"bias": 1.0}),
        ],
        size=(8.6, 3.7),
        cell=(8.6, 2.7),
    ).starting_at(**defaults)
