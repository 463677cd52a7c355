"""Capacity: places for a share of the patients, who have different stakes. Lesson 13."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import optimize

from calibkit._validation import as_count
from calibkit.decisions._games import (
    Deal,
    Game,
    GameTruth,
    IntVector,
    Rows,
    confidences,
    knob_parts,
    said_of,
    treated,
    true_cut,
)
from calibkit.fakes import ClassKnobs, KnobClassifier
from calibkit.fakes._dials import as_amount, as_finite, as_weights
from calibkit.fakes._sample import FloatVector

# A share of patients that is a whole number but for rounding, as 0.3 of 10.
ROUNDING = 1e-9
# The cutoff is searched up to where nobody is treated, to this part of the largest stake.
ABOVE, XTOL = 1.001, 1e-15


@dataclass(frozen=True, slots=True)
class Capacity(Game):
    """Choose whom to treat when places are few: a right treatment gains the patient's stake.

    Parameters
    ----------
    stakes, stake_weights : sequence of float
        Possible stakes, such as years of life, positive; how often each occurs, by default equally.
    share, size : float, int
        Share of the patients for whom there is a place, in (0, 1]; patients per round.

    Notes
    -----
    The best policy treats those with the largest ``stake * P(right)``. With many patients per round
    it treats above a cutoff c, which solves ``sum_j w_j P(Z >= c / v_j) = share``, and is worth
    ``sum_j w_j v_j (acc - M(q(c / v_j)))`` per patient. Trusting is best for Z, so it loses at most
    ``E[v |Z - Q|]``: the mean stake times the calibration error. With equal stakes only the ranking
    counts, so increasing miscalibration costs nothing. Section 4 of the review of notions; lesson
    13.

    Examples
    --------
    >>> from calibkit.fakes import KnobClassifier
    >>> truth = Capacity().truth(KnobClassifier(5, 0.8, budget_share=0.5, concentration=3))
    >>> round(truth.trust, 4), round(truth.oracle, 4), round(truth.certain, 4)
    (3.7341, 3.8104, 3.6267)
    """

    stakes: Sequence[float] = (6.0, 8.0, 12.0)
    share: float = 0.4
    size: int = 10
    stake_weights: Sequence[float] | None = None
    unit: ClassVar[str] = "patient"

    def __post_init__(self) -> None:
        stakes = tuple(as_amount(value, f"stakes[{j}]") for j, value in enumerate(self.stakes))
        if not stakes:
            raise ValueError("stakes is empty; at least one stake is needed.")
        object.__setattr__(self, "stakes", stakes)
        object.__setattr__(self, "share", as_finite(self.share, "share", 0, 1))
        object.__setattr__(self, "size", as_count(self.size, "size"))
        if self.stake_weights is not None:
            given = self.stake_weights
            weights = as_weights(given, len(stakes), "stake_weights", "stake", ROUNDING)
            object.__setattr__(self, "stake_weights", weights)
        if self.places < 1:
            raise ValueError(
                f"share={self.share:g} of {self.size} patients is less than one place; raise one "
                "of them."
            )

    @property
    def places(self) -> int:
        """Places per round."""
        return int(np.floor(self.share * self.size + ROUNDING))

    @property
    def weights(self) -> FloatVector:
        """How often each stake occurs."""
        count = len(self.stakes)
        equal = np.full(count, 1 / count)
        return equal if self.stake_weights is None else np.array(self.stake_weights)

    def _deal(self, rows: Rows, rng: np.random.Generator) -> Deal:
        deal = confidences(rows, self.size)
        stakes = rng.choice(np.array(self.stakes), size=deal.seen.shape, p=self.weights)
        return replace(deal, stakes=stakes)

    def decide(self, belief: FloatVector, deal: Deal) -> IntVector:
        """Return 1 for those with the largest stake times belief; ties go by place in the deal."""
        order = np.argsort(-_stakes(deal) * belief, axis=1, kind="stable")
        actions = np.zeros(belief.shape, dtype=np.int64)
        np.put_along_axis(actions, order[:, : self.places], 1, axis=1)
        return actions

    def payoff(self, actions: IntVector, deal: Deal) -> FloatVector:
        """Return the stakes of rightly treated patients, per patient of the round."""
        won = _stakes(deal) * deal.outcome * (actions > 0)
        return np.asarray(won.sum(axis=1) / deal.seen.shape[1])

    def by_lot(self, accuracy: float) -> float:
        """Return the value of giving places by lot to a model with this accuracy."""
        return self.share * self._mean_stake * as_finite(accuracy, "accuracy", 0, 1)

    @property
    def _mean_stake(self) -> float:
        return float(self.weights @ np.array(self.stakes))

    def truth(self, classifier: KnobClassifier | ClassKnobs) -> GameTruth:
        """Return the exact values for a knob classifier and rounds of very many patients."""
        parts = knob_parts(classifier)
        calibrated = [
            (weight, KnobClassifier(k.n_classes, k.accuracy, concentration=k.concentration))
            for weight, k in parts
        ]
        oracle, _ = self._best(calibrated)
        trust, cutoff = self._best(parts)
        error = sum(weight * knob.truth().expected for weight, knob in parts)
        accuracy = sum(weight * knob.accuracy for weight, knob in parts)
        return GameTruth(
            oracle=oracle,
            trust=trust,
            certain=accuracy * self._by_stakes(),
            error=error,
            bound=error * self._mean_stake,
            cutoff=cutoff,
            acted=self.share,
            game=self.describe(),
            model=said_of(classifier),
        )

    def trust_value(self, classifier: KnobClassifier | ClassKnobs) -> float:
        """Return the exact value of trusting, for `requirement_sweep`."""
        return self._best(knob_parts(classifier))[0]

    def _best(self, parts: list[tuple[float, KnobClassifier]]) -> tuple[float, float]:
        if self.share == 1:
            return self._filled(parts, 0.0)[1], 0.0
        top = max(self.stakes)
        cutoff = float(
            optimize.brentq(
                lambda c: self._filled(parts, c)[0] - self.share, 0, ABOVE * top, xtol=XTOL * top
            )
        )
        # Near the cutoff lie ties, or what a float cannot tell from them: fill up by lot there.
        width = XTOL * top
        while True:
            more, less = (self._filled(parts, max(cutoff + step, 0)) for step in (-width, width))
            if more[0] >= self.share >= less[0]:
                break
            width *= 4
        part = (self.share - less[0]) / (more[0] - less[0]) if more[0] > less[0] else 0.0
        return less[1] + part * (more[1] - less[1]), cutoff

    def _filled(
        self, parts: list[tuple[float, KnobClassifier]], cutoff: float
    ) -> tuple[float, float]:
        """Return share and value of patients whose stake times confidence reaches the cutoff."""
        share, value = 0.0, 0.0
        for stake, often in zip(self.stakes, self.weights.tolist(), strict=True):
            for weight, knob in parts:
                some, right = treated(knob, true_cut(knob, cutoff / stake))
                share += often * weight * some
                value += often * weight * stake * right
        return share, value

    def _by_stakes(self) -> float:
        """Return the mean stake of the treated, per patient, if the largest stakes come first."""
        won, left = 0.0, self.share
        for j in np.argsort(-np.array(self.stakes), kind="stable"):
            taken = min(left, float(self.weights[j]))
            won, left = won + taken * self.stakes[j], left - taken
        return won

    def describe(self) -> str:
        """Say the stakes and the share of places."""
        listed = ", ".join(f"{stake:g}" for stake in self.stakes)
        return f"Capacity: places for {100 * self.share:.3g} % of the patients, stakes {listed}."


def _stakes(deal: Deal) -> FloatVector:
    if deal.stakes is None:
        raise ValueError("this deal has no stakes; deal it with Capacity.deal.")
    return deal.stakes
