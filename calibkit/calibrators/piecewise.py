"""Continuous piecewise-linear maps: PL between probabilities, PL3 between logits.

K pieces have K - 1 inner knots and K + 1 heights, all free: 2K parameters. For given knots the fit
of the heights is all but convex; in the knots it has many valleys, so each fit has several starts.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import optimize

from calibkit.calibrators.base import Calibrator
from calibkit.calibrators.folds import assign_folds, check_folds, check_tolerance, parsimonious
from calibkit.inputs import EPS, LOGIT_LIMIT, FloatVector, Rng, as_choice, as_count, expit, logit

# The source tries one more piece per 200 predictions, and 16 at most.
_ROWS_PER_PIECE, _MOST_PIECES = 200, 16
_PLACES = 400  # fits start on so many runs of predictions, and finish on all of them
_LEAST_SHARE = 0.01  # of the predictions in a piece: it may not shrink onto single ones
_LEAST_WIDTH = 1e-9  # of a piece, as a part of the whole range
_MARGIN = 1e-12  # of heights from 0 and 1, so that log loss stays finite
# Relative gain in loss at which a fit ends, first and last, and how often knots are let go.
_SETTLED, _EXACT, _MOST_ROUNDS = 2e-6, 1e-12, 6
_STARTS_OF_A_FOLD = 2
_SAME = 1e-5  # two starts that end this close in mean loss lead to one valley
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
        2K; whether two starts led to the loss that was kept (else a lower one may exist, and
        mostly does for many pieces); steps of the optimiser.

    Raises
    ------
    ValueError
        If an option does not exist, or there are fewer predictions than parameters or folds.

    Notes
    -----
    ``g(x) = H_j + (H_{j+1} - H_j) (x - B_j) / (B_{j+1} - B_j)`` for x in piece j (Kängsepp, Valk
    and Kull, 2022, section 5), fitted by L-BFGS-B from three starts. A piece holds at least 1 % of
    the predictions. With one piece, the logit form is Platt's map without
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
        x = logit(prob) if self.space == "logit" else prob
        order = np.lexsort((label, x))
        x, label = x[order], label[order]
        trains = []
        candidates = self._candidates(len(x))
        if len(candidates) > 1 or self.outcome == "fold-ensemble":
            fold, n_folds = assign_folds(x, label, self.cv, self.rng)
            trains = [fold != part for part in range(n_folds)]
        self._choose(x, label, trains, candidates)
        first, *others = self._fits(x, label, self.n_pieces_)
        runs, settings = _Runs.of(x, label), (self.space, self.loss, _EXACT)
        best = _descend(runs, first.knots, first.heights, *settings)
        self.knots_, self.heights_ = self._as_prob(best.knots), self._as_prob(best.heights)
        self.training_loss_, self.n_iter_ = best.loss, first.n_iter + best.n_iter
        agreed = not others or others[0].loss <= first.loss + _SAME
        self.converged_, self.n_parameters_ = bool(agreed), 2 * self.n_pieces_
        self._maps = [best]
        if self.outcome == "fold-ensemble":
            self._maps = [
                found
                for train in trains
                for found in self._fits(x[train], label[train], self.n_pieces_)
            ]
        self.members_ = [(self._as_prob(m.knots), self._as_prob(m.heights)) for m in self._maps]

    def _choose(
        self, x: FloatVector, label: FloatVector, trains: list[Any], candidates: list[int]
    ) -> None:
        self.candidates_, self.scores_ = np.array([], dtype=np.intp), np.array([])
        self.n_pieces_ = self.best_n_pieces_ = candidates[0]
        if len(candidates) == 1:
            return
        errors = np.zeros((len(candidates), len(trains)))
        for part, train in enumerate(trains):
            for row, n_pieces in enumerate(candidates):
                best = self._fits(x[train], label[train], n_pieces, _STARTS_OF_A_FOLD)[0]
                errors[row, part] = np.mean((self._at(best, x[~train]) - label[~train]) ** 2)
        self.candidates_, self.scores_ = np.array(candidates), errors.mean(axis=1)
        self.best_n_pieces_ = candidates[int(self.scores_.argmin())]
        self.n_pieces_ = candidates[parsimonious(self.scores_, self.tolerance)]

    def _fits(
        self, x: FloatVector, label: FloatVector, n_pieces: int, n_starts: int = 3
    ) -> list["_Map"]:
        """Return the maps that the starts lead to, on runs of predictions, best first."""
        data = _Runs.of(x, label, _PLACES)
        ends = (0.0, 1.0) if self.space == "probability" else (float(x[0]), float(x[-1]))
        if ends[0] == ends[1]:
            ends = (ends[0] - 1.0, ends[1] + 1.0)
        smooth = data.smooth()
        maps = []
        for inner in _starts(data, n_pieces, *self._regressions(data, smooth))[:n_starts]:
            knots = _apart(np.concatenate(([ends[0]], inner, [ends[1]])))
            share = np.interp(knots, data.x, smooth)
            heights = share if self.space == "probability" else logit(share)
            maps.append(_descend(data, knots, heights, self.space, self.loss, _SETTLED))
        return sorted(maps, key=lambda found: found.loss)

    def _regressions(self, data: "_Runs", smooth: FloatVector) -> list[tuple[FloatVector, ...]]:
        """Return weights and responses of two regressions that show where knots are needed.

        As the loss counts the rows, by its quadratic model around a smooth map; and all alike.
        """
        share, spread = data.hits / data.n, smooth * (1 - smooth)
        response = logit(smooth) + (share - smooth) / spread
        power = {"log-loss": 1, "brier": 2}[self.loss]
        if self.space == "probability":
            response, power = share, {"log-loss": -1, "brier": 0}[self.loss]
        return [(data.n * spread**power, response), (data.n, share)]

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

    def _at(self, found: "_Map", x: FloatVector) -> FloatVector:
        """Return a map at `x`; in logit space its outer pieces go on beyond the outer knots."""
        knots, heights, *_ = found
        value = np.interp(x, knots, heights)
        if self.space == "logit":
            slopes = np.diff(heights) / np.diff(knots)
            value = value + slopes[0] * np.minimum(x - knots[0], 0.0)
            value = value + slopes[-1] * np.maximum(x - knots[-1], 0.0)
        return self._as_prob(value)

    def _curve(self, prob: FloatVector) -> FloatVector:
        x = prob if self.space == "probability" else logit(prob)
        return np.asarray(np.mean([self._at(found, x) for found in self._maps], axis=0))

    def calibrate(self, p: Any) -> FloatVector:
        """Return the calibrated probabilities, of the shape of `p`: the map, cut at `least_`."""
        return np.clip(self.curve(p), self.least_, 1 - self.least_)

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the map as points to draw: its knots, and a fine grid where it bends."""
        self._check_fitted()
        knots = np.unique(np.concatenate([member[0] for member in self.members_]))
        if self.space == "logit":
            knots = np.union1d(knots, np.linspace(0, 1, 321))
        x = np.union1d(knots, [0.0, 1.0])
        return x, self.curve(x)


