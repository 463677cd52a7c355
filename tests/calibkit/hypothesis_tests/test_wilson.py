"""Wilson's interval against scipy, and against the equation that it solves."""

import numpy as np
import pytest
from scipy import stats

from calibkit.hypothesis_tests import wilson_interval


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (31, 50), (999, 1000)]
)
def test_it_is_that_of_scipy(level: float, k, n) -> None:
    golden = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    assert wilson_interval(k, n, level=level) == pytest.approx(golden, abs=1e-12)


def test_its_ends_are_where_a_normal_test_begins_to_reject() -> None:
    hits, count = np.array([3, 20, 47]), np.array([10, 50, 60])
    for end in wilson_interval(hits, count):
        z = np.abs(hits / count - end) / np.sqrt(end * (1 - end) / count)
        assert z == pytest.approx(np.full(3, stats.norm.ppf(0.975)), rel=1e-12)
