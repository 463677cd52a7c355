"""How far off is an estimated error of whole vectors? For the page "Measured".

``python -m book.experiments.whole_vectors`` prints the table of the page in two minutes.
"""

from functools import partial

import numpy as np

from book.experiments.pages import markdown
from calibkit.chance import null_level
from calibkit.errors import canonical_calibration_error
from calibkit.fakes import DirichletFake, Power

POWERS = {"calibrated": 1.0, "a little wrong": 1.5, "far wrong": 3.0}


def errors(n_classes: int, power: float, n: int, n_sets: int = 10) -> tuple[float, float, float]:
    """Return mean estimate, null level and true error (L1 distance) over some sets."""
    rows = []
    for seed in range(n_sets):
        draw = DirichletFake((1,) * n_classes, Power(power)).sample(n, rng=seed)
        found = canonical_calibration_error(draw.y_true, draw.y_prob)
        error = partial(canonical_calibration_error, bandwidth=found.bandwidth)
        null = null_level(error, draw.y_true, draw.y_prob, n_draws=10, rng=seed)
        true = np.abs(draw.true_prob - draw.y_prob).sum(axis=1).mean()
        rows.append([found.value, null.mean, true])
    estimate, null_mean, true = np.mean(rows, axis=0)
    return float(estimate), float(null_mean), float(true)


if __name__ == "__main__":
    table = [
        [f"{n_classes}", f"{n:,}", name, *(f"{x:.2f}" for x in errors(n_classes, power, n))]
        for n_classes in (3, 5)
        for n in (300, 1000)
        for name, power in POWERS.items()
    ]
    print(markdown(["classes", "rows", "model", "estimate", "null level", "truth"], table))
