"""A round of patients, what policies won, and what a model must be able to do. Lesson 13.

Source: the review of calibration notions, section 4 (requirements engineering).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from calibkit.decisions import RegretCurve
from calibkit.inputs import FloatVector
from calibkit.plot import look
from calibkit_course.lesson13.needs import RequirementSweep
from calibkit_course.lesson13.real import PolicyValues
from calibkit_course.lesson13.rounds import GamePlay
from calibkit_course.lesson13.view import WardRound

# Of a patient's diagnosis: marker, face, edge, word.
_MARKS = {
    "right": ("o", look.UNDER, "white", "diagnosis was right"),
    "wrong": ("X", look.OVER, "white", "diagnosis was wrong"),
    "hidden": ("o", "white", look.INK, "not yet known"),
}
# Light to dark in one hue family that colour-blind readers can order.
_COLOURS = "cividis"
_STYLES: tuple[Any, ...] = ("solid", (0, (2.6, 1)), (0, (1.2, 0.8)), (0, (2.6, 1, 1, 1)))


def requirements(sweep: RequirementSweep, *, utilities: Any = ()) -> Axes:
    """Draw the value of trusting as a map over accuracy and calibration error."""
    wanted = [float(utility) for utility in utilities]
    if min(sweep.value.shape) < 2 or len(wanted) > len(_STYLES):
        raise ValueError(
            f"a map needs at least two accuracies and two errors, got {sweep.value.shape}, and at "
            f"most {len(_STYLES)} utilities, got {len(wanted)}."
        )
    words = ("calibration error", "accuracy")
    with look.drawing(None, (6.2, 4.6), words=words, legend=False, grid=None) as ax:
        _draw_values(ax, sweep)
        for utility, line in zip(wanted, _STYLES, strict=False):
            _draw_iso_line(ax, sweep, utility, line)
        ax.set_xlim(*_ends(sweep.error))
        ax.set_ylim(*_ends(sweep.accuracy))
    look.legend(ax.figure, columns=3)
    look.remember(ax, _sentences(sweep, wanted))
    return ax


def _ends(axis: Any) -> tuple[float, float]:
    """Return the outer edges of the cells around the first and the last value."""
    values = np.sort(axis)
    first, last = (values[1] - values[0]) / 2, (values[-1] - values[-2]) / 2
    return float(values[0] - first), float(values[-1] + last)


def _draw_values(ax: Axes, sweep: RequirementSweep) -> None:
    ax.set_facecolor("#EFEFEF")
    ax.patch.set_hatch("////")
    ax.patch.set_edgecolor(look.BAND)
    mesh = ax.pcolormesh(
        sweep.error,
        sweep.accuracy,
        np.ma.masked_invalid(sweep.value),
        cmap=_COLOURS,
        shading="nearest",
        gid="values",
    )
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02)
    bar.set_label("value per patient", fontsize=look.FONT_SIZE)
    bar.ax.tick_params(labelsize=look.FONT_SIZE, color=look.GREY, labelcolor=look.INK)
    if not sweep.feasible.all():  # an entry for the legend; the frame itself is hatched
        ax.add_patch(
            Rectangle(
                (float(sweep.error[0]), float(sweep.accuracy[0])),
                0,
                0,
                facecolor="#EFEFEF",
                edgecolor=look.BAND,
                hatch="////",
                label="no such model",
                gid="impossible",
            )
        )


def _draw_iso_line(ax: Axes, sweep: RequirementSweep, utility: float, style: Any) -> None:
    ax.plot(
        sweep.error,
        sweep.iso_line(utility),
        color="white",
        linestyle=style,
        linewidth=2.2,
        path_effects=[withStroke(linewidth=4.0, foreground=look.INK)],
        label=f"worth {utility:g}",
        gid="iso-line",
    )


def _sentences(sweep: RequirementSweep, wanted: list[float]) -> list[str]:
    words = [f"Map of value by accuracy and calibration error. {sweep.describe()}"]
    for utility in wanted:
        line = sweep.iso_line(utility)
        known = np.flatnonzero(~np.isnan(line))
        ends = [f"{line[j]:.3f} at error {sweep.error[j]:.2g}" for j in (*known[:1], *known[-1:])]
        words.append(
            f"A value of {utility:g} needs accuracy {ends[0]} and {ends[1]}."
            if ends
            else f"A value of {utility:g} is out of reach."
        )
    return words


def game_scores(scores: PolicyValues | Mapping[str, GamePlay], ax: Axes | None = None) -> Axes:
    """Draw what policies won as bars, with intervals where they are given."""
    names, values, low, high, unit, words = _scores(scores)
    places = np.arange(len(names))
    size, axis = (5.6, 0.7 + 0.42 * len(names)), (f"won per {unit}", "")
    with look.drawing(ax, size, words=axis, legend=False, grid="x") as ax:
        ax.barh(
            places,
            values,
            height=0.62,
            color=look.PALE,
            edgecolor=[look.UNDER if value >= 0 else look.OVER for value in values],
            hatch=["" if value >= 0 else "////" for value in values],
            linewidth=1.2,
            zorder=2,
            gid="score",
        )
        if not isinstance(scores, Mapping):
            ax.hlines(places, low, high, color=look.INK, linewidth=2.0, zorder=3, gid="interval")
        _write_scores(ax, values, low, high)
        ax.axvline(0, color=look.GREY, linewidth=1.0, zorder=2.5)
        ax.set_yticks(places, names, fontsize=look.FONT_SIZE)
        ax.set_ylim(len(names) - 0.5, -0.5)
    look.remember(ax, ["Bars of what each policy won.", words])
    return ax


def _scores(scores: Any) -> tuple[Any, ...]:
    """Return names, values, ends of intervals, unit and words of either kind of scores."""
    if not isinstance(scores, Mapping):
        ends = scores.low, scores.high
        return scores.policy, scores.value, *ends, scores.unit, scores.describe()
    if not scores:
        raise ValueError("scores is empty; pass at least one play.")
    values = np.array([play.value for play in scores.values()])
    unit = next(iter(scores.values())).unit
    said = "; ".join(f"{n} {v:.2f}" for n, v in zip(scores, values, strict=True))
    return list(scores), values, values, values, unit, f"Won per {unit}: {said}."


def _write_scores(ax: Axes, values: FloatVector, low: FloatVector, high: FloatVector) -> None:
    """Write each number beyond its bar, and make room for it."""
    span = max(float(np.max(high)), 0.0) - min(float(np.min(low)), 0.0) or 1.0
    for place, value in enumerate(values):
        outer = max(float(high[place]), 0.0) if value >= 0 else min(float(low[place]), 0.0)
        ax.annotate(
            f"{value:.2f}",
            (outer, place),
            xytext=(4 if value >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if value >= 0 else "right",
            va="center",
            fontsize=look.FONT_SIZE,
            color=look.INK,
            gid="number",
        )
    below = min(float(np.min(low)), 0.0)
    ax.set_xlim(below - (0.2 * span if below < 0 else 0), max(float(np.max(high)), 0) + 0.2 * span)


def patients(
    dealt: WardRound, ax: Axes | None = None, *, revealed: bool = True, title: str | None = None
) -> Axes:
    """Draw the confidence in each patient's diagnosis, and whether it was right."""
    places, right = np.arange(len(dealt.names)), np.asarray(dealt.right)
    size, axis = (4.6, 0.8 + 0.32 * len(places)), ("confidence of the model", "")
    with look.drawing(ax, size, words=axis, title=title, legend=False, grid="x") as ax:
        ax.set_xlim(0, 1.17)
        ax.set_xticks(np.linspace(0, 1, 6), [f"{tick:.2g}" for tick in np.linspace(0, 1, 6)])
        ax.set_yticks(places, dealt.names, fontsize=look.FONT_SIZE)
        ax.set_ylim(len(places) - 0.5, -0.5)
        ax.hlines(places, 0, dealt.said, color=look.BAND, linewidth=1.4, zorder=2, gid="stem")
        ax.axvline(
            dealt.threshold,
            color=look.INK,
            linestyle=(0, (4, 3)),
            linewidth=1.0,
            label=f"worth it from {dealt.threshold:.2g} on",
            gid="threshold",
        )
        for kind, rows in (("right", right), ("wrong", ~right), ("hidden", right | ~right)):
            if revealed is not (kind == "hidden"):
                _draw_marks(ax, dealt.said, rows, kind)
        _write_numbers(ax, dealt.said)
    look.remember(ax, [_words(dealt, revealed)])
    return ax


