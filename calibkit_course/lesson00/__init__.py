"""Lesson 00: start here."""

from collections.abc import Sequence

__all__ = ["tally"]


def tally(throws: Sequence[int]) -> str:
    """Return a line for each sum of two dice: how many of the throws give it."""
    counts = {total: throws.count(total) for total in range(2, 13)}
    return "\n".join(
        f"sum {total:>2}: {ways} of {len(throws)} throws  {'■ ' * ways}".rstrip()
        for total, ways in counts.items()
    )
