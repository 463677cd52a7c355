"""How a problem with K classes becomes a binary one.

Calibration compares a probability with a frequency, so every measure needs a pair (probability,
did it happen?). For K classes there are several. The choice changes the number and its meaning,
so it is always explicit and always printed.

==================  =====================================  ============================
view                probability                            event
==================  =====================================  ============================
``"top-label"``     the largest one, ``max_k p_k``         the predicted class was right
``k`` (an int)      ``p_k``                                the class was ``k``
``[0, 2]``          ``p_0 + p_2``                          the class was one of these
``"class-wise"``    each ``p_k`` in turn                   the class was ``k``
``"confidence"``    a column of its own, not P(y = 1)      it says so: 1 where right
==================  =====================================  ============================

Of true class, predicted class and confidence ``predicted=`` makes the last of these.

Source: Panchenko (2021), sections 1.4 and 2.1. Lessons 04 and 12.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs.checks import (
    BLOCK_ROWS,
    as_labels,
    as_predictions,
    as_probabilities,
    as_probability_array,
    as_weights,
    check_probability_rows,
    kish,
    warn,
)
from calibkit.inputs.containers import answers_of, refuse_other_order
from calibkit.inputs.types import (
    Events as Events,
    FloatArray,
    IntArray,
    Rows,
    shows_rows as shows_rows,
)
from calibkit.results import Frozen
from calibkit.wrong_names import unknown_option

__all__ = ["BinaryProblem", "Rows", "View", "binary_problem", "binary_problems"]

_Event = tuple[FloatArray, IntArray, str]
View = str | int | list[int] | tuple[int, ...] | None


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
    """

    prob: FloatArray
    label: IntArray
    view: str
    n_classes: int
    weight: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        """Number of predictions."""
        return len(self.prob)


@shows_rows
def binary_problem(
    y_true: Any, y_prob: Any, *, view: View = None, **rows: Unpack[Rows]
) -> BinaryProblem:
    """Reduce labels and probabilities to one binary problem. Taught in lessons 01 and 04.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; by default y = 1, which only one-dimensional `y_prob` has. A tie for the
        largest probability goes to the class with the lowest number. A list is a lens: the classes
        of a group, e.g. ``[0, 2]``, count as one event (lesson 12).
    positive : label, optional
        The label whose probability a one-dimensional `y_prob` is, where `y_true` holds two words,
        numbers or truth values, e.g. ``positive="yes"``.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row; `y_prob` is then the confidence in it, `y_true` the true
        class, both of any kind, and the view is ``"top-label"``. Labels are compared as values:
        ``4.0`` and ``"4"``, ``"Gnu"`` and ``"gnu "`` are one class, with a `CalibrationWarning`.
        True: `y_true` says 1 where the prediction was right (the view ``"confidence"``).
    sample_weight : None
        Refused here. Tables of bins, calibration errors, scores and CORP take it: an array of shape
        (n,), at least 0, what each row counts. A row of weight 2 is that row twice, one of weight 0
        is left out. `audit`, `compare`, null levels, bands and intervals take it too: for chance it
        is one row that stands for two. Other tests have no weights.

    Returns
    -------
    BinaryProblem
        Probability and event of each row, as ``prob`` and ``label``; read-only copies.

    Raises
    ------
    ValueError
        If labels, probabilities (the message names row and value), view or options are not valid.

    Examples
    --------
    >>> problem = binary_problem([0, 2], [[.7, .2, .1], [.5, .3, .2]], view="top-label")
    >>> problem.prob.tolist(), problem.label.tolist()
    ([0.7, 0.5], [1, 0])
    >>> problem = binary_problem(["gnu", "ox"], [.7, .5], predicted=["gnu", "yak"])
    >>> problem.label.tolist(), problem.view, problem.n_classes
    ([1, 0], 'top-label', 3)
    """
    _check_single(view)
    return binary_problems(y_true, y_prob, view=view, **rows)[0]


