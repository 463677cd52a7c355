"""Binary fakes: a straight line between logits; the shapes of the study against their source."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import expit, logit

from calibkit.fakes import InfeasibleTarget, LogitDistortion, SyntheticShape
from calibkit.fakes.binary import SHAPES
from tests.helpers import GOLDEN, golden, refuses, refuses_options

# --- a straight line between logits --------------------------------------------------------------

DIALS: list[dict[str, Any]] = [
    {},
    {"slope": 0.5},
    {"slope": 50},
    {"slope": 0, "shift": 1.0},
    {"slope": 1, "shift": -0.7},
    {"slope": 0.5, "shift": -1, "scores": (2, 5)},
    {"slope": 3, "scores": (200, 2)},
    {"slope": 0.5, "scores": (0.05, 0.05)},
]
each_dial = pytest.mark.parametrize("dials", DIALS, ids=str)


@each_dial
def test_the_true_map_is_its_formula_and_stays_a_probability_at_the_ends(dials) -> None:
    fake, prob = LogitDistortion(**dials), np.linspace(0.001, 0.999, 99)
    expected = expit(fake.slope * logit(prob) + fake.shift)
    assert fake.true_map(prob) == pytest.approx(expected, abs=1e-14)
    ends = fake.true_map([0.0, 1.0]).tolist()
    assert ends == ([0, 1] if fake.slope else [expit(fake.shift)] * 2)


def test_calibrated_means_equal_to_the_last_digit() -> None:
    prob = np.random.default_rng(0).random(1000)
    true = LogitDistortion().true_map(prob)
    assert np.array_equal(true, prob) and not np.shares_memory(true, prob)


def test_predictions_follow_the_beta_distribution() -> None:
    sample = LogitDistortion(scores=(2, 5)).sample(5000, rng=0)
    assert stats.kstest(sample.y_prob, stats.beta(2, 5).cdf).pvalue > 1e-3


@each_dial
def test_labels_follow_the_true_probabilities(dials: dict[str, Any]) -> None:
    """In each tenth of the predictions, four standard errors."""
    sample = LogitDistortion(**dials).sample(40_000, rng=2)
    for rows in np.array_split(np.argsort(sample.y_prob), 10):
        true = sample.true_prob[rows]
        allowed = 4 * np.sqrt((true * (1 - true)).sum()) + 1e-9
        assert abs(sample.y_true[rows].sum() - true.sum()) <= allowed


def test_dials_change_labels_but_not_predictions() -> None:
    """The same seed asks both forecasters about the same days."""
    one, two = LogitDistortion().sample(500, 3), LogitDistortion(slope=0.2).sample(500, 3)
    assert np.array_equal(one.y_prob, two.y_prob)
    assert not np.array_equal(one.y_true, two.y_true)


NO_SCORES = (0, 1), (1, 2, 3), 1.0, "ab", (1, np.inf), None
test_bad_dials = refuses_options(
    LogitDistortion,
    *(({"slope": bad}, "slope must be a finite number of") for bad in (-0.1, np.nan, "1")),
    *(({"shift": bad}, "shift must be a finite number, got") for bad in (np.nan, -np.inf, None)),
    *(({"scores": bad}, r"scores(\[\d\])? must be (two|a) positive") for bad in NO_SCORES),
)


# --- the five shapes -----------------------------------------------------------------------------

WEIGHTS = golden("shape_weights.json")
DATA = {
    "square005_n200": (SyntheticShape.with_error("square", 0.05), 200, 0),
    "beta1010_n1000": (SyntheticShape.with_error("beta1", 0.1), 1_000, 1),
    "stairsfull_n1000_ties": (SyntheticShape("stairs"), 1_000, 3),
    "fig1_beta2full_n3000_seed1": (SyntheticShape("beta2"), 3_000, 1),
}


@pytest.mark.parametrize(
    ("name", "error", "weight"),
    [(name, float(error), w) for name in SHAPES for error, w in WEIGHTS[name].items()],
)
def test_golden_weights_of_all_derivates(name: str, error: float, weight: float) -> None:
    shape = SyntheticShape.with_error(name, error)
    assert shape.weight == pytest.approx(weight, abs=1e-9)
    assert shape.true_error() == pytest.approx(error, abs=6e-7)  # six digits, as the source
    exact = SyntheticShape.with_error(name, error, exact=True)
    assert exact.true_error() == pytest.approx(error, abs=1e-14)


@pytest.mark.parametrize("name", DATA)
def test_golden_data(name: str) -> None:
    """Labels, truths and predictions are those of the source's code, bit for bit."""
    shape, n, seed = DATA[name]
    columns = np.loadtxt(GOLDEN / f"shape_data_{name}.csv", delimiter=",", skiprows=1)
    sample = shape.sample(n, seed)
    np.testing.assert_array_equal(sample.true_prob, columns[:, 2])
    np.testing.assert_array_equal(sample.y_true, columns[:, 1])
    # Other processors may round a logarithm or a sine differently.
    np.testing.assert_allclose(sample.y_prob, columns[:, 0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_the_same_seed_gives_the_same_labels_for_every_shape(name: str, weight: float) -> None:
    wanted = SyntheticShape("square", 0).sample(500, seed=4)
    np.testing.assert_array_equal(wanted.y_prob, wanted.true_prob)
    sample = SyntheticShape(name, weight).sample(500, seed=4)
    np.testing.assert_array_equal(sample.y_true, wanted.y_true)
    np.testing.assert_array_equal(sample.true_prob, wanted.true_prob)


@pytest.mark.slow
@given(st.sampled_from(SHAPES), st.floats(0, 1), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_shapes_are_increasing_and_invertible(name: str, weight: float, points: list) -> None:
    shape = SyntheticShape(name, weight)
    c = np.sort(np.array([0.0, *points, 1.0]))
    p = shape.predict(c)
    assert p[0] == 0 and p[-1] == 1 and np.all((p >= 0) & (p <= 1))
    assert np.all(np.diff(p) >= -1e-15)
    # The map is exact in p; in c as far as the slope of the shape allows.
    np.testing.assert_allclose(shape.predict(shape.true_map(p)), p, rtol=0, atol=1e-15)
    np.testing.assert_allclose(shape.true_map(shape.predict(p)), p, rtol=0, atol=0.03)


@pytest.mark.parametrize("name", SHAPES)
def test_true_map_inverts_derivates_to_rounding(name: str) -> None:
    shape = SyntheticShape.with_error(name, 0.05)
    c = np.linspace(0, 1, 3_001)
    np.testing.assert_allclose(shape.true_map(shape.predict(c)), c, rtol=0, atol=1e-14)
    assert shape.true_map(0.5).shape == () and shape.true_map(c[:6].reshape(2, 3)).shape == (2, 3)


def test_the_steps_of_the_stairs() -> None:
    """Where truths collide after rounding the map gives the middle of those truths."""
    stairs = SyntheticShape("stairs")
    c = np.linspace(1 / 3 - 0.02, 1 / 3 + 0.02, 20_001)
    tied = c[stairs.predict(c) == stairs.predict(1 / 3)]
    assert np.ptp(tied) > 0.005  # not one point: truths that no prediction can tell apart
    middle = float(stairs.true_map(stairs.predict(1 / 3)))
    assert middle == pytest.approx((tied[0] + tied[-1]) / 2, abs=1e-5)
    c = np.linspace(0.98, 1, 20_001)
    top = c[stairs.predict(c) == 1]
    assert float(stairs.true_map(1.0)) == pytest.approx((top[0] + 1) / 2, abs=1e-5)
    assert stairs.true_map(np.array([0, 2 / 3])) == pytest.approx([0, 2 / 3])


test_bad_shapes = refuses(
    (lambda: SyntheticShape("cube"), 'name must be "square", "sqrt"'),
    (lambda: SyntheticShape("square", 1.1), "weight must be .* from 0 to 1, got 1.1"),
    (lambda: SyntheticShape("square").true_map(1.1), r"prob must lie in \[0, 1\]"),
    (lambda: SyntheticShape("square").sample(5, None), "seed must be"),
    (lambda: SyntheticShape("square").sample(5, 2**32 - 1), "at most 4294967295"),
    (lambda: SyntheticShape.with_error("square", float("nan")), "error must be a number"),
)


@pytest.mark.parametrize("error", [0.17, -0.01, float("inf")])
def test_impossible_derivates(error: float) -> None:
    with pytest.raises(InfeasibleTarget, match="from 0 to 0.166667"):
        SyntheticShape.with_error("square", error)
