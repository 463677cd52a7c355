"""A guess that is drawn: heights at a few places, and the truth laid over them.

``lesson.predict("9b", ...)`` shows a canvas. In JupyterLab and Colab it takes the line by mouse,
finger and arrow keys, through ``anywidget`` and ``draw.js`` beside this file; a page of the book
uses the same script. Without either the heights are given as a list, which serves those who do not
see the canvas, too. A line counts once all its heights are there.
"""

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from calibkit_course.learn import answers, messages
from calibkit_course.learn._rendering import Message
from calibkit_course.learn.exercises import Prediction

SCRIPT = Path(__file__).with_name("draw.js")
_LEFT, _RIGHT, _ROOF, _FLOOR, _WIDTH, _HEIGHT = 44, 350, 26, 196, 360, 240
_YOU, _TRUTH = "#0072b2", "#d55e00"
_LOOK = "display:block;width:100%;max-width:32rem;outline-offset:-3px;"
_LOOK += "font:13px sans-serif;fill:currentColor"
_LETTER = 8  # the width of a digit


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing(Prediction):
    """A line that is drawn before an experiment computes it; its score is the mean distance.

    >>> line = Drawing(question="How?", x=(1, 2), axes=("days", "share"), why="It grows.")
    >>> line.compare([0.5, 0.5], [0.2, 0.9])[69:]
    'most where days = 2: you drew 0.50, it is 0.90.'
    """

    x: tuple[float, ...]  # where heights are drawn, as far from each other on the canvas
    axes: tuple[str, str]  # names of x and of the heights
    top: float = 1  # where the axis of heights ends; it begins at 0
    outcome: Any = None  # the lesson's cell computes it

    @property
    def invitation(self) -> str:
        """What to do with the blank, for those who do not draw."""
        places = ", ".join(f"{one:g}" for one in self.x)
        words = {"count": len(self.x), "top": f"{self.top:g}", "axis": self.axes[0]}
        return messages.REPLACE_BY_HEIGHTS.format(places=places, **words)

    @property
    def digits(self) -> int:
        """Decimals with which heights are said: a hundredth of the axis."""
        return max(0, 2 - math.floor(math.log10(self.top)))

    def read(self, guess: Any) -> Any:
        """Return the heights of a whole line as a list, or None where it is none."""
        try:
            return self._heights(guess)
        except Exception:  # whatever was given instead
            return None

    def _heights(self, guess: Any) -> list[float]:
        given = [] if isinstance(guess, str | dict | set) else list(guess)
        there = sum(one is not None and one is not ... for one in given)
        if len(given) != len(self.x) or there < len(given):
            raise answers.Almost(messages.HALF_WAY.format(there=there, count=len(self.x)))
        heights = [float(f"{float(one):.4g}") for one in given]
        for place, height in zip(self.x, heights, strict=True):
            if not 0 <= height <= self.top:
                where = f"{self.axes[0]} {place:g}"
                said = messages.OUTSIDE.format(height=f"{height:g}", where=where, top=self.top)
                raise answers.Almost(said)
        return heights

    def refusal(self, guess: Any) -> str:
        """Say what is wrong with a line that could not be read."""
        try:
            self._heights(guess)
            return ""
        except answers.Almost as error:
            return str(error)
        except Exception:  # whatever was typed instead
            return messages.NO_LINE.format(count=len(self.x))

    def shown(self, value: Any) -> str:
        """Return the heights of a line in words."""
        heights = self.read(value)
        if heights is None:
            return messages.NOT_COMPUTED
        pairs = zip(self.x, heights, strict=True)
        return ", ".join(f"{height:.{self.digits}f} at {place:g}" for place, height in pairs)

    def is_right(self, guess: Any, outcome: Any) -> bool:
        """Tell whether a line is off by a tenth of the axis at most, on average.

        Unless the truth is nearly level, it is off by half of what the best level line is, too.
        """
        drawn, truth = self.read(guess), self.read(outcome)
        if drawn is None or truth is None:
            return False
        flat, near = _off_level(truth), self.top / 10
        return _off(drawn, truth) <= (near if flat <= near / 2 else min(near, flat / 2))

    def compare(self, guess: Any, outcome: Any) -> str:
        """Say how far a line lies from the truth, and where most."""
        drawn, truth = self.read(guess), self.read(outcome)
        if drawn is None or truth is None:
            return messages.NO_GUESS if drawn is None else messages.NO_TRUTH
        worst = int(np.argmax(np.abs(np.subtract(drawn, truth))))
        numbers = _off(drawn, truth), _off_level(truth), drawn[worst], truth[worst]
        off, flat, you, it = (f"{number:.{self.digits}f}" for number in numbers)
        place = f"{self.axes[0]} = {self.x[worst]:g}"
        form = messages.LINE_NEAR if self.is_right(drawn, truth) else messages.LINE_OFF
        return form.format(off=off, flat=flat, place=place, you=you, it=it)

    def canvas(self, pid: str, drawn: Any = None, truth: Any = None) -> str:
        """Return the canvas as SVG, with the lines that there are; the script draws on it."""
        drawn, truth = self.read(drawn), self.read(truth)
        step = (_RIGHT - _LEFT) / len(self.x)
        places = [round(_LEFT + step * (k + 0.5), 1) for k in range(len(self.x))]
        every = math.ceil(_LETTER * (1 + max(len(f"{one:g}") for one in self.x)) / step)
        lines = [_text(8, 12, self.axes[1]), _text(_RIGHT, _HEIGHT - 6, self.axes[0], "end")]
        for k, place in enumerate(places):
            lines.append(f'<path d="M{place},{_FLOOR}v5" stroke="currentColor"/>')
            if k % every == 0:
                lines.append(_text(place, _FLOOR + 18, f"{self.x[k]:g}", "middle"))
        for height in (0, self.top / 2, self.top):
            y = self._y(height)
            lines.append(f'<path d="M{_LEFT},{y}H{_RIGHT}" stroke="currentColor" opacity=".25"/>')
            lines.append(_text(_LEFT - 6, y + 4, f"{height:g}", "end"))
        says = messages.DRAWN_NOTHING if drawn is None else self.shown(drawn)
        yours, true = self._spots(places, drawn), self._spots(places, truth)
        if truth is not None:
            says = messages.LINES.format(you=says, truth=self.shown(truth))
            area = " ".join(yours + true[::-1]) if yours else ""
            fill = f'fill="{_TRUTH}" opacity=".22" points="{area}"'
            lines += [f'<polygon class="ck-between" {fill}/>', *_line("truth", _TRUTH, true)]
            lines.append(_text(200, 12, f"■ {messages.TRUTH_LINE}", "start", _TRUTH))
            lines.append(_text(_RIGHT, 12, f"● {messages.YOU}", "end", _YOU))
        lines += _line("drawn", _YOU, yours)
        data = {"places": places, "x": [f"{one:g}" for one in self.x], "top": self.top,
                "roof": _ROOF, "floor": _FLOOR, "digits": self.digits, "axis": self.axes[0],
                "drawn": drawn, "truth": truth,
                "words": {name: messages.WORDS[name] for name in _WORDS}}  # fmt: skip
        label = messages.CANVAS.format(y=self.axes[1], x=self.axes[0], says=says)
        return (
            f'<svg class="ck-canvas" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-label="{escape(label)}" data-prediction="{pid}" '
            f'data-canvas="{escape(json.dumps(data))}" style="{_LOOK}">{"".join(lines)}</svg>'
        )

    def _y(self, height: float) -> float:
        return round(_FLOOR - (_FLOOR - _ROOF) * height / self.top, 1)

    def _spots(self, places: Sequence[float], heights: Any) -> list[str]:
        return [f"{x},{self._y(y)}" for x, y in zip(places, heights or [], strict=False)]


