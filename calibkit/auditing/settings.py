"""What an audit may be told about levels, bins, redraws and repairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibkit._validation import as_count, as_level
from calibkit.bins import Binning, as_bins

MOST_BINS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """Levels, bins, redraws and repairs of an audit.

    Parameters
    ----------
    alpha : float
        Level of the test of calibration over all views together, in (0, 1). Audits are made
        often: at the usual 5 % one calibrated model in twenty would be accused.
    level : float
        Nominal probability content of each interval, in (0, 1).
    bins : int or Binning
        Bins of the diagram and of the expected calibration error; at most 1,000.
    n_draws : int
        Redraws of the labels behind the p-value; at least 99. Very large data get fewer.
    n_resamples : int
        Bootstrap resamples behind each interval; at least 50.
    detectable : float
        Average error that the data must be able to show, in (0, 1). With fewer rows the audit
        answers that there is too little data.
    folds : int
        Folds in which repairs are tried; at least 2.
    repairs : sequence of str, mapping from names to calibrators, or None
        Candidates, from simple to complex. None: those that suit the problem. An empty sequence
        leaves the question of repairs out.

    Examples
    --------
    >>> AuditSettings(level=0.95).level
    0.95
    """

    alpha: float = 0.02
    level: float = 0.9
    bins: Binning | int = 15
    n_draws: int = 999
    n_resamples: int = 400
    detectable: float = 0.1
    folds: int = 5
    repairs: Sequence[str] | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        as_level(self.alpha, "alpha")
        as_level(self.level, "level")
        as_level(self.detectable, "detectable")
        as_count(self.n_draws, "n_draws", minimum=99)
        as_count(self.n_resamples, "n_resamples", minimum=50)
        as_count(self.folds, "folds", minimum=2)
        as_bins(self.bins)
        if isinstance(self.bins, int) and self.bins > MOST_BINS:
            raise ValueError(
                f"bins must be at most {MOST_BINS:,}, got {self.bins:,}: every resample fills all."
            )
        if isinstance(self.repairs, str):
            raise ValueError(f"repairs must be a sequence of names; pass [{self.repairs!r}].")
