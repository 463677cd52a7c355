"""The games on real predictions: what policies win, with bootstrap intervals. Lesson 13."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._result import Result, read_only, spell
from calibkit._validation import as_count, as_generator, as_level
from calibkit.decisions._games import Game, Policy, name_of
from calibkit.fakes._sample import FloatVector, Rng

DEFAULT_POLICIES = ("trust", "certain", "clairvoyant")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PolicyValues(Result):
    """What several policies win on the same real predictions.

    Parameters
    ----------
    policy, value, low, high : ndarray of shape (m,)
        Names, and mean payoffs with their intervals.
    gain, gain_low, gain_high : ndarray of shape (m,)
        The same for the difference to the first policy, played on the same deal.
    level : float, nominal probability content of each interval
    rounds, n, left_out : int
        Rounds played, predictions given, and those that filled no round.
    game, unit : str, the rules, and what `value` is per
    """

    policy: NDArray[np.str_]
    value: FloatVector
    low: FloatVector
    high: FloatVector
    gain: FloatVector
    gain_low: FloatVector
    gain_high: FloatVector
    level: float
    rounds: int
    n: int
    left_out: int
    game: str
    unit: str

    def describe(self) -> str:
        """Say every value with its interval."""
        rows = zip(self.policy, self.value, self.low, self.high, strict=True)
        parts = [f"{name} {value:.4f} ({low:.4f} to {high:.4f})" for name, value, low, high in rows]
        return (
            f"Won per {self.unit}, with {100 * self.level:g} % intervals: {'; '.join(parts)}. "
            f"{self.game} {spell(self.rounds, 'round')} of {spell(self.n, 'prediction')}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("policy", "value", "low", "high", "gain", "gain_low", "gain_high")
        return {name.replace("_", " "): getattr(self, name) for name in names}


def play_predictions(
    y_true: Any,
    y_prob: Any,
    *,
    game: Game,
    policies: Sequence[Policy] | Mapping[str, Policy] = DEFAULT_POLICIES,
    level: float = 0.9,
    n_resamples: int = 1000,
    rng: Rng = None,
) -> PolicyValues:
    """Play a game on real predictions with several policies, and say how sure the result is.

    Parameters
    ----------
    y_true, y_prob
        As in `policy_cost`; P(y = 1) is that treating is right, of columns `Ward` and `Capacity`
        show the largest.
    game : Ward, Capacity or Clinic
    policies : sequence or mapping from names
        Names or callables as in ``game.simulate`` (not "oracle", which needs the truth), such as a
        fitted calibrator's method ``calibrate``. Others are compared with the first.
    level, n_resamples : float, int
        Nominal probability content of each interval, in (0, 1), and number of resamples.
    rng : int, numpy.random.Generator or None, for the deal and the resamples

    Notes
    -----
    Rows are dealt in random order; those that fill no round are left out. Whole rounds are redrawn
    with replacement, and intervals are quantiles of their means (percentile bootstrap). They do not
    cover the luck of one deal's grouping, nor a calibrator fitted on the same rows. Taught in
    lesson 13.

    Examples
    --------
    >>> from calibkit.decisions import Ward
    >>> from calibkit.fakes import KnobClassifier
    >>> data = KnobClassifier(5, 0.8, budget_share=0.5, concentration=3).sample(4000, rng=0)
    >>> won = play_predictions(data.y_true, data.y_prob, game=Ward(), rng=0)
    >>> won.policy.tolist(), won.value.round(2).tolist(), (won.high - won.low).round(2).tolist()
    (['trust', 'certain', 'clairvoyant'], [0.68, 0.48, 1.62], [0.13, 0.15, 0.04])
    """
    level, count = as_level(level), as_count(n_resamples, "n_resamples")
    if not isinstance(game, Game):
        raise ValueError(f"game must be a Ward, Capacity or Clinic, got {game!r}.")
    named = _named(policies)
    generator = as_generator(rng)
    deal = game.deal_predictions(y_true, y_prob, rng=generator)
    payoffs = np.stack([game.play(policy, deal).payoffs for policy in named.values()])
    both = np.concatenate([payoffs, payoffs - payoffs[0]])
    low, high = _interval(both, level, count, generator)
    value, m, n = both.mean(axis=1), len(named), len(y_true)
    return PolicyValues(
        policy=read_only(np.array(list(named))),
        value=read_only(value[:m]),
        low=read_only(low[:m]),
        high=read_only(high[:m]),
        gain=read_only(value[m:]),
        gain_low=read_only(low[m:]),
        gain_high=read_only(high[m:]),
        level=level,
        rounds=deal.rounds,
        n=n,
        left_out=n - deal.rounds * game.size,
        game=game.describe(),
        unit=game.unit,
    )


def _named(policies: Sequence[Policy] | Mapping[str, Policy]) -> dict[str, Policy]:
    if isinstance(policies, str) or callable(policies):
        raise ValueError(f"policies must be a sequence or mapping; pass [{policies!r}].")
    if isinstance(policies, Mapping):
        named = {str(name): policy for name, policy in policies.items()}
    else:
        named = {name_of(policy): policy for policy in policies}
    if not named:
        raise ValueError("policies is empty; at least one is needed.")
    if len(named) < len(policies):
        raise ValueError("two policies have the same name; pass a mapping with a name for each.")
    return named


def _interval(
    payoffs: FloatVector, level: float, count: int, rng: np.random.Generator
) -> tuple[FloatVector, FloatVector]:
    # Rounds with the same payoffs are interchangeable: only how often each kind is drawn counts.
    kinds, often = np.unique(payoffs, axis=1, return_counts=True)
    rounds = payoffs.shape[1]
    means = np.stack([kinds @ rng.multinomial(rounds, often / rounds) for _ in range(count)])
    low, high = np.quantile(means / rounds, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high
