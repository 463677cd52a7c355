"""Judge one's own predictions: a verdict in words, two models side by side, a watch over time.

The analysis application on top of `calibkit`, which never names it. The command ``calibkit`` is
this house's; the names to begin with:

- `audit`: the verdict on predictions with their outcomes, in one report;
- `compare`: two or more models on the same rows;
- `Monitor`: evidence against a model that grows with each day;
- `estimate_rate`: what people would find, from a judge's scores and a few labels of people;
- `counts.CountTable`: a log that fits no memory, as a database counts it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors
    from calibkit_audit.auditing import *  # noqa: F403
    from calibkit_audit.monitor import Evidence as Evidence, Monitor as Monitor
    from calibkit_audit.rate import RateEstimate as RateEstimate, estimate_rate as estimate_rate
    from calibkit_audit.segments import SegmentTable as SegmentTable

_ROOMS = {
    "auditing": "COMPARISON_CODES Answer AuditReport AuditSettings Comparison RepairTable audit "
    "audit_table compare",
    "monitor": "Evidence Monitor",
    "rate": "RateEstimate estimate_rate",
    "segments": "SegmentTable",
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    # Imported when first asked for: the command can be interrupted before numpy has loaded.
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