_WORDS = ("DRAW_HOW", "DRAWN_ALL", "DRAW_CLEAR", "DRAW_AT", "DRAW_OPEN", "LINE_NEAR", "LINE_OFF")


@dataclass(frozen=True, slots=True, repr=False)
class Sketch(Message):
    """A message with a canvas below; where a widget can be shown, the canvas takes a line."""

    canvas: str
    note: Callable[[Any], Any] | None = None  # gets the heights whenever they change

    def _repr_html_(self) -> str:
        said = self.paragraphs if self.note else (messages.LAID_OVER, *self.paragraphs[1:])
        return Message(self.heading, said, self.symbol)._repr_html_() + self.canvas

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        said = {"text/plain": repr(self), "text/html": self._repr_html_()}
        page = os.environ.get("CALIBKIT_BOOK") == "1"  # which will have no kernel
        if self.note is None or page or find_spec("anywidget") is None:
            return said
        data, more = live(self._repr_html_(), self.note)._repr_mimebundle_()
        return {**data, "text/plain": said["text/plain"]}, more


def live(html: str, note: Callable[[Any], Any]) -> Any:
    """Return a widget whose canvas takes a line, and notes its heights."""
    import anywidget
    import traitlets

    class Canvas(anywidget.AnyWidget):
        _esm = SCRIPT.read_text("utf-8") + "export default { render: calibkitDraw.render };\n"
        html = traitlets.Unicode().tag(sync=True)
        heights: Any = traitlets.List().tag(sync=True)

    canvas = Canvas(html=html)
    canvas.observe(lambda change: note(change["new"]), names="heights")
    return canvas


def _off(one: Sequence[float], other: Sequence[float]) -> float:
    return float(np.mean(np.abs(np.subtract(one, other))))


def _off_level(truth: Sequence[float]) -> float:
    """Return how far the best level line is off, on average."""
    return _off([float(np.median(truth))] * len(truth), truth)


def _line(name: str, ink: str, spots: Sequence[str]) -> list[str]:
    """Return a line and its dots, which are empty paths where there are no spots yet."""
    path = "M" + "L".join(spots) if spots else ""
    kinds = {name: path, f"{name}-dots": "".join(f"M{spot}h0" for spot in spots)}
    cap = "round" if name == "drawn" else "square"
    return [
        f'<path class="ck-{kind}" d="{d}" fill="none" stroke="{ink}" stroke-linecap="{cap}" '
        f'stroke-width="{7 if kind != name else 2.5}"/>'
        for kind, d in kinds.items()
    ]


def _text(x: float, y: float, words: str, anchor: str = "start", ink: str = "") -> str:
    paint = f' fill="{ink}"' if ink else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{paint}>{escape(words)}</text>'
