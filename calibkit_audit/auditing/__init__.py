"""Audit predictions: six questions, answered in plain words with their uncertainty.

The `AuditReport` speaks (``text()``), turns into a table or one self-contained HTML page. Its
``verdicts`` are codes that a pipeline can act on. Lesson 14.

1. Do labels and predictions belong together? aligned, not aligned, no discrimination, upside down,
   alignment unclear
2. Is there enough data? enough data, too little data
3. Is it miscalibrated beyond chance? miscalibrated, borderline, no evidence, cannot say
4. Where is it wrong, and which way? over-confident, under-confident, over-forecast,
   under-forecast, mixed, no direction
5. Does it matter for the costs? costly, not costly, worse than ignoring, costs unknown
6. Which repair, and how much is gained? repair, no repair, align first

`compare` puts two or more models beside each other, on the same rows.
"""

from calibkit_audit.auditing.comparison import COMPARISON_CODES, Comparison, compare
from calibkit_audit.auditing.pages import Answer
from calibkit_audit.auditing.questions import audit, audit_table
from calibkit_audit.auditing.repairs import RepairTable
from calibkit_audit.auditing.report import AuditReport
from calibkit_audit.auditing.settings import AuditSettings

__all__ = [
    "COMPARISON_CODES",
    "Answer",
    "AuditReport",
    "AuditSettings",
    "Comparison",
    "RepairTable",
    "audit",
    "audit_table",
    "compare",
]
