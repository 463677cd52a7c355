"""Checks on what comes in: say what is wrong, where, and how to repair it.

Every public function of calibkit passes its input through this module. Nothing here guesses
(probabilities or logits? labels from 0 or from 1?), clips or renormalises; no argument is written
to. The functions return NumPy views or copies, never the object that was handed in.
"""

import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs.containers import (
    as_array as as_array,
    events,
    refuse_other_columns,
    refuse_other_order,
    refuse_two_words,
    unwrapped,
)
from calibkit.inputs.types import FloatArray, IntArray

# Rows of probabilities may miss the sum 1 by this much, whatever their type: values that were
# computed in float32 and stored in float64 (or printed with six digits) are honest input.
ROW_SUM_TOLERANCE = 1e-5
# Two computations of the same number may differ in the last digits; such numbers are equal.
TIE = 1e-12
# 8 192 rows at a time keep the working set inside the processor's cache.
BLOCK_ROWS = 8_192
# Squares and products of weights must neither overflow nor vanish.
_LEAST_WEIGHT = 1e-100
# Marks the stream of redraws that belongs to a seed.
CHILD = 38
LARGEST_LEGACY_SEED = 2**32 - 1
_NOT_THE_USER = ("calibkit", "sklearn.", "joblib.")  # the houses above, too


class CalibrationWarning(UserWarning):
    """Valid input whose result should be read with care, such as a class that never occurs.

    Turn it into an error with ``warnings.simplefilter("error", calibkit.CalibrationWarning)``.
    """


def warn(*messages: str) -> None:
    """Warn at the user's line, whichever function or pipeline it called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith(_NOT_THE_USER):
        frame, level = frame.f_back, level + 1
    for message in messages:
        warnings.warn(message, CalibrationWarning, stacklevel=level)


def data_generator(rng: int | np.random.Generator | None) -> np.random.Generator:
    """Return the generator that makes data: an ``int`` is its seed, ``None`` asks for entropy."""
    return np.random.default_rng(_checked_seed(rng))


def as_generator(rng: int | np.random.Generator | None) -> np.random.Generator:
    """Return the generator of redraws, folds and permutations: an ``int`` seeds a child stream.

    Data that the caller drew by ``default_rng(0)`` are independent of what ``rng=0`` draws here.
    """
    seed = _checked_seed(rng)
    return np.random.default_rng([seed, CHILD] if isinstance(seed, int) else seed)


def _checked_seed(rng: Any) -> int | np.random.Generator | None:
    if rng is None or isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    raise ValueError(
        f"rng must be a non-negative int, a numpy.random.Generator or None, got {rng!r}."
    )


def legacy_generator(seed: int) -> np.random.RandomState:
    """Return NumPy's legacy generator, which published data were drawn with; not the global one."""
    if seed > LARGEST_LEGACY_SEED:
        raise ValueError(f"the seed must be at most {LARGEST_LEGACY_SEED}, got {seed}.")
    return np.random.RandomState(seed)


def as_count(value: Any, name: str, minimum: int = 1) -> int:
    """Check a whole number, such as a number of bins or of draws."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}.")
    return int(value)


def as_number(
    value: Any, name: str, wanted: str, allowed: Callable[[float], Any] = np.isfinite
) -> float:
    """Check a real number, which True and False are not; `wanted` says what `allowed` tests."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if number and not isinstance(value, bool) and allowed(value):
        return float(value)
    raise ValueError(f"{name} must be {wanted}, got {value!r}.")


def as_finite(
    value: Any, name: str, low: float = -np.inf, high: float = np.inf, said: str = "a finite number"
) -> float:
    """Check a finite number from `low` to `high`, ends included.

    >>> as_finite(1.5, "price", 0, 1)
    Traceback (most recent call last):
    ValueError: price must be a finite number from 0 to 1, got 1.5.
    """
    if low > -np.inf:
        said += f" from {low:g} to {high:g}" if high < np.inf else f" of at least {low:g}"
    return as_number(value, name, said, lambda v: np.isfinite(v) and low <= v <= high)


def as_positive(value: Any, name: str) -> float:
    """Check a finite number above 0."""
    return as_number(value, name, "a positive finite number", lambda number: 0 < number < np.inf)


def as_pair(values: Any, name: str) -> tuple[float, ...]:
    """Check two finite numbers above 0."""
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise ValueError(f"{name} must be two positive numbers, got {values!r}.")
    return tuple(as_positive(value, f"{name}[{i}]") for i, value in enumerate(values))


def as_norm(value: Any) -> float:
    """Check the p of ``(E |p - c|^p)^(1/p)``, from 1 on and finite."""
    return as_number(value, "norm", "a finite number from 1 on", lambda norm: 1 <= norm < np.inf)


def as_choice(value: Any, name: str, options: Iterable[str]) -> str:
    """Check a word against the words that exist.

    >>> as_choice("median", "gap", ("mean", "centre", "low"))
    Traceback (most recent call last):
    ValueError: gap must be "mean", "centre" or "low", got 'median'.
    """
    words = tuple(options)
    if isinstance(value, str) and value in words:
        return value
    *others, last = (f'"{word}"' for word in words)
    raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {value!r}.")


