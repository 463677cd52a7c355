"""The clinic: several patients, several treatments, one budget per round. Lesson 13."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit._validation import as_array, as_count
from calibkit.decisions._games import Deal, Game, IntVector, Rows
from calibkit.fakes._sample import FloatVector

# Rounds whose tables are held at the same time.
BLOCK_ROUNDS = 8_192
GAINS = ((0.0, 10.0, -1.0), (0.0, -2.0, 6.0), (0.0, -1.0, -1.0))


@dataclass(frozen=True, slots=True)
class Clinic(Game):
    """Give each patient one of several treatments without exceeding the budget of the round.

    Parameters
    ----------
    gains : array-like of shape (K, options)
        ``gains[k, o]``: what option o gains for a patient with disease k.
    prices : sequence of int
        What each option takes from the budget: whole numbers, at least one of them 0.
    budget, size : int
        Budget and patients of each round.

    Notes
    -----
    The player sees all K probabilities of each patient. The best choice for a belief is a
    multiple-choice knapsack, solved exactly by dynamic programming over the budget:
    ``best(i, b) = max_o best(i - 1, b - price_o) + gain_io`` with
    ``gain_io = sum_k p_ik gains[k, o]``. Ties go to the lowest option, from the last patient on.
    Options above 0 count as treatment. Section 4 of the review of notions; lesson 13.

    Examples
    --------
    >>> from calibkit.fakes import KnobClassifier
    >>> play = Clinic().simulate("trust", KnobClassifier(3, 0.75, concentration=3), 2000, rng=0)
    >>> round(play.value), play.unit
    (27, 'round')
    """

    gains: Any = GAINS
    prices: Sequence[int] = (0, 3, 2)
    budget: int = 12
    size: int = 8
    unit: ClassVar[str] = "round"

    def __post_init__(self) -> None:
        gains = as_array(self.gains, "gains").astype(np.float64)
        prices = tuple(as_count(p, f"prices[{o}]", 0) for o, p in enumerate(self.prices))
        if gains.ndim != 2 or gains.shape[0] < 2 or gains.shape[1] != len(prices):
            raise ValueError(
                f"gains has shape {gains.shape}; it needs one row per disease (two at least) and "
                f"one column for each of the {len(prices)} prices."
            )
        if not np.isfinite(gains).all():
            k, option = np.argwhere(~np.isfinite(gains))[0]
            raise ValueError(f"gains[{k}, {option}] = {gains[k, option]!r} must be finite.")
        if min(prices) > 0:
            raise ValueError("prices has no 0; one option, such as no treatment, must be free.")
        object.__setattr__(self, "gains", tuple(map(tuple, gains.tolist())))
        object.__setattr__(self, "prices", prices)
        object.__setattr__(self, "budget", as_count(self.budget, "budget", 0))
        object.__setattr__(self, "size", as_count(self.size, "size"))

    def _deal(self, rows: Rows, rng: np.random.Generator) -> Deal:
        labels, prob, true = rows
        n_classes = len(self.gains)
        if prob.ndim != 2 or prob.shape[1] != n_classes:
            raise ValueError(
                f"this clinic has {n_classes} diseases and needs probabilities of shape (n, "
                f"{n_classes}), got {prob.shape}."
            )
        shape = (-1, self.size, n_classes)
        return Deal(
            seen=prob.reshape(shape),
            outcome=labels.reshape(-1, self.size),
            true=None if true is None else true.reshape(shape),
        )

    def decide(self, belief: FloatVector, deal: Deal) -> IntVector:
        """Return the option for each patient that is best in total for this belief."""
        expected = belief @ np.array(self.gains)
        blocks = [
            knapsack(expected[start : start + BLOCK_ROUNDS], self.prices, self.budget)
            for start in range(0, len(expected), BLOCK_ROUNDS)
        ]
        return np.concatenate(blocks)

    def payoff(self, actions: IntVector, deal: Deal) -> FloatVector:
        """Return the gains of each round, summed over its patients."""
        return np.asarray(np.array(self.gains)[deal.outcome, actions].sum(axis=1))

    def describe(self) -> str:
        """Say the size, the prices and the budget."""
        listed = ", ".join(str(price) for price in self.prices)
        return (
            f"Clinic: {self.size} patients per round, options with prices {listed}, budget "
            f"{self.budget}."
        )


def knapsack(gain: FloatVector, prices: Sequence[int], budget: int) -> NDArray[np.intp]:
    """Choose options (rounds, patients) of largest total gain within the budget of each round.

    >>> knapsack(np.array([[[0, 5.0], [0, 4.0]]]), (0, 2), 3).tolist()
    [[1, 0]]
    """
    rounds, patients, _ = gain.shape
    best = np.zeros((rounds, budget + 1))  # largest gain of the patients so far, per budget
    chosen = np.empty((patients, rounds, budget + 1), dtype=np.intp)
    for i in range(patients):
        offers = np.full((len(prices), rounds, budget + 1), -np.inf)
        for option, price in enumerate(prices):
            if price <= budget:
                offers[option, :, price:] = best[:, : budget + 1 - price] + gain[:, i, option, None]
        chosen[i] = offers.argmax(axis=0)
        best = offers.max(axis=0)
    actions = np.empty((rounds, patients), dtype=np.intp)
    left = np.full(rounds, budget)
    price_of = np.array(prices)
    for i in reversed(range(patients)):
        actions[:, i] = chosen[i, np.arange(rounds), left]
        left = left - price_of[actions[:, i]]
    return actions
