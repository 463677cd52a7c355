"""Intervals against a truth, and both ends of Venn-Abers, by what the artists hold."""

from dataclasses import replace

import matplotlib.pyplot as plt
import pytest

import calibkit as ck
from calibkit import plot
from tests.drawn import assert_nothing_is_cut_off, one

MADE = ck.bootstrap_interval(
    ck.brier_score, [0, 1, 1, 0], [0.2, 0.6, 0.7, 0.4], n_resamples=20, rng=0
)
FOUND = tuple(replace(MADE, low=low, high=low + 0.2, value=low + 0.1) for low in (0.0, 0.1, 0.2))
ENDS = ([0.0, 0.2, 0.5], [0.3, 0.4, 1.0])


def test_hits_and_misses_are_apart() -> None:
    ax = plot.intervals(FOUND, 0.15)
    hits, misses = one(ax, "holds the truth"), one(ax, "misses it")
    assert [path[:, 1].tolist() for path in hits.get_segments()] == [
        pytest.approx([0.0, 0.2]),
        pytest.approx([0.1, 0.3]),
    ]
    assert [path[0, 0] for path in misses.get_segments()] == [3]
    assert hits.get_linewidth()[0] > misses.get_linewidth()[0]
    assert one(ax, "measured").get_ydata().tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert_nothing_is_cut_off(ax)

    words = plot.alt_text(ax)
    assert "3 intervals, reflected, nominal 90 %" in words and "2 of them hold" in words


def test_no_interval_and_many_truths_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        plot.intervals((), 0.0)
    with pytest.raises(ValueError, match="truth"):
        plot.intervals(FOUND, [0.1, 0.2])  # type: ignore[arg-type]
    assert not plt.get_fignums()


def test_both_ends_of_venn_abers_and_the_truth() -> None:
    ax = plot.venn_abers([0.1, 0.5, 0.9], ENDS, truth=[0.2, 0.5, 0.8])
    assert ax.get_xlim() == (0, 1)
    assert one(ax, "0").get_ydata().tolist() == ENDS[0]
    assert one(ax, "1").get_ydata().tolist() == ENDS[1]
    assert one(ax, "0").get_linestyle() != one(ax, "1").get_linestyle()
    assert one(ax, "truth").get_ydata().tolist() == [0.2, 0.5, 0.8]
    assert "0.333 apart on average and at most 0.500" in plot.alt_text(ax)
    assert_nothing_is_cut_off(ax)


@pytest.mark.parametrize("prob", [[0.1, 0.5], [0.5, 0.1, 0.9]])
def test_predictions_of_venn_abers_must_rise_and_match(prob: list[float]) -> None:
    with pytest.raises(ValueError, match="prob must rise"):
        plot.venn_abers(prob, ENDS)
    assert not plt.get_fignums()
