"""What happened while a network was trained: Guo, Pleiss, Sun and Weinberger (2017), figure 3."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit._validation import as_choice
from calibkit.plot import look

if TYPE_CHECKING:
    from calibkit.lessons.lesson10.nets import TrainingHistory

# What an axis says of each quantity.
_LABELS = {
    "accuracy": "accuracy",
    "log loss": "log loss",
    "calibration error": "ECE",
    "temperature": "best temperature",
}


def over_epochs(
    history: "TrainingHistory", ax: Axes | None = None, *, quantity: str = "log loss"
) -> Axes:
    """Draw one quantity of a training against the epochs, measured on validation data.

    The log loss comes as trained and after temperature scaling, each with its lowest point. The
    others are "accuracy", "calibration error" and "temperature".
    """
    as_choice(quantity, "quantity", _LABELS)
    pair = quantity == "log loss"  # the others come in one line, without a legend
    names = ("log_loss", "refined_log_loss") if pair else (quantity.replace(" ", "_"),)
    values = [np.asarray(getattr(history, name), dtype=np.float64) for name in names]
    epoch = np.asarray(history.epoch)
    with look.drawing(ax, (4.6, 3.2), legend=None if pair else False) as ax:
        if pair:
            _draw_losses(ax, epoch, values)
        else:
            ax.plot(epoch, values[0], color=look.INK, linewidth=2.0, gid="values")
        if quantity == "temperature":
            ax.axhline(1, color=look.GREY, linestyle=":", linewidth=1.4, gid="neutral")
            ax.text(epoch[-1], 1.04, "T = 1", ha="right", va="bottom", fontsize=look.FONT_SIZE)
        elif not pair:
            ax.set_ylim(bottom=0)
        ax.set_xlabel("epoch", fontsize=look.FONT_SIZE)
        ax.set_ylabel(_LABELS[quantity], fontsize=look.FONT_SIZE)
    said = [f"{_LABELS[quantity]} on validation data against the epochs.".capitalize()]
    for kind, line in zip(("", " after temperature scaling"), values, strict=False):
        said.append(
            f"It goes from {line[0]:.2f} to {line[-1]:.2f}{kind}, between {line.min():.2f} and "
            f"{line.max():.2f}."
        )
    look.remember(ax, said)
    return ax


def _draw_losses(ax: Axes, epoch: NDArray[np.int64], losses: list[NDArray[np.float64]]) -> None:
    codes = (
        ("as trained", look.OVER, "-", "raw"),
        ("after temperature scaling", look.UNDER, "--", "refined"),
    )
    for (label, color, dashes, gid), up in zip(codes, losses, strict=True):
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
