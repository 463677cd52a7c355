"""What a study gives back: one row per cell, and the tables that are means over cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from book.experiments.synthetic.grid import Cell
from book.experiments.synthetic.measures import Measures
from calibkit._result import Result, read_only, spell

FloatVector = NDArray[np.float64]

MEASURES = tuple(name for name in Measures._fields if name not in ("choice", "seconds"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class StudyTable(Result):
    """One number per shape and evaluator.

    Parameters
    ----------
    title : str
        What the numbers are.
    shapes : tuple of str
        The rows.
    evaluators : tuple of str
        The columns.
    values : ndarray of shape (number of shapes, number of evaluators)
        The numbers, not multiplied by anything.
    n_data_sets : int
        How many data sets each number was computed from.
    """

    title: str
    shapes: tuple[str, ...]
    evaluators: tuple[str, ...]
    values: NDArray[np.float64]
    n_data_sets: int

    def column(self, evaluator: str) -> FloatVector:
        """Return the numbers of one evaluator, one per shape."""
        if evaluator not in self.evaluators:
            raise ValueError(f"no evaluator {evaluator!r}; there are {', '.join(self.evaluators)}.")
        column: FloatVector = self.values[:, self.evaluators.index(evaluator)]
        return column

    def describe(self) -> str:
        """Say what the table shows, and the best evaluator of each shape."""
        return (
            f"{self.title}, {spell(len(self.shapes), 'shape')} and "
            f"{spell(len(self.evaluators), 'evaluator')}, each from "
            f"{spell(self.n_data_sets, 'data set')}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        numbers = {name: self.column(name) for name in self.evaluators}
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

    def seconds_table(self) -> StudyTable:
        """Return the mean time of a fit, in seconds."""
        return self._means(self.seconds, "mean seconds of a fit")

    def rank_table(self) -> StudyTable:
        """Return how well the evaluators rank classifiers (Table 27).

        Spearman's correlation between estimated and true error over the derivates of a shape,
        averaged over sizes and seeds. NaN where all estimates of a group are equal.
        """
        groups: dict[tuple[str, str], list[float]] = {}
        keys = zip(self.shape, self.evaluator, self.n, self.seed, strict=True)
        rows: dict[tuple[Any, ...], list[int]] = {}
        for row, key in enumerate(keys):
            rows.setdefault(key, []).append(row)
        for (shape, evaluator, _, _), members in rows.items():
            value = _spearman(self.absolute[members], self.true_absolute[members])
            groups.setdefault((shape, evaluator), []).append(value)
        return self._table(groups, "mean rank correlation of estimated and true error")

    def _means(self, values: FloatVector, title: str) -> StudyTable:
        groups: dict[tuple[str, str], list[float]] = {}
        for shape, evaluator, value in zip(self.shape, self.evaluator, values, strict=True):
            groups.setdefault((shape, evaluator), []).append(value)
        return self._table(groups, title)

    def _table(self, groups: Mapping[tuple[str, str], list[float]], title: str) -> StudyTable:
        shapes = tuple(dict.fromkeys(self.shape.tolist()))
        evaluators = tuple(dict.fromkeys(self.evaluator.tolist()))
        values = [[_mean(groups[shape, name]) for name in evaluators] for shape in shapes]
        return StudyTable(
            title=title,
            shapes=shapes,
            evaluators=evaluators,
            values=read_only(np.array(values)),
            n_data_sets=self.n_cells // (len(shapes) * len(evaluators)),
        )

    def describe(self) -> str:
        """Say how many cells there are and of what."""
        evaluators, shapes = len(set(self.evaluator.tolist())), len(set(self.shape.tolist()))
        sets = self.n_cells // evaluators
        return (
            f"A study of {spell(evaluators, 'evaluator')} on {spell(sets, 'data set')} of "
            f"{spell(shapes, 'shape')}: {spell(self.n_cells, 'cell')}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in self.__slots__}


def _mean(values: list[float]) -> float:
    return fsum(values) / len(values)  # exact, so the order of the cells does not matter


def _spearman(estimate: FloatVector, truth: FloatVector) -> float:
    """Return Spearman's rank correlation; NaN where one side is constant."""
    ranks = np.array([stats.rankdata(estimate), stats.rankdata(truth)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    sizes = float(np.sqrt(np.prod(np.sum(ranks**2, axis=1))))
    return float(np.sum(ranks[0] * ranks[1]) / sizes) if sizes > 0 else float("nan")
