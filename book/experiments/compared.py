"""Evaluators compared on the same draws: means, standard errors, and who is really ahead."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatVector

# A draw of rows and labels, known by its coordinates: a named tuple.
Keep = Callable[[Any], bool]


def everything(draw: object) -> bool:
    """Keep every draw."""
    return True


def at(n: int) -> Keep:
    """Keep the draws of a size."""
    return lambda draw: draw.n == n


@dataclass(frozen=True)
class Table:
    """One number per draw and evaluator; smaller is better unless `higher`.

    A draw is a named tuple of coordinates. `strata` names those that were chosen and not drawn, as
    sizes are: differences between strata are no chance, and no part of a standard error. `clusters`
    says what draws may have in common beyond that: each entry names coordinates, and all draws that
    agree in them count as one. Of the standard errors by several entries the largest holds.
    """

    draws: tuple[Any, ...]
    names: tuple[str, ...]
    values: NDArray[np.float64]
    higher: bool = False
    strata: tuple[str, ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()

    def where(self, keep: Keep) -> "Table":
        """Return the part with these draws, and the evaluators that have all of them."""
        rows = np.array([keep(draw) for draw in self.draws], dtype=bool)
        values = self.values[rows]
        full = np.isfinite(values).all(axis=0)
        draws = tuple(draw for draw, kept in zip(self.draws, rows, strict=True) if kept)
        names = tuple(name for name, kept in zip(self.names, full, strict=True) if kept)
        return replace(self, draws=draws, names=names, values=values[:, full])

    def having(self, *names: str) -> "Table":
        """Return the part with the draws on which all these evaluators were measured."""
        columns = self.values[:, [self.names.index(name) for name in names]]
        kept = {draw for draw, row in zip(self.draws, columns, strict=True) if all(row == row)}
        return self.where(lambda draw: draw in kept)

    def averaged(self, **merged: Any) -> "Table":
        """Return the means of draws that differ in these coordinates only, which get new values."""
        groups = self._by(c for c in self.draws[0]._fields if c not in merged)
        draws = tuple(self.draws[rows[0]]._replace(**merged) for rows in groups)
        values = np.array([self.values[rows].mean(axis=0) for rows in groups])
        return replace(self, draws=draws, values=values)

    def only(self, names: Iterable[str]) -> "Table":
        """Return the part with these evaluators."""
        wanted = set(names)
        kept = tuple(name for name in self.names if name in wanted)
        columns = [self.names.index(name) for name in kept]
        return replace(self, names=kept, values=self.values[:, columns])

    def column(self, name: str) -> FloatVector:
        """Return the numbers of one evaluator, one per draw."""
        return np.asarray(self.values[:, self.names.index(name)])

    def mean(self, name: str) -> float:
        """Return the mean over draws."""
        return float(self.column(name).mean())

    def standard_error(self, name: str) -> float:
        """Return the standard error of the mean."""
        return self.error_of_mean(self.column(name))

    def spread(self, name: str) -> float:
        """Return the standard deviation from draw to draw within strata, over all of them."""
        values = self.column(name)
        return float(np.sqrt(np.mean([values[rows].var(ddof=1) for rows in self._by(self.strata)])))

    def best(self) -> str:
        """Return the evaluator with the best mean."""
        means = self.values.mean(axis=0)
        return self.names[int(means.argmax() if self.higher else means.argmin())]

    def gap(self, one: str, other: str) -> tuple[float, float]:
        """Return the mean difference on the same draws, and its standard error."""
        difference = self.column(one) - self.column(other)
        return float(difference.mean()), self.error_of_mean(difference)

    def leaders(self) -> tuple[str, ...]:
        """Return all that the best one does not beat by more than twice the standard error."""
        best = self.best()
        gaps = {name: self.gap(name, best) for name in self.names}
        return tuple(name for name, (gap, error) in gaps.items() if abs(gap) <= 2 * error)

    def beats(self, one: str, other: str) -> bool:
        """Tell whether one evaluator is better by more than twice the standard error."""
        gap, error = self.gap(one, other)
        return (gap if self.higher else -gap) > 2 * error

    def wins(self, coordinate: str) -> dict[str, int]:
        """Return at how many values of a coordinate each evaluator has the best mean."""
        means = [self.values[rows].mean(axis=0) for rows in self._by((coordinate,))]
        best = [self.names[int(m.argmax() if self.higher else m.argmin())] for m in means]
        return {name: best.count(name) for name in self.names}

    def span(self, name: str, coordinate: str) -> tuple[float, float]:
        """Return the smallest and the largest mean of an evaluator at one value of a coordinate."""
        values = self.column(name)
        means = [values[rows].mean() for rows in self._by((coordinate,))]
        return float(min(means)), float(max(means))

    def error_of_mean(self, values: FloatVector) -> float:
        """Return the standard error of the mean of a number per draw; NaN from single clusters."""
        every_draw_alone = (self.draws[0]._fields,)
        ways = [self._by(coordinates) for coordinates in self.clusters or every_draw_alone]
        return float(np.max([self._clustered_error(values, way) for way in ways]))

    def _clustered_error(self, values: FloatVector, clusters: list[NDArray[np.int64]]) -> float:
        """Return the standard error by the sums of the clusters' deviations, within strata.

        Where all clusters are of one size, it is that of the mean of the clusters' means.
        """
        number = np.empty(len(values), dtype=np.int64)
        for i, rows in enumerate(clusters):
            number[rows] = i
        variance = 0.0
        for rows in self._by(self.strata):
            _, cluster = np.unique(number[rows], return_inverse=True)
            sums = np.bincount(cluster, values[rows] - values[rows].mean())
            variance += len(sums) * sums.var(ddof=1) if len(sums) > 1 else np.nan
        return float(np.sqrt(variance) / len(values))

    def _by(self, coordinates: Iterable[str]) -> list[NDArray[np.int64]]:
        """Return the rows of the draws that agree in these coordinates, group by group."""
        names = tuple(coordinates)
        groups: dict[tuple[Any, ...], list[int]] = {}
        for row, draw in enumerate(self.draws):
            groups.setdefault(tuple(getattr(draw, name) for name in names), []).append(row)
        return [np.array(rows) for rows in groups.values()]


class Finding(NamedTuple):
    """Our numbers in words, and what they say about a claim."""

    ours: str
    verdict: str


def versus(table: Table, better: str, worse: str, factor: float = 1000, digits: int = 2) -> Finding:
    """Ask whether one evaluator beats another by more than twice the standard error."""
    one, other = (f"{factor * table.mean(name):.{digits}f}" for name in (better, worse))
    error = table.gap(better, worse)[1]
    ours = f"{one} against {other}, difference ± {factor * error:.{digits}f}"
    if table.beats(better, worse):
        return Finding(ours, "confirmed")
    reverse = table.beats(worse, better)
    return Finding(ours, "the reverse holds" if reverse else "not separated")


def first(
    table: Table,
    name: str,
    among: Sequence[str],
    titles: Callable[[str], str] = str,
    factor: float = 1000,
    digits: int = 2,
) -> Finding:
    """Ask whether an evaluator is the best of several."""
    part = table.only(among)
    best, leaders = part.best(), part.leaders()
    ours = f"best is {titles(best)}, {factor * part.mean(best):.{digits}f}"
    if name != best:
        ours += f"; here {factor * part.mean(name):.{digits}f}"
    if name not in leaders:
        return Finding(ours, "not confirmed")
    if name != best:
        return Finding(ours, "not separated from the best")
    return Finding(ours, "confirmed" if leaders == (name,) else "best, but not separated")
