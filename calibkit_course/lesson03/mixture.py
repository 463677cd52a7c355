"""A mixture of Dirichlet distributions that redraws what a classifier says."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import optimize, special

from calibkit.inputs import FloatMatrix, Rng, as_count, as_probabilities, data_generator


@dataclass(frozen=True, slots=True)
class DirichletMixture:
    """A mixture with one Dirichlet distribution for each class that is predicted.

    Parameters
    ----------
    weights, alphas : sequence of M floats, sequence of M sequences of K floats
        Share of each component, with sum 1, and its parameters.
    """

    weights: tuple[float, ...]
    alphas: tuple[tuple[float, ...], ...]

    @classmethod
    def fit(cls, y_prob: Any) -> Self:
        """Fit by maximum likelihood: two parameters per component, of its own class and the others.

        A component can put its maximum on another class than its own: compare the mean confidence
        of what is drawn with that of the data. Zeros have no finite likelihood and are lifted to
        the smallest positive number of the table first.
        """
        table = as_probabilities(y_prob).astype(np.float64)
        if table.ndim != 2:
            raise ValueError(f"y_prob must have one column per class, got shape {table.shape}.")
        predicted = table.argmax(axis=1)
        lifted = np.maximum(table, table[table > 0].min())
        mean_log, weights, alphas = np.log(lifted / lifted.sum(axis=1, keepdims=True)), [], []
        for k in np.unique(predicted).tolist():
            rows = mean_log[predicted == k]
            if np.ptp(rows[:, k]) == np.ptp(np.delete(rows, k, axis=1)) == 0:
                raise ValueError(
                    f"class {k} is predicted {len(rows)} times without any variation, so no "
                    "distribution can be fitted; give more data."
                )
            weights.append(len(rows) / len(table))
            alphas.append(_fitted(rows.mean(axis=0), k))
        return cls(tuple(weights), tuple(alphas))

    def draw(self, n: int, rng: Rng = None) -> FloatMatrix:
        """Draw `n` probability vectors, shape (n, K)."""
        n, generator = as_count(n, "n"), data_generator(rng)
        component = generator.choice(len(self.alphas), n, p=self.weights)
        table = np.empty((n, len(self.alphas[0])))
        for m, alpha in enumerate(self.alphas):
            rows = np.flatnonzero(component == m)
            table[rows] = generator.dirichlet(alpha, len(rows))
        return table


def _fitted(mean_log: FloatMatrix, own: int) -> tuple[float, ...]:
    """Maximise ``ln Gamma(sum a) + sum ((a - 1) mean ln p - ln Gamma(a))`` over two parameters."""
    which = (np.arange(len(mean_log)) == own).astype(int)

    def loss(log_alpha: FloatMatrix) -> tuple[float, FloatMatrix]:
        alpha = np.exp(log_alpha)[which]
        value = special.gammaln(alpha.sum()) + np.sum((alpha - 1) * mean_log)
        slope = special.digamma(alpha.sum()) - special.digamma(alpha) + mean_log
        gradient = np.bincount(which, slope * alpha, 2)
        return float(special.gammaln(alpha).sum() - value), np.asarray(-gradient)

    best = optimize.minimize(loss, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-9})
    return tuple(np.exp(best.x)[which].tolist())
