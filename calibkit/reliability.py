"""The bin table, from which every reliability diagram and every binned error is computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Binning, Bins, Distinct, EqualWidth, FixedEdges, as_bins
from calibkit.inputs import BinaryProblem, Rows, View, one_problem, shows_rows, weighted_problems
from calibkit.results import Result, spell

# Sums are taken over blocks that fit the processor's cache, then added: faster than one pass
# over large arrays, and the rounding error grows with the number of blocks only.
_BLOCK = 65_536
_MOST_REPEATED = 100_000_000

__all__ = ["BinTable", "reliability_table", "reliability_tables"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BinTable(Result):
    """What happened in each bin.

    Parameters
    ----------
    edges : ndarray of shape (B + 1,)
        From 0 to 1; bins are ``[a, b)``, the last one closed.
    count, mean_prob, frequency : ndarray of shape (B,)
        Number and mean of the predictions, and share whose event happened; NaN in an empty bin.
    view, bins, binning
        Which event, and the binning, in words; the binning itself.
    mass : ndarray of shape (B,), optional
        Sum of the weights, which mean and share then use; None where every row counts 1.
    """

    edges: NDArray[np.float64]
    count: NDArray[np.intp]
    mean_prob: NDArray[np.float64]
    frequency: NDArray[np.float64]
    view: str
    bins: str
    binning: Binning
    mass: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        """Number of predictions."""
        return int(self.count.sum())

    @property
    def n_bins(self) -> int:
        """Number of bins, empty ones included."""
        return len(self.count)

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Which bins hold at least one prediction."""
        return self.count > 0

    @property
    def total(self) -> NDArray[Any]:
        """Number of predictions, or the sum of their weights, in each bin."""
        return self.count if self.mass is None else self.mass

    @property
    def weight(self) -> NDArray[np.float64]:
        """Share of all predictions, or of their weights, in each bin; sums to 1."""
        return np.asarray(self.total / self.total.sum())

    @property
    def gap(self) -> NDArray[np.float64]:
        """Mean prediction minus frequency: positive where the model promises too much."""
        return self.mean_prob - self.frequency

    @property
    def centre(self) -> NDArray[np.float64]:
        """Middle of each bin. It is not the mean prediction: see lesson 04."""
        return (self.edges[:-1] + self.edges[1:]) / 2

    @property
    def width(self) -> NDArray[np.float64]:
        """Width of each bin."""
        return np.diff(self.edges)

    def describe(self) -> str:
        """Say how many predictions and bins there are, and where the gap is largest."""
        used, gap = self.occupied.sum(), self.gap
        worst = int(np.nanargmax(np.abs(gap)))
        side = "above" if gap[worst] > 0 else "below"
        text = (
            f"{spell(self.n, 'prediction')} ({self.view}) in {self.bins}, {used} of them in use. "
        )
        if abs(gap[worst]) < 5e-4:
            return text + "The mean prediction equals the frequency in each bin."
        return text + (
            f"The largest gap is in bin {worst + 1}: mean prediction {self.mean_prob[worst]:.3f}, "
            f"{abs(gap[worst]):.3f} {side} the frequency {self.frequency[worst]:.3f} "
            f"({spell(int(self.count[worst]), 'prediction')})."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "from": self.edges[:-1],
            "to": self.edges[1:],
            "count": self.count,
            **({} if self.mass is None else {"weight": self.mass}),
            "mean_prob": self.mean_prob,
            "frequency": self.frequency,
            "gap": self.gap,
        }


@shows_rows
def reliability_table(
    y_true: Any, y_prob: Any, *, view: View = None, bins: Bins = 15, **rows: Unpack[Rows]
) -> BinTable:
    """Count, mean prediction and frequency per bin, for one binary problem.

    For bin b with the ``n_b`` predictions ``p_i``: ``mean_prob = (1/n_b) sum p_i`` and
    ``frequency = (1/n_b) sum y_i`` (Kängsepp et al. 2022, section 3.2). Taught in lesson 04.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event: the predicted class was right, the class was this one, or one of these; by
        default y = 1, which only one-dimensional `y_prob` has.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`. Bins that count rows take
        whole numbers as weights.
    positive : label, optional
        The label whose probability a one-dimensional `y_prob` is, where `y_true` holds two words,
        numbers or truth values, e.g. ``positive="yes"``.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row, whose confidence `y_prob` is: see `binary_problem`.
    sample_weight : array-like of shape (n,), optional
        What each row counts, at least 0: a row of weight 2 is that row twice, one of weight 0 is
        left out.

    Returns
    -------
    BinTable
        One row per bin, empty bins included.

    Raises
    ------
    ValueError
        If labels, probabilities (the message names row and value), view or options are not valid.

    Examples
    --------
    >>> table = reliability_table([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)
    >>> table.count.tolist(), table.mean_prob.round(3).tolist(), table.frequency.tolist()
    ([2, 2], [0.25, 0.85], [0.5, 1.0])
    """
    return table_of(one_problem(y_true, y_prob, view=view, **rows), as_bins(bins))


