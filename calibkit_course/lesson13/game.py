"""The calibration game: treat or wait, by hand, against the machine and the truth. Lesson 13."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit import plot
from calibkit.bins import EqualWidth
from calibkit.plot.look import AnyFigure
from calibkit.reliability import BinTable, reliability_table
from calibkit.results import Result, spell
from calibkit.types import FloatVector
from calibkit.validation import as_choice
from calibkit_course.explore import Quiz
from calibkit_course.lesson13 import figures
from calibkit_course.lesson13.models import CLASSIFIERS, MODELS, belief_of
from calibkit_course.lesson13.wards import Ward

NAMES = tuple("ABCDEFGH")
PLAYERS = ("You", "Trusts the machine", "Knows the truth")
WARD = Ward(benefit=2, harm=6)
# Patients of two rounds are on record before the first; a deal holds so many rounds after them.
WARM_UP, ROUNDS = 2, 60
N_BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WardRound(Result):
    """One round of the calibration game: eight patients."""

    names: ClassVar = NAMES
    threshold: ClassVar = WARD.threshold  # probability from which on treating is worth it
    said: FloatVector  # confidence of the model in each diagnosis
    true: FloatVector  # its true probability
    gain: FloatVector  # what treating wins: 2 if the diagnosis was right, else -6
    trust: FloatVector  # what the two other players won
    oracle: FloatVector
    before: BinTable  # reliability of what the model said, without and with this round
    after: BinTable
    number: int  # of the round

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each diagnosis was right."""
        return self.gain > 0

    @property
    def perfect(self) -> tuple[bool, ...]:
        """Whom a player who knows the true probabilities treats."""
        return tuple((self.true >= self.threshold).tolist())

    def comment(self, panel: int) -> str:
        """Say what became of a patient, and what the true probability was."""
        what = "the diagnosis was right" if self.right[panel] else "the diagnosis was wrong"
        return (
            f"by the true {100 * self.true[panel]:.0f} % (said {100 * self.said[panel]:.0f} %); "
            f"{what}, treating wins {self.gain[panel]:+g}."
        )

    def alt(self, revealed: bool) -> str:
        """Say the confidences, and the record of past patients as numbers."""
        table = self.after if revealed else self.before
        used = np.flatnonzero(table.occupied)
        record = "; ".join(
            f"said about {100 * table.mean_prob[b]:.0f} %, right in {100 * table.frequency[b]:.0f} "
            f"% of {int(table.count[b])}"
            for b in used
        )
        outcome = [
            f" ({'right' if right else 'wrong'})" if revealed else "" for right in self.right
        ]
        shown = ", ".join(
            f"{name} {100 * said:.0f} %{end}"
            for name, said, end in zip(NAMES, self.said, outcome, strict=True)
        )
        return f"Confidences: {shown}. Past patients: {record}."

    def describe(self) -> str:
        """Say what the two other players won in this round."""
        return (
            f"Round {self.number}, {spell(len(NAMES), 'patient')}: trusting the machine won "
            f"{self.trust.sum():g}, knowing the truth {self.oracle.sum():g}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "patient": np.array(NAMES),
            "said": self.said,
            "true": self.true,
            "treating wins": self.gain,
        }


def ward_round_view(*, draw: int = 1, model: str = "over-confident", week: int = 1) -> WardRound:
    """Deal one round of eight patients, with the record of all patients before them."""
    if draw < 1:
        raise ValueError(f"draw={draw} must be at least 1: rounds are counted from 1 on.")
    block, place = divmod(draw - 1, ROUNDS)
    patients = _dealt(model, week, block)
    first = (WARM_UP + place) * len(NAMES)
    now = slice(first, first + len(NAMES))
    return WardRound(
        **{name: column[now] for name, column in patients.items()},
        before=_record(patients, first),
        after=_record(patients, first + len(NAMES)),
        number=draw,
    )


def _record(patients: dict[str, FloatVector], stop: int) -> BinTable:
    right = (patients["gain"][:stop] > 0).astype(np.int64)
    return reliability_table(right, patients["said"][:stop], bins=EqualWidth(N_BINS))


@lru_cache(maxsize=8)
def _dealt(model: str, week: int, block: int) -> dict[str, FloatVector]:
    """Return all patients of one deal: what the model said, the truth, and what treating won."""
    belief = belief_of(model)
    rng = np.random.default_rng([13, week, block])
    deal = WARD.deal(CLASSIFIERS[model], (WARM_UP + ROUNDS) * len(NAMES), rng)
    assert deal.true is not None  # fake classifiers know the truth
    said = belief(deal.seen)
    everybody = np.ones(deal.seen.shape, dtype=np.int64)
    return {
        "said": said.ravel(),
        "true": deal.true.ravel(),
        "gain": WARD.payoff(everybody, deal),
        "trust": WARD.payoff(WARD.decide(said, deal), deal),
        "oracle": WARD.payoff(WARD.decide(deal.true, deal), deal),
    }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WardGame(Quiz[WardRound]):
    """Rounds that are played by hand; three players win points."""

    def points(self, draw: int) -> Sequence[Sequence[Sequence[float]]]:
        """Return what reader, machine and truth win per patient: waiting, and treating."""
        dealt = self.view(draw=draw)
        rows = zip(dealt.gain.tolist(), dealt.trust.tolist(), dealt.oracle.tolist(), strict=True)
        return [[(0.0, trust, oracle), (gain, trust, oracle)] for gain, trust, oracle in rows]


def _draw_round(dealt: WardRound, figure: AnyFigure, revealed: bool) -> None:
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1.0])
    figures.patients(dealt, left, revealed=revealed, title=f"Round {dealt.number}")
    table = dealt.after if revealed else dealt.before
    plot.reliability(
        table,
        ax=right,
        show={"bars", "means", "gaps"},
        title=f"The record: {int(table.count.sum())} patients",
    )
    plot.legend(figure)


def ward_rounds(*, model: str = "over-confident", week: int = 1, first: int = 1) -> WardGame:
    """Return the calibration game: treat or wait by hand, and watch the record grow."""
    as_choice(model, "model", MODELS)

    def view(*, draw: int = 1) -> WardRound:
        return ward_round_view(draw=draw, model=model, week=week)

    return WardGame(
        name="ward-rounds",
        title="The calibration game",
        question=(
            "A right treatment wins 2, a wrong one loses 6, waiting wins nothing. Tick whom you "
            "treat, then reveal. The record shows what the machine's words were worth so far."
        ),
        options=NAMES,
        view=view,
        draw=_draw_round,
        first=first,
        n_book=8,
        size=(8.0, 4.4),
        score_form="{right} of {seen} decisions as with the truth known.",
        tick_form="Treat {option}",
        players=PLAYERS,
    )
