"""What other rooms still import and is going: remove the last uses, then this file."""

from collections.abc import Mapping
from typing import Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs.containers import unwrapped
from calibkit.inputs.options import FloatArray, FloatVector, IntArray
from calibkit.inputs.rows import as_predictions, as_weights, binary_problem, binary_problems

Measure = TypeVar("Measure")


class Events(TypedDict, total=False):
    """Which label `y_prob` is about."""

    positive: Any


class Rows(Events, total=False):
    """And weights."""

    sample_weight: Any


def shows_rows(measure: Measure) -> Measure:
    """Do nothing any more."""
    return measure


one_problem, weighted_problems = binary_problem, binary_problems


def kish(weight: FloatVector) -> FloatVector:
    """Scale weights so that they sum to Kish's number ``(sum w)^2 / sum w^2``."""
    share = weight / weight.max()
    return np.asarray(share * (share.sum() / (share @ share)))


def plain_rows(
    y_true: Any, y_prob: Any, options: Mapping[str, Any]
) -> tuple[IntArray, FloatArray, dict[str, Any]]:
    """Return labels, probabilities, options for some of them, too; weights above 0, by `kish`."""
    more = {key: value for key, value in options.items() if key != "positive"}
    label, prob = as_predictions(y_true, y_prob, options.get("positive"))
    if more.get("sample_weight") is not None:
        weight = as_weights(more["sample_weight"], len(prob))
        label, prob = label[weight > 0], prob[weight > 0]
        more["sample_weight"] = kish(weight[weight > 0])
    return label, prob, more


def refuse_weights(rows: Mapping[str, Any]) -> None:
    """Refuse `sample_weight` where chance is computed."""
    if rows.get("sample_weight") is not None:
        raise ValueError("sample_weight is refused here: chance is computed for whole rows.")


_BLANK = ("", "NaT", "nan", "None")


def one_per_row(values: Any, name: str, n: int, remedy: str) -> tuple[NDArray[Any], list[Any]]:
    """Return an array of shape (n,) and its values as Python has them, none of them missing."""
    array = unwrapped(values, name)
    if array.ndim != 1 or len(array) != n:
        raise ValueError(
            f"{name} has shape {array.shape}; it needs one value for each of {n} rows."
        )
    # NumPy would turn the 1 of [1, "a"] into a word.
    given = list(values) if isinstance(values, list | tuple) else array.tolist()
    for row, value in enumerate(given):
        if is_missing(value) or (isinstance(value, str) and value.strip() in _BLANK):
            raise ValueError(f"{name}[{row}] is missing; {remedy}, or drop the row.")
    return array, given


def is_missing(word: Any) -> bool:
    """Recognise None, NaN, NaT, and pandas.NA, which refuses to be compared."""
    return word is None or type(word).__name__ in ("NAType", "NaTType") or bool(word != word)
