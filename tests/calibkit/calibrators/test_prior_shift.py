"""A change of prevalence: known, estimated, and what must stay as it is."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize, special

from calibkit.calibrators import estimate_prevalence, shift_prior
from tests.helpers import refuses_options

shares = st.floats(0.001, 0.999)
vectors = st.lists(st.floats(0, 1), min_size=1, max_size=30)


# --- known prevalences -------------------------------------------------------------------------


@given(p=st.floats(1e-6, 1 - 1e-6), train=shares, test=shares)
def test_logits_move_by_one_constant(p: float, train: float, test: float) -> None:
    moved = shift_prior([p], train_prevalence=train, test_prevalence=test)
    want = special.logit(p) + special.logit(test) - special.logit(train)
    assert moved[0] == pytest.approx(special.expit(want), rel=1e-9)


def drawn(train: float, test: float, distance: float, n: int, seed: Any) -> tuple[Any, Any]:
    """Draw rows of two normal classes at prevalence `test`, and what Bayes says at `train`."""
    rng = np.random.default_rng(seed)
    label = (rng.random(n) < test).astype(int)
    x = rng.normal(distance * label, 1)
    return label, special.expit(special.logit(train) + distance * (x - distance / 2))


def test_certain_predictions_stay_certain() -> None:
    moved = shift_prior([0.0, 1.0], train_prevalence=0.5, test_prevalence=1e-9)
    assert moved.tolist() == [0.0, 1.0]


def at_half(p: Any = (0.2,), train_prevalence: Any = 0.5, test_prevalence: Any = 0.1) -> Any:
    return shift_prior(p, train_prevalence=train_prevalence, test_prevalence=test_prevalence)


test_bad_input_is_named = refuses_options(
    at_half,
    ({"p": [0.2, 1.2]}, r"y_prob\[1\] = 1.2"),
    ({"p": [0.2, np.nan]}, r"y_prob\[1\] = nan"),
    ({"p": []}, "empty"),
    ({"p": [[0.5, 0.5]]}, "one-dimensional"),
    ({"train_prevalence": 0.0}, "train_prevalence must be strictly between 0 and 1"),
    ({"test_prevalence": 1}, "test_prevalence must be strictly between 0 and 1"),
    ({"test_prevalence": "rare"}, "test_prevalence must be strictly"),
)


# --- unknown prevalence ------------------------------------------------------------------------


def log_likelihood(share: float, p: Any, train: float) -> float:
    """Return the likelihood of a prevalence, straight from its definition."""
    ratio = share * p / train + (1 - share) * (1 - p) / (1 - train)
    return float(np.log(ratio).sum())


@pytest.mark.parametrize(
    ("train", "test", "distance"), [(0.5, 0.2, 2), (0.5, 0.01, 2), (0.1, 0.6, 1), (0.3, 0.3, 0.5)]
)
def test_the_estimate_is_the_summit_of_the_likelihood(train, test, distance) -> None:
    label, prob = drawn(train, test, distance, 1500, 2)
    estimate = estimate_prevalence(prob, train_prevalence=train, em_steps=0)
    found = optimize.minimize_scalar(
        lambda share: -log_likelihood(share, prob, train),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert estimate.value == pytest.approx(found.x, abs=1e-6)
    assert abs(estimate.value - label.mean()) < 4 * estimate.standard_error
    beside = estimate.value + np.array([-1e-4, 0, 1e-4])
    curvature = np.diff([log_likelihood(share, prob, train) for share in beside], 2)[0] / 1e-8
    assert estimate.standard_error == pytest.approx((-curvature) ** -0.5, rel=1e-3)


def test_em_climbs_to_the_estimate_and_stays_there() -> None:
    _, prob = drawn(0.5, 0.1, 2, 2000, 3)
    estimate = estimate_prevalence(prob, train_prevalence=0.5, em_steps=300)
    heights = [log_likelihood(s, prob, 0.5) for s in estimate.path[:40]]
    assert np.all(np.diff(heights) >= -1e-9)
    assert estimate.path[-1] == pytest.approx(estimate.value, abs=1e-12)
    assert len(estimate.path) == 301 and estimate.path[0] == 0.5
    moved = shift_prior(prob, train_prevalence=0.5, test_prevalence=estimate.value)
    assert moved.mean() == pytest.approx(estimate.value, abs=1e-12)


@pytest.mark.parametrize(("p", "want"), [([0.1, 0.2, 0.2], 0.0), ([0.7, 0.9], 1.0)])
def test_estimates_at_the_ends_have_no_standard_error(p: list[float], want: float) -> None:
    estimate = estimate_prevalence(p, train_prevalence=0.5)
    assert estimate.value == want and np.isnan(estimate.standard_error)
    assert "±" not in estimate.describe()


@given(p=vectors, train=shares)
def test_estimates_are_probabilities_and_rows_have_no_order(p: list[float], train: float) -> None:
    if np.ptp([*p, train]) < 1e-9:
        return
    forward = estimate_prevalence(p, train_prevalence=train, em_steps=5)
    backward = estimate_prevalence(p[::-1], train_prevalence=train, em_steps=5)
    assert 0 <= forward.value <= 1 and forward.value == backward.value
    assert np.array_equal(forward.path, backward.path)
    assert np.all((forward.path >= 0) & (forward.path <= 1 + 1e-12))


def test_the_base_rate_says_nothing_about_a_change() -> None:
    with pytest.raises(ValueError, match="cannot show a change"):
        estimate_prevalence([0.3, 0.3], train_prevalence=0.3)
    with pytest.raises(ValueError, match="em_steps"):
        estimate_prevalence([0.3, 0.4], train_prevalence=0.3, em_steps=-1)
