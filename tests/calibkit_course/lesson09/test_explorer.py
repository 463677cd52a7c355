"""The prevalence dial: its arithmetic against the package, its repairs and its words."""

import numpy as np
import pytest
from scipy import stats

import calibkit as ck
from calibkit import hypothesis_tests
from calibkit_course import lesson09
from calibkit_course.lesson09.gaussian import GaussianDiscriminant


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
