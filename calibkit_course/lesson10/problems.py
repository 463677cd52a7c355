"""The data of lesson 10's exercises, all with known truth. No torch is needed here."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from calibkit.calibrators import TemperatureScaling
from calibkit.inputs import FloatVector
from calibkit.scores import log_loss

Pair = tuple[FloatVector, NDArray[np.intp]]

CULPRIT = "B"
AMOUNT = 0.1
_NOT_BY_HEART = 6  # training rows that the network gets wrong


def batches() -> list[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    """Return two batches of made images of shape (50, 1, 28, 28), and labels."""
    rng = np.random.default_rng(110)
    shape = (50, 1, 28, 28)
    return [(rng.random(shape, dtype=np.float32), rng.integers(0, 10, 50)) for _ in range(2)]


def made_logits(n: int, factor: float, seed: int, n_classes: int = 10) -> Pair:
    """Draw logits with known truth: the temperature that repairs them is `factor`."""
    rng = np.random.default_rng(seed)
    truth = 2 * rng.normal(size=(n, n_classes))
    label = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    return factor * truth, label


@lru_cache(maxsize=1)
def fitting_cases() -> dict[str, Pair]:
    """Return three small problems: over-confident, under-confident, and one that overflows."""
    # With a best temperature below 1, a plain `exp` overflows where it matters.
    lifted, label = made_logits(800, 0.7, seed=103)
    return {
        "bold": made_logits(800, 3.0, seed=101),
        "timid": made_logits(800, 0.4, seed=102),
        "lifted": (lifted + 1000.0, label),
    }


def three_files(n: int = 4000) -> dict[str, Pair]:
    """Return the files of exercise 10.4: scores of one network, in one file softmaxed twice."""
    logits, label = made_logits(n, 1.0, seed=104)
    return {
        "A": (4.0 * logits, label),
        CULPRIT: (softmax(logits, axis=1), label),
        "C": (logits / 6.0, label),
    }


@lru_cache(maxsize=1)
def losses_of_files() -> dict[str, tuple[float, float, float]]:
    """Return T of each file, and its log loss before and after division by T.

    The scores are raised by 1. That changes no softmax, but calibkit no longer sees that one
    file holds probabilities, and refuses nothing.
    """
    found = {}
    for name, (scores, label) in three_files().items():
        t = TemperatureScaling("logits").fit(scores + 1.0, label).temperature_
        before, after = (log_loss(label, softmax(scores / s, axis=1)).value for s in (1.0, t))
        found[name] = (t, before, after)
    return found


def smoothed_model(n: int = 4000) -> tuple[Pair, Pair]:
    """Return predictions at the optimum of label smoothing, in two halves: fit and test."""
    logits, label = made_logits(2 * n, 1.0, seed=109)
    prob = (1 - AMOUNT) * softmax(logits, axis=1) + AMOUNT / logits.shape[1]
    return (prob[:n], label[:n]), (prob[n:], label[n:])


def three_splits(seed: int = 106) -> dict[str, Pair]:
    """Return logits and labels of a network that knows its training split nearly by heart."""
    seeds = np.random.default_rng(seed).integers(2**31, size=3)
    sizes = {"train": 300, "validation": 200, "test": 200}
    splits = {
        name: made_logits(n, 3.0, seed=int(each))
        for (name, n), each in zip(sizes.items(), seeds, strict=True)
    }
    logits, known = splits["train"]
    wrong = np.flatnonzero(logits.argmax(axis=1) != known)[_NOT_BY_HEART:]
    logits[wrong, known[wrong]] = logits[wrong].max(axis=1) + 2.0
    return splits
