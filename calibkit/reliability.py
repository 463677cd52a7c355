"""The bin table, from which every reliability diagram and every binned error is computed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Binning, Bins, Distinct, EqualWidth, FixedEdges, as_bins, assign
from calibkit.inputs import (
    ROUNDING,
    BinaryProblem,
    FloatArray,
    FloatVector,
    IntVector,
    View,
    binary_problem,
    binary_problems,
    unwrapped,
)
from calibkit.inputs.rows import as_probability_array
from calibkit.results import Result, spell

__all__ = ["BinTable", "reliability_table", "reliability_tables"]

_MOST_REPEATED = 100_000_000
_ROUNDED = 0.005 + 1e-9  # of a share with two decimals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BinTable(Result):
    """What happened in each bin.

    Parameters
    ----------
    edges : ndarray of shape (B + 1,)
        From 0 to 1; bins are ``[a, b)``, the last one closed.
    count, mean_prob, frequency : ndarray of shape (B,)
        Number and mean of the predictions, and share whose event happened; NaN in an empty bin.
    view, binning
        Which event, in words; the binning, which `bins` says in words.
    mass : ndarray of shape (B,), optional
        Sum of the weights, which mean and share then use; None where every row counts 1.
    precision : str
        The type of the predictions, up to whose precision one is on an edge, and in the bin above.
    """

    edges: NDArray[np.float64]
    count: NDArray[np.intp]
    mean_prob: NDArray[np.float64]
    frequency: NDArray[np.float64]
    view: str
    binning: Binning
    mass: NDArray[np.float64] | None = None
    precision: str = "float64"

    @classmethod
    def from_bins(cls, count: Any, mean_prob: Any, frequency: Any) -> "BinTable":
        """Return the table of bins that are printed, e.g. those of a diagram in a paper.

        Parameters
        ----------
        count, mean_prob, frequency : array-like of shape (B,)
            Rows, mean prediction and share of events of each bin. The means increase; edges are
            put half-way between them. Shares may be rounded to two decimals.

        Returns
        -------
        BinTable
            Without empty bins, and with whole numbers of events. From `rows` null levels and bands
            are computed.

        Raises
        ------
        ValueError
            If a bin cannot be (with its place and value), or a share of its rows is no number of
            events.

        Examples
        --------
        >>> from calibkit import expected_calibration_error, null_level
        >>> table = BinTable.from_bins([40, 60], [.21, .74], [.33, .70])
        >>> null = null_level(expected_calibration_error, *table.rows(), bins=table.binning, rng=0)
        >>> round(null.value, 3), null.p_value > .05
        (0.07, True)
        """
        columns = {"count": count, "mean_prob": mean_prob, "frequency": frequency}
        given = [unwrapped(values, name) for name, values in columns.items()]
        if given[0].ndim != 1 or len({one.shape for one in given}) > 1 or not given[0].any():
            shapes = ", ".join(str(one.shape) for one in given)
            raise ValueError(f"columns of shapes {shapes}; bins need one number each, and rows.")
        used = np.flatnonzero(given[0] != 0)
        n, mean, share = (one[used].astype(np.float64) for one in given)
        events = np.rint(share * n)
        whole = np.abs(events - share * n) <= _ROUNDED * n
        for name, values, good, wanted in (
            ("count", n, (n > 0) & (n == np.rint(n)), "a number of rows"),
            ("mean_prob", mean, (mean >= 0) & (mean <= 1), "a probability in [0, 1]"),
            ("frequency", share, (share >= 0) & (share <= 1), "a share in [0, 1]"),
            ("frequency", share, whole, "a whole number of events, to two decimals"),
            ("mean_prob", mean, np.diff(mean, prepend=-1) > 0, "above the mean of the bin before"),
        ):
            if not good.all():
                k = int(good.argmin())
                raise ValueError(f"{name}[{used[k]}] = {values[k]:g} is not {wanted}.")
        edges = np.concatenate([[0.0], (mean[:-1] + mean[1:]) / 2, [1.0]])
        binning = FixedEdges(edges)
        return cls(
            edges=edges,
            count=n.astype(np.intp),
            mean_prob=mean,
            frequency=events / n,
            view="positive class",
            binning=binning,
        )

    def rows(self) -> tuple[IntVector, FloatVector]:
        """Return labels and predictions of the bins, as if each prediction were its bin's mean.

        Returns
        -------
        y_true, y_prob : ndarray of shape (n,)
            In any order within a bin; chance is then binomial, and a little larger than that of
            predictions that differ.

        Raises
        ------
        ValueError
            If rows have weights: what chance does to them is not in the table.
        """
        if self.mass is not None:
            raise ValueError("A table of weighted rows does not hold the rows: pass the rows.")
        used = self.occupied
        n, events = self.count[used], np.rint((self.count * self.frequency)[used]).astype(np.intp)
        label = np.tile([1, 0], len(n)).repeat(np.column_stack([events, n - events]).ravel())
        return label, self.mean_prob[used].repeat(n)

    @property
    def bins(self) -> str:
        """The binning in words."""
        return str(self.binning)

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
        """Middle of each bin. It is not the mean prediction."""
        return (self.edges[:-1] + self.edges[1:]) / 2

    @property
    def width(self) -> NDArray[np.float64]:
        """Width of each bin."""
        return np.diff(self.edges)

    def assign(self, prob: FloatArray) -> IntVector:
        """Return the bin of each prediction: ``[a, b)``, the last one closed."""
        slack = slack_of(self.binning, self.precision)
        return assign(as_probability_array(prob), self.edges, slack)

    def describe(self) -> str:
        """Say how many predictions and bins there are, and where the gap is largest."""
        used, gap = self.occupied.sum(), self.gap
        worst = int(np.nanargmax(np.abs(gap)))
        side = "above" if gap[worst] > 0 else "below"
        text = (
            f"{spell(self.n, 'prediction')} ({self.view}) in {self.bins}, {used} of them in use. "
        )
        size, mean, share = abs(gap[worst]), self.mean_prob[worst], self.frequency[worst]
        if size <= ROUNDING[self.precision]:
            return text + "The mean prediction equals the frequency in each bin."
        digits = max(3, int(np.ceil(-np.log10(size))))  # with which the gap is not 0
        return text + (
            f"The largest gap is in bin {worst + 1}: mean prediction {mean:.{digits}f}, "
            f"{size:.{digits}f} {side} the frequency {share:.{digits}f} "
            f"({spell(int(self.count[worst]), 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            "from": self.edges[:-1],
            "to": self.edges[1:],
            "count": self.count,
            **({} if self.mass is None else {"weight": self.mass}),
            "mean_prob": self.mean_prob,
            "frequency": self.frequency,
            "gap": self.gap,
        }


def reliability_table(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = 15,
    positive: Any = None,
    sample_weight: Any = None,
) -> BinTable:
    """Count, mean prediction and frequency per bin, for one event.

    For bin b with the ``n_b`` predictions ``p_i``: ``mean_prob = (1/n_b) sum p_i`` and
    ``frequency = (1/n_b) sum y_i`` (Kängsepp et al. 2022, section 3.2). Lesson 04.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "confidence"}, int or list of int, optional
        Which event, as in `binary_problem`; by default y = 1.
    bins : int, Binning or list of float
        A number of equal-width bins, a binning such as `EqualMass`, or edges from 0 to 1. Bins
        that count rows take whole numbers as weights.
    positive : label, optional
        The label whose probability a one-dimensional `y_prob` is, e.g. ``"yes"``.
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

    See Also
    --------
    reliability_tables : one table for each class.

    Examples
    --------
    >>> table = reliability_table([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)
    >>> table.count.tolist(), table.mean_prob.round(3).tolist(), table.frequency.tolist()
    ([2, 2], [0.25, 0.85], [0.5, 1.0])
    """
    problem = binary_problem(
        y_true, y_prob, view=view, positive=positive, sample_weight=sample_weight
    )
    return table_of(problem, as_bins(bins))


def reliability_tables(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = 15,
    positive: Any = None,
    sample_weight: Any = None,
) -> tuple[BinTable, ...]:
    """Like `reliability_table`, but for every event of the view. Lesson 04.

    Parameters
    ----------
    y_true, y_prob, view, bins, positive, sample_weight
        As in `reliability_table`; `view` may also be ``"class-wise"``: each class in turn.

    Returns
    -------
    tuple of BinTable
        One for each class, or a single one.

    Raises
    ------
    ValueError
        As in `reliability_table`.

    Examples
    --------
    >>> len(reliability_tables([0, 1], [[.8, .2], [.3, .7]], view="class-wise"))
    2
    """
    tables: tuple[BinTable, ...] = ()
    binning = EqualWidth(bins) if type(bins) is int else as_bins(bins)
    for problem in binary_problems(
        y_true, y_prob, view=view, positive=positive, sample_weight=sample_weight
    ):
        tables += (table_of(problem, binning),)
    return tables


def table_of(problem: BinaryProblem, binning: Binning) -> BinTable:
    """Fill the bins of a problem."""
    prob, label, weight = problem.prob, problem.label, problem.weight
    counts_rows = weight is not None and not isinstance(binning, EqualWidth | FixedEdges | Distinct)
    edges = _repeated_edges(problem, binning) if counts_rows else binning.edges(prob, label)
    n_bins = len(edges) - 1
    slack = ROUNDING[problem.precision] * getattr(binning, "tolerance", 0.0)
    index = assign(prob, edges, slack)
    count = np.bincount(index, minlength=n_bins)
    mass = None if weight is None else np.bincount(index, weight, n_bins).astype(float)
    total = count if mass is None else mass
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: the mark of an empty bin
        mean_prob = np.bincount(index, prob if weight is None else weight * prob, n_bins) / total
        frequency = np.bincount(index, label if weight is None else weight * label, n_bins) / total
    return BinTable(
        edges=edges,
        count=count,
        mean_prob=mean_prob,
        frequency=frequency,
        view=problem.view,
        binning=binning,
        mass=mass,
        precision=problem.precision,
    )


def slack_of(binning: Binning, precision: str) -> float:
    """Return how far below an edge a prediction of this type may lie and still be on it."""
    return ROUNDING[precision] * getattr(binning, "tolerance", 0.0)


def _repeated_edges(problem: BinaryProblem, binning: Binning) -> FloatVector:
    """Return the edges of a binning that counts rows: a row of weight 2 counts twice."""
    times = np.asarray(problem.weight)
    if (times != np.rint(times)).any() or times.sum() > _MOST_REPEATED:
        raise ValueError(
            f"bins={binning} count rows, so sample_weight must be whole numbers with a sum of at "
            f"most {_MOST_REPEATED:,}. Use a number of equal-width bins, FixedEdges or Distinct."
        )
    repeated = times.astype(np.intp)
    return binning.edges(problem.prob.repeat(repeated), problem.label.repeat(repeated))
