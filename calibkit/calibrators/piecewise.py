"""The estimator: continuous piecewise-linear maps with a number of pieces found by folds."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from calibkit.calibrators._piecewise_formulas import LOSSES
from calibkit.calibrators._piecewise_optimise import Family
from calibkit.calibrators._piecewise_search import (
    Problem,
    evaluate,
    fit_all,
    fit_folds,
    scores_by_pieces,
)
from calibkit.calibrators.base import Calibrator
from calibkit.calibrators.folds import assign_folds, check_folds, check_tolerance, parsimonious
from calibkit.inputs import (
    EPS,
    LOGIT_LIMIT,
    FloatVector,
    IntVector,
    Rng,
    as_choice,
    as_count,
    expit,
    logit,
)

# The source tries one more piece per 200 predictions, and 16 at most.
_ROWS_PER_PIECE, _MOST_PIECES = 200, 16
# Logits of the map may go beyond those of predictions, but not to infinity on separable data.
_STEEPEST = 4 * LOGIT_LIMIT


@dataclass(eq=False, repr=False)
class PiecewiseLinear(Calibrator):
    """Continuous piecewise-linear calibration map, in probability space (PL) or logits (PL3).

    Parameters
    ----------
    space : {"probability", "logit"}
        Where the map is piecewise linear: between probabilities (PL), or between logits (PL3).
    n_pieces, max_pieces : int, optional
        Number of pieces K, by default chosen by cross-validation; the largest number tried, by
        default ``min(n // 200, 15) + 1`` as in the source.
    loss : {"log-loss", "brier"}
        What the fit minimises. Numbers of pieces are compared by the held-out Brier score.
    outcome : {"refit", "fold-ensemble"}: fit to all data, or average all maps of the folds
    cv, rng : int or scikit-learn splitter, int, numpy.random.Generator or None
        Folds over the sorted predictions, so row order plays no part, and what draws them.
    tolerance : float
        The smallest K whose score is within this part of the best one wins; 0 takes the best.

    Attributes
    ----------
    knots_, heights_ : ndarray of shape (K + 1,)
        As probabilities, for an ensemble those of the refit. In logit space the outer pieces go on
        beyond the outer knots.
    n_pieces_, best_n_pieces_ : int
        Number of pieces; the number with the best score, before `tolerance`.
    candidates_, scores_ : ndarray
        Numbers tried and their mean held-out Brier scores (empty if `n_pieces` was given).
    least_ : float
        What ``calibrate`` says at least, and 1 - `least_` at most.
    training_loss_, members_ : float, list of (knots, heights)
        Mean loss of the refit; the maps that are averaged, one for a refit.
    n_parameters_, converged_, n_iter_
        2K; whether all fits settled; steps of the longest.

    Raises
    ------
    ValueError
        If an option does not exist, or there are fewer predictions than parameters or folds.

    Notes
    -----
    ``g(x) = H_j + (H_{j+1} - H_j) (x - B_j) / (B_{j+1} - B_j)`` for x in piece j (Kängsepp, Valk
    and Kull, 2022, section 5), fitted by damped Gauss-Newton steps from three starts. A piece holds
    at least 1 % of the predictions. With one piece, the logit form is Platt's map without
    smoothing. Constant predictions move to their frequency. The map may reach 0 and 1,
    as the source's does; ``calibrate`` stays ``1 / (n + 2)`` away, Laplace's rule of succession (in
    logit space 1e-16): else the first event called impossible would cost an infinite log loss, and
    the cut adds less than 1 / n to that of the data fitted to. Taught in lesson 07.

    Examples
    --------
    >>> from calibkit.fakes import LogitDistortion
    >>> sample = LogitDistortion(slope=0.5).sample(2000, rng=0)
    >>> model = PiecewiseLinear("logit", rng=0).fit(sample.y_prob, sample.y_true)
    >>> model.n_pieces_, model.calibrate([0.1, 0.5, 0.9]).round(2).tolist()
    (1, [0.23, 0.5, 0.77])
    """

    family: ClassVar[str] = "continuous piecewise linear"

    space: str = "probability"
    n_pieces: int | None = None
    _: KW_ONLY
    loss: str = "log-loss"
    outcome: str = "refit"
    cv: Any = 10
    max_pieces: int | None = None
    tolerance: float = 0.001
    rng: Rng = 0

    @property
    def loss_name(self) -> str:  # type: ignore[override]  # here it is an option
        """What the fit minimises."""
        return "log loss" if self.loss == "log-loss" else "Brier"

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        self._check_options(len(prob))
        self.least_ = 1 / (len(prob) + 2) if self.space == "probability" else EPS
        problem = self._problem(prob, label)
        candidates = self._candidates(len(prob))
        folds: tuple[IntVector, int] | None = None
        if len(candidates) > 1 or self.outcome == "fold-ensemble":
            folds = assign_folds(problem.x, problem.label, self.cv, self.rng)
        self._choose(problem, folds, candidates)
        fits = fit_all(problem, self.n_pieces_)
        self.knots_, self.heights_ = (self._as_prob(part[0]) for part in fits.maps[:2])
        self.training_loss_ = float(fits.loss[0])
        if self.outcome == "fold-ensemble" and folds is not None:
            fits = fit_folds(problem, *folds, self.n_pieces_)
        self._maps = list(zip(fits.maps.knots, fits.maps.heights, strict=True))
        self.members_ = [(self._as_prob(b), self._as_prob(h)) for b, h in self._maps]
        self.converged_, self.n_iter_ = bool(fits.converged.all()), int(fits.n_iter.max())
        self.n_parameters_ = 2 * self.n_pieces_

    def _choose(
        self, problem: Problem, folds: tuple[IntVector, int] | None, candidates: list[int]
    ) -> None:
        self.candidates_, self.scores_ = np.array([], dtype=np.intp), np.array([])
        self.n_pieces_ = self.best_n_pieces_ = candidates[0]
        if len(candidates) > 1 and folds is not None:
            self.candidates_ = np.array(candidates)
            self.scores_ = scores_by_pieces(problem, *folds, candidates)
            self.best_n_pieces_ = candidates[int(self.scores_.argmin())]
            self.n_pieces_ = candidates[parsimonious(self.scores_, self.tolerance)]

    def _problem(self, prob: FloatVector, label: FloatVector) -> Problem:
        in_logits = self.space == "logit"
        x = logit(prob) if in_logits else prob
        order = np.lexsort((label, x))
        x = x[order]
        limits = (-_STEEPEST, _STEEPEST) if in_logits else (0.0, 1.0)
        ends = (float(x[0]), float(x[-1])) if in_logits else (0.0, 1.0)
        if ends[0] == ends[1]:
            ends = (ends[0] - 1.0, ends[1] + 1.0)
        family = Family(LOSSES[self.space, self.loss], *limits)
        return Problem(x, label[order], ends, family, self.space)

    def _candidates(self, n: int) -> list[int]:
        if self.n_pieces is not None:
            return [int(self.n_pieces)]
        most = self.max_pieces or min(n // _ROWS_PER_PIECE + 1, _MOST_PIECES)
        return list(range(1, most + 1))

    def _check_options(self, n: int) -> None:
        as_choice(self.space, "space", ("probability", "logit"))
        as_choice(self.loss, "loss", ("log-loss", "brier"))
        as_choice(self.outcome, "outcome", ("refit", "fold-ensemble"))
        for name in ("n_pieces", "max_pieces"):
            if getattr(self, name) is not None:
                as_count(getattr(self, name), name)
        check_folds(self.cv)
        check_tolerance(self.tolerance)
        pieces = max(self._candidates(n))
        if n < 2 * pieces:
            raise ValueError(
                f"{pieces} pieces have {2 * pieces} parameters, but there are only {n} "
                "predictions. Use fewer pieces, or more predictions."
            )

    def _as_prob(self, values: FloatVector) -> FloatVector:
        return values if self.space == "probability" else expit(values)

    def _curve(self, prob: FloatVector) -> FloatVector:
        x = prob if self.space == "probability" else logit(prob)
        maps = [evaluate(x, knots, heights, self.space) for knots, heights in self._maps]
        return np.asarray(np.mean(maps, axis=0))

    def calibrate(self, p: Any) -> FloatVector:
        """Return the calibrated probabilities, of the shape of `p`: the map, cut at `least_`."""
        return np.clip(self.curve(p), self.least_, 1 - self.least_)

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the map as points to draw: its knots, and a fine grid where it bends."""
        knots = np.unique(np.concatenate([member[0] for member in self.members_]))
        if self.space == "logit":
            knots = np.union1d(knots, np.linspace(0, 1, 321))
        x = np.union1d(knots, [0.0, 1.0])
        return x, self.curve(x)
