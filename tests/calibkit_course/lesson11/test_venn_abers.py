"""Both ends of Venn-Abers, by what the artists hold."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibkit import plot
from calibkit_course.lesson11 import draw_venn_abers
from tests.drawn import assert_manners, assert_points, one

ENDS = ([0.0, 0.2, 0.5], [0.3, 0.4, 1.0])


def test_both_ends_of_venn_abers_and_the_truth(subtests) -> None:
    across = np.array([0.1, 0.5, 0.9])
    assert_manners(subtests, {"Venn-Abers": lambda ax: draw_venn_abers(across, ENDS, ax)})
    ax = draw_venn_abers([0.1, 0.5, 0.9], ENDS, truth=[0.2, 0.5, 0.8])
    assert one(ax, "0").get_linestyle() != one(ax, "1").get_linestyle()
    assert one(ax, "truth").get_ydata().tolist() == [0.2, 0.5, 0.8]
    assert "0.333 apart on average and at most 0.500" in plot.alt_text(ax)
    frame = {"0": (across, ENDS[0]), "1": (across, ENDS[1]), "frame": (0, -0.02, 1, 1.02)}
    assert_points(ax, frame)


@pytest.mark.parametrize("prob", [[0.1, 0.5], [0.5, 0.1, 0.9]])
def test_predictions_of_venn_abers_must_rise_and_match(prob: list[float]) -> None:
    with pytest.raises(ValueError, match="prob must rise"):
        draw_venn_abers(prob, ENDS)
    assert not plt.get_fignums()
