"""Three games that show what calibration is worth: a ward, places for a share, a clinic.

On knob classifiers values are exact, by the beta distribution of the true confidence (the review of
notions, section 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from calibkit.decisions import decision_threshold
from calibkit.fakes import ClassKnobs, KnobClassifier
from calibkit.inputs import FloatVector, IntVector, as_count, as_finite, as_positive
from calibkit_course.lesson13.rounds import Deal, Game

GAINS = ((0.0, 10.0, -1.0), (0.0, -2.0, 6.0), (0.0, -1.0, -1.0))
# The cutoff is searched up to where nobody is treated, to this part of the largest stake.
ABOVE, XTOL = 1.001, 1e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class GameTruth:
    """Exact values of a game per patient, without any simulation."""

    oracle: float  # acting on the true probabilities
    trust: float  # acting on what the model says
    certain: float  # taking every answer of the model for certain
    error: float  # calibration error within each class
    bound: float  # the most that a model with this error can lose in this game
    cutoff: float  # trusting treats from this score on (the threshold, or stake times confidence)
    acted: float  # which is this share of all patients

    @property
    def regret(self) -> float:
        """What trusting loses against the oracle."""
        return self.oracle - self.trust


def _parts(classifier: Any) -> list[tuple[float, KnobClassifier]]:
    """Return knob classifiers with their weights."""
    if isinstance(classifier, KnobClassifier):
        return [(1.0, classifier)]
    if isinstance(classifier, ClassKnobs):
        return [(1 / classifier.n_classes, knob) for knob in classifier.knobs]
    raise ValueError(
        "exact values exist for KnobClassifier and ClassKnobs, not for "
        f"{type(classifier).__name__}; deal rounds and play them."
    )


def _accuracy_and_error(parts: list[tuple[float, KnobClassifier]]) -> tuple[float, float]:
    known = [(weight, knob.truth()) for weight, knob in parts]
    return sum(w * t.accuracy for w, t in known), sum(w * t.expected for w, t in known)


def _cut(knob: KnobClassifier, confidence: float) -> float:
    """Return the true confidence from which on the model reports at least `confidence`."""
    low = 1 / knob.n_classes
    moved = confidence - knob.budget_share * knob.anchor
    if knob.budget_share == 1:  # one value is reported for all
        return low if moved <= 0 else 1.0
    return float(np.clip(moved / (1 - knob.budget_share), low, 1))


def _treated(knob: KnobClassifier, cut: float) -> tuple[float, float]:
    """Return the shares of patients, and of right ones among all, with ``Q >= cut``."""
    law = knob.law
    return 1 - float(law.cdf(cut)), knob.accuracy - float(law.partial_mean(cut))


@dataclass(frozen=True, slots=True)
class Ward(Game):
    """Treat or wait: right treatment gains `benefit`, wrong one costs `harm`, waiting is free.

    Treat from ``t = H / (B + H)`` on; if there are fewer beds than patients per round (`size`), the
    most confident first. P(y = 1) is the confidence if predictions are one-dimensional. Without a
    limit of beds, and with the distribution F and partial mean M of the true confidence Q, treating
    from ``Q >= c`` on is worth ``(B + H) [(acc - M(c)) - t (1 - F(c))]`` per patient.
    """

    benefit: float = 2.0
    harm: float = 6.0
    size: int = 1
    beds: int | None = None
    unit: ClassVar[str] = "patient"

    def __post_init__(self) -> None:
        for name in ("benefit", "harm"):
            object.__setattr__(self, name, as_positive(getattr(self, name), name))
        as_count(self.size, "size")
        if self.beds is not None and as_count(self.beds, "beds", 0) > self.size:
            raise ValueError(
                f"beds={self.beds} for {self.size} patients per round; leave beds out, or raise "
                "size."
            )

    @property
    def threshold(self) -> float:
        """Probability from which on treating is worth it."""
        return decision_threshold((self.harm, self.benefit))

    def arranged(self, outcome: IntVector, seen: FloatVector, true: FloatVector | None) -> Deal:
        """Show the confidence, of K columns the largest; the outcome is that it was right."""
        if seen.ndim == 2:
            own = np.arange(len(seen)), seen.argmax(axis=1)
            outcome, seen = (outcome == own[1]).astype(np.int64), seen[own]
            true = None if true is None else true[own]
        return self.in_rounds(outcome, seen, true)

    def decide(self, belief: FloatVector, deal: Deal) -> IntVector:
        """Return 1 to treat, 0 to wait: treat from the threshold on, while beds last."""
        worth = belief >= self.threshold
        if self.beds is not None:
            # Ties go by place in the deal.
            order = np.argsort(-belief, axis=1, kind="stable")
            np.put_along_axis(worth, order[:, self.beds :], False, axis=1)
        return worth.astype(np.int64)

    def payoff(self, actions: IntVector, deal: Deal) -> FloatVector:
        """Return B for right, -H for wrong treatments and 0 for waiting, per patient."""
        gain = np.where(deal.outcome == 1, self.benefit, -self.harm)
        return np.asarray((gain * (actions > 0)).sum(axis=1) / deal.seen.shape[1])

    def trust_value(self, classifier: KnobClassifier | ClassKnobs) -> float:
        """Return the exact value of trusting."""
        if self.beds is not None:
            raise ValueError("a ward with beds has no closed form; deal rounds and play them.")
        return sum(w * self._value(k, _cut(k, self.threshold)) for w, k in _parts(classifier))

    def _value(self, knob: KnobClassifier, cut: float) -> float:
        share, right = _treated(knob, cut)
        return (self.benefit + self.harm) * (right - self.threshold * share)

    def truth(self, classifier: KnobClassifier | ClassKnobs) -> GameTruth:
        """Return the exact values for a knob classifier and a ward without beds."""
        trust, t, parts = self.trust_value(classifier), self.threshold, _parts(classifier)
        accuracy, error = _accuracy_and_error(parts)
        return GameTruth(
            oracle=sum(weight * self._value(knob, t) for weight, knob in parts),
            trust=trust,
            certain=self.benefit * accuracy - self.harm * (1 - accuracy),
            error=error,
            bound=(self.benefit + self.harm) * error,  # since |Q - t| <= |Z - Q| where they part
            cutoff=t,
            acted=sum(weight * _treated(knob, _cut(knob, t))[0] for weight, knob in parts),
        )

    def describe(self) -> str:
        """Say the stakes and the threshold."""
        beds = "" if self.beds is None else f", at most {self.beds} of {self.size} patients"
        return (
            f"Ward: a right treatment gains {self.benefit:g}, a wrong one costs {self.harm:g}; "
            f"treat from {self.threshold:.4g} on{beds}."
        )


@dataclass(frozen=True, slots=True)
class Capacity:
    """Places for a share of very many patients; a right treatment gains the patient's stake.

    Each of the `stakes`, such as years of life, occurs equally often. The best policy treats those
    with the largest ``stake * P(right)``: above the cutoff c that solves ``mean_j P(Z >= c / v_j) =
    share``, which is worth ``mean_j v_j (acc - M(q(c / v_j)))`` per patient. Trusting is best for
    Z, so it loses at most ``E[v |Z - Q|]``: the mean stake times the calibration error. With equal
    stakes only the ranking counts, so increasing miscalibration costs nothing.
    """

    stakes: Sequence[float] = (6.0, 8.0, 12.0)
    share: float = 0.4

    def __post_init__(self) -> None:
        stakes = tuple(as_positive(value, f"stakes[{j}]") for j, value in enumerate(self.stakes))
        if not stakes:
            raise ValueError("stakes is empty; at least one stake is needed.")
        object.__setattr__(self, "stakes", stakes)
        if as_finite(self.share, "share", 0, 1) == 0:
            raise ValueError("share=0 leaves no place for anybody; it must be above 0.")

    def truth(self, classifier: KnobClassifier | ClassKnobs) -> GameTruth:
        """Return the exact values for a knob classifier."""
        parts = _parts(classifier)
        calibrated = [
            (weight, KnobClassifier(k.n_classes, k.accuracy, concentration=k.concentration))
            for weight, k in parts
        ]
        trust, cutoff = self._best(parts)
        accuracy, error = _accuracy_and_error(parts)
        # The mean stake of the treated, per patient, if the largest stakes come first.
        by_stakes = -np.sort(-np.array(self.stakes))
        places = np.clip(self.share * len(by_stakes) - np.arange(len(by_stakes)), 0, 1)
        return GameTruth(
            oracle=self._best(calibrated)[0],
            trust=trust,
            certain=accuracy * float(np.mean(places * by_stakes)),
            error=error,
            bound=error * float(np.mean(self.stakes)),
            cutoff=cutoff,
            acted=self.share,
        )

    def _best(self, parts: list[tuple[float, KnobClassifier]]) -> tuple[float, float]:
        """Return the value of treating by stake times confidence, and the cutoff of this score."""

        def filled(cutoff: float) -> tuple[float, float]:
            """Return share and value of the patients who reach a cutoff."""
            share, value = 0.0, 0.0
            for stake in self.stakes:
                for weight, knob in parts:
                    some, right = _treated(knob, _cut(knob, cutoff / stake))
                    share += weight * some / len(self.stakes)
                    value += weight * stake * right / len(self.stakes)
            return share, value

        if self.share == 1:
            return filled(0.0)[1], 0.0
        top = max(self.stakes)
        cutoff = float(
            optimize.brentq(lambda c: filled(c)[0] - self.share, 0, ABOVE * top, xtol=XTOL * top)
        )
        # Near the cutoff lie ties, or what a float cannot tell from them: fill up by lot there.
        width = XTOL * top
        while True:
            more, less = (filled(max(cutoff + step, 0)) for step in (-width, width))
            if more[0] >= self.share >= less[0]:
                break
            width *= 4
        part = (self.share - less[0]) / (more[0] - less[0]) if more[0] > less[0] else 0.0
        return less[1] + part * (more[1] - less[1]), cutoff


@dataclass(frozen=True, slots=True)
class Clinic(Game):
    """Give each patient one of several treatments without exceeding the budget of the round.

    Option o gains ``gains[k][o]`` for a patient with disease k and takes ``prices[o]`` from the
    budget. The player sees all K probabilities of each patient. The best choice for a belief is a
    multiple-choice knapsack; options above 0 count as treatment.
    """

    gains: ClassVar = GAINS
    prices: ClassVar = (0, 3, 2)
    budget: ClassVar = 12
    size: int = 8
    unit: ClassVar[str] = "round"

    def __post_init__(self) -> None:
        as_count(self.size, "size")

    def arranged(self, outcome: IntVector, seen: FloatVector, true: FloatVector | None) -> Deal:
        """Show all probabilities."""
        n_classes = len(self.gains)
        if seen.ndim != 2 or seen.shape[1] != n_classes:
            raise ValueError(
                f"this clinic has {n_classes} diseases and needs probabilities of shape (n, "
                f"{n_classes}), got {seen.shape}."
            )
        return self.in_rounds(outcome, seen, true)

    def decide(self, belief: FloatVector, deal: Deal) -> IntVector:
        """Return the option for each patient that is best in total for this belief."""
        return knapsack(belief @ np.array(self.gains), self.prices, self.budget)

    def payoff(self, actions: IntVector, deal: Deal) -> FloatVector:
        """Return the gains of each round, summed over its patients."""
        return np.asarray(np.array(self.gains)[deal.outcome, actions].sum(axis=1))

    def describe(self) -> str:
        """Say the size, the prices and the budget."""
        return f"Clinic: {self.size} patients, prices {self.prices}, budget {self.budget}."


def knapsack(gain: FloatVector, prices: Sequence[int], budget: int) -> NDArray[np.intp]:
    """Choose options (rounds, patients) of largest total gain within the budget of each round.

    By dynamic programming, ``best(i, b) = max_o best(i - 1, b - price_o) + gain_io``. Ties go to
    the lowest option, from the last patient on.
    """
    rounds, patients, _ = gain.shape
    best = np.zeros((rounds, budget + 1))  # largest gain of the patients so far, by budget
    chosen = np.empty((patients, rounds, budget + 1), dtype=np.int16)
    for i in range(patients):
        offers = np.full((len(prices), rounds, budget + 1), -np.inf)
        for option, price in enumerate(prices):
            if price <= budget:
                offers[option, :, price:] = best[:, : budget + 1 - price] + gain[:, i, option, None]
        chosen[i] = offers.argmax(axis=0)
        best = offers.max(axis=0)
    actions = np.empty((rounds, patients), dtype=np.intp)
    left = np.full(rounds, budget)
    for i in reversed(range(patients)):
        actions[:, i] = chosen[i, np.arange(rounds), left]
        left = left - np.array(prices)[actions[:, i]]
    return actions
