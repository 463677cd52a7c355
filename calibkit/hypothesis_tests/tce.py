"""The test-based calibration error: the share of the predictions that the labels contradict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.bins import Binning, Bins, PavaBC, as_bins, bounds_of_bins, edges_between
from calibkit.chance.null import p_value_of, redrawn_labels
from calibkit.errors.family import OfTables, view_of
from calibkit.hypothesis_tests.p_values import lower_tail, p_values_of, tails_of, upper_tail
from calibkit.inputs import (
    BinaryProblem,
    BoolVector,
    FloatArray,
    FloatVector,
    IntArray,
    IntVector,
    Rng,
    View,
    as_count,
    as_generator,
    as_level,
    as_probabilities,
    binary_problems,
)
from calibkit.reliability import BinTable, slack_of
from calibkit.results import read_only, spell

_CLEAR = 1e-9  # by this a bound must differ from the level for no p-value to be computed


def rejections(hits: IntVector, bounds: IntVector, prob: FloatVector, alpha: float) -> BoolVector:
    """Test the sorted predictions ``bounds[b] : bounds[b + 1]`` against ``hits[b]`` events.

    A p-value holds the tail of the observed events, so that a prediction between both one-sided
    limits of Clopper and Pearson is accepted without computing it: nearly all of them are.
    Of the others, see `_rejected`; 60 redraws of 8,000 rows would otherwise take a second.
    """
    count = np.diff(bounds)
    with np.errstate(invalid="ignore"):  # no limit where no events, or only events, occurred
        low = np.where(hits == 0, 0.0, special.betaincinv(hits, count - hits + 1, alpha))
        high = np.where(hits == count, 1.0, special.betainccinv(hits + 1, count - hits, alpha))
    of = bin_of_rows(bounds)
    near = np.flatnonzero((prob <= low[of] + _CLEAR) | (prob >= high[of] - _CLEAR))
    rejected, at = np.zeros(len(prob), dtype=bool), np.searchsorted(near, bounds)
    for b in np.flatnonzero(np.diff(at)):
        rows = near[at[b] : at[b + 1]]
        rejected[rows] = _rejected(int(hits[b]), int(count[b]), prob[rows], alpha)
    return rejected


def _rejected(k: int, n: int, p: FloatVector, alpha: float) -> BoolVector:
    """Test sorted predictions; of long stretches only knots, where those settle all between.

    Where p rises, both tails begin later; and for fixed beginnings the lower one falls, the upper
    one rises. So each p-value between two knots lies from `least` to `most`. Knots stand further
    apart the further they are from k / n, for there p-values are smallest.
    """
    middle, last = int(np.searchsorted(p, k / n)), len(p) - 1
    away = np.append(1, 12 * 1.3 ** np.arange(60)).astype(np.intp)
    at = np.unique(np.clip(np.concatenate([middle - away, middle - 1 + away]), 0, last))
    (low, high), left, right = tails_of(k, n, p[at]), p[at[:-1]], p[at[1:]]
    most = lower_tail(low[1:], n, left) + upper_tail(high[:-1], n, right)
    least = lower_tail(low[:-1], n, right) + upper_tail(high[1:], n, left)
    clear = most <= alpha * (1 - _CLEAR)
    between = np.diff(at)
    rejected = np.append(np.repeat(clear, between), False)
    left_open = np.append(np.repeat(~clear & (least <= alpha * (1 + _CLEAR)), between), True)
    rejected[left_open] = p_values_of(k, n, p[left_open]) <= alpha
    return rejected


def bin_of_rows(bounds: IntVector) -> IntVector:
    """Return the bin of each sorted prediction."""
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.intp), np.diff(bounds))


def hits_of(label: NDArray[Any], bounds: IntVector) -> NDArray[np.int64]:
    """Return the number of events in each bin of sorted labels."""
    cumulated = np.concatenate(([0], np.cumsum(label, dtype=np.int64)))
    return np.asarray(np.diff(cumulated[bounds]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ViewVerdict:
    """What the tests said in one view.

    Parameters
    ----------
    table, prob, bin, rejected
        The bins; of each row its prediction, its bin, and whether the bin's events contradict it.
    """

    table: BinTable
    prob: FloatVector
    bin: IntVector
    rejected: BoolVector

    @property
    def hits(self) -> NDArray[np.int64]:
        """Number of events in each bin."""
        return np.rint(np.nan_to_num(self.table.frequency) * self.table.count).astype(np.int64)

    @property
    def rejected_count(self) -> IntVector:
        """Number of rejected predictions in each bin."""
        return np.bincount(self.bin[self.rejected], minlength=self.table.n_bins)

    @property
    def share(self) -> FloatVector:
        """Rejected share of each bin, in [0, 1]; NaN where the bin is empty."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.rejected_count / self.table.count)

    @property
    def value(self) -> float:
        """Rejected share of all predictions."""
        return float(self.rejected.mean())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TestBasedError(OfTables):
    """The share of rejected predictions, and everything that it was made from.

    Parameters
    ----------
    value, null_values
        Rejected share in [0, 1], and the same for each redraw of the labels.
    view, alpha
        Which event or events, and the level of each single test.
    verdicts : tuple of ViewVerdict
        One per class in the class-wise view.
    """

    __test__: ClassVar[bool] = False  # not a test case, whatever pytest thinks of the name
    name: ClassVar[str] = "test-based calibration error"

    value: float
    view: str
    alpha: float
    verdicts: tuple[ViewVerdict, ...]
    null_values: FloatVector

    @property
    def tables(self) -> tuple[BinTable, ...]:  # type: ignore[override]  # there it is a field
        """The bin table of each view."""
        return tuple(verdict.table for verdict in self.verdicts)

    @property
    def table(self) -> BinTable:
        """The bin table of a single view."""
        if len(self.verdicts) > 1:
            raise ValueError("The class-wise view has one table per class: see verdicts.")
        return self.verdicts[0].table

    @property
    def rejected(self) -> BoolVector:
        """Rejections in the order of the rows: shape (n,), or (n, K) in the class-wise view."""
        columns = [verdict.rejected for verdict in self.verdicts]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    @property
    def per_view(self) -> FloatVector:
        """The rejected share of each view."""
        return np.array([verdict.value for verdict in self.verdicts])

    @property
    def null_mean(self) -> float:
        """Mean over the redraws; NaN without redraws."""
        return float(self.null_values.mean()) if len(self.null_values) else float("nan")

    @property
    def null_sd(self) -> float:
        """Standard deviation over the redraws; NaN for fewer than two."""
        return float(self.null_values.std(ddof=1)) if len(self.null_values) > 1 else float("nan")

    @property
    def p_value(self) -> float:
        """``(1 + #{redraws >= value}) / (R + 1)``, in (0, 1]; NaN without redraws."""
        return p_value_of(self.value, self.null_values) if len(self.null_values) else float("nan")

    def describe(self) -> str:
        """Say the share in per cent, its view, bins and test, and the null level."""
        text = (
            f"Test-based calibration error {100 * self.value:.1f} %: so many of "
            f"{spell(self.n, 'prediction')} ({self.view}) are rejected by the "
            f"exact binomial test at the {100 * self.alpha:g} % level in {self.bins}"
        )
        if len(self.null_values) == 0:
            return text + "."
        spread = "" if np.isnan(self.null_sd) else f" ± {100 * self.null_sd:.1f} %"
        return text + (
            f"; a calibrated model with these predictions would show "
            f"{100 * self.null_mean:.1f} %{spread} (p = {self.p_value:.3f})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            "view": self._of_bins("view"),
            "from": np.concatenate([table.edges[:-1] for table in self.tables]),
            "to": np.concatenate([table.edges[1:] for table in self.tables]),
            **{name: self._of_bins(name) for name in ("count", "mean_prob", "frequency")},
            "rejected": np.concatenate([verdict.rejected_count for verdict in self.verdicts]),
            "share": np.concatenate([verdict.share for verdict in self.verdicts]),
        }


