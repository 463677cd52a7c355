"""What the tests of "the labels follow the predictions" share: redraws, p-values, the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit._result import Result, listed, spell
from calibkit._validation import as_count, as_generator
from calibkit.significance._binned import blocks
from calibkit.views import BinaryProblem

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]

NULL = "each event has the probability that was predicted"
NORMAL = "standard normal law"

# Two computations of the same number may differ in the last digits; such draws are ties.
_RELATIVE_TIE, _TIE = 1e-9, 1e-13


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TestResult(Result):
    """A test of the hypothesis that the labels follow the predictions.

    Parameters
    ----------
    statistic : float
        How far the labels are from it. Infinite where a prediction of exactly 0 or 1 was wrong.
    p_value : float
        Probability of a statistic at least as extreme if the hypothesis holds, in [0, 1].
    name : str
        Which test.
    symbol : str
        What the statistic is called.
    null : str
        The hypothesis in words.
    law : str
        Where the p-value comes from: a limit law, or redraws of the labels.
    direction : str
        Where the sign of the statistic points, e.g. ``"over-confident"``; empty if it has none.
    view : str
        Which event.
    n : int
        Number of predictions.
    """

    __test__: ClassVar[bool] = False  # not a test case, whatever pytest thinks of the name

    statistic: float
    p_value: float
    name: str
    symbol: str
    null: str
    law: str
    direction: str
    view: str
    n: int

    def __float__(self) -> float:
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
            f"{self.statistic:.4g}, p = {self.p_value:.3g} ({self.law}). That {self.null} is "
            f"{verdict} (5 % level)."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return listed(self, ("statistic", "p_value", "n"), ("quantity", "number"))


class Rule(Protocol):
    """A statistic of sorted predictions, computed for many sets of labels at once."""

    name: str
    symbol: str
    law: str
    signs: tuple[str, str]  # what a negative and a positive statistic mean; empty: one-sided

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return one number per row of residuals ``label - prob``; (R, n) in, (R,) out."""
        ...

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return the p-values of the limit law."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Predictions in sorted order, with their events.

    Parameters
    ----------
    prob : ndarray of shape (n,)
        Sorted predictions in float64.
    label : ndarray of shape (n,)
        Their events; equal predictions are sorted by event, so that row order cannot matter.
    view : str
        Which event.
    """

    prob: FloatVector
    label: FloatVector
    view: str

    @property
    def contradicted(self) -> bool:
        """Whether a prediction of exactly 0 or 1 was wrong: impossible under the hypothesis."""
        return bool((np.abs(self.label - self.prob) == 1).any())


def sample_of(problem: BinaryProblem) -> Sample:
    """Sort a problem."""
    order = np.lexsort((problem.label, problem.prob))
    return Sample(
        prob=problem.prob[order].astype(np.float64),
        label=problem.label[order].astype(np.float64),
        view=problem.view,
    )


def run(
    sample: Sample,
    rules: Sequence[Rule],
    *,
    null_draws: int,
    rng: int | np.random.Generator | None,
) -> tuple[TestResult, ...]:
    """Apply tests to a sample; with redraws, all tests see the same ones."""
    null_draws = as_count(null_draws, "null_draws", minimum=0)
    generator = as_generator(rng)
    residual = (sample.label - sample.prob)[np.newaxis]
    values = np.array([float(rule.statistic(residual)[0]) for rule in rules])
    if null_draws:
        drawn = null_statistics(rules, sample.prob, null_draws, generator)
        sizes = [abs(v) if rule.signs[0] else v for rule, v in zip(rules, values, strict=True)]
        p_values = [_share_beyond(*pair) for pair in zip(sizes, drawn, strict=True)]
    else:
        pairs = zip(rules, values, strict=True)
        p_values = [float(rule.p_value(np.array([value]))[0]) for rule, value in pairs]
    if sample.contradicted:
        values, p_values = np.full(len(rules), np.inf), [0.0] * len(rules)
    law = f"{spell(null_draws, 'redraw')} of the labels" if null_draws else ""
    return tuple(
        TestResult(
            statistic=float(value),
            p_value=p_value,
            name=rule.name,
            symbol=rule.symbol,
            null=NULL,
            law=law or rule.law,
            direction=_direction(rule, float(value)),
            view=sample.view,
            n=len(sample.prob),
        )
        for rule, value, p_value in zip(rules, values, p_values, strict=True)
    )


def null_statistics(
    rules: Sequence[Rule], prob: FloatVector, n_draws: int, generator: np.random.Generator
) -> FloatMatrix:
    """Redraw the labels of sorted predictions and return (tests, draws) statistics.

    Of a two-sided test the size is returned, without its sign.
    """
    values = np.empty((len(rules), n_draws))
    for rows in blocks(n_draws, len(prob)):
        happened = generator.random((rows.stop - rows.start, len(prob))) < prob
        residual = happened - prob
        for row, rule in zip(values, rules, strict=True):
            drawn = rule.statistic(residual)
            row[rows] = np.abs(drawn) if rule.signs[0] else drawn
    return values


def _share_beyond(value: float, drawn: FloatVector) -> float:
    """Return the p-value ``(1 + #{redraws as extreme}) / (R + 1)``, which is never 0."""
    limit = value - _RELATIVE_TIE * abs(value) - _TIE
    return float((1 + (drawn >= limit).sum()) / (len(drawn) + 1))


def _direction(rule: Rule, value: float) -> str:
    if not rule.signs[0] or value == 0 or not np.isfinite(value):
        return ""
    return rule.signs[int(value > 0)]


def two_sided(z: FloatVector) -> FloatVector:
    """Return two-sided p-values of standard normal numbers.

    >>> two_sided(np.array([0.0, -1.959964])).round(4).tolist()
    [1.0, 0.05]
    """
    return np.asarray(special.erfc(np.abs(z) / np.sqrt(2)))


def ratio(total: FloatVector, spread: float) -> FloatVector:
    """Return ``total / spread``, and 0 where nothing can vary."""
    return total / spread if spread > 0 else np.zeros_like(total)
