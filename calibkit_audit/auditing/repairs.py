"""Question 6: which repair, and how much is gained? Tried on rows that it was not fitted to."""

import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calibkit.calibrators import (
    BetaCalibrator,
    Calibrator,
    DirichletCalibrator,
    IsotonicCalibrator,
    MulticlassCalibrator,
    PlattCalibrator,
    TemperatureScaling,
    VectorScaling,
)
from calibkit.calibrators.folds import assign_folds
from calibkit.errors import expected_calibration_error as _error
from calibkit.inputs import CalibrationWarning, FloatVector, IntVector, View, as_choice, quiet
from calibkit.results import Result, spell
from calibkit_audit.auditing.evidence import Summary
from calibkit_audit.auditing.pages import Answer, four_digits, interval_in_words
from calibkit_audit.auditing.rows import AuditRows, losses, probability_of
from calibkit_audit.auditing.settings import AuditSettings
from calibkit_audit.clusters import Clusters, cluster_folds, mean_interval, pseudo_values

# A map of K^2 parameters for a hundred classes takes minutes, and data that few people have.
_MOST_CLASSES = {"Dirichlet": 30, "vector": 200}
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
    before, before_left, chosen : float and int
        Log loss without a repair, of all rows and of those whose outcome was possible; place of
        the recommended candidate, -1: none, which is clear, or never says 0 or 1.
    level, folds, n, left : float and int
        Nominal content of each interval, number of folds, of rows, and of rows left.
    notes : tuple of str
        What went wrong in fits.
    """

    name: NDArray[np.str_]
    log_loss: FloatVector
    gain: FloatVector
    low: FloatVector
    high: FloatVector
    clear: NDArray[np.bool_]
    error: FloatVector
    before: float
    before_left: float
    chosen: int
    level: float
    folds: int
    n: int
    left: int
    notes: tuple[str, ...]

    @property
    def best(self) -> int:
        """Place of the candidate with the lowest log loss; -1 if there is no candidate."""
        return int(self.gain.argmax()) if len(self.gain) else -1

    @property
    def place(self) -> int:
        """Place of the recommended candidate, or else of the best."""
        return self.chosen if self.chosen >= 0 else self.best

    def describe(self) -> str:
        """Say the best candidate and its gain."""
        if not len(self.name):
            return "No repair was tried."
        place = self.place
        word = "Recommended" if self.chosen >= 0 else "None is recommended; the best is"
        return (
            f"{word}: {self.name[place]}, log loss {self.before_left:.4f} to "
            f"{self.before_left - self.gain[place]:.4f}, gain {self.gain[place]:.4f} "
            f"({100 * self.level:g} % interval {self.low[place]:.4f} to {self.high[place]:.4f}, "
            f"{spell(self.folds, 'fold')}, {spell(self.left, 'prediction')})."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        numbers = {name: getattr(self, name) for name in ("log_loss", "gain", "low", "high")}
        numbers |= {"calibration error": self.error}
        return {"repair": self.name} | numbers | {"beyond chance": self.clear}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repairs:
    """The table, and what later questions need."""

    table: RepairTable
    repaired: FloatVector | None  # held-out predictions of the best candidate
    calibrator: Any  # this candidate, fitted to all rows, or a `NoRepair`
    certain: int = 0  # rows to which it gives exactly 0 or 1
    certain_before: int = 0  # rows to which the predictions as given do


@dataclass(frozen=True)
class NoRepair:
    """No calibrator: each attribute raises sklearn's ``NotFittedError`` with the reason."""

    reason: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "reason":  # what copies and pickles look for
            raise AttributeError(name)
        raise NotFittedError(f"there is no calibrator to ask for {name!r}: {self.reason}")


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
    errors = [_error(rows.label, p, **how) for p in held_out.values()]
    table = _repair_table(rows, held_out, np.array(flattery), settings)
    table = replace(table, error=np.array(errors, dtype=np.float64), notes=notes)
    table = table if wanted else replace(table, chosen=-1)
    if table.place < 0:
        why = " ".join(notes) or "no repair was tried, as `repairs` names none."
        return Repairs(table=table, repaired=None, calibrator=NoRepair(why))
    name = str(table.name[table.place])
    with quiet():  # named in the notes already
        fitted = _fit(candidates[name], rows, np.arange(rows.n))
    said, repaired = fitted.calibrate(_scores_for(fitted, rows)), held_out[name]
    return Repairs(
        table=table,
        repaired=repaired,
        calibrator=fitted,
        certain=int((certain(said) | certain(repaired)).sum()),
        certain_before=int(certain(rows.prob).sum()),
    )


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


