"""The test-based calibration error: the share of the predictions that the labels contradict."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Bins, PavaBC, as_bins
from calibkit.chance.null import p_value_of
from calibkit.chance.redraws import draw_classes
from calibkit.errors.family import OfTables, view_of
from calibkit.hypothesis_tests._sorted import SortedProblem, hits_of, owners
from calibkit.hypothesis_tests.binomial import BinomialTest
from calibkit.inputs import (
    BoolVector,
    Events,
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
    shows_rows,
)
from calibkit.progress import watched
from calibkit.reliability import BinTable
from calibkit.results import read_only, spell

# Redraws are tested together, about so many predictions at a time.
_BLOCK = 5_000_000


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
        """Share of redraws at least as large as the value, in (0, 1]; NaN without redraws."""
        return p_value_of(self.value, self.null_values) if len(self.null_values) else float("nan")

    def acceptance(self, view: int = 0) -> tuple[FloatVector, FloatVector]:
        """Return the ends of the probabilities that each bin accepts, in [0, 1]; NaN if empty.

        Between them the exact test may have small gaps.
        """
        verdict = self.verdicts[view]
        used = verdict.table.occupied
        low, high = np.full(len(used), np.nan), np.full(len(used), np.nan)
        ends = BinomialTest(self.alpha).acceptance(verdict.hits[used], verdict.table.count[used])
        low[used], high[used] = (np.clip(end, 0.0, 1.0) for end in ends)
        return low, high

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


@shows_rows
def test_based_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins | None = None,
    alpha: float = 0.05,
    null_draws: int = 100,
    rng: Rng = None,
    **rows: Unpack[Events],
) -> TestBasedError:
    """Share of the predictions that differ significantly from the frequency of their bin.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or the mean over classes; needed when `y_prob` has columns.
    bins : int or Binning, optional
        `PavaBC` by default; an int means equal-width bins.
    alpha : float
        Level of each single test, the exact binomial one, in (0, 1).
    null_draws : int
        Label redraws for the null level; 0 leaves it out (for `null_level`, say).
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws, which do not change the value.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``. Weights are refused.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row, whose confidence `y_prob` is: see `binary_problem`.

    Returns
    -------
    TestBasedError
        The share, the verdict on each row, and the shares of the redraws.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Notes
    -----
    ``(1/n) sum_b sum_{i in b} R(k_b, n_b, p_i)`` in [0, 1] (the source prints per cent): R is 1 if
    the test of "the events of bin b have probability p_i" has a p-value of at most alpha
    (Matsubara and others, 2023, Definition 2). Every prediction of a bin is tested with the same
    labels.

    The value of a calibrated model is *not* alpha, and does not stay where it is. Predictions
    inside a bin differ, the labels tell only their mean, and the test grows sharper with n.
    Calibrated uniform predictions, mean of 40 samples (10 for n = 100,000), in per cent, with a
    standard error of 1 at n = 300 and below .5 from n = 30,000 on:

    =========================  =======  ========  ==========  ===========
    bins                       n = 300  n = 3000  n = 30,000  n = 100,000
    =========================  =======  ========  ==========  ===========
    `PavaBC`, default sizes    7.2      11.9      35.4        58.7
    `EqualMass` with 10 bins   7.3      27.8      71.3        84.3
    `Pava`                     6.3      5.6       6.9         6.9
    =========================  =======  ========  ==========  ===========

    So read the value beside its null level (labels redrawn from the predictions, bins found
    anew), or take bins that shrink as n grows, as those of `Pava` do. Taught in lesson 08.

    Examples
    --------
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 2
    >>> error = test_based_calibration_error(y_true, y_prob, rng=0)
    >>> round(error.value, 3), round(error.null_mean, 3)
    (0.84, 0.048)
    """
    draws, generator = as_count(null_draws, "null_draws", minimum=0), as_generator(rng)
    rule = BinomialTest(as_level(alpha, "alpha"))
    binning = PavaBC() if bins is None else as_bins(bins)
    problems = binary_problems(y_true, y_prob, view=view, **rows)
    parts = [SortedProblem(problem, binning) for problem in problems]
    observed = ((part, part.label) for part in parts)
    verdicts = tuple(_verdict(*one) for one in _tested(observed, problems[0].n, rule))
    redraws = _redraws(parts, as_probabilities(y_prob), draws, generator)
    tested = watched(_tested(redraws, problems[0].n, rule), draws * len(parts), "redraws")
    shares = np.array([rejected.mean() for _, _, rejected in tested])
    return TestBasedError(
        value=float(np.mean([verdict.value for verdict in verdicts])),
        view=view_of(problems),
        alpha=float(alpha),
        verdicts=verdicts,
        null_values=shares.reshape(draws, len(parts)).mean(axis=1),
    )


# pytest would take a function of this name for a test wherever it is imported.
vars(test_based_calibration_error)["__test__"] = False


def _tested(
    labelled: Iterable[tuple[SortedProblem, IntArray]], n: int, rule: BinomialTest
) -> Iterator[tuple[SortedProblem, IntVector, BoolVector]]:
    """Cut problems of n rows with their labels; yield each with its bounds and what is rejected.

    Many are tested at once, as if their rows stood behind each other.
    """
    waiting = iter(labelled)
    while some := list(islice(waiting, max(1, _BLOCK // n))):
        cuts = [part.cut(label) for part, label in some]
        hits = [hits_of(label, cut) for (_, label), cut in zip(some, cuts, strict=True)]
        bounds = [cut[1:] + place * n for place, cut in enumerate(cuts)]
        at = np.concatenate([np.zeros(1, dtype=np.intp), *bounds])
        prob = np.concatenate([part.prob for part, _ in some])
        rejected = rule.rejections(np.concatenate(hits), at, prob).reshape(-1, n)
        for (part, _), cut, row in zip(some, cuts, rejected, strict=True):
            yield part, cut, row


def _verdict(part: SortedProblem, bounds: IntVector, rejected: BoolVector) -> ViewVerdict:
    return ViewVerdict(
        table=part.table(bounds),
        prob=read_only(part.as_given(part.prob)),
        bin=read_only(part.as_given(owners(bounds))),
        rejected=read_only(part.as_given(rejected)),
    )


def _redraws(
    parts: Sequence[SortedProblem], prob: FloatArray, draws: int, generator: np.random.Generator
) -> Iterator[tuple[SortedProblem, IntArray]]:
    """Redraw the labels of sorted rows, so that the order of the rows cannot matter."""
    if len(parts) == 1:
        for _ in range(draws):
            happened = generator.random(len(prob)) < parts[0].prob
            yield parts[0], happened.view(np.uint8)
        return
    # One class is drawn per row, which all views share.
    by_class = np.column_stack((1 - prob, prob)) if prob.ndim == 1 else prob
    rows = np.lexsort(by_class.T)
    # Where these rows stand in each view: a label is an event in one of them alone.
    places = np.stack([np.argsort(part.order)[rows].astype(np.int32) for part in parts])
    size = max(1, _BLOCK // len(rows))
    for start in range(0, draws, size):
        for drawn in draw_classes(by_class[rows], min(size, draws - start), generator):
            happened = np.zeros(places.shape, dtype=np.uint8)
            happened[drawn, places[drawn, np.arange(len(rows))]] = 1
            yield from zip(parts, happened, strict=True)
