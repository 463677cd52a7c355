"""An explorer: declared controls, a pure view, a drawing function, and two thin shells."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any, Generic, Protocol, Self, TypeVar

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore._controls import Control
from calibkit_course.explore._image import Picture, render
from calibkit_course.explore._shown import Shown

MAX_CONTROLS = 5
MAX_STATES = 64


class Describable(Protocol):
    """What a view returns: a result that says in words what it found."""

    def describe(self) -> str:
        """Say what was found."""


R = TypeVar("R", bound=Describable)
State = dict[str, Any]
Preset = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explorer(Shown, Generic[R]):
    """A figure with controls: at most five, which span at most 64 states in the book.

    The first control is seen at once, the others are folded. `play` names the control whose values
    a key runs through, in the book those that its page holds, ten a second: a sweep, or with a
    control that counts redraws the same experiment again and again.

    ``draw(result, figure, compact)`` draws what the view returned; `compact` asks for a form
    without legend, for several states side by side.

    >>> from calibkit_course import lesson04
    >>> lab = lesson04.diagram_lab()
    >>> lab.state(n=1000)["n"]
    1000
    """

    name: str  # a short one, e.g. "diagram-lab"
    title: str  # name for the reader and for assistive technology
    controls: Sequence[Control]
    view: Callable[..., R]  # a pure function of the controls' values
    draw: Callable[[R, AnyFigure, bool], None]
    play: str = ""  # name of the control that the play key moves; without one there is no key
    presets: Sequence[Preset] = field(default=())  # of the static figure; first the default state
    size: tuple[float, float] = (6.6, 4.6)  # of the figure in inches
    cell: tuple[float, float] = (3.7, 3.0)  # of one panel of the static figure

    def __post_init__(self) -> None:
        names = [control.name for control in self.controls]
        if not 1 <= len(names) <= MAX_CONTROLS or len(set(names)) != len(names):
            raise ValueError(f"an explorer has 1 to {MAX_CONTROLS} controls, each with its name.")
        if self.n_states > MAX_STATES:
            raise ValueError(f"{self.n_states} states for the book, at most {MAX_STATES} fit.")
        self._paired({self.play: None} if self.play else {})

    @property
    def default(self) -> State:
        """Values of all controls at the start."""
        return {control.name: control.default for control in self.controls}

    @property
    def n_states(self) -> int:
        """Number of states that the book's page holds."""
        return prod(len(control.book) for control in self.controls)

    def state(self, **values: Any) -> State:
        """Return the values of all controls: those given, and defaults for the others."""
        for control, value in self._paired(values):
            control.index(value)
        return self.default | values

    def _paired(self, values: Mapping[str, Any]) -> list[tuple[Control, Any]]:
        known = {control.name: control for control in self.controls}
        for name in values:
            if name not in known:
                raise ValueError(f"there is no control {name!r}; there are {', '.join(known)}.")
        return [(known[name], value) for name, value in values.items()]

    def states(self) -> Iterator[State]:
        """Go through the states of the book's page; the last control changes fastest."""
        names = [control.name for control in self.controls]
        for values in product(*(control.book for control in self.controls)):
            yield dict(zip(names, values, strict=True))

    def starting_at(self, **defaults: Any) -> Self:
        """Return the same explorer with other defaults."""
        moved = {one.name: one.starting_at(to) for one, to in self._paired(defaults)}
        return replace(self, controls=[moved.get(c.name, c) for c in self.controls])

    def show(self, **values: Any) -> tuple[Picture, str]:
        """Return picture and sentence for one state."""
        result = self.view(**self.state(**values))
        return self.picture(result), result.describe()

    def picture(self, result: R, *, narrow: bool = False) -> Picture:
        """Return the picture of what the view returned, or the one for a telephone."""
        return render(lambda figure: self.draw(result, figure, False), self.size, narrow=narrow)

    def static(self, *states: Preset, columns: int = 2) -> Figure:
        """Draw several states, (caption, values), beside each other; by default the presets."""
        chosen = states or tuple(self.presets)
        if not chosen:
            raise ValueError(f"{self.name} has no presets; pass states as (caption, values).")
        rows = -(-len(chosen) // columns)
        size = (self.cell[0] * columns, self.cell[1] * rows)
        with plot.style():
            figure = plt.figure(figsize=size, layout="constrained")
            cells = figure.subfigures(rows, columns, squeeze=False).flat
            for (caption, values), cell in zip(chosen, cells, strict=False):
                self.draw(self.view(**self.state(**values)), cell, True)
                cell.get_axes()[0].set_title(caption)
            plot.legend(figure, columns=3)
        return figure

    def __repr__(self) -> str:
        return f'Explorer "{self.title}": {self.view(**self.default).describe()}'
