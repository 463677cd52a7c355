"""Do PL and PL3 gain from debiasing, as bins do? For the page "Measured".

An open problem of Kängsepp, Valk and Kull (2022). Here by a parametric bootstrap: labels are drawn
anew from the fitted map, the error found in them exceeds that of the map by a bias, and the bias
is taken off: ``max(0, 2 E - mean E*)``.

``python -m book.experiments.debiased_pieces`` prints the table of the page (ten minutes).
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from book.experiments.pages import markdown
from book.experiments.synthetic.grid import DataSet
from calibkit import EqualMass, debiased_calibration_error, expected_calibration_error
from calibkit.calibrators import PiecewiseLinear
from calibkit.calibrators.base import Calibrator
from calibkit.fakes.binary import SHAPES
from calibkit.inputs import FloatMatrix, FloatVector, IntVector

ERRORS, ROWS, SEEDS, REDRAWS = (0.0, 0.02, 0.05, 0.1), 1_000, 10, 20


def by_redraws(
    recipe: Calibrator, prob: FloatVector, label: IntVector, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the error that a map finds, plain and debiased; pieces are chosen once."""
    fitted = clone(recipe).fit(prob, label)
    curve, again = fitted.calibrate(prob), clone(fitted)
    if isinstance(fitted, PiecewiseLinear):
        again.set_params(n_pieces=fitted.n_pieces_)

    def error_of(labels: NDArray[np.bool_]) -> float:
        return float(np.abs(again.fit(prob, labels).calibrate(prob) - prob).mean())

    plain = float(np.abs(curve - prob).mean())
    redrawn = [error_of(rng.random(len(prob)) < curve) for _ in range(REDRAWS)]
    return plain, max(0.0, 2 * plain - float(np.mean(redrawn)))


def estimates(data_set: DataSet) -> FloatVector:
    """Return six estimates of the error of some predictions, less the true one."""
    sample, rng = data_set.sample(), np.random.default_rng(data_set.seed)
    labels, bins = sample.y_true, EqualMass(15)
    found = [
        float(expected_calibration_error(labels, sample.y_prob, bins=bins)),
        float(debiased_calibration_error(labels, sample.y_prob, bins=bins, norm=1)),
    ]
    for space in ("probability", "logit"):
        found += by_redraws(PiecewiseLinear(space), sample.y_prob, labels, rng)
    true = float(np.abs(sample.y_prob - sample.true_prob).mean())
    return np.array(found) - true


NAMES = ("15 equal-mass bins", "… debiased", "PL", "… debiased", "PL3", "… debiased")


def distances(error: float, n_seeds: int = SEEDS) -> FloatMatrix:
    """Return bias and mean distance of each estimate in thousandths, over shapes and draws."""
    sets = product(SHAPES, [error], [ROWS], range(n_seeds))
    off = 1000 * np.array([estimates(DataSet(*coordinates)) for coordinates in sets])
    return np.array([off.mean(axis=0), np.abs(off).mean(axis=0)])


if __name__ == "__main__":
    found = [distances(error) for error in ERRORS]
    lines = [
        [name, *(f"{bias:+.1f} / {off:.1f}" for bias, off in (one[:, place] for one in found))]
        for place, name in enumerate(NAMES)
    ]
    print(markdown(["estimate", *(f"error {error:g}" for error in ERRORS)], lines))
