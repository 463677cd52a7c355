"""Six vectors whose truth moves away from them while every diagram stays straight. Lesson 12.

Source: Vaicenavicius and others (2019), section 2, for reduced views; the six vectors are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.inputs import FloatVector, as_number
from calibkit.plot import frames, look
from calibkit.plot.look import AnyFigure
from calibkit.results import Described
from calibkit_course import simplex
from calibkit_course.explore import Explorer, Slider
from calibkit_course.finite import FiniteClassifier
from calibkit_course.lesson12.models import SIX_STATED, hidden

_STEPS = tuple(round(0.1 * step, 1) for step in range(11))
_PANELS = ("confidence", "class 0", "class 1", "class 2")
_CODES = (("o", look.INK), ("s", look.OVER), ("^", look.UNDER), ("D", look.TRUTH))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HidingView(Described):
    """Six stated vectors, their truth, and what four diagrams see of it."""

    classifier: FiniteClassifier
    seen: Mapping[str, tuple[FloatVector, FloatVector]]  # of each diagram: stated, and true there

    def describe(self) -> str:
        """Give the largest error of the four diagrams, and how far the vectors are off."""
        one = self.classifier
        worst = float(max(one.expected_error(), *one.class_wise_errors()))
        return (
            f"The largest error of the four diagrams is {worst:g}. The stated vectors are "
            f"{float(one.strong_error()):.2f} away from the true ones, on average."
        )


def six_vectors_view(*, share: float = 0.0) -> HidingView:
    """Move the truth of the six vectors by a share of the way that no diagram sees."""
    number = as_number(share, "share", "a number from 0 to 1", lambda value: 0 <= value <= 1)
    far, mixed, part = hidden(), [], Fraction(number).limit_denominator(1000)
    for said, true in zip(far.confidence, far.truth, strict=True):
        mixed.append([c + part * (r - c) for c, r in zip(said, true, strict=True)])
    stated, truth = np.array(SIX_STATED) / 10, np.array(mixed, dtype=float)
    places = [stated.argmax(axis=1), *(np.full(6, k) for k in range(3))]
    seen = {}
    for name, place in zip(_PANELS, places, strict=True):
        said, true = stated[np.arange(6), place], truth[np.arange(6), place]
        values = np.unique(said) if name != "confidence" else np.full(3, said[0])
        seen[name] = values, np.array([true[said == value].mean() for value in values])
    one = FiniteClassifier(far.mass, far.confidence, tuple(map(tuple, mixed)))
    return HidingView(classifier=one, seen=seen)


def _draw(view: HidingView, figure: AnyFigure, compact: bool) -> None:
    left, *panels = _axes(figure)
    simplex.draw(view.classifier, ax=left)
    if not compact:
        left.set_title(f"{float(view.classifier.strong_error()):.2f} from the truth", pad=18, y=1.0)
    for ax, (marker, colour), (name, points) in zip(panels, _CODES, view.seen.items(), strict=True):
        with look.drawing(ax, (1.8, 1.8), title=name) as ax:
            frames.frame(ax, ("stated", "true"))
            line = ax.plot(*points, marker, markersize=7, gid=name, zorder=3)[0]
            line.set(markerfacecolor="none", markeredgecolor=colour, markeredgewidth=1.6)
            ax.set_ylabel("true", fontsize=look.FONT_SIZE)
    look.remember(panels[-1], [view.describe()])


def _axes(figure: AnyFigure) -> list[Axes]:
    """Return the axes of the simplex, and of four small diagrams beside it."""
    grid = figure.add_gridspec(2, 4, width_ratios=(1.2, 1.2, 1, 1))
    places = (grid[:, :2], grid[0, 2], grid[0, 3], grid[1, 2], grid[1, 3])
    return [figure.add_subplot(place) for place in places]


def six_vectors(**defaults: Any) -> Explorer[HidingView]:
    """Return the explorer in which the truth moves and four diagrams stay where they are."""
    form = "{:.0%} of the way"
    control = Slider("share", "Truth moved", _STEPS, default=0.0, book=_STEPS, form=form)
    return Explorer(
        name="six-vectors",
        title="Six vectors and four diagrams",
        controls=(control,),
        view=six_vectors_view,
        draw=_draw,
        play="share",
        presets=(
            ("at the start", {}),
            ("a third of the way", {"share": 0.3}),
            ("two thirds", {"share": 0.7}),
            ("all of it", {"share": 1.0}),
        ),
        size=(7.6, 4.2),
        cell=(7.0, 3.6),
    ).starting_at(**defaults)
