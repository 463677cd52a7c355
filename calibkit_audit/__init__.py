"""Judge one's own predictions: a verdict in words, two models side by side, a watch over time.

The analysis application on top of `calibkit`, which never names it. The command ``calibkit`` is
this house's; the names to begin with:

- `audit`: the verdict on predictions with their outcomes, in one report;
- `compare`: two or more models on the same rows;
- `Monitor`: evidence against a model that grows with each day;
- `counts.CountTable`, `counts.count_files`: logs that fit no memory.
"""

from calibkit_audit.auditing import AuditSettings, audit, audit_table, compare, compare_table
from calibkit_audit.monitor import Monitor

__all__ = ["AuditSettings", "Monitor", "audit", "audit_table", "compare", "compare_table"]
