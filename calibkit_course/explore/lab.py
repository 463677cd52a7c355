"""The shells for JupyterLab, built of ipywidgets.

The figure is the ``value`` of an HTML widget, an ``<img>`` with its alternative text. Neither
`interact` nor `Output` is used: both need a front end, so a notebook that uses them cannot be
run and compared without one.
"""

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as widgets

from calibkit_course.explore._controls import Choice, Control, Slider
from calibkit_course.explore._explorer import Explorer
from calibkit_course.explore._image import Picture
from calibkit_course.explore._quiz import Quiz, Tally

_LABEL = {"description_width": "initial"}
_FRAME = 400  # milliseconds, in which any explorer is drawn on a slow machine


def explorer_box(explorer: Explorer[Any]) -> Any:
    """Build controls, figure and sentence; every change of a control redraws once."""
    inputs = {control.name: _input(control) for control in explorer.controls}
    figure, sentence = widgets.HTML(), widgets.HTML()
    paused = False

    def redraw(_: Any = None) -> None:
        if paused:
            return
        picture, text = explorer.show(**{name: box.value for name, box in inputs.items()})
        figure.value, sentence.value = image(picture), status(text)

    def reset(_: Any) -> None:
        nonlocal paused
        paused = True
        for control in explorer.controls:
            inputs[control.name].value = control.default
        paused = False
        redraw()

    for box in inputs.values():
        box.observe(redraw, names="value")
    redraw()
    first, *others = inputs.values()
    keys = [_play_key(inputs, explorer.play)] if explorer.play else []
    row = widgets.Box([first, *keys, _button("Reset", reset)], layout=_row("0 1.5em"))
    return widgets.VBox([row, *_folded(others), figure, sentence])


def _play_key(inputs: dict[str, Any], name: str) -> Any:
    """Return the key that runs one control through its values; moving another one stops it."""
    box = inputs[name]
    key = widgets.Play(max=len(box.options) - 1, value=box.index, interval=_FRAME, repeat=True)
    key.show_repeat = False
    widgets.link((key, "value"), (box, "index"))
    for other in inputs.values():
        if other is not box:
            other.observe(lambda _: setattr(key, "playing", False), names="value")
    return key


def _folded(boxes: list[Any]) -> list[Any]:
    inside = widgets.Box(boxes, layout=_row("0 1.5em"))
    return [widgets.Accordion([inside], titles=["More controls"])] if boxes else []


def _row(gap: str) -> Any:
    return widgets.Layout(flex_flow="row wrap", grid_gap=gap)


def quiz_box(quiz: Quiz[Any]) -> Any:
    """Build figure, one box per option, the two buttons, and the spoken score."""
    figure, feedback = widgets.HTML(), widgets.HTML()
    boxes = [_tick(quiz.tick_label(option)) for option in quiz.options]
    draw, right, seen = quiz.first, 0, 0
    tally = Tally(quiz)

    def deal() -> None:
        figure.value = image(quiz.picture(draw, revealed=False))
        score = [quiz.score(right, seen)] if seen else []
        feedback.value = status(quiz.question, *score) + tally.html()
        for box in boxes:
            box.value, box.disabled = False, False
        reveal_button.disabled = False

    def reveal(_: Any) -> None:
        nonlocal right, seen
        answer = quiz.answer(draw, [box.value for box in boxes])
        right, seen = right + answer.right, seen + len(boxes)
        tally.add(answer.points)
        figure.value = image(quiz.picture(draw, revealed=True))
        feedback.value = status(*answer.lines, quiz.score(right, seen)) + tally.html()
        for box in boxes:
            box.disabled = True
        reveal_button.disabled = True
        again_button.focus()

    def again(_: Any) -> None:
        nonlocal draw
        draw += 1
        deal()

    reveal_button = _button("Reveal", reveal)
    again_button = _button("New draw", again)
    buttons = widgets.HBox([reveal_button, again_button])
    ticks = widgets.Box(boxes, layout=_row("0 1em"))
    deal()
    return widgets.VBox([figure, ticks, buttons, feedback])


def image(picture: Picture) -> str:
    """Return the ``<img>`` of a picture."""
    return (
        f'<img src="{picture.source}" alt="{escape(picture.alt)}" width="{picture.width}"'
        f' height="{picture.height}" style="max-width: 100%; height: auto; background: white">'
    )


def status(*lines: str) -> str:
    """Return lines of text that assistive technology reads when they change."""
    return f'<div role="status" style="line-height: 1.45">{"<br>".join(map(escape, lines))}</div>'


def _input(control: Control) -> Any:
    options = [(control.text(value), value) for value in control.values]
    match control:
        case Slider():
            return widgets.SelectionSlider(
                options=options,
                value=control.default,
                description=control.label,
                continuous_update=False,
                style=_LABEL,
                layout=widgets.Layout(width=_slider_width(control)),
            )
        case Choice():
            return widgets.Dropdown(
                options=options,
                value=control.default,
                description=control.label,
                style=_LABEL,
                layout=widgets.Layout(width="max-content"),
            )
    raise TypeError(f"there is no widget for {type(control).__name__}.")


def _slider_width(control: Control) -> str:
    """Return a width at which neither the label nor the longest value is cut off."""
    letters = len(control.label) + max(len(control.text(value)) for value in control.values)
    return f"{13 + 0.62 * letters:.1f}em"


def _tick(label: str) -> Any:
    return widgets.Checkbox(
        value=False, description=label, indent=False, layout=widgets.Layout(width="max-content")
    )


def _button(label: str, action: Callable[[Any], None]) -> Any:
    button = widgets.Button(description=label, layout=widgets.Layout(width="max-content"))
    button.on_click(action)
    return button
