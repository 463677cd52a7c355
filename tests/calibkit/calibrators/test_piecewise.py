"""Piecewise-linear maps: derivatives, optimality, theorems, reference losses, bad input."""

import warnings
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.model_selection import KFold

from calibkit.calibrators import PiecewiseLinear
from calibkit.calibrators.folds import parsimonious
from calibkit.fakes import SyntheticShape
from tests.calibkit.families import HARD
from tests.helpers import refuses_options

SPACES = ("probability", "logit")
FORMS = tuple(product(SPACES, ("log-loss", "brier")))

# Training losses of the fits published with Kängsepp et al. (network, Adam), rerun on its data:
# shape "square" with error .05, n = 1000, seed 0. K = 1, 2, 3, 6.
REFERENCE = {
    ("probability", "log-loss"): (0.504694, 0.502802, 0.500504, 0.499080),
    ("probability", "brier"): (0.167398, 0.166326, 0.166380, 0.165552),
    ("logit", "log-loss"): (0.528668, 0.506070, 0.501151, 0.498362),
    ("logit", "brier"): (0.176720, 0.166589, 0.166223, 0.165641),
}


def shape_sample(name: str, error: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    sample = SyntheticShape.with_error(name, error).sample(n, seed)
    return sample.y_prob, sample.y_true


def mean_loss(loss: str, prob: np.ndarray, label: np.ndarray) -> float:
    if loss == "brier":
        return float(np.mean((prob - label) ** 2))
    with np.errstate(divide="ignore"):
        return float(-np.mean(np.where(label == 1, np.log(prob), np.log1p(-prob))))


# --- theorems -------------------------------------------------------------------------------


def test_one_piece_by_brier_score_is_a_regression_line() -> None:
    rng = np.random.default_rng(5)
    p = rng.random(400)
    y = (rng.random(400) < 0.2 + 0.6 * p).astype(int)
    model = PiecewiseLinear(n_pieces=1, loss="brier").fit(p, y)
    slope, intercept = np.polyfit(p, y, 1)
    np.testing.assert_allclose(model.calibrate([0, 1]), [intercept, slope + intercept], atol=1e-6)


# --- against the reference --------------------------------------------------------------------


@pytest.mark.parametrize(("space", "loss"), FORMS)
def test_training_loss_is_at_most_that_of_the_reference(space: str, loss: str) -> None:
    p, y = shape_sample("square", 0.05, 1000, 0)
    for k, reference in zip((1, 2, 3, 6), REFERENCE[space, loss], strict=True):
        model = PiecewiseLinear(space, k, loss=loss).fit(p, y)
        assert model.training_loss_ <= reference + 1e-6
        if not (space == "logit" and k == 1):  # where the reference did not converge
            assert model.training_loss_ >= reference - 0.006
        # That of the map itself: `calibrate` keeps off 0 and 1.
        found = mean_loss(loss, model.curve(p), y)
        assert found == pytest.approx(model.training_loss_, abs=1e-9)


def lowest_loss(p: np.ndarray, y: np.ndarray, k: int) -> float:
    """Return the lowest loss with knots on a grid: for given knots the heights are convex."""
    best = np.inf
    for inner in combinations(np.quantile(p, np.linspace(0.03, 0.97, 21)), k - 1):
        knots = np.concatenate(([0], inner, [1]))
        hats = np.column_stack([np.interp(p, knots, hat) for hat in np.eye(k + 1)])

        def loss(heights: np.ndarray, hats: np.ndarray = hats) -> tuple[float, np.ndarray]:
            g = hats @ heights
            return mean_loss("log-loss", g, y), hats.T @ ((g - y) / (g * (1 - g))) / len(y)

        bounds = [(1e-9, 1 - 1e-9)] * (k + 1)
        start = np.linspace(0.05, 0.95, k + 1)
        best = min(best, minimize(loss, start, jac=True, bounds=bounds).fun)
    return best


@pytest.mark.parametrize("k", [1, 2, 3])
def test_what_says_that_it_converged_is_at_the_lowest_loss(k: int) -> None:
    """In 3 of 15 fits an earlier form was 4.6e-4 above it, and said that it had converged."""
    converged = []
    for seed in range(5):
        p, y = shape_sample("square", 0.05, 400, seed)
        model = PiecewiseLinear(n_pieces=k).fit(p, y)
        converged.append(model.converged_)
        if model.converged_:
            assert model.training_loss_ <= lowest_loss(p, y, k) + 1e-4
    assert all(converged) or k > 1
    assert any(converged) or k > 2


# --- choosing the number of pieces -------------------------------------------------------------


@pytest.mark.slow
def test_scores_are_those_of_separate_fits() -> None:
    p, y = shape_sample("stairs", 0.1, 400, 0)
    cv = KFold(5, shuffle=True, random_state=2)
    model = PiecewiseLinear(cv=cv, max_pieces=3).fit(p, y)
    for k, score in zip(model.candidates_, model.scores_, strict=True):
        errors = []
        for train, test in cv.split(p):  # the sample is sorted
            one = PiecewiseLinear(n_pieces=int(k)).fit(p[train], y[train])
            errors.append(np.mean((one.calibrate(p[test]) - y[test]) ** 2))
        # Several pieces have many nearly equal optima; one piece has one.
        assert score == pytest.approx(np.mean(errors), abs=1e-6 if k == 1 else 3e-3)


@pytest.mark.long
def test_the_rule_prefers_few_pieces() -> None:
    p, y = shape_sample("stairs", 0.1, 3000, 0)
    best = PiecewiseLinear(tolerance=0).fit(p, y)
    frugal = PiecewiseLinear(tolerance=0.01).fit(p, y)
    assert best.n_pieces_ == best.best_n_pieces_ == frugal.best_n_pieces_
    assert PiecewiseLinear().tolerance == 0.001
    assert best.scores_.min() == best.scores_[best.n_pieces_ - 1]
    assert frugal.n_pieces_ == parsimonious(frugal.scores_, 0.01) + 1
    assert frugal.n_pieces_ < best.n_pieces_
    assert best.candidates_.tolist() == list(range(1, 17))
    for n, most in ((199, 0), (399, 2), (400, 3)):  # one more for each 200 rows
        assert PiecewiseLinear(cv=2).fit(p[:n], y[:n]).candidates_.tolist() == [*range(1, most + 1)]


def test_the_ensemble_is_the_mean_of_its_members() -> None:
    p, y = shape_sample("beta2", 0.05, 1000, 0)
    model = PiecewiseLinear(n_pieces=3, outcome="fold-ensemble", cv=4).fit(p, y)
    at = np.linspace(0, 1, 33)
    members = [np.interp(at, knots, heights) for knots, heights in model.members_]
    assert len(members) == 4 * 3  # folds times starts
    one = PiecewiseLinear(n_pieces=1, outcome="fold-ensemble", cv=4).fit(p, y)
    assert len(one.members_) == 4
    np.testing.assert_allclose(model.calibrate(at), np.mean(members, axis=0), atol=1e-15)
    assert len(PiecewiseLinear(max_pieces=2, cv=3).fit(p[::4], y[::4]).members_) == 1  # a refit
    refit = PiecewiseLinear(n_pieces=3).fit(p, y)
    np.testing.assert_array_equal(refit.knots_, model.knots_)
    assert np.abs(refit.calibrate(at) - model.calibrate(at)).max() > 1e-6


@pytest.mark.long
@pytest.mark.parametrize("space", SPACES)
def test_the_map_comes_close_to_the_truth(space: str) -> None:
    """Mean distance on a few seeds: about that of the paper's fits (Kängsepp et al., table 24)."""
    paper = {
        "probability": {"beta1": 16.87, "stairs": 17.89},
        "logit": {"beta1": 14.76, "stairs": 18.72},
    }
    c = (np.arange(5000) + 0.5) / 5000
    for name, limit in paper[space].items():
        shape = SyntheticShape.with_error(name, 0.05)
        errors = []
        for n, seed in ((1000, 0), (1000, 1), (3000, 2)):
            sample = shape.sample(n, seed)
            model = PiecewiseLinear(space, outcome="fold-ensemble", tolerance=0)
            model.fit(sample.y_prob, sample.y_true)
            errors.append(np.mean(np.abs(model.calibrate(shape.predict(c)) - c)))
        assert 1000 * np.mean(errors) < 1.6 * limit


# --- options --------------------------------------------------------------------------------


def test_outer_pieces_go_on_in_logit_space() -> None:
    p, y = shape_sample("square", 0.05, 800, 0)
    inside = (p > 0.2) & (p < 0.8)
    model = PiecewiseLinear("logit", 2).fit(p[inside], y[inside])
    z = logit(np.array([0.9, 0.95, 0.99]))
    value = logit(model.calibrate(expit(z)))
    slopes = np.diff(value) / np.diff(z)
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-6)


test_options_are_checked = refuses_options(
    lambda **options: PiecewiseLinear(**options).fit(np.linspace(0.1, 0.9, 30), [0, 1] * 15),
    ({"n_pieces": 0}, "n_pieces must be a whole number"),
    ({"n_pieces": 20}, "20 pieces have 40 parameters, but there are only 30"),
    ({"max_pieces": 2, "cv": 1}, "cv must be a whole number of at least 2"),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("k", [1, 3])
def test_hard_data_give_maps_no_worse_than_the_base_rate(case: str, space: str, k: int) -> None:
    y, p = map(np.asarray, HARD[case])
    if len(p) < 2 * k:
        pytest.skip("too few predictions: an error, tested elsewhere")
    for loss in ("log-loss", "brier"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = PiecewiseLinear(space, k, loss=loss).fit(p, y)
        # The map itself: `calibrate` keeps off 0 and 1.
        found, base = (
            mean_loss(loss, np.clip(q, 1e-12, 1 - 1e-12), y)
            for q in (model.curve(p), np.full(len(y), y.mean()))
        )
        assert found <= base + 2e-6
        if case.startswith("constant") and 0 < y.mean() < 1:
            assert model.curve([p[0]]) == pytest.approx(y.mean(), abs=1e-5)
