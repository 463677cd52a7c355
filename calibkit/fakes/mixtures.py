"""Dirichlet distributions: mixtures, moments of the maximum, fits to what a classifier says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.fakes.simplex import as_table
from calibkit.inputs import FloatVector, Rng, as_count, as_positive, as_weights, data_generator
from calibkit.results import spell

# The integral over log x is cut where its integrand has lost all digits, then divided into
# panels in which it is smooth enough for Gauss-Legendre nodes to be exact.
TAIL = 1e-18
SMALLEST_LOG = float(np.log(1e-22))
PANELS, NODES = 24, 32
MOST_STEPS = 200
GRADIENT_TOLERANCE = 1e-11
LARGEST_TOTAL = 1e9
# Weights computed in single precision still count as summing to one.
WEIGHT_SUM_TOLERANCE = 1e-6
NO_MAXIMUM = "all rows are equal up to rounding, so the likelihood grows without limit."


@dataclass(frozen=True, slots=True)
class DirichletMixture:
    """A mixture of Dirichlet distributions of probability vectors.

    Parameters
    ----------
    weights, alphas : sequence of M floats, sequence of M sequences of K floats
        Share of each component, with sum 1, and its parameters.
    """

    weights: tuple[float, ...]
    alphas: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        alphas = tuple(as_alpha(alpha, f"alphas[{m}]") for m, alpha in enumerate(self.alphas))
        if not alphas or len({len(alpha) for alpha in alphas}) != 1:
            raise ValueError("alphas must hold at least one component, all with as many classes.")
        weights = _as_shares(self.weights, len(alphas))
        object.__setattr__(self, "alphas", alphas)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def fit(cls, y_prob: Any, *, tied: bool = False) -> Self:
        """Clone the distribution of a classifier's probabilities: a component per predicted class.

        A component can put its maximum on another class than its own: compare the clone's mean
        confidence (`expected_maximum`) with that of the data. Zeros have no finite likelihood and
        are lifted to the smallest positive number of the table first.

        Parameters
        ----------
        y_prob : array-like of shape (n, K)
        tied : bool
            Two parameters per component: one for the predicted class, one for all others. Steadier
            when a class is rarely predicted.
        """
        table = as_table(y_prob, "y_prob must have")
        predicted, rows = table.argmax(axis=1), without_zeros(table)
        weights, alphas = [], []
        for k in np.unique(predicted).tolist():
            classes, own = np.arange(table.shape[1]), rows[predicted == k]
            try:
                alpha = fit_dirichlet(own, (classes == k).astype(np.intp) if tied else classes)
            except ValueError as error:
                raise ValueError(
                    f"class {k} is predicted in {spell(len(own), 'row')} without any variation; "
                    "fit with tied=True, or with more data."
                ) from error
            weights.append(len(own) / len(table))
            alphas.append(tuple(alpha.tolist()))
        return cls(tuple(weights), tuple(alphas))

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.alphas[0])

    def draw(self, n: int, rng: Rng = None) -> FloatVector:
        """Draw `n` probability vectors, shape (n, K)."""
        n, generator = as_count(n, "n"), data_generator(rng)
        if len(self.alphas) == 1:
            return generator.dirichlet(self.alphas[0], n)
        component = generator.choice(len(self.alphas), n, p=self.weights)
        table = np.empty((n, self.n_classes))
        for m, alpha in enumerate(self.alphas):
            rows = np.flatnonzero(component == m)
            table[rows] = generator.dirichlet(alpha, len(rows))
        return table


def _as_shares(weights: Any, size: int) -> tuple[float, ...]:
    shares = as_weights(weights, size, "weights", "components")
    if any(isinstance(value, bool | np.bool_) for value in weights):
        raise ValueError(f"weights must be {size} numbers from 0 to 1, got {weights!r}.")
    total = float(shares.sum())
    if abs(total - 1) > WEIGHT_SUM_TOLERANCE:
        raise ValueError(
            f"weights must sum to 1, but their sum is {total:.6g}; divide each by the sum."
        )
    return tuple((shares / total).tolist())


def expected_maximum(alpha: "Sequence[float] | DirichletMixture", order: int = 1) -> float:
    """Mean of ``max_k R_k`` to the power `order`, for R from a Dirichlet distribution.

    Parameters
    ----------
    alpha : sequence of floats, or DirichletMixture
        At least two parameters, or a mixture.
    order : int
        1 for the mean, 2 for the second moment, and so on.

    Notes
    -----
    R is a vector of gammas G divided by their sum S, which is independent of R:
    ``E max R^m = E max G^m / E S^m``, a one-dimensional integral. It is the accuracy of a
    calibrated classifier whose truth is R (section 6 of the review of notions).

    Examples
    --------
    >>> round(expected_maximum([1, 1, 1]), 12), round(11 / 18, 12)
    (0.611111111111, 0.611111111111)
    """
    order = as_count(order, "order")
    if isinstance(alpha, DirichletMixture):
        parts = [largest_moment(part, order) for part in alpha.alphas]
        return float(np.dot(alpha.weights, parts))
    return largest_moment(as_alpha(alpha), order)


def as_alpha(alpha: Any, name: str = "alpha") -> tuple[float, ...]:
    """Check parameters of a Dirichlet distribution: at least two, positive and finite."""
    try:
        values = list(alpha)
    except TypeError:
        values = []
    if len(values) < 2:
        raise ValueError(f"{name} must be a sequence of 2 or more positive numbers, got {alpha!r}.")
    return tuple(as_positive(value, f"{name}[{k}]") for k, value in enumerate(values))


def largest_moment(alpha: tuple[float, ...], order: int) -> float:
    """``E max R^m`` of one Dirichlet distribution: ``E max G^m / E S^m`` for gammas G, sum S."""
    values, count = np.unique(alpha, return_counts=True)
    total = float(values @ count)
    tail = TAIL * min(1.0, total)
    with np.errstate(divide="ignore"):
        start = max(np.log(special.gammaincinv(values, TAIL).max()), SMALLEST_LOG + np.log(total))
    end = np.log(special.gammainccinv(values, tail).max())
    edges = np.linspace(start, end, PANELS + 1)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2
    x = np.exp((edges[:-1, None] + half + half * nodes).ravel())
    below = special.gammainc(values[:, None], x)
    above = special.gammaincc(values[:, None], x)
    with np.errstate(divide="ignore"):
        log_cdf = np.where(above < 0.5, np.log1p(-above), np.log(below))
    survival = -np.expm1(count @ log_cdf)  # 1 - prod_k F_k(x)
    integral = float(np.sum((half * weights).ravel() * order * x**order * survival))
    return float((np.exp(order * start) + integral) / special.poch(total, order))


def fit_dirichlet(table: FloatVector, groups: NDArray[np.intp]) -> FloatVector:
    """Fit the parameters alpha to positive rows of probabilities by maximum likelihood.

    Classes with the same number in `groups` share one parameter. Newton's method with Minka's form
    of the Hessian, a diagonal plus a constant; steps are halved until they climb.
    """
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    if np.all(table == table[0, first[member]]):
        raise ValueError(NO_MAXIMUM)
    mean_log = np.bincount(member, np.log(table).mean(axis=0)) / np.bincount(member)
    # Start: match the means, and the concentration to the total variance.
    mean, variance = table.mean(axis=0), table.var(axis=0)
    total = (mean * (1 - mean)).sum() / max(variance.sum(), 1e-300) - 1
    start = mean * np.clip(total, 1e-3, 1e12) + 1e-9
    alpha = np.bincount(member, start) / np.bincount(member)
    alpha = _newton(alpha, np.bincount(member), mean_log)[member]
    if alpha.sum() > LARGEST_TOTAL:
        raise ValueError(NO_MAXIMUM)
    return np.asarray(alpha)


def without_zeros(table: FloatVector) -> FloatVector:
    """Lift zeros to the smallest positive number of the table; then rows sum to 1 again."""
    if table.min() > 0:
        return table
    lifted = np.maximum(table, table[table > 0].min())
    return np.asarray(lifted / lifted.sum(axis=1, keepdims=True))


def _newton(alpha: FloatVector, size: NDArray[np.intp], mean_log: FloatVector) -> FloatVector:
    def likelihood(value: FloatVector) -> float:
        parts = size * ((value - 1) * mean_log - special.gammaln(value))
        return float(special.gammaln(size @ value) + parts.sum())

    current = likelihood(alpha)
    for _ in range(MOST_STEPS):
        total = size @ alpha
        gradient = special.digamma(total) - special.digamma(alpha) + mean_log
        scale = 1 + np.abs(mean_log) + np.abs(special.digamma(alpha))
        if np.all(np.abs(gradient) <= GRADIENT_TOLERANCE * scale):
            return alpha
        curve = special.polygamma(1, alpha)
        below = 1 / special.polygamma(1, total) - (size / curve).sum()
        step = (gradient + (size * gradient / curve).sum() / below) / curve
        length, enough = 1.0, current - 1e-12 * (1 + abs(current))
        while True:
            trial = alpha + length * step
            if np.all(trial > 0) and (value := likelihood(trial)) >= enough:
                break
            length /= 2
            if length < 1e-12:
                raise RuntimeError("the Dirichlet fit found no step that climbs.")
        alpha, current = trial, value
    raise RuntimeError(
        f"the Dirichlet fit did not converge in {MOST_STEPS} steps; nearly equal rows make the "
        "likelihood flat."
    )
