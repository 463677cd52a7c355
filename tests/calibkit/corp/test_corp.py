"""The CORP curve and its parts: against other implementations, brute force and the null law."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial import ConvexHull
from sklearn.metrics import roc_curve

import calibkit as ck
from calibkit import null_level
from calibkit.fakes import LogitDistortion
from calibkit.scores import corp_decomposition, miscalibration
from tests.helpers import rows_with

SCORES = ("brier", "log")


def with_ties(n: int, seed: int, digits: int | None = 1) -> tuple[np.ndarray, np.ndarray]:
    """Draw over-confident predictions, rounded so that many are equal."""
    sample = LogitDistortion(slope=0.6, shift=0.3).sample(n, seed)
    prob = sample.y_prob if digits is None else np.round(sample.y_prob, digits)
    return sample.y_true, prob


eighths = rows_with(st.sampled_from(np.arange(9) / 8))


# --- against model diagnostics ------------------------------------------------------------------


@pytest.mark.parametrize("digits", [None, 3, 2, 1])
@pytest.mark.parametrize("score", SCORES)
def test_all_four_numbers_agree_with_model_diagnostics(score, digits):
    scoring = pytest.importorskip("model_diagnostics.scoring")
    function = {"brier": scoring.SquaredError, "log": scoring.LogLoss}[score]()
    for n, seed in ((7, 0), (40, 1), (500, 2), (5000, 3)):
        y_true, y_prob = with_ties(n, seed, digits)
        parts = corp_decomposition(y_true, y_prob, score=score)
        theirs = scoring.decompose(y_true, y_prob, scoring_function=function)
        for name in ("score", "miscalibration", "discrimination", "uncertainty"):
            wanted = pytest.approx(theirs[name].item(), abs=1e-10)
            assert getattr(parts, name) == wanted


# --- parts --------------------------------------------------------------------------------------


@given(eighths)
def test_the_parts_add_up_to_the_ordinary_scores(table):
    y_true, y_prob = table
    for score, function in (("brier", ck.brier_score), ("log", ck.log_loss)):
        parts = corp_decomposition(y_true, y_prob, score=score)
        total = parts.miscalibration - parts.discrimination + parts.uncertainty
        assert parts.score == pytest.approx(float(function(y_true, y_prob)), abs=1e-12)
        assert parts.score == pytest.approx(total, abs=1e-12)
        assert parts.miscalibration >= -1e-15
        assert -1e-15 <= parts.discrimination <= parts.uncertainty + 1e-15


@pytest.mark.parametrize("score", SCORES)
def test_predictions_on_their_own_curve_have_exactly_no_miscalibration(score):
    y_prob = np.repeat([0.2, 0.6], [10, 10])
    y_true = np.concatenate([np.arange(10) < hits for hits in (2, 6)])
    assert corp_decomposition(y_true, y_prob, score=score).miscalibration == 0.0


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    "change", [np.sqrt, np.square, lambda p: 0.3 + 0.1 * p, lambda p: p**3 / (1 + p)]
)
def test_increasing_maps_leave_discrimination_and_uncertainty(score, change):
    y_true, y_prob = with_ties(3000, 6, 3)
    y_prob = np.clip(y_prob, 0.001, 0.999)
    before = corp_decomposition(y_true, y_prob, score=score)
    after = corp_decomposition(y_true, change(y_prob), score=score)
    assert after.discrimination == before.discrimination
    assert after.uncertainty == before.uncertainty
    assert np.array_equal(after.recalibrated, before.recalibrated)
    assert after.miscalibration != before.miscalibration


def test_the_blocks_of_the_curve_are_the_corners_of_the_roc_hull():
    """The upper hull of the ROC points has one side per block, its slope is the odds ratio."""
    y_true, y_prob = with_ties(400, 8, None)
    parts = corp_decomposition(y_true, y_prob)
    points = np.column_stack(roc_curve(y_true, y_prob, drop_intermediate=False)[:2])
    hull = points[np.sort(ConvexHull([*points, (1, 0)]).vertices)[:-1]]  # without (1, 0)
    hits = np.rint(parts.recalibrated * parts.count).astype(int)
    misses = parts.count - hits
    corners = [np.cumsum(part[::-1]) / part.sum() for part in (misses, hits)]
    np.testing.assert_allclose(hull[1:], np.transpose(corners), rtol=0, atol=1e-12)


# --- blocks -------------------------------------------------------------------------------------


def test_by_hand():
    parts = corp_decomposition([0, 1, 0, 1, 1, 1], [0.2, 0.2, 0.3, 0.7, 0.7, 0.9])
    assert parts.low.tolist() == [0.2, 0.7] and parts.high.tolist() == [0.3, 0.9]
    assert parts.count.tolist() == [3, 3] and parts.recalibrated.tolist() == [1 / 3, 1]
    assert np.allclose(parts.mean_prob, [0.7 / 3, 2.3 / 3])
    assert parts.prediction.tolist() == [0.2, 0.3, 0.7, 0.9]
    assert parts.prediction_count.tolist() == [2, 1, 2, 1]


@given(eighths)
def test_blocks_are_ordered_disjoint_and_complete(table):
    y_true, y_prob = table
    parts = corp_decomposition(y_true, y_prob)
    assert (np.diff(parts.recalibrated) > 0).all()
    assert (parts.low <= parts.high).all() and (parts.high[:-1] < parts.low[1:]).all()
    assert parts.count.sum() == parts.n == len(y_true)
    assert (parts.low <= parts.mean_prob + 1e-15).all()
    assert (parts.mean_prob <= parts.high + 1e-15).all()
    inside = [(y_prob >= a) & (y_prob <= b) for a, b in zip(parts.low, parts.high, strict=True)]
    assert [rows.sum() for rows in inside] == parts.count.tolist()
    assert [y_true[rows].mean() for rows in inside] == parts.recalibrated.tolist()


@pytest.mark.parametrize(
    ("hits", "count", "wanted"),
    [  # found by search: SciPy alone leaves equal frequencies in separate blocks
        ([15, 39, 1, 39], [60, 148, 12, 156], [1 / 4]),
        ([25, 13, 33, 10, 30, 20, 52, 6], [75, 39, 99, 30, 90, 60, 99, 75], [1 / 3]),
        ([10, 0, 1, 6, 5, 21, 5], [20, 1, 2, 13, 10, 38, 14], [17 / 36, 1 / 2]),
    ],
)
def test_equal_frequencies_are_one_block_whatever_the_rounding(hits, count, wanted):
    y_prob = np.repeat(np.arange(1, len(count) + 1) / 10, count)
    y_true = np.concatenate([np.arange(n) < k for k, n in zip(hits, count, strict=True)])
    assert corp_decomposition(y_true, y_prob).recalibrated.tolist() == wanted


def test_between_blocks_the_curve_is_straight():
    parts = corp_decomposition([0, 1], [0.2, 0.6])
    assert np.allclose(parts.recalibrate([0, 0.2, 0.3, 0.6, 1]), [0, 0, 0.25, 1, 1])


# --- extremes -----------------------------------------------------------------------------------


def test_log_loss_of_blocks_that_agree_costs_nothing():
    parts = corp_decomposition([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], score="log")
    assert parts.recalibrated.tolist() == [0, 1]
    assert parts.discrimination == parts.uncertainty == pytest.approx(math.log(2))
    assert parts.miscalibration == parts.score


def test_stated_certainty_that_was_right_costs_nothing():
    parts = corp_decomposition([0, 1, 1], [0, 1, 1], score="log")
    assert (parts.score, parts.miscalibration) == (0, 0)


def test_stated_certainty_that_was_wrong_is_infinite_and_said_so():
    parts = corp_decomposition([1, 0, 1, 0], [0, 0, 1, 0.5], score="log")
    assert parts.score == parts.miscalibration == math.inf
    assert math.isfinite(parts.discrimination)
    assert "inf miscalibration" in parts.describe()
    with pytest.raises(ValueError, match="no null level"):
        null_level(miscalibration, [1, 0, 1, 0], [0, 0, 1, 0.5], n_draws=5, score="log")


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("score", SCORES)
def test_one_class_only(label, score):
    parts = corp_decomposition([label] * 3, [0.2, 0.5, 0.7], score=score)
    assert parts.uncertainty == parts.discrimination == 0
    assert parts.miscalibration == parts.score and parts.n_blocks == 1


def test_predictions_far_closer_than_rounding_stay_apart():
    y_prob = [0.5, np.nextafter(0.5, 1)]
    assert corp_decomposition([0, 1], y_prob).n_blocks == 2
    assert corp_decomposition([1, 0], y_prob).n_blocks == 1


# --- views and words ----------------------------------------------------------------------------


# --- miscalibration -----------------------------------------------------------------------------


@pytest.mark.parametrize("score", SCORES)
def test_miscalibration_is_the_part(score):
    y_true, y_prob = with_ties(300, 2, None)
    measure = miscalibration(y_true, y_prob, score=score)
    parts = corp_decomposition(y_true, y_prob, score=score)
    assert float(measure) == parts.miscalibration
    assert parts.scoring in measure.name and measure.n == 300
    assert measure.describe().startswith("CORP miscalibration")