@shows_rows
def reliability_tables(
    y_true: Any, y_prob: Any, *, view: View = None, bins: Bins = 15, **rows: Unpack[Rows]
) -> tuple[BinTable, ...]:
    """Like `reliability_table`, but for every problem of the view. Taught in lesson 04.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event: the predicted class was right, the class was this one, or one of these; each
        class in turn; by default y = 1, which only one-dimensional `y_prob` has.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`.
    positive : label, optional
        The label whose probability a one-dimensional `y_prob` is, where `y_true` holds two words,
        numbers or truth values, e.g. ``positive="yes"``.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row, whose confidence `y_prob` is: see `binary_problem`.
    sample_weight : array-like of shape (n,), optional
        What each row counts, at least 0: a row of weight 2 is that row twice, one of weight 0 is
        left out.

    Returns
    -------
    tuple of BinTable
        One for each class, or a single one.

    Raises
    ------
    ValueError
        If labels, probabilities (the message names row and value), view or options are not valid.

    Examples
    --------
    >>> len(reliability_tables([0, 1], [[.8, .2], [.3, .7]], view="class-wise"))
    2
    """
    binning = as_bins(bins)
    problems = weighted_problems(y_true, y_prob, view=view, **rows)
    tables = [table_of(problem, binning) for problem in problems]
    return tuple(tables)


def table_of(problem: BinaryProblem, binning: Binning) -> BinTable:
    """Return the table of bins of a problem that has been checked."""
    edges = edges_of(problem, binning)
    count, sum_prob, hits, mass = bin_sums(problem, binning, edges)
    return table_of_sums(edges, (count, sum_prob, hits), binning, view=problem.view, mass=mass)


def edges_of(problem: BinaryProblem, binning: Binning) -> NDArray[np.float64]:
    """Return the edges of a binning; where it counts rows, a row of weight 2 counts twice."""
    weight = problem.weight
    if weight is None or type(binning) in (EqualWidth, FixedEdges, Distinct):
        return binning.edges(problem.prob, problem.label)
    if (weight != np.rint(weight)).any() or weight.sum() > _MOST_REPEATED:
        raise ValueError(
            f"bins={binning} count rows, so sample_weight must be whole numbers with a sum of at "
            f"most {_MOST_REPEATED:,}. Use a number of equal-width bins, FixedEdges or Distinct."
        )
    times = weight.astype(np.intp)
    return binning.edges(problem.prob.repeat(times), problem.label.repeat(times))


def table_of_sums(
    edges: NDArray[np.float64],
    sums: tuple[NDArray[Any], NDArray[np.float64], NDArray[Any]],
    binning: Binning,
    *,
    view: str,
    bins: str | None = None,
    mass: NDArray[np.float64] | None = None,
) -> BinTable:
    """Make a bin table of count, sum of predictions and events per bin."""
    count, sum_prob, hits = sums
    total = count if mass is None else mass
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: the mark of an empty bin
        mean_prob, frequency = sum_prob / total, hits / total
    return BinTable(
        edges=edges,
        count=count,
        mean_prob=mean_prob,
        frequency=frequency,
        view=view,
        bins=str(binning) if bins is None else bins,
        binning=binning,
        mass=mass,
    )


def bin_sums(
    problem: BinaryProblem, binning: Binning, edges: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[Any], NDArray[np.float64] | None]:
    """Return count, sum of predictions, events and, if there are weights, their sum, per bin."""
    n_bins, weight = len(edges) - 1, problem.weight
    if weight is not None:
        index = binning.assign(problem.prob, edges)
        columns = weight * problem.prob, weight * problem.label, weight
        of_prob, hits, mass = (np.bincount(index, c, n_bins).astype(float) for c in columns)
        return np.bincount(index, minlength=n_bins), of_prob, hits, mass
    counts = np.zeros(2 * n_bins, dtype=np.intp)
    sum_prob = np.zeros(n_bins)
    for start in range(0, len(problem.prob), _BLOCK):
        prob = problem.prob[start : start + _BLOCK]
        index = binning.assign(prob, edges)
        sum_prob += np.bincount(index, weights=prob, minlength=n_bins)
        # Events are counted in a second row of bins: one pass gives both counts.
        index += problem.label[start : start + _BLOCK].astype(np.intp) * n_bins
        counts += np.bincount(index, minlength=2 * n_bins)
    return counts[:n_bins] + counts[n_bins:], sum_prob, counts[n_bins:], None
