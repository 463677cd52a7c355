"""Evaluators compared on the same draws: means, standard errors, and who is really ahead."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatVector = NDArray[np.float64]

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
    sizes are: differences between strata are no chance, and no part of a standard error.
    """

    draws: tuple[Any, ...]
    names: tuple[str, ...]
    values: NDArray[np.float64]
    higher: bool = False
    strata: tuple[str, ...] = ()

    def where(self, keep: Keep) -> "Table":
        """Return the part with these draws, and the evaluators that have all of them."""
        rows = np.array([keep(draw) for draw in self.draws], dtype=bool)
        values = self.values[rows]
        full = np.isfinite(values).all(axis=0)
        draws = tuple(draw for draw, kept in zip(self.draws, rows, strict=True) if kept)
        names = tuple(name for name, kept in zip(self.names, full, strict=True) if kept)
        return Table(draws, names, values[:, full], self.higher, self.strata)

    def only(self, names: Iterable[str]) -> "Table":
        """Return the part with these evaluators."""
        wanted = set(names)
        kept = tuple(name for name in self.names if name in wanted)
        columns = [self.names.index(name) for name in kept]
        return Table(self.draws, kept, self.values[:, columns], self.higher, self.strata)

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
        parts = [values.var(ddof=1) for values in self._parts(self.column(name))]
        return float(np.sqrt(np.mean(parts)))

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
        groups: dict[Any, set[Any]] = {}
        for draw in self.draws:
            groups.setdefault(getattr(draw, coordinate), set()).add(draw)
        best = [self.where(group.__contains__).best() for group in groups.values()]
        return {name: best.count(name) for name in self.names}

    def error_of_mean(self, values: FloatVector) -> float:
        """Return the standard error of the mean of one number per draw; NaN from single draws."""
        parts = self._parts(values)
        if min(map(len, parts)) < 2:
            return float("nan")
        return float(np.sqrt(sum(len(p) * p.var(ddof=1) for p in parts)) / len(values))

    def _parts(self, values: FloatVector) -> list[FloatVector]:
        """Return the values by stratum."""
        parts: dict[tuple[Any, ...], list[float]] = {}
        for draw, value in zip(self.draws, values, strict=True):
            key = tuple(getattr(draw, name) for name in self.strata)
            parts.setdefault(key, []).append(value)
        return [np.array(part) for part in parts.values()]


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
