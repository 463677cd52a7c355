"""A quiz on a figure with several panels: look, tick, reveal, count."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Generic, Protocol, TypeVar

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore._image import Picture, render
from calibkit_course.explore._shown import Shown


class Dealt(Protocol):
    """What the view of a quiz returns."""

    @property
    def perfect(self) -> Sequence[bool]:
        """Which panels are to be ticked."""

    def comment(self, panel: int) -> str:
        """Say what a panel is, in a few words."""

    def alt(self, revealed: bool) -> str:
        """Say what the panels show; the answer only if `revealed`."""


Q = TypeVar("Q", bound=Dealt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a set of ticks is worth."""

    hits: tuple[bool, ...]  # per panel, whether the tick (or its absence) was right
    lines: tuple[str, ...]  # per panel, one sentence of feedback
    points: tuple[float, ...] = ()  # what each of the quiz's `players` won; empty if it has none

    @property
    def right(self) -> int:
        """Number of panels judged rightly."""
        return sum(self.hits)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Quiz(Shown, Generic[Q]):
    """A figure with several panels, some of which are to be found.

    A quiz with `players`, the first of whom is the reader, says in `points` what a tick is worth.
    """

    name: str  # as for `Explorer`
    title: str
    question: str  # what the reader is asked
    options: Sequence[str]  # names of the panels
    view: Callable[..., Q]  # ``view(draw=...)`` is a pure function of the number of the draw
    draw: Callable[[Q, AnyFigure, bool], None]  # panels without or with the answer, if revealed
    first: int = 1  # number of the first draw
    n_book: int = 6  # draws that the book's page holds
    size: tuple[float, float] = (6.0, 4.6)  # of the figure in inches
    score_form: str = "Score: {right} of {seen} panels."
    tick_form: str = "{option} is perfect"  # what stands beside the box of an option
    players: Sequence[str] = ()  # whose points are counted

    def answer(self, draw: int, ticked: Sequence[bool]) -> Answer:
        """Judge one set of ticks.

        >>> from calibkit_course import lesson04
        >>> game = lesson04.which_is_perfect()
        >>> game.answer(1, game.view(draw=1).perfect).right
        6
        """
        result = self.view(draw=draw)
        if len(ticked) != len(self.options):
            raise ValueError(f"{len(ticked)} ticks for {len(self.options)} panels.")
        hits = tuple(
            bool(tick) == bool(is_one) for tick, is_one in zip(ticked, result.perfect, strict=True)
        )
        lines = tuple(
            f"{option}: {'right' if hit else 'wrong'}, {result.comment(panel)}"
            for panel, (option, hit) in enumerate(zip(self.options, hits, strict=True))
        )
        won = self.points(draw)
        chosen = [won[panel][int(tick)] for panel, tick in enumerate(ticked)] if won else []
        return Answer(hits=hits, lines=lines, points=tuple(map(sum, zip(*chosen, strict=True))))

    def points(self, draw: int) -> Sequence[Sequence[Sequence[float]]]:
        """Return what each player wins, per panel: if it is not ticked, and if it is."""
        return ()

    def tick_label(self, option: str) -> str:
        """Return what stands beside the box of an option."""
        return self.tick_form.format(option=option)

    def score(self, right: int, seen: int) -> str:
        """Say the score so far."""
        return self.score_form.format(right=right, seen=seen)

    def picture(self, draw: int, *, revealed: bool, narrow: bool = False) -> Picture:
        """Return the picture of one draw, or the one for a telephone."""
        result = self.view(draw=draw)
        words = result.alt(revealed)
        return render(
            lambda figure: self.draw(result, figure, revealed), self.size, words, narrow=narrow
        )

    def static(self, draw: int | None = None, *, revealed: bool = True) -> Figure:
        """Draw one draw as a figure of the notebook, with the answer."""
        with plot.style():
            figure = plt.figure(figsize=self.size, layout="constrained")
            self.draw(self.view(draw=self.first if draw is None else draw), figure, revealed)
            plot.legend(figure)
        return figure

    def __repr__(self) -> str:
        return f'Game "{self.title}": {self.view(draw=self.first).alt(False)}'


class Tally:
    """What each player of a quiz has won so far; without players the table is empty."""

    def __init__(self, quiz: Quiz[Any]) -> None:
        self.players = tuple(quiz.players)
        self.points = [0.0] * len(self.players)
        self.played = False

    def add(self, points: Sequence[float]) -> None:
        """Count one draw."""
        self.points = [old + new for old, new in zip(self.points, points, strict=True)]
        self.played = True

    def html(self) -> str:
        """Return the table, or nothing before the first draw."""
        most = max(map(abs, self.points), default=0) or 1
        return points_table(self.players, self.points, most) if self.played else ""


def points_table(
    players: Sequence[str], points: Sequence[float], most: float, *, hidden: bool = False
) -> str:
    """Return a table with the points of each player, and a bar that ends at `most`."""
    rows = "".join(
        f'<tr><th scope="row">{escape(player)}</th><td class="ck-won">{won:g}</td><td>'
        f'<meter min="0" max="{most:g}" value="{won:g}" aria-label="{escape(player)}"></meter>'
        "</td></tr>"
        for player, won in zip(players, points, strict=True)
    )
    return f'<table class="ck-tally"{" hidden" if hidden else ""}>{rows}</table>' if players else ""
