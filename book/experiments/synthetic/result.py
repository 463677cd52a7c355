"""What a study gives back: one row per cell, and the tables that are means over cells."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from book.experiments.compared import Keep, Table, everything
from book.experiments.synthetic.grid import Cell
from book.experiments.synthetic.measures import Measures
from calibkit.inputs import FloatVector
from calibkit.results import Result, read_only, spell

MEASURES = tuple(name for name in Measures._fields if name not in ("choice", "seconds"))


class Draw(NamedTuple):
    """What one draw of truths and labels belongs to; all strengths of a shape share it."""

    shape: str
    n: int
    seed: int


def of_shape(shape: str) -> Keep:
    """Keep the draws of a shape."""
    return lambda draw: draw.shape == shape


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class StudyTable(Result):
    """One number per shape and evaluator, and all that stands behind it.

    Parameters
    ----------
    title : str
        What the numbers are.
    draws : Table
        The number of each draw, a mean over the strengths of its shape.
    n_data_sets : int
        How many data sets each number was computed from.
    """

    title: str
    draws: Table
    n_data_sets: int

    @property
    def shapes(self) -> tuple[str, ...]:
        """The rows."""
        return tuple(dict.fromkeys(draw.shape for draw in self.draws.draws))

    @property
    def evaluators(self) -> tuple[str, ...]:
        """The columns: all evaluators that measured every draw."""
        return self.draws.where(everything).names

    @property
    def values(self) -> NDArray[np.float64]:
        """The numbers, of shape (shapes, evaluators), not multiplied by anything."""
        parts = [self.of(shape) for shape in self.shapes]
        return read_only([[part.mean(name) for name in self.evaluators] for part in parts])

    def of(self, shape: str) -> Table:
        """Return the draws of one shape."""
        return self.draws.where(of_shape(shape)).only(self.evaluators)

    def pooled(self) -> Table:
        """Return the means over shapes: a draw of labels is the same for all of them."""
        return self.draws.averaged(shape="all").where(everything)

    def column(self, evaluator: str) -> FloatVector:
        """Return the numbers of one evaluator, one per shape."""
        if evaluator not in self.evaluators:
            raise ValueError(f"no evaluator {evaluator!r}; there are {', '.join(self.evaluators)}.")
        column: FloatVector = self.values[:, self.evaluators.index(evaluator)]
        return column

    def describe(self) -> str:
        """Say what the table shows."""
        return (
            f"{self.title}, {spell(len(self.shapes), 'shape')} and "
            f"{spell(len(self.evaluators), 'evaluator')}, each from "
            f"{spell(self.n_data_sets, 'data set')}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        numbers = dict(zip(self.evaluators, self.values.T, strict=True))
        return {"shape": np.array(self.shapes), **numbers}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class StudyResult(Result):
    """The measures of every cell of a study.

    Parameters
    ----------
    shape, error, n, seed, evaluator : ndarray of shape (m,)
        Coordinates of the m cells.
    map_error, after, absolute, squared, true_absolute, true_squared : ndarray of shape (m,)
        The measures, see `Measures`.
    choice : ndarray of shape (m,)
        Number of bins, pieces or parameters of the fitted evaluator; 0 where none is counted.
    seconds : ndarray of shape (m,)
        Time of the fit. The only numbers that differ from run to run.
    map_squared : ndarray of shape (m,)
        Squared distance of the map, see `Measures`; NaN where it was not stored.
    """

    shape: NDArray[np.str_]
    error: NDArray[np.float64]
    n: NDArray[np.int64]
    seed: NDArray[np.int64]
    evaluator: NDArray[np.str_]
    map_error: NDArray[np.float64]
    after: NDArray[np.float64]
    absolute: NDArray[np.float64]
    squared: NDArray[np.float64]
    true_absolute: NDArray[np.float64]
    true_squared: NDArray[np.float64]
    choice: NDArray[np.int64]
    seconds: NDArray[np.float64]
    map_squared: NDArray[np.float64]

    @classmethod
    def of(cls, cells: Mapping[Cell, Measures]) -> Self:
        """Return the result that holds these cells, in their order."""
        if not cells:
            raise ValueError("A study needs at least one cell.")
        names = (*Cell._fields, *Measures._fields)
        rows = zip(*((*cell, *row) for cell, row in cells.items()), strict=True)
        return cls(**{name: read_only(list(row)) for name, row in zip(names, rows, strict=True)})

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.shape)

    def cells(self) -> dict[Cell, Measures]:
        """Return the measures by cell."""
        columns = {name: getattr(self, name).tolist() for name in self.__slots__}
        keys = zip(*(columns[name] for name in Cell._fields), strict=True)
        rows = zip(*(columns[name] for name in Measures._fields), strict=True)
        return {Cell(*key): Measures(*row) for key, row in zip(keys, rows, strict=True)}

    def select(self, **coordinates: Any) -> Self:
        """Return the part of the study with these coordinates."""
        kept = np.ones(self.n_cells, dtype=bool)
        for name, wanted in coordinates.items():
            if name not in Cell._fields:
                raise ValueError(f"no coordinate {name!r}; there are {', '.join(Cell._fields)}.")
            kept &= np.isin(getattr(self, name), np.atleast_1d(wanted))
        if not kept.any():
            raise ValueError(f"no cell of this study has {coordinates}.")
        return type(self)(**{name: read_only(getattr(self, name)[kept]) for name in self.__slots__})

    def strengths_of(self, evaluator: str) -> tuple[float, ...]:
        """Return the strengths on which an evaluator was measured, in rising order."""
        return tuple(sorted(set(self.error[self.evaluator == evaluator].tolist())))

    def only(self, evaluator: str) -> Self:
        """Return the part with the strengths on which an evaluator was measured."""
        return self.select(error=self.strengths_of(evaluator))

    def map_error_table(self) -> StudyTable:
        """Return the mean distance of the fitted map from the truth on unseen data (Table 24)."""
        return self._means(self.map_error, "mean |c_hat - c| on unseen predictions")

    def after_table(self) -> StudyTable:
        """Return the mean calibration error that is left when the map has been applied."""
        return self._means(self.after, "calibration error after calibration")

    def absolute_table(self) -> StudyTable:
        """Return the mean distance of the estimated from the true error (Table 25)."""
        distance = np.abs(self.absolute - self.true_absolute)
        return self._means(distance, "mean distance of the estimated error from the true one")

    def squared_table(self) -> StudyTable:
        """Return the mean distance of the estimated from the true squared error (Table 26)."""
        distance = np.abs(self.squared - self.true_squared)
        return self._means(distance, "mean distance of the estimated squared error from the truth")

    def choice_table(self) -> StudyTable:
        """Return the mean number of bins, pieces or parameters."""
        return self._means(self.choice.astype(np.float64), "mean number of bins or pieces")

    def rank_table(self) -> StudyTable:
        """Return how well the evaluators rank classifiers (Table 27).

        Spearman's correlation between estimated and true error over the derivates of a shape,
        averaged over sizes and seeds. Evaluators whose estimates are all equal have none.
        """
        title = "mean rank correlation of estimated and true error"
        judge = lambda r: _spearman(self.absolute[r], self.true_absolute[r])  # noqa: E731
        return self._table(judge, title, higher=True)

    def _means(self, values: FloatVector, title: str) -> StudyTable:
        return self._table(lambda rows: fsum(values[rows]) / len(rows), title)

    def _table(
        self, number: Callable[[list[int]], float], title: str, *, higher: bool = False
    ) -> StudyTable:
        """Return the table of a number that is computed from all strengths of a draw."""
        groups: dict[Draw, dict[str, list[int]]] = {}
        keys = zip(self.shape, self.n, self.seed, self.evaluator, strict=True)
        for row, (shape, n, seed, evaluator) in enumerate(keys):
            draw = groups.setdefault(Draw(str(shape), int(n), int(seed)), {})
            draw.setdefault(str(evaluator), []).append(row)
        names = tuple(dict.fromkeys(self.evaluator.tolist()))
        values = np.full((len(groups), len(names)), np.nan)
        for i, found in enumerate(groups.values()):
            most = max(map(len, found.values()))
            for name, rows in found.items():
                if len(rows) == most:
                    values[i, names.index(name)] = number(rows)
        draws = Table(tuple(groups), names, values, higher, strata=("n",))
        return StudyTable(
            title=title, draws=draws, n_data_sets=self._n_data_sets() // _n(self.shape)
        )

    def _n_data_sets(self) -> int:
        return len(set(zip(self.shape, self.error, self.n, self.seed, strict=True)))

    def describe(self) -> str:
        """Say how many cells there are and of what."""
        sets = spell(self._n_data_sets(), "data set")
        return (
            f"A study of {spell(_n(self.evaluator), 'evaluator')} on {sets} of "
            f"{spell(_n(self.shape), 'shape')}: {spell(self.n_cells, 'cell')}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in self.__slots__}


def _n(values: NDArray[Any]) -> int:
    return len(set(values.tolist()))


def _spearman(estimate: FloatVector, truth: FloatVector) -> float:
    """Return Spearman's rank correlation; NaN where one side is constant."""
    ranks = np.array([stats.rankdata(estimate), stats.rankdata(truth)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    sizes = float(np.sqrt(np.prod(np.sum(ranks**2, axis=1))))
    return float(np.sum(ranks[0] * ranks[1]) / sizes) if sizes > 0 else float("nan")
