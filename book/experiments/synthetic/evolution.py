"""PL_DE: continuous pieces whose knots are found by differential evolution, from package pwlf."""

from typing import Any, ClassVar

import numpy as np

from calibkit.calibrators.base import Calibrator
from calibkit.inputs import FloatVector, as_count

# Settings of the source, which hands pwlf's own to SciPy.
SETTINGS: dict[str, Any] = {
    "strategy": "best1bin",
    "maxiter": 1000,
    "tol": 1e-3,
    "mutation": (0.5, 1.0),
    "recombination": 0.7,
    "polish": True,
    "init": "latinhypercube",
    "atol": 1e-4,
}
MOST_PIECES, POINTS_PER_PIECE = 7, 20


class EvolvedPieces(Calibrator):
    """Continuous piecewise-linear least squares; the knots are found by a random search.

    Parameters
    ----------
    n_pieces : int, optional
        Number of pieces. By default it is chosen from 1 to `most_pieces`, at most n / 20, by
        cross-validation with the 0.1 % rule.
    cv : int
        Number of folds.
    population : int
        Members of the population per knot.
    most_pieces : int
        The largest number tried.
    rng : int
        Seed of the folds and of the search. The source gave none, so its numbers vary.
    """

    family: ClassVar[str] = "continuous pieces by differential evolution"
    loss_name: ClassVar[str] = "Brier"

    def __init__(
        self,
        n_pieces: int | None = None,
        *,
        cv: int = 10,
        population: int = 50,
        most_pieces: int = MOST_PIECES,
        rng: int = 0,
    ) -> None:
        self.n_pieces = n_pieces
        self.cv = cv
        self.population = population
        self.most_pieces = most_pieces
        self.rng = rng

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        order = np.lexsort((label, prob))  # the order of the rows must not matter
        prob, label = prob[order], label[order]
        if len(np.unique(prob)) < 2:
            raise ValueError("p is constant; straight pieces need at least two different values.")
        self.scores_: FloatVector = np.empty(0)
        if self.n_pieces is None:
            self.scores_ = self._held_out(prob, label)
            good = self.scores_ <= self.scores_.min() * 1.001
            self.n_pieces_ = int(np.flatnonzero(good)[0]) + 1
        else:
            self.n_pieces_ = as_count(self.n_pieces, "n_pieces")
        self.knots_, self.heights_ = self._search(prob, label, self.n_pieces_)
        self.n_parameters_ = 2 * self.n_pieces_

    def _held_out(self, prob: FloatVector, label: FloatVector) -> FloatVector:
        """Return the mean held-out Brier score of each number of pieces."""
        folds = as_count(self.cv, "cv", minimum=2)
        most = min(as_count(self.most_pieces, "most_pieces"), len(prob) // POINTS_PER_PIECE)
        if most < 1 or len(prob) < folds:
            raise ValueError(
                f"{len(prob)} predictions are too few to choose pieces with cv={folds}; at least "
                f"{max(POINTS_PER_PIECE, folds)} are needed. Pass n_pieces instead."
            )
        fold = np.random.default_rng(self.rng).permutation(len(prob)) % folds
        scores = np.empty((most, folds))
        for pieces in range(1, most + 1):
            for k in range(folds):
                out = fold == k
                knots, heights = self._search(prob[~out], label[~out], pieces)
                gap = _line(prob[out], knots, heights) - label[out]
                scores[pieces - 1, k] = np.mean(gap**2)
        return np.asarray(scores.mean(axis=1))

    def _search(
        self, prob: FloatVector, label: FloatVector, pieces: int
    ) -> tuple[FloatVector, FloatVector]:
        """Return knots and heights of the best map that the search finds."""
        try:
            import pwlf
        except ImportError as error:
            raise ImportError(
                "EvolvedPieces needs the package pwlf: pip install pwlf. "
                "calibkit.calibrators.PiecewiseLinear needs nothing and is much faster."
            ) from error
        model = pwlf.PiecewiseLinFit(prob, label)
        if pieces == 1:
            knots = np.array([prob[0], prob[-1]])
            model.fit_with_breaks(knots)
        else:
            knots = model.fit(pieces, popsize=self.population, seed=self.rng, **SETTINGS)
        knots = np.unique(knots)  # the search may put two knots on one place
        return knots, np.asarray(model.predict(knots))

    def _curve(self, prob: FloatVector) -> FloatVector:
        return _line(prob, self.knots_, self.heights_)


def _line(prob: FloatVector, knots: FloatVector, heights: FloatVector) -> FloatVector:
    """Interpolate, and go on straight beyond the outer knots."""
    slopes = np.diff(heights) / np.diff(knots)
    inside = np.interp(prob, knots, heights)
    below, above = np.minimum(prob - knots[0], 0), np.maximum(prob - knots[-1], 0)
    return np.asarray(inside + slopes[0] * below + slopes[-1] * above)


# The source tries up to seven pieces with a population of 50, which takes minutes per data set.
EVOLVED: dict[str, Calibrator] = {"PL_DE": EvolvedPieces(most_pieces=3, population=10)}
