"""Tables that lesson 12 prints, and the errors in them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibkit.calibrators import MulticlassCalibrator
from calibkit.errors import class_wise_calibration_error, expected_calibration_error
from calibkit_course.learn import table

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


def label_conditional_error(y_true: Any, y_prob: Any) -> float:
    """Return the confidence error given the predicted class: a mean over the classes' diagrams."""
    predicted = y_prob.argmax(axis=1)
    parts = [np.flatnonzero(predicted == k) for k in np.unique(predicted)]
    errors = [
        expected_calibration_error(y_true[rows], y_prob[rows], view="top-label").value
        for rows in parts
    ]
    return float(np.average(errors, weights=[len(rows) for rows in parts]))


def whole_vector_test(
    y_true: Any, y_prob: Any, n_draws: int = 199, seed: int = 12
) -> tuple[float, float]:
    """Return the unbiased squared kernel calibration error of whole vectors, and its p-value.

    ``mean over pairs of k(p_i, p_j) (y_i - p_i) . (y_j - p_j)`` with a Gaussian kernel of length
    scale 0.2 and labels as unit vectors (Widmann et al., 2019, SKCE_uq); labels are redrawn.
    """
    n, k = y_prob.shape
    squares = (y_prob**2).sum(axis=1)
    apart = squares[:, None] + squares - 2 * y_prob @ y_prob.T
    kernel = np.exp(-apart / (2 * 0.2**2))
    np.fill_diagonal(kernel, 0)
    rng, found = np.random.default_rng(seed), []
    for draw in range(n_draws + 1):
        passed = rng.random((n, 1)) > y_prob.cumsum(axis=1)[:, :-1]
        label = passed.sum(axis=1) if draw else y_true
        surplus = np.eye(k)[label] - y_prob
        found.append(float((surplus * (kernel @ surplus)).sum()) / (n * (n - 1)))
    return found[0], float(np.mean(np.array(found) >= found[0]))
