"""Nine ways to train a small network on images, each with five seeds: lesson 10's table.

A seed deals the images out, draws their noise, the first weights and the order of the images. All
recipes of one seed learn from, are calibrated on and are judged on the same images, so that they
are compared in pairs.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import t as student

from calibkit import expected_calibration_error, log_loss
from calibkit.calibrators import TemperatureScaling
from calibkit_course.lesson10 import nets

SETS = {"digits under noise": 0.5, "digits without noise": 0.0}
SEEDS = (1, 2, 3, 4, 5)
MEMBERS = 5
PLAIN, ENSEMBLE = "cross-entropy", f"ensemble of {MEMBERS}"
# What a recipe changes of the network, and of its training.
RECIPES: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    PLAIN: ({}, {}),
    "smaller network": ({"channels": (4, 8), "hidden": 16}, {}),
    "larger network": ({"channels": (32, 64), "hidden": 128}, {}),
    "batch norm": ({"batch_norm": True}, {}),
    "weight decay 0.3": ({}, {"weight_decay": 0.3}),
    "label smoothing 0.1": ({}, {"loss": "label-smoothing"}),
    "mixup 0.4": ({}, {"loss": "mixup"}),
    "focal loss 3": ({}, {"loss": "focal"}),
}
MEASURED = (
    *("accuracy", "ece", "null", "loss"),
    *("temperature", "ece_scaled", "null_scaled", "loss_scaled"),
)

Logits = tuple[NDArray[Any], NDArray[Any]]


def trained(split: nets.Split, recipe: str, seed: int) -> Logits:
    """Train one network and return its logits of the validation and of the test images."""
    shape, options = RECIPES[recipe]
    network = nets.image_network(rng=seed, **shape)
    nets.train_network(network, split, rng=seed, **options)
    return nets.logits_of(network, split.validation_x), nets.logits_of(network, split.test_x)


def mean_logits(members: list[NDArray[Any]]) -> NDArray[np.float64]:
    """Return the logarithm of the members' mean probabilities."""
    log_prob = log_softmax(np.asarray(members, dtype=np.float64), axis=2)
    return np.asarray(logsumexp(log_prob, axis=0) - np.log(len(members)))


def measured(logits: Logits, split: nets.Split) -> dict[str, float]:
    """Fit T to the validation images and measure on the test images, before and after."""
    scaling = TemperatureScaling("logits").fit(logits[0], split.validation_y)
    table = np.asarray(logits[1], dtype=np.float64)
    raw, scaled = softmax(table, axis=1), scaling.calibrate(table)
    numbers = [float(np.mean(table.argmax(axis=1) == split.test_y))]
    for prob in (raw, scaled):
        error = expected_calibration_error(split.test_y, prob, view="top-label")
        numbers += [error.value, error.null_mean, log_loss(split.test_y, prob).value]
    numbers.insert(4, scaling.temperature_)
    return {name: round(number, 4) for name, number in zip(MEASURED, numbers, strict=True)}


def one_seed(data: str, seed: int) -> dict[str, dict[str, float]]:
    """Return what every recipe measures with one seed."""
    split = nets.mnist_digits(noise=SETS[data], seed=seed)
    logits = {name: trained(split, name, seed) for name in RECIPES}
    others = [trained(split, PLAIN, 1000 * seed + k) for k in range(1, MEMBERS)]
    parts = list(zip(logits[PLAIN], *others, strict=True))
    logits[ENSEMBLE] = mean_logits(list(parts[0])), mean_logits(list(parts[1]))
    return {name: measured(found, split) for name, found in logits.items()}


def interval(values: Any, tests: int = 1) -> tuple[float, float]:
    """Return the mean and half its 95 % interval by Student's t, for `tests` of them at once."""
    numbers = np.asarray(values, dtype=np.float64)
    error = numbers.std(ddof=1) / np.sqrt(len(numbers))
    return float(numbers.mean()), float(student.isf(0.025 / tests, len(numbers) - 1) * error)


def with_verdicts(rows: Mapping[str, Mapping[str, list[float]]]) -> dict[str, dict[str, Any]]:
    """Add to each recipe how far its log loss after scaling lies from that of cross-entropy.

    The difference is taken seed by seed. All recipes are compared at once, so the intervals are
    those of Bonferroni, and a recipe is called lower or higher only where its interval omits 0.
    """
    plain, found = rows[PLAIN]["loss_scaled"], {}
    for name, row in rows.items():
        pairs = zip(row["loss_scaled"], plain, strict=True)
        difference, half = interval([one - other for one, other in pairs], len(rows) - 1)
        verdict = "lower" if difference < 0 else "higher"
        if abs(difference) <= half:
            verdict = "yardstick" if name == PLAIN else "not separated"
        numbers = {"difference": round(difference, 4), "half": round(half, 4)}
        found[name] = {**row, **numbers, "verdict": verdict}
    return found
