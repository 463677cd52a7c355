"""What comes in, row by row: labels, probabilities, weights; and from K classes to one event.

Nothing here guesses, clips, renormalises, or writes to an argument. Rows and columns belong
together by their position; where the index or the column names of a table say that the positions
are wrong, it is refused.

==================  =====================================  ============================
view                probability                            event
==================  =====================================  ============================
``"top-label"``     the largest one, ``max_k p_k``         the predicted class was right
``k`` (an int)      ``p_k``                                the class was ``k``
``[0, 2]``          ``p_0 + p_2``                          the class was one of these
``"class-wise"``    each ``p_k`` in turn                   the class was ``k``
``"confidence"``    a column of its own, not P(y = 1)      it says so: 1 where right
==================  =====================================  ============================

Source: Panchenko (2021), sections 1.4 and 2.1.
"""

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs.containers import (
    labels_as_events,
    numbers_of,
    refuse_other_columns,
    refuse_other_order,
    refuse_two_words,
    refuse_words,
    report_label,
    report_label_table,
    report_value,
    report_view,
    unwrapped,
)
from calibkit.inputs.options import FloatArray, FloatVector, IntArray
from calibkit.results import Frozen

# Rows of probabilities may miss the sum 1 by this much, whatever their type: values that were
# computed in float32 and stored in float64 (or printed with six digits) are honest input.
ROW_SUM_TOLERANCE = 1e-5
MOST_ROUNDED = 0.1  # what is farther from 1 was not a row of probabilities
LEAST_WEIGHT = 1e-100  # squares and products of weights must neither overflow nor vanish

View = str | int | list[int] | tuple[int, ...] | None


class RowOptions(TypedDict, total=False):
    """What named measures hand on as it is."""

    positive: Any
    sample_weight: Any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinaryProblem(Frozen):
    """A probability and an event for each prediction.

    Parameters
    ----------
    prob, label : ndarray of shape (n,)
        Predicted probability of the event, in the type it was given; 1 where it happened, else 0.
    view, n_classes
        Which event this is, in words, and the number of classes of the problem it was made from.
    weight : ndarray of shape (n,), optional
        What each row counts; None where every row counts 1.
    precision : str
        The type that was given; of numbers that are all of float32 this, whatever holds them now.
    """

    prob: FloatArray
    label: IntArray
    view: str
    n_classes: int
    weight: FloatVector | None = None
    precision: str = "float64"

    @property
    def n(self) -> int:
        """Number of predictions."""
        return len(self.prob)


def binary_problem(
    y_true: Any, y_prob: Any, *, view: View = None, positive: Any = None, sample_weight: Any = None
) -> BinaryProblem:
    """Reduce labels and probabilities to one event.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "confidence"}, int or list of int, optional
        Which event; by default y = 1, which only one-dimensional `y_prob` has. A tie for the
        largest probability goes to the class with the lowest number. The classes of a list count
        as one event. ``"confidence"``: `y_prob` is that in a prediction, and `y_true` says 1 where
        it was right.
    positive : label, optional
        The label whose probability a one-dimensional `y_prob` is, e.g. ``"yes"``.
    sample_weight : array-like of shape (n,), optional
        What each row counts, at least 0; rows of weight 0 are left out.

    Returns
    -------
    BinaryProblem
        Probability and event of each row, as ``prob`` and ``label``; read-only.

    Raises
    ------
    ValueError
        If labels, probabilities (the message names row and value), view or options are not valid.

    See Also
    --------
    binary_problems : one event for each class.

    Examples
    --------
    >>> problem = binary_problem([0, 2], [[.7, .2, .1], [.5, .3, .2]], view="top-label")
    >>> problem.prob.tolist(), problem.label.tolist()
    ([0.7, 0.5], [1, 0])
    """
    if isinstance(view, str) and view == "class-wise":
        raise ValueError(
            'view="class-wise" gives one binary problem per class, but a single one is needed '
            "here. Pass the number of a class, or use the plural function (…_tables, …_problems)."
        )
    problems = binary_problems(
        y_true, y_prob, view=view, positive=positive, sample_weight=sample_weight
    )
    return problems[0]


