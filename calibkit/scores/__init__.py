"""Proper scores: the Brier score, the log loss, and what they are made of.

They reward honest and informative probabilities at once; a decomposition takes the two apart:
by bins (`brier_decomposition`), or without them (`corp_decomposition`).
"""

from calibkit.scores.corp import CorpDecomposition, corp_decomposition, miscalibration
from calibkit.scores.proper import (
    BrierDecomposition,
    Score,
    brier_decomposition,
    brier_score,
    log_loss,
)

__all__ = [
    "BrierDecomposition",
    "CorpDecomposition",
    "Score",
    "brier_decomposition",
    "brier_score",
    "corp_decomposition",
    "log_loss",
    "miscalibration",
]
