"""Predictions in few bytes, as the folder `shipped` holds them.

Forecasts of games are kept to the last bit. Of networks, which have many more, logits are kept,
rounded to a small step: a logit holds what a probability near 0 or 1 says, and rounded by half a
step it moves ``p`` by at most ``p (1 - p)`` times that. Of K classes each logit is counted from the
row's largest. Predicted class, confidences of exactly 1, labels, dates and names stay as they were.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

# Labels, probabilities, a note on rows that were left out, and further columns of the file.
Parts = tuple[NDArray[np.int64], NDArray[np.floating[Any]], str, Mapping[str, NDArray[Any]]]

STEPS = (0.0001, 0.0002, 0.0005, 0.001)  # the smallest that fits the range of a file is taken
_CERTAIN = np.iinfo(np.uint16).max  # of two classes: a probability of exactly 1
_COLUMN = "column "


def pack(parts: Parts, *, rounded: bool) -> dict[str, Any]:
    """Return the arrays of a file to ship; no probability of 0 may be among those to be rounded."""
    y_true, y_prob, note, columns = parts
    return {
        "y_true": np.asarray(y_true, dtype=np.uint8),
        "note": np.array(note),
        **(_rounded_logits(y_prob) if rounded else {"y_prob": y_prob}),
        **{_COLUMN + name: column for name, column in columns.items()},
    }


def unpack(packed: Mapping[str, NDArray[Any]]) -> Parts:
    """Return what was packed, each logit rounded by half a step at most."""
    y_prob = packed["y_prob"] if "y_prob" in packed else _probabilities(packed)
    columns = {k.removeprefix(_COLUMN): packed[k] for k in packed if k.startswith(_COLUMN)}
    return packed["y_true"].astype(np.int64), y_prob, str(packed["note"]), columns


def _rounded_logits(y_prob: NDArray[np.floating[Any]]) -> dict[str, NDArray[Any]]:
    wide = np.asarray(y_prob, dtype=np.float64)
    z = logit(wide) if wide.ndim == 1 else np.log(wide.max(axis=1, keepdims=True) / wide)
    known = z[~np.isposinf(z)]
    low, high = known.min(), known.max()
    step = next(step for step in STEPS if (high - low) / step < _CERTAIN)
    code = np.where(np.isposinf(z), _CERTAIN, np.round((z - low) / step))
    return {
        "code": code.T.astype(np.uint16),  # class by class, which compresses better
        "low and step": np.array([low, step]),
        "dtype": np.array(y_prob.dtype.name),
    }


def _probabilities(packed: Mapping[str, NDArray[Any]]) -> NDArray[np.floating[Any]]:
    low, step = packed["low and step"]
    code = packed["code"].T
    z = low + step * code.astype(np.float64)
    two = np.where(code == _CERTAIN, 1.0, expit(z))
    y_prob = two if code.ndim == 1 else softmax(-z, axis=1)
    return np.asarray(y_prob).astype(str(packed["dtype"]))
