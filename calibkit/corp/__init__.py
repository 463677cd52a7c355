"""CORP: the reliability curve without bins, and the score parts that come with it.

Isotonic regression finds the increasing step curve from predictions to frequencies that fits
the labels best. There is nothing to choose: the curve makes its own bins (*blocks*). Scoring
the recalibrated predictions splits the score exactly:

    score = miscalibration - discrimination + uncertainty        (MCB - DSC + UNC)

CORP stands for consistent, optimally binned, reproducible, PAV-based: Dimitriadis, Gneiting and
Jordan (2021). Lesson 02 uses the parts, lesson 04 the curve.
"""

from calibkit.corp.decomposition import CorpDecomposition, corp_decomposition, miscalibration

__all__ = ["CorpDecomposition", "corp_decomposition", "miscalibration"]
