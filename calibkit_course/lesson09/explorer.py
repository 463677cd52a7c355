"""The prevalence dial: one model, made for one share of events and used at another. Lesson 09."""

from typing import Any

from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson09 import figures
from calibkit_course.lesson09.view import REPAIRS, PrevalenceView, prevalence_dial_view

# The axes stay where they are while a dial moves the picture, as long as the points are rare.
_RARE_ENDS, _USUAL_ENDS, _ENDS = (0.001, 0.2), (0.003, 1.0), (0.0005, 1.0)
_SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def _draw(view: PrevalenceView, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2, width_ratios=(1.15, 1))
    titles = "Ten equal-mass bins", "Four measures of the same"
    first, second = (None, None) if compact else titles
    rare = max(view.table.mean_prob.max(), view.table.frequency.max()) < _RARE_ENDS[1]
    least = min(view.table.mean_prob.min(), view.table.frequency.min())
    ends = _RARE_ENDS if rare else _USUAL_ENDS if least > _USUAL_ENDS[0] else _ENDS
    figures.rare_events(
        view.table,
        axes[0],
        ends=ends,
        band=view.band,
        truth=view.true_map,
        title=first,
        legend=False,
    )
    figures.measures(view, axes[1], title=second, legend=False)


def _shares(name: str, label: str, default: float, book: tuple[float, ...]) -> Slider:
    """Return a slider over prevalences, written in per cent."""
    return Slider(
        name=name,
        label=label,
        values=_SHARES,
        default=default,
        book=book,
        form="{:.1%}",
        unit="events",
    )


_CONTROLS = (
    _shares("made_for", "Made for", 0.01, (0.5, 0.01)),
    _shares("used_at", "Used at", 0.02, (0.5, 0.1, 0.02, 0.01)),
    Slider(
        name="signal",
        label="Distance of the classes",
        values=(0.25, 0.5, 1.0, 2.0, 3.0),
        default=0.5,
        book=(0.5, 2.0),
        unit="standard deviations",
        form="{:g}",
    ),
    Slider(
        name="n",
        label="Sample size",
        values=(1000, 2000, 6000, 10000),
        default=6000,
        unit="predictions",
    ),
    Choice(
        name="repair",
        label="Repair",
        values=tuple(REPAIRS),
        default="none",
        book=tuple(REPAIRS),
        texts=REPAIRS,
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("made for 1 %, used at 2 %", {}),
    ("the same, shifted to 2 %", {"repair": "known"}),
    ("the same, shifted to the estimate", {"repair": "estimated"}),
    ("made for 50 %, used at 2 %", {"made_for": 0.5}),
)


def prevalence_dial(**defaults: Any) -> Explorer[PrevalenceView]:
    """Return the explorer *prevalence dial*: turn the share of events, watch four measures."""
    return Explorer(
        name="prevalence-dial",
        title="Prevalence dial",
        controls=_CONTROLS,
        view=prevalence_dial_view,
        draw=_draw,
        presets=_PRESETS,
        size=(8.0, 4.6),
        cell=(7.6, 3.8),
    ).starting_at(**defaults)
