"""Hosmer-Lemeshow, Spiegelhalter, Cox: exact moments, independent formulas, hand tables, sizes.

With nine predictions all 512 sets of labels can be listed, so that means and variances under the
hypothesis are exact numbers. Simulations are seeded.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats

from calibkit import EqualMass
from calibkit.hypothesis_tests import (
    TestResult,
    adaptive_test,
    cox_test,
    cumulative_differences,
    hosmer_lemeshow,
    spiegelhalter,
)
from tests.calibkit.families import HARD
from tests.helpers import binary_data, class_data

PROB = np.array([0.02, 0.1, 0.25, 0.4, 0.45, 0.6, 0.7, 0.85, 0.97])
LABELS = np.array(list(product([0, 1], repeat=len(PROB))))
CHANCE = np.prod(np.where(LABELS == 1, PROB, 1 - PROB), axis=1)

ALL: dict[str, Callable[..., Any]] = {
    "Hosmer-Lemeshow": hosmer_lemeshow,
    "Hosmer-Lemeshow, exact variance": lambda y, p, **o: hosmer_lemeshow(
        y, p, variance="predictions", **o
    ),
    "Spiegelhalter": spiegelhalter,
    "Cox": cox_test,
    "Cox, intercept": lambda y, p, **o: cox_test(y, p, part="intercept", **o),
    "Cox, slope": lambda y, p, **o: cox_test(y, p, part="slope", **o),
    "MAD": lambda y, p, **o: cumulative_differences(y, p, **o).mad_test,
    "range": lambda y, p, **o: cumulative_differences(y, p, **o).range_test,
    "adaptive": lambda y, p, **o: adaptive_test(y, p, **({"n_draws": 0} | o)),
}
each = pytest.mark.parametrize("name", ALL)


def exact_mean(function: Callable[[Any], float]) -> float:
    """Average over all labels, each with its probability."""
    return float(CHANCE @ np.array([function(labels) for labels in LABELS]))


# --- exact moments under the hypothesis ---------------------------------------------------------


@pytest.mark.parametrize("n_bins", [1, 3, 9])
def test_hosmer_lemeshow_has_the_mean_of_its_law(n_bins: int) -> None:
    found = exact_mean(
        lambda y: hosmer_lemeshow(y, PROB, bins=EqualMass(n_bins), variance="predictions").statistic
    )
    assert found == pytest.approx(n_bins, abs=1e-12)


Z_TESTS: dict[str, Callable[[Any], float]] = {
    "Spiegelhalter": lambda y: spiegelhalter(y, PROB).statistic,
    "intercept": lambda y: cox_test(y, PROB, part="intercept").statistic,
    "slope": lambda y: cox_test(y, PROB, part="slope").statistic,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", Z_TESTS)
def test_z_has_mean_0_and_variance_1(name: str) -> None:
    z = Z_TESTS[name]
    assert exact_mean(z) == pytest.approx(0, abs=1e-12)
    assert exact_mean(lambda y: z(y) ** 2) == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
def test_intercept_and_slope_are_uncorrelated() -> None:
    both = exact_mean(lambda y: Z_TESTS["intercept"](y) * Z_TESTS["slope"](y))
    assert both == pytest.approx(0, abs=1e-12)
    assert exact_mean(lambda y: cox_test(y, PROB).statistic) == pytest.approx(2, abs=1e-12)


# --- independent formulas -----------------------------------------------------------------------


def test_spiegelhalter_is_the_standardised_brier_score() -> None:
    labels = np.array([0, 1, 0, 0, 1, 0, 1, 1, 1])
    brier = ((LABELS - PROB) ** 2).mean(axis=1)
    mean = CHANCE @ brier
    sd = np.sqrt(CHANCE @ (brier - mean) ** 2)
    expected = (((labels - PROB) ** 2).mean() - mean) / sd
    result = spiegelhalter(labels, PROB)
    assert result.statistic == pytest.approx(expected, abs=1e-12)
    assert result.p_value == pytest.approx(2 * stats.norm.sf(abs(expected)), abs=1e-14)


@pytest.mark.parametrize("n_bins", [3, 7, 10])
def test_hosmer_lemeshow_is_pearsons_statistic_of_a_table(n_bins: int) -> None:
    labels, prob = binary_data(430, seed=3)
    groups = np.array_split(np.argsort(prob), n_bins)
    observed = [[labels[g].sum(), len(g) - labels[g].sum()] for g in groups]
    expected = [[prob[g].sum(), len(g) - prob[g].sum()] for g in groups]
    expected = np.ravel(expected)
    pearson = ((np.ravel(observed) - expected) ** 2 / expected).sum()
    result = hosmer_lemeshow(labels, prob, bins=EqualMass(n_bins))
    assert result.statistic == pytest.approx(pearson, rel=1e-12)
    assert result.p_value == pytest.approx(stats.chi2.sf(pearson, n_bins), rel=1e-10)


def test_cox_is_raos_score_test() -> None:
    """Gradient and Hessian of the likelihood at (0, 1), by the textbook."""
    labels, prob = binary_data(300, seed=4)
    logits = special.logit(prob)
    design = np.column_stack([np.ones_like(logits), logits])
    score = design.T @ (labels - prob)
    information = design.T @ ((prob * (1 - prob))[:, np.newaxis] * design)
    assert cox_test(labels, prob).statistic == pytest.approx(
        score @ np.linalg.solve(information, score), rel=1e-10
    )


def test_cox_fits_the_line_of_a_logistic_regression() -> None:
    """Numbers of statsmodels 0.14, GLM(y, [1, logit p], Binomial()): params and bse."""
    rng = np.random.default_rng(4)
    prob = np.linspace(0.02, 0.98, 200)
    labels = (rng.random(200) < special.expit(0.6 * special.logit(prob) + 0.4)).astype(int)
    result = cox_test(labels, prob)
    found = [result.intercept, result.slope, result.intercept_error, result.slope_error]
    assert found == pytest.approx([0.23928609, 0.60359324, 0.155699, 0.11576364], abs=1e-8)
    assert "intercept 0.239 (standard error 0.156), slope 0.604 (0.116)" in result.describe()
    slope = cox_test(labels, prob, part="slope", n_draws=9, rng=0)
    assert (slope.slope, slope.slope_error) == (result.slope, result.slope_error)


@pytest.mark.parametrize(
    ("labels", "prob"),
    [([0, 1], [0.2, 0.8]), ([0, 1, 1], [0.4] * 3), ([1, 1], [0.2, 0.8]), ([0, 1], [0.0, 1.0])],
)
def test_a_line_without_optimum_is_nan(labels: list[int], prob: list[float]) -> None:
    result = cox_test(labels, prob)
    line = result.intercept, result.slope, result.intercept_error, result.slope_error
    assert np.isnan(line).all()
    assert np.isfinite(result.statistic)


def test_directions() -> None:
    rng = np.random.default_rng(6)
    prob = np.sort(rng.uniform(0.02, 0.98, 4000))
    logits = special.logit(prob)
    bold = rng.random(4000) < special.expit(0.6 * logits)
    shy = rng.random(4000) < special.expit(1.6 * logits)
    rarer = rng.random(4000) < special.expit(logits - 0.5)
    for labels, word in ((bold, "over-confident"), (shy, "under-confident")):
        for result in (spiegelhalter(labels, prob), cox_test(labels, prob, part="slope")):
            assert result.direction == word
            assert f"the predictions look {word}" in result.describe()
    assert cox_test(rarer, prob, part="intercept").direction == "too high"
    assert cox_test(1 - rarer, 1 - prob, part="intercept").direction == "too low"


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.floats(0.001, 0.999), st.integers(0, 1)),
        min_size=3,
        max_size=40,
        unique_by=lambda row: row[0],
    )
)
def test_counting_the_other_class_changes_signs_only(rows: list[tuple[float, int]]) -> None:
    prob = np.array([p for p, _ in rows])
    labels = np.array([y for _, y in rows])
    close: dict[str, Any] = {"rel": 1e-6, "abs": 1e-6}
    for test in (spiegelhalter, ALL["Cox"], ALL["Cox, slope"]):
        one, other = test(labels, prob), test(1 - labels, 1 - prob)
        assert one.statistic == pytest.approx(other.statistic, **close)
    one, other = (ALL["Cox, intercept"](*data) for data in ((labels, prob), (1 - labels, 1 - prob)))
    assert one.statistic == pytest.approx(-other.statistic, **close)


# --- all tests: input, redraws, corners ---------------------------------------------------------


@each
@pytest.mark.parametrize("n_draws", [0, 19])
@pytest.mark.parametrize("corner", HARD)
def test_hard_data_give_numbers_and_a_certain_prediction_that_was_wrong_decides(
    name: str, corner: str, n_draws: int
) -> None:
    labels, prob = map(np.asarray, HARD[corner])
    result = ALL[name](labels, prob, n_draws=n_draws, rng=0)
    if np.where(labels == 1, prob == 0, prob == 1).any():
        assert np.isinf(result.statistic) and result.p_value == 0
        assert "is rejected" in result.describe()
    else:
        assert np.isfinite(result.statistic) and 0 <= result.p_value <= 1
    if corner == "0 and 1, perfect":
        assert (result.statistic, result.p_value) == (0, 1)


@each
def test_views_and_words(name: str) -> None:
    labels, prob = class_data(200)
    result = ALL[name](labels, prob, view="top-label")
    assert isinstance(result, TestResult)
    assert (result.view, result.n, float(result)) == ("top-label", 200, result.statistic)
    assert "top-label, 200 predictions" in result.describe()
    assert result.law in result.describe()
    assert result.rejected(1.0)


@pytest.mark.long
@each
def test_redraws_find_the_exact_p_value(name: str) -> None:
    """All 512 sets of labels give it; 4000 redraws come within four standard errors."""
    labels = np.array([1, 1, 0, 0, 1, 1, 0, 1, 1])
    found = ALL[name](labels, PROB, n_draws=4000, rng=1)
    size = abs if found.direction else float
    every = np.array([size(ALL[name](y, PROB).statistic) for y in LABELS])
    exact = CHANCE[every >= size(found.statistic) - 1e-9].sum()
    assert 0.001 < exact < 0.999
    assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000))
    assert found.law == "4,000 redraws of the labels"