def _write_numbers(ax: Axes, confidence: FloatVector) -> None:
    for place, said in enumerate(confidence.tolist()):
        ax.annotate(
            f"{100 * said:.0f} %",
            (said, place),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            fontsize=look.FONT_SIZE,
            color=look.INK,
            path_effects=[withStroke(linewidth=3.0, foreground="white")],
            gid="number",
        )


def _words(dealt: WardRound, revealed: bool) -> str:
    parts = []
    for name, said, right in zip(dealt.names, dealt.said, dealt.right, strict=True):
        outcome = f", {'right' if right else 'wrong'}" if revealed else ""
        parts.append(f"{name} {100 * said:.0f} %{outcome}")
    return (
        f"Confidence of the model in each diagnosis: {'; '.join(parts)}. Treating is worth it "
        f"from {100 * dealt.threshold:.3g} % on."
    )


def _draw_marks(ax: Axes, said: FloatVector, rows: NDArray[np.bool_], kind: str) -> None:
    if rows.any():
        shape, face, edge, label = _MARKS[kind]
        code = look.marker(shape, 8, 1.0, label=label, gid=kind, zorder=3, clip_on=True)
        look.points(ax, said[rows], np.flatnonzero(rows), face, edge, **code)


def draw_regret(curve: RegretCurve, ax: Axes | None = None, *, mark: float) -> Axes:
    """Draw what trusting loses for every ratio of costs, with one threshold marked."""
    words, ticks = ("best threshold t for the costs", "regret per prediction"), np.linspace(0, 1, 6)
    with look.drawing(ax, (4.8, 4.0), words=words, room=2.2) as ax:
        ax.set_xlim(0, 1)
        ax.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
        code = look.stroke(look.TRUTH, 2.0, zorder=3, label="regret", gid="curve")
        ax.plot(curve.threshold, curve.regret, **code)
        ax.set_ylim(0, max(ax.get_ylim()[1], 0.01))
        ax.axvline(mark, gid="mark", **look.stroke(look.INK, 1.0, (0, (4, 3))))
    look.remember(ax, ["What trusting loses, for every ratio of costs.", curve.describe()])
    return ax
