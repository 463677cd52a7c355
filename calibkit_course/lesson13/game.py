"""The calibration game: treat or wait, by hand, against the machine and the truth. Lesson 13."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibkit import plot
from calibkit.inputs import as_choice
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Quiz
from calibkit_course.lesson13 import figures
from calibkit_course.lesson13.models import MODELS
from calibkit_course.lesson13.view import NAMES, WardRound, ward_round_view

PLAYERS = ("You", "Trusts the machine", "Knows the truth")


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
        n_book=6,
        size=(8.0, 4.4),
        score_form="{right} of {seen} decisions as with the truth known.",
        tick_form="Treat {option}",
        players=PLAYERS,
    )
