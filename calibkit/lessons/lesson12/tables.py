"""Tables that lesson 12 prints, and the errors in them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibkit.errors import class_wise_calibration_error, expected_calibration_error
from calibkit.learn import table
from calibkit.multiclass import MulticlassCalibrator

NULL_ROW = "(null level)"


def repair_table(
    world: str,
    fake: Any,
    repairs: Mapping[str, MulticlassCalibrator | None],
    n_fit: int = 5000,
    seed: int = 12,
) -> str:
    """Return the errors of a fake classifier in three notions, in per cent, after each repair."""
    fit, test = fake.sample(n_fit, seed), fake.sample(50_000, seed + 1)
    rows: list[tuple[Any, ...]] = []
    null: tuple[Any, ...] = ()
    for name, map_ in repairs.items():
        prob = test.y_prob
        if map_ is not None:
            prob = map_.fit(fit.y_prob, fit.y_true).calibrate(prob)
        top = expected_calibration_error(test.y_true, prob, view="top-label")
        each = class_wise_calibration_error(test.y_true, prob)
        strong = float(np.abs(prob - test.true_prob).sum(axis=1).mean())
        rows.append((name, 100 * top.value, 100 * each.value, 100 * strong))
        null = (NULL_ROW, 100 * top.null_mean, 100 * each.null_mean, "")
    return table((world, "confidence", "class-wise", "strong"), [*rows, null], 1)


def binned_strong_error(y_true: Any, y_prob: Any, n_bins: int) -> tuple[float, int]:
    """Return the mean L1 distance of mean vectors from frequencies in cells, and their number."""
    n, k = y_prob.shape
    cell = np.minimum((y_prob * n_bins).astype(int), n_bins - 1)
    _, place = np.unique(cell, axis=0, return_inverse=True)
    gaps = np.zeros((place.max() + 1, k))
    np.add.at(gaps, place.ravel(), y_prob - np.eye(k)[y_true])
    return float(np.abs(gaps).sum() / n), len(gaps)
