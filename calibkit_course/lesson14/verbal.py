"""A simulated language model that says how sure it is, in a few favourite numbers."""

from typing import Any, ClassVar

import numpy as np
from scipy import special

from calibkit.fakes import FakeSample, FakeTruth
from calibkit.inputs import FloatVector, Rng, as_count, data_generator


class VerbalModel:
    r"""A language model that states its confidence in a few favourite numbers.

    Each question has a probability Q that the model's answer is right, from a beta distribution.
    The model feels the confidence ``expit(logit(Q) + shift)``, and says the nearest of
    its favourite numbers. So it is wrong in two ways: what it feels is bent, and what it says is
    clumped. The prediction is "my answer is right", and the label tells whether it was.

    With the words w, a question belongs to the word whose neighbours' midpoints enclose the
    feeling. Given the word, Q lies in an interval (l, u), and with the beta distribution function
    F of parameters a and b

    .. math:: P(\text{right} \mid w) = \frac{a}{a + b} \cdot
              \frac{F_{a+1,b}(u) - F_{a+1,b}(l)}{F_{a,b}(u) - F_{a,b}(l)}.

    So all true values are exact. The numbers follow what is reported of verbal confidences:
    few numbers, mostly of 80 % and more, and too high (Tian et al. 2023; Xiong et al. 2024). They
    are not fitted to any model.
    """

    skill: ClassVar = (2.0, 1.2)  # of the beta distribution of Q
    shift: ClassVar = 1.5  # above 0: the model feels surer than it should
    words: ClassVar = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)

    @property
    def shares(self) -> FloatVector:
        """How often each word is said, shape (W,); they sum to 1."""
        return self._mass(0)

    def true_map(self, prob: Any) -> FloatVector:
        """Return P(right) for stated confidences, words that this model says."""
        said, words = np.asarray(prob, dtype=np.float64), np.array(self.words)
        place = np.searchsorted(words, said).clip(0, len(words) - 1)
        bad = words[place] != said
        if bad.any():
            first_bad = float(said[bad].flat[0])
            raise ValueError(f"prob holds {first_bad!r}, which this model never says: {words}.")
        return np.asarray((self._mass(1) / self._mass(0))[place])

    def sample(self, n: int, rng: Rng = None) -> FakeSample:
        """Draw `n` questions: what was said, whether the answer was right (1), and Q."""
        generator, n = data_generator(rng), as_count(n, "n")
        chance = generator.beta(*self.skill, size=n)
        said = np.array(self.words)[np.searchsorted(self._borders()[1:-1], chance)]
        right = (generator.random(n) < chance).astype(np.int64)
        return FakeSample(y_true=right, y_prob=said, true_prob=chance)

    def truth(self) -> FakeTruth:
        """Return the exact values of this model, without any data."""
        words, share = np.array(self.words), self.shares
        right = self.true_map(words)
        gap = np.abs(words - right)
        return FakeTruth(
            model=self.describe(),
            accuracy=float(share @ right),
            mean_confidence=float(share @ words),
            expected=float(share @ gap),
            root_mean_square=float(np.sqrt(share @ gap**2)),
            maximum=float(gap.max()),
            top_label_brier=float(share @ (gap**2 + right * (1 - right))),
            log_loss=float(-share @ (right * np.log(words) + (1 - right) * np.log1p(-words))),
        )

    def describe(self) -> str:
        """Say in words how this model speaks."""
        words = ", ".join(f"{word:g}" for word in self.words)
        return f"a language model that says {words}"

    def _borders(self) -> FloatVector:
        """Return between which Q each word is said, shape (W + 1,)."""
        words = np.array(self.words)
        felt = special.logit((words[:-1] + words[1:]) / 2)
        return np.concatenate([[0.0], special.expit(felt - self.shift), [1.0]])

    def _mass(self, order: int) -> FloatVector:
        """Return E[Q^order; word], shape (W,)."""
        a, b = self.skill
        moment = np.prod([(a + i) / (a + b + i) for i in range(order)])
        return np.asarray(moment * np.diff(special.betainc(a + order, b, self._borders())))
