"""Logits with both ends in reach: the one place where probabilities of 0 and 1 are limited.

All that works on logits limits them to ``±LOGIT_LIMIT``, the logit of `EPS`, and nothing else
limits them again. Probabilities themselves are never changed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

EPS = 1e-16
LOGIT_LIMIT = float(-np.log(EPS))  # 36.84


def logit(prob: Any) -> NDArray[np.float64]:
    """Return ``log(p / (1 - p))``, limited to ``±36.84``.

    >>> logit([0.0, 0.5, 1.0]).round(2).tolist()
    [-36.84, 0.0, 36.84]
    """
    unlimited = special.logit(np.asarray(prob, dtype=np.float64))
    return np.asarray(np.clip(unlimited, -LOGIT_LIMIT, LOGIT_LIMIT))


def expit(value: Any) -> NDArray[np.float64]:
    """Return ``1 / (1 + exp(-v))``, the inverse of the logit."""
    return np.asarray(special.expit(np.asarray(value, dtype=np.float64)))
