"""A test that may be looked at every day: bets against the predictions, and what they have won.

A test with fixed n keeps its level at one look; `Monitor` keeps it at all of them. Lesson 14.
"""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate, optimize, special

from calibkit.inputs import FloatVector, View, as_level, binary_problem
from calibkit.results import Result, listed, spell
from calibkit_audit.saving import finite, write_whole

_WHAT, _VERSION = "calibkit monitor", 4  # another version where bets, stakes or sums change
_SETTINGS = ("model", "view", "alpha")
_ROWS = 4096  # are worked on at a time
_LARGEST_LOG = 700.0  # of a number that a float holds

_SHIFTS, _SLOPES = (0.1, 0.2, 0.4, 0.8), (0.5, 0.75, 4 / 3, 2.0)
_GRID = np.meshgrid([0.0, *_SHIFTS, *(-a for a in _SHIFTS)], [1.0, *_SLOPES], indexing="ij")
_A, _B = (values.ravel()[1:] for values in _GRID)  # without shift 0 at slope 1, which bets nothing
# Half of the stake on shifts alone, a quarter on slopes alone, a quarter on both.
_KIND = 2 * (_A != 0) + (_B != 1)
_STAKE = np.array([0, 1 / 4, 1 / 2, 1 / 4])[_KIND] / np.bincount(_KIND)[_KIND]
_NOTHING = -1e300  # logarithm of what no bet has made; JSON knows no infinity
# After an alarm: offsets alone, and every third of them with other slopes.
_OFFSETS = np.linspace(-3, 3, 61)
_A_LATE = np.append(_OFFSETS, np.tile(_OFFSETS[::3], 4))
_B_LATE = np.append(np.ones(61), np.repeat(_SLOPES, 21))
_PRIOR = np.repeat([1 / (2 * 61), 1 / (2 * 84)], [61, 84])


@dataclass(slots=True, kw_only=True)
class MonitorState:
    """What a monitor keeps of the rows it has seen; none of them is needed again."""

    n: int = 0
    events: int = 0
    impossible: int = 0  # rows that contradict a prediction of 0 or 1
    logits: float = 0.0  # their sum; predictions of 0 and 1 have none
    n_logits: int = 0
    residuals: float = 0.0
    alarm: int | None = None
    log_now: float = 0.0
    log_largest: float = 0.0
    wealth: list[float] = field(default_factory=lambda: [_NOTHING] * len(_A))  # logarithms, by bet
    later: list[float] = field(default_factory=lambda: [0.0] * len(_PRIOR))  # after the alarm

    def after(self, label: FloatVector, prob: FloatVector, alpha: float) -> "MonitorState":
        """Return the sums after these rows; the equations stand in the Notes of `Monitor`."""
        certain = (prob == 0) | (prob == 1)
        wrong = certain & (label != prob)
        logits = special.logit(np.where(certain, 0.5, prob))
        added = self.logits + np.cumsum(logits)
        middle = added / np.maximum(1, self.n_logits + np.cumsum(~certain))
        rows = np.array([label, logits, middle, certain])
        won = np.cumsum(_gain(rows, _A, _B), axis=0)
        pocket = 1 / (1 + np.log1p(self.n + np.arange(len(label) + 1)))
        before = np.vstack([np.zeros_like(_A), won[:-1]])
        placed = np.vstack([self.wealth, np.log(-np.diff(pocket))[:, np.newaxis] - before])
        wealth = won + np.logaddexp.accumulate(placed)[1:]
        total = np.logaddexp(special.logsumexp(wealth, axis=1, b=_STAKE), np.log(pocket[1:]))
        reached = np.flatnonzero((total >= -math.log(alpha)) | wrong)
        first = self.n + int(reached[0]) + 1 if len(reached) else None
        alarm = first if self.alarm is None else self.alarm
        later = rows[:, max(0, alarm - self.n) :] if alarm else rows[:, :0]
        return MonitorState(
            n=self.n + len(label),
            events=self.events + int(label.sum()),
            impossible=self.impossible + int(wrong.sum()),
            logits=float(added[-1]),
            n_logits=self.n_logits + int((~certain).sum()),
            residuals=self.residuals + float((label - prob).sum()),
            alarm=alarm,
            log_now=float(total[-1]),
            log_largest=max(self.log_largest, float(total.max())),
            wealth=wealth[-1].tolist(),
            later=(self.later + _gain(later, _A_LATE, _B_LATE).sum(axis=0)).tolist(),
        )


def _gain(rows: FloatVector, a: FloatVector, b: FloatVector) -> FloatVector:
    """Return the logarithm of what each row (down) pays for each bet (a, b) (across)."""
    label, said, middle, certain = rows[:, :, np.newaxis]
    bet = said + a + (b - 1) * (said - middle)
    gain = label * (bet - said) + np.logaddexp(0, said) - np.logaddexp(0, bet)
    return np.where(certain, 0, gain)