def binary_problems(
    y_true: Any, y_prob: Any, *, view: View = None, positive: Any = None, sample_weight: Any = None
) -> tuple[BinaryProblem, ...]:
    """Reduce labels and probabilities to events: one per class for ``"class-wise"``, else one.

    Parameters
    ----------
    y_true, y_prob, view, positive, sample_weight
        As in `binary_problem`; `view` may also be ``"class-wise"``.

    Returns
    -------
    tuple of BinaryProblem
        One for each class, or a single one.

    Raises
    ------
    ValueError
        As in `binary_problem`.

    Examples
    --------
    >>> [p.view for p in binary_problems([0, 1], [.2, .9], view="class-wise")]
    ['class 0', 'class 1']
    """
    if hasattr(y_true, "iloc") or hasattr(y_prob, "iloc"):
        refuse_other_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    view = view.tolist() if isinstance(view, np.ndarray) else view
    prob, weight = as_probability_array(y_prob), None
    label = as_labels(y_true, prob, positive)
    if prob.ndim == 2:
        _check_sums(prob)
    if sample_weight is not None:
        weight = as_weights(sample_weight, len(prob))
        label, prob, weight = label[weight > 0], prob[weight > 0], weight[weight > 0]
    if prob.ndim == 1 and (view is None or view == "confidence"):
        events = [(prob, label, "positive class" if view is None else "top-label")]
    else:
        events = events_of_classes(label, prob, view)
    some = prob if prob.ndim == 1 else prob[:, 0]
    single = prob.dtype.itemsize == 8
    for part in (some[:99], some):  # a few rows mostly settle that it is not
        single = single and bool((part.astype(np.float32) == part).all())
    precision = "float32" if single else prob.dtype.name
    problems = []
    for one, happened, words in events:
        problem = BinaryProblem(
            prob=one,
            label=happened,
            view=words if weight is None else f"{words}, weighted",
            n_classes=prob.shape[1] if prob.ndim == 2 else 2,
            weight=weight,
            precision=precision,
        )
        problems.append(problem)
    return tuple(problems)


def events_of_classes(
    label: IntArray, prob: FloatArray, view: View
) -> list[tuple[FloatArray, IntArray, str]]:
    """Return probability, event and words of each event of a view, which is not y = 1."""
    two_sided = prob.ndim == 1
    if two_sided:
        prob = np.column_stack([1 - prob.astype(np.float64), prob])
    classes = range(prob.shape[1])
    if view == "top-label":
        top = prob.argmax(axis=1)
        return [(prob[np.arange(len(prob)), top], (top == label).view(np.uint8), "top-label")]
    group: list[Any] = list(view) if isinstance(view, list | tuple) and not two_sided else [view]
    whole = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in group)
    if view == "class-wise":
        group = list(classes)
    elif not whole or not 0 < len(set(group) & set(classes)) == len(group) < len(classes):
        report_view(view, len(classes), two_sided)
    if isinstance(view, list | tuple):
        # Rows sum to 1 up to rounding, and so does a group.
        total = np.minimum(prob[:, group].sum(axis=1, dtype=np.float64), 1.0)
        words = f"classes {', '.join(map(str, group))}"
        return [(total, np.isin(label, group).view(np.uint8), words)]
    return [(prob[:, k], (label == k).view(np.uint8), f"class {k}") for k in group]


def as_predictions(
    y_true: Any, y_prob: Any, positive: Any = None, sample_weight: Any = None
) -> tuple[IntArray, FloatArray]:
    """Check labels and probabilities; shapes first, so that a transposed table is called that.

    Of weights only the order of their index is looked at here.
    """
    refuse_other_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    prob = as_probability_array(y_prob)
    label = as_labels(y_true, prob, positive)
    if prob.ndim == 2:
        _check_sums(prob)
    return label, prob


def as_probabilities(y_prob: Any) -> FloatArray:
    """Check probabilities: ``(n,)`` for P(y = 1), or ``(n, K)`` with rows that sum to 1.

    Integers and booleans become float64; floating types are kept, so that large float32 arrays
    are not copied. All later sums accumulate in float64.
    """
    prob = as_probability_array(y_prob)
    if prob.ndim == 2:
        _check_sums(prob)
    return prob


def as_probability_array(y_prob: Any, name: str = "y_prob") -> FloatArray:
    """Check type, shape and values; the sums of rows are left to the caller."""
    prob = as_array(y_prob, name)
    if prob is not y_prob:  # a container, whose columns may have names
        refuse_other_columns(y_prob, name)
    if prob.dtype.kind != "f" or prob.dtype.itemsize > 8:  # also what is longer than float64
        prob = prob.astype(np.float64)
    if prob.ndim > 2:
        raise ValueError(
            f"{name} must be (n,) or (n, K), got {prob.ndim} dimensions {prob.shape}. Of images "
            "(N, C, H, W) pass np.moveaxis(y_prob, 1, -1).reshape(-1, C) and y_true.ravel(), "
            "without the rows that carry an ignore index."
        )
    if prob.ndim == 2 and prob.shape[1] < 2:
        raise ValueError(
            f"{name} has shape {prob.shape}: one column is not a table of classes. Pass P(y = 1) "
            f"as a one-dimensional array, np.ravel({name}), or one column per class."
        )
    if prob.ndim == 1 and not (prob.min() >= 0 and prob.max() <= 1):
        report_value(prob, name)
    return prob


