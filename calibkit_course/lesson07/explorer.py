"""Knots: straight pieces between predictions or between logits, and how many. Lesson 07."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from numpy.typing import NDArray

from calibkit import plot
from calibkit.fakes import FakeSample, LogitDistortion, SyntheticShape
from calibkit.piecewise import PiecewiseLinear
from calibkit.plot.look import AnyFigure
from calibkit.results import Result, spell
from calibkit.validation import as_choice, as_count
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson07.figures import draw_map
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
    n: int = 3000,
    n_pieces: int = 3,
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


def _draw_knots(view: KnotsView, figure: AnyFigure, compact: bool) -> None:
    axes = list(figure.subplots(1, 1 if compact else 2, squeeze=False).flat)
    draw_map(view.model, ax=axes[0], truth=view.fake.true_map)
    if not compact:
        plot.choice(view.search, ax=axes[1], mark=view.model.n_pieces_)
        plot.legend(figure)


_CONTROLS = (
    Choice(
        name="model",
        label="Model",
        values=tuple(FAKES),
        default="over-confident",
        book=tuple(FAKES),
    ),
    Choice(
        name="space",
        label="Straight between",
        values=tuple(_NAMES),
        default="probability",
        book=tuple(_NAMES),
        texts={"probability": "probabilities (PL)", "logit": "logits (PL3)"},
    ),
    Slider(
        name="n",
        label="Sample size",
        values=(200, 300, 500, 1000, 2000, 3000),
        default=3000,
        book=(300, 3000),
        unit="predictions",
    ),
    Slider(
        name="n_pieces",
        label="Pieces",
        values=(1, 2, 3, 4, 5, 6),
        default=3,
        book=(1, 3, 6),
        unit="pieces",
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("PL, 3 pieces", {}),
    ("PL3, 1 piece", {"space": "logit", "n_pieces": 1}),
    ("PL, 6 pieces, 300 predictions", {"n": 300, "n_pieces": 6}),
    ("Stairs: PL3, 6 pieces", {"model": "stairs", "space": "logit", "n_pieces": 6}),
)


def knots(**defaults: Any) -> Explorer[KnotsView]:
    """Return the knots explorer: space and number of pieces of a fitted map."""
    return Explorer(
        name="knots",
        title="Knots",
        controls=_CONTROLS,
        view=knots_view,
        draw=_draw_knots,
        presets=_PRESETS,
        size=(8.2, 4.4),
        cell=(3.5, 3.6),
    ).starting_at(**defaults)
