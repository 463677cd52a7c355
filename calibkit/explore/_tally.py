"""The points of a quiz's players, as a table with a bar for each. Lesson 13."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibkit.explore._quiz import Quiz


class Tally:
    """What each player of a quiz has won so far; without players the table is empty."""

    def __init__(self, quiz: "Quiz[Any]") -> None:
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
