"""Six lights of an audit with their numbers. Lesson 14."""

import textwrap

from matplotlib.axes import Axes

from calibkit.plot import look
from calibkit_audit.auditing import Answer
from calibkit_course.lesson14.view import AuditBoard

# Face and ink of each light; the symbol inside says the same.
_FACES = {
    "good": ("#D9F0E6", "#00664B"),
    "caution": ("#FCEBC9", "#7A4B00"),
    "bad": ("#FBDDD0", "#9C2C00"),
    "unknown": ("#E4E7EB", "#3F4A56"),
}


def audit_board(board: AuditBoard, ax: Axes | None = None) -> Axes:
    """Draw the lights of an audit, one row per question."""
    with look.style():
        ax, _ = look.axes_or_new(ax, (5.4, 3.4))
        rows = len(board.topics)
        ax.set(xlim=(0, 1), ylim=(rows + 0.15, -0.55))
        ax.set_axis_off()
        for row, answer in enumerate(board.report.answers):
            _draw_row(ax, row, answer, board.details[row])
        foot = textwrap.fill(board.promise, 62)
        ax.text(0.0, rows - 0.15, foot, color=look.GREY, fontsize=look.FONT_SIZE - 0.5, va="center")
    # The limits of the axes leave room for all texts; measuring each one twice costs time.
    for text in ax.texts:
        text.set_in_layout(False)
    look.remember(ax, ["Lights of an audit.", board.describe()])
    return ax


def _draw_row(ax: Axes, row: int, answer: Answer, detail: str) -> None:
    face, ink = _FACES[answer.light]
    x_light, x_topic, x_verdict = 0.045, 0.11, 0.33
    ax.plot(
        [x_light],
        [row],
        marker="o",
        markersize=18,
        markerfacecolor=face,
        markeredgecolor=ink,
        markeredgewidth=1.4,
        clip_on=False,
        gid=f"light {answer.light}",
    )
    size, above = look.FONT_SIZE, row - 0.19
    ax.text(
        x_light, row, answer.symbol, color=ink, fontsize=size + 2, fontweight="bold",
        ha="center", va="center_baseline",
    )  # fmt: skip
    ax.text(x_topic, above, answer.topic, color=look.GREY, fontsize=size, va="center")
    ax.text(
        x_verdict, above, answer.verdict, color=ink, fontsize=size + 0.5,
        fontweight="bold", va="center",
    )  # fmt: skip
    ax.text(
        x_topic, row + 0.23, detail, color=look.INK, fontsize=size - 0.5,
        va="center", gid="numbers",
    )  # fmt: skip
