"""What the cells of lesson 08 measure and print. Lesson 08."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibkit.bins import EqualMass
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import binomial_p_values, test_based_calibration_error
from calibkit.inputs import FloatVector
from calibkit.reliability import reliability_table


def verdicts(hits: int, count: int, stated: Sequence[float]) -> str:
    """Say of each stated probability how likely it makes what came in a bin.

    >>> print(verdicts(9, 40, [0.1, 0.2]))
    stated 0.1: expected  4 of 40, p-value 0.015
    stated 0.2: expected  8 of 40, p-value 0.693
    """
    found = zip(stated, binomial_p_values(hits, count, stated), strict=True)
    lines = (f"stated {q}: expected {count * q:2.0f} of {count}, p-value {p:.3f}" for q, p in found)
    return "\n".join(lines)


def rejected(y_true: ArrayLike, y_prob: ArrayLike, bins: Any) -> float:
    """Return the TCE in per cent, without its null level."""
    error = test_based_calibration_error(y_true, y_prob, bins=bins, n_draws=0)
    return 100 * error.value


def mean_tce(model: LogitDistortion, n: int, rule: Any, n_sets: int) -> float:
    """Return the mean TCE in per cent over data sets of n rows, always the same ones."""
    rng = np.random.default_rng(8)
    samples = (model.sample(n, rng) for _ in range(n_sets))
    return float(np.mean([rejected(s.y_true, s.y_prob, rule) for s in samples]))


def mean_of_bin_tests(model: LogitDistortion, n: int, n_sets: int) -> float:
    """Test each of ten bins as a whole; return the mean share in rejected bins, in per cent."""
    rng, shares = np.random.default_rng(8), []
    for sample in (model.sample(n, rng) for _ in range(n_sets)):
        table = reliability_table(sample.y_true, sample.y_prob, bins=EqualMass(10))
        hits = np.rint(table.count * table.frequency)
        p_value = binomial_p_values(hits, table.count, table.mean_prob)
        shares.append(100 * table.weight[p_value <= 0.05].sum())
    return float(np.mean(shares))


def powers(
    tests: Mapping[str, Callable[..., float]],
    true_map: Callable[[FloatVector], Any],
    n_sets: int = 100,
    quantile: Callable[[FloatVector], FloatVector] = np.asarray,
) -> FloatVector:
    """Return how often each test rejects at the 5 % level, in per cent, for 1,000 predictions.

    These are even over [0, 1], or have the quantile function that is given.
    """
    rng = np.random.default_rng(8)
    probs = [quantile(rng.random(1000)) for _ in range(n_sets)]
    data = [(rng.random(1000) < true_map(p), p) for p in probs]
    found = [[test(*rows) <= 0.05 for rows in data] for test in tests.values()]
    return np.asarray(100 * np.mean(found, axis=1))
