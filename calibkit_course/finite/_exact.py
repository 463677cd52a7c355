"""Exact numbers: reading them, norms, and gaps between groups that look alike."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import as_choice, as_number

Vector = tuple[Fraction, ...]
Weighted = tuple[Fraction, Fraction]


def as_fraction(value: Any, where: str) -> Fraction:
    """Read a fraction, whole number, text such as ``"2/3"``, or float (0.1 is 1/10, as printed)."""
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"{where} = {value!r} is not a number. Write 0.4, '2/5' or Fraction(2, 5)."
        ) from None


def as_vector(values: Any, where: str) -> Vector:
    """Read one probability vector, whose sum must be exactly 1."""
    try:
        entries = list(values)
    except TypeError:
        raise ValueError(
            f"{where} = {values!r} must be a vector with one probability per class."
        ) from None
    vector = tuple(as_fraction(value, f"{where}[{k}]") for k, value in enumerate(entries))
    for k, value in enumerate(vector):
        if not 0 <= value <= 1:
            raise ValueError(f"{where}[{k}] = {value} is not a probability in [0, 1].")
    if sum(vector) != 1:
        raise ValueError(
            f"{where} sums to {sum(vector)}, not exactly 1. Write thirds and the like as text, "
            "'1/3', or as Fraction(1, 3)."
        )
    return vector


def check_shapes(
    mass: Sequence[Fraction], confidence: Sequence[Vector], truth: Sequence[Vector]
) -> None:
    """Check that masses and vectors fit together and that the masses sum to 1."""
    lengths = len(mass), len(confidence), len(truth)
    if len(set(lengths)) > 1 or not mass:
        raise ValueError(
            "mass, confidence and truth need one entry per atom, at least one; got "
            f"{lengths[0]}, {lengths[1]} and {lengths[2]}."
        )
    classes = {len(row) for row in (*confidence, *truth)}
    if len(classes) > 1 or min(classes) < 2:
        raise ValueError(
            "All vectors need the same number of classes, at least 2; got "
            f"{', '.join(map(str, sorted(classes)))}."
        )
    for i, share in enumerate(mass):
        if share <= 0:
            raise ValueError(f"mass[{i}] = {share} must be positive; leave that atom out.")
    if sum(mass) != 1:
        raise ValueError(f"mass sums to {sum(mass)}, not exactly 1.")


def check_atoms(confidence: Sequence[Vector], ties: str) -> None:
    """Check that no two atoms look the same and that each predicts one class."""
    as_choice(ties, "ties", ("reject", "lowest"))
    seen: dict[Vector, int] = {}
    for i, row in enumerate(confidence):
        if row in seen:
            raise ValueError(
                f"Atoms {seen[row]} and {i} state the same vector and cannot be told apart. "
                "Make one atom of them: add the masses, average the truths."
            )
        seen[row] = i
        if ties == "reject" and row.count(max(row)) > 1:
            raise ValueError(
                f"Atom {i} states ({', '.join(map(str, row))}): two classes are tied for the "
                'largest probability. Change it, or pass ties="lowest" to predict the first.'
            )


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
    atoms: Iterable[tuple[Fraction, Vector, Vector]], lens: Callable[[Vector], Sequence[Hashable]]
) -> list[Weighted]:
    """Return mass and gap of each group of classes, for each vector seen through the lens."""
    seen: list[tuple[Fraction, dict[Hashable, Fraction], dict[Hashable, Fraction]]] = []
    for mass, stated, true in atoms:
        groups = tuple(lens(stated))
        if len(groups) != len(stated):
            raise ValueError(
                f"The lens gives {len(groups)} groups for {len(stated)} classes; it must name "
                "one group per class."
            )
        said, happens = dict.fromkeys(groups, Fraction(0)), dict.fromkeys(groups, Fraction(0))
        for group, c, r in zip(groups, stated, true, strict=True):
            said[group] += c
            happens[group] += r
        seen.append((mass, said, happens))
    every = {group for _, said, _ in seen for group in said}
    none = Fraction(0)
    # A group without any class looks like a group of probability 0: leave out both.
    return conditional_gaps(
        (
            (frozenset(item for item in said.items() if item[1] > 0), group),
            mass,
            said.get(group, none),
            happens.get(group, none),
        )
        for mass, said, happens in seen
        for group in every
    )


def cumulative(probabilities: Vector) -> NDArray[np.float64]:
    """Return cumulative sums that end with exactly 1 and do not grow where nothing is added."""
    return np.array([float(total) for total in accumulate(probabilities)])
