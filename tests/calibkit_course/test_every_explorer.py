"""What holds of every explorer: found in the lessons, so a new one is tried too."""

import gzip
import importlib
import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, get_origin

import numpy as np
import pytest
from matplotlib.figure import Figure

from calibkit import plot
from calibkit_course import lessons
from calibkit_course.explore import Choice, Explorer
from calibkit_course.explore.lab import explorer_box
from tests.drawn import assert_nothing_is_cut_off

SAID = Path(__file__).with_name("explorers.json")
KILOBYTE = 1024
HEAVIEST = 700 * KILOBYTE  # of all pictures that an explorer fetches at once, packed
# What each view must refuse, beside choices that do not exist.
BAD: dict[str, list[dict[str, Any]]] = {
    "forecaster": [{"stated": 1.2}, {"truth": -0.1}, {"days": 0}],
    "distort_me": [{"temperature": 0}, {"temperature": np.inf}, {"bias": np.nan}, {"n": 0}],
    "fake_factory": [{"accuracy": 0.1}, {"n_classes": 1}, {"concentration": 0}],
    "chance_at_work": [{"redraws": value} for value in (-1, 501, 1.5, np.nan)],
    "diagram_lab": [{"n_bins": 0}],
    "two_families": [{"n_bins": 0}, {"n_bins": 2.5}, {"moved": 0.7}, {"moved": -0.7}],
    "bin_tuner": [{"n_bins": 0}, {"n": 0}, {"n": 30}, {"error": -0.1}],
    "two_patients": [{"drawn": 0}, {"n": 2.5}, {"n_bins": 0}, {"n_pieces": 0}],
    "outlier_hunter": [{"n": 39}],
    "prevalence_dial": [{"times": 0.0}, {"times": 100}, {"made_for": 1.0}, {"signal": 0}, {"n": 5}],
    "thermostat": [
        *({"temperature": value} for value in (0, np.inf, np.nan)),
        *({"epoch": value} for value in (0, 39, 41, 1.5)),
        *({"n": value} for value in (49, 99.5, 1501)),
    ],
    "best_by": [{"n": 200}],
    "which_number": [{"n_bins": 4}],
    "simplex_lens": [{"k": 3}, {"n_fit": 0}],
    "six_vectors": [{"share": -0.1}, {"share": 1.1}, {"share": np.nan}],
    "boldness": [{"times": value} for value in (0, -1, np.inf, np.nan)],
    "hospital": [{"harm": 0}, {"beds": 11}, {"rounds": 0}],
    "audit_board": [{"rows": 0}, {"bins": 0}, {"file": "broken file"}],
    "look_every_day": [{"days": 0}, {"days": 1.5}, {"shift": np.nan}],
    "judge_bench": [{"labels": 19}, {"labels": 25.5}],
}
# Dials that change only what is drawn, or only what another choice asks for.
SILENT = {"diagram_lab": "show", "two_families": "tops", "outlier_hunter": "sizes"}
SMALLER = {"outlier_hunter": {"n": 200}, "prevalence_dial": {"n": 1000}}  # quicker to draw


def found() -> Iterator[tuple[str, Callable[..., Explorer[Any]]]]:
    """Go through the functions of all lessons that return an explorer."""
    for number in lessons():
        room = importlib.import_module(f"calibkit_course.lesson{number}")
        for name in sorted(vars(room)):
            item = getattr(room, name)
            result = inspect.signature(item).return_annotation if inspect.isfunction(item) else None
            kind = get_origin(result) or result
            if inspect.isclass(kind) and issubclass(kind, Explorer):
                yield name, item


def limits_of(figure: Figure) -> list[tuple[float, ...]]:
    """Return the ends of both axes of each panel."""
    return [ax.get_xlim() + ax.get_ylim() for ax in figure.axes]


EXPLORERS = dict(found())
by_explorer = pytest.mark.parametrize("name", EXPLORERS)


def test_each_explorer_has_its_bad_values() -> None:
    assert list(BAD) == list(EXPLORERS)


@by_explorer
def test_its_controls_fit_the_book(name: str) -> None:
    """And start where the view does."""
    explorer = EXPLORERS[name]()
    states, start = list(explorer.states()), inspect.signature(explorer.view).parameters
    assert explorer.n_states == len(states) and explorer.default in states
    for control in explorer.controls:
        assert control.label and all(control.text(value) for value in control.values), control.name
        assert control.default == start[control.name].default, control.name


@by_explorer
def test_its_line_is_one_line_and_always_the_same(name: str) -> None:
    (line,) = {repr(EXPLORERS[name]()) for _ in range(2)}
    assert "\n" not in line and " at 0x" not in line


@by_explorer
def test_bad_values_are_named(name: str, subtests: pytest.Subtests) -> None:
    explorer = EXPLORERS[name]()
    choices = [control.name for control in explorer.controls if isinstance(control, Choice)]
    for bad in [*BAD[name], *({choice: "no such"} for choice in choices)]:
        ((key, value),) = bad.items()
        refused = pytest.raises(ValueError, match=rf"\b{key}\b")
        with subtests.test(key, value=value), refused:
            explorer.view(**bad)


