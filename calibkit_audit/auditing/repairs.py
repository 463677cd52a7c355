"""Question 6: which repair, and how much is gained, on rows that it was not fitted to? In words."""

import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from calibkit.calibrators.folds import assign_folds
from calibkit.errors import expected_calibration_error as _error
from calibkit.inputs import TIE, CalibrationWarning, FloatVector, IntVector, View, as_choice, quiet
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
# Filters of warnings belong to the process: of two threads, one would restore those of the other.
_ALONE = threading.RLock()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RepairTable(Result):
    """Candidates with the log loss that they reach on rows held out from their fit.

    Parameters
    ----------
    name, log_loss, error : ndarray of shape (m,)
        Candidates, from simple to complex; held out, their log loss in nats (infinite where 0 was
        said of what happened) and their calibration error in the first view.
    gain, low, high, clear : ndarray of shape (m,)
        Log loss before minus after in the rows left, held out; an interval for what the candidate,
        fitted to all rows, gains on new ones, and whether this lies above 0.
    harmless : ndarray of shape (m,)
        Whether it neither raises the Brier score nor loses to the base rate in log loss, held out.
    before, before_left, chosen : float and int
        Log loss without a repair, of all rows and of those whose outcome was possible; place of
        the recommended candidate, -1: none, which is clear, or never says 0 or 1.
    left : int
        Rows left.
    notes : tuple of str
        What went wrong in fits.
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
    before_left: float
    chosen: int
    left: int
    notes: tuple[str, ...]

    @property
    def place(self) -> int:
        """Place of the recommended candidate, or else of the largest gain; -1 if there is none."""
        return self.chosen if self.chosen >= 0 or not len(self.gain) else int(self.gain.argmax())

    def describe(self) -> str:
        """Say the best candidate and its gain."""
        if not len(self.name):
            return "No repair was tried."
        place, word = self.place, "Recommended" if self.chosen >= 0 else "None is recommended; best"
        return f"{word}: {self.name[place]}, gain {self.gain[place]:.4f} in log loss."

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
    candidates = _candidates(rows, settings.repairs)
    held_out, flattery, notes = _held_out(candidates, rows, settings, rng)
    how: Any = {"view": view, "bins": settings.bins, "sample_weight": rows.weight}
    errors = [_error(rows.label, p, **how).value for p in held_out.values()]
    table = _repair_table(rows, held_out, np.array(flattery), settings)
    chosen = table.chosen if wanted else -1
    table = replace(table, error=np.array(errors), notes=notes, chosen=chosen)
    if table.place < 0:
        return Repairs(table=table, repaired=None, calibrator=None)
    name = str(table.name[table.place])
    with quiet():  # named in the notes already
        fitted = _fit(candidates[name], rows, np.arange(rows.n))
    said, repaired = fitted.calibrate(_scores_for(fitted, rows)), held_out[name]
    sure = int((certain(said) | certain(repaired)).sum())
    return Repairs(table=table, repaired=repaired, calibrator=fitted, certain=sure)


def _held_out(
    candidates: dict[str, Any], rows: AuditRows, settings: AuditSettings, rng: np.random.Generator
) -> tuple[dict[str, FloatVector], list[float], tuple[str, ...]]:
    """Return held-out predictions, by how much less each fit loses on its own rows, and notes."""
    left, two = rows.possible, len(np.unique(rows.label)) > 1
    if not two or rows.n < 2 * settings.folds or not left.any():
        note = (
            "No repair was tried: it takes two classes in the labels, at least "
            f"{2 * settings.folds} rows, and predictions that were possible. Collect more rows."
        )
        return {}, [], (note,)
    # Rows are in canonical order, so their numbers carry no order of the input.
    number, label = np.arange(rows.n, dtype=np.float64), rows.label.astype(np.float64)
    if rows.clusters is None:
        fold, n_folds = assign_folds(number, label, settings.folds, rng)
    else:
        fold, n_folds = cluster_folds(rows.clusters.code, settings.folds, rng)
    repaired: dict[str, FloatVector] = {}
    flattery: list[float] = []
    notes: list[str] = []
    for name, model in candidates.items():
        try:
            with _ALONE, warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", CalibrationWarning)
                scores, after, own = _scores_for(model, rows), np.empty_like(rows.prob), 0.0
                for held in (fold == k for k in range(n_folds)):
                    fitted = _fit(model, rows, np.flatnonzero(~held))
                    said = fitted.calibrate(scores)
                    after[held] = said[held]
                    lost = losses(probability_of(rows.label, said))
                    own += float(rows.weigh(lost[left & ~held], left & ~held).mean()) / n_folds
            repaired[name] = after
            lost = losses(probability_of(rows.label, after))[left]
            flattery.append(float(rows.weigh(lost, left).mean()) - own)
            notes += [f"{name}: {text}" for text in sorted({str(w.message) for w in caught})]
        except ValueError as error:
            notes.append(f"{name} could not be fitted: {error}")
    return repaired, flattery, tuple(notes)


def _candidates(rows: AuditRows, wanted: Sequence[str] | None) -> dict[str, Any]:
    kind = "probabilities" if rows.logits is None else "logits"
    known: dict[str, Any] = {"temperature": TemperatureScaling(kind)}
    pulled = PlattCalibrator(pull=True)
    if rows.binary:
        known = {"offset": Offset(), **known, "Platt": PlattCalibrator(), "pulled Platt": pulled}
        known["beta"] = BetaCalibrator()
        known["isotonic"] = IsotonicCalibrator()
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
    rows: AuditRows,
    held_out: dict[str, FloatVector],
    flattery: FloatVector,
    settings: AuditSettings,
) -> RepairTable:
    left, m = rows.possible, len(held_out)
    before = losses(rows.own)
    lost = [losses(probability_of(rows.label, p)) for p in held_out.values()]
    after = np.reshape(lost, (m, rows.n))  # also where there is no candidate
    gains = rows.weigh(before[left] - after[:, left], left)
    gain = gains.sum(axis=1) / max(int(left.sum()), 1)
    finite = np.flatnonzero(np.isfinite(gain))
    said, loss = (rows.prob, *held_out.values()), rows.weigh(after).mean(axis=1)
    brier = [float(brier_score(rows.label, p, sample_weight=rows.weight)) for p in said]
    # Neither worse in squares than before, nor in log loss than the base rate, which is last.
    harmless = (np.array(brier[1:]) <= brier[0] + TIE) & (loss <= loss[-1:] + TIE)
    low, high, clear, chosen = gain.copy(), gain.copy(), np.zeros(m, dtype=np.bool_), -1
    if len(finite):
        inside = rows.clusters and rows.clusters.take(left)
        low[finite], high[finite] = mean_interval(gains[finite], settings.level, inside)
        # Midway between own and held-out rows stands the best map's gain, which no fit exceeds;
        # fits to all rows are flattered by (K - 1)/K of what those to K - 1 folds are.
        high[finite] += np.maximum(flattery[finite], 0) * (1 - 1 / settings.folds) / 2
        # What is printed decides: the interval must lie above 0.
        clear = np.isfinite(gain) & (low > 0)
        chosen = _simplest(gains, clear & harmless, inside, settings.level)
        if not left.all():  # then it is worth more that nothing is called impossible again
            safe = ~np.array([certain(p).any() for p in held_out.values()])
            chosen = _simplest(-rows.weigh(after), safe & harmless, rows.clusters, settings.level)
    return RepairTable(
        name=np.array(list(held_out), dtype=np.str_),
        log_loss=loss,
        gain=gain,
        low=low,
        high=high,
        clear=clear,
        harmless=harmless,
        error=np.full(m, np.nan),
        before=float(rows.weigh(before).mean()),
        before_left=float(rows.weigh(before[left], left).mean()) if left.any() else float("nan"),
        chosen=chosen,
        left=int(left.sum()),
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
    numbers = {"log_loss": table.before, "log_loss_of_others": table.before_left}
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
        text = _gain_in_words(found, measured.settings) + _warnings(found, measured.focus.n)
        if table.chosen >= 0:
            verdict, light = "repair", "caution"
            before, after = measured.error.value, four_digits(table.error[place])
            text += f" Expected calibration error afterwards: {after} ({measured.names[0]})."
            if float(after) > round(before, 4):
                text += f" It was {before:.4f}: this repair gains in log loss, not in that error."
        elif measured.miscalibrated:
            text += (
                " That the predictions are miscalibrated (question 3) stands: maps fitted to "
                f"{spell(measured.focus.n, 'row')} do not mend it. More rows, or another model, "
                "might."
            )
    return Answer("repair", verdict, light, text.strip(), numbers)


def _gain_in_words(found: Repairs, settings: AuditSettings) -> str:
    table, place = found.table, found.table.place
    name = str(table.name[place])
    words, _ = REPAIRED.get(name, (name, ""))
    gain, low, high = table.gain[place], table.low[place], table.high[place]
    if np.isinf(gain):
        return f"None. Even the best candidate, {words}, says 0 to something that happened."
    size, falls = abs(gain), gain >= 0
    if not falls:
        low, high = -high, -low
    interval = f"({interval_in_words(settings.level, low, high)}, {settings.folds} folds)"
    if table.chosen >= 0:
        temperature = getattr(found.calibrator, "temperature_", None)
        one = f" (T = {temperature:.2f})" if temperature is not None else ""
        change = "a gain of" if falls else "the price of not saying 0:"
        return (
            f"{words[0].upper()}{words[1:]}{one}: on held-out rows log loss "
            f"{'falls' if falls else 'rises'} from {table.before_left:.4f} to "
            f"{table.before_left - gain:.4f}, {change} {size:.4f} {interval}."
        )
    why = "the interval holds 0, so this may be chance" if falls else "none that was tried gains"
    if low > 0 and falls:
        why = "but no error was shown that it would mend (question 3)"
        harm = "but it would raise the Brier score, or lose to the base rate"
        why = why if table.harmless[place] else harm
    return (
        f"None. The best candidate, {words}, would {'gain' if falls else 'lose'} "
        f"{four_digits(size)} in log loss {interval}: {why}."
    )


def _warnings(found: Repairs, n: int) -> str:
    """Return what to know of a candidate before it is used."""
    table, text = found.table, ""
    if table.left < n:
        after = table.log_loss[table.place]
        text = (
            f" This is about the {table.left:,} rows whose outcome was called possible; of all "
            f"{n:,} the log loss is infinite as they are, and {four_digits(after)} repaired."
        )
    if found.certain and np.isfinite(table.gain[table.place]):
        rows = spell(found.certain, "row")
        text += (
            f" It says exactly 0 (or 1) in {rows}: one outcome against it costs infinitely much."
        )
    return text