class SortedProblem:
    """Predictions (float64) and events, sorted by `order`, ready to be cut into bins."""

    def __init__(self, problem: BinaryProblem, binning: Binning) -> None:
        self.view, self.binning = problem.view, binning
        self.precision = problem.precision
        order = getattr(binning, "order", np.argsort)  # where that of equal predictions matters
        self.order: IntVector = order(problem.prob)
        self.prob = problem.prob[self.order].astype(np.float64)
        self.label = problem.label[self.order]
        fixed = not getattr(binning, "uses_labels", False)
        self._fixed = self._cut(self.label) if fixed else None  # such bins are cut once
        self._known: dict[tuple[int, int, float], int] = {}  # rejected rows, by bin and events

    def cut(self, label: IntArray) -> tuple[FloatVector, IntVector]:
        """Return edges and bounds of the bins for labels in sorted order."""
        return self._cut(label) if self._fixed is None else self._fixed

    def _cut(self, label: IntArray) -> tuple[FloatVector, IntVector]:
        if hasattr(self.binning, "bounds"):
            bounds = np.asarray(self.binning.bounds(self.prob, label), dtype=np.intp)
            return edges_between(self.prob, bounds), bounds
        edges = self.binning.edges(self.prob, label)
        return edges, bounds_of_bins(self.prob, edges, slack_of(self.binning, self.precision))

    def verdict(self, alpha: float) -> ViewVerdict:
        """Test each prediction against the events of its bin."""
        edges, bounds = self.cut(self.label)
        hits, of = hits_of(self.label, bounds), bin_of_rows(bounds)
        count = np.diff(bounds)
        with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: the mark of an empty bin
            mean_prob = np.bincount(of, self.prob, len(count)) / count
            frequency = hits / count
        rejected = rejections(hits, bounds, self.prob, alpha)
        return ViewVerdict(
            table=BinTable(
                edges=edges,
                count=count,
                mean_prob=mean_prob,
                frequency=frequency,
                view=self.view,
                binning=self.binning,
                precision=self.precision,
            ),
            prob=self._as_given(self.prob),
            bin=self._as_given(of),
            rejected=self._as_given(rejected),
        )

    def share(self, label: IntArray, alpha: float) -> float:
        """Return the rejected share for other labels in sorted order."""
        bounds = self.cut(label)[1]
        hits = hits_of(label, bounds)
        if self._fixed is None:
            return float(rejections(hits, bounds, self.prob, alpha).mean())
        total = 0
        for b, k in enumerate(hits.tolist()):
            if (b, k, alpha) not in self._known:  # redraws repeat themselves
                rows = self.prob[bounds[b] : bounds[b + 1]]
                rejected = rejections(hits[b : b + 1], np.array([0, len(rows)]), rows, alpha)
                self._known[b, k, alpha] = int(rejected.sum())
            total += self._known[b, k, alpha]
        return total / len(self.prob)

    def _as_given(self, values: NDArray[Any]) -> NDArray[Any]:
        back = np.empty_like(values)
        back[self.order] = values
        return read_only(back)


