"""Lesson 14: audit your predictions."""

from calibkit_course.lesson14.explorer import (
    AuditBoard,
    BoardExplorer,
    audit_board,
    audit_board_view,
    board_of,
)
from calibkit_course.lesson14.sample_files import mended_file, sample_file
from calibkit_course.lesson14.verbal import VerbalModel

__all__ = [
    "VerbalModel",
    "mended_file",
    "sample_file",
    "AuditBoard",
    "BoardExplorer",
    "audit_board",
    "audit_board_view",
    "board_of",
]
