"""The bets of `Monitor`, row by row, and the sums that are all it keeps of the rows."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import optimize, special

from calibkit.inputs import FloatVector

_SHIFTS, _SLOPES = (0.1, 0.2, 0.4, 0.8), (0.5, 0.75, 4 / 3, 2.0)
_GRID = np.meshgrid([0.0, *_SHIFTS, *(-a for a in _SHIFTS)], [1.0, *_SLOPES], indexing="ij")
_A, _B = (values.ravel()[1:] for values in _GRID)  # without shift 0 at slope 1, which bets nothing
# Half of the stake on shifts alone, a quarter on slopes alone, a quarter on both.
_KIND = 2 * (_A != 0) + (_B != 1)
_STAKE = np.array([0, 1 / 4, 1 / 2, 1 / 4])[_KIND] / np.bincount(_KIND)[_KIND]
_LAMBDA = 2.0 ** -np.arange(1, 17)  # bets on the mean gap, all with the same stake
_NOTHING = -1e300  # logarithm of what no bet has made; JSON knows no infinity


@dataclass(slots=True, kw_only=True)
class Sums:
    """What a monitor keeps of the rows it has seen; none of them is needed again."""

    n: int = 0
    events: int = 0
    impossible: int = 0  # rows that contradict a prediction of 0 or 1
    logits: float = 0.0  # their sum; predictions of 0 and 1 have none
    n_logits: int = 0
    residuals: float = 0.0
    squares: float = 0.0  # of the residuals
    alarm: int | None = None
    log_now: float = 0.0
    log_largest: float = 0.0
    wealth: list[float] = field(default_factory=lambda: [_NOTHING] * len(_A))  # logarithms, by bet

    def checked(self) -> "Sums":
        """Return these sums, if each number is one, and there are as many as there are bets."""
        single = (getattr(self, name) for name in Sums.__slots__ if name != "wealth")
        numbers = np.array([*self.wealth, *(one for one in single if one is not None)])
        if numbers.dtype.kind not in "if" or not np.isfinite(numbers).all():
            raise ValueError("not all of the sums are numbers")
        if len(self.wealth) != len(_A):
            raise ValueError("other bets")
        return self

    def after(self, label: FloatVector, prob: FloatVector, alpha: float) -> "Sums":
        """Return the sums after these rows; the equations stand in the Notes of `Monitor`."""
        certain = (prob == 0) | (prob == 1)
        wrong = certain & (label != prob)
        logits = special.logit(np.where(certain, 0.5, prob))
        added = self.logits + np.cumsum(logits)
        middle = added / np.maximum(1, self.n_logits + np.cumsum(~certain))
        said = logits[:, np.newaxis]
        bet = said + _A + (_B - 1) * (said - middle[:, np.newaxis])
        gain = label[:, np.newaxis] * (bet - said) + np.logaddexp(0, said) - np.logaddexp(0, bet)
        won = np.cumsum(np.where(certain[:, np.newaxis], 0, gain), axis=0)
        pocket = 1 / (1 + np.log1p(self.n + np.arange(len(label) + 1)))
        before = np.vstack([np.zeros_like(_A), won[:-1]])
        placed = np.vstack([self.wealth, np.log(-np.diff(pocket))[:, np.newaxis] - before])
        wealth = won + np.logaddexp.accumulate(placed)[1:]
        total = np.logaddexp(special.logsumexp(wealth, axis=1, b=_STAKE), np.log(pocket[1:]))
        reached = np.flatnonzero((total >= -math.log(alpha)) | wrong)
        first = self.n + int(reached[0]) + 1 if len(reached) else None
        return Sums(
            n=self.n + len(label),
            events=self.events + int(label.sum()),
            impossible=self.impossible + int(wrong.sum()),
            logits=float(added[-1]),
            n_logits=self.n_logits + int((~certain).sum()),
            residuals=self.residuals + float((label - prob).sum()),
            squares=self.squares + float(((label - prob) ** 2).sum()),
            alarm=first if self.alarm is None else self.alarm,
            log_now=float(total[-1]),
            log_largest=max(self.log_largest, float(total.max())),
            wealth=wealth[-1].tolist(),
        )


def lowest_mean(total: float, squares: float, n: int, error: float) -> float:
    """Return the smallest mean that a sum of n gaps does not refute, with this error at all times.

    A player who bets that gaps are larger has
    ``mean over lambda of exp(lambda (total - n mean) - psi(lambda) squares)``.
    """

    def log_wealth(mean: float) -> float:
        won = _LAMBDA * (total - n * mean) + (np.log1p(-_LAMBDA) + _LAMBDA) * squares
        return float(np.logaddexp.reduce(won)) + math.log(error / len(_LAMBDA))

    if not n or log_wealth(-1) <= 0:
        return -1.0
    return float(optimize.brentq(log_wealth, -1, total / n))