def as_flag(value: Any, name: str) -> bool:
    """Check a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def as_level(level: Any, name: str = "level") -> float:
    """Check a probability that is neither 0 nor 1."""
    number = as_number(level, name, "a number between 0 and 1", lambda value: True)
    if 0.0 < number < 1.0:
        return number
    raise ValueError(f"{name} must lie strictly between 0 and 1 (e.g. 0.9), got {level!r}.")


def as_probabilities(y_prob: Any) -> FloatArray:
    """Check probabilities: ``(n,)`` for P(y = 1), or ``(n, K)`` with rows that sum to 1.

    Integers and booleans become float64; floating types are kept, so that large float32 arrays
    are not copied. All later sums accumulate in float64.
    """
    prob = as_probability_array(y_prob)
    _check_rows(prob)
    return prob


def _check_rows(prob: FloatArray) -> None:
    if prob.ndim == 2:
        for start in range(0, len(prob), BLOCK_ROWS):
            check_probability_rows(prob[start : start + BLOCK_ROWS].T, start)


def as_probability_array(y_prob: Any) -> FloatArray:
    """Check type and shape, and for ``(n,)`` input the values too; rows are left to the caller."""
    prob = as_array(y_prob, "y_prob")
    if prob is not y_prob:  # a container, whose columns may have names
        refuse_other_columns(y_prob)
    if prob.dtype.kind != "f" or prob.dtype.itemsize > 8:  # also what is longer than float64
        prob = prob.astype(np.float64)
    if prob.ndim > 2:
        raise ValueError(f"y_prob must be (n,) or (n, K), got {prob.ndim} dimensions {prob.shape}.")
    if prob.ndim == 2 and prob.shape[1] < 2:
        raise ValueError(
            f"y_prob has shape {prob.shape}: one column is not a table of classes. Pass P(y = 1) "
            "as a one-dimensional array, y_prob.ravel(), or one column per class."
        )
    if prob.ndim == 1 and not (prob.min() >= 0 and prob.max() <= 1):
        _report_bad_value(prob, 0)
    return prob


def check_probability_rows(by_class: FloatArray, start: int, largest: float | None = None) -> None:
    """Check rows of an ``(n, K)`` table from row `start` on, given as ``(K, rows)``.

    A `largest` value that is known saves one sweep.
    """
    if not by_class.min() >= 0 or not (by_class.max() if largest is None else largest) <= 1:
        _report_bad_value(by_class.T, start)
    n_classes = len(by_class)
    total = np.ones(n_classes, dtype=by_class.dtype) @ by_class
    tolerance = row_sum_tolerance(by_class.dtype, n_classes)
    if np.abs(total - 1).max() > tolerance:
        row = int(np.flatnonzero(np.abs(total - 1) > tolerance)[0])
        raise ValueError(
            f"y_prob row {start + row} sums to {float(total[row]):.6g}, not 1. If these are "
            "logits, apply scipy.special.softmax(y_prob, axis=1) first; if they are unnormalised "
            "scores, divide each row by its sum."
        )


def row_sum_tolerance(dtype: np.dtype[Any], n_classes: int) -> float:
    """Return how far a row of ``n_classes`` probabilities of this type may be from the sum 1."""
    return ROW_SUM_TOLERANCE + 4 * float(np.finfo(dtype).eps) * float(np.sqrt(n_classes))


def _report_bad_value(prob: FloatArray, start: int) -> NoReturn:
    bad = ~((prob >= 0) & (prob <= 1))
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    value = float(prob[place])
    where = ", ".join(str(i) for i in (place[0] + start, *place[1:]))
    if np.isnan(value):
        remedy = "Drop or repair the row; calibkit never drops rows silently."
    elif np.isinf(value):
        remedy = "Check the model's output for overflow."
    else:
        convert = "softmax(y_prob, axis=1)" if prob.ndim == 2 else "expit(y_prob)"
        remedy = (
            f"Divide percentages by 100; convert logits by scipy.special.{convert}. Values that "
            "left the interval by rounding must be clipped by you, knowingly."
        )
    raise ValueError(f"y_prob[{where}] = {value!r} is not a probability in [0, 1]. {remedy}")


def as_predictions(y_true: Any, y_prob: Any, positive: Any = None) -> tuple[IntArray, FloatArray]:
    """Check labels and probabilities; shapes first, so that a transposed table is called that."""
    refuse_other_order(y_true=y_true, y_prob=y_prob)
    prob = as_probability_array(y_prob)
    labels = as_labels(y_true, prob, positive)
    _check_rows(prob)
    return labels, prob


def as_labels(y_true: Any, prob: FloatArray, positive: Any = None) -> IntArray:
    """Check labels: 0 and 1, or whole numbers from 0 to K - 1; messages say how to convert others.

    With `positive`, the label whose probability a one-dimensional `prob` is, `y_true` may hold two
    labels of any kind.
    """
    n_classes = prob.shape[1] if prob.ndim == 2 else 2
    if positive is not None and prob.ndim == 2:
        raise ValueError(
            f"positive={positive!r} names the event of one column of probabilities, but y_prob has "
            f"{n_classes}. Pass the column of that label, or class numbers and a view."
        )
    labels = y_true if type(y_true) is np.ndarray else unwrapped(y_true, "y_true")
    if positive is not None:
        labels = events(y_true, positive)
    elif prob.ndim == labels.ndim == 1 and labels.dtype.kind in "OU":
        refuse_two_words(y_true)
    labels = as_array(labels, "y_true")
    if labels.ndim == 2:
        _report_label_table(labels)
    if labels.ndim != 1:
        raise ValueError(f"y_true must be one-dimensional, got shape {labels.shape}.")
    if len(labels) != len(prob):
        hint = ""
        if prob.ndim == 2 and prob.shape[1] == len(labels):
            hint = " y_prob looks transposed: rows must be predictions; pass y_prob.T."
        raise ValueError(
            f"y_true has {len(labels)} entries, but y_prob has {len(prob)} rows.{hint}"
        )
    if labels.dtype.kind == "b":
        return labels.view(np.uint8)
    if labels.dtype.kind == "f":
        _check_whole_numbers(labels)
    if labels.min() < 0 or labels.max() >= n_classes:
        _report_label_range(labels, n_classes, binary=prob.ndim == 1)
    # Labels serve as indices. Sums of unsigned 64-bit labels and indices would be floats.
    large = labels.dtype.kind == "f" or labels.dtype.itemsize == 8
    return labels.astype(np.intp, copy=False) if large else labels


def as_weights(
    weights: Any, n: int, name: str = "sample_weight", units: str = "rows"
) -> NDArray[np.float64]:
    """Check the weights of n rows (or classes, …): finite, not negative, not all 0."""
    weight = as_array(weights, name).astype(np.float64)
    if weight.shape != (n,):
        raise ValueError(f"{name} has shape {weight.shape}; {n} {units} need shape ({n},).")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise ValueError(
            f"{name}[{bad[0]}] = {float(weight[bad[0]])!r} is no weight; weights are finite "
            "and at least 0."
        )
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if weight.any() and not _LEAST_WEIGHT <= total <= 1 / _LEAST_WEIGHT:
        raise ValueError(
            f"{name} sums to {total:.3g}, too near to what a float can hold. Only the ratios of "
            f"weights matter: pass {name} / {name}.max()."
        )
    if not weight.any():
        one = "class" if units == "classes" else units[:-1]
        raise ValueError(f"{name} is zero in every {one}; at least one {one} must count.")
    return weight


def kish(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale weights so that they, and their squares, sum to Kish's number ``(sum w)^2 / sum w^2``.

    That many rows of equal weight tell as much (Kish, 1965, section 11.7).
    >>> kish(np.array([3.0, 1.0])).round(9).tolist()
    [1.2, 0.4]
    """
    share = weight / weight.max()
    return np.asarray(share * (share.sum() / (share @ share)))


