"""A change of prevalence: known, estimated, and what must stay as it is."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, special
from sklearn.metrics import roc_auc_score

from calibkit.calibrators import estimate_prevalence, shift_prior
from calibkit_course.lesson09.gaussian import GaussianDiscriminant

shares = st.floats(0.001, 0.999)
vectors = st.lists(st.floats(0, 1), min_size=1, max_size=30)


# --- known prevalences -------------------------------------------------------------------------


@given(p=st.floats(1e-6, 1 - 1e-6), train=shares, test=shares)
def test_logits_move_by_one_constant(p: float, train: float, test: float) -> None:
    moved = shift_prior([p], train_prevalence=train, test_prevalence=test)
    want = special.logit(p) + special.logit(test) - special.logit(train)
    assert moved[0] == pytest.approx(special.expit(want), rel=1e-9)


@given(p=vectors, train=shares, test=shares)
def test_there_and_back_again(p: list[float], train: float, test: float) -> None:
    there = shift_prior(p, train_prevalence=train, test_prevalence=test)
    back = shift_prior(there, train_prevalence=test, test_prevalence=train)
    assert np.all((there >= 0) & (there <= 1))
    assert back == pytest.approx(np.array(p), abs=1e-9)


@pytest.mark.parametrize(("train", "test"), [(0.5, 0.4), (0.5, 0.01), (0.01, 0.02), (0.02, 0.9)])
def test_the_true_map_of_a_gaussian_model(train: float, test: float) -> None:
    model = GaussianDiscriminant(train, deployed=test)
    p = np.linspace(0, 1, 101)
    moved = shift_prior(p, train_prevalence=train, test_prevalence=test)
    assert moved == pytest.approx(model.true_map(p), abs=1e-13)


def test_the_ranking_stays_and_the_mean_becomes_the_prevalence() -> None:
    sample = GaussianDiscriminant(0.5, deployed=0.05, scale=0.6).sample(40_000, rng=1)
    moved = shift_prior(sample.y_prob, train_prevalence=0.5, test_prevalence=0.05)
    before = roc_auc_score(sample.y_true, sample.y_prob)
    assert roc_auc_score(sample.y_true, moved) == pytest.approx(before, abs=1e-12)
    # The standard error of either mean is about .001.
    assert moved.mean() == pytest.approx(sample.y_true.mean(), abs=0.004)
    assert abs(sample.y_prob.mean() - sample.y_true.mean()) > 0.1


def test_certain_predictions_stay_certain() -> None:
    moved = shift_prior([0.0, 1.0], train_prevalence=0.5, test_prevalence=1e-9)
    assert moved.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("p", "options", "words"),
    [
        ([0.2, 1.2], {}, r"y_prob\[1\] = 1.2"),
        ([0.2, np.nan], {}, r"y_prob\[1\] = nan"),
        ([], {}, "empty"),
        ([[0.5, 0.5]], {}, "one-dimensional"),
        ([0.2], {"train_prevalence": 0.0}, "train_prevalence must be strictly between 0 and 1"),
        ([0.2], {"test_prevalence": 1}, "test_prevalence must be strictly between 0 and 1"),
        ([0.2], {"test_prevalence": "rare"}, "test_prevalence must be strictly"),
    ],
)
def test_bad_input_is_named(p: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        shift_prior(p, **({"train_prevalence": 0.5, "test_prevalence": 0.1} | options))


# --- unknown prevalence ------------------------------------------------------------------------


def log_likelihood(share: float, p: Any, train: float) -> float:
    """Return the likelihood of a prevalence, straight from its definition."""
    ratio = share * p / train + (1 - share) * (1 - p) / (1 - train)
    return float(np.log(ratio).sum())


@pytest.mark.parametrize(
    ("train", "test", "scale"), [(0.5, 0.2, 0.5), (0.5, 0.01, 0.5), (0.1, 0.6, 1.0), (0.3, 0.3, 2)]
)
def test_the_estimate_is_the_summit_of_the_likelihood(train, test, scale) -> None:
    sample = GaussianDiscriminant(train, deployed=test, scale=scale).sample(1500, rng=2)
    estimate = estimate_prevalence(sample.y_prob, train_prevalence=train)
    found = optimize.minimize_scalar(
        lambda share: -log_likelihood(share, sample.y_prob, train),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert estimate.value == pytest.approx(found.x, abs=1e-6)
    assert abs(estimate.value - sample.y_true.mean()) < 4 * estimate.standard_error


def test_em_climbs_to_the_estimate_and_stays_there() -> None:
    sample = GaussianDiscriminant(0.5, deployed=0.1, scale=0.5).sample(2000, rng=3)
    estimate = estimate_prevalence(sample.y_prob, train_prevalence=0.5, em_steps=300)
    heights = [log_likelihood(s, sample.y_prob, 0.5) for s in estimate.path[:40]]
    assert np.all(np.diff(heights) >= -1e-9)
    assert estimate.path[-1] == pytest.approx(estimate.value, abs=1e-12)
    assert len(estimate.path) == 301 and estimate.path[0] == 0.5
    moved = shift_prior(sample.y_prob, train_prevalence=0.5, test_prevalence=estimate.value)
    assert moved.mean() == pytest.approx(estimate.value, abs=1e-12)


def test_em_creeps_where_the_event_is_rare_and_classes_overlap() -> None:
    sample = GaussianDiscriminant(0.01, deployed=0.02).sample(6000, rng=0)
    estimate = estimate_prevalence(sample.y_prob, train_prevalence=0.01, em_steps=4000)
    assert abs(estimate.path[100] - estimate.value) > 0.01
    assert abs(estimate.path[-1] - estimate.value) < 1e-4


@pytest.mark.slow
def test_estimates_scatter_as_the_standard_error_says() -> None:
    model, rng = GaussianDiscriminant(0.5, deployed=0.2, scale=0.7), np.random.default_rng(4)
    found = [
        estimate_prevalence(model.sample(400, rng).y_prob, train_prevalence=0.5, em_steps=0)
        for _ in range(400)
    ]
    values = np.array([estimate.value for estimate in found])
    said = np.mean([estimate.standard_error for estimate in found])
    assert values.std() == pytest.approx(said, rel=0.12)
    assert values.mean() == pytest.approx(0.2, abs=4 * said / 20)


@pytest.mark.parametrize(("p", "want"), [([0.1, 0.2, 0.2], 0.0), ([0.7, 0.9], 1.0)])
def test_estimates_at_the_ends_have_no_standard_error(p: list[float], want: float) -> None:
    estimate = estimate_prevalence(p, train_prevalence=0.5)
    assert estimate.value == want and np.isnan(estimate.standard_error)
    assert "±" not in estimate.describe()


@given(p=vectors, train=shares)
@settings(max_examples=60)
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
