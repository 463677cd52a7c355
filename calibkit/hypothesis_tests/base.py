"""What the tests of "the labels follow the predictions" share: statistic, p-value, result."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit.chance.null import p_value_of, redrawn_labels
from calibkit.inputs import BinaryProblem, FloatVector, Rng, as_count, as_generator
from calibkit.results import Number, listed, spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TestResult(Number):
    """A test of the hypothesis that the labels follow the predictions.

    Parameters
    ----------
    statistic, p_value : float
        And the probability of one at least as extreme if the hypothesis holds; infinite and 0
        where a prediction of exactly 0 or 1 was wrong.
    name, symbol, law, direction, view : str
        The test, its statistic, where the p-value comes from, where the sign points (e.g.
        ``"over-confident"``, or empty), and which event.
    n : int
    """

    __test__: ClassVar[bool] = False  # not a test case, whatever pytest thinks of the name

    statistic: float
    p_value: float
    name: str
    symbol: str
    law: str
    direction: str
    view: str
    n: int

    @property
    def value(self) -> float:
        """The statistic."""
        return self.statistic

    def rejected(self, alpha: float = 0.05) -> bool:
        """Tell whether the p-value is at most `alpha`."""
        return self.p_value <= alpha

    def describe(self) -> str:
        """Say the statistic, the p-value with its law, and the verdict at 5 %."""
        verdict = "not rejected"
        if self.rejected():
            verdict = "rejected"
            if self.direction:
                verdict += f"; the predictions look {self.direction}"
        return (
            f"{self.name} ({self.view}, {spell(self.n, 'prediction')}): {self.symbol} = "
            f"{self.statistic:.4g}, p = {self.p_value:.3g} ({self.law}). That each event has the "
            f"probability that was predicted is {verdict} (5 % level)."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return listed(self, ("statistic", "p_value", "n"), ("quantity", "number"))


@dataclass(frozen=True, slots=True)
class Statistic:
    """What a test measures on the residuals ``label - prob`` of its rows, and its limit law.

    `of` gives one number per row of residuals; `tail` gives p-values. `signs` say what lies below
    0 and above 0; a one-sided statistic has none.
    """

    name: str
    symbol: str
    law: str
    of: Callable[[FloatVector], Any]
    tail: Callable[[Any], Any]
    signs: tuple[str, str] = ("", "")

    def size(self, residual: FloatVector) -> float:
        """Return what is large where the hypothesis is wrong."""
        value = float(self.of(residual))
        return abs(value) if self.signs[0] else value

    def result(
        self, value: float, p_value: float, *, view: str, n: int, law: str = ""
    ) -> TestResult:
        """Return the result; `law` replaces the limit law."""
        one_sided = not self.signs[0] or value == 0 or not np.isfinite(value)
        return TestResult(
            statistic=value,
            p_value=p_value,
            name=self.name,
            symbol=self.symbol,
            law=law or self.law,
            direction="" if one_sided else self.signs[int(value > 0)],
            view=view,
            n=n,
        )


def as_floats(problem: BinaryProblem) -> tuple[FloatVector, FloatVector]:
    """Return labels and predictions in double precision."""
    return problem.label.astype(np.float64), problem.prob.astype(np.float64, copy=False)


def in_order(problem: BinaryProblem) -> tuple[FloatVector, FloatVector]:
    """Return labels and predictions sorted; ties by label, so that row order cannot matter."""
    label, prob = as_floats(problem)
    order = np.argsort(prob)
    if (np.diff(prob[order]) == 0).any():
        order = np.lexsort((label, prob))  # of a million rows five times as long
    return label[order], prob[order]


def run_tests(
    statistics: Sequence[Statistic],
    label: FloatVector,
    prob: FloatVector,
    *,
    view: str,
    n_draws: int,
    rng: Rng,
) -> list[TestResult]:
    """Apply tests to rows, by their limit laws or by redraws, which all of them then share."""
    n_draws, generator = as_count(n_draws, "n_draws", minimum=0), as_generator(rng)
    residuals = (drawn - prob for drawn in redrawn_labels(prob, n_draws, generator))
    draws = np.array([[one.size(residual) for one in statistics] for residual in residuals])
    observed, results = label - prob, []
    # A prediction of exactly 0 or 1 that was wrong is impossible under the hypothesis.
    impossible = bool(observed.max() == 1 or observed.min() == -1)
    for place, one in enumerate(statistics):
        value, law = float(one.of(observed)), ""
        p_value = float(one.tail(value))
        if n_draws:
            law = f"{spell(n_draws, 'redraw')} of the labels"
            p_value = p_value_of(one.size(observed), draws[:, place])
        if impossible:
            value, p_value = np.inf, 0.0
        results.append(one.result(value, p_value, view=view, n=len(prob), law=law))
    return results


def ratio(total: Any, spread: float) -> Any:
    """Return ``total / spread``, and 0 where nothing can vary."""
    return total / spread if spread > 0 else np.zeros_like(total)
