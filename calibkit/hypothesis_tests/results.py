"""What the tests of "the labels follow the predictions" share: redraws, p-values, the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from calibkit.chance.clusters import Clusters, clusters_of
from calibkit.chance.null import p_value_of
from calibkit.chance.redraws import blocks
from calibkit.inputs import (
    BinaryProblem,
    FloatMatrix,
    FloatVector,
    Rng,
    as_count,
    as_generator,
    kish,
)
from calibkit.results import Number, listed, spell

_RISK = 0.001  # of a p-value by redraws on the wrong side of a limit


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
            f"{self.statistic:.4g}, p = {self.p_value:.3g} ({self.law}). That each event has the "
            f"probability that was predicted is {verdict} (5 % level)."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return listed(self, ("statistic", "p_value", "n"), ("quantity", "number"))


class Rule:
    """A statistic of sorted predictions, computed for many sets of labels at once."""

    name: str
    symbol: str
    law: str
    signs: tuple[str, str] = ("", "")  # what below 0 and above 0 mean; empty: one-sided

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return one number per row of residuals ``label - prob``; (R, n) in, (R,) out."""
        raise NotImplementedError

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return the p-values of the limit law."""
        raise NotImplementedError

    def size(self, statistic: FloatVector) -> FloatVector:
        """Return what is large where the hypothesis is wrong: no sign if there are two sides."""
        return np.abs(statistic) if self.signs[0] else statistic


class LinearRule(Rule):
    """A weighted sum of residuals in its standard deviations, by the normal law."""

    symbol = "z"
    law = "standard normal law"
    lever: FloatVector
    sd: float

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return z of each row."""
        return ratio(residual @ self.lever, self.sd)

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return both tails of the normal law."""
        return np.asarray(special.erfc(np.abs(statistic) / np.sqrt(2)))


class ChiSquaredRule(Rule):
    """A sum of squares, by the chi-squared law; without degrees of freedom it says nothing."""

    symbol = "X²"
    df: int

    def __init__(self, df: int) -> None:
        self.df = df
        self.law = f"chi-squared law, {spell(df, 'degree')} of freedom"

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return upper tails of the chi-squared law."""
        return special.chdtrc(self.df, statistic) if self.df else np.ones(len(statistic))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Predictions in sorted order, with their events; ties by event, so row order cannot matter."""

    prob: FloatVector
    label: FloatVector
    view: str
    weight: FloatVector  # 1, or what each row stands for, scaled by `kish`
    clusters: Clusters | None = None  # in the same order; of unlike weights each row is one

    @property
    def residual(self) -> FloatMatrix:
        """Events minus predictions, as the single row of a matrix."""
        return (self.label - self.prob)[np.newaxis]


def sample_of(problem: BinaryProblem, cluster: Any = None) -> Sample:
    """Sort the predictions of a problem, and its events among equal ones."""
    weight = np.ones(problem.n) if problem.weight is None else kish(problem.weight)
    order = np.lexsort((weight, problem.label, problem.prob))
    if cluster is None and problem.weight is not None:
        cluster = Clusters(np.arange(problem.n), problem.n)
    return Sample(
        prob=problem.prob[order].astype(np.float64),
        label=problem.label[order].astype(np.float64),
        view=problem.view,
        weight=weight[order],
        clusters=None if cluster is None else clusters_of(cluster, problem.n).take(order),
    )


def run(
    sample: Sample, rules: Sequence[Rule], *, null_draws: int, rng: Rng
) -> tuple[TestResult, ...]:
    """Apply tests to a sample; with redraws, all tests see the same ones."""
    null_draws, generator = as_count(null_draws, "null_draws", minimum=0), as_generator(rng)
    law, null = None, np.empty((len(rules), 0))
    if null_draws:
        law = f"{spell(null_draws, 'redraw')} of the labels"
        null = null_statistics(rules, sample.prob, null_draws, generator)
    # A prediction of exactly 0 or 1 that was wrong is impossible under the hypothesis.
    impossible = bool((np.abs(sample.residual) == 1).any())
    found = []
    for rule, drawn in zip(rules, null, strict=True):
        value = rule.statistic(sample.residual)
        p_value = p_value_of(float(rule.size(value)[0]), drawn) if law else rule.p_value(value)[0]
        statistic = float(value[0])
        if impossible:
            statistic, p_value = np.inf, 0.0
        n = len(sample.prob)
        found.append(result_of(rule, statistic, float(p_value), view=sample.view, n=n, law=law))
    return tuple(found)


def result_of(
    rule: Rule | type[Rule],
    statistic: float,
    p_value: float,
    *,
    view: str,
    n: int,
    law: str | None = None,
) -> TestResult:
    """Put a statistic and its p-value into words; `law` replaces the limit law of the rule."""
    one_sided = not rule.signs[0] or statistic == 0 or not np.isfinite(statistic)
    return TestResult(
        statistic=statistic,
        p_value=p_value,
        name=rule.name,
        symbol=rule.symbol,
        law=law or rule.law,
        direction="" if one_sided else rule.signs[int(statistic > 0)],
        view=view,
        n=n,
    )


def null_statistics(
    rules: Sequence[Rule], prob: FloatVector, n_draws: int, generator: np.random.Generator
) -> FloatMatrix:
    """Redraw the labels of sorted predictions and return (tests, draws) sizes of statistics."""
    values = np.empty((len(rules), n_draws))
    for rows in blocks(n_draws, len(prob)):
        happened = generator.random((rows.stop - rows.start, len(prob))) < prob
        residual = happened - prob
        for row, rule in zip(values, rules, strict=True):
            row[rows] = rule.size(rule.statistic(residual))
    return values


def undecided(beyond: int, n_draws: int, limits: Sequence[float]) -> bool:
    """Tell whether it is open on which side of a limit the p-value lies, after so many redraws.

    `beyond` of them were as loud as the data. The side is settled where ``(R + 1) b(beyond; R,
    limit)``, b being the binomial probability, is at most 0.001: were the limit itself the
    p-value, this would ever happen, however often one looks, with at most that probability
    (Robbins, 1970; for Monte Carlo tests Gandy, 2009, and Ding, Gandy and Hahn, 2020).
    """
    chance = stats.binom.pmf(beyond, n_draws, np.asarray(limits))
    return bool(((n_draws + 1) * chance > _RISK).any())


def ratio(total: FloatVector, spread: float) -> FloatVector:
    """Return ``total / spread``, and 0 where nothing can vary."""
    return total / spread if spread > 0 else np.zeros_like(total)
