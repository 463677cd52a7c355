"""The mixture that clones what a classifier says."""

import numpy as np
import pytest
from scipy import optimize, stats

from calibkit_course.lesson03 import DirichletMixture
from tests.helpers import refuses


def test_the_fit_is_the_constrained_maximum_of_the_likelihood() -> None:
    table = np.random.default_rng(3).dirichlet((9.0, 0.5, 0.4, 0.6), 300)
    own = table[table.argmax(axis=1) == 0]
    fitted = DirichletMixture.fit(own).alphas[0]
    assert fitted[1] == fitted[2] == fitted[3]
    best = optimize.minimize(
        lambda t: -stats.dirichlet.logpdf(own.T, np.exp(t)[[0, 1, 1, 1]]).sum(), np.zeros(2)
    )
    np.testing.assert_allclose(fitted[:2], np.exp(best.x), rtol=1e-5)


def test_a_clone_has_shares_and_means_of_the_original() -> None:
    original = DirichletMixture((0.5, 0.3, 0.2), ((30, 1, 1), (2, 20, 2), (3, 3, 25)))
    table = original.draw(20_000, rng=0)
    clone = DirichletMixture.fit(table)
    np.testing.assert_allclose(clone.weights, (0.5, 0.3, 0.2), atol=0.02)
    drawn = clone.draw(20_000, rng=1)
    np.testing.assert_allclose(drawn.mean(axis=0), table.mean(axis=0), atol=0.01)
    assert drawn.max(axis=1).mean() == pytest.approx(table.max(axis=1).mean(), abs=0.01)


def test_zeros_and_single_precision_can_be_fitted() -> None:
    p = np.random.default_rng(0).beta(0.5, 0.8, 1_000)
    rounded = np.round(np.column_stack([p, 1 - p]), 2)
    assert rounded.min() == 0
    clone = DirichletMixture.fit(rounded)
    assert len(clone.alphas) == 2 and np.all(np.isfinite(clone.alphas))
    single = DirichletMixture.fit(rounded.astype(np.float32))
    np.testing.assert_allclose(single.alphas, clone.alphas, rtol=1e-4)


test_what_has_no_maximum_is_refused = refuses(
    (lambda: DirichletMixture.fit([0.2, 0.8]), "one column per class"),
    (
        lambda: DirichletMixture.fit([[0.5, 0.5]] * 2),
        "class 0 is predicted 2 times without any variation",
    ),
    (
        lambda: DirichletMixture.fit([[0.2, 0.7, 0.1], [0.5, 0.25, 0.25]]),
        "class 0 is predicted 1 times",
    ),
)
