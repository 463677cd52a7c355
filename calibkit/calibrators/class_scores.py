"""What a model says, as logits: the kind is declared, checked, and never guessed."""

from typing import Any

import numpy as np

from calibkit.inputs import EPS, TIE, FloatArray, as_array, as_choice, as_probabilities, logit

KINDS = ("logits", "probabilities")
# So few rows can look like probabilities by chance.
_BY_CHANCE = 5
_ROUNDED, _MOST_OFF = 0.0051, 0.1  # what two digits may change in a class, and in a sum
_LARGEST = 1e30  # larger logits are mistakes of some kind


def as_scores(scores: Any, kind: str | None) -> FloatArray:
    """Check scores of the declared kind.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, K)
        The scores of one event, or of K classes.
    kind : {"logits", "probabilities"}
        What the scores are; nothing is guessed.

    Returns
    -------
    ndarray of the shape of `scores`
        Floating numbers, in the precision given.

    Raises
    ------
    ValueError
        If scores are not of the declared kind: logits that look like probabilities are refused.
    """
    if as_choice(kind, "input", KINDS) == "probabilities":
        return as_probabilities(scores)
    array = as_array(scores, "scores")
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] < 2):
        raise ValueError(
            f"scores have shape {array.shape}; logits are (n,) for one event, or (n, K) with one "
            "column for each of K >= 2 classes."
        )
    low, high = array.min(), array.max()
    if not (low >= -_LARGEST and high <= _LARGEST):
        _report_not_finite(array)
    if low >= 0 and high <= 1 and low < high and len(array) >= _BY_CHANCE:
        _refuse_probabilities(array)
    return array


def _report_not_finite(array: FloatArray) -> None:
    place = tuple(int(i) for i in np.argwhere(~(np.abs(array) <= _LARGEST))[0])
    raise ValueError(
        f"scores[{', '.join(map(str, place))}] = {float(array[place])!r} is not a finite logit "
        "(within ±1e30). Logarithms of probabilities that contain 0 are infinite: pass the "
        'probabilities with input="probabilities" instead. Drop or repair rows with NaN.'
    )


def _refuse_probabilities(array: FloatArray) -> None:
    what = "all values lie in [0, 1]"
    if array.ndim == 2:
        off = float(np.abs(array.sum(axis=1, dtype=np.float64) - 1).max())
        one_digit, k = bool((np.abs(array - np.round(array, 1)) < TIE).all()), array.shape[1]
        if off > (10 * _ROUNDED * k if one_digit else min(_ROUNDED * k, _MOST_OFF)):
            return
        what = f"all rows sum to 1 within {off:.2g}"
    row = np.array2string(np.atleast_1d(array[0]), threshold=6, edgeitems=2, precision=4)
    raise ValueError(
        f"scores are declared as logits, but {what} as probabilities do (row 0: "
        f'{row}). If they are probabilities, use input="probabilities". If they '
        "are logits all the same, pass their softmax (or expit) as probabilities."
    )


def as_logits(scores: FloatArray, kind: str | None) -> FloatArray:
    """Return checked scores as logits; the logarithm of 0 is limited to that of 1e-16."""
    if kind == "logits":
        return scores
    if scores.ndim == 1:
        return logit(scores)
    return np.asarray(np.log(np.maximum(scores.astype(np.float64), EPS)))
