"""Question 6: which repair, and how much is gained, on rows that it was not fitted to? In words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from calibkit.calibrators import (
    BetaCalibrator,
    DirichletCalibrator,
    IsotonicCalibrator,
    OneVsRest,
    PlattCalibrator,
    TemperatureScaling,
    VectorScaling,
)
from calibkit.errors import expected_calibration_error as _error
from calibkit.inputs import TIE, FloatVector, IntVector, View, as_choice, quiet
from calibkit.results import Result, spell
from calibkit.scores import brier_score
from calibkit_audit.auditing.evidence import Measurements
from calibkit_audit.auditing.maps import BaseRate, Offset
from calibkit_audit.auditing.pages import Answer, interval_in_words
from calibkit_audit.auditing.rows import AuditRows, losses, probability_of
from calibkit_audit.auditing.settings import AuditSettings
from calibkit_audit.clusters import Clusters, cluster_folds, mean_interval
from calibkit_audit.saving import four_digits

# A map of K^2 parameters for a hundred classes takes minutes, and data that few people have.
_MOST_CLASSES = {"Dirichlet": 30, "one-vs-rest": 30, "vector": 200}
BASE = "base rate"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RepairTable(Result):
    """Candidates with the log loss that they reach on rows held out from their fit.

    Parameters
    ----------
    name, log_loss, error : ndarray of shape (m,)
        Candidates, from simple to complex; held out, their log loss in nats (infinite where 0 was
        said of what happened) and their calibration error in the first view.
    gain, low, high, clear : ndarray of shape (m,)
        Log loss before minus after, held out, infinite where it was; an interval for what the
        candidate, fitted to all rows, gains on new ones, and whether this lies above 0.
    harmless : ndarray of shape (m,)
        Whether it neither raises the Brier score nor loses to the base rate in log loss, held out.
    before, chosen : float and int
        Log loss without a repair; place of the recommended candidate, which is clear, harmless,
        and says 0 or 1 of no row of which the model did not, or of none at all where the log loss
        was infinite; -1: none.
    notes : tuple of str
        Why something was not tried.
    """

    name: NDArray[np.str_]
    log_loss: FloatVector
    gain: FloatVector
    low: FloatVector
    high: FloatVector
    clear: NDArray[np.bool_]
    harmless: NDArray[np.bool_]
    error: FloatVector
    before: float
    chosen: int
    notes: tuple[str, ...]

    @property
    def place(self) -> int:
        """Place of the recommended candidate, or else of the best; -1 if there is none."""
        if self.chosen >= 0 or not len(self.name):
            return self.chosen
        return int(self.log_loss.argmin())

    def describe(self) -> str:
        """Say the best candidate and its gain."""
        if not len(self.name):
            return "No repair was tried."
        place, word = self.place, "Recommended" if self.chosen >= 0 else "None is recommended; best"
        return f"{word}: {self.name[place]}, gain {four_digits(self.gain[place])} in log loss."

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        numbers = {name: getattr(self, name) for name in ("log_loss", "gain", "low", "high")}
        numbers |= {"calibration error": self.error}
        return {"repair": self.name} | numbers | {"beyond chance": self.clear}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repairs:
    """The table, and what later questions need."""

    table: RepairTable
    repaired: FloatVector | None  # held-out predictions of the best candidate
    calibrator: Any  # this candidate, fitted to all rows, or None
    certain: int = 0  # rows to which it gives exactly 0 or 1


def repairs_of(
    rows: AuditRows,
    settings: AuditSettings,
    rng: np.random.Generator,
    *,
    view: View = None,
    wanted: bool = True,
) -> Repairs:
    """Try every candidate in folds that do not depend on the order of the rows.

    Calibration errors are those of a `view`. None is recommended unless one is `wanted`.
    """
    candidates, notes = _candidates(rows, settings.repairs), list[str]()
    tried = dict[str, _Tried]()
    if len(np.unique(rows.label)) == 1 or rows.n < 2 * settings.folds:
        few = f"at least {2 * settings.folds} rows. Collect more rows."
        notes = [f"No repair was tried: it takes two classes in the labels, and {few}"]
        candidates = {}
    # Rows are in canonical order, so their numbers carry no order of the input.
    code = np.arange(rows.n) if rows.clusters is None else rows.clusters.code
    fold, _ = cluster_folds(code, settings.folds, rng)
    with quiet():  # rows that are held out judge a fit, however it came about
        for name, model in candidates.items():
            try:
                tried[name] = _try(model, rows, fold)
            except ValueError as error:
                notes.append(f"{name} could not be fitted: {error}")
        table = _repair_table(rows, tried, settings, view)
    table = replace(table, notes=tuple(notes), chosen=table.chosen if wanted else -1)
    if table.place < 0:
        return Repairs(table=table, repaired=None, calibrator=None)
    best = tried[str(table.name[table.place])]
    count = int(best.sure.sum())
    return Repairs(table=table, repaired=best.prob, calibrator=best.fitted, certain=count)


class _Tried(NamedTuple):
    prob: FloatVector  # of rows that no fit saw
    flattery: float  # how much less fits lose on their own rows
    fitted: Any  # to all rows
    sure: NDArray[np.bool_]  # to which rows this gives exactly 0 or 1, or a fit that held them out


def _try(model: Any, rows: AuditRows, fold: IntVector) -> _Tried:
    """Fit a candidate to all folds but one each, and to all rows."""
    scores, after, own = _scores_for(model, rows), np.empty_like(rows.prob), list[float]()
    for held in (fold == k for k in np.unique(fold)):
        said = _fit(model, rows, np.flatnonzero(~held)).calibrate(scores)
        after[held] = said[held]
        own.append(rows.mean(losses(probability_of(rows.label, said)), ~held))
    lost = rows.mean(losses(probability_of(rows.label, after)))
    fitted = _fit(model, rows, np.arange(rows.n))
    sure = certain(fitted.calibrate(scores)) | certain(after)
    return _Tried(after, lost - float(np.mean(own)), fitted, sure)


def _candidates(rows: AuditRows, wanted: Sequence[str] | None) -> dict[str, Any]:
    kind = "probabilities" if rows.logits is None else "logits"
    known: dict[str, Any] = {"temperature": TemperatureScaling(kind)}
    pulled = PlattCalibrator(pull=True)
    if rows.binary:
        known = {"offset": Offset(), **known, "Platt": PlattCalibrator(), "pulled Platt": pulled}
        known |= {"beta": BetaCalibrator(), "isotonic": IsotonicCalibrator()}
    else:
        known |= {"vector": VectorScaling(kind), "one-vs-rest": OneVsRest(kind, pulled)}
        known["Dirichlet"] = DirichletCalibrator(kind)
    known[BASE] = BaseRate(kind)
    if wanted is None:
        k = rows.n_classes
        if rows.table.min() >= 1 / (rows.n + 2):  # nothing is pulled
            del known["pulled Platt" if rows.binary else "one-vs-rest"]
        return {name: one for name, one in known.items() if k <= _MOST_CLASSES.get(name, k)}
    # No repair may be worse than the last one.
    names = [name for name in wanted if name != BASE] + [BASE] * bool(wanted)
    return {name: known[as_choice(name, "each of repairs", known)] for name in names}


def _scores_for(model: Any, rows: AuditRows) -> FloatVector:
    given = getattr(model, "input", "") == "logits"
    return rows.prob if rows.logits is None or not given else rows.logits


def _fit(model: Any, rows: AuditRows, where: IntVector) -> Any:
    weight = None if rows.weight is None else rows.weight[where]
    scores = _scores_for(model, rows)[where]
    return clone(model).fit(scores, rows.label[where], sample_weight=weight)


def certain(prob: FloatVector) -> NDArray[np.bool_]:
    """Return the rows that rule something out: that give probability 0 to a class."""
    return np.asarray((prob == 0) | (prob == 1) if prob.ndim == 1 else (prob == 0).any(axis=1))


def _repair_table(
    rows: AuditRows, tried: Mapping[str, _Tried], settings: AuditSettings, view: View
) -> RepairTable:
    before, how = losses(rows.own), dict[str, Any](sample_weight=rows.weight)
    if rows.logits is not None:  # exact also where probabilities are rounded to 0 or 1
        before = np.logaddexp(0, -rows.log_odds(rows.label))
    probs, flattery = [one.prob for one in tried.values()], [one.flattery for one in tried.values()]
    lost = [losses(probability_of(rows.label, p)) for p in probs]
    after = np.reshape(lost, (len(probs), rows.n))  # also where there is no candidate
    loss = rows.weigh(after).mean(axis=1)
    brier = [float(brier_score(rows.label, p, **how)) for p in (rows.prob, *probs)]
    # Neither worse in squares than before, nor in log loss than the base rate, which is last.
    harmless = (np.array(brier[1:]) <= brier[0] + TIE) & (loss <= loss[-1:] + TIE)
    with np.errstate(invalid="ignore"):  # of two infinite losses none is less
        gain = rows.mean(before) - loss
    low, high, finite = gain.copy(), gain.copy(), np.flatnonzero(np.isfinite(gain))
    if len(finite):
        gains = rows.weigh(before - after[finite])
        low[finite], high[finite] = mean_interval(gains, settings.level, rows.clusters)
        # Midway between own and held-out rows stands the best map's gain, which no fit exceeds;
        # fits to all rows are flattered by (K - 1)/K of what those to K - 1 folds are.
        high[finite] += np.maximum(flattery, 0)[finite] * (1 - 1 / settings.folds) / 2
    # What is printed decides: the interval must lie above 0. Nothing may be called impossible that
    # the model did not call so; nor anything again, where something was that happened.
    clear, own = low > 0, certain(rows.prob) & np.isfinite(before).all()
    safe = np.array([not (one.sure & ~own).any() for one in tried.values()], dtype=np.bool_)
    useful = clear & harmless & safe
    how |= {"view": view, "bins": settings.bins}
    return RepairTable(
        name=np.array(list(tried), dtype=np.str_),
        log_loss=loss,
        gain=gain,
        low=low,
        high=high,
        clear=clear,
        harmless=harmless,
        error=np.array([_error(rows.label, p, **how).value for p in probs]),
        before=rows.mean(before),
        chosen=_simplest(-rows.weigh(after), useful, rows.clusters, settings.level),
        notes=(),
    )


def _simplest(
    gains: FloatVector, clear: NDArray[np.bool_], clusters: Clusters | None, level: float
) -> int:
    """Return the first clear candidate that the best does not beat beyond chance; or -1."""
    if not clear.any():
        return -1
    best = int(np.where(clear, gains.mean(axis=1), -np.inf).argmax())
    places = np.flatnonzero(clear)
    low, _ = mean_interval(gains[best] - gains[places], level, clusters)
    return int(places[low <= 0][0])


# What each candidate is, and what that means in other words.
_FOR_ALL = "a number and a shift, the same for all"
_BY_CLASS = "a number and a shift for each class"
REPAIRED = {
    BASE: ("the base rate, as the predictions tell nothing", ""),
    "pulled Platt": ("Platt scaling pulled 1/(n + 2) away from 0 and 1", _FOR_ALL),
    "one-vs-rest": ("Platt scaling class by class, pulled 1/(n + 2) away from 0 and 1", _BY_CLASS),
    "offset": ("one shift of all log odds", "the same step up or down for all"),
    "temperature": ("temperature scaling", "one number makes all of them bolder or more careful"),
    "Platt": ("Platt scaling", _FOR_ALL),
    "beta": ("beta calibration", "a smooth curve of three numbers"),
    "isotonic": ("isotonic regression", "steps that keep their order"),
    "vector": ("vector scaling", _BY_CLASS),
    "Dirichlet": ("Dirichlet scaling", ""),
}


def repair_answer(found: Repairs, aligned: bool, measured: Measurements) -> Answer:
    """Answer question 6: which repair, and what speaks against it."""
    table, place = found.table, found.table.place
    numbers = {"log_loss": table.before}
    if place >= 0:
        ends = {"gain_low": table.low, "gain_high": table.high, "error_after": table.error}
        columns = {"log_loss_after": table.log_loss, "gain": table.gain, **ends}
        numbers |= {name: float(column[place]) for name, column in columns.items()}
    clear = measured.power.enough and not measured.borderline
    verdict = "no repair"
    light = "caution" if measured.miscalibrated else "good" if clear else "unknown"
    if not aligned:
        verdict, light = "align first", "bad"
        text = "None: repair the labels or the columns first. A calibrator would hide the mistake."
    elif place < 0:
        text = " ".join(table.notes) or "No repair was tried."
    else:
        text = _gain_in_words(found, measured.settings)
        if table.chosen >= 0:
            verdict, light = "repair", "caution"
            before, after = four_digits(measured.error.value), four_digits(table.error[place])
            text += f" Expected calibration error afterwards: {after} ({measured.names[0]})."
            if float(after) > float(before):
                text += f" It was {before}: this repair gains in log loss, not in that error."
        elif measured.miscalibrated:
            text += (
                " That the predictions are miscalibrated (question 3) stands: maps fitted to "
                f"{spell(measured.focus.n, 'row')} do not mend it safely. More rows, or another "
                "model, might."
            )
    return Answer("repair", verdict, light, text.strip(), numbers)


def _gain_in_words(found: Repairs, settings: AuditSettings) -> str:
    table, place = found.table, found.table.place
    name = str(table.name[place])
    words, _ = REPAIRED.get(name, (name, ""))
    gain, low, high = table.gain[place], table.low[place], table.high[place]
    change = ""
    if np.isfinite(gain):
        ends = interval_in_words(settings.level, low, high)
        change = f", a gain of {four_digits(gain)} ({ends}, {settings.folds} folds)"
    reached = f"{four_digits(table.before)} to {four_digits(table.log_loss[place])}{change}"
    text = f"None. The best candidate, {words}, would bring log loss from {reached}: "
    if table.chosen >= 0:
        temperature = getattr(found.calibrator, "temperature_", None)
        one = f" (T = {temperature:.2f})" if temperature is not None else ""
        text = f"{words[0].upper()}{words[1:]}{one}: on held-out rows log loss falls from {reached}"
    elif not low > 0:
        text += "no gain is shown"
    elif not table.harmless[place]:
        text += "but it would raise the Brier score, or lose to the base rate"
    elif found.certain:
        text += "but it is too sure"
    else:
        text += "but no error was shown that it would mend (question 3)"
    if found.certain:
        rows = spell(found.certain, "row")
        text += (
            f". It says exactly 0 (or 1) in {rows}: one outcome against it costs infinitely much"
        )
    return f"{text}."