def _check_sums(prob: FloatArray) -> None:
    if not (prob.min() >= 0 and prob.max() <= 1):
        report_value(prob)
    total = prob @ np.ones(prob.shape[1], dtype=prob.dtype)
    most = row_sum_tolerance(prob.dtype, prob.shape[1])
    if total.max() - 1 > most or 1 - total.min() > most:
        off = np.abs(total - 1) > most
        row = int(off.argmax())
        remedy = (
            "If these are logits, apply scipy.special.softmax(y_prob, axis=1) first; of several "
            "targets (multi-label) pass one column at a time."
        )
        if abs(float(total[row]) - 1) < MOST_ROUNDED:
            remedy = "If digits were rounded off, divide such rows by their sum, knowingly."
        raise ValueError(
            f"y_prob row {row} sums to {float(prob[row].sum()):.6g}, not 1. Rows that miss 1: "
            f"{off.sum():,} of {len(prob):,}. {remedy}"
        )


def row_sum_tolerance(dtype: np.dtype[Any], n_classes: int) -> float:
    """Return how far a row of ``n_classes`` probabilities of this type may be from the sum 1."""
    return ROW_SUM_TOLERANCE + 4 * float(np.finfo(dtype).eps) * float(np.sqrt(n_classes))


def as_labels(y_true: Any, prob: FloatArray, positive: Any = None) -> IntArray:
    """Check labels: 0 and 1, or whole numbers from 0 to K - 1; messages say how to convert others.

    With `positive`, the label whose probability a one-dimensional `prob` is, `y_true` may hold two
    labels of any kind.
    """
    if positive is not None and prob.ndim == 2:
        raise ValueError(
            f"positive={positive!r} names the event of one column of probabilities, but y_prob has "
            f"{prob.shape[1]}. Pass the column of that label, or class numbers and a view."
        )
    labels = y_true if positive is None else labels_as_events(y_true, positive)
    labels = as_array(labels, "y_true", names_two_words=prob.ndim == 1)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        report_label_table(labels)
    if len(labels) != len(prob):
        hint = ""
        if prob.ndim == 2 and prob.shape[1] == len(labels):
            hint = " y_prob looks transposed: rows must be predictions; pass y_prob.T."
        raise ValueError(
            f"y_true has {len(labels)} entries, but y_prob has {len(prob)} rows.{hint}"
        )
    if labels.dtype.kind == "b":
        return labels.view(np.uint8)
    n_classes = prob.shape[1] if prob.ndim == 2 else 2
    whole = labels.dtype.kind != "f" or bool((labels == np.rint(labels)).all())
    if not whole or labels.min() < 0 or labels.max() >= n_classes:
        report_label(labels, n_classes, binary=prob.ndim == 1)
    # Labels serve as indices. Sums of unsigned 64-bit labels and indices would be floats.
    large = labels.dtype.kind == "f" or labels.dtype.itemsize == 8
    return np.asarray(labels.astype(np.intp, copy=False) if large else labels)


def as_weights(weights: Any, n: int, name: str = "sample_weight") -> FloatVector:
    """Check the weights of n rows (or classes, …): finite, not negative, not all 0."""
    weight = as_array(weights, name).astype(np.float64)
    if weight.shape != (n,):
        raise ValueError(f"{name} has shape {weight.shape}; {n} rows need shape ({n},).")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise ValueError(
            f"{name}[{bad[0]}] = {float(weight[bad[0]])!r} is no weight; weights are finite "
            "and at least 0."
        )
    if not weight.any():
        raise ValueError(f"{name} is zero in every row; at least one row must count.")
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not LEAST_WEIGHT <= total <= 1 / LEAST_WEIGHT:
        raise ValueError(
            f"{name} sums to {total:.3g}, too near to what a float can hold. Only the ratios of "
            f"weights matter: pass {name} / {name}.max()."
        )
    return weight


def as_array(values: Any, name: str, *, names_two_words: bool = False) -> NDArray[Any]:
    """Turn lists, pandas, polars, arrow or torch input into an array of numbers (by position)."""
    if values is None:
        raise ValueError(f"{name} is missing; pass a list or an array.")
    array = values if type(values) is np.ndarray else unwrapped(values, name)
    if names_two_words and array.dtype.kind in "OU" and array.ndim == 1:
        refuse_two_words(values)
    if array.dtype == object:
        array = numbers_of(array, name)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} is complex ({array.dtype}); pass real numbers, e.g. {name}.real.")
    if array.dtype.kind not in "buif":
        refuse_words(array, name)
    if array.ndim == 0:
        raise ValueError(f"{name} must be a list or an array, got a scalar.")
    if array.size == 0:
        raise ValueError(f"{name} is empty (shape {array.shape}); at least one row is needed.")
    return array
