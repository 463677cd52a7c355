"""The general calibration error contains the named ones."""

from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit import bins, significance
from tests.helpers import class_data

general = significance.general_calibration_error


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
        (general(label, prob, norm=2), ck.root_mean_square_calibration_error(label, prob)),
        (general(label, prob, norm=3), ck.lp_calibration_error(label, prob, norm=3)),
    ]
    for ours, named in pairs:
        assert float(ours) == pytest.approx(float(named), abs=1e-12), named.name
    ours = general(label, prob, loss="rejected", bins=bins.PavaBC())
    named = significance.test_based_calibration_error(label, prob, null_draws=0)
    assert float(ours) == pytest.approx(float(named), abs=1e-15)


def test_any_bins_give_the_binned_error() -> None:
    label, prob = coarse(4)
    edges = bins.FixedEdges([0, 0.1, 1])
    for binning in (bins.Pava(), bins.PavaBC(10, 60), bins.Distinct(), edges):
        named = ck.calibration_error(label, prob, bins=binning)
        ours = general(label, prob, bins=binning)
        assert float(ours) == pytest.approx(float(named), abs=1e-12), binning


def test_views() -> None:
    label, prob = class_data(300)
    class_wise = general(label, prob, view="class-wise")
    assert float(class_wise) == pytest.approx(
        float(ck.class_wise_calibration_error(label, prob)), abs=1e-12
    )
    assert class_wise.view == "class-wise, 3 classes"
    top = general(label, prob, view="top-label", bins=bins.EqualMass(15), norm=2)
    assert float(top) == pytest.approx(
        float(ck.top_label_calibration_error(label, prob)), abs=1e-12
    )


def test_a_loss_of_ones_own(subtests: pytest.Subtests) -> None:
    label, prob = coarse(5)

    def brier(y: Any, p: Any) -> float:
        return float(np.mean((y - p) ** 2))

    for binning in (1, 15, bins.EqualMass(7), bins.PavaBC()):
        with subtests.test(binning=binning):
            error = general(label, prob, loss=brier, bins=binning)
            assert float(error) == pytest.approx(float(ck.brier_score(label, prob)), abs=1e-12)
    assert error.name == "general calibration error (brier, norm 1)"

    def gap(y: Any, p: Any) -> float:
        return float(y.mean() - p.mean())  # its sign does not matter

    own, built_in = general(label, prob, loss=gap), general(label, prob, loss="gap")
    assert float(own) == pytest.approx(float(built_in), abs=1e-12)


def test_a_loss_cannot_change_the_predictions() -> None:
    label, prob = coarse(6)

    def spoil(y: Any, p: Any) -> float:
        p[:] = 0
        y[:] = 0
        return 0.0

    before = prob.copy()
    error = general(label, prob, loss=spoil, bins=3)
    assert prob.tolist() == before.tolist()
    assert error.tables[0].mean_prob.min() > 0


def test_empty_bins_count_nothing() -> None:
    error = general([0, 1], [0.1, 0.9], bins=10)
    assert float(error) == pytest.approx(0.1)
    assert np.isnan(error.losses[0]).sum() == 8
    assert float(general([0, 1], [0.1, 0.9], bins=10, norm=np.inf)) == pytest.approx(0.1)
