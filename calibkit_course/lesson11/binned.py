"""What bins hide: the error of a continuous map, measured with more and more bins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import EqualMass, FixedEdges, assign
from calibkit.calibrators import PlattCalibrator
from calibkit.errors.debiased import debiased_square
from calibkit.errors.family import weighted_norm
from calibkit.inputs import FloatVector, Rng, as_count, data_generator
from calibkit.reliability import reliability_table
from calibkit.results import Described, spell
from calibkit_course.lesson11.population import Population, top

DOUBLED = (2, 4, 8, 16, 32, 64, 128, 256, 512)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BinnedErrors(Described):
    """Errors of the predicted label after Platt scaling, by number of bins: shape (B,) each.

    Norm 1: means over splits. Norm 2: roots of mean squares over splits, debiased or not. True
    errors are NaN where the truth is not known.
    """

    n_bins: NDArray[np.int64]
    plain_1: FloatVector
    plain_2: FloatVector
    debiased_2: FloatVector  # 0 where the mean of the debiased squares is negative
    low_2: FloatVector  # 5 % and 95 % quantile over splits of the plain error
    high_2: FloatVector
    true_1: FloatVector  # of the same bins
    true_2: FloatVector
    continuous_2: float  # true error without bins
    n_splits: int
    name: str  # of the population

    def describe(self) -> str:
        """Say how the plain and the debiased error change with the number of bins."""
        text = (
            f"Platt scaling on {self.name}, {spell(self.n_splits, 'split')}: from "
            f"{spell(int(self.n_bins[0]), 'bin')} to {self.n_bins[-1]}, the plain root mean square "
            f"error goes from {self.plain_2[0]:.4f} to {self.plain_2[-1]:.4f}, the debiased one "
            f"from {self.debiased_2[0]:.4f} to {self.debiased_2[-1]:.4f}."
        )
        if np.isnan(self.continuous_2):
            return text
        return f"{text} The true error without bins is {self.continuous_2:.4f}."


def binned_errors(
    population: Population,
    *,
    n_bins: Sequence[int] = DOUBLED,
    sizes: tuple[int, int, int] = (1000, 1000, 8000),
    n_splits: int = 50,
    rng: Rng = None,
) -> BinnedErrors:
    """Measure the error of a Platt-scaled model with more and more bins (figures 1 and 4).

    Each split shuffles the rows, fits Platt scaling of the confidence to the first part, puts
    equal-mass edges on the second, and measures the error on the third.
    """
    numbers = [as_count(number, "n_bins") for number in n_bins]
    parts = (as_count(sizes[0], "sizes"), as_count(sizes[1], "sizes"), as_count(sizes[2], "sizes"))
    if sum(parts) > population.n:
        raise ValueError(f"sizes need {sum(parts):,} rows, but there are {population.n:,}.")
    generator, n_splits = data_generator(rng), as_count(n_splits, "n_splits")
    splits = []
    for _ in range(n_splits):
        order = generator.permutation(population.n)
        splits.append(one_split(population, population.labels(generator), order, numbers, parts))
    found = np.moveaxis(np.array(splits), 1, 0)
    plain_1, plain_2, squared, true_1, true_2, continuous_2 = found
    low, high = np.quantile(plain_2, [0.05, 0.95], axis=0)
    return BinnedErrors(
        n_bins=np.array(numbers),
        plain_1=plain_1.mean(axis=0),
        plain_2=np.sqrt((plain_2**2).mean(axis=0)),
        debiased_2=np.sqrt(np.maximum(squared.mean(axis=0), 0)),
        low_2=low,
        high_2=high,
        true_1=true_1.mean(axis=0),
        true_2=np.sqrt((true_2**2).mean(axis=0)),
        continuous_2=float(np.sqrt((continuous_2**2).mean())),
        n_splits=n_splits,
        name=population.name,
    )


def one_split(
    population: Population,
    label: NDArray[np.int64],
    order: NDArray[np.intp],
    numbers: Sequence[int],
    sizes: tuple[int, int, int],
) -> FloatVector:
    """Return the errors of one split, six rows of one number per number of bins.

    Plain with norm 1 and 2, debiased square, true with norm 1 and 2, and true without bins.
    """
    winner, confidence = top(population.y_prob)
    right = (winner == label).astype(np.int64)
    first, second = order[: sizes[0]], order[sizes[0] : sizes[0] + sizes[1]]
    third = order[sizes[0] + sizes[1] : sum(sizes)]
    platt = PlattCalibrator(smoothing=False).fit(confidence[first], right[first])
    said = platt.calibrate(confidence)
    chance = population.true_prob[np.arange(population.n), winner]
    chance = chance if population.known else np.full(population.n, np.nan)
    whole = np.sqrt(np.mean((said - chance) ** 2))
    columns = []
    for number in numbers:
        edges = EqualMass(number).edges(said[second])
        table = reliability_table(right[third], said[third], bins=FixedEdges(edges))
        plain = _norms(table.gap, table.weight)
        true = _norms(*_true_gaps(said, chance, edges))
        columns.append([*plain, debiased_square(table), *true, whole])
    return np.array(columns).T


def _norms(gap: FloatVector, weight: FloatVector) -> list[float]:
    return [float(weighted_norm(gap, weight, norm)) for norm in (1, 2)]


def _true_gaps(
    said: FloatVector, chance: FloatVector, edges: FloatVector
) -> tuple[FloatVector, FloatVector]:
    """Return gap and weight of these bins if every row shows its true chance."""
    index, n_bins = assign(said, edges), len(edges) - 1
    count = np.bincount(index, minlength=n_bins)
    surplus = np.bincount(index, said - chance, n_bins)
    used = count > 0
    return surplus[used] / count[used], count[used] / len(said)
