"""Speed of maps for many classes, and of the maps of one dimension that they are made of."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from calibkit.calibrators import BetaCalibrator, IsotonicCalibrator, PlattCalibrator
from calibkit.multiclass import DirichletCalibrator, TemperatureScaling, VennAbers
from tools.timing import Case, best_ms

Array = np.ndarray[Any, Any]


def cases(rng: np.random.Generator) -> list[Case]:
    """Time all of them."""
    return [*temperatures(rng), odir(rng), *one_dimension(rng)]


def logits(n: int, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw over-confident logits and their labels."""
    truth = 1.5 * rng.standard_normal((n, k), dtype=np.float32)
    y = (truth + rng.gumbel(size=(n, k)).astype(np.float32)).argmax(axis=1)
    return 1.8 * truth, y


def temperatures(rng: np.random.Generator) -> list[Case]:
    """Time temperature scaling, checks included, in units of one exponential of the logits."""
    found = []
    for n, k, kind, promised in ((10_000, 10, np.float64, 25), (25_000, 1000, np.float32, 6)):
        z, y = logits(n, k, rng)
        z = z.astype(kind, copy=False)
        model = TemperatureScaling("logits")
        took = best_ms(partial(model.fit, z, y), 2.0)
        exponential = best_ms(partial(np.exp, z), 2.0)
        name = f"temperature, {n} x {k}, {np.dtype(kind)}"
        found.append(Case(name, took, "np.exp of the logits", exponential, promised))
    return found


def odir(rng: np.random.Generator) -> Case:
    """Time Dirichlet calibration with a fixed penalty."""
    z, y = logits(5000, 10, rng)
    model = DirichletCalibrator("logits", penalty=1e-3)
    took = best_ms(partial(model.fit, z.astype(np.float64), y))
    return Case("Dirichlet, ODIR, 5000 x 10", took, "one millisecond", 1.0, 80)


def one_dimension(rng: np.random.Generator) -> list[Case]:
    """Time Platt, beta, Venn-Abers and isotonic maps."""
    p = rng.random(10_000)
    y = rng.random(10_000) < p**1.5
    million = rng.random(1_000_000)
    events = rng.random(1_000_000) < million
    sort = best_ms(lambda: np.argsort(million))  # of predictions with their labels

    def fit(model: Any) -> Callable[[], object]:
        return partial(model.fit, p, y)

    isotonic = best_ms(partial(IsotonicCalibrator().fit, million, events))
    return [
        Case("Platt, 1e4", best_ms(fit(PlattCalibrator())), "one millisecond", 1.0, 1.5),
        Case("beta, 1e4", best_ms(fit(BetaCalibrator())), "one millisecond", 1.0, 2),
        Case("Venn-Abers, 1e4", best_ms(fit(VennAbers("probabilities"))), "one millisecond", 1, 25),
        Case("isotonic, 1e6", isotonic, "np.argsort of p", sort, 1.3),
    ]
