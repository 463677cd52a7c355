"""The games on real predictions: what policies win, with bootstrap intervals. Lesson 13."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibkit.inputs import FloatVector, Rng, as_count, as_generator
from calibkit.results import spell
from calibkit_course.lesson13.rounds import Game, Policy


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PolicyValues:
    """What several policies win on the same real predictions, with intervals."""

    policy: tuple[str, ...]
    value: FloatVector  # mean payoffs
    low: FloatVector
    high: FloatVector
    gain: FloatVector  # the same for the difference to the first policy, played on the same deal
    gain_low: FloatVector
    gain_high: FloatVector
    unit: str  # what `value` is per
    words: str  # the rules, and how much was played

    def describe(self) -> str:
        """Say every value with its interval."""
        rows = zip(self.policy, self.value, self.low, self.high, strict=True)
        parts = [f"{name} {value:.4f} ({low:.4f} to {high:.4f})" for name, value, low, high in rows]
        return f"Won per {self.unit}, with 90 % intervals: {'; '.join(parts)}. {self.words}"


def play_predictions(
    y_true: Any,
    y_prob: Any,
    *,
    game: Game,
    policies: Mapping[str, Policy],
    n_resamples: int = 1000,
    rng: Rng = None,
) -> PolicyValues:
    """Play a game on real predictions with several policies, and say how sure the result is.

    Rows are dealt in random order. Whole rounds are redrawn with replacement; 90 % intervals are
    quantiles of their means (percentile bootstrap). They cover neither the luck of one deal's
    grouping nor a calibrator fitted on the same rows.
    """
    count = as_count(n_resamples, "n_resamples")
    if not isinstance(game, Game):
        raise ValueError(f"game must be a Ward or Clinic, got {game!r}.")
    if not isinstance(policies, Mapping) or not policies:
        raise ValueError(
            'policies must map at least one name to a policy, such as {"as it is": "trust"}, got '
            f"{policies!r}."
        )
    generator = as_generator(rng)
    deal = game.deal_predictions(y_true, y_prob, rng=generator)
    payoffs = np.stack([game.play(policy, deal).payoffs for policy in policies.values()])
    both = np.concatenate([payoffs, payoffs - payoffs[0]])
    low, high = _interval(both, count, generator)
    value, m, played = both.mean(axis=1), len(policies), spell(payoffs.shape[1], "round")
    return PolicyValues(
        policy=tuple(map(str, policies)),
        value=value[:m],
        low=low[:m],
        high=high[:m],
        gain=value[m:],
        gain_low=low[m:],
        gain_high=high[m:],
        unit=game.unit,
        words=f"{game.describe()} {played} of {spell(len(y_true), 'prediction')}.",
    )


def _interval(
    payoffs: FloatVector, count: int, rng: np.random.Generator
) -> tuple[FloatVector, FloatVector]:
    # Rounds with the same payoffs are interchangeable: only how often each kind is drawn counts.
    kinds, often = np.unique(payoffs, axis=1, return_counts=True)
    rounds = payoffs.shape[1]
    means = np.stack([kinds @ rng.multinomial(rounds, often / rounds) for _ in range(count)])
    low, high = np.quantile(means / rounds, [0.05, 0.95], axis=0)
    return low, high
