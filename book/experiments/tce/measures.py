"""What Matsubara and others (2023) measures, with the source's bins: seven numbers, and Table 1.

The source cuts sorted rows by their index, through ties if need be. So its values depend on the
order of rows with equal predictions; here that is the order in which the rows come.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from book.experiments.tce.general import general_error
from calibkit import bins
from calibkit.bins import edges_between
from calibkit.hypothesis_tests import test_based_calibration_error

Labelled = tuple[NDArray[np.int64], NDArray[np.float64]]
PAVA = bins.Pava()
COLUMNS = ("TCE", "TCE(Q)", "TCE(V)", "ECE", "ACE", "MCE", "MCE(Q)")


@dataclass(frozen=True, slots=True)
class AsGiven:
    """Blocks of PAVA or PAVA-BC, cut by the order of the rows and through ties.

    As in the source's code, the last rows join the last block whenever ``2 n_min <= n_max``, so
    that the last bin may hold ``n_max + n_min``; the paper looks whether there is room.
    """

    uses_labels: ClassVar[bool] = True

    rule: bins.Pava | bins.PavaBC = PAVA

    def order(self, prob: NDArray[Any]) -> NDArray[np.intp]:
        """Return the order of rows in which `bounds` counts."""
        return np.argsort(prob, kind="stable")

    def bounds(self, prob: NDArray[Any], label: NDArray[Any]) -> NDArray[np.intp]:
        """Return where blocks begin and end in sorted rows."""
        n = len(prob)
        found = self.rule.bounds(np.arange(n) / n, label)  # places have no ties
        if isinstance(self.rule, bins.Pava):
            return found
        n_min, n_max = self.rule.sizes(n)
        if 2 * n_min > n_max:
            return np.asarray(np.union1d(found, [max(n - n_min, 0)]), dtype=np.intp)
        return np.asarray(found[(found != n - n_min) | (found == 0) | (found == n)])

    def edges(self, prob: NDArray[Any], label: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """Return the edges; where a cut falls into a tie, one of them."""
        order = self.order(prob)
        assert label is not None
        return edges_between(prob[order], self.bounds(prob[order], label[order]))

    def assign(self, prob: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.intp]:
        """Refuse: edges cannot tell blocks apart that share a tie."""
        raise ValueError("only what follows the blocks can use these bins: see `bounds`.")


@dataclass(frozen=True, slots=True)
class ByIndex(AsGiven):
    """The source's quantile bins: the sorted rows cut at ``floor(n k / n_bins)``."""

    n_bins: int = 10

    def bounds(self, prob: NDArray[Any], label: NDArray[Any]) -> NDArray[np.intp]:
        """Return where blocks begin and end."""
        return (len(prob) * np.linspace(0, 1, self.n_bins + 1)).astype(np.intp)


def sized(smallest: int | None, largest: int | None) -> AsGiven:
    """Return bins that treat ties and the last rows as the source's code does."""
    return AsGiven(bins.PavaBC(smallest, largest))


def percent(data: Labelled, binning: bins.Binning | None = None, **options: Any) -> float:
    """Return a test-based error in per cent; by default in PAVA-BC bins of n/20 to n/5."""
    binning = sized(None, None) if binning is None else binning
    error = test_based_calibration_error(*data, bins=binning, n_draws=0, **options)
    return 100 * error.value


def seven(
    data: Labelled, binning: bins.Binning | None = None, n_bins: int = 10, **options: Any
) -> list[float]:
    """Return the numbers of `COLUMNS`, to four digits; TCE in per cent."""
    by_index = ByIndex(n_bins=n_bins)
    pava = AsGiven()
    found = [percent(data, one, **options) for one in (binning, by_index, pava)]
    for norm in (1, np.inf):
        found += [general_error(*data, bins=one, norm=norm).value for one in (n_bins, by_index)]
    return [round(value, 4) for value in found]


def variance(label: NDArray[Any], prob: NDArray[Any]) -> float:
    """Return the mean squared distance of labels from their frequency: equation 9."""
    return float(label.var())


def criterion(data: Labelled, binning: bins.Binning) -> tuple[float, float]:
    """Return the total error of Definition 3, and the plain mean of the errors within bins.

    The first is ``sum_b (n_b / n) var_b``, which PAVA minimises among bins with increasing
    frequencies (Proposition 1); Table 1 prints both.
    """
    found = general_error(*data, bins=binning, loss=variance)
    return found.value, float(np.nanmean(found.losses))


# The bins that Table 1 compares.
CRITERION_BINS: dict[str, bins.Binning] = {
    "PAVA": AsGiven(),
    "PAVA-BC": sized(None, None),
    "Quantile": ByIndex(),
}
