"""Platt, beta and isotonic maps: golden values, other programs, theorems."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit, xlog1py, xlogy
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import calibkit as ck
from calibkit.calibrators import (
    BetaCalibrator,
    IsotonicCalibrator,
    PiecewiseLinear,
    PlattCalibrator,
    TemperatureScaling,
)
from calibkit.hypothesis_tests import cox_test
from calibkit.scores import corp_decomposition
from calibkit_audit.clinic import calibration_slope
from tests.helpers import binary_data, golden_data, rows_with

LABELS, PROB = golden_data("binary")
GRID = np.linspace(0.001, 0.999, 41)


def boundary_data() -> tuple[np.ndarray, np.ndarray]:
    """Return data whose free beta fit has a < 0."""
    packed = bytes.fromhex(BOUNDARY)
    return np.unpackbits(np.frombuffer(packed, np.uint8))[:400].astype(int), (
        0.02 + 0.96 * np.random.default_rng(1).random(400)
    )


BOUNDARY = (
    "125711ad17d06bb684873b2046ad50210e200c2be5e1202447"
    "cd00e7526f33169132da0c6264ec1cb301e490146c86660448"
)


def log_loss(y: np.ndarray, prob: np.ndarray) -> float:
    return -float((xlogy(y, prob) + xlog1py(1 - y, -prob)).mean())


def beta_values(model: BetaCalibrator) -> tuple[float, float, float]:
    return model.a_, model.b_, model.intercept_


# --- golden -------------------------------------------------------------------------------------
# Maximum likelihood to 1e-10 by a general optimiser, on the 600 rows of `binary.csv`.


def test_beta():
    model = BetaCalibrator().fit(PROB, LABELS)
    want = 1.4889416031791263, 0.592179657130846, 0.860373030679806
    assert beta_values(model) == pytest.approx(want, abs=1e-7)
    loss = log_loss(LABELS, model.calibrate(PROB))
    assert loss == pytest.approx(0.4954230319840571, abs=1e-12)
    assert model.n_parameters_ == 3


@pytest.mark.parametrize(
    ("smoothing", "slope", "intercept"),
    [
        (False, 0.9663887808393119, 0.12204863259978088),
        (True, 0.9530098182244294, 0.12499656005446674),
    ],
)
def test_platt(smoothing, slope, intercept):
    model = PlattCalibrator(smoothing).fit(PROB, LABELS)
    assert model.slope_ == pytest.approx(slope, abs=1e-9)
    assert model.intercept_ == pytest.approx(intercept, abs=1e-9)


def test_betacal_on_the_boundary():
    # The same program's coefficients are off by its optimiser, so the maps agree to 1e-5.
    model = BetaCalibrator().fit(*boundary_data()[::-1])
    assert model.a_ == 0 and model.b_ == pytest.approx(0.62429175045804, abs=1e-7)
    assert model.intercept_ == pytest.approx(-0.9473663593681204, abs=1e-7)
    betacal = [0.27954098, 0.31705216, 0.37410584, 0.47921994, 0.96659413]
    assert model.calibrate(GRID[::10]) == pytest.approx(betacal, abs=1e-5)
    y, p = boundary_data()
    mirror = BetaCalibrator().fit(1 - p, 1 - y)
    assert mirror.b_ == 0 and mirror.a_ == pytest.approx(0.624291750458, abs=1e-7)


def test_isotonic():
    model = IsotonicCalibrator().fit(PROB, LABELS)
    assert len(model.height_) == 17
    fit = model.calibrate(PROB)
    assert log_loss(LABELS, fit) == pytest.approx(0.47376328917186716, abs=1e-12)
    assert ((fit - LABELS) ** 2).mean() == pytest.approx(0.1568821306288211, abs=1e-12)


# --- other programs -----------------------------------------------------------------------------


@pytest.mark.parametrize("weigh", [False, True])
def test_platt_is_logistic_regression(weigh):
    y, p = binary_data(500)
    weight = 3 * np.random.default_rng(3).random(500) if weigh else None
    theirs = LogisticRegression(C=np.inf, tol=1e-13, solver="newton-cholesky")
    theirs.fit(logit(p)[:, None], y, weight)
    ours = PlattCalibrator(smoothing=False).fit(p, y, sample_weight=weight)
    assert ours.slope_ == pytest.approx(theirs.coef_.item(), abs=1e-8)
    assert ours.intercept_ == pytest.approx(theirs.intercept_.item(), abs=1e-8)


def test_isotonic_regression_with_weights_is_scikit_learns():
    weight = np.random.default_rng(2).random(len(PROB))
    theirs = IsotonicRegression(out_of_bounds="clip").fit(PROB, LABELS, weight)
    ours = IsotonicCalibrator().fit(PROB, LABELS, sample_weight=weight)
    np.testing.assert_allclose(ours.calibrate(GRID), theirs.predict(GRID), rtol=0, atol=1e-12)


def test_platt_with_smoothing_is_scikit_learns_sigmoid():
    calibration = pytest.importorskip("sklearn.calibration")
    if not hasattr(calibration, "_SigmoidCalibration"):
        pytest.skip("this scikit-learn keeps its sigmoid elsewhere")
    theirs = calibration._SigmoidCalibration().fit(logit(PROB), LABELS)
    ours = PlattCalibrator().fit(PROB, LABELS)
    assert ours.calibrate(GRID) == pytest.approx(theirs.predict(logit(GRID)), abs=1e-6)


def test_labels_that_fall_give_a_constant():
    # betacal drops one slope and keeps the other negative: its map decreases.
    y, p = binary_data(500, 7)
    ours = BetaCalibrator().fit(p, 1 - y)
    assert beta_values(ours)[:2] == (0, 0)
    assert ours.calibrate(GRID) == pytest.approx((1 - y).mean(), abs=1e-12)


@pytest.mark.slow
@given(rows_with(st.integers(0, 20).map(lambda k: k / 20) | st.floats(0, 1), 60))
def test_isotonic_is_scikit_learns(table):
    y, p = table
    p = np.round(p, 6)  # scikit-learn pools predictions closer than 1e-15 or so
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p, y)
    ours = IsotonicCalibrator().fit(p, y)
    grid = np.union1d(np.linspace(0, 1, 201), p)
    assert ours.calibrate(grid) == pytest.approx(theirs.predict(grid), abs=1e-12)


@pytest.mark.parametrize("digits", [2, 17])
def test_isotonic_blocks_are_the_corp_curve(digits):
    y, p = binary_data(3000, 3)
    p = np.round(p, digits)
    model, corp = IsotonicCalibrator().fit(p, y), corp_decomposition(y, p)
    assert np.array_equal(model.low_, corp.low) and np.array_equal(model.high_, corp.high)
    assert np.array_equal(model.count_, corp.count)
    assert model.height_ == pytest.approx(corp.recalibrated, abs=1e-15)
    assert model.calibrate(GRID) == pytest.approx(corp.recalibrate(GRID), abs=1e-14)


def overlapping(data: tuple[np.ndarray, np.ndarray]) -> bool:
    y, p = data
    both = 0 < y.sum() < len(y)
    return both and p[y == 1].min() < p[y == 0].max() and p[y == 0].min() < p[y == 1].max()


tables = st.builds(
    binary_data, st.integers(20, 200), st.integers(0, 1000), st.sampled_from([0.1, 0.5, 1.0, 3.0])
).filter(overlapping)


# --- optimum ------------------------------------------------------------------------------------


@given(tables)
def test_the_gradient_of_platt_is_zero(data):
    y, p = data
    model = PlattCalibrator().fit(p, y)
    ones, zeros = y.sum(), (1 - y).sum()
    residual = model.calibrate(p) - np.where(y, (ones + 1) / (ones + 2), 1 / (zeros + 2))
    for feature in (np.ones_like(p), logit(p)):
        relative = abs(feature @ residual) / (np.abs(feature) @ np.abs(residual))
        assert relative <= 1e-10


@pytest.mark.slow
@given(tables, st.booleans())
def test_no_allowed_beta_map_is_better(data, flip):
    # A general optimiser with bounds, on data that lie inside and outside the constraints.
    y, p = data
    y = 1 - y if flip else y

    def loss(theta):
        a, b, c = theta
        z = a * np.log(p) - b * np.log1p(-p) + c
        return (np.logaddexp(0, z) - y * z).mean()

    bounds = [(0, None), (0, None), (None, None)]
    best = minimize(loss, [1.0, 1.0, 0.0], bounds=bounds, method="L-BFGS-B", tol=1e-13).fun
    model = BetaCalibrator().fit(p, y)
    assert min(model.a_, model.b_) >= 0
    assert log_loss(y, model.calibrate(p)) <= best + 1e-9


@given(tables, st.integers(0, 2**32 - 1))
def test_no_increasing_map_beats_isotonic_regression(data, seed):
    y, p = data
    best = IsotonicCalibrator().fit(p, y).calibrate(p)
    steps = np.sort(np.random.default_rng(seed).random(len(p)))
    near = 0.9 * best + 0.1 * steps[np.argsort(np.argsort(p))]
    for loss in (log_loss, lambda y, c: float(((c - y) ** 2).mean())):
        assert loss(y, best) <= loss(y, near) + 1e-12


# --- theorems -----------------------------------------------------------------------------------


def test_calibrating_twice_is_calibrating_once():
    y, p = binary_data(700, 2)
    once = PlattCalibrator(False).fit(p, y).calibrate(p)
    again = PlattCalibrator(False).fit(once, y)
    assert again.calibrate(once) == pytest.approx(once, abs=1e-10)
    iso = IsotonicCalibrator().fit(p, y).calibrate(p)
    assert IsotonicCalibrator().fit(iso, y).calibrate(iso) == pytest.approx(iso, abs=1e-15)


def test_the_other_event_has_the_mirrored_map():
    y, p = binary_data(400, 9)
    p = np.rint(p * 2**20) / 2**20  # so that 1 - p is exact
    model = BetaCalibrator().fit(p, y)
    mirror = BetaCalibrator().fit(1 - p, 1 - y)
    assert beta_values(mirror) == pytest.approx((model.b_, model.a_, -model.intercept_), 1e-9)


def test_one_logit_piece_is_platt_without_smoothing():
    y, p = binary_data(500)
    piece = PiecewiseLinear(space="logit", n_pieces=1).fit(p, y)
    platt = PlattCalibrator(smoothing=False).fit(p, y)
    assert piece.calibrate(p) == pytest.approx(platt.calibrate(p), abs=1e-5)
    assert log_loss(y, piece.calibrate(p)) == pytest.approx(
        log_loss(y, platt.calibrate(p)), abs=1e-9
    )


# The logarithm of a small probability is exact: lines, ranks and temperatures are kept.


RARE = np.repeat([0, 1], [3000, 100])
TINY = np.random.default_rng(0).normal(np.where(RARE, -38, -45), 5)


def test_the_line_is_that_of_the_logits_and_no_two_are_tied() -> None:
    prob, column = expit(TINY), TINY[:, None]
    line = LogisticRegression(C=np.inf, tol=1e-10).fit(column, RARE)
    platt = PlattCalibrator(smoothing=False).fit(prob, RARE)
    tested, slope = cox_test(RARE, prob), calibration_slope(RARE, prob)
    found = [platt.slope_, tested.slope, float(slope)]
    assert found == pytest.approx([float(line.coef_[0, 0])] * 3, abs=1e-4)
    assert np.isfinite(tested.statistic)
    for model in (platt, BetaCalibrator(), TemperatureScaling("probabilities")):
        fitted = model.fit(prob, RARE).calibrate(prob)
        assert (np.diff(fitted[np.argsort(prob)]) > 0).all(), model


def test_zero_is_no_larger_than_what_was_fitted_to() -> None:
    prob = np.concatenate([[0, 1e-30, 1e-20], PROB])
    model = PlattCalibrator().fit(prob, np.concatenate([[0, 0, 0], LABELS]))
    assert (np.diff(model.calibrate([0, 1e-40, 1e-30, 1e-20])) >= 0).all()
    assert model.calibrate([0]) == model.calibrate([1e-30]) < model.calibrate([1e-20])


def test_pulled_from_0_and_1_one_sure_row_does_not_turn_the_line() -> None:
    hits = [5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 99]
    label = np.concatenate([np.repeat([1, 0], [k, 100 - k]) for k in hits])
    prob = np.repeat([*np.arange(0.05, 1, 0.1), 1.0], 100)
    for y, p in ((label, prob), (1 - label, 1 - prob)):
        slopes = [PlattCalibrator(pull=pull).fit(p, y).slope_ for pull in (False, True)]
        assert slopes[0] < 0.85 and slopes[1] == pytest.approx(0.97, abs=0.04)


FOUR = np.array([0.1, 0.2, 0.6, 0.9])


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        *((PlattCalibrator(False), [0, 0, 1, 1]), (PlattCalibrator(False), [1, 1, 0, 0])),
        *((PlattCalibrator(False), [1, 1, 1, 1]), (PlattCalibrator(False), [0, 0, 0, 0])),
        *((PlattCalibrator(False), [0, 0, 0, 1]), (BetaCalibrator(), [0, 0, 1, 1])),
    ],
)
def test_without_a_finite_optimum_it_is_said_and_the_map_is_a_step(model, labels):
    with pytest.warns(ck.CalibrationWarning, match="no finite optimum"):
        model.fit(FOUR, labels)
    assert model.converged_ is False
    assert model.calibrate(FOUR) == pytest.approx(labels, abs=1e-8)


def test_a_tie_at_the_threshold_keeps_its_frequency():
    model = PlattCalibrator(smoothing=False)
    with pytest.warns(ck.CalibrationWarning, match="no finite optimum"):
        model.fit([0.1, 0.5, 0.5, 0.5, 0.9], [0, 0, 1, 1, 1])
    assert model.calibrate([0.1, 0.5, 0.9]) == pytest.approx([0, 2 / 3, 1], abs=1e-8)


def test_huge_logits_do_not_stop_newton():
    # A plain Newton method from the identity diverges on very confident predictions.
    rng = np.random.default_rng(3)
    p = expit(rng.normal(8, 4, 5000))
    y = rng.random(5000) < expit(0.4 * logit(np.clip(p, 1e-16, 1 - 1e-16)))
    model = PlattCalibrator(smoothing=False).fit(p, y)
    assert model.converged_ and model.n_iter_ < 20
    assert model.slope_ == pytest.approx(0.4, abs=0.03)


# --- few predictions ----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
def test_one_prediction_is_shifted_to_its_frequency(p):
    for model in (PlattCalibrator(False), BetaCalibrator()):
        model.fit([p] * 5, [0, 1, 0, 1, 0])
        assert model.calibrate([p]) == pytest.approx(0.4, abs=1e-12)
        assert model.n_parameters_ == 1


def test_two_predictions_meet_their_frequencies():
    p = [0.2] * 4 + [0.7] * 4
    y = [0, 0, 0, 1, 0, 0, 1, 1]
    model = BetaCalibrator().fit(p, y)
    assert model.calibrate([0.2, 0.7]) == pytest.approx([0.25, 0.5], abs=1e-12)
    assert model.a_ == model.b_
