"""A test that may be looked at every day: bets against the predictions, and what they have won.

A test with fixed n keeps its level at one look; `Monitor` keeps it at all of them. Lesson 14.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import Events, View, as_level, binary_problem, shows_rows
from calibkit.results import Result, listed, spell
from calibkit_audit.bets import Sums, lowest_mean
from calibkit_audit.saving import finite, write_whole

_WHAT, _VERSION = "calibkit monitor", 1  # another version where bets, stakes or sums change
_SETTINGS = ("model", "view", "alpha")
_ROWS = 4096  # are worked on at a time
_LARGEST_LOG = 700.0  # of a number that a float holds


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
    gap, low, high : float
        Mean of label minus prediction, and the confidence sequence for what is expected of it.
    n, events, impossible : int
        Rows, labels of 1, and rows that contradict a prediction of exactly 0 or 1.
    alpha, model : float, str
    """

    e_value: float
    largest: float
    p_value: float
    alarm: int | None
    gap: float
    low: float
    high: float
    n: int
    events: int
    impossible: int
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
            text += (
                f" Label minus prediction {self.gap:+.4f} on average ({100 * (1 - self.alpha):g} % "
                f"at all looks: {self.low:+.4f} to {self.high:+.4f})."
            )
        if self.impossible:
            text += f" {spell(self.impossible, 'label')} had been called impossible."
        return text

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("e_value", "largest", "p_value", "gap", "low", "high", "n", "events")
        return listed(self, names, ("quantity", "number"))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as JSON takes them; what is not finite becomes None."""
        return {"in words": self.describe()} | {k: finite(v) for k, v in asdict(self).items()}


class Monitor:
    r"""Watch predictions as labels come: a calibrated model is ever accused with probability alpha.

    Taught in lesson 14.

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
    so far, the bet (a, b) says that the true logit is :math:`l_t + a + (b - 1)(l_t - c_t)`: shifted
    by a, b times as steep. With :math:`q_t` for its probability a coin that is put on it becomes

    .. math:: L_t = \Bigl(\frac{q_t}{p_t}\Bigr)^{y_t} \Bigl(\frac{1 - q_t}{1 - p_t}\Bigr)^{1 - y_t}
        = 1 + \frac{q_t - p_t}{p_t (1 - p_t)} (y_t - p_t) ,

    a bet on the residual. There are 44: shifts 0, ±0.1, ±0.2, ±0.4, ±0.8 with slopes 1/2, 3/4, 1,
    4/3, 2. An error may begin late, so the stake of 1 goes onto the table little by little: after
    t rows :math:`r_t = 1 / (1 + \log(1 + t))` is still in the pocket. The wealth is

    .. math:: M_t = r_t + \sum_j w_j \sum_{k \le t} (r_{k-1} - r_k) \prod_{i=k}^t L_i^{(j)} .

    **The level.** If :math:`P(y_t = 1 \mid \text{past}, p_t) = p_t`, every :math:`L_t` has mean 1
    given the past, since :math:`q_t` is known before the label is. So M is a nonnegative martingale
    that begins at 1, and by Ville's inequality (1939) it ever reaches 1 / alpha with probability at
    most alpha. See Henzi and Ziegel (2022), section 2; Arnold, Henzi and Ziegel (2023).

    **The mean gap.** Let :math:`D_t = y_t - p_t` have mean :math:`\delta_t` given the past, and
    :math:`\psi(\lambda) = -\log(1 - \lambda) - \lambda` for λ in [0, 1). As D is at least −1,
    :math:`\exp(\lambda D_t - \psi(\lambda) D_t^2) \le 1 + \lambda D_t` (Fan, Grama and Liu 2015),
    whose mean is at most :math:`\exp(\lambda \delta_t)`. So the mean, over 16 values of λ, of
    :math:`\exp(\lambda \sum (D_t - \delta_t) - \psi(\lambda) \sum D_t^2)` ever exceeds 2 / alpha
    with probability at most alpha / 2, and the same holds of −D. The means of :math:`\delta` that
    are not refuted are the confidence sequence. Gaps may drift: it holds the *mean so far* (Howard
    and others 2021, theorem 4). For a constant gap Waudby-Smith and Ramdas (2024) bet, too.

    **What is assumed.** Nothing of how predictions arise, and outcomes may depend on a past that
    the model knows. Given it, each label is a coin of its own. An outcome that is written down
    several times is bet on several times: with every row five times over, all calibrated streams
    below were accused. Keep one row of each case.

    **Batches.** The wealth is that of a player who bets row by row: how rows are cut into batches
    changes nothing beyond rounding. Put the rows of a batch in an order that looks at no label.
    A prediction of exactly 0 or 1 is no bet while it holds; contradicted, it raises the alarm at
    once, for no calibrated model ever says so. A stream of one class is a stream. There are no
    weights, as chance knows whole rows only. After an alarm begin a new state with a new model.

    **Measured** by ``python -m book.experiments.peeking``: streams of 10,000 rows, 5 % level,
    beside the z-test of the mean gap. Accused, of 2,000 calibrated streams, in per cent:

    =============================  =======  =====  =====
    predictions                    uniform  sharp  rare
    =============================  =======  =====  =====
    monitor, at every row            3.6     3.1    3.0
    z-test, at every row            49.6    48.2   45.8
    z-test, each 100 rows           38.2    36.4   36.1
    z-test, once, at the end         5.5     4.7    5.9
    =============================  =======  =====  =====

    Median rows from the beginning of an error of this size in the logit to the alarm, of 500
    streams with uniform predictions (in brackets: found by row 10,000, if not all were):

    ============================  =========  =========  ====  ====  ====
    logits too low by             0.1        0.2        0.3   0.4   0.5
    ============================  =========  =========  ====  ====  ====
    from row 1: monitor           5822 (79)  1368       597   347   218
    from row 1: z-test            1400 (99)  500        300   200   100
    from row 5001: monitor        none (11)  3086 (90)  1550  906   613
    from row 5001: z-test         4500 (59)  2000 (98)  1300  1000  800
    ============================  =========  =========  ====  ====  ====

    The z-test looks each 100 rows. In the last row it had accused 34 % of the streams before there
    was an error; those are left out (of the monitor's, 4 %). One z-test at the end, row 10,000,
    finds 98 % of the smallest error from row 1 on, and all larger ones: it needs fewer rows, but
    one has to wait for it.

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
        self.view: View = view
        self._sums = Sums()

    @shows_rows
    def update(self, y_true: Any, y_prob: Any, **rows: Unpack[Events]) -> Evidence:
        """Bet on these rows, in their order.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
        y_prob : array-like of shape (n,) or (n, K)
            P(y = 1), or one column per class with rows that sum to 1, said before the labels came.
        positive, predicted : optional
            The label that `y_prob` is about; the predicted class whose confidence it is.

        Returns
        -------
        Evidence
            After these rows.

        Raises
        ------
        ValueError
            If labels, probabilities, view or options are not valid; then no row has counted.
        """
        problem = binary_problem(y_true, y_prob, view=self.view, **rows)
        label, prob = problem.label.astype(np.float64), problem.prob.astype(np.float64)
        for start in range(0, len(label), _ROWS):
            part = slice(start, start + _ROWS)
            self._sums = self._sums.after(label[part], prob[part], self.alpha)
        return self.evidence

    @property
    def evidence(self) -> Evidence:
        """What was seen so far."""
        sums = self._sums
        now, largest = (min(log, _LARGEST_LOG) for log in (sums.log_now, sums.log_largest))
        never = math.inf if sums.impossible else 0.0
        total, squares, n = sums.residuals, sums.squares, sums.n
        return Evidence(
            e_value=max(math.exp(now), never),
            largest=max(math.exp(largest), never),
            p_value=0.0 if never else math.exp(-largest),
            alarm=sums.alarm,
            gap=total / n if n else math.nan,
            low=lowest_mean(total, squares, n, self.alpha / 2),
            high=-lowest_mean(-total, squares, n, self.alpha / 2),
            n=n,
            events=sums.events,
            impossible=sums.impossible,
            alpha=self.alpha,
            model=self.model,
        )

    def save(self, path: str | Path) -> Path:
        """Write the state to a JSON file: whole or not at all. No two programs may share one."""
        state = {"what": _WHAT, "version": _VERSION, "notes": self.notes}
        state |= {name: getattr(self, name) for name in _SETTINGS} | {"sums": asdict(self._sums)}
        return write_whole(path, json.dumps(state, indent=1) + "\n")

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
            if state["what"] != _WHAT:
                raise ValueError(state["what"])
            version = state["version"]
            if version == _VERSION:
                monitor = cls(**{name: state[name] for name in _SETTINGS})
                monitor.notes, monitor._sums = list(state["notes"]), Sums(**state["sums"]).checked()
        except (ValueError, KeyError, TypeError):
            message = f"{path} is no state of a monitor, or damaged. {kept}, or a copy of it."
            raise ValueError(message) from None
        if version != _VERSION:
            raise ValueError(
                f"{path} is of version {version}, and this calibkit knows version {_VERSION}: use "
                f"the calibkit that wrote it. {kept}."
            )
        for name, value in expected.items():
            if getattr(monitor, name) != value:
                found = getattr(monitor, name)
                raise ValueError(f"{path} was begun with {name}={found!r}, not {value!r}. {kept}.")
        return monitor
