"""The ward: treat or wait, one patient at a time. Lesson 13."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

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
from calibkit.decisions.regret import regret_bound
from calibkit.fakes import ClassKnobs, KnobClassifier
from calibkit.fakes._dials import as_amount
from calibkit.fakes._sample import FloatVector


@dataclass(frozen=True, slots=True)
class Ward(Game):
    """Treat a patient or wait: right treatment gains, wrong treatment harms, waiting is free.

    Parameters
    ----------
    benefit, harm : float
        Gain B of treating when the diagnosis is right, loss H when it is wrong; positive.
    size, beds : int
        Patients per round, and the most who can be treated in one; no limit when left out.

    Notes
    -----
    Each patient is shown with the confidence in the diagnosis; P(y = 1) if predictions are
    one-dimensional. Treat from ``t = H / (B + H)`` on; if beds are short, the most confident first.
    Without a limit, and with the distribution F and partial mean M of the true confidence Q,
    treating from ``Q >= c`` on is worth ``(B + H) [(acc - M(c)) - t (1 - F(c))]`` per patient. With
    beds there is no closed form: simulate. Section 4 of the review of notions; lesson 13.

    Examples
    --------
    >>> from calibkit.fakes import KnobClassifier
    >>> model = KnobClassifier(5, 0.8, budget_share=0.5, concentration=3)
    >>> truth = Ward().truth(model)
    >>> round(truth.trust, 4), round(truth.oracle, 4), round(truth.bound, 4)
    (0.6073, 0.8216, 0.8)
    """

    benefit: float = 2.0
    harm: float = 6.0
    size: int = 1
    beds: int | None = None
    unit: ClassVar[str] = "patient"

    def __post_init__(self) -> None:
        for name in ("benefit", "harm"):
            object.__setattr__(self, name, as_amount(getattr(self, name), name))
        object.__setattr__(self, "size", as_count(self.size, "size"))
        if self.beds is not None:
            object.__setattr__(self, "beds", as_count(self.beds, "beds", 0))
            if self.beds > self.size:
                raise ValueError(
                    f"beds={self.beds} for {self.size} patients per round; leave beds out, or "
                    "raise size."
                )

    @property
    def threshold(self) -> float:
        """Probability from which on treating is worth it."""
        return self.harm / (self.benefit + self.harm)

    def _deal(self, rows: Rows, rng: np.random.Generator) -> Deal:
        return confidences(rows, self.size)

    def decide(self, belief: FloatVector, deal: Deal) -> IntVector:
        """Return 1 to treat, 0 to wait: treat from the threshold on, while beds last."""
        worth = belief >= self.threshold
        if self.beds is not None:
            # Ties go by place in the deal.
            order = np.argsort(-belief, axis=1, kind="stable")
            first = np.zeros(belief.shape, dtype=bool)
            np.put_along_axis(first, order[:, : self.beds], True, axis=1)
            worth = worth & first
        return worth.astype(np.int64)

    def payoff(self, actions: IntVector, deal: Deal) -> FloatVector:
        """Return B for right, -H for wrong treatments and 0 for waiting, per patient."""
        gain = np.where(deal.outcome == 1, self.benefit, -self.harm)
        return np.asarray((gain * (actions > 0)).sum(axis=1) / deal.seen.shape[1])

    def value_from(self, classifier: KnobClassifier | ClassKnobs, confidence: float) -> float:
        """Return the exact value of treating from this reported confidence on."""
        if self.beds is not None:
            raise ValueError("a ward with beds has no closed form; use simulate.")
        value = 0.0
        for weight, knob in knob_parts(classifier):
            share, right = treated(knob, true_cut(knob, confidence))
            value += weight * (self.benefit + self.harm) * (right - self.threshold * share)
        return value

    def truth(self, classifier: KnobClassifier | ClassKnobs) -> GameTruth:
        """Return the exact values for a knob classifier and a ward without beds."""
        total = self.benefit + self.harm
        oracle, acted, accuracy, error = 0.0, 0.0, 0.0, 0.0
        for weight, knob in knob_parts(classifier):
            share, right = treated(knob, self.threshold)
            oracle += weight * total * (right - self.threshold * share)
            acted += weight * treated(knob, true_cut(knob, self.threshold))[0]
            accuracy += weight * knob.accuracy
            error += weight * knob.truth().expected
        return GameTruth(
            oracle=oracle,
            trust=self.value_from(classifier, self.threshold),
            certain=self.benefit * accuracy - self.harm * (1 - accuracy),
            error=error,
            bound=regret_bound(error, benefit=self.benefit, harm=self.harm),
            cutoff=self.threshold,
            acted=acted,
            game=self.describe(),
            model=said_of(classifier),
        )

    def describe(self) -> str:
        """Say the stakes and the threshold."""
        beds = "" if self.beds is None else f", at most {self.beds} of {self.size} patients"
        return (
            f"Ward: a right treatment gains {self.benefit:g}, a wrong one costs {self.harm:g}; "
            f"treat from {self.threshold:.4g} on{beds}."
        )

    def trust_value(self, classifier: KnobClassifier | ClassKnobs) -> float:
        """Return the exact value of trusting, for `requirement_sweep`."""
        return self.value_from(classifier, self.threshold)
