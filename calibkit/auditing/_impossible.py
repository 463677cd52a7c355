"""Statements of exactly 0 that an outcome contradicts: a finding of their own."""

from dataclasses import dataclass

import numpy as np

from calibkit._result import spell
from calibkit.auditing._rows import FloatVector, IntVector

_NAMED = 5
_ADVICE = (
    "No number of right rows makes up for that. Average more trees or models, replace shares k/n "
    "of votes or leaves by (k + 1)/(n + 2), or pass the predictions through a calibrator that "
    "never says 0 (question 6). The test of question 3 asks about the other rows."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """Rows that gave probability 0 to what happened."""

    binary: bool
    first: tuple[int, ...] = ()  # where the first of them stood, from 0
    zeros: int = 0  # of two classes: those that said 0, and the event happened
    count: int = 0
    certain: int = 0  # rows that give some class exactly 0
    n: int = 0

    def __add__(self, later: "Impossible") -> "Impossible":
        names = ("zeros", "count", "certain", "n")
        sums = {name: getattr(self, name) + getattr(later, name) for name in names}
        return Impossible(binary=self.binary, first=(self.first + later.first)[:_NAMED], **sums)

    @property
    def left(self) -> int:
        """Rows that are left."""
        return self.n - self.count

    def __str__(self) -> str:
        if not self.binary:
            word = "gives" if self.count == 1 else "give"
            return f"{spell(self.count, 'row')} {word} probability 0 to the class that happened"
        ones, parts = self.count - self.zeros, []
        for count, said, then in (
            (self.zeros, 0, "the event happened"),
            (ones, 1, "the event did not happen"),
        ):
            if count:
                word = "says" if count == 1 else "say"
                parts.append(f"{spell(count, 'row')} {word} {said} and {then}")
        return "; ".join(parts)


def count_impossible(
    label: IntVector, table: FloatVector, position: IntVector, *, binary: bool
) -> Impossible:
    gone = table[np.arange(len(label)), label] == 0
    return Impossible(
        first=tuple(np.sort(position[gone])[:_NAMED].tolist()),
        zeros=int((label[gone] == 1).sum()),
        count=int(gone.sum()),
        certain=int((table == 0).any(axis=1).sum()),
        n=len(label),
        binary=binary,
    )


def told(found: Impossible, log_loss: float) -> tuple[str, dict[str, float]]:
    """Return sentence and numbers; `log_loss` is that of the rows left, NaN if unknown."""
    named = ", ".join(f"{row:,}" for row in found.first)
    more = f" and {found.count - len(found.first):,} more" if found.count > len(found.first) else ""
    where = f" (row{'s' if found.count > 1 else ''} {named}{more}, counted from 0)"
    finite = "" if np.isnan(log_loss) else f"; {log_loss:.4f} in the {found.left:,} others"
    text = (
        f"{found}{where}. That is {found.count:,} of {spell(found.certain, 'row')} with a "
        f"probability of exactly 0 or 1. The log loss is infinite{finite}. {_ADVICE}"
    )
    numbers = {
        "rows": float(found.count),
        "certain": float(found.certain),
        "log_loss_of_others": log_loss,
    }
    return text, numbers
