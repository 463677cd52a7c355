"""Two patients: what bins and joined pieces say of them, drawn again and again. Lesson 07."""

from typing import Any

from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Explorer, Slider
from calibkit_course.lesson07.figures import draw_map
from calibkit_course.lesson07.view import FAKE, PATIENTS, TwoPatients, two_patients_view

DRAWS = tuple(range(1, 13))
_MARKS = {"markersize": 7, "markeredgewidth": 1.6, "gid": "patients"}
_FILLED = ("white", look.OVER)  # 0.66, and 0.67, who is in greater danger


def _draw(view: TwoPatients, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2)
    for ax, (name, model), means in zip(axes, view.maps.items(), view.means, strict=True):
        title = f"{name}: {means[0]:.2f}, {means[1]:.2f}"
        draw_map(model, ax, truth=FAKE.true_map, show={"truth"}, title=title)
        for stated, meant, fill in zip(PATIENTS, means, _FILLED, strict=True):
            code = {**_MARKS, "label": f"stated {stated:.2f}"}
            look.points(ax, [stated], [meant], fill, look.OVER, zorder=5, **code)


_CONTROLS = (
    Slider("drawn", "Draw", DRAWS, default=1, book=DRAWS),
    Slider("n", "Sample size", (300, 1000, 3000), default=1000, book=(1000,), unit="predictions"),
    Slider("n_bins", "Bins", (5, 15, 30), default=15, book=(15,), unit="bins"),
    Slider("n_pieces", "Pieces", (1, 2, 3, 6), default=2, book=(2,), unit="pieces"),
)


def two_patients(**defaults: Any) -> Explorer[TwoPatients]:
    """Return the explorer *two patients*: the same fit on one sample after another."""
    return Explorer(
        name="two-patients",
        title="Two patients",
        controls=_CONTROLS,
        view=two_patients_view,
        draw=_draw,
        play="drawn",
        presets=tuple((f"draw {k}", {"drawn": k}) for k in (1, 2, 3, 4)),
        size=(8.2, 4.4),
        cell=(6.6, 3.3),
    ).starting_at(**defaults)
