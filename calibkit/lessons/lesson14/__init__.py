"""Lesson 14: audit your predictions."""

from calibkit.lessons.lesson14.explorer import (
    AuditBoard,
    BoardExplorer,
    audit_board,
    audit_board_view,
    board_of,
)

__all__ = ["AuditBoard", "BoardExplorer", "audit_board", "audit_board_view", "board_of"]
