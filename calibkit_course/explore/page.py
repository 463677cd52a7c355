"""The shells for a page without a kernel: pictures rendered beforehand, switched by one script.

The script is ``explorer.js``, the looks are ``explorer.css``, both beside this file. Each state is
drawn twice: wide, and narrow for a telephone, with its panels below each other. Without the
script the page still shows the default state, its sentence and its alternative text. Where a site
carries Python, `live_controls`, `live_state` and `live_draw` give the same page all other states.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from itertools import product
from math import prod
from typing import Any

from calibkit_course.explore._controls import Choice, Control, Slider
from calibkit_course.explore._explorer import Explorer
from calibkit_course.explore._image import Picture
from calibkit_course.explore._quiz import Quiz, points_table

FORMS = "wide", "narrow"
NARROW = "screen and (max-width: 48rem)"  # as in explorer.js and book.css
Pictures = dict[str, Picture]  # of one state, by form


def explorer_page(explorer: Explorer[Any]) -> str:
    """Return the twin of an explorer: default state as plain HTML, the others as data."""
    html, places = _controls(explorer.controls, explorer.play)
    states = list(explorer.states())
    results = [explorer.view(**state) for state in states]
    pictures = _drawn([partial(explorer.picture, result) for result in results])
    told = [_told(*pair) for pair in zip(results, pictures, strict=True)]
    data = {**places, "start": explorer.default, "states": told}
    first = states.index(explorer.default)
    return _block(
        "ck-explorer",
        explorer,
        f'<div class="ck-controls" hidden>{html}</div>'
        f"{_image(pictures[first])}{_status(told[first]['text'])}{_note(explorer)}{_data(data)}",
    )


def live_controls(explorer: Explorer[Any]) -> dict[str, Any]:
    """Return the controls with every value that they take: their HTML, texts and starts."""
    every = [replace(control, book=control.values) for control in explorer.controls]
    html, places = _controls(every, explorer.play)
    return {"html": html, **places}


def live_state(explorer: Explorer[Any], places: Sequence[int], form: str) -> dict[str, str]:
    """Return one state, by the places of its values among all that the controls take."""
    movable = [control for control in explorer.controls if len(control.values) > 1]
    values = {c.name: c.values[place] for c, place in zip(movable, places, strict=True)}
    result = explorer.view(**explorer.state(**values))
    (pictures,) = _drawn([partial(explorer.picture, result)], (form,))
    return _told(result, pictures)


def live_draw(quiz: Quiz[Any], step: int, form: str) -> dict[str, Any]:
    """Return one draw of a quiz, so many after its first, and how it looks before and after."""
    draw = quiz.first + step
    pictures = _asked_and_revealed(quiz, [draw], (form,))
    return {**_draw(quiz, draw), "states": list(map(_as_text, pictures))}


def quiz_page(quiz: Quiz[Any]) -> str:
    """Return the twin of a quiz: some draws, each as asked and as revealed."""
    draws = [quiz.first + step for step in range(quiz.n_book)]
    pictures = _asked_and_revealed(quiz, draws)
    data = {
        "question": quiz.question,
        "score": quiz.score_form,
        "draws": [_draw(quiz, draw) for draw in draws],
        "states": list(map(_as_text, pictures)),
    }
    ticks = "".join(_tick(quiz.tick_label(option)) for option in quiz.options)
    buttons = _button("reveal", "Reveal") + _button("again", "New draw")
    return _block(
        "ck-quiz",
        quiz,
        f"{_image(pictures[0])}"
        f'<div class="ck-controls" hidden>{ticks}{buttons}</div>'
        f"{_status(quiz.question)}{_tally(quiz, draws)}{_data(data)}",
    )


def still(picture: Picture, text: str) -> str:
    """Return one state without controls, for a notebook without ipywidgets."""
    return f'<div class="ck-frame">{_img(picture)}</div>{_status(text)}'


def _draw(quiz: Quiz[Any], draw: int) -> dict[str, Any]:
    """Return one draw: per option the line for unticked and for ticked, and what is right."""
    n = len(quiz.options)
    none, every = quiz.answer(draw, [False] * n), quiz.answer(draw, [True] * n)
    return {
        "lines": [list(pair) for pair in zip(none.lines, every.lines, strict=True)],
        "right": [int(is_right) for is_right in every.hits],
        **({"points": quiz.points(draw)} if quiz.players else {}),
    }


def _asked_and_revealed(
    quiz: Quiz[Any], draws: Sequence[int], forms: Sequence[str] = FORMS
) -> list[Pictures]:
    every = product(draws, (False, True))
    return _drawn([partial(quiz.picture, draw, revealed=shown) for draw, shown in every], forms)


def _drawn(draws: Sequence[Callable[..., Picture]], forms: Sequence[str] = FORMS) -> list[Pictures]:
    """Draw states by form, all as tall as the tallest, so that nothing below them jumps."""
    found: list[Pictures] = [{} for _ in draws]
    for form in forms:
        pictures = [draw(narrow=form == "narrow") for draw in draws]
        tallest = max(picture.height for picture in pictures)
        for state, picture in zip(found, pictures, strict=True):
            state[form] = picture.as_tall(tallest)
    return found


def _told(result: Any, pictures: Pictures) -> dict[str, str]:
    return {**_as_text(pictures), "text": result.describe()}


def _as_text(pictures: Pictures) -> dict[str, str]:
    alt = next(iter(pictures.values())).alt
    return {form: picture.svg for form, picture in pictures.items()} | {"alt": alt}


def address_of(shown: Explorer[Any] | Quiz[Any]) -> str:
    """Return where Python in a page finds it again: the lesson of its view, and its name."""
    return f"{shown.view.__module__.split('.')[-2:][0]}:{shown.name}"


def _block(kind: str, shown: Explorer[Any] | Quiz[Any], content: str) -> str:
    return (
        f'<div class="{kind}" role="group" aria-label="{escape(shown.title)}" '
        f'data-explorer="{address_of(shown)}">{content}</div>'
    )


def _controls(controls: Sequence[Control], play: str) -> tuple[str, dict[str, Any]]:
    """Return the HTML of what can be moved, the texts of all values, and the places at first."""
    movable = [control for control in controls if len(control.book) > 1]
    names = [control.name for control in movable]
    inputs = [_input(control) for control in movable]
    key = _play_key(movable[names.index(play)], names.index(play)) if play in names else ""
    return "".join(inputs[:1]) + key + _button("reset", "Reset") + _folded(inputs[1:]), {
        "names": names,
        "texts": [[control.text(value) for value in control.book] for control in movable],
        "starts": [control.book.index(control.default) for control in movable],
    }


def _folded(inputs: Sequence[str]) -> str:
    if not inputs:
        return ""
    inside = f'<div class="ck-more-controls">{"".join(inputs)}</div>'
    return f'<details class="ck-more"><summary>More controls</summary>{inside}</details>'


def _play_key(control: Control, place: int) -> str:
    label = escape(control.label)
    return (
        f'<button type="button" class="ck-button" data-role="play" data-place="{place}" '
        f'data-label="{label}" aria-label="Play: {label}">▶ Play</button>'
    )


def _input(control: Control) -> str:
    start = control.book.index(control.default)
    texts: Sequence[str] = [control.text(value) for value in control.book]
    match control:
        case Slider():
            return (
                f'<div class="ck-control"><label>{escape(control.label)} '
                f'<input type="range" min="0" max="{len(texts) - 1}" step="1" value="{start}" '
                f'autocomplete="off" aria-valuetext="{escape(texts[start])}"></label> '
                f'<span class="ck-value" aria-hidden="true">{escape(texts[start])}</span></div>'
            )
        case Choice():
            options = "".join(
                f"<option{' selected' if i == start else ''}>{escape(text)}</option>"
                for i, text in enumerate(texts)
            )
            return (
                f'<div class="ck-control"><label>{escape(control.label)} '
                f'<select autocomplete="off">{options}</select></label></div>'
            )
    raise TypeError(f"there is no HTML for {type(control).__name__}.")


def _tick(label: str) -> str:
    return (
        '<div class="ck-control"><label><input type="checkbox" autocomplete="off"> '
        f"{escape(label)}</label></div>"
    )


def _button(role: str, label: str) -> str:
    return f'<button type="button" class="ck-button" data-role="{role}">{label}</button>'


def _image(pictures: Pictures) -> str:
    narrow = pictures["narrow"]
    return (
        f'<div class="ck-frame"><picture><source media="{NARROW}" srcset="{narrow.source}" '
        f'width="{narrow.width}" height="{narrow.height}">{_img(pictures["wide"])}</picture></div>'
    )


def _img(picture: Picture) -> str:
    return (
        f'<img class="ck-figure" src="{picture.source}" alt="{escape(picture.alt)}" '
        f'width="{picture.width}" height="{picture.height}">'
    )


def _status(text: str) -> str:
    return f'<p class="ck-readout" aria-live="polite">{escape(text)}</p>'


def _tally(quiz: Quiz[Any], draws: Sequence[int]) -> str:
    """Return the table of the players' points, hidden until there are some."""
    best = [max(tick[0] for tick in panel) for draw in draws for panel in quiz.points(draw)]
    return points_table(quiz.players, [0.0] * len(quiz.players), sum(best), hidden=True)


def _note(explorer: Explorer[Any]) -> str:
    every = prod(len(control.values) for control in explorer.controls)
    fixed = [
        f"{control.label.lower()}: {control.text(control.default)}"
        for control in explorer.controls
        if len(control.book) == 1
    ]
    rest = f" Fixed here: {'; '.join(fixed)}." if fixed else ""
    if explorer.n_states == every:
        return f'<p class="ck-note" data-all>This page holds all {every:,} states.</p>'
    return (
        f'<p class="ck-note">This page holds {explorer.n_states} of {every:,} states.'
        f"{escape(rest)} In JupyterLab the same controls reach all of them.</p>"
    )


def _data(data: dict[str, Any]) -> str:
    # "</" would end the script element early, and "<!--" hide its end, wherever they stand.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    text = text.replace("<!--", "\\u003c!--")
    return f'<script type="application/json">{text}</script>'