def _candidates(rows: AuditRows, wanted: Any) -> dict[str, Any]:
    kind = "probabilities" if rows.logits is None else "logits"
    known: dict[str, Any] = {"temperature": TemperatureScaling(kind)}
    if rows.binary:
        known |= {"Platt": PlattCalibrator(), "beta": BetaCalibrator()}
        known["isotonic"] = IsotonicCalibrator()
    else:
        known |= {"vector": VectorScaling(kind), "Dirichlet": DirichletCalibrator(kind)}
    if wanted is None:
        k = rows.n_classes
        return {name: one for name, one in known.items() if k <= _MOST_CLASSES.get(name, k)}
    if isinstance(wanted, Mapping):
        suits = (Calibrator, TemperatureScaling) if rows.binary else MulticlassCalibrator
        for name, model in wanted.items():
            if not isinstance(model, suits):
                raise ValueError(
                    f"repairs[{name!r}] = {model!r} does not suit predictions of shape "
                    f"{rows.prob.shape}: pass one of calibkit.calibrators."
                )
        return {str(name): model for name, model in wanted.items()}
    return {name: known[as_choice(name, "each of repairs", known)] for name in wanted}


def _scores_for(model: Any, rows: AuditRows) -> FloatVector:
    if getattr(model, "input", "") == "logits":
        if rows.logits is None:
            raise ValueError("it takes logits, but probabilities were given.")
        return rows.logits
    return rows.prob


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
    low, high, clear, chosen = gain.copy(), gain.copy(), np.zeros(m, dtype=np.bool_), -1
    if len(finite):
        inside = rows.clusters and rows.clusters.take(left)
        low[finite], high[finite] = mean_interval(gains[finite], settings.level, inside)
        # Midway between own and held-out rows stands the best map's gain, which no fit exceeds;
        # fits to all rows are flattered by (K - 1)/K of what those to K - 1 folds are.
        high[finite] += np.maximum(flattery[finite], 0) * (1 - 1 / settings.folds) / 2
        # What is printed decides: the interval must lie above 0.
        clear = np.isfinite(gain) & (low > 0)
        chosen = _simplest(gains, clear, inside)
        if not left.all():  # then it is worth more that nothing is called impossible again
            safe = ~np.array([certain(p).any() for p in held_out.values()])
            chosen = _simplest(-rows.weigh(after), safe, rows.clusters)
    return RepairTable(
        name=np.array(list(held_out), dtype=np.str_),
        log_loss=rows.weigh(after).mean(axis=1),
        gain=gain,
        low=low,
        high=high,
        clear=clear,
        error=np.full(m, np.nan),
        before=float(rows.weigh(before).mean()),
        before_left=float(rows.weigh(before[left], left).mean()) if left.any() else float("nan"),
        chosen=chosen,
        level=settings.level,
        folds=settings.folds,
        n=rows.n,
        left=int(left.sum()),
        notes=(),
    )


def _simplest(gains: FloatVector, clear: NDArray[np.bool_], clusters: Clusters | None) -> int:
    """Return the first clear candidate that is within one standard error of the best; or -1."""
    if not clear.any():
        return -1
    best = int(np.where(clear, gains.mean(axis=1), -np.inf).argmax())
    places = np.flatnonzero(clear)
    behind = gains[best] - gains[places]
    # With infinite losses nothing can be left out of a mean; rows then stand for themselves.
    parts = behind
    if clusters is not None and np.isfinite(behind).all():
        parts = pseudo_values(behind, clusters)
    error = parts.std(axis=1) / np.sqrt(parts.shape[1])
    return int(places[behind.mean(axis=1) <= error][0])


