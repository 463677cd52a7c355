"""What Matsubara and others (2023) measures, with the source's bins: seven numbers, and Table 1.

The source cuts sorted rows by their index, through ties if need be. So its values depend on the
order of rows with equal predictions; here that is the order in which the rows come.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit import bins, significance

Labelled = tuple[NDArray[np.int64], NDArray[np.float64]]
COLUMNS = ("TCE", "TCE(Q)", "TCE(V)", "ECE", "ACE", "MCE", "MCE(Q)")


@dataclass(frozen=True, slots=True)
class ByIndex(bins.PavaBC):
    """The source's quantile bins: the sorted rows cut at ``floor(n k / n_bins)``."""

    n_bins: int = 10
    ties: str = "as-given"

    def bounds(self, prob: NDArray[Any], label: NDArray[Any]) -> NDArray[np.intp]:
        """Return where blocks begin and end."""
        return (len(prob) * np.linspace(0, 1, self.n_bins + 1)).astype(np.intp)


def sized(smallest: int | None, largest: int | None) -> bins.PavaBC:
    """Return bins that treat ties and the last rows as the source's code does."""
    return bins.PavaBC(smallest, largest, tail="reference", ties="as-given")


def percent(data: Labelled, binning: bins.Binning | None = None, **options: Any) -> float:
    """Return a test-based error in per cent; by default in PAVA-BC bins of n/20 to n/5."""
    binning = sized(None, None) if binning is None else binning
    error = significance.test_based_calibration_error(*data, bins=binning, null_draws=0, **options)
    return 100 * error.value


def seven(
    data: Labelled, binning: bins.Binning | None = None, n_bins: int = 10, **options: Any
) -> list[float]:
    """Return the numbers of `COLUMNS`, to four digits; TCE in per cent."""
    by_index = ByIndex(n_bins=n_bins)
    pava = bins.Pava(ties="as-given")
    found = [percent(data, one, **options) for one in (binning, by_index, pava)]
    for norm in (1, np.inf):
        for one in (n_bins, by_index):
            error = significance.general_calibration_error(*data, bins=one, norm=norm)
            found.append(float(error))
    return [round(value, 4) for value in found]


def variance(label: NDArray[Any], prob: NDArray[Any]) -> float:
    """Return the mean squared distance of labels from their frequency: equation 9."""
    return float(label.var())


def criterion(data: Labelled, binning: bins.Binning) -> tuple[float, float]:
    """Return the total error of Definition 3, and the plain mean of the errors within bins.

    The first is ``sum_b (n_b / n) var_b``, which PAVA minimises among bins with increasing
    frequencies (Proposition 1); Table 1 prints both.
    """
    loss: Callable[..., float] = variance
    found = significance.general_calibration_error(*data, bins=binning, loss=loss)
    return float(found), float(np.nanmean(found.losses[0]))


# The bins that Table 1 compares.
CRITERION_BINS: dict[str, bins.Binning] = {
    "PAVA": bins.Pava(ties="as-given"),
    "PAVA-BC": sized(None, None),
    "Quantile": ByIndex(),
}
