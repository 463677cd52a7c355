"""A round of patients: what the model said, and what came of it. Lesson 13."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from calibkit.plot import look

FloatVector = NDArray[np.float64]


class Patients(Protocol):
    """What `patients` draws; `calibkit.explore.ward_round_view` returns one."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the patients."""

    @property
    def said(self) -> FloatVector:
        """Confidence of the model in each diagnosis."""

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each diagnosis was right."""

    @property
    def threshold(self) -> float:
        """Probability from which on treating is worth it."""


def patients(
    dealt: Patients, ax: Axes | None = None, *, revealed: bool = True, title: str | None = None
) -> Axes:
    """Draw the confidence in each patient's diagnosis, and whether it was right."""
    places, right = np.arange(len(dealt.names)), np.asarray(dealt.right)
    with look.style():
        ax, _ = look.axes_or_new(ax, (4.6, 0.8 + 0.32 * len(places)))
        look.dress(ax, grid="x")
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
        if revealed:
            _draw_marks(ax, dealt.said, places, right, True)
            _draw_marks(ax, dealt.said, places, ~right, False)
        else:
            _draw_hidden(ax, dealt.said, places)
        _write_numbers(ax, dealt.said)
        ax.set_xlabel("confidence of the model", fontsize=look.FONT_SIZE)
        if title is not None:
            ax.set_title(title)
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


def _words(dealt: Patients, revealed: bool) -> str:
    parts = []
    for name, said, right in zip(dealt.names, dealt.said, dealt.right, strict=True):
        outcome = f", {'right' if right else 'wrong'}" if revealed else ""
        parts.append(f"{name} {100 * said:.0f} %{outcome}")
    return (
        f"Confidence of the model in each diagnosis: {'; '.join(parts)}. Treating is worth it "
        f"from {100 * dealt.threshold:.3g} % on."
    )


def _draw_hidden(ax: Axes, said: FloatVector, places: NDArray[np.int64]) -> None:
    ax.plot(
        said,
        places,
        linestyle="none",
        marker="o",
        markersize=8,
        markerfacecolor="white",
        markeredgecolor=look.INK,
        zorder=3,
        label="not yet known",
        gid="hidden",
    )


def _draw_marks(
    ax: Axes, said: FloatVector, places: NDArray[np.int64], rows: NDArray[np.bool_], right: bool
) -> None:
    if not rows.any():
        return
    ax.plot(
        said[rows],
        places[rows],
        linestyle="none",
        marker="o" if right else "X",
        markersize=8,
        markerfacecolor=look.UNDER if right else look.OVER,
        markeredgecolor="white",
        zorder=3,
        label="diagnosis was right" if right else "diagnosis was wrong",
        gid="right" if right else "wrong",
    )
