"""Runs and tables of lesson 09: splits of the abalones, estimates of a prevalence."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from calibkit.calibrators import estimate_prevalence
from calibkit.hypothesis_tests import TestBasedError, test_based_calibration_error
from calibkit_course.lesson09.gaussian import GaussianDiscriminant


def table(head: str, form: str, rows: Iterable[Sequence[Any]]) -> str:
    """Return a head and one line per row, each in the given form."""
    return "\n".join([head, *(form.format(*row) for row in rows)])


def estimates(distance: float, n_sets: int = 20) -> tuple[float, ...]:
    """Estimate a prevalence of 2 % in data sets of 6,000 predictions made for 1 %.

    Returns the distance of the classes, the mean, lowest and highest estimate, the lowest and
    highest place of EM after 100 steps, and the fewest and most steps until EM is within 0.1
    points of the estimate.
    """
    model = GaussianDiscriminant(0.01, deployed=0.02, scale=1 / distance)
    values, stopped, steps = [], [], []
    for seed in range(n_sets):
        prob = model.sample(6000, seed).y_prob
        found = estimate_prevalence(prob, train_prevalence=0.01, em_steps=4000)
        values.append(found.value)
        stopped.append(found.path[100])
        away = np.abs(found.path - found.value) > 0.001
        steps.append(1 + int(np.flatnonzero(away).max(initial=-1)))
    spread = [float(end) for some in (values, stopped, steps) for end in (min(some), max(some))]
    return distance, float(np.mean(values)), *spread


def abalone_splits(n_splits: int = 12) -> list[TestBasedError]:
    """Return the TCE of logistic regression on abalones of seven rings, for several splits.

    Features are scaled as the paper's code does it: by the mean and spread of *all* rows. An
    empty list says that the package with the data, scikit-lego, is not installed.
    """
    if not find_spec("sklego"):
        return []
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    frame = import_module("sklego.datasets").load_abalone(as_frame=True)
    event = (frame.pop("rings") == 7).to_numpy().astype(int)
    sex = frame.pop("sex")
    frame = frame.assign(**{letter: sex == letter for letter in "FIM"}).astype(float)
    scaled = ((frame - frame.mean()) / frame.std(ddof=0)).to_numpy()
    method = LogisticRegression(solver="newton-cg", tol=1e-8, max_iter=1000)
    found = []
    for split in range(n_splits):
        parts: Any = train_test_split(scaled, event, test_size=0.3, random_state=split)
        prob = method.fit(parts[0], parts[2]).predict_proba(parts[1])[:, 1]
        found.append(test_based_calibration_error(parts[3], prob, rng=9))
    return found
