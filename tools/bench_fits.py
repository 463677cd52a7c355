"""Speed of what is fitted: maps of one and of many classes, numbers of pieces, bins by tests."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from calibkit import bins, significance
from calibkit.calibrators import (
    BetaCalibrator,
    CrossValidatedBinning,
    IsotonicCalibrator,
    PlattCalibrator,
)
from calibkit.fakes import SyntheticShape
from calibkit.multiclass import DirichletCalibrator, TemperatureScaling, VennAbers
from calibkit.piecewise import PiecewiseLinear
from tools.timing import MILLISECOND, Case, best_ms, timed, yardstick

Array = np.ndarray[Any, Any]


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Time all of them."""
    yield from searches()
    yield from test_based_errors(rng)
    yield from many_classes(rng)
    yield from one_dimension(rng)


def searches() -> Iterator[Case]:
    """Time single fits, whole searches, and the choice among 40 numbers of bins."""
    shape = SyntheticShape.with_error("stairs", 0.05)
    small, large = (
        (sample.y_prob, sample.y_true)
        for sample in (shape.sample(n, seed=0) for n in (3000, 10_000))
    )
    sort = yardstick("np.sort of p", lambda: np.sort(large[0]))
    for space, name in {"probability": "PL", "logit": "PL3"}.items():
        single = partial(PiecewiseLinear(space, 6).fit, *small)
        yield timed(f"{name}, 6 pieces, n = 3000", single, MILLISECOND, 30)
        search = partial(PiecewiseLinear(space).fit, *large)
        found = timed(f"{name}, search to 16, n = 10000", search, MILLISECOND, 3000)
        yield from (found, Case("  the same, by the sort", found.ms, sort, 60_000))
    choice = partial(CrossValidatedBinning().fit, *small)
    yield timed("bins by folds, 1 to 40, n = 3000", choice, MILLISECOND, 30)


def test_based_errors(rng: np.random.Generator) -> Iterator[Case]:
    """Time the test-based error with PAVA-BC bins and its null level, sorting included."""
    prob = rng.random(50_000)
    label = (rng.random(50_000) < prob).astype(np.int64)
    sort = yardstick("np.sort of p", lambda: np.sort(prob))
    error = partial(significance.test_based_calibration_error, label, prob, rng=0)
    alone = timed("test-based error, n = 50000", partial(error, null_draws=0), sort, 20)
    with_50 = best_ms(partial(error, null_draws=50), 0.1)
    yield alone
    yield Case("test-based error, one redraw", (with_50 - alone.ms) / 50, sort, 8)
    yield timed("PAVA-BC bins, n = 50000", partial(bins.PavaBC().edges, prob, label), sort, 6)


def logits(n: int, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw over-confident logits and their labels."""
    truth = 1.5 * rng.standard_normal((n, k), dtype=np.float32)
    y = (truth + rng.gumbel(size=(n, k)).astype(np.float32)).argmax(axis=1)
    return 1.8 * truth, y


def many_classes(rng: np.random.Generator) -> Iterator[Case]:
    """Time temperature scaling, checks included, and Dirichlet calibration, fixed penalty."""
    for n, k, kind, promised in ((10_000, 10, np.float64, 25), (25_000, 1000, np.float32, 6)):
        z, y = logits(n, k, rng)
        z = z.astype(kind, copy=False)
        exponential = yardstick("np.exp of the logits", partial(np.exp, z))
        fit = partial(TemperatureScaling("logits").fit, z, y)
        yield timed(f"temperature, {n} x {k}, {np.dtype(kind)}", fit, exponential, promised)
    z, y = logits(5000, 10, rng)
    fit = partial(DirichletCalibrator("logits", penalty=1e-3).fit, z.astype(np.float64), y)
    yield timed("Dirichlet, ODIR, 5000 x 10", fit, MILLISECOND, 80)


def one_dimension(rng: np.random.Generator) -> Iterator[Case]:
    """Time Platt, beta, Venn-Abers and isotonic maps."""
    p = rng.random(10_000)
    y = rng.random(10_000) < p**1.5
    yield timed("Platt, 1e4", partial(PlattCalibrator().fit, p, y), MILLISECOND, 1.5)
    yield timed("beta, 1e4", partial(BetaCalibrator().fit, p, y), MILLISECOND, 2)
    venn_abers = partial(VennAbers("probabilities").fit, p, y)
    yield timed("Venn-Abers, 1e4", venn_abers, MILLISECOND, 25)
    million = rng.random(1_000_000)
    isotonic = partial(IsotonicCalibrator().fit, million, rng.random(1_000_000) < million)
    sort = yardstick("np.argsort of p", lambda: np.argsort(million))  # with their labels
    yield timed("isotonic, 1e6", isotonic, sort, 1.3)
