"""The t-test of the test-based error's source; its golden values stand with those of the error."""

import numpy as np
from scipy import stats

from book.experiments.tce.t_test import TTest


def test_the_t_test_is_the_one_of_scipy_but_for_the_degrees_in_the_spread() -> None:
    """scipy divides by N - 1 in the spread, the source by N."""
    rng = np.random.default_rng(5)
    label = (rng.random(200) < 0.4).astype(int)
    prob = np.sort(rng.random(200))
    rejected = TTest(0.05).rejections(np.array([label.sum()]), np.array([0, 200]), prob)
    frequency = label.mean()
    t = (frequency - prob) / np.sqrt(frequency * (1 - frequency) / 200)
    assert rejected.tolist() == (2 * stats.t.sf(np.abs(t), 199) <= 0.05).tolist()
    by_scipy_t = stats.ttest_1samp(label[:, np.newaxis], prob).pvalue <= 0.05
    assert (rejected != by_scipy_t).mean() < 0.02


def test_the_t_test_without_spread_accepts_the_frequency_only() -> None:
    prob, bounds = np.array([0.0, 0.0, 0.1]), np.array([0, 3])
    assert TTest(0.05).rejections(np.array([0]), bounds, prob).tolist() == [False, False, True]
    published = TTest(0.05, published=True)
    assert published.rejections(np.array([0]), bounds, prob).all()
    one, rows = np.array([1]), np.array([0, 1])  # a bin of one row
    assert TTest(0.05).rejections(one, rows, np.array([0.5])).all()
    assert not TTest(0.05).rejections(one, rows, np.array([1.0])).any()
