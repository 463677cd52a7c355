"""Rows that gave probability 0 to what happened: counted, and told."""

from dataclasses import dataclass

import numpy as np

from calibkit.inputs import FloatVector, IntVector
from calibkit.results import spell
from calibkit_audit.auditing.pages import Answer
from calibkit_audit.auditing.rows import probability_of
from calibkit_audit.auditing.settings import FINDINGS

_NAMED = 5
_ADVICE = (
    "No number of right rows makes up for that. Average more trees or models, replace shares k/n "
    "of votes or leaves by (k + 1)/(n + 2), or pass the predictions through a calibrator that "
    "never says 0 (question 6). The test of question 3 asks about the other rows."
)
_ROUNDED = (
    "Other rows come so near to 0 or 1 that these were rounded: a softmax in single precision, or "
    "a file of few digits, cannot say less. Keep the logits, or write more digits."
)
_RUN_OUT, _HARDLY_ANY = 1 - 1e-4, 1e-3
_THEN = {
    "event": ("the event happened", "the event did not happen"),
    "answer": ("the predicted class was right", "the predicted class was wrong"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """Rows that gave probability 0 to what happened."""

    kind: str  # as in `Rows`
    first: tuple[int, ...] = ()  # where the first of them stood, from 0
    zeros: int = 0  # of two classes: those that said 0, and the event happened
    count: int = 0
    certain: int = 0  # rows that give some class exactly 0
    n: int = 0
    nearest: float = 0.0  # largest probability below 1

    def __add__(self, later: "Impossible") -> "Impossible":
        names = ("zeros", "count", "certain", "n")
        sums = {name: getattr(self, name) + getattr(later, name) for name in names}
        first, nearest = (self.first + later.first)[:_NAMED], max(self.nearest, later.nearest)
        return Impossible(kind=self.kind, first=first, nearest=nearest, **sums)

    @property
    def rounded(self) -> bool:
        """Whether 0 and 1 are rounded: other rows come so near that digits have run out."""
        return self.nearest > _RUN_OUT

    @property
    def minor(self) -> bool:
        """Whether they are a note and no headline: rounded, and hardly any."""
        return self.rounded and self.count <= _HARDLY_ANY * self.n

    @property
    def left(self) -> int:
        """Rows that are left."""
        return self.n - self.count

    def __str__(self) -> str:
        if self.kind == "class":
            word = "gives" if self.count == 1 else "give"
            return f"{spell(self.count, 'row')} {word} probability 0 to the class that happened"
        ones, parts = self.count - self.zeros, []
        happened, not_so = _THEN[self.kind]
        for count, said, then in ((self.zeros, 0, happened), (ones, 1, not_so)):
            if count:
                word = "says" if count == 1 else "say"
                parts.append(f"{spell(count, 'row')} {word} {said} and {then}")
        return "; ".join(parts)


def count_impossible(
    label: IntVector, table: FloatVector, position: IntVector, kind: str
) -> Impossible:
    """Count the rows of an (n, K) table that gave 0 to what happened; `position` names them."""
    gone = probability_of(label, table) == 0
    return Impossible(
        first=tuple(np.sort(position[gone])[:_NAMED].tolist()),
        zeros=int((label[gone] == 1).sum()),
        count=int(gone.sum()),
        certain=int((table == 0).any(axis=1).sum()),
        n=len(label),
        nearest=float(table.max(where=table < 1, initial=0.0)),
        kind=kind,
    )


def impossible_finding(found: Impossible, log_loss: float) -> tuple[Answer, ...]:
    """Return what was found beside the answers; `log_loss` is that of the rows left, or NaN."""
    if not found.count:
        return ()
    named = ", ".join(f"{row:,}" for row in found.first)
    more = f" and {found.count - len(found.first):,} more" if found.count > len(found.first) else ""
    where = f" (row{'s' if found.count > 1 else ''} {named}{more}, counted from 0)"
    finite = "" if np.isnan(log_loss) else f"; {log_loss:.4f} in the {found.left:,} others"
    text = (
        f"{found}{where}. That is {found.count:,} of {spell(found.certain, 'row')} with a "
        f"probability of exactly 0 or 1. The log loss is infinite{finite}. "
        f"{_ROUNDED if found.rounded else _ADVICE}"
    )
    numbers = {
        "rows": float(found.count),
        "certain": float(found.certain),
        "log_loss_of_others": log_loss,
    }
    light = "caution" if found.minor else "bad"
    return (Answer("impossible", FINDINGS["impossible"][0], light, text, numbers),)
