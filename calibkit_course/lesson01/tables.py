"""What the cells of lesson 01 print: groups and promises, a line each."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from calibkit.inputs import BinaryProblem


def weather(rained: Iterable[object]) -> str:
    """Say for each day whether it rained.

    >>> weather([1, 0])
    'rain dry'
    """
    return " ".join("rain" if wet else "dry" for wet in rained)


def groups(stated: Sequence[Fraction], rained: Sequence[int]) -> str:
    """Return a line per stated probability: what happened on its days.

    >>> groups([Fraction(1, 2), Fraction(1, 2)], [0, 1])
    'stated 1/2: dry rain'
    """
    days = list(zip(stated, rained, strict=True))
    return "\n".join(
        f"stated {value!s:>3}: {weather(wet for said, wet in days if said == value)}"
        for value in sorted(set(stated))
    )


def promise(event: str, problem: BinaryProblem) -> str:
    """Put the mean probability that was stated beside what was observed."""
    stated, observed = problem.prob.mean(), problem.label.mean()
    words = "too high" if stated > observed else "too low"
    return f"{event:<21} stated {stated:.3f}, observed {observed:.3f}: {words}"
