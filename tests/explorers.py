"""What the tests of all explorers do: turn every dial, and build the page without a kernel."""

from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import Any

from calibkit_course.explore import Explorer
from calibkit_course.explore.lab import explorer_box
from calibkit_course.explore.page import explorer_page


def turn_every_dial(explorer: Explorer[Any]) -> None:
    """Move all widgets to their first values, then to their last ones, one by one.

    The second time the first dial, usually the sample size, comes last: this is quicker. After each
    step the sentence is that of the state; at the end *Reset* brings the start back.
    """
    seen = replace(explorer, view=lru_cache(explorer.view))
    row, figure, sentence = explorer_box(seen).children
    *widgets, reset = row.children
    start, state = (figure.value, sentence.value), explorer.default
    dials = list(zip(explorer.controls, widgets, strict=True))
    moves = [(dial, 0) for dial in dials] + [(dial, -1) for dial in reversed(dials)]
    for (control, widget), end in moves:
        state[control.name] = widget.value = control.values[end]
        assert escape(seen.view(**state).describe()) in sentence.value
    assert (figure.value, sentence.value) != start
    reset.click()
    assert (figure.value, sentence.value) == start


def assert_page_holds(explorer: Explorer[Any], name: str, *values: Any) -> None:
    """Build the page for some values of one control; it must say what the view says of each."""
    seen = replace(explorer, view=lru_cache(explorer.view))
    controls = [
        replace(control, book=values if control.name == name else (control.default,))
        for control in explorer.controls
    ]
    page = explorer_page(replace(seen, controls=controls))
    for value in values:
        said = seen.view(**seen.state(**{name: value})).describe()
        assert said in page or escape(said) in page
