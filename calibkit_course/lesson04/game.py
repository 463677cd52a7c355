"""The game "which one is perfect?": six small diagrams, some of a calibrated model. Lesson 04."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibkit import plot
from calibkit.errors import CalibrationError, expected_calibration_error
from calibkit.plot.look import AnyFigure
from calibkit.results import Described, spell
from calibkit_course.explore import Quiz
from calibkit_course.lesson04.view import MODELS

PANELS = "ABCDEF"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PerfectGame(Described):
    """Some diagrams with their errors, and the model behind each; a few are calibrated."""

    errors: tuple[CalibrationError, ...]
    kinds: tuple[str, ...]

    @property
    def perfect(self) -> tuple[bool, ...]:
        """Which panels come from the calibrated model."""
        return tuple(kind == "calibrated" for kind in self.kinds)

    def kind(self, panel: int) -> str:
        """Name the model behind a panel."""
        return "perfect" if self.perfect[panel] else self.kinds[panel]

    def comment(self, panel: int) -> str:
        """Say which model a panel comes from, and its error beside the null level."""
        error = self.errors[panel]
        return (
            f"it is {self.kind(panel)} (ECE {error.value:.3f}, a perfect model would show "
            f"{error.null_mean:.3f} ± {error.null_sd:.3f})."
        )

    def alt(self, revealed: bool) -> str:
        """Give each panel's gaps as numbers: what the eye sees, and no more."""
        panels = []
        for panel, error in enumerate(self.errors):
            gaps = " ".join(
                "empty" if np.isnan(g) else f"{-100 * g:+.0f}" for g in error.tables[0].gap
            )
            answer = f" ({self.kind(panel)}, ECE {error.value:.3f})" if revealed else ""
            panels.append(f"{PANELS[panel]}{answer}: {gaps}.")
        return (
            f"{spell(len(self.errors), 'reliability diagram')}. Frequency minus mean prediction, "
            f"in hundredths, from the lowest bin to the highest. {' '.join(panels)}"
        )

    def describe(self) -> str:
        """Say how many panels are perfect, and how far from zero their errors lie."""
        values = [e.value for e, is_one in zip(self.errors, self.perfect, strict=True) if is_one]
        total = spell(len(self.kinds), "diagram")
        if len(values) == 1:
            return f"1 of {total} comes from a perfect model. Its ECE is {values[0]:.3f}."
        return (
            f"{len(values)} of {total} come from a perfect model. "
            f"Their ECE lies between {min(values):.3f} and {max(values):.3f}."
        )


def which_is_perfect_view(*, draw: int = 1, n: int = 300, n_bins: int = 15) -> PerfectGame:
    """Deal six diagrams: one to four of them perfect, the others distorted."""
    rng = np.random.default_rng([4, draw])
    n_perfect = int(rng.integers(1, 5))
    others = rng.choice(["over-confident", "under-confident"], size=len(PANELS) - n_perfect)
    kinds = rng.permutation(["calibrated"] * n_perfect + others.tolist()).tolist()
    samples = [MODELS[kind].sample(n, rng) for kind in kinds]
    errors = [expected_calibration_error(s.y_true, s.y_prob, bins=n_bins) for s in samples]
    return PerfectGame(errors=tuple(errors), kinds=tuple(kinds))


def _draw_game(game: PerfectGame, figure: AnyFigure, revealed: bool) -> None:
    axes = figure.subplots(2, 3, sharex=True, sharey=True).flat
    for panel, (ax, error) in enumerate(zip(axes, game.errors, strict=True)):
        title = f"{PANELS[panel]}: {game.kind(panel)}" if revealed else PANELS[panel]
        plot.reliability(error.tables[0], ax=ax, show={"bars", "means", "gaps"}, title=title)


def which_is_perfect(**defaults: Any) -> Quiz[PerfectGame]:
    """Return the game of finding the perfect models among six diagrams."""
    return Quiz(
        name="which-is-perfect",
        title="Which one is perfect?",
        question=(
            "Each diagram shows 300 predictions in 15 bins. Tick every diagram that comes "
            "from a perfect model, then reveal."
        ),
        options=PANELS,
        view=which_is_perfect_view,
        draw=_draw_game,
        **defaults,
    )
