"""A training, epoch by epoch. Lesson 10.

Source: Guo, Pleiss, Sun and Weinberger (2017) section 3.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import look

if TYPE_CHECKING:
    from calibkit.nets import TrainingHistory

QUANTITIES = ("accuracy", "log loss", "calibration error", "temperature")
_LABELS = {
    "accuracy": "accuracy",
    "log loss": "log loss",
    "calibration error": "ECE",
    "temperature": "best temperature",
}


def training(
    history: "TrainingHistory",
    ax: Axes | None = None,
    *,
    quantity: str = "log loss",
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw one quantity of a training against the epochs, measured on validation data."""
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity={quantity!r} does not exist; choose one of {QUANTITIES}.")
    if not history.n_validation:
        raise ValueError("the history holds no validation data; call fit(…, validation=(X, y)).")
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.6 if legend is not False else 4.6, 3.2))
        look.dress(ax)
        _draw(ax, history, quantity)
        ax.set_xlabel("epoch", fontsize=look.FONT_SIZE)
        ax.set_ylabel(_LABELS[quantity], fontsize=look.FONT_SIZE)
        if title is not None:
            ax.set_title(title)
        # Only the log loss comes in two lines.
        if quantity == "log loss" and (legend or (legend is None and fresh)):
            look.outside_legend(ax)
    look.remember(ax, _words(history, quantity))
    return ax


def _draw(ax: Axes, history: "TrainingHistory", quantity: str) -> None:
    epoch = np.asarray(history.epoch)
    if quantity == "log loss":
        _line(ax, epoch, history.log_loss, ("as trained", look.OVER, "-", "raw"))
        refined = ("after temperature scaling", look.UNDER, "--", "refined")
        _line(ax, epoch, history.refined_log_loss, refined)
        return
    values = np.asarray(getattr(history, quantity.replace(" ", "_")))
    ax.plot(epoch, values, color=look.INK, linewidth=2.0, gid="values")
    if quantity == "temperature":
        ax.axhline(1, color=look.GREY, linestyle=":", linewidth=1.4, gid="neutral")
        ax.text(epoch[-1], 1.04, "T = 1", ha="right", va="bottom", fontsize=look.FONT_SIZE)
    if quantity != "temperature":
        ax.set_ylim(bottom=0)


def _line(ax: Axes, epoch: Any, values: Any, code: tuple[str, str, str, str]) -> None:
    label, color, dashes, gid = code
    up = np.asarray(values, dtype=np.float64)
    least = int(up.argmin())
    ax.plot(epoch, up, color=color, linestyle=dashes, linewidth=2.0, label=label, gid=gid)
    ax.plot(
        epoch[least],
        up[least],
        marker="o",
        markersize=8,
        markerfacecolor="white",
        markeredgecolor=color,
        markeredgewidth=1.8,
        linestyle="none",
        label=f"its lowest point: epoch {epoch[least]}",
        gid=f"least-{gid}",
    )


def _words(history: "TrainingHistory", quantity: str) -> list[str]:
    names = {"log loss": ("log_loss", "refined_log_loss")}.get(
        quantity, (quantity.replace(" ", "_"),)
    )
    said = [f"{_LABELS[quantity]} on validation data against the epochs.".capitalize()]
    for name in names:
        values = np.asarray(getattr(history, name), dtype=np.float64)
        kind = " after temperature scaling" if name.startswith("refined") else ""
        said.append(
            f"It goes from {values[0]:.2f} to {values[-1]:.2f}{kind}, between {values.min():.2f} "
            f"and {values.max():.2f}."
        )
    return said
