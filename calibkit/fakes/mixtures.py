"""Mixtures of Dirichlet distributions, to clone what a real classifier says.

The review of notions of calibration, section 6. Lesson 03.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import special

from calibkit._result import spell
from calibkit._validation import as_count, as_generator, as_probabilities
from calibkit.fakes import _dials
from calibkit.fakes._dirichlet import as_alpha, fit_dirichlet, largest_moment, without_zeros
from calibkit.fakes._sample import FloatVector, Rng


@dataclass(frozen=True, slots=True)
class DirichletMixture:
    """A mixture of Dirichlet distributions of probability vectors.

    Parameters
    ----------
    weights : sequence of M floats
        Share of each component; they sum to 1.
    alphas : sequence of M sequences of K floats
        Parameters of each component.

    Examples
    --------
    >>> mixture = DirichletMixture((0.5, 0.5), ((8, 1, 1), (1, 2, 7)))
    >>> mixture.class_frequency().round(4).tolist()
    [0.45, 0.15, 0.4]
    """

    weights: tuple[float, ...]
    alphas: tuple[tuple[float, ...], ...]
    origin: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        alphas = tuple(as_alpha(alpha, f"alphas[{m}]") for m, alpha in enumerate(self.alphas))
        if not alphas or len({len(alpha) for alpha in alphas}) != 1:
            raise ValueError("alphas must hold at least one component, all with as many classes.")
        weights = _dials.as_weights(self.weights, len(alphas), "weights")
        object.__setattr__(self, "alphas", alphas)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def fit(cls, y_prob: Any, *, per_class: bool = True, tied: bool = False) -> Self:
        """Clone the distribution of a classifier's probabilities, of shape (n, K).

        Parameters
        ----------
        y_prob : array-like of shape (n, K)
            Predicted probabilities of a real classifier, K at least 2.
        per_class : bool
            One component per predicted class (the default), or one for all rows.
        tied : bool
            Two parameters per component: one for the predicted class, one for all others.
            Steadier when a class is rarely predicted; needs `per_class`.

        Notes
        -----
        A component can put its maximum on another class than its own. So the clone's mean
        confidence (`expected_maximum`) need not equal that of the data: compare them.
        """
        table = as_probabilities(y_prob).astype(np.float64)
        if not per_class:
            if tied:
                raise ValueError(
                    "tied=True shares parameters around a predicted class; it needs per_class=True."
                )
            return cls((1.0,), (tuple(fit_dirichlet(table).tolist()),), _origin(table))
        if table.ndim != 2:
            fit_dirichlet(table)  # raises, with the remedy
        predicted = table.argmax(axis=1)
        rows = without_zeros(table)
        weights, alphas = [], []
        for k in np.unique(predicted).tolist():
            groups = (np.arange(table.shape[1]) == k).astype(int).tolist() if tied else None
            own = rows[predicted == k]
            try:
                alpha = fit_dirichlet(own, groups)
            except ValueError as error:
                raise ValueError(
                    f"class {k} is predicted in {spell(len(own), 'row')} without any variation; "
                    "fit with tied=True, with per_class=False, or with more data."
                ) from error
            weights.append(len(own) / len(table))
            alphas.append(tuple(alpha.tolist()))
        return cls(tuple(weights), tuple(alphas), _origin(table))

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.alphas[0])

    def class_frequency(self) -> FloatVector:
        """Mean probability of each class."""
        means = [np.array(alpha) / sum(alpha) for alpha in self.alphas]
        return np.asarray(np.array(self.weights) @ np.array(means))

    def expected_maximum(self, order: int = 1) -> float:
        """Mean of the largest probability to the power `order`; see `expected_maximum`."""
        return expected_maximum(self, order)

    def log_density(self, prob: Any) -> FloatVector:
        """Logarithm of the density at probabilities of shape (n, K)."""
        table = as_probabilities(prob).astype(np.float64)
        logs = [
            special.gammaln(sum(alpha))
            - special.gammaln(alpha).sum()
            + special.xlogy(np.array(alpha) - 1, table).sum(axis=1)
            for alpha in self.alphas
        ]
        with np.errstate(divide="ignore"):
            weights = np.log(self.weights)
        return np.asarray(special.logsumexp(np.array(logs) + weights[:, None], axis=0))

    def draw(self, n: int, rng: Rng = None) -> FloatVector:
        """Draw `n` probability vectors, shape (n, K)."""
        n, generator = as_count(n, "n"), as_generator(rng)
        if len(self.alphas) == 1:
            return generator.dirichlet(self.alphas[0], n)
        component = generator.choice(len(self.alphas), n, p=self.weights)
        table = np.empty((n, self.n_classes))
        for m, alpha in enumerate(self.alphas):
            rows = np.flatnonzero(component == m)
            table[rows] = generator.dirichlet(alpha, len(rows))
        return table


def _origin(table: FloatVector) -> str:
    """Say what a mixture was fitted to."""
    note = ", zeros lifted" if table.min() == 0 else ""
    return f"fitted to {spell(len(table), 'row')}{note}"


def expected_maximum(alpha: "Sequence[float] | DirichletMixture", order: int = 1) -> float:
    """Mean of ``max_k R_k`` to the power `order`, for R from a Dirichlet distribution.

    Parameters
    ----------
    alpha : sequence of floats, or DirichletMixture
        Parameters of the distribution, any number from two on.
    order : int
        1 for the mean, 2 for the second moment, and so on.

    Returns
    -------
    float

    Notes
    -----
    R is a vector of gammas G divided by their sum S, and S is independent of R. So
    ``E max R^m = E max G^m / E S^m``: a one-dimensional integral for any number of classes. It
    is the accuracy of a calibrated classifier whose truth is R. Taught in lesson 03.

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
