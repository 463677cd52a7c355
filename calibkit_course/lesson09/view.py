"""One state of the prevalence dial: four measures of a model, beside chance. Lesson 09.

Matsubara and others (2023), sections 2.2 and 4.1, for the simulation, in the form that its tables
used; Saerens and others (2002) for the repair.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.bins import EqualMass, EqualWidth
from calibkit.calibrators import estimate_prevalence, shift_prior
from calibkit.chance import ConsistencyBand, consistency_band
from calibkit.errors import expected_calibration_error
from calibkit.hypothesis_tests import test_based_calibration_error
from calibkit.inputs import FloatVector, as_choice, as_count, as_level, as_number
from calibkit.reliability import BinTable
from calibkit.results import Described, read_only, spell
from calibkit_course.lesson09.gaussian import GaussianDiscriminant

_BINS, _DRAWS = 10, 100
# Each of these finds its bins again.
_TCE_DRAWS = 60
_NAMES = ("ECE", "ACE", "TCE", "|O/E − 1|")
REPAIRS = {
    "none": "none",
    "known": "shift to the true prevalence",
    "estimated": "shift to the estimated prevalence",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PrevalenceView(Described):
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


def _percent(share: float) -> str:
    """Return a share in per cent, with three digits below 1000 %."""
    return f"{100 * share:,.0f} %" if share >= 10 else f"{100 * share:.3g} %"


def prevalence_dial_view(
    *,
    made_for: float = 0.01,
    times: float = 2.0,
    signal: float = 0.5,
    n: int = 6000,
    repair: str = "none",
    seed: int = 0,
) -> PrevalenceView:
    """Measure a model that is right for one prevalence, where events are `times` as frequent."""
    as_choice(repair, "repair", REPAIRS)
    made_for = as_level(made_for, "made_for")
    share = as_number(times, "times", "a positive number", lambda v: 0 < v < np.inf) * made_for
    used_at = as_level(share, "times * made_for")
    signal = as_number(signal, "signal", "a positive number", lambda v: 0 < v < np.inf)
    model = GaussianDiscriminant(made_for, deployed=used_at, scale=1 / signal)
    sample = model.sample(as_count(n, "n", minimum=_BINS), seed)
    target = _target(repair, sample.y_prob, model)
    prob = np.sort(shift_prior(sample.y_prob, train_prevalence=made_for, test_prevalence=target))
    label = sample.y_true[np.argsort(sample.y_prob, kind="stable")]
    value, null = _measured(label, prob, seed)
    band = consistency_band(label, prob, bins=EqualMass(_BINS), n_draws=400, rng=seed)
    return PrevalenceView(
        model=model,
        repair=repair,
        moved_to=target,
        names=_NAMES,
        values=value,
        null_low=read_only([np.quantile(draws, 0.05) for draws in null]),
        null_high=read_only([np.quantile(draws, 0.95) for draws in null]),
        ratio=float(label.sum() / prob.sum()),
        table=band.table,
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
    tested = test_based_calibration_error(label, prob, n_draws=_TCE_DRAWS, rng=seed)
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