def _check_whole_numbers(labels: FloatArray) -> None:
    bad = np.flatnonzero(~(labels == np.rint(labels)) | np.isinf(labels))
    if len(bad):
        row = int(bad[0])
        value = float(labels[row])
        remedy = "Drop the row."
        if np.isfinite(value):
            remedy = "Soft labels are not supported; pass the class that happened."
        raise ValueError(f"y_true[{row}] = {value!r} is not a class label. {remedy}")


def _report_label_table(labels: NDArray[Any]) -> NoReturn:
    if labels.shape[1] == 1:
        raise ValueError(f"y_true has shape {labels.shape}; pass y_true.ravel().")
    raise ValueError(
        f"y_true has shape {labels.shape}. If it is one-hot, pass y_true.argmax(axis=1); soft "
        "labels are not supported."
    )


def _report_label_range(labels: NDArray[Any], n_classes: int, *, binary: bool) -> NoReturn:
    row = int(np.flatnonzero((labels < 0) | (labels >= n_classes))[0])
    found = set(np.unique(labels).tolist())
    if found <= {-1, 1}:
        remedy = "The labels are -1 and 1; pass (y_true == 1)."
    elif 0 not in found and max(found) == n_classes and min(found) > 0:
        remedy = "The labels start at 1; pass y_true - 1."
    elif not binary and min(found) >= 0:
        remedy = f"y_prob has no column for class {labels[row]:.15g}; add it, or drop the rows."
    elif binary and min(found) >= 0:
        remedy = "One-dimensional y_prob is P(y = 1); for more classes pass one column per class."
    else:
        remedy = "Recode with classes, y_true = np.unique(y_true, return_inverse=True)."
    allowed = "0 and 1" if binary else f"0 to {n_classes - 1} ({n_classes} columns in y_prob)"
    raise ValueError(
        f"y_true[{row}] = {labels[row]:.15g} is not a valid label; labels are {allowed}. {remedy}"
    )
