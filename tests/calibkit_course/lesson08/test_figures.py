"""Binnings side by side: what the artists hold."""

import numpy as np
import pytest

from calibkit.bins import EqualMass, Pava
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import test_based_calibration_error
from calibkit_course.lesson08 import figures as figures08
from tests.drawn import assert_nothing_is_cut_off, corners, one

TILTED = LogitDistortion(slope=0.6)


def test_each_panel_counts_its_bins_and_rejections_and_draws_the_true_map():
    sample, errors = TILTED.sample(600, rng=8), {}
    for rule in (EqualMass(6), Pava()):
        errors[str(rule)] = test_based_calibration_error(
            sample.y_true, sample.y_prob, bins=rule, n_draws=0
        )
    axes = figures08.compare_bins(errors, truth=TILTED.true_map)
    for ax, (name, error) in zip(axes, errors.items(), strict=True):
        assert ax.get_title() == name
        assert len(one(ax, "rejected").get_xdata()) == error.rejected.sum()
        assert len(one(ax, "accepted").get_xdata()) == (~error.rejected).sum()
        assert len(corners(ax, "acceptance")) == error.table.n_bins
        share = f"{100 * error.value:.1f} % rejected"
        assert one(ax, "words").get_text() == f"{error.table.n_bins} bins\n{share}"
        across, up = one(ax, "truth").get_data()
        assert up == pytest.approx(TILTED.true_map(np.asarray(across)))
    assert_nothing_is_cut_off(axes[0])
