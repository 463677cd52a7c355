"""Replicates and drift, tested by what their artists hold."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibkit_course import lesson06
from calibkit_course.lesson06 import Replicates, figures as figures06
from tests.drawn import assert_manners, find, labels, one

PLAIN = Replicates(name="plain", values=np.array([0.1, 0.2, 0.3, 0.3]), truth=0.15)
OTHER = Replicates(name="debiased", values=np.array([-0.1, 0.1, 0.2, 0.3]), truth=0.15)


class TestReplicates:
    def test_truth_and_mean_stand_where_they_are(self):
        ax = figures06.replicates([PLAIN])
        assert one(ax, "truth").get_xdata()[0] == 0.15
        assert one(ax, "mean-0").get_xdata()[0] == pytest.approx(0.225)
        assert one(ax, "truth").get_linestyle() != one(ax, "mean-0").get_linestyle()

    def test_every_estimate_is_counted_once(self, subtests):
        ax = figures06.replicates([PLAIN, OTHER])
        for place in (0, 1):
            with subtests.test(place=place):
                assert sum(one(ax, f"estimates-{place}").get_data().values) == 4

    def test_several_sets_share_the_columns_and_differ_in_hatch(self):
        ax = figures06.replicates([PLAIN, OTHER])
        one_set, other = (one(ax, f"estimates-{place}") for place in (0, 1))
        assert np.array_equal(one_set.get_data().edges, other.get_data().edges)
        assert one_set.get_hatch() != other.get_hatch()
        assert {"plain", "debiased", "mean, plain", "mean, debiased", "truth"} == set(labels(ax))

    def test_equal_estimates_still_make_a_column(self):
        flat = Replicates(name="flat", values=np.full(5, 0.2), truth=0.2)
        drawn = one(figures06.replicates([flat]), "estimates-0").get_data()
        assert max(drawn.values) == 5 and np.ptp(drawn.edges) > 0

    def test_what_does_not_belong_together_is_refused(self):
        with pytest.raises(ValueError, match="same truth, got 2 with the truths"):
            figures06.replicates([PLAIN, replace(PLAIN, truth=0.2)])
        with pytest.raises(ValueError, match="1 to 3 sets"):
            figures06.replicates([])
        with pytest.raises(ValueError, match="got 4"):
            figures06.replicates([PLAIN] * 4)
        assert not plt.get_fignums()


class TestBinDrift:
    def test_the_lines_are_the_columns_of_the_view(self):
        view = lesson06.bin_tuner_view(n=500)
        ax = figures06.bin_drift(view)
        assert np.array_equal(one(ax, "plain-mean").get_xdata(), view.grid)
        assert np.array_equal(one(ax, "plain-mean").get_ydata(), view.plain_mean)
        assert np.array_equal(one(ax, "limit").get_ydata(), view.limit)
        assert one(ax, "truth").get_ydata()[0] == view.truth
        assert not find(ax, "points")


def test_manners(subtests):
    assert_manners(
        subtests,
        {
            "replicates": lambda ax: figures06.replicates([PLAIN], ax),
            "bin drift": lambda ax: figures06.bin_drift(lesson06.bin_tuner_view(n=100), ax),
        },
    )
