"""The prevalence dial: one model, made for one share of events and used at another. Lesson 09.

Matsubara and others (2023), sections 2.2 and 4.1, for the simulation, in the form that its tables
used; Saerens and others (2002) for the repair.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit import plot
from calibkit.bins import EqualMass, EqualWidth
from calibkit.calibrators import estimate_prevalence, shift_prior
from calibkit.errors import expected_calibration_error
from calibkit.plot.look import AnyFigure
from calibkit.reliability import BinTable
from calibkit.results import Result, read_only, spell
from calibkit.significance import (
    ConsistencyBand,
    consistency_band,
    test_based_calibration_error,
)
from calibkit.types import FloatVector
from calibkit.validation import as_choice, as_count
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson09 import figures
from calibkit_course.lesson09.gaussian import GaussianDiscriminant

_BINS, _DRAWS = 10, 100
# Each of these finds its bins again.
_TCE_DRAWS = 100
_NAMES = ("ECE", "ACE", "TCE", "|O/E − 1|")
# The axes stay where they are while a dial moves the picture, as long as the points are rare.
_RARE_ENDS, _USUAL_ENDS, _ENDS = (0.001, 0.2), (0.003, 1.0), (0.0005, 1.0)
_SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_REPAIRS = {
    "none": "none",
    "known": "shift to the true prevalence",
    "estimated": "shift to the estimated prevalence",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PrevalenceView(Result):
    """One state of the prevalence dial."""

    model: GaussianDiscriminant  # with the share that it was made for, and that where it is used
    repair: str
    moved_to: float  # the prevalence that its predictions now stand for
    names: tuple[str, ...]  # of the four measures
    values: FloatVector
    null_low: FloatVector  # 5 % and 95 % quantiles of what a calibrated model would show
    null_high: FloatVector
    ratio: float  # observed over expected number of events
    table: BinTable  # ten equal-mass bins
    band: ConsistencyBand

    @property
    def auc(self) -> float:
        """Area under the ROC curve of the model, which no prevalence changes."""
        low, high = self.model.means
        return float(special.ndtr((high - low) / self.model.scale / np.sqrt(2)))

    def true_map(self, prob: Any) -> FloatVector:
        """Return the true probability behind each prediction, as repaired."""
        if self.moved_to == self.model.share:
            return np.asarray(prob, dtype=np.float64)
        return shift_prior(prob, train_prevalence=self.moved_to, test_prevalence=self.model.share)

    def describe(self) -> str:
        """Give the measures in per cent, each with the most that chance alone would show."""
        pairs = zip(self.names, self.values, self.null_high, strict=True)
        words = ", ".join(f"{name} {_percent(v)} ({100 * high:.2g} %)" for name, v, high in pairs)
        repaired = "" if self.repair == "none" else f", is moved to {100 * self.moved_to:.3g} %"
        return (
            f"The model was made for {100 * self.model.prevalence:g} %{repaired}, and is used at "
            f"{100 * self.model.share:g} % (AUC {self.auc:.2f}, {spell(self.table.n, 'prediction')}"
            f"). The measures are {words}; in brackets stands what a calibrated model stays below "
            f"in 95 % of all cases. Observed over expected is {self.ratio:.2f}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "measure": np.array(self.names),
            "value": self.values,
            "null_low": self.null_low,
            "null_high": self.null_high,
        }


def _percent(share: float) -> str:
    """Return a share in per cent, with three digits below 1000 %."""
    return f"{100 * share:,.0f} %" if share >= 10 else f"{100 * share:.3g} %"


def prevalence_dial_view(
    *,
    made_for: float = 0.01,
    used_at: float = 0.02,
    signal: float = 0.5,
    n: int = 6000,
    repair: str = "none",
    seed: int = 0,
) -> PrevalenceView:
    """Measure a model that is exactly right for one prevalence and used at another."""
    as_choice(repair, "repair", _REPAIRS)
    if not 0 < used_at < 1:
        raise ValueError(f"used_at must lie strictly between 0 and 1, got {used_at!r}.")
    if not 0 < signal < np.inf:
        raise ValueError(f"signal must be a positive number, got {signal!r}.")
    model = GaussianDiscriminant(made_for, deployed=used_at, scale=1 / signal)
    sample = model.sample(as_count(n, "n", minimum=_BINS), seed)
    target = _target(repair, sample.y_prob, model)
    prob = np.sort(shift_prior(sample.y_prob, train_prevalence=made_for, test_prevalence=target))
    label = sample.y_true[np.argsort(sample.y_prob, kind="stable")]
    value, null = _measured(label, prob, seed)
    return PrevalenceView(
        model=model,
        repair=repair,
        moved_to=target,
        names=_NAMES,
        values=read_only(value),
        null_low=read_only([np.quantile(draws, 0.05) for draws in null]),
        null_high=read_only([np.quantile(draws, 0.95) for draws in null]),
        ratio=float(label.sum() / prob.sum()),
        table=(band := consistency_band(label, prob, bins=EqualMass(_BINS), rng=seed)).table,
        band=band,
    )


def _target(repair: str, prob: FloatVector, model: GaussianDiscriminant) -> float:
    """Return the prevalence that the predictions shall stand for."""
    if repair == "known":
        return model.share
    if repair == "none":
        return model.prevalence
    estimate = estimate_prevalence(prob, train_prevalence=model.prevalence, em_steps=0).value
    least = 0.5 / len(prob)
    return min(max(estimate, least), 1 - least)


def _measured(
    label: NDArray[np.int64], prob: FloatVector, seed: int
) -> tuple[FloatVector, list[FloatVector]]:
    """Return the four measures, and the same for labels redrawn from sorted predictions."""
    tested = test_based_calibration_error(label, prob, null_draws=_TCE_DRAWS, rng=seed)
    drawn = np.random.default_rng(seed).random((_DRAWS, len(prob))) < prob
    value, null = [], []
    for bins in (EqualWidth(_BINS), EqualMass(_BINS)):
        error = expected_calibration_error(label, prob, bins=bins)
        starts = np.concatenate([[0], np.cumsum(error.tables[0].count[error.tables[0].occupied])])
        surplus = np.add.reduceat(drawn - prob, starts[:-1], axis=1)
        value.append(error.value)
        null.append(np.abs(surplus).sum(axis=1) / len(prob))
    expected = prob.sum()
    value += [tested.value, abs(float(label.sum() / expected) - 1)]
    null += [tested.null_values, np.abs(drawn.sum(axis=1) / expected - 1)]
    return np.array(value), null


def _draw(view: PrevalenceView, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2, width_ratios=(1.15, 1))
    titles = "Ten equal-mass bins", "Four measures of the same"
    first, second = (None, None) if compact else titles
    rare = max(view.table.mean_prob.max(), view.table.frequency.max()) < _RARE_ENDS[1]
    least = min(view.table.mean_prob.min(), view.table.frequency.min())
    ends = _RARE_ENDS if rare else _USUAL_ENDS if least > _USUAL_ENDS[0] else _ENDS
    shown: dict[str, Any] = {"ends": ends, "band": view.band, "truth": view.true_map}
    figures.rare_events(view.table, ax=axes[0], title=first, legend=False, **shown)
    figures.measures(view, ax=axes[1], title=second, legend=False)
    if not compact:
        plot.legend(figure)


def _shares(name: str, label: str, default: float, book: tuple[float, ...]) -> Slider:
    """Return a slider over prevalences, written in per cent."""
    return Slider(
        name=name,
        label=label,
        values=_SHARES,
        default=default,
        book=book,
        form="{:.1%}",
        unit="events",
    )


_CONTROLS = (
    _shares("made_for", "Made for", 0.01, (0.5, 0.01)),
    _shares("used_at", "Used at", 0.02, (0.5, 0.1, 0.02, 0.01)),
    Slider(
        name="signal",
        label="Distance of the classes",
        values=(0.25, 0.5, 1.0, 2.0, 3.0),
        default=0.5,
        book=(0.5, 2.0),
        unit="standard deviations",
        form="{:g}",
    ),
    Slider(
        name="n",
        label="Sample size",
        values=(1000, 2000, 6000, 10000),
        default=6000,
        unit="predictions",
    ),
    Choice(
        name="repair",
        label="Repair",
        values=tuple(_REPAIRS),
        default="none",
        book=tuple(_REPAIRS),
        texts=_REPAIRS,
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("made for 1 %, used at 2 %", {}),
    ("the same, shifted to 2 %", {"repair": "known"}),
    ("the same, shifted to the estimate", {"repair": "estimated"}),
    ("made for 50 %, used at 2 %", {"made_for": 0.5}),
)


def prevalence_dial(**defaults: Any) -> Explorer[PrevalenceView]:
    """Return the explorer *prevalence dial*: turn the share of events, watch four measures."""
    return Explorer(
        name="prevalence-dial",
        title="Prevalence dial",
        controls=_CONTROLS,
        view=prevalence_dial_view,
        draw=_draw,
        presets=_PRESETS,
        size=(8.0, 4.6),
        cell=(7.6, 3.8),
    ).starting_at(**defaults)
