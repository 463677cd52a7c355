"""Stated against true numbers, and the frames of the simplex lens, by what the artists hold."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from calibkit.fakes import DirichletFake, Power
from calibkit_course import finite
from calibkit_course.lesson12.figures import light, stated_and_true
from tests.drawn import one

SIX = finite.example("six atoms")
STATED, TRUE = (np.array(table, dtype=float) for table in (SIX.confidence, SIX.truth))


def test_points_are_the_numbers_of_each_class_and_many_are_thinned_out_evenly():
    ax = stated_and_true(STATED, TRUE)
    for k in range(3):
        pairs = np.column_stack([STATED[:, k], TRUE[:, k]])
        assert np.allclose(one(ax, f"entries-{k}").get_offsets(), pairs)
    sample = DirichletFake((1, 1, 1), Power(2)).sample(5000, 0)
    found = one(stated_and_true(sample.y_prob, sample.true_prob), "entries-0").get_offsets()
    assert 250 <= len(found) <= 300
    assert np.allclose(found[1], [sample.y_prob[17, 0], sample.true_prob[17, 0]])


@pytest.mark.parametrize("straight", [True, False])
@pytest.mark.parametrize("chosen", [True, False])
def test_colour_line_and_width_say_verdict_and_choice(straight, chosen):
    ax = light(stated_and_true(STATED, TRUE), straight, chosen)
    for spine in ax.spines.values():
        assert (spine.get_linestyle() == "solid") == straight
        assert (spine.get_linewidth() > 2) == chosen
    assert (ax.title.get_fontweight() == "bold") == chosen
    assert to_hex(ax.title.get_color()).upper() == ("#007A5A" if straight else "#D55E00")
