"""Both ends of Venn-Abers, by what the artists hold."""

import matplotlib.pyplot as plt
import pytest

from calibkit import plot
from tests.drawn import assert_nothing_is_cut_off, one

ENDS = ([0.0, 0.2, 0.5], [0.3, 0.4, 1.0])


def test_both_ends_of_venn_abers_and_the_truth() -> None:
    ax = plot.venn_abers([0.1, 0.5, 0.9], ENDS, truth=[0.2, 0.5, 0.8])
    assert one(ax, "0").get_linestyle() != one(ax, "1").get_linestyle()
    assert one(ax, "truth").get_ydata().tolist() == [0.2, 0.5, 0.8]
    assert "0.333 apart on average and at most 0.500" in plot.alt_text(ax)
    assert_nothing_is_cut_off(ax)


@pytest.mark.parametrize("prob", [[0.1, 0.5], [0.5, 0.1, 0.9]])
def test_predictions_of_venn_abers_must_rise_and_match(prob: list[float]) -> None:
    with pytest.raises(ValueError, match="prob must rise"):
        plot.venn_abers(prob, ENDS)
    assert not plt.get_fignums()
