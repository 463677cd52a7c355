"""Replicates and drift, tested by what their artists hold."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibkit_course import lesson06
from calibkit_course.lesson06 import Replicates, figures as figures06
from tests.drawn import assert_manners, one

PLAIN = Replicates(name="plain", values=np.array([0.1, 0.2, 0.3, 0.3]), truth=0.15)
OTHER = Replicates(name="debiased", values=np.array([-0.1, 0.1, 0.2, 0.3]), truth=0.15)


def test_every_estimate_is_counted_once():
    ax = figures06.replicates([PLAIN, OTHER])
    for place in (0, 1):
        assert sum(one(ax, f"estimates-{place}").get_data().values) == 4


def test_equal_estimates_still_make_a_column():
    flat = Replicates(name="flat", values=np.full(5, 0.2), truth=0.2)
    drawn = one(figures06.replicates([flat]), "estimates-0").get_data()
    assert max(drawn.values) == 5 and np.ptp(drawn.edges) > 0


def test_what_does_not_belong_together_is_refused():
    with pytest.raises(ValueError, match="same truth, got 2 with the truths"):
        figures06.replicates([PLAIN, replace(PLAIN, truth=0.2)])
    with pytest.raises(ValueError, match="1 to 3 sets"):
        figures06.replicates([])
    with pytest.raises(ValueError, match="got 4"):
        figures06.replicates([PLAIN] * 4)
    assert not plt.get_fignums()


def test_manners(subtests):
    assert_manners(
        subtests,
        {
            "replicates": lambda ax: figures06.replicates([PLAIN], ax),
            "bin drift": lambda ax: figures06.bin_drift(lesson06.bin_tuner_view(n=100), ax),
        },
    )
