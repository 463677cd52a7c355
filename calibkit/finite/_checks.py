"""Reading exact numbers, with errors that say what to write instead."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from calibkit._validation import as_choice


def as_fraction(value: Any, where: str) -> Fraction:
    """Read a fraction, whole number, text such as ``"2/3"``, or float (0.1 is 1/10, as printed)."""
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"{where} = {value!r} is not a number. Write 0.4, '2/5' or Fraction(2, 5)."
        ) from None


def as_vector(values: Any, where: str) -> tuple[Fraction, ...]:
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
    mass: Sequence[Fraction],
    confidence: Sequence[Sequence[Fraction]],
    truth: Sequence[Sequence[Fraction]],
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


def check_atoms(confidence: Sequence[tuple[Fraction, ...]], ties: str) -> None:
    """Check that no two atoms look the same and that each predicts one class."""
    as_choice(ties, "ties", ("reject", "lowest"))
    seen: dict[tuple[Fraction, ...], int] = {}
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
