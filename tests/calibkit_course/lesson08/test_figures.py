"""Binnings side by side: what the artists hold."""

import numpy as np
import pytest

from calibkit.bins import EqualMass, Pava
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import test_based_calibration_error
from calibkit_course.lesson08 import figures as figures08
from tests.drawn import assert_nothing_is_cut_off, corners, one

TILTED = LogitDistortion(slope=0.6).sample(600, rng=8)


def error_of(sample, bins=None):
    options = {} if bins is None else {"bins": bins}
    return test_based_calibration_error(sample.y_true, sample.y_prob, n_draws=5, rng=0, **options)


class TestCompareBins:
    @pytest.mark.slow
    def test_each_panel_counts_its_bins_and_rejections(self):
        errors = {str(rule): error_of(TILTED, bins=rule) for rule in (EqualMass(6), Pava())}
        axes = figures08.compare_bins(errors)
        for ax, (name, error) in zip(axes, errors.items(), strict=True):
            assert ax.get_title() == name
            assert len(one(ax, "rejected").get_xdata()) == error.rejected.sum()
            assert len(one(ax, "accepted").get_xdata()) == (~error.rejected).sum()
            assert len(corners(ax, "acceptance")) == error.table.n_bins
            assert one(ax, "words").get_text() == (
                f"{error.table.n_bins} bins\n{100 * error.value:.1f} % rejected"
            )
        assert_nothing_is_cut_off(axes[0])

    def test_accepted_and_rejected_predictions_differ_in_size_too(self):
        (ax,) = figures08.compare_bins({"one": error_of(TILTED)})
        assert one(ax, "rejected").get_markersize() > one(ax, "accepted").get_markersize()

    def test_the_true_map_is_drawn_where_it_is_given(self):
        truth = LogitDistortion(slope=0.6).true_map
        (ax,) = figures08.compare_bins({"one": error_of(TILTED)}, truth=truth)
        across, up = one(ax, "truth").get_data()
        assert up == pytest.approx(truth(np.asarray(across)))