def _offset_interval(later: list[float], alpha: float) -> tuple[float, float, float]:
    """Return the likeliest offset, and the ends of those that are not refuted; NaN if all are.

    The log-likelihood is smooth and concave in the offset: a spline knows it between the grid.
    """
    least = special.logsumexp(later, b=_PRIOR) + math.log(alpha)
    above = interpolate.CubicSpline(_OFFSETS, np.array(later[: len(_OFFSETS)]) - least)
    first, last = _OFFSETS[[0, -1]]
    best = optimize.minimize_scalar(lambda a: -above(a), bounds=(first, last)).x
    if above(best) <= 0:
        return math.nan, math.nan, math.nan
    low = -math.inf if above(first) > 0 else optimize.brentq(above, first, best)
    high = math.inf if above(last) > 0 else optimize.brentq(above, best, last)
    return float(best), low, high


def _digest(state: dict[str, Any]) -> str:
    """Return what only this state has: a change of a single digit gives another one."""
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evidence(Result):
    """What a `Monitor` has seen so far.

    Parameters
    ----------
    e_value, largest : float
        Wealth of a player who began with 1: now, and at its largest. Infinite after a
        contradicted prediction of 0 or 1, else at most 1e304.
    p_value : float
        ``1 / largest``: ever at most alpha with probability alpha, whenever one looks.
    alarm : int or None
        The row, counted from 1, at which the wealth reached ``1 / alpha`` for the first time.
    gap : float
        Mean of label minus prediction.
    n, events, impossible : int
        Rows, labels of 1, and rows that contradict a prediction of exactly 0 or 1.
    offset, offset_low, offset_high : float
        By how much logits are too low after the row of the alarm, and its confidence sequence. NaN
        before, and where no single offset explains the rows; an infinite end is not known yet.
    alpha, model : float, str
    """

    e_value: float
    largest: float
    p_value: float
    alarm: int | None
    gap: float
    n: int
    events: int
    impossible: int
    offset: float
    offset_low: float
    offset_high: float
    alpha: float
    model: str

    def describe(self) -> str:
        """Say whether there was an alarm, the evidence, and the mean gap."""
        alarm = "No alarm" if self.alarm is None else f"Alarm at row {self.alarm:,}"
        text = (
            f"{alarm} ({self.model}, {spell(self.n, 'prediction')}): evidence {self.e_value:.3g}, "
            f"at most {self.largest:.3g} so far, alarm from {1 / self.alpha:g} on; "
            f"p {self.p_value:.3g} at all looks."
        )
        if self.n:
            text += f" Label minus prediction {self.gap:+.4f} on average."
        if self.impossible:
            text += f" {spell(self.impossible, 'label')} had been called impossible."
        return text if self.alarm is None else f"{text} {self._repair(self.n - self.alarm)}"

    def _repair(self, n_since: int) -> str:
        """Say which repair the rows since an alarm ask for."""
        rows, low, high = spell(n_since, "row"), self.offset_low, self.offset_high
        if math.isnan(self.offset):
            return f"No single offset of the logits explains it ({rows} since): refit."
        if not math.isfinite(low + high):
            return f"{rows} since: too few to say whether an offset of the logits explains it."
        offsets = f"offset of {self.offset:+.2f} in the logit ({low:+.2f} to {high:+.2f})"
        if low <= 0 <= high:
            return f"{rows} since: an {offsets} explains them, and so does none. Wait for more."
        return f"{rows} since: an {offsets} explains them: move the intercept."

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("e_value", "largest", "p_value", "gap", "n", "events")
        offsets = ("offset", "offset_low", "offset_high")
        return listed(self, (*names, *offsets), ("quantity", "number"))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as JSON takes them; what is not finite becomes None."""
        return {"in words": self.describe()} | {k: finite(v) for k, v in asdict(self).items()}


class Monitor:
    r"""Watch predictions as labels come: a calibrated model is ever accused with probability alpha.

    Parameters
    ----------
    alpha : float
        How often a calibrated model is accused, however often and whenever one looks.
    view : {"top-label"}, int or list of int, optional
        Which event; needed for predictions with a column per class.
    model : str
        Whose predictions these are; a saved state of another model is refused.

    Attributes
    ----------
    notes : list of str
        Texts that the state keeps, e.g. which files were read.

    Notes
    -----
    **The bets.** With :math:`l_t = \operatorname{logit} p_t` and the mean :math:`c_t` of all logits
    so far, the bet (a, b) says that the true logit is :math:`l_t + a + (b - 1)(l_t - c_t)`; a coin
    on it becomes :math:`L_t = (q_t / p_t)^{y_t} ((1 - q_t) / (1 - p_t))^{1 - y_t}`, with its
    probability :math:`q_t`. There are 44: shifts 0, ±0.1, ±0.2, ±0.4, ±0.8, slopes 1/2, 3/4, 1,
    4/3, 2. An error may begin late, so the stake of 1 is placed little by little: after t rows
    :math:`r_t = 1 / (1 + \log(1 + t))` is still in the pocket. The wealth is

    .. math:: M_t = r_t + \sum_j w_j \sum_{k \le t} (r_{k-1} - r_k) \prod_{i=k}^t L_i^{(j)} .

    **The level.** If :math:`P(y_t = 1 \mid \text{past}, p_t) = p_t`, every :math:`L_t` has mean 1
    given the past. So M is a nonnegative martingale that begins at 1, and by Ville's inequality
    (1939) it ever reaches 1 / alpha with probability at most alpha. See Henzi and Ziegel (2022),
    section 2; Arnold, Henzi and Ziegel (2023).

    **After an alarm.** Let :math:`Q_{a,b}` be the likelihood of the rows after it for the offset
    a with the slope b, a from -3 to 3, b as above, and :math:`\bar Q` a fixed mean of these,
    half of it with the slope 1. If the true logit is :math:`l_t + a`, :math:`\bar Q / Q_{a,1}` is
    such a martingale, too. So the offsets with :math:`Q_{a,1} > \alpha \bar Q` hold the true one
    at all looks; where none is left, the slope is wrong, or the offset was none of these.

    **What is assumed.** Given the past, each label is a coin of its own: keep one row of each case.
    How rows are cut into batches changes nothing; order a batch without a look at labels. A
    prediction of exactly 0 or 1 is no bet while it holds, and an alarm when it is contradicted.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(3000)
    >>> Monitor().update(rng.random(3000) < p, p).alarm is None
    True
    >>> low = p / (p + np.exp(0.5) * (1 - p))  # by 0.5 in the logit
    >>> Monitor().update(rng.random(3000) < p, low).alarm
    355
    """

    def __init__(self, *, alpha: float = 0.05, view: View = None, model: str = "model") -> None:
        self.alpha, self.model, self.notes = as_level(alpha, "alpha"), model, list[str]()
        # As JSON has it, so that a saved state is the same.
        self.view: View = view if view is None or isinstance(view, str) else np.array(view).tolist()
        self._state = MonitorState()

    def update(self, y_true: Any, y_prob: Any, *, positive: Any = None) -> Evidence:
        """Bet on these rows, in their order.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
        y_prob : array-like of shape (n,) or (n, K)
            P(y = 1), or one column per class with rows that sum to 1, said before the labels came.
        positive : label, optional
            The label that `y_prob` is about.

        Returns
        -------
        Evidence
            After these rows.

        Raises
        ------
        ValueError
            If labels, probabilities, view or options are not valid; then no row has counted.
        """
        problem = binary_problem(y_true, y_prob, view=self.view, positive=positive)
        label, prob = problem.label.astype(np.float64), problem.prob.astype(np.float64)
        for start in range(0, len(label), _ROWS):
            part = slice(start, start + _ROWS)
            self._state = self._state.after(label[part], prob[part], self.alpha)
        return self.evidence

    @property
    def evidence(self) -> Evidence:
        """What was seen so far."""
        state, offsets = self._state, (math.nan,) * 3
        now, largest = (min(log, _LARGEST_LOG) for log in (state.log_now, state.log_largest))
        if state.impossible:
            now = largest = math.inf
        elif state.alarm is not None:
            offsets = _offset_interval(state.later, self.alpha)
        same: Any = {name: getattr(state, name) for name in ("alarm", "n", "events", "impossible")}
        same |= dict(zip(("offset", "offset_low", "offset_high"), offsets, strict=True))
        return Evidence(
            e_value=math.exp(now),
            largest=math.exp(largest),
            p_value=math.exp(-largest),
            gap=state.residuals / state.n if state.n else math.nan,
            **same,
            alpha=self.alpha,
            model=self.model,
        )

    def save(self, path: str | Path) -> Path:
        """Write the state to a JSON file: whole or not at all. No two programs may share one."""
        state = {"what": _WHAT, "version": _VERSION, "notes": self.notes}
        state |= {name: getattr(self, name) for name in _SETTINGS} | {"sums": asdict(self._state)}
        return write_whole(path, json.dumps(state | {"digest": _digest(state)}, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path, **expected: Any) -> "Monitor":
        """Return the monitor that was saved, its evidence the same to the last bit.

        Parameters
        ----------
        path : path
            What `save` has written. It is only read.
        **expected
            ``model=``, ``view=``, ``alpha=``: a state with another one is refused.

        Raises
        ------
        ValueError
            If the file is no state of a monitor, or one of another version, model, view or alpha.
        """
        kept = f"{path} was left as it is; name another file to begin anew"
        try:
            state = json.loads(Path(path).read_text("utf-8"))
            digest = state.pop("digest")
            if (state["what"], state["version"], digest) != (_WHAT, _VERSION, _digest(state)):
                raise ValueError("another file or version, or not as it was written")
            monitor = cls(**{name: state[name] for name in _SETTINGS})
            monitor._state = MonitorState(**state["sums"])
            monitor.notes = state["notes"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(
                f"{path} is no state of a monitor of version {_VERSION}, which this calibkit "
                f"knows, or damaged. {kept}, or a copy of it."
            ) from None
        asked = cls(**expected)
        for name in expected:
            found, value = getattr(monitor, name), getattr(asked, name)
            if found != value:
                raise ValueError(f"{path} was begun with {name}={found!r}, not {value!r}. {kept}.")
        return monitor
