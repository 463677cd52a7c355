"""Rounds of patients, and how a policy plays them: what it believes, a game acts best for."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from calibkit.inputs import (
    FloatVector,
    IntVector,
    Rng,
    as_count,
    as_generator,
    as_predictions,
    data_generator,
)
from calibkit.results import read_only, spell

# A name, or a function from what is seen to what is believed, of the same shape.
Policy = str | Callable[[FloatVector], Any]
POLICIES = ("trust", "oracle", "certain", "clairvoyant")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Deal:
    """Rounds of patients, as they are dealt; arrays have a row per round, a column per patient."""

    seen: FloatVector  # the confidence that treating is right, or all K probabilities
    true: FloatVector | None  # what a calibrated model would show; None for real predictions
    outcome: IntVector  # 1 if treating is right, else 0; or the class


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GamePlay:
    """What a policy won."""

    value: float  # mean payoff
    acted: float  # share of patients who were treated
    payoffs: FloatVector = field(repr=False)  # of each round
    unit: str  # what `value` is per


class Game(ABC):
    """A game that is played in rounds of `size` patients: `Ward` or `Clinic`."""

    __slots__ = ()
    unit: ClassVar[str]
    size: int

    @abstractmethod
    def arranged(self, outcome: IntVector, seen: FloatVector, true: FloatVector | None) -> Deal:
        """Deal checked rows, a whole number of rounds of them."""

    def in_rounds(self, outcome: IntVector, seen: FloatVector, true: FloatVector | None) -> Deal:
        """Deal what the player sees, and what comes of it."""

        def rounds(rows: Any) -> Any:
            return rows.reshape(-1, self.size, *rows.shape[1:])

        return Deal(
            seen=rounds(seen), outcome=rounds(outcome), true=None if true is None else rounds(true)
        )

    @abstractmethod
    def decide(self, belief: FloatVector, deal: Deal) -> IntVector:
        """Return the best actions for a belief, of shape (rounds, patients)."""

    @abstractmethod
    def describe(self) -> str:
        """Say the rules in one sentence."""

    @abstractmethod
    def payoff(self, actions: IntVector, deal: Deal) -> FloatVector:
        """Return what the actions won, of shape (rounds,)."""

    def deal(self, classifier: Any, rounds: int, rng: Rng = None) -> Deal:
        """Deal rounds of patients of a fake classifier; the same for all who pass this seed."""
        rounds, generator = as_count(rounds, "rounds"), data_generator(rng)
        sample = classifier.sample(rounds * self.size, generator)
        return self.arranged(sample.y_true, sample.y_prob, sample.true_prob)

    def deal_predictions(self, y_true: Any, y_prob: Any, *, rng: Rng = None) -> Deal:
        """Deal real predictions in random order; rows that fill no round are left out."""
        generator = as_generator(rng)
        labels, prob = as_predictions(y_true, y_prob)
        if len(labels) < self.size:
            raise ValueError(
                f"{spell(len(labels), 'prediction')} cannot fill a round of {self.size} patients."
            )
        # Sorted before they are shuffled: the deal does not depend on the order of the rows.
        columns = prob.T if prob.ndim == 2 else prob[None]
        order = generator.permutation(len(labels))[: len(labels) // self.size * self.size]
        rows = np.lexsort((labels, *columns[::-1]))[order]
        return self.arranged(labels[rows].astype(np.intp), prob[rows].astype(np.float64), None)

    def play(self, policy: Policy, deal: Deal) -> GamePlay:
        """Play a deal as one of `POLICIES`, or as a callable that says what to believe."""
        actions = self.decide(_believed(policy, deal), deal)
        payoffs = self.payoff(actions, deal)
        return GamePlay(
            value=float(payoffs.mean()),
            acted=float((actions > 0).mean()),
            payoffs=read_only(payoffs),
            unit=self.unit,
        )


def _believed(policy: Policy, deal: Deal) -> FloatVector:
    if isinstance(policy, str):
        return _named_belief(policy, deal)
    if not callable(policy):
        raise ValueError(f"policy must be one of {POLICIES} or a callable, got {policy!r}.")
    seen = deal.seen.reshape(-1, *deal.seen.shape[2:])
    belief = np.asarray(policy(read_only(seen)), dtype=np.float64)
    if belief.shape != seen.shape:
        raise ValueError(
            f"the policy returned shape {belief.shape} for {seen.shape}; it must return one "
            "probability for each one that it gets."
        )
    bad = np.argwhere(~((belief >= 0) & (belief <= 1)))
    if len(bad):
        place = tuple(bad[0].tolist())
        raise ValueError(
            f"the policy returned {float(belief[place])!r} for entry {place}; beliefs must lie in "
            "[0, 1]."
        )
    return belief.reshape(deal.seen.shape)


def _named_belief(policy: str, deal: Deal) -> FloatVector:
    if policy == "trust":
        return deal.seen
    if policy == "oracle":
        if deal.true is None:
            raise ValueError(
                'policy "oracle" needs true probabilities, which real predictions do not have; '
                'use "clairvoyant", or pass a fitted calibrator\'s method `calibrate`.'
            )
        return deal.true
    if policy not in POLICIES:
        raise ValueError(f"policy={policy!r} does not exist; choose {POLICIES} or a callable.")
    if deal.seen.ndim == 2:
        right = deal.outcome.astype(np.float64)
        return np.ones_like(right) if policy == "certain" else right
    chosen = deal.seen.argmax(axis=2) if policy == "certain" else deal.outcome
    return np.asarray(np.eye(deal.seen.shape[2])[chosen])
