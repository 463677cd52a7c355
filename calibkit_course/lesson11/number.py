"""More and more bins: which of them does the ECE choose, and which the log loss? Lesson 11.

Histograms are fitted to rows whose true chances are known, and measured on new ones, so that beside
the two numbers stands how far each map is from the truth.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import EqualMass
from calibkit.calibrators import HistogramBinning
from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit.inputs import FloatVector
from calibkit.results import Described, read_only, spell
from calibkit.scores import log_loss

BINS = (1, 2, 3, 5, 8, 12, 20, 35, 60, 100)
DRAWS, FITTED, NEW = 20, 2000, 20_000  # as in the lesson
BOLD = LogitDistortion(slope=0.5, scores=(0.7, 0.7))
GRID = (np.arange(500) + 0.5) / 500


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Numbers(Described):
    """What histograms up to a number of bins reach, as means over the draws."""

    n_bins: NDArray[np.intp]  # that have been tried, rising: (B,)
    ece: FloatVector  # of new rows, (B,) like the next two
    loss: FloatVector  # infinite where a bin was certain, and wrong
    far: FloatVector  # distance from the true map
    prob: FloatVector  # predictions of a grid: (G,)
    truth: FloatVector  # what is true of them
    fitted: FloatVector  # the map with most bins of the first draw, on the grid

    def chosen(self, values: FloatVector) -> int:
        """Return the number of bins where one of the numbers is lowest."""
        return int(self.n_bins[values.argmin()])

    def describe(self) -> str:
        """Say the numbers of the last histogram, and which one each number would choose."""
        loss = "infinite" if np.isinf(self.loss[-1]) else f"{self.loss[-1]:.4f}"
        names = ("the ECE", "the log loss", "the truth")
        picks = zip(names, (self.ece, self.loss, self.far), strict=True)
        text = ", ".join(f"{name} {spell(self.chosen(values), 'bin')}" for name, values in picks)
        return (
            f"With {spell(int(self.n_bins[-1]), 'bin')}, the ECE is {self.ece[-1]:.4f}, the log "
            f"loss is {loss}, and the map is {self.far[-1]:.4f} from the truth (means of {DRAWS} "
            f"draws). Of what has been tried, each chooses its lowest: {text}."
        )


def which_number_view(*, n_bins: int = 1) -> Numbers:
    """Fit histograms with up to `n_bins` bins, and measure them in three ways."""
    if n_bins not in BINS:
        raise ValueError(f"n_bins={n_bins!r} does not exist; choose one of {BINS}.")
    tried = BINS.index(n_bins) + 1
    values, maps = _measured()
    ece, loss, far = values.mean(axis=-1)[:, :tried]
    return Numbers(
        n_bins=np.array(BINS[:tried]),
        ece=ece,
        loss=loss,
        far=far,
        prob=GRID,
        truth=BOLD.true_map(GRID),
        fitted=maps[tried - 1],
    )


@lru_cache(maxsize=1)
def _measured() -> tuple[FloatVector, FloatVector]:
    """Return ECE, log loss and distance by bins and draw, and the maps of the first draw."""
    values, maps = np.empty((3, len(BINS), DRAWS)), np.empty((len(BINS), len(GRID)))
    for draw in range(DRAWS):
        old, new = BOLD.sample(FITTED, draw), BOLD.sample(NEW, 1000 + draw)
        for b, count in enumerate(BINS):
            model = HistogramBinning(EqualMass(count)).fit(old.y_prob, old.y_true)
            out = model.calibrate(new.y_prob)
            ece = expected_calibration_error(new.y_true, out).value
            far = np.abs(out - new.true_prob).mean()
            values[:, b, draw] = ece, log_loss(new.y_true, out).value, far
            if draw == 0:
                maps[b] = model.calibrate(GRID)
    return read_only(values), read_only(maps)