REPAIRED = {
    "temperature": "temperature scaling",
    "Platt": "Platt scaling",
    "beta": "beta calibration",
    "isotonic": "isotonic regression",
    "vector": "vector scaling",
    "Dirichlet": "Dirichlet scaling",
}


def repair_answer(found: Repairs, aligned: bool, summary: Summary) -> Answer:
    """Answer question 6: which repair, and what speaks against it."""
    table, place = found.table, found.table.place
    numbers = {"log_loss": table.before, "log_loss_of_others": table.before_left}
    if place >= 0:
        names = ("log_loss_after", "gain", "gain_low", "gain_high", "error_after")
        columns = (table.log_loss, table.gain, table.low, table.high, table.error)
        numbers |= {k: float(column[place]) for k, column in zip(names, columns, strict=True)}
    if not aligned:
        verdict, light = "align first", "bad"
        text = "None: repair the labels or the columns first. A calibrator would hide the mistake."
    elif place < 0:
        verdict, light = "no repair", "unknown"
        text = " ".join(table.notes) or "No repair was tried."
    else:
        verdict, light = "no repair", "good" if summary.power.enough else "unknown"
        text = _gain_in_words(found) + _warnings(found)
        if table.chosen >= 0:
            verdict, light = "repair", "caution"
            before, after = summary.numbers["error"], four_digits(table.error[place])
            text += f" Expected calibration error afterwards: {after} ({summary.words})."
            if float(after) > round(before, 4):
                text += f" It was {before:.4f}: this repair gains in log loss, not in that error."
        elif summary.miscalibrated:
            light = "caution"
            text += (
                " That the predictions are miscalibrated (question 3) stands: maps fitted to "
                f"{spell(table.n, 'row')} do not mend it. More rows, or another model, might."
            )
    return Answer("repair", verdict, light, text.strip(), numbers)


def _gain_in_words(found: Repairs) -> str:
    table, place = found.table, found.table.place
    name = str(table.name[place])
    words = REPAIRED.get(name, name)
    gain, low, high = table.gain[place], table.low[place], table.high[place]
    if np.isinf(gain):
        return f"None. Even the best candidate, {words}, says 0 to something that happened."
    size, falls = abs(gain), gain >= 0
    if not falls:
        low, high = -high, -low
    interval = f"({interval_in_words(table.level, low, high)}, {table.folds} folds)"
    if table.chosen >= 0:
        temperature = getattr(found.calibrator, "temperature_", None)
        one = f" (T = {temperature:.2f})" if temperature is not None else ""
        change = "a gain of" if falls else "the price of not saying 0:"
        return (
            f"{words[0].upper()}{words[1:]}{one}: on held-out rows log loss "
            f"{'falls' if falls else 'rises'} from {table.before_left:.4f} to "
            f"{table.before_left - gain:.4f}, {change} {size:.4f} {interval}."
        )
    if not falls:
        return (
            f"None. Even the best candidate, {words}, would worsen the log loss by "
            f"{four_digits(size)} {interval}."
        )
    why = "the interval holds 0, so this may be chance"
    if low > 0:
        why = "but no error was shown that it would mend (question 3)"
        why = "it rules out too much" if table.left < table.n else why
    return (
        f"None. The best candidate, {words}, would gain {four_digits(size)} in log loss "
        f"{interval}: {why}."
    )


def _warnings(found: Repairs) -> str:
    """Return what to know of a candidate before it is used."""
    table, text = found.table, ""
    if table.left < table.n:
        after = table.log_loss[table.place]
        text = (
            f" This is about the {table.left:,} rows whose outcome was called possible; of all "
            f"{table.n:,} the log loss is infinite as they are, and {four_digits(after)} repaired."
        )
    if found.certain and np.isfinite(table.gain[table.place]):
        before = found.certain_before
        than = f", as the predictions do in {before:,}" if before else ""
        text += (
            f" {'It' if found.certain <= before else 'Beware: it'} says exactly 0 (or 1) in "
            f"{spell(found.certain, 'row')}{than}, and one outcome "
            "against that makes the log loss infinite."
        )
    return text
