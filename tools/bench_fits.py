"""Speed of what is fitted: maps, numbers of bins and pieces, and test-based errors."""

from functools import partial

import numpy as np

from calibkit import bins, significance
from calibkit.calibrators import CrossValidatedBinning
from calibkit.fakes import SyntheticShape
from calibkit.piecewise import PiecewiseLinear
from tools.timing import Case, best_ms

NAMES = {"probability": "PL", "logit": "PL3"}


def cases(rng: np.random.Generator) -> list[Case]:
    """Time all of them."""
    return [*maps(), *test_based_errors(rng)]


def maps() -> list[Case]:
    """Time single fits, whole searches, and the choice among 40 numbers of bins."""
    shape = SyntheticShape.with_error("stairs", 0.05)
    small, large = shape.sample(3000, seed=0), shape.sample(10_000, seed=0)
    sort = best_ms(lambda: np.sort(large.y_prob))
    found = []
    for space, name in NAMES.items():
        single = PiecewiseLinear(space, 6)
        took = best_ms(partial(single.fit, small.y_prob, small.y_true))
        found.append(Case(f"{name}, 6 pieces, n = 3000", took, "one millisecond", 1.0, 30))
        search = PiecewiseLinear(space)
        took = best_ms(partial(search.fit, large.y_prob, large.y_true))
        found.append(Case(f"{name}, search to 16, n = 10000", took, "one millisecond", 1.0, 3000))
        found.append(Case("  the same, by the sort", took, "np.sort of p", sort, 60_000))
    choice = CrossValidatedBinning()
    took = best_ms(partial(choice.fit, small.y_prob, small.y_true))
    return [*found, Case("bins by folds, 1 to 40, n = 3000", took, "one millisecond", 1.0, 30)]


def test_based_errors(rng: np.random.Generator) -> list[Case]:
    """Time the test-based error with PAVA-BC bins and its null level, sorting included."""
    n = 50_000
    prob = rng.random(n)
    label = (rng.random(n) < prob).astype(np.int64)
    sort = best_ms(lambda: np.sort(prob))

    def error(draws: int) -> object:
        return significance.test_based_calibration_error(label, prob, null_draws=draws, rng=0)

    alone = best_ms(partial(error, 0))
    redraws = best_ms(partial(error, 50), 0.1) - alone
    blocks = best_ms(lambda: bins.PavaBC().edges(prob, label))
    return [
        Case("test-based error, n = 50000", alone, "np.sort of p", sort, 20),
        Case("test-based error, one redraw", redraws / 50, "np.sort of p", sort, 8),
        Case("PAVA-BC bins, n = 50000", blocks, "np.sort of p", sort, 6),
    ]
