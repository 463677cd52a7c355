"""The rows of an audit: checked, in an order of their own, so that theirs cannot matter."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit._result import printable, spell
from calibkit._validation import (
    as_array,
    as_labels,
    as_predictions,
    as_probability_array,
    row_sum_tolerance,
)
from calibkit.multiclass._scores import as_scores

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.intp]

# Rows that agree in the label, the largest probability, its class and so many columns are equal
# for all purposes; sorting by every column of a thousand would take seconds.
_SORTED_COLUMNS = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Labels and predictions, sorted by their own values."""

    label: IntVector
    prob: FloatVector  # (n,) or (n, K), in float64
    logits: FloatVector | None  # where logits were given
    group: IntVector | None  # number of the group of each row
    groups: tuple[str, ...]  # names of the groups
    position: IntVector  # where each row stood in the input
    class_names: tuple[str, ...]

    @property
    def n(self) -> int:
        return len(self.label)

    @property
    def n_classes(self) -> int:
        return self.prob.shape[1] if self.prob.ndim == 2 else 2

    @property
    def binary(self) -> bool:
        return self.prob.ndim == 1

    @property
    def table(self) -> FloatVector:
        """Probabilities with one column per class."""
        return np.column_stack([1 - self.prob, self.prob]) if self.binary else self.prob

    @property
    def own(self) -> FloatVector:
        """Probability that each row gave to what happened."""
        return self.table[np.arange(self.n), self.label]


def rows_of(
    y_true: Any,
    y_prob: Any,
    *,
    logits: Any = None,
    groups: Any = None,
    class_names: Sequence[str] | None = None,
) -> Rows:
    """Check the input of an audit and put it into canonical order."""
    if (y_prob is None) == (logits is None):
        given = "both" if y_prob is not None else "neither"
        raise ValueError(f"pass either y_prob or logits=, got {given}; calibkit does not guess.")
    scores = None
    if logits is None:
        label, prob = _checked(y_true, y_prob)
    else:
        scores = as_scores(logits, "logits").astype(np.float64)
        prob = probabilities(scores)
        label = as_labels(y_true, prob).astype(np.intp)
    codes, names = _groups(groups, len(label))
    order = _canonical(label, prob, scores, codes)
    return Rows(
        label=label[order],
        prob=prob[order],
        logits=None if scores is None else scores[order],
        group=None if codes is None else codes[order],
        groups=names,
        position=order,
        class_names=_class_names(class_names, prob.shape[1] if prob.ndim == 2 else 2),
    )


def probabilities(logits: FloatVector) -> FloatVector:
    """Return the expit of (n,) logits, or the softmax of (n, K)."""
    values = special.expit(logits) if logits.ndim == 1 else special.softmax(logits, axis=1)
    return np.asarray(values)


def _checked(y_true: Any, y_prob: Any) -> tuple[IntVector, FloatVector]:
    try:
        label, prob = as_predictions(y_true, y_prob)
    except ValueError as error:
        raise ValueError(f"{error}{_how_many(y_prob)}") from None
    return label.astype(np.intp), prob.astype(np.float64)


def _how_many(y_prob: Any) -> str:
    """Say how many rows of a table do not sum to 1: one slip, or all of them."""
    try:
        prob = as_probability_array(y_prob)
    except ValueError:
        return ""
    if prob.ndim != 2 or not (prob.min() >= 0 and prob.max() <= 1):
        return ""
    total = prob.sum(axis=1, dtype=np.float64)
    off = np.abs(total - 1) > row_sum_tolerance(prob.dtype, prob.shape[1])
    if not off.any():
        return ""
    return (
        f" {spell(int(off.sum()), 'row')} of {len(prob):,} do not sum to 1; their sums run from "
        f"{total[off].min():.6g} to {total[off].max():.6g}. Nothing was repaired."
    )


def _groups(groups: Any, n: int) -> tuple[IntVector | None, tuple[str, ...]]:
    if groups is None:
        return None, ()
    values = groups.to_numpy() if hasattr(groups, "to_numpy") else groups
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError("groups is ragged; pass one label per row.") from error
    if array.ndim != 1 or len(array) != n:
        raise ValueError(
            f"groups has shape {array.shape}; it needs one label for each of {n} rows."
        )
    unseen = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else False
    missing = np.array([_is_missing(value) for value in array.tolist()]) | unseen
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(
            f"groups[{row}] is missing; name the group (e.g. 'unknown'), or drop the row."
        )
    text = np.array([printable(str(value)) for value in array.tolist()])
    names, codes = np.unique(text, return_inverse=True)
    return codes.astype(np.intp), tuple(names.tolist())


def _is_missing(value: Any) -> bool:
    # pandas' marks: NA refuses to be compared, NaT is compared as NaN is.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _canonical(
    label: IntVector, prob: FloatVector, logits: FloatVector | None, group: IntVector | None
) -> IntVector:
    """Return an order of the rows that depends on their values only."""
    keys: list[NDArray[Any]] = [] if group is None else [group]
    if prob.ndim == 1:
        keys += [label, prob] if logits is None else [label, logits, prob]
    else:
        table = prob if logits is None else logits
        keys += [table[:, k] for k in range(min(table.shape[1], _SORTED_COLUMNS))]
        keys += [label, table.argmax(axis=1), table.max(axis=1)]
    return np.lexsort(keys)


def _class_names(names: Sequence[str] | None, n_classes: int) -> tuple[str, ...]:
    if names is None:
        return tuple(str(k) for k in range(n_classes))
    if isinstance(names, str) or len(names) != n_classes:
        raise ValueError(f"class_names must be {n_classes} names, one per class, got {names!r}.")
    return tuple(printable(str(name)) for name in names)


def as_cost_table(costs: Any, n_classes: int) -> FloatVector:
    """Return a table of costs; a pair is (false positive, false negative) of two classes."""
    from calibkit.decisions.costs import as_costs

    array = as_array(costs, "costs").astype(np.float64)
    if array.ndim == 2:
        return as_costs(array, n_classes)
    if array.shape != (2,) or n_classes != 2:
        raise ValueError(
            f"costs has shape {array.shape}; pass a table with one row per action and one column "
            "for each class. For two classes a pair (false positive, false negative) will do."
        )
    if not (np.isfinite(array).all() and array.min() >= 0 and array.sum() > 0):
        raise ValueError(
            f"costs = {array.tolist()} must be two finite numbers from 0 on: what a false "
            "positive costs, and what a false negative costs."
        )
    return np.array([[0.0, array[1]], [array[0], 0.0]])
