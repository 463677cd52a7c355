"""The general calibration error of Matsubara and others (2023), Definition 1: a loss, bins, a norm.

``(sum_b (n_b / n) |L_b|^p)^(1/p)`` with the loss ``L_b`` of bin b. Empty bins count nothing.

==========================  =======================  ==================  ========
member                      loss                     bins                norm
==========================  =======================  ==================  ========
expected error              `gap`                    equal width         1
adaptive error              `gap`                    `EqualMass`         1
maximum error               `gap`                    equal width         infinity
test-based error            share of rejected rows   `PavaBC`            1
==========================  =======================  ==================  ========
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Bins
from calibkit.errors.family import weighted_norm
from calibkit.hypothesis_tests import test_based_calibration_error as tested

Loss = Callable[[NDArray[np.int64], NDArray[np.float64]], float]


class GeneralError(NamedTuple):
    """A norm of one loss per bin; `losses` are NaN where a bin is empty."""

    value: float
    losses: NDArray[np.float64]


def gap(label: NDArray[np.int64], prob: NDArray[np.float64]) -> float:
    """Return frequency minus mean prediction."""
    return float(label.mean() - prob.mean())


def general_error(
    label: NDArray[Any], prob: NDArray[Any], *, loss: Loss = gap, bins: Bins = 15, norm: float = 1
) -> GeneralError:
    """Measure a loss of the labels and predictions of each bin, and take a norm."""
    cut = tested(label, prob, bins=bins, n_draws=0).verdicts[0]  # bins that follow labels, too
    losses = np.full(cut.table.n_bins, np.nan)
    for b in np.flatnonzero(cut.table.occupied):
        losses[b] = loss(label[cut.bin == b], prob[cut.bin == b])
    weight = cut.table.weight
    return GeneralError(float(weighted_norm(losses, weight, norm)), losses)
