"""One Dirichlet distribution: moments of its maximum, and its fit by maximum likelihood."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.fakes import _dials
from calibkit.fakes._sample import FloatVector
from calibkit.fakes.simplex import as_table

# The integral over log x is cut where its integrand has lost all digits, then divided into
# panels in which it is smooth enough for Gauss-Legendre nodes to be exact.
TAIL = 1e-18
SMALLEST_LOG = float(np.log(1e-22))
PANELS, NODES = 24, 32
MOST_STEPS = 200
GRADIENT_TOLERANCE = 1e-11
LARGEST_TOTAL = 1e9
NO_MAXIMUM = (
    ", so the likelihood grows without limit; a Dirichlet fit needs at least two different rows."
)


def as_alpha(alpha: Any, name: str = "alpha") -> tuple[float, ...]:
    """Check parameters of a Dirichlet distribution: at least two, positive and finite."""
    try:
        values = list(alpha)
    except TypeError:
        values = []
    if len(values) < 2:
        raise ValueError(
            f"{name} must be a sequence of at least 2 positive numbers, got {alpha!r}."
        )
    return tuple(_dials.as_positive(value, f"{name}[{k}]") for k, value in enumerate(values))


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


def fit_dirichlet(y_prob: Any, groups: Sequence[int] | None = None) -> FloatVector:
    """Fit the parameters alpha to rows of probabilities by maximum likelihood.

    Classes with the same number in `groups` share one parameter. Newton's method with Minka's form
    of the Hessian, a diagonal plus a constant, on a concave likelihood; steps are halved until
    they climb. Zeros have no finite likelihood: they are lifted to the smallest positive number of
    the table first.
    """
    table = as_table(y_prob, "y_prob must have")
    members = np.arange(table.shape[1]) if groups is None else np.asarray(groups)
    if members.shape != (table.shape[1],):
        raise ValueError(f"groups needs {table.shape[1]} numbers, got {groups!r}.")
    table = without_zeros(table)
    _, first, member = np.unique(members, return_index=True, return_inverse=True)
    if np.all(table == table[0, first[member]]):
        raise ValueError(f"all rows of y_prob are equal{NO_MAXIMUM}")
    mean_log = np.bincount(member, np.log(table).mean(axis=0)) / np.bincount(member)
    # Start: match the means, and the concentration to the total variance.
    mean, variance = table.mean(axis=0), table.var(axis=0)
    total = (mean * (1 - mean)).sum() / max(variance.sum(), 1e-300) - 1
    start = mean * np.clip(total, 1e-3, 1e12) + 1e-9
    alpha = np.bincount(member, start) / np.bincount(member)
    alpha = _newton(alpha, np.bincount(member), mean_log)[member]
    if alpha.sum() > LARGEST_TOTAL:
        raise ValueError(f"all rows of y_prob are equal up to rounding{NO_MAXIMUM}")
    return np.asarray(alpha)


def without_zeros(table: FloatVector) -> FloatVector:
    """Lift zeros to the smallest positive number of the table; then rows sum to 1 again."""
    if table.min() > 0:
        return table
    lifted = np.maximum(table, table[table > 0].min())
    return np.asarray(lifted / lifted.sum(axis=1, keepdims=True))


def _newton(alpha: FloatVector, size: NDArray[np.intp], mean_log: FloatVector) -> FloatVector:
    """Maximise the likelihood over one parameter per group of `size` classes."""

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
        ratio = (size * gradient / curve).sum() / (
            1 / special.polygamma(1, total) - (size / curve).sum()
        )
        step = (gradient + ratio) / curve
        length = 1.0
        while True:
            trial = alpha + length * step
            if np.all(trial > 0) and (value := likelihood(trial)) >= current - 1e-12 * (
                1 + abs(current)
            ):
                break
            length /= 2
            if length < 1e-12:
                raise RuntimeError("the Dirichlet fit found no step that climbs.")
        alpha, current = trial, value
    raise RuntimeError(
        f"the Dirichlet fit did not converge in {MOST_STEPS} steps; nearly equal rows make the "
        "likelihood flat."
    )
