"""Gaussian discriminant data: those of the source, Bayes' rule, exact errors, bad input."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.linear_model import LogisticRegression

from calibkit_course.lesson09.gaussian import GaussianDiscriminant
from tests.helpers import GOLDEN, refuses


@pytest.mark.parametrize(("key", "deployed"), [("50_50", 0.5), ("50_40", 0.4)])
def test_golden_gaussian_data(key: str, deployed: float) -> None:
    """Labels are the source's; a refitted model predicts the same up to its solver."""
    row = json.loads((GOLDEN / "gaussian_data.json").read_text(encoding="utf-8"))[key]
    before = str(np.random.get_state())  # noqa: NPY002
    x_train, y_train, x_test, y_test = GaussianDiscriminant(0.5, deployed).source_data()
    assert before == str(np.random.get_state())  # noqa: NPY002
    assert "".join(map(str, y_test.tolist())) == row["labels"]
    model = LogisticRegression(max_iter=1_000, random_state=0).fit(x_train[:, None], y_train)
    predicted = model.predict_proba(x_test[:, None])[:, 1]
    np.testing.assert_allclose(predicted[:100], row["first_predictions"], atol=1e-4)
    assert predicted.mean() == pytest.approx(row["mean_prediction"], abs=1e-4)


@given(*(st.floats(*ends) for ends in ((0.01, 0.99), (0.01, 0.99), (-3, 3), (0.1, 3), (0.3, 5))))
def test_gaussian_true_map_is_bayes(prior, deployed, first, step, scale) -> None:
    model = GaussianDiscriminant(prior, deployed, means=(first, first + step), scale=scale)
    x = np.linspace(first - 3 * scale, first + step + 3 * scale, 9)
    ones = deployed * np.exp(-((x - first - step) ** 2) / (2 * scale**2))
    zeros = (1 - deployed) * np.exp(-((x - first) ** 2) / (2 * scale**2))
    bayes = ones / (ones + zeros)
    np.testing.assert_allclose(model.true_map(model.predict(x)), bayes, atol=1e-9)


@pytest.mark.parametrize(
    ("prior", "deployed"), [(0.5, 0.4), (0.5, 0.6), (0.01, 0.02), (0.01, 0.0), (0.3, 1.0)]
)
def test_gaussian_error_is_the_shift_of_the_mean(prior: float, deployed: float) -> None:
    model = GaussianDiscriminant(prior, deployed)
    sample = model.sample(200_000, rng=0)
    gap = sample.y_prob - sample.true_prob
    assert np.all(gap >= 0) or np.all(gap <= 0)
    error = gap.std() / np.sqrt(200_000) + 1e-12
    assert abs(model.true_error() - np.abs(gap).mean()) < 4 * error
    noise = 4 * np.sqrt(0.25 / 200_000)
    assert abs(model.true_error() - abs(sample.y_prob.mean() - deployed)) < noise
    assert sample.y_true.mean() == pytest.approx(deployed, abs=noise)


def test_without_shift_the_gaussian_model_is_calibrated() -> None:
    model = GaussianDiscriminant(0.3)
    sample = model.sample(50, rng=1)
    np.testing.assert_array_equal(sample.y_prob, sample.true_prob)
    np.testing.assert_array_equal(model.predict(sample.feature), sample.y_prob)
    assert model.true_error() == 0 and model.describe().endswith("calibrated")
    shifted = GaussianDiscriminant(0.3, 0.6)
    assert "used at 0.6" in shifted.describe()
    assert shifted.true_map(0.0) == 0 and shifted.true_map(1.0) == 1
    assert GaussianDiscriminant(0.3, 0.0).true_map(1.0) == 0


def test_a_certain_feature_leaves_no_error() -> None:
    assert GaussianDiscriminant(0.5, 0.9, means=(-1, 1), scale=0.05).true_error() < 1e-12
    vague = GaussianDiscriminant(0.5, 0.9, means=(-1e-6, 1e-6), scale=1.0)
    assert vague.true_error() == pytest.approx(0.4, abs=1e-6)


test_bad_gaussians = refuses(
    (lambda: GaussianDiscriminant(0), "prevalence"),
    (lambda: GaussianDiscriminant(0.5, 1.1), "deployed"),
    (lambda: GaussianDiscriminant(means=(1, 1)), "means must differ"),
    (lambda: GaussianDiscriminant(means=(1, 2, 3)), "two finite numbers"),
    (lambda: GaussianDiscriminant(scale=0), "scale must be a positive"),
    (lambda: GaussianDiscriminant().sample(0), "n must be"),
    (lambda: GaussianDiscriminant().source_data(2**32), "at most"),
)
