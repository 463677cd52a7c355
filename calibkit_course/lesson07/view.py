"""A map of straight pieces, fitted to a fake whose true map is known. Lesson 07."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from numpy.typing import NDArray

from calibkit.fakes import FakeSample, LogitDistortion, SyntheticShape
from calibkit.piecewise import PiecewiseLinear
from calibkit.results import Result, spell
from calibkit.validation import as_choice, as_count
from calibkit_course.lesson07.trials import Fake, map_error, reported, true_error

FAKES: dict[str, Fake] = {
    "over-confident": LogitDistortion(slope=0.4),
    "bent": SyntheticShape.with_error("beta2", 0.1),
    "stairs": SyntheticShape.with_error("stairs", 0.1),
}
_NAMES = {"probability": "PL", "logit": "PL3"}
_MOST_PIECES, _FOLDS = 6, 5
_NEW = 1000  # predictions on which a fitted map is compared with the truth


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class KnotsView(Result):
    """One state of the knots explorer."""

    model: PiecewiseLinear  # the map with the wanted number of pieces
    search: PiecewiseLinear  # the one whose number of pieces five folds chose, with all scores
    fake: Fake
    n: int  # predictions
    map_error: float  # mean distance between fitted and true map, on new predictions
    error: float  # mean distance of the fitted map from the diagonal, on the data
    true_error: float  # the same for the true map

    def describe(self) -> str:
        """Give the error of the map, the error of its number, and the choice of the folds."""
        pieces = spell(self.model.n_pieces_, "piece")
        return (
            f"{_NAMES[self.model.space]} with {pieces} from {spell(self.n, 'prediction')}: the map "
            f"is off by {self.map_error:.3f} on average. It reports a calibration error of "
            f"{self.error:.3f}; the truth is {self.true_error:.3f}. The folds choose "
            f"{spell(self.search.n_pieces_, 'piece')}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {"pieces": self.search.candidates_, "held-out Brier score": self.search.scores_}


def knots_view(
    *,
    model: str = "over-confident",
    space: str = "probability",
    n: int = 300,
    n_pieces: int = 1,
    seed: int = 7,
) -> KnotsView:
    """Fit a map of straight pieces to a fake classifier whose true map is known."""
    as_choice(model, "model", FAKES)
    as_choice(space, "space", _NAMES)
    n = as_count(n, "n")
    sample, search = _search(model, space, n, seed)
    fitted = PiecewiseLinear(space, n_pieces).fit(sample.y_prob, sample.y_true)
    return KnotsView(
        model=fitted,
        search=search,
        fake=FAKES[model],
        n=n,
        map_error=map_error(fitted, FAKES[model], _NEW),
        error=reported(fitted, sample),
        true_error=true_error(sample),
    )


# Another number of pieces leaves data and scores as they are: only one map is fitted anew.
@lru_cache(maxsize=64)
def _search(model: str, space: str, n: int, seed: int) -> tuple[FakeSample, PiecewiseLinear]:
    sample = FAKES[model].sample(n, seed)
    search = PiecewiseLinear(space, cv=_FOLDS, max_pieces=_MOST_PIECES)
    return sample, search.fit(sample.y_prob, sample.y_true)
