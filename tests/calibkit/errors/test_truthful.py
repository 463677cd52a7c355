"""The averaged two-bin error: by its integral, and truthful by enumeration of all outcomes."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from calibkit.errors import averaged_two_bin_error
from tests.helpers import coarse_binary

TENTHS = [Fraction(k, 10) for k in range(11)]


def by_definition(label: tuple[int, ...], prob: list[Fraction]) -> Fraction:
    """Integrate over the cuts, which matter between distinct predictions only."""
    ends, total = sorted({Fraction(0), Fraction(1), *prob}), Fraction(0)
    for low, high in pairwise(ends):
        sides = [
            [p - y for p, y in zip(prob, label, strict=True) if (p <= low) == s] for s in (0, 1)
        ]
        total += (high - low) * sum(sum(side) ** 2 for side in sides)
    return total / len(prob) ** 2


def test_it_is_its_integral(subtests: pytest.Subtests) -> None:
    for seed in range(20):
        with subtests.test(seed=seed):
            label, prob = coarse_binary(30, 10, seed)
            exact = by_definition(tuple(label), [Fraction(p).limit_denominator(10) for p in prob])
            assert averaged_two_bin_error(label, prob).value == pytest.approx(
                float(exact), abs=1e-14
            )
            assert averaged_two_bin_error(1 - label, 1 - prob).value == pytest.approx(float(exact))


def test_no_statement_beats_the_truth_and_the_null_level_is_its_expectation() -> None:
    """All outcomes of three cases, all statements in tenths: exact, without a draw."""
    truth = [Fraction(2, 10), Fraction(5, 10), Fraction(9, 10)]

    def expected(stated: list[Fraction]) -> Fraction:
        chances = (
            (label, np.prod([c if y else 1 - c for y, c in zip(label, truth, strict=True)]))
            for label in product((0, 1), repeat=3)
        )
        return sum(
            (chance * by_definition(label, stated) for label, chance in chances), Fraction(0)
        )

    honest = expected(truth)
    assert honest == sum(c * (1 - c) for c in truth) / 9
    found = averaged_two_bin_error([0, 1, 1], [float(c) for c in truth])
    assert found.null_mean == pytest.approx(float(honest), abs=1e-15)
    lies = [list(lie) for lie in product(TENTHS, repeat=3) if list(lie) != truth]
    costs = [expected(lie) for lie in lies]
    assert min(costs) == honest
    for lie in (lie for lie, cost in zip(lies, costs, strict=True) if cost == honest):
        for stated in lie:  # it merges: each group of equal statements has its mean chance
            group = [c for c, p in zip(truth, lie, strict=True) if p == stated]
            assert sum(group) == stated * len(group)