def said_of_presets(name: str) -> dict[str, str]:
    explorer = EXPLORERS[name]()
    states = {title: explorer.state(**values) for title, values in explorer.presets}
    return {title: explorer.view(**state).describe() for title, state in states.items()}


@pytest.mark.slow
@by_explorer
def test_its_presets_say_what_is_stored_and_another_seed_something_else(name: str) -> None:
    """Run this file as a program to store them anew, and know why each line has changed."""
    stored = json.loads(SAID.read_text(encoding="utf-8"))
    assert said_of_presets(name) == stored.get(name)
    view = EXPLORERS[name]().view
    words = view().describe()
    assert words.endswith(".") and repr(view()).endswith(f": {words}>")
    if "seed" in inspect.signature(view).parameters:
        assert words != view(seed=99).describe()


@pytest.mark.long
@by_explorer
def test_every_choice_and_both_ends_of_every_slider_change_what_is_said(name, subtests) -> None:
    explorer = EXPLORERS[name]()
    start = explorer.view().describe()
    for control in explorer.controls:
        step = 1 if isinstance(control, Choice) else len(control.values) - 1
        chosen = control.values[::step]
        words = {explorer.view(**{control.name: value}).describe() for value in chosen}
        with subtests.test(control.name):
            assert not any("nan" in said for said in words)
            assert (words == {start}) == (SILENT.get(name) == control.name)


@pytest.mark.long
@by_explorer
def test_its_pictures_say_what_they_show_and_are_light(name: str) -> None:
    explorer = EXPLORERS[name]()
    held = []
    for state in list(explorer.states())[:: explorer.n_states // 2]:
        picture, words = explorer.show(**state)
        assert len(picture.alt.split()) >= 5, state
        assert words == explorer.view(**state).describe(), state
        held.append(picture.svg)
    packed = len(gzip.compress("".join(held).encode()))
    assert packed / len(held) * explorer.n_states <= HEAVIEST


@pytest.mark.slow
@by_explorer
def test_its_narrow_picture_cuts_no_letter_and_moves_no_limit(name: str) -> None:
    explorer, drawn, limits = EXPLORERS[name](), list[Figure](), list[Any]()

    def draw(result: Any, figure: Figure, compact: bool) -> None:
        explorer.draw(result, figure, compact)
        drawn.append(figure)
        limits.append(limits_of(figure))

    first = explorer.controls[0]
    for values in ({first.name: first.values[0]}, {}):
        replace(explorer, draw=draw).picture(explorer.view(**values), narrow=True)
        figure = drawn.pop()
        assert_nothing_is_cut_off(figure.axes[0])
        assert limits_of(figure) == limits.pop()


@pytest.mark.long
def test_what_the_play_key_runs_through_is_worth_watching(subtests: pytest.Subtests) -> None:
    """At least six values say six different things."""
    played = {name: build() for name, build in EXPLORERS.items() if build().play}
    assert len(played) >= 3
    for name, explorer in played.items():
        (control,) = (one for one in explorer.controls if one.name == explorer.play)
        said = [explorer.view(**{control.name: value}).describe() for value in control.book]
        with subtests.test(name):
            assert len(set(said)) >= 6


@pytest.mark.long
@by_explorer
def test_the_static_figure_shows_four_states_and_the_first_one(name: str) -> None:
    explorer = EXPLORERS[name]()
    captions = [caption for caption, _ in explorer.presets]
    assert len(captions) == 4
    assert explorer.default in [explorer.state(**values) for _, values in explorer.presets]
    figure = explorer.static(columns=1)
    titles = [ax.get_title() for ax in figure.get_axes()]
    assert [title for title in titles if title in captions] == captions
    words = plot.alt_text(figure)
    assert all(f"({caption})" in words for caption in captions)
    assert len(figure.legends) == 1


@pytest.mark.long
@by_explorer
def test_the_widgets_reach_both_ends_of_every_dial(name: str) -> None:
    """Move all widgets to their first values, then to their last ones, one by one.

    The second time the first dial, usually the sample size, comes last: this is quicker. After each
    step the sentence is that of the state; at the end *Reset* brings the start back.
    """
    explorer = EXPLORERS[name](**SMALLER.get(name, {}))
    seen = replace(explorer, view=lru_cache(explorer.view))
    row, *more, figure, sentence = explorer_box(seen).children
    first, *_, reset = row.children
    widgets = [first, *(widget for fold in more for widget in fold.children[0].children)]
    start, state = (figure.value, sentence.value), explorer.default
    dials = list(zip(explorer.controls, widgets, strict=True))
    moves = [(dial, 0) for dial in dials] + [(dial, -1) for dial in reversed(dials)]
    for (control, widget), end in moves:
        state[control.name] = widget.value = control.values[end]
        said = seen.view(**state).describe()
        assert escape(said) in sentence.value, state
        assert "nan" not in said, state
    assert (figure.value, sentence.value) != start
    reset.click()
    assert (figure.value, sentence.value) == start


if __name__ == "__main__":
    text = json.dumps(
        {name: said_of_presets(name) for name in EXPLORERS}, indent=1, ensure_ascii=False
    )
    SAID.write_text(text + "\n", encoding="utf-8")
