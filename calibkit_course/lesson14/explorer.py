"""The audit board: six lights for a file of predictions. Lesson 14."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson14 import figures
from calibkit_course.lesson14.view import (
    ALL,
    COSTS,
    EVERY,
    FILES,
    SIZES,
    UNKNOWN,
    VIEWS,
    AuditBoard,
    audit_board_view,
)


def _draw(board: AuditBoard, figure: AnyFigure, compact: bool) -> None:
    if compact:
        figures.audit_board(board, figure.subplots())
        return
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
    band = board.report.evidence.band
    plot.reliability(band.table, band=band, ax=left)
    _name_class(figure, band.table.view, board.report.class_names)
    figures.audit_board(board, right)


def _name_class(figure: AnyFigure, view: str, names: Sequence[str]) -> None:
    """Put the name of a class where the diagram knows only its number."""
    kind, _, number = view.partition(" ")
    if kind != "class":
        return
    below = [child for ax in figure.axes for child in ax.child_axes]
    for ax in (*figure.axes, *below):
        for axis in (ax.xaxis, ax.yaxis):
            words = axis.get_label_text()
            if words.endswith(f"of {view}"):
                axis.set_label_text(f"{words.removesuffix(number)}{names[int(number)]}")


_CONTROLS = (
    Slider("rows", "Rows", SIZES, default=ALL, book=SIZES, unit="rows"),
    Choice("file", "File", FILES, default=FILES[0], book=FILES[:2]),
    Choice("view", "View", VIEWS, default=EVERY),
    Slider("bins", "Bins", (5, 8, 15, 25, 50), default=15, unit="bins"),
    Choice("costs", "False alarm : miss", tuple(COSTS), default=UNKNOWN, book=(UNKNOWN, "1 : 20")),
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BoardExplorer(Explorer[AuditBoard]):
    """The audit board; in JupyterLab it also takes a file of your own, in the book a page does."""

    def page(self) -> str:
        """Return the twin of the board, and where a file of one's own is audited."""
        link = '<a href="../book/audit_a_file.html">Audit a file of your own</a>'
        return f"{super().page()}<p>{link} on a page of this book; it stays on your computer.</p>"

    def widget(self) -> Any:
        """Build the board with a file picker below it."""
        from calibkit_course.lesson14.files import with_file_picker

        return with_file_picker(super().widget())


def audit_board(**defaults: Any) -> BoardExplorer:
    """Return the audit board: six lights with their numbers, beside the diagram."""
    return BoardExplorer(
        name="audit-board",
        title="Audit board",
        controls=_CONTROLS,
        view=audit_board_view,
        draw=_draw,
        play="rows",
        presets=(
            ("Screening, first 30 rows", {"rows": 30, "costs": "1 : 20"}),
            ("First 120", {"rows": 120, "costs": "1 : 20"}),
            ("First 250", {"rows": 250, "costs": "1 : 20"}),
            ("All 2,500, no costs named", {}),
        ),
        size=(9.2, 4.8),
        cell=(4.6, 3.1),
    ).starting_at(**defaults)
