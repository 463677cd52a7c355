"""What a test-based error gives back: verdicts on predictions, bins, null values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from calibkit._result import Result, spell
from calibkit._validation import as_level
from calibkit.reliability import BinTable
from calibkit.significance._binomial import BinomialTest
from calibkit.significance.t_test import TTest

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]
BoolVector = NDArray[np.bool_]

TESTS = {
    "binomial": "exact binomial test",
    "mid-p": "binomial mid-p test",
    "t": "t-test",
    "t-as-published": "t-test as published, without its square root",
}


class Rule(Protocol):
    """A test that decides about predictions, given the events of their bins."""

    def rejections(self, hits: IntVector, bounds: IntVector, prob: FloatVector) -> BoolVector:
        """Tell which predictions are rejected; bin b has ``bounds[b]`` to ``bounds[b + 1]``."""
        ...

    def acceptance(self, hits: IntVector, counts: IntVector) -> tuple[FloatVector, FloatVector]:
        """Return the outer ends of the probabilities that each bin accepts."""
        ...


def rule_of(test: str, alpha: float) -> Rule:
    """Return the test of this name and level."""
    level = as_level(alpha, "alpha")
    if test not in TESTS:
        raise ValueError(f"test must be one of {', '.join(map(repr, TESTS))}, got {test!r}.")
    if test in ("binomial", "mid-p"):
        return BinomialTest(level, test == "mid-p")
    return TTest(level, test == "t-as-published")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ViewVerdict:
    """What the tests said in one view, prediction by prediction.

    Parameters
    ----------
    table : BinTable
        The bins.
    prob : ndarray of shape (n,)
        Predictions, in the order of the rows.
    bin : ndarray of int, shape (n,)
        Their bins.
    rejected : ndarray of bool, shape (n,)
        Which of them the events of their bin contradict.
    """

    table: BinTable
    prob: FloatVector
    bin: IntVector
    rejected: BoolVector

    @property
    def hits(self) -> IntVector:
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
class TestBasedError(Result):
    """The share of rejected predictions, and everything that it was made from.

    Parameters
    ----------
    value : float
        Rejected share in [0, 1]; the mean over classes in the class-wise view.
    view : str
        Which event or events.
    test : str
        Name of the test.
    alpha : float
        Level of each single test.
    verdicts : tuple of ViewVerdict
        Bins, predictions and rejections; one per class in the class-wise view.
    null_values : ndarray
        The value for labels redrawn from the predictions, one per redraw.
    """

    __test__: ClassVar[bool] = False  # not a test case, whatever pytest thinks of the name

    value: float
    view: str
    test: str
    alpha: float
    verdicts: tuple[ViewVerdict, ...]
    null_values: FloatVector

    def __float__(self) -> float:
        return self.value

    @property
    def name(self) -> str:
        """What the number is called."""
        return "test-based calibration error"

    @property
    def n(self) -> int:
        """Number of predictions."""
        return self.verdicts[0].table.n

    @property
    def bins(self) -> str:
        """The binning in words."""
        return self.verdicts[0].table.bins

    @property
    def tables(self) -> tuple[BinTable, ...]:
        """The bin table of each view."""
        return tuple(verdict.table for verdict in self.verdicts)

    @property
    def table(self) -> BinTable:
        """The bin table of a single view."""
        return self._single().table

    @property
    def rejected(self) -> BoolVector:
        """Rejections in the order of the rows: shape (n,), or (n, K) in the class-wise view."""
        columns = [verdict.rejected for verdict in self.verdicts]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    @property
    def share(self) -> FloatVector:
        """Rejected share of each bin of a single view."""
        return self._single().share

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
        if len(self.null_values) == 0:
            return float("nan")
        larger = int((self.null_values >= self.value - 1e-12).sum())
        return (1 + larger) / (len(self.null_values) + 1)

    def acceptance(self, view: int = 0) -> tuple[FloatVector, FloatVector]:
        """Return the lowest and the highest probability that each bin accepts; NaN if empty.

        Between them there may be small gaps: the acceptance set of the exact test need not be
        an interval. The ends are cut to [0, 1].
        """
        verdict = self.verdicts[view]
        used = verdict.table.occupied
        low, high = np.full(len(used), np.nan), np.full(len(used), np.nan)
        rule = rule_of(self.test, self.alpha)
        ends = rule.acceptance(verdict.hits[used], verdict.table.count[used].astype(np.int64))
        low[used], high[used] = (np.clip(end, 0.0, 1.0) for end in ends)
        return low, high

    def describe(self) -> str:
        """Say the share in per cent, its view, bins and test, and the null level."""
        text = (
            f"Test-based calibration error {100 * self.value:.1f} %: so many of "
            f"{spell(self.n, 'prediction')} ({self.view}) are rejected by the "
            f"{TESTS[self.test]} at the {100 * self.alpha:g} % level in {self.bins}"
        )
        if len(self.null_values) == 0:
            return text + "."
        spread = "" if np.isnan(self.null_sd) else f" ± {100 * self.null_sd:.1f} %"
        return text + (
            f"; a calibrated model with these predictions would show "
            f"{100 * self.null_mean:.1f} %{spread} (p = {self.p_value:.3f})."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        tables, verdicts = self.tables, self.verdicts
        return {
            "view": np.concatenate([[table.view] * table.n_bins for table in tables]),
            "from": np.concatenate([table.edges[:-1] for table in tables]),
            "to": np.concatenate([table.edges[1:] for table in tables]),
            "count": np.concatenate([table.count for table in tables]),
            "mean_prob": np.concatenate([table.mean_prob for table in tables]),
            "frequency": np.concatenate([table.frequency for table in tables]),
            "rejected": np.concatenate([verdict.rejected_count for verdict in verdicts]),
            "share": np.concatenate([verdict.share for verdict in verdicts]),
        }

    def _single(self) -> ViewVerdict:
        if len(self.verdicts) > 1:
            raise ValueError("The class-wise view has one table per class: see verdicts.")
        return self.verdicts[0]