@shows_rows
def binary_problems(
    y_true: Any, y_prob: Any, *, view: View = None, **rows: Unpack[Rows]
) -> tuple[BinaryProblem, ...]:
    """Reduce to binary problems: K for ``"class-wise"``, else one. Taught in lesson 04.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event: the predicted class was right, the class was this one, or one of these; each
        class in turn; by default y = 1, which only one-dimensional `y_prob` has.
    positive, predicted, sample_weight : optional
        As in `binary_problem`: the label that `y_prob` is about, or the predicted class whose
        confidence it is; weights are refused.

    Returns
    -------
    tuple of BinaryProblem
        One for each class, or a single one.

    Raises
    ------
    ValueError
        If labels, probabilities (the message names row and value), view or options are not valid.

    Examples
    --------
    >>> [p.view for p in binary_problems([0, 1], [.2, .9], view="class-wise")]
    ['class 0', 'class 1']
    """
    refuse_weights(rows)
    problems = weighted_problems(y_true, y_prob, view=view, **rows)
    # Copies: what the caller does to his arrays later must not change a result.
    return tuple(replace(one, prob=one.prob.copy(), label=one.label.copy()) for one in problems)


def weighted_problems(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    positive: Any = None,
    predicted: Any = None,
    sample_weight: Any = None,
    **unknown: Any,
) -> tuple[BinaryProblem, ...]:
    """Do the work of `binary_problems`, weights included; arrays may be those of the caller."""
    if unknown:
        raise unknown_option(unknown, Rows.__annotations__)
    refuse_other_order(
        y_true=y_true, y_prob=y_prob, predicted=predicted, sample_weight=sample_weight
    )
    prob = as_probability_array(y_prob)
    n_classes = prob.shape[1] if prob.ndim == 2 else 2
    if predicted is None:
        _check_view(view, prob.ndim, n_classes)
    else:
        y_true, n_classes = _right(y_true, prob, predicted, view, positive)
    labels, weight = as_labels(y_true, prob, positive), None
    if sample_weight is not None:
        weight = as_weights(sample_weight, len(prob))
        labels, prob, weight = _counting(labels, as_probabilities(prob), weight)
    events = _events(labels, prob, "confidence" if predicted is not None else view)
    said = "" if weight is None else ", weighted"
    return tuple(
        BinaryProblem(prob=one, label=label, view=of + said, n_classes=n_classes, weight=weight)
        for one, label, of in events
    )


def _events(labels: IntArray, prob: FloatArray, view: View) -> list[_Event]:
    """Return probability, event and words of each problem of a view."""
    if view is None or view == "confidence":
        return [(prob, labels, "positive class" if view is None else "top-label")]
    if view == "top-label":
        return [(*_top_label(prob, labels), "top-label")]
    if isinstance(view, list | tuple):
        group = as_probabilities(prob)[:, list(view)].sum(axis=1, dtype=np.float64)
        words = "classes " + ", ".join(map(str, view))
        # Rows sum to 1 up to rounding, and so does a group.
        return [(np.minimum(group, 1.0), np.isin(labels, view).view(np.uint8), words)]
    if prob.ndim == 2:
        as_probabilities(prob)
    n_classes = prob.shape[1] if prob.ndim == 2 else 2
    classes = range(n_classes) if view == "class-wise" else (int(view),)
    return [(_column(prob, k), (labels == k).view(np.uint8), f"class {k}") for k in classes]


def _right(
    y_true: Any, prob: FloatArray, predicted: Any, view: View, positive: Any
) -> tuple[Any, int]:
    """Return where the predicted class was the true one, and the number of classes."""
    if prob.ndim != 1 or positive is not None or view not in (None, "top-label"):
        raise ValueError(
            'predicted= goes with one column of confidences, the view "top-label" and no positive '
            f"label; got y_prob of shape {prob.shape}, view={view!r}, positive={positive!r}."
        )
    if predicted is True:
        return y_true, 2
    found = answers_of(y_true, predicted)
    warn(*found.notes)
    return found.right, len(found.names)


def plain_rows(
    y_true: Any, y_prob: Any, options: Mapping[str, Any]
) -> tuple[IntArray, FloatArray, dict[str, Any]]:
    """Return labels, probabilities, options for some of them, too; weights above 0, by `kish`."""
    more = {key: value for key, value in options.items() if key not in ("positive", "predicted")}
    predicted, positive = options.get("predicted"), options.get("positive")
    if predicted is None:
        labels, prob = as_predictions(y_true, y_prob, positive)
    else:
        problem = binary_problem(y_true, y_prob, predicted=predicted, positive=positive)
        labels, prob, more["predicted"] = problem.label, problem.prob, True
    if more.get("sample_weight") is not None:
        found = _counting(labels, prob, as_weights(more["sample_weight"], len(prob)))
        labels, prob, more["sample_weight"] = *found[:2], kish(found[2])
    return labels, prob, more


