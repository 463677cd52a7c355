"""What an audit may be told, and what it may say: settings, questions, codes, lights."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibkit.bins import Binning, as_bins
from calibkit.inputs import as_count, as_level

MOST_BINS = 1_000
_BOOTSTRAP_NUMBERS = 40_000_000  # random numbers for a bootstrap; larger data get fewer resamples
NEAR = 2.0  # a p-value within this factor above the level is borderline
MOST_CLASSES = 200  # with more, only the predicted class is looked at unless `view` asks


# How the light of a verdict is shown; its colour (in `page.css`) is never alone.
SYMBOLS = {"good": "✓", "caution": "!", "bad": "✗", "unknown": "?"}
QUESTIONS = {
    "alignment": "Do labels and predictions belong together?",
    "data": "Is there enough data?",
    "calibration": "Is it miscalibrated beyond chance?",
    "direction": "Where is it wrong, and which way?",
    "costs": "Does it matter for the costs?",
    "repair": "Which repair, and how much is gained?",
    "impossible": "Did anything happen that was called impossible?",
    "dependence": "Does every row say something new?",
    "time": "Is the error the same all along?",
    "groups": "Is it right in every group?",
}
_WAYS = ("over-confident", "under-confident", "over-forecast", "under-forecast")
# Every verdict that an answer can have. No code belongs to two topics.
CODES = {
    "alignment": (
        "aligned",
        "not aligned",
        "no discrimination",
        "upside down",
        "alignment unclear",
    ),
    "data": ("enough data", "too little data"),
    "calibration": ("miscalibrated", "borderline", "no evidence", "cannot say"),
    "direction": (*_WAYS, "mixed", "no direction"),
    "costs": ("costly", "not costly", "worse than ignoring", "costs unknown"),
    "repair": ("repair", "no repair", "align first"),
}
# Verdicts beside the six answers, which only some reports have.
FINDINGS = {
    "impossible": ("impossible statements",),
    "dependence": ("one side kept", "rows agree"),
    "time": ("error changes", "no change shown"),
    "groups": ("group miscalibrated", "no wrong group shown"),
}


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
        Redraws of the labels behind the p-value, at least 99 (very large data get fewer; near a
        limit more are drawn), and resamples behind the interval of the error, at least 50.
    detectable : float
        Average error that the data must be able to show, or else they are too few.
    folds : int
        Folds in which repairs are tried; at least 2.
    repairs : sequence of str or None
        Candidates, beside the base rate; none where it is empty. None: those that suit.
    """

    alpha: float = 0.01
    level: float = 0.9
    bins: Binning | int = 15
    n_draws: int = 999
    n_resamples: int = 400
    detectable: float = 0.1
    folds: int = 5
    repairs: Sequence[str] | None = None

    @property
    def limits(self) -> tuple[float, float]:
        """The largest p-values that are called miscalibrated, and borderline."""
        return self.alpha, min(NEAR * self.alpha, 1.0)

    def resamples(self, n: int) -> int:
        """Return how often n rows are resampled, or their labels redrawn for an interval."""
        return min(self.n_resamples, max(50, _BOOTSTRAP_NUMBERS // n))

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
