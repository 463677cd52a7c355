"""The map of requirements and the bars of what policies won, by what the artists hold."""

import numpy as np
import pytest

from calibkit import plot
from calibkit_course.lesson13 import Ward, game_scores, requirement_sweep, requirements
from calibkit_course.lesson13.rounds import GamePlay
from tests.drawn import find

SWEEP = requirement_sweep(
    Ward(), accuracies=[0.8, 0.85, 0.9], errors=[0, 0.05, 0.15], concentration=3
)


def play(value: float) -> GamePlay:
    return GamePlay(value=value, acted=0.5, payoffs=np.array([value]), unit="patient")


def test_the_map_holds_whole_cells_and_the_lines_that_are_asked_for() -> None:
    ax = requirements(SWEEP, utilities=(1.0, 100.0))
    assert ax.get_xlim() == pytest.approx((-0.025, 0.2))
    assert ax.get_ylim() == pytest.approx((0.775, 0.925))
    reached, beyond = (line.get_ydata() for line in find(ax, "iso-line"))
    np.testing.assert_array_equal(reached, SWEEP.iso_line(1.0))
    assert np.isnan(beyond).all()
    words = plot.alt_text(ax)
    assert "A value of 1 needs accuracy 0.838 at error 0" in words
    assert "A value of 100 is out of reach" in words
    assert find(ax, "impossible")  # an accuracy of 0.9 leaves no error of 0.15


@pytest.mark.parametrize(
    ("accuracies", "utilities"), [([0.8], ()), ([0.8, 0.9], (1, 2, 3, 4, 5))], ids=["row", "lines"]
)
def test_what_makes_no_map_is_refused(accuracies: list[float], utilities: tuple[int, ...]) -> None:
    sweep = requirement_sweep(Ward(), accuracies=accuracies, errors=[0, 0.05])
    with pytest.raises(ValueError, match="at least two accuracies"):
        requirements(sweep, utilities=utilities)


@pytest.mark.parametrize(
    ("won", "ends"),
    [
        ((1.0, -0.5), (-0.8, 1.3)),
        ((1.0, 2.0), (0, 2.4)),
        ((-1.0,), (-1.2, 0.2)),
        ((0.0,), (0, 0.2)),
    ],
)
def test_beyond_each_bar_is_room_for_its_number(
    won: tuple[float, ...], ends: tuple[float, float]
) -> None:
    ax = game_scores({f"policy {value}": play(value) for value in won})
    assert ax.get_xlim() == pytest.approx(ends)
    assert [bar.get_width() for bar in find(ax, "score")] == list(won)
    assert [text.get_text() for text in find(ax, "number")] == [f"{value:.2f}" for value in won]
    hatches = [bar.get_hatch() for bar in find(ax, "score")]
    assert [bool(hatch) for hatch in hatches] == [value < 0 for value in won]


def test_no_play_is_refused() -> None:
    with pytest.raises(ValueError, match="scores is empty"):
        game_scores({})
