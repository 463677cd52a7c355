"""What the cells of lesson 05 print: a table, a mean estimate, and bins by position."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit.fakes import SyntheticShape
from calibkit.fit_on_test import compare_evaluators, fit_on_test


def only_hatched(axes: Iterable[Axes]) -> None:
    """Take away the area below the maps, so that the area up to the diagonal stands out."""
    for ax in axes:
        for area in [part for part in ax.collections if part.get_label() == "below the map"]:
            area.remove()


def mean_estimate(family: Any, draws: Iterable[Any]) -> float:
    """Return the mean of what an evaluator says about several data sets."""
    fits = [fit_on_test(draw.y_true, draw.y_prob, evaluator=family) for draw in draws]
    return float(np.mean([fit.value for fit in fits]))


def nearest_of_twenty(
    families: Mapping[str, Any], shape: SyntheticShape
) -> list[tuple[str, int, int]]:
    """Count how often each family has the best estimate, and the worst map, on 20 test sets."""
    best, worst = Counter[str](), Counter[str]()
    for seed in range(2, 22):
        draw = shape.sample(3000, seed=seed)
        found = compare_evaluators(
            draw.y_true, draw.y_prob, evaluators=families, truth=shape.true_map
        )
        off = {name: abs(found[name].value - found.true_error) for name in families}
        best[min(off, key=off.__getitem__)] += 1
        worst[list(families)[int(np.argmax(found.map_error))]] += 1
    return [(name, best[name], worst[name]) for name in families]


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