class _Map(NamedTuple):
    knots: FloatVector
    heights: FloatVector
    loss: float
    n_iter: int


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Increasing predictions or logits, the events there, and how many rows they stand for."""

    x: FloatVector
    hits: FloatVector
    n: FloatVector

    @classmethod
    def of(cls, x: FloatVector, label: FloatVector, most: int | None = None) -> "_Runs":
        """Pool the ties of sorted `x`; beyond `most` places neighbours are joined at their mean."""
        value, place = np.unique(x, return_inverse=True)
        if most is not None and len(value) > most:  # a tie goes where its first member goes
            run = np.searchsorted(x, x) * most // len(x)
            place = np.unique(run, return_inverse=True)[1]
        n = np.bincount(place).astype(np.float64)
        first = x[np.searchsorted(place, np.arange(len(n)))]
        # Deviations from the first value keep ties exact: their mean is the value itself.
        hits = np.bincount(place, label).astype(np.float64)
        return cls(first + np.bincount(place, x - first[place]) / n, hits, n)

    @property
    def rank(self) -> FloatVector:
        """Share of all rows up to each place."""
        return np.asarray((np.cumsum(self.n) - self.n / 2) / self.n.sum())

    def smooth(self) -> FloatVector:
        """Return a moving average of the frequencies, off 0 and 1."""
        half = len(self.n) // 20
        hits, n = (
            np.convolve(np.pad(part, half, "edge"), np.ones(2 * half + 1), "valid")
            for part in (self.hits, self.n)
        )
        return np.clip(hits / n, 0.01, 0.99)


def _starts(data: _Runs, n_pieces: int, *regressions: Any) -> list[FloatVector]:
    """Return inner knots to start from: greedy ones by each regression, and of equal mass."""
    inner = np.interp(np.arange(1, n_pieces) / n_pieces, data.rank, data.x)
    if n_pieces == 1:
        return [inner]
    return [*(_greedy_knots(data, n_pieces - 1, *each) for each in regressions), inner]


def _greedy_knots(
    data: _Runs, most: int, weight: FloatVector, response: FloatVector
) -> FloatVector:
    """Add the hinge ``max(x - knot, 0)`` that explains most of what is left, one by one."""
    low, high = np.interp((0.01, 0.99), data.rank, data.x)
    by_rank = np.interp(np.arange(1, 37) / 37, data.rank, data.x)
    candidates = np.union1d(by_rank, np.linspace(low, high, 16))
    root = np.sqrt(weight)
    hinges = np.maximum(data.x - candidates[:, np.newaxis], 0) * root
    least = 1e-9 * np.square(hinges).sum(axis=1) + 1e-300
    line, _ = np.linalg.qr(np.column_stack([root, data.x * root]))
    left = response * root
    left, hinges = left - line @ (line.T @ left), hinges - (hinges @ line) @ line.T
    chosen = []
    for _ in range(min(most, len(candidates))):
        size = np.square(hinges).sum(axis=1)
        best = int(np.where(size > least, np.square(hinges @ left) / (size + least), -1).argmax())
        chosen.append(candidates[best])
        direction = hinges[best] / np.sqrt(size[best] + least[best])
        left = left - (left @ direction) * direction
        hinges = hinges - np.outer(hinges @ direction, direction)
    more = np.full(most - len(chosen), candidates[-1])
    return np.sort(np.append(chosen, more))


def _apart(knots: FloatVector) -> FloatVector:
    """Move inner knots, where they meet, a little apart."""
    gap = _LEAST_WIDTH * (knots[-1] - knots[0])
    j = np.arange(len(knots))
    up = np.maximum.accumulate(knots - j * gap) + j * gap
    return np.asarray(np.minimum(up, knots[-1] - gap * j[::-1]))


def _descend(
    data: _Runs, knots: FloatVector, heights: FloatVector, space: str, loss: str, settled: float
) -> _Map:
    """Lower the loss from a start by L-BFGS-B: each knot may go half way to its neighbours, often.

    So knots stay in order, and pieces keep their least share of the rows.
    """
    k, rank, total = len(knots) - 1, data.rank, 0
    share = min(_LEAST_SHARE, 0.5 / k)
    limits = (0.0, 1.0) if space == "probability" else (-_STEEPEST, _STEEPEST)
    ends, before = knots[[0, -1]], np.inf
    theta = np.concatenate([heights, knots[1:-1]])
    options = {"ftol": settled if k > 1 else 1e-15, "gtol": 1e-9}
    for _ in range(_MOST_ROUNDS):
        boxes = [limits] * (k + 1) + _boxes(data, rank, knots, share)
        found = optimize.minimize(
            _loss, theta, (data, ends, space, loss), "L-BFGS-B", True, bounds=boxes, options=options
        )
        theta, total = found.x, total + int(found.nit)
        knots = np.concatenate((ends[:1], theta[k + 1 :], ends[1:]))
        if k == 1 or before - found.fun < 1e-7:
            break
        before = found.fun
    return _Map(knots, theta[: k + 1], float(found.fun), total)


def _boxes(
    data: _Runs, rank: FloatVector, knots: FloatVector, share: float
) -> list[tuple[float, float]]:
    """Return how far each inner knot may go: half way to its neighbours, in `x` and in ranks."""
    at = np.concatenate(([-share / 2], np.interp(knots[1:-1], data.x, rank), [1 + share / 2]))
    middle, half = (at[:-1] + at[1:]) / 2, (knots[:-1] + knots[1:]) / 2
    middle[0], middle[-1] = share / 2, 1 - share / 2
    half[0], half[-1] = knots[0], knots[-1]
    gap = _LEAST_WIDTH * (knots[-1] - knots[0]) / 4
    low = np.maximum(np.interp(middle[:-1] + share / 2, rank, data.x), half[:-1] + gap)
    high = np.minimum(np.interp(middle[1:] - share / 2, rank, data.x), half[1:] - gap)
    inner = knots[1:-1]
    return list(zip(np.minimum(low, inner), np.maximum(high, inner), strict=True))


def _loss(
    theta: FloatVector, data: _Runs, ends: FloatVector, space: str, loss: str
) -> tuple[float, FloatVector]:
    """Return mean loss and gradient: moving a knot is moving its height against the slope."""
    k, hits, n = len(theta) // 2, data.hits, data.n
    heights, knots = theta[: k + 1], np.concatenate((ends[:1], theta[k + 1 :], ends[1:]))
    piece = np.searchsorted(knots[1:-1], data.x)
    rise, width = heights[1:] - heights[:-1], knots[1:] - knots[:-1]
    share = (data.x - knots[piece]) / width[piece]
    value = heights[piece] + rise[piece] * share
    in_logits = space == "logit"
    prob = expit(value) if in_logits else np.clip(value, _MARGIN, 1 - _MARGIN)
    if loss == "brier":
        each = hits * (1 - prob) ** 2 + (n - hits) * prob**2
        slope = 2 * (n * prob - hits) * (prob * (1 - prob) if in_logits else 1.0)
    elif in_logits:
        each, slope = n * np.logaddexp(0, value) - hits * value, n * prob - hits
    else:
        each = -hits * np.log(prob) - (n - hits) * np.log1p(-prob)
        slope = (n * prob - hits) / (prob * (1 - prob))
    right = np.bincount(piece, slope * share, k)
    left = np.bincount(piece, slope, k) - right
    gradient = np.zeros(2 * k)
    gradient[:k] += left
    gradient[1 : k + 1] += right
    gradient[k + 1 :] = -(rise / width * left)[1:] - (rise / width * right)[:-1]
    total = n.sum()
    return float(each.sum() / total), gradient / total