def one_problem(
    y_true: Any, y_prob: Any, *, view: View = None, **rows: Unpack[Rows]
) -> BinaryProblem:
    """Do the work of `binary_problem`, weights included."""
    _check_single(view)
    return weighted_problems(y_true, y_prob, view=view, **rows)[0]


def _check_single(view: View) -> None:
    if view == "class-wise":
        raise ValueError(
            'view="class-wise" gives one binary problem per class, but a single one is needed '
            "here. Pass the number of a class, or use the plural function (…_tables, …_problems)."
        )


def weighted_rows(
    y_true: Any,
    y_prob: Any,
    *,
    positive: Any = None,
    predicted: Any = None,
    sample_weight: Any = None,
    **unknown: Any,
) -> tuple[IntArray, FloatArray, NDArray[np.float64] | None]:
    """Check labels, probabilities and weights; rows of weight 0 are left out."""
    if unknown:
        raise unknown_option(unknown, Rows.__annotations__)
    refuse_other_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    options = {"positive": positive, "predicted": predicted, "sample_weight": sample_weight}
    labels, prob, more = plain_rows(y_true, y_prob, options)
    return labels, prob, more["sample_weight"]


def _counting(
    labels: IntArray, prob: FloatArray, weight: NDArray[np.float64]
) -> tuple[IntArray, FloatArray, NDArray[np.float64]]:
    used = weight > 0
    return labels[used], prob[used], weight[used]


def refuse_weights(rows: Mapping[str, Any]) -> None:
    """Refuse `sample_weight` where chance is computed."""
    if rows.get("sample_weight") is not None:
        raise ValueError(
            "sample_weight is refused here: chance is computed for rows that are drawn one by one. "
            "Tables of bins, calibration errors, scores, CORP, audit, compare take them. Where a "
            "weight counts rows, use np.repeat, and name the row each comes from with cluster=."
        )


def _column(prob: FloatArray, k: int) -> FloatArray:
    """Return P(class k); a one-dimensional `prob` is P(class 1)."""
    if prob.ndim == 2:
        return prob[:, k]
    return prob if k == 1 else 1 - prob.astype(np.float64)


def _check_view(view: View, ndim: int, n_classes: int) -> None:
    if (view in (None, "confidence") and ndim == 1) or view in ("top-label", "class-wise"):
        return
    group = view if isinstance(view, list | tuple) and ndim == 2 else [view]
    whole = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in group)
    classes = set(group) & set(range(n_classes)) if whole else set()
    if 0 < len(classes) == len(group) < n_classes:
        return
    options = f'"top-label", "class-wise" or a class from 0 to {n_classes - 1}'
    options += ", or a list of some of these classes" if ndim == 2 else ""
    if view is None:
        two = "y_prob has 2 columns, P(y = 0) and P(y = 1): pass the second, y_prob[:, 1]; or say "
        many = f"y_prob has {n_classes} columns, so the view must be stated: "
        raise ValueError(f"{two if n_classes == 2 else many}view={options}.")
    raise ValueError(f"view={view!r} does not exist; choose {options}.")


def _top_label(prob: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the largest probability of each row and whether its class was the right one."""
    if prob.ndim == 1:
        positive = prob.astype(np.float64)
        correct = (positive > 0.5) == (labels == 1)
        return np.maximum(positive, 1 - positive), correct.view(np.uint8)
    confidence = np.empty(len(prob), dtype=np.float64)
    correct = np.empty(len(prob), dtype=np.bool_)
    for start in range(0, len(prob), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        # One contiguous row per class makes the maximum a sweep over long vectors: on ten
        # classes four times faster than `max(axis=1)` of the table.
        by_class = np.ascontiguousarray(prob[rows].T)
        label, n_rows = labels[rows].astype(np.intp), by_class.shape[1]
        top = confidence[rows] = by_class.max(axis=0)
        correct[rows] = by_class.ravel().take(label * n_rows + np.arange(n_rows)) == top
        is_top = by_class == top
        if np.count_nonzero(is_top) > n_rows:  # a tie somewhere: the lowest class wins
            correct[rows] = is_top.argmax(axis=0) == label
        check_probability_rows(by_class, start, largest=top.max())
    return confidence, correct.view(np.uint8)
