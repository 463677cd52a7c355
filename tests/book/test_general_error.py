"""The general calibration error contains the named ones."""

from typing import Any

import numpy as np
import pytest

import calibkit as ck
from book.experiments.tce.general import general_error as general
from calibkit import bins


def coarse(seed: int = 0, n: int = 300) -> tuple[Any, Any]:
    """Predictions with ties, on edges and at both ends."""
    rng = np.random.default_rng(seed)
    prob = rng.integers(0, 41, n) / 40
    return (rng.random(n) < prob**1.4).astype(int), prob


@pytest.mark.parametrize("seed", range(3))
def test_the_named_errors_are_members(seed: int) -> None:
    label, prob = coarse(seed)
    pairs = [
        (general(label, prob), ck.expected_calibration_error(label, prob)),
        (general(label, prob, bins=bins.EqualMass(15)), ck.adaptive_calibration_error(label, prob)),
        (general(label, prob, norm=np.inf), ck.maximum_calibration_error(label, prob)),
        (general(label, prob, norm=3), ck.calibration_error(label, prob, norm=3)),
    ]
    for binning in (bins.Pava(), bins.PavaBC(10, 60), bins.FixedEdges([0, 0.1, 1])):
        named = ck.calibration_error(label, prob, bins=binning)
        pairs.append((general(label, prob, bins=binning), named))
    for ours, named in pairs:
        assert ours.value == pytest.approx(float(named), abs=1e-12), named.describe()


def test_empty_bins_count_nothing() -> None:
    label, prob = np.array([0, 1]), np.array([0.1, 0.9])
    error = general(label, prob, bins=10)
    assert error.value == pytest.approx(0.1)
    assert np.isnan(error.losses).sum() == 8
    assert general(label, prob, bins=10, norm=np.inf).value == pytest.approx(0.1)
