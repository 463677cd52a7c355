"""What an audit may be told about levels, bins, redraws and repairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from calibkit.bins import Binning, as_bins
from calibkit.validation import as_count, as_level

MOST_BINS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """Levels, bins, redraws and repairs of an audit.

    Parameters
    ----------
    alpha : float
        Level of the test of calibration over all views together. Audits are made often: at 5 %
        one calibrated model in twenty would be accused, at the default of 1 % one in a hundred.
    level : float
        Nominal probability content of each interval. The interval of a gain also decides: a
        repair is recommended only where it lies above 0.
    bins : int or Binning
        Of the diagram and of the calibration error; at most 1,000.
    n_draws, n_resamples : int
        Redraws of the labels behind the p-value, at least 99 (very large data get fewer), and
        bootstrap resamples behind each interval, at least 50.
    detectable : float
        Average error that the data must be able to show, or else they are too few.
    folds : int
        Folds in which repairs are tried; at least 2.
    repairs : sequence of str, mapping from names to calibrators, or None
        Candidates, from simple to complex; none where it is empty. None: those that suit.
    """

    alpha: float = 0.01
    level: float = 0.9
    bins: Binning | int = 15
    n_draws: int = 999
    n_resamples: int = 400
    detectable: float = 0.1
    folds: int = 5
    repairs: Sequence[str] | Mapping[str, Any] | None = None

    @property
    def promise(self) -> str:
        """What the level of the test means, in words.

        >>> AuditSettings().promise
        'At most 1 in 100 calibrated models would be called miscalibrated.'
        """
        whole = abs(1 / self.alpha - round(1 / self.alpha)) < 1e-9
        share = f"1 in {round(1 / self.alpha)}" if whole else f"{100 * self.alpha:g} % of"
        return f"At most {share} calibrated models would be called miscalibrated."

    def __post_init__(self) -> None:
        for name in ("alpha", "level", "detectable"):
            as_level(getattr(self, name), name)
        for name, minimum in (("n_draws", 99), ("n_resamples", 50), ("folds", 2)):
            as_count(getattr(self, name), name, minimum=minimum)
        as_bins(self.bins)
        if isinstance(self.bins, int) and self.bins > MOST_BINS:
            raise ValueError(
                f"bins must be at most {MOST_BINS:,}, got {self.bins:,}: every resample fills all."
            )
        if isinstance(self.repairs, str):
            raise ValueError(f"repairs must be a sequence of names; pass [{self.repairs!r}].")


def settings_of(settings: AuditSettings | None, options: Mapping[str, Any]) -> AuditSettings:
    """Return settings with single ones replaced by name."""
    names = [field.name for field in fields(AuditSettings)]
    unknown = [name for name in options if name not in names]
    if unknown:
        raise TypeError(f"audit() has no option {unknown[0]!r}; settings are {', '.join(names)}.")
    return replace(settings or AuditSettings(), **options)