def test_based_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins | None = None,
    alpha: float = 0.05,
    n_draws: int = 100,
    rng: Rng = None,
    positive: Any = None,
) -> TestBasedError:
    """Share of the predictions that differ significantly from the frequency of their bin.

    ``(1/n) sum_b sum_{i in b} R(k_b, n_b, p_i)`` in [0, 1] (the source prints per cent): R is 1 if
    the test of "the events of bin b have probability p_i" has a p-value of at most alpha. The
    value of a calibrated model is *not* alpha and grows with n, for predictions inside a bin
    differ and the labels tell only their mean: read it beside its null level, or take bins that
    shrink as n grows, as those of `Pava` do. Source: Matsubara and others (2023), Definition 2.
    Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or the mean over classes; needed when `y_prob` has columns.
    bins : int, Binning or edges, optional
        `PavaBC` by default; an int means equal-width bins.
    alpha : float
        Level of each single test, the exact binomial one, in (0, 1).
    n_draws : int
        Label redraws for the null level; 0 leaves it out (for `null_level`, say).
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws, which do not change the value.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``.

    Returns
    -------
    TestBasedError
        The share, the verdict on each row, and the shares of the redraws.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Examples
    --------
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 2
    >>> error = test_based_calibration_error(y_true, y_prob, rng=0)
    >>> round(error.value, 3), error.null_mean < .2
    (0.84, True)
    """
    n_draws, generator = as_count(n_draws, "n_draws", minimum=0), as_generator(rng)
    alpha, binning = as_level(alpha, "alpha"), PavaBC() if bins is None else as_bins(bins)
    problems = binary_problems(y_true, y_prob, view=view, positive=positive)
    parts = [SortedProblem(problem, binning) for problem in problems]
    verdicts = tuple(part.verdict(alpha) for part in parts)
    redraws = _redraws(parts, as_probabilities(y_prob), n_draws, generator)
    shares = [[part.share(label, alpha) for part, label in one] for one in redraws]
    return TestBasedError(
        value=float(np.mean([verdict.value for verdict in verdicts])),
        view=view_of(problems),
        alpha=alpha,
        verdicts=verdicts,
        null_values=np.array(shares).reshape(n_draws, len(parts)).mean(axis=1),
    )


# pytest would take a function of this name for a test wherever it is imported.
vars(test_based_calibration_error)["__test__"] = False


def _redraws(
    parts: Sequence[SortedProblem], prob: FloatArray, n_draws: int, generator: np.random.Generator
) -> Iterator[list[tuple[SortedProblem, IntArray]]]:
    """Redraw the labels of sorted rows, so that the order of the rows cannot matter."""
    if len(parts) == 1:
        for label in redrawn_labels(parts[0].prob, n_draws, generator):
            yield [(parts[0], label)]
        return
    # One class is drawn per row, which all views share.
    by_class = np.column_stack((1 - prob, prob)) if prob.ndim == 1 else prob
    rows = np.lexsort(by_class.T)
    back = np.argsort(rows)
    for drawn in redrawn_labels(by_class[rows], n_draws, generator):
        label = drawn[back]
        yield [(part, label[part.order] == k) for k, part in enumerate(parts)]
