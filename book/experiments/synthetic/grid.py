"""The cells of a study: which data, which evaluator. A cell is its coordinates and nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from calibkit.fakes import FakeSample, SyntheticShape
from calibkit.fakes.binary import SHAPES
from calibkit.inputs import FloatVector, as_count

# Mean calibration errors of the derivates in the source: 0, .005, …, .1.
DERIVATE_ERRORS = tuple(step / 200 for step in range(21))
SIZES = (1_000, 3_000, 10_000)
SEEDS = tuple(range(5))
# The map is judged on this many predictions that no evaluator has seen, drawn with this seed.
UNSEEN, UNSEEN_SEED = 1_000_000, 0


class Unseen(NamedTuple):
    """Predictions on which a fitted map is judged, and the truth behind them."""

    prob: FloatVector
    true_prob: FloatVector


@dataclass(frozen=True, order=True, slots=True)
class DataSet:
    """One data set of the study, given by its coordinates.

    Parameters
    ----------
    shape : {"square", "sqrt", "beta1", "beta2", "stairs"}
        How truth and prediction are related, see `calibkit.fakes.SyntheticShape`.
    error : float
        Wanted true calibration error ``E |p - c|`` of the classifier, in [0, error of the shape].
    n : int
        Number of predictions, at least 1.
    seed : int
        Seed of the draw, from 0 on.
    """

    shape: str
    error: float
    n: int
    seed: int

    def __post_init__(self) -> None:
        as_count(self.n, "n")
        as_count(self.seed, "seed", minimum=0)
        self.classifier()  # refuses unknown shapes and impossible errors

    @property
    def key(self) -> str:
        """The coordinates as the name of a file."""
        return f"{self.shape}-{self.error:.4f}-{self.n}-{self.seed}"

    def classifier(self) -> SyntheticShape:
        """Return the fake classifier that makes the data."""
        return SyntheticShape.with_error(self.shape, self.error)

    def sample(self) -> FakeSample:
        """Draw the data."""
        return self.classifier().sample(self.n, self.seed)

    def unseen(self) -> Unseen:
        """Return a million other predictions of the same classifier, in rising order."""
        return unseen_rows(self.shape, self.error)


@lru_cache(maxsize=1)
def unseen_truth() -> FloatVector:
    """Return the true probabilities of the unseen predictions."""
    return SyntheticShape("square", 0.0).sample(UNSEEN, UNSEEN_SEED).true_prob


@lru_cache(maxsize=2)
def unseen_rows(shape: str, error: float) -> Unseen:
    """Return the unseen predictions of a shape with their truth."""
    truth = unseen_truth()
    prob = SyntheticShape.with_error(shape, error).predict(truth)
    prob.flags.writeable = False
    return Unseen(prob, truth)


class Cell(NamedTuple):
    """Coordinates of one number of a study: a data set and the name of an evaluator."""

    shape: str
    error: float
    n: int
    seed: int
    evaluator: str

    @property
    def data_set(self) -> DataSet:
        """The data of this cell."""
        return DataSet(*self[:4])


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of shapes, errors, sizes and seeds; by default the 1575 of Kängsepp et al..

    Parameters
    ----------
    shapes : tuple of str
        Names of shapes.
    errors : tuple of float
        True calibration errors of the derivates.
    sizes : tuple of int
        Numbers of predictions.
    seeds : tuple of int
        Seeds of the draws.
    """

    shapes: tuple[str, ...] = SHAPES
    errors: tuple[float, ...] = DERIVATE_ERRORS
    sizes: tuple[int, ...] = SIZES
    seeds: tuple[int, ...] = SEEDS

    def __post_init__(self) -> None:
        for name in ("shapes", "errors", "sizes", "seeds"):
            axis = getattr(self, name)
            if not isinstance(axis, tuple) or not axis or len(set(axis)) != len(axis):
                raise ValueError(
                    f"{name} must be a tuple of different values, at least one, got {axis!r}."
                )
        for shape, error in product(self.shapes, self.errors):
            DataSet(shape, error, self.sizes[0], self.seeds[0])
        for n, seed in product(self.sizes, self.seeds):
            DataSet(self.shapes[0], self.errors[0], n, seed)

    def __len__(self) -> int:
        return len(self.shapes) * len(self.errors) * len(self.sizes) * len(self.seeds)

    def __iter__(self) -> Iterator[DataSet]:
        """Yield the data sets; those that share their unseen predictions stand together."""
        axes = product(self.shapes, self.errors, self.sizes, self.seeds)
        return (DataSet(*coordinates) for coordinates in axes)
