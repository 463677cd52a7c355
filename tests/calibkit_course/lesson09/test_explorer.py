"""The prevalence dial: its arithmetic against the package, its repairs and its words."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from sklearn.linear_model import LogisticRegression

import calibkit as ck
from calibkit import hypothesis_tests
from calibkit_course import lesson09
from calibkit_course.lesson09.gaussian import GaussianDiscriminant
from tests.helpers import GOLDEN, refuses


def test_null_quantiles_are_those_of_the_package_for_redrawn_labels():
    view = lesson09.prevalence_dial_view(made_for=0.2, times=1, n=1000)
    prob = np.sort(GaussianDiscriminant(0.2).sample(1000, 0).y_prob)
    labels = np.random.default_rng(0).random((100, 1000)) < prob
    tested = hypothesis_tests.test_based_calibration_error(
        labels[0], prob, n_draws=60, rng=0
    ).null_values  # which do not depend on the labels given
    assert view.null_high[2] == pytest.approx(np.quantile(tested, 0.95), abs=1e-12)
    for place, bins in enumerate((ck.EqualWidth(10), ck.EqualMass(10))):
        null = [ck.expected_calibration_error(row, prob, bins=bins).value for row in labels]
        assert view.null_low[place] == pytest.approx(np.quantile(null, 0.05), abs=1e-12)
        assert view.null_high[place] == pytest.approx(np.quantile(null, 0.95), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("made_for", "used_at"), [(0.5, 0.25), (0.01, 0.1), (0.05, 0.05)])
def test_the_known_prevalence_repairs_everything(made_for, used_at):
    times = used_at / made_for
    view = lesson09.prevalence_dial_view(made_for=made_for, times=times, repair="known")
    same = lesson09.prevalence_dial_view(made_for=used_at, times=1)
    assert view.moved_to == used_at
    assert view.values == pytest.approx(same.values, abs=1e-9)
    p = np.linspace(0, 1, 11)
    assert np.array_equal(view.true_map(p), p)


@pytest.mark.slow
def test_an_estimate_of_zero_counts_as_half_an_event():
    views = (
        lesson09.prevalence_dial_view(times=0.5, n=1000, repair="estimated", seed=seed)
        for seed in range(20)
    )
    assert min(view.moved_to for view in views) == 0.5 / 1000


@pytest.mark.slow
def test_the_auc_is_that_of_the_ranking():
    view = lesson09.prevalence_dial_view(made_for=0.5, times=1, signal=1.0, n=20_000)
    s = GaussianDiscriminant(0.5, scale=1).sample(20_000, 0)
    high, low = s.y_prob[s.y_true == 1], s.y_prob[s.y_true == 0]
    u = stats.mannwhitneyu(high, low).statistic / len(high) / len(low)
    assert view.auc == pytest.approx(u, abs=0.015)


# --- the data ------------------------------------------------------------------------------------


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
