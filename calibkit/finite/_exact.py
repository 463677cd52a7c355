"""What is done with exact numbers: norms, and gaps between groups that look alike."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from calibkit._validation import as_number

Vector = tuple[Fraction, ...]
Weighted = tuple[Fraction, Fraction]


def weighted_norm(gaps: Sequence[Weighted], norm: float) -> Fraction | float:
    """Return ``(sum_i m_i g_i^norm)^(1/norm)`` of pairs (mass, gap): exact for norm 1 and inf."""
    as_number(norm, "norm", "a number of at least 1, or inf", lambda norm: norm >= 1)
    if norm == np.inf:
        return max(gap for _, gap in gaps)
    if norm == 1:
        return sum((mass * gap for mass, gap in gaps), Fraction(0))
    return float(sum(float(mass) * float(gap) ** norm for mass, gap in gaps) ** (1 / norm))


def conditional_gaps(
    rows: Iterable[tuple[Hashable, Fraction, Fraction, Fraction]],
) -> list[Weighted]:
    """Return mass and ``|E[stated - true | key]|`` per key of rows (key, mass, stated, true)."""
    sums: dict[Hashable, list[Fraction]] = {}
    for key, mass, stated, true in rows:
        entry = sums.setdefault(key, [Fraction(0), Fraction(0)])
        entry[0] += mass
        entry[1] += mass * (stated - true)
    return [(mass, abs(shift) / mass) for mass, shift in sums.values()]


def lens_gaps(
    atoms: Iterable[tuple[Fraction, Vector, Vector]],
    lens: Callable[[Vector], Sequence[Hashable]],
) -> list[Weighted]:
    """Return mass and gap of each group of classes, for each vector seen through the lens."""
    masses: dict[Hashable, Fraction] = {}
    shifts: dict[Hashable, dict[Hashable, Fraction]] = {}
    for mass, stated, true in atoms:
        groups = tuple(lens(stated))
        if len(groups) != len(stated):
            raise ValueError(
                f"The lens gives {len(groups)} groups for {len(stated)} classes; it must name "
                "one group per class."
            )
        seen: dict[Hashable, Fraction] = {}
        for group, c in zip(groups, stated, strict=True):
            seen[group] = seen.get(group, Fraction(0)) + c
        # A group without any class looks like a group of probability 0: leave out both.
        view = frozenset(item for item in seen.items() if item[1] > 0)
        masses[view] = masses.get(view, Fraction(0)) + mass
        shift = shifts.setdefault(view, {})
        for group, c, r in zip(groups, stated, true, strict=True):
            shift[group] = shift.get(group, Fraction(0)) + mass * (c - r)
    return [
        (masses[view], abs(value) / masses[view])
        for view, shift in shifts.items()
        for value in shift.values()
    ]


def cumulative(probabilities: Vector) -> NDArray[np.float64]:
    """Return cumulative sums that end with exactly 1 and do not grow where nothing is added."""
    sums, total = [], Fraction(0)
    for probability in probabilities:
        total += probability
        sums.append(float(total))
    return np.array(sums)
