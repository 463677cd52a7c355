"""Where the map of requirements ends, and the room for numbers beyond the bars of a game."""

import numpy as np
import pytest

from calibkit_course.lesson13 import Ward, game_scores, requirement_sweep, requirements
from calibkit_course.lesson13.rounds import GamePlay


def test_the_map_holds_whole_cells() -> None:
    sweep = requirement_sweep(Ward(), accuracies=[0.8, 0.85, 0.9], errors=[0, 0.05, 0.15])
    ax = requirements(sweep)
    assert ax.get_xlim() == pytest.approx((-0.025, 0.2))
    assert ax.get_ylim() == pytest.approx((0.775, 0.925))


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
    plays = {
        f"policy {value}": GamePlay(
            value=value, acted=0.5, payoffs=np.array([value]), unit="patient"
        )
        for value in won
    }
    assert game_scores(plays).get_xlim() == pytest.approx(ends)
