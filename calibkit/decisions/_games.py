"""What the three games share: deals, policies, plays, exact values. Lesson 13.

A policy is what a player believes: the game acts best for that belief. On knob classifiers values
are exact, by the beta distribution of the true confidence.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit._result import Number, Result, listed, read_only, spell
from calibkit._validation import as_count, as_generator, as_predictions
from calibkit.fakes import ClassKnobs, KnobClassifier
from calibkit.fakes._sample import FloatVector, Rng

IntVector = NDArray[np.signedinteger[Any]]
# A name, or a function from what is seen to what is believed, of the same shape.
Policy = str | Callable[[FloatVector], Any]
POLICIES = ("trust", "oracle", "certain", "clairvoyant")
# Labels, probabilities and true probabilities of a whole number of rounds.
Rows = tuple[IntVector, FloatVector, FloatVector | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Deal:
    """Rounds of patients, as they are dealt.

    Parameters
    ----------
    seen, true : ndarray of shape (rounds, patients) or (rounds, patients, K)
        What the player sees: the confidence that treating is right, or all probabilities; what a
        calibrated model would show, None for real predictions.
    outcome, stakes : ndarray of shape (rounds, patients)
        Hidden until the end: 1 if treating is right, else 0; or the class. What a right treatment
        is worth, None where the game has no stakes.

    Examples
    --------
    >>> from calibkit.decisions import Ward
    >>> Ward().deal(KnobClassifier(5, 0.8), 20, rng=0).seen.shape
    (20, 1)
    """

    seen: FloatVector
    outcome: IntVector
    true: FloatVector | None = None
    stakes: FloatVector | None = None

    @property
    def rounds(self) -> int:
        return len(self.seen)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GamePlay(Number):
    """What a policy won.

    Parameters
    ----------
    value, standard_error : float
        Mean payoff, per patient or per round as the game counts; its error from the spread over
        rounds, NaN for one round.
    acted, payoffs : float, ndarray of shape (rounds,)
        Share of patients who were treated; payoff of each round.
    policy, game, model, unit : str
        Who played what on which model, and what `value` is per.
    """

    value: float
    standard_error: float
    acted: float
    payoffs: FloatVector
    policy: str
    game: str
    model: str
    unit: str

    @property
    def rounds(self) -> int:
        return len(self.payoffs)

    def describe(self) -> str:
        error = f" (standard error {self.standard_error:.4f})" if self.rounds > 1 else ""
        return (
            f'Policy "{self.policy}" won {self.value:.4f} per {self.unit}{error} in '
            f"{spell(self.rounds, 'round')}, treating {100 * self.acted:.3g} %. {self.game} "
            f"{self.model}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("value", "standard_error", "acted", "rounds")
        return listed(self, names, ("quantity", "number"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GameTruth(Result):
    """Exact values of a game per patient, without any simulation.

    Parameters
    ----------
    oracle, trust, certain : float
        Value of acting on the true probabilities, on what the model says, and of taking every
        answer of the model for certain.
    error, bound : float
        Calibration error within each class, and the most that a model with it can lose in this
        game.
    cutoff, acted : float
        Trusting treats the share `acted` of all patients: those from this score on (the threshold,
        or stake times confidence).
    game, model : str
    """

    oracle: float
    trust: float
    certain: float
    error: float
    bound: float
    cutoff: float
    acted: float
    game: str
    model: str

    @property
    def regret(self) -> float:
        """What trusting loses against the oracle."""
        return self.oracle - self.trust

    def describe(self) -> str:
        return (
            f"Trusting is worth {self.trust:.4f} per patient, {self.regret:.4f} less than knowing "
            f"the truth (at most {self.bound:.4f} less). {self.game} {self.model}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("oracle", "trust", "regret", "bound", "certain", "error", "cutoff", "acted")
        return listed(self, names, ("quantity", "value"))


class Game(ABC):
    """A game that is played in rounds; its three kinds are `Ward`, `Capacity` and `Clinic`."""

    __slots__ = ()
    unit: ClassVar[str]
    size: int

    @abstractmethod
    def _deal(self, rows: Rows, rng: np.random.Generator) -> Deal:
        """Arrange checked rows, a whole number of rounds of them."""

    @abstractmethod
    def decide(self, belief: FloatVector, deal: Deal) -> IntVector:
        """Return the best actions for a belief, of shape (rounds, patients)."""

    @abstractmethod
    def payoff(self, actions: IntVector, deal: Deal) -> FloatVector:
        """Return what the actions won, of shape (rounds,)."""

    @abstractmethod
    def describe(self) -> str:
        """Say the rules in one sentence."""

    def deal(self, classifier: Any, rounds: int, rng: Rng = None) -> Deal:
        """Deal rounds of patients; arguments as in `simulate`."""
        rounds, generator = as_count(rounds, "rounds"), as_generator(rng)
        sample = classifier.sample(rounds * self.size, generator)
        return self._deal((sample.y_true, sample.y_prob, sample.true_prob), generator)

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
        dealt = labels[rows].astype(np.int64), prob[rows].astype(np.float64), None
        return self._deal(dealt, generator)

    def play(self, policy: Policy, deal: Deal, *, model: str = "given predictions") -> GamePlay:
        """Play a deal: the same deal lets policies be compared without the luck of the draw."""
        actions = self.decide(believe(policy, deal), deal)
        payoffs = self.payoff(actions, deal)
        spread = float(np.std(payoffs, ddof=1)) if len(payoffs) > 1 else np.nan
        return GamePlay(
            value=float(payoffs.mean()),
            standard_error=spread / float(np.sqrt(len(payoffs))),
            acted=float((actions > 0).mean()),
            payoffs=read_only(payoffs),
            policy=name_of(policy),
            game=self.describe(),
            model=model,
            unit=self.unit,
        )

    def simulate(self, policy: Policy, classifier: Any, rounds: int, rng: Rng = None) -> GamePlay:
        """Play rounds against a fake classifier; the seed fixes everything.

        Parameters
        ----------
        policy : {"trust", "oracle", "certain", "clairvoyant"} or callable
            What the player believes: what the model says; the true probabilities; that the model's
            answer is right for certain; what will happen. A callable maps what is seen, of shape
            (n,) or (n, K), to probabilities of the same shape.
        classifier : fake classifier
            Has a method ``sample(n, rng)``, as those of `calibkit.fakes`.
        rounds, rng : int, seed or generator
            All policies meet the same patients for the same seed.
        """
        return self.play(policy, self.deal(classifier, rounds, rng), model=said_of(classifier))


def name_of(policy: Policy) -> str:
    return policy if isinstance(policy, str) else str(getattr(policy, "__name__", "own policy"))


def believe(policy: Policy, deal: Deal) -> FloatVector:
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
        place = tuple(int(i) for i in bad[0])
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


def confidences(rows: Rows, size: int) -> Deal:
    """Deal confidence, success and true confidence, without stakes; of K columns the largest."""
    right, seen, true = rows
    if seen.ndim == 2:
        own = np.arange(len(seen)), seen.argmax(axis=1)
        right, seen = (right == own[1]).astype(np.int64), seen[own]
        true = None if true is None else true[own]
    return Deal(
        seen=seen.reshape(-1, size),
        outcome=right.reshape(-1, size),
        true=None if true is None else true.reshape(-1, size),
    )


def knob_parts(classifier: Any) -> list[tuple[float, KnobClassifier]]:
    if isinstance(classifier, KnobClassifier):
        return [(1.0, classifier)]
    if isinstance(classifier, ClassKnobs):
        return list(zip(classifier.weights.tolist(), classifier.knobs, strict=True))
    raise ValueError(
        f"exact values exist for KnobClassifier and ClassKnobs, not for "
        f"{type(classifier).__name__}; use simulate."
    )


def true_cut(knob: KnobClassifier, confidence: float) -> float:
    """Return the true confidence from which on the model reports at least `confidence`."""
    low = 1 / knob.n_classes
    moved = confidence - knob.budget_share * knob.anchor
    if knob.budget_share == 1:  # one value is reported for all
        return low if moved <= 0 else 1.0
    return float(np.clip(moved / (1 - knob.budget_share), low, 1))


def treated(knob: KnobClassifier, cut: float) -> tuple[float, float]:
    """Return the shares of patients, and of right ones among all, with ``Q >= cut``."""
    return 1 - float(knob.cdf(cut)), knob.accuracy - float(knob.partial_mean(cut))


def said_of(classifier: Any) -> str:
    """Return the classifier's sentence, or else its class, with a capital letter."""
    said = str(getattr(classifier, "describe", lambda: type(classifier).__name__)())
    return said[:1].upper() + said[1:]
