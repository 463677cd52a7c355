"""Maps of several families, fitted to the same test set, on one Axes."""

from typing import Any

from matplotlib.axes import Axes

from calibkit.fit_on_test import EvaluatorComparison
from calibkit.plot import frames, look
from calibkit_course import logit_axes

# Colour and line style: each map can be told by either.
_CODES: tuple[tuple[str, Any], ...] = (
    (look.UNDER, "solid"),
    (look.OVER, (0, (5, 2))),
    (look.INK, (0, (1.2, 1.2))),
    ("#A0527A", (0, (7, 1.5, 1.2, 1.5, 1.2, 1.5))),
    ("#8A6D00", (0, (3, 1))),
    (look.SKY, "solid"),
    (look.GREY, (0, (2.5, 1, 1, 1))),
    ("#6B4C9A", (0, (9, 2))),
)


def compare_maps(
    compared: EvaluatorComparison,
    ax: Axes | None = None,
    *,
    truth: look.Truth | None = None,
    scale: str = "linear",
    title: str | None = None,
) -> Axes:
    """Draw up to eight maps of one test set; the legend has each with its estimate.

    Each map has its own colour and its own line style.
    """
    logit_axes.check_scale(scale)
    named = dict(zip(compared.names, compared.results, strict=True))
    if len(named) > len(_CODES):
        raise ValueError(f"{len(named)} maps cannot be told apart; pass 1 to {len(_CODES)}.")
    with look.drawing(ax, (4.6, 4.4), title=title, room=2.8) as ax:
        logit_axes.frame(ax, frames.axis_words(compared.results[0].view), scale)
        for (name, result), (color, dashes) in zip(named.items(), _CODES, strict=False):
            code = {"color": color, "linestyle": dashes, "linewidth": 1.8, "zorder": 3}
            label = f"{name}: {result.value:.3f}"
            line = logit_axes.fitted_line(
                result.line_x, result.line_y, result.evaluator.curve, scale
            )
            ax.plot(*line, label=label, gid=f"map {name}", **code)
        if truth is not None:
            logit_axes.draw_truth(ax, truth, scale)
    axes = "" if scale == "linear" else " on logit axes"
    values = ", ".join(f"{name} {result.value:.3f}" for name, result in named.items())
    drawn = f"{' and the true map' if truth is not None else ''}{axes}"
    look.remember(ax, [f"Maps of {len(named)} families{drawn}, with their estimates: {values}."])
    return ax
