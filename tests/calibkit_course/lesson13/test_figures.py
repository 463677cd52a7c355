"""Scores, requirements and patients: what the artists hold, and that nothing is cut off."""

import numpy as np
import pytest

from calibkit import plot
from calibkit.decisions import regret_curve
from calibkit.fakes import KnobClassifier
from calibkit_course import lesson13
from calibkit_course.lesson13 import Ward, figures as figures13, play_predictions, requirement_sweep
from tests.drawn import assert_manners, assert_nothing_is_cut_off, assert_points, find, one

MACHINE = KnobClassifier(5, 0.8, budget_share=0.75, concentration=3)
CURVE = regret_curve([0.2, 0.7, 0.9], [0.3, 0.6, 0.5])


def test_scores_are_bars_with_their_intervals_and_losses_are_hatched():
    data = MACHINE.sample(500, 3)
    named = {name: name for name in ("trust", "certain", "clairvoyant")}
    won = play_predictions(
        data.y_true, data.y_prob, game=Ward(1, 9), policies=named, n_resamples=50, rng=3
    )
    ax = figures13.game_scores(won)
    bars = find(ax, "score")
    assert [bar.get_width() for bar in bars] == won.value.tolist()
    assert [text.get_text() for text in find(ax, "number")] == [f"{v:.2f}" for v in won.value]
    ends = [segment[:, 0] for segment in one(ax, "interval").get_segments()]
    np.testing.assert_allclose(ends, np.transpose([won.low, won.high]))
    hatches = [bool(bar.get_hatch()) for bar in bars]
    assert hatches == (won.value < 0).tolist() and any(hatches) and not all(hatches)
    assert won.describe() in plot.alt_text(ax)
    assert_nothing_is_cut_off(ax)
    plays = {"trust": Ward().play("trust", Ward().deal(MACHINE, 20, rng=1))}
    assert not find(figures13.game_scores(plays), "interval")


@pytest.mark.long
def test_the_mesh_masks_what_no_classifier_has():
    grid = np.linspace(0.6, 0.9, 7)
    sweep = requirement_sweep(Ward(), accuracies=grid, errors=(grid - 0.6), concentration=3)
    ax = figures13.requirements(sweep, utilities=[0.5, 9.0])
    mesh = one(ax, "values").get_array()
    assert np.array_equal(np.ma.getmaskarray(mesh).ravel(), ~sweep.feasible.ravel())
    assert np.array_equal(mesh.compressed(), sweep.value[sweep.feasible])
    low, never = find(ax, "iso-line")
    assert np.allclose(low.get_ydata(), sweep.iso_line(0.5), equal_nan=True)
    assert np.isnan(never.get_ydata()).all()
    assert "out of reach" in plot.alt_text(ax) and "A value of 0.5" in plot.alt_text(ax)
    assert_nothing_is_cut_off(ax)


def test_what_was_right_is_hidden_before_and_shown_after():
    dealt = lesson13.ward_round_view(draw=1)
    ax = figures13.patients(dealt, revealed=False)
    assert np.array_equal(one(ax, "hidden").get_xdata(), dealt.said)
    assert not find(ax, "right") and "wrong" not in plot.alt_text(ax)
    ax = figures13.patients(dealt)
    assert one(ax, "right").get_xdata().tolist() == dealt.said[dealt.right].tolist()
    assert one(ax, "wrong").get_xdata().tolist() == dealt.said[~dealt.right].tolist()
    assert "A 84 %, wrong" in plot.alt_text(ax)
    assert_nothing_is_cut_off(ax)


def test_manners(subtests):
    drawings = {
        "patients": lambda ax: figures13.patients(lesson13.ward_round_view(), ax),
        "regret": lambda ax: figures13.draw_regret(CURVE, ax, mark=0.4),
    }
    assert_manners(subtests, drawings)


def test_regret_is_drawn_with_its_threshold():
    ax = figures13.draw_regret(CURVE, mark=0.4)
    assert_points(ax, {"curve": (CURVE.threshold, CURVE.regret), "mark": (0.4, [0, 1])})
    assert CURVE.describe() in plot.alt_text(ax)
