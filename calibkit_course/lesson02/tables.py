"""What the cells of lesson 02 print: scores and their parts, a line each."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from calibkit.scores import BrierDecomposition, CorpDecomposition, brier_score, log_loss
from calibkit_course.finite import FiniteClassifier


def slide_scores(name: str, label: int, row: list[float]) -> str:
    """Return the scores of one forecast in their conventions and units."""
    total, mean = (brier_score([label], [row], classes=form).value for form in ("sum", "mean"))
    nats = log_loss([label], [row]).value
    return (
        f"{name}: Brier score {total:.3f} as a sum, {mean:.3f} as a mean over the classes\n"
        f"   log loss {nats:.3f} nats, {nats / np.log(2):.3f} bits, "
        f"{nats / np.log(10):.3f} in base 10"
    )


def sum_of_parts(name: str, parts: CorpDecomposition | BrierDecomposition) -> str:
    """Return a score as the sum of its parts."""
    return (
        f"{name:<6} {parts.score:.4f} = MCB {parts.miscalibration:.4f} "
        f"- DSC {parts.discrimination:.4f} + UNC {parts.uncertainty:.4f}"
    )


def three_parts(name: str, parts: CorpDecomposition | BrierDecomposition) -> str:
    """Return the parts of a score, and the fourth one that bins add."""
    line = (
        f"{name:<17} MCB {parts.miscalibration:.4f}   DSC {parts.discrimination:.4f}   "
        f"UNC {parts.uncertainty:.4f}"
    )
    if isinstance(parts, BrierDecomposition):
        line += f"   within bins {parts.within_bin:+.4f}"
    return line


def exact_forecasts(name: str, fake: FiniteClassifier) -> str:
    """Return an exact classifier's errors, and what is true for each stated vector."""
    lines = [
        f"{name}: accuracy {fake.accuracy}",
        f"   error of the confidence {fake.expected_error()}, "
        f"of the classes {_listed(fake.class_wise_errors())}, strong {fake.strong_error()}",
    ]
    rows = zip(fake.confidence, fake.truth, strict=True)
    lines += [f"   states ({_listed(said)}), true ({_listed(true)})" for said, true in rows]
    return "\n".join(lines)


def _listed(values: Iterable[Fraction | float]) -> str:
    return ", ".join(map(str, values))
