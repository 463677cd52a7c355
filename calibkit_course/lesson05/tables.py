"""What the cells of lesson 05 print: a table, a mean estimate, and bins by position."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit.fit_on_test import fit_on_test


def only_hatched(axes: Iterable[Axes]) -> None:
    """Take away the area below the maps, so that the area up to the diagonal stands out."""
    for ax in axes:
        for area in [part for part in ax.collections if part.get_label() == "below the map"]:
            area.remove()


def mean_estimate(family: Any, draws: Iterable[Any]) -> float:
    """Return the mean of what an evaluator says about several data sets."""
    fits = [fit_on_test(draw.y_true, draw.y_prob, evaluator=family) for draw in draws]
    return float(np.mean([fit.value for fit in fits]))


def by_position(
    y_true: NDArray[Any], y_prob: NDArray[np.float64], n_bins: int
) -> tuple[float, float]:
    """Return the ECE of bins filled by position, and the mean distance of their map by borders.

    Both rules are those of the code published with Kängsepp, Valk and Kull (2022). The
    predictions are sorted; where they tie across a border, the two numbers differ.
    """
    groups = np.array_split(np.arange(len(y_prob)), n_bins)
    shift = np.array([y_true[group].mean() - y_prob[group].mean() for group in groups])
    weight = np.array([len(group) for group in groups]) / len(y_prob)
    borders = [y_prob[group[0]] for group in groups[1:]]
    used = shift[np.searchsorted(borders, y_prob, side="right")]
    return float(np.sum(weight * np.abs(shift))), float(np.abs(used).mean())
