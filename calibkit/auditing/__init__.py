"""Audit predictions: six questions, answered in plain words with their uncertainty.

`audit` takes labels and probabilities (or logits) and asks:

1. Do labels and predictions belong together?
2. Is there enough data?
3. Is it miscalibrated beyond chance?
4. Where is it wrong, and which way?
5. Does it matter for the costs?
6. Which repair, and how much is gained?

The `AuditReport` speaks (``text()``), turns into a table, Markdown, or one self-contained HTML
page. Its ``verdicts`` are codes that a pipeline can act on. Lesson 14.

============  ==================================================================
topic         verdicts
============  ==================================================================
alignment     aligned, not aligned, alignment unclear
data          enough data, too little data
calibration   miscalibrated, no evidence, cannot say
direction     over-confident, under-confident, over-forecast, under-forecast,
              mixed, no direction
costs         costly, not costly, worse than ignoring, costs unknown
repair        repair, no repair, align first
============  ==================================================================
"""

from calibkit.auditing.groups import GroupTable
from calibkit.auditing.questions import audit
from calibkit.auditing.repairs import RepairTable
from calibkit.auditing.report import Answer, AuditReport, ViewTable
from calibkit.auditing.settings import AuditSettings

__all__ = [
    "Answer",
    "AuditReport",
    "AuditSettings",
    "GroupTable",
    "RepairTable",
    "ViewTable",
    "audit",
]
