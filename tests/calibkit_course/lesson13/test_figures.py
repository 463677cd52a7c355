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
DEAL = Ward().deal(MACHINE, 200, rng=1)
PLAYS = {policy: Ward().play(policy, DEAL) for policy in ("trust", "certain", "oracle")}
SWEEP = requirement_sweep(
    Ward(), accuracies=np.linspace(0.6, 0.9, 7), errors=np.linspace(0, 0.3, 7), concentration=3
)


class TestGameScores:
    def test_bars_are_the_values(self):
        ax = figures13.game_scores(PLAYS)
        bars = find(ax, "score")
        assert [bar.get_width() for bar in bars] == [play.value for play in PLAYS.values()]
        assert [text.get_text() for text in find(ax, "number")] == [
            f"{play.value:.2f}" for play in PLAYS.values()
        ]
        assert not find(ax, "interval")
        assert_nothing_is_cut_off(ax)

    def test_losses_are_hatched_and_intervals_drawn(self):
        data = MACHINE.sample(500, 3)
        named = {name: name for name in ("trust", "certain", "clairvoyant")}
        won = play_predictions(
            data.y_true, data.y_prob, game=Ward(1, 9), policies=named, n_resamples=50, rng=3
        )
        ax = figures13.game_scores(won)
        segments = one(ax, "interval").get_segments()
        assert [tuple(segment[:, 0]) for segment in segments] == [
            pytest.approx(ends) for ends in zip(won.low, won.high, strict=True)
        ]
        hatches = [bool(bar.get_hatch()) for bar in find(ax, "score")]
        assert hatches == (won.value < 0).tolist() and any(hatches) and not all(hatches)
        assert won.describe() in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)


class TestRequirements:
    @pytest.mark.long
    def test_the_mesh_masks_what_no_classifier_has(self):
        ax = figures13.requirements(SWEEP, utilities=[0.5, 9.0])
        mesh = one(ax, "values").get_array()
        assert np.array_equal(np.ma.getmaskarray(mesh).ravel(), ~SWEEP.feasible.ravel())
        shown = mesh.compressed()
        assert np.array_equal(shown, SWEEP.value[SWEEP.feasible])
        assert one(ax, "impossible").get_hatch()
        low, never = find(ax, "iso-line")
        assert np.allclose(low.get_ydata(), SWEEP.iso_line(0.5), equal_nan=True)
        assert np.isnan(never.get_ydata()).all()
        assert "out of reach" in plot.alt_text(ax) and "A value of 0.5" in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)


class TestPatients:
    def test_hidden_before_shown_after(self):
        dealt = lesson13.ward_round_view(draw=1)
        ax = figures13.patients(dealt, revealed=False)
        assert np.array_equal(one(ax, "hidden").get_xdata(), dealt.said)
        assert not find(ax, "right") and "wrong" not in plot.alt_text(ax)
        ax = figures13.patients(dealt)
        marks = {gid: one(ax, gid).get_xdata().tolist() for gid in ("right", "wrong")}
        assert marks["right"] == dealt.said[dealt.right].tolist()
        assert marks["wrong"] == dealt.said[~dealt.right].tolist()
        assert one(ax, "right").get_marker() != one(ax, "wrong").get_marker()
        assert "A 84 %, wrong" in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)


def test_manners(subtests):
    assert_manners(
        subtests,
        {
            "game scores": lambda ax: figures13.game_scores(PLAYS, ax),
            "patients": lambda ax: figures13.patients(lesson13.ward_round_view(), ax),
        },
    )


def test_regret_is_drawn_with_its_threshold(subtests):
    curve = regret_curve([0.2, 0.7, 0.9], [0.3, 0.6, 0.5])
    assert_manners(subtests, {"regret": lambda ax: figures13.draw_regret(curve, ax, mark=0.4)})
    ax = figures13.draw_regret(curve, mark=0.4)
    assert_points(ax, {"curve": (curve.threshold, curve.regret), "mark": (0.4, [0, 1])})
    assert curve.describe() in plot.alt_text(ax)
