"""Which events scores speak of, and what the protocols ask of a population."""

import numpy as np

from calibkit.inputs import FloatVector
from calibkit_course.lesson11.population import Population, top


def events(
    population: Population, scores: FloatVector, view: str
) -> tuple[FloatVector, FloatVector]:
    """Return what scores say about each event, and its true chance: shape (n, views).

    The scores may be others than the population's own, e.g. calibrated ones.
    """
    if view == "class-wise":
        return scores, population.true_prob
    winner, confidence = top(scores)
    chance = population.true_prob[np.arange(population.n), winner]
    return confidence[:, np.newaxis], chance[:, np.newaxis]


def check_view(view: str) -> None:
    """Check the choice of events."""
    if view not in ("top-label", "class-wise"):
        raise ValueError(f'view must be "top-label" or "class-wise", got {view!r}.')


def check_size(population: Population, size: int, name: str) -> None:
    """Check that a sample leaves rows to evaluate on."""
    if size >= population.n:
        raise ValueError(
            f"{name} = {size:,} must be smaller than the population of {population.n:,} rows."
        )
