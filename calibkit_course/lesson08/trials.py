"""What the cells of lesson 08 measure and print. Lesson 08."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import test_based_calibration_error
from calibkit.inputs import FloatVector


def rejected(y_true: ArrayLike, y_prob: ArrayLike, bins: Any) -> float:
    """Return the TCE in per cent, without its null level."""
    error = test_based_calibration_error(y_true, y_prob, bins=bins, n_draws=0)
    return 100 * error.value


def mean_tce(model: LogitDistortion, n: int, rule: Any, n_sets: int) -> float:
    """Return the mean TCE in per cent over data sets of n rows, always the same ones."""
    rng = np.random.default_rng(8)
    samples = (model.sample(n, rng) for _ in range(n_sets))
    return float(np.mean([rejected(s.y_true, s.y_prob, rule) for s in samples]))


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
