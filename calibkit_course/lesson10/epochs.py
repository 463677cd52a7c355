"""What happened while a network was trained, and how sure it is at an epoch. Lesson 10.

Sources: Guo, Pleiss, Sun and Weinberger (2017), figure 3; hands-on session of Galdran and Riera.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit import plot
from calibkit.errors import CalibrationError, expected_calibration_error
from calibkit.inputs import as_choice
from calibkit.plot import look
from calibkit.reliability import BinTable, reliability_table
from calibkit.scores import log_loss
from calibkit_course.lesson10.nets import TrainingHistory

_BINS = 15
# What an axis says of each quantity.
_LABELS = {"accuracy": "accuracy", "log loss": "log loss", "calibration error": "ECE"}


def over_epochs(
    history: TrainingHistory,
    ax: Axes | None = None,
    *,
    quantity: str = "log loss",
    scaled: bool = True,
) -> Axes:
    """Draw one quantity of a training against the epochs, measured on validation data.

    The log loss comes as trained and, if `scaled`, after temperature scaling, each with its lowest
    point, and beside them that of the training images, while the weights moved. The others are
    "accuracy" and "calibration error".
    """
    as_choice(quantity, "quantity", _LABELS)
    pair = quantity == "log loss"  # the others come in one line, without a legend
    names = ("log_loss", "refined_log_loss") if pair and scaled else (quantity.replace(" ", "_"),)
    values = [np.asarray(getattr(history, name), dtype=np.float64) for name in names]
    epoch = np.asarray(history.epoch)
    with look.drawing(ax, (4.6, 3.2), legend=None if pair else False) as ax:
        if pair:
            _draw_losses(ax, epoch, values)
            own = look.stroke(look.GREY, 1.8, ":", label="on the training images", gid="own")
            ax.plot(epoch, history.train_loss, **own)
        else:
            ax.plot(epoch, values[0], color=look.INK, linewidth=2.0, gid="values")
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
    for (label, color, dashes, gid), up in zip(codes, losses, strict=False):
        least = int(up.argmin())
        ax.plot(epoch, up, color=color, linestyle=dashes, linewidth=2.0, label=label, gid=gid)
        code = {"markersize": 8, "markeredgewidth": 1.8, "gid": f"least-{gid}", "zorder": 2}
        label = f"its lowest point: epoch {epoch[least]}"
        look.points(ax, epoch[least], up[least], "white", color, label=label, **code)


def confidence_error(y_true: Any, y_prob: Any) -> CalibrationError:
    """Return the ECE of the confidence, 15 bins of equal width, with its null level."""
    return expected_calibration_error(y_true, y_prob, view="top-label", bins=_BINS)


def diagram(y_true: Any, y_prob: Any, ax: Axes | None = None, *, title: str = "") -> Axes:
    """Draw the reliability diagram of the confidence, with ECE and log loss above it."""
    table = reliability_table(y_true, y_prob, view="top-label", bins=_BINS)
    error, loss = confidence_error(y_true, y_prob), log_loss(y_true, y_prob)
    said = f"ECE {error.value:.3f}, log loss {loss.value:.2f}"
    return plot.reliability(table, ax=ax, title=f"{title}: {said}" if title else said)


def confidences(table: BinTable, ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw the share of answers in each bin of their confidence: the wrong ones below."""
    names = ("wrong", "right")
    share = table.count / table.n
    low = share * (1 - np.nan_to_num(table.frequency, nan=1.0))
    left, right = table.edges[:-1], table.edges[1:]
    words = ("confidence", "share of predictions")
    with look.drawing(ax, (4.0, 3.2), words=words, title=title) as ax:
        pieces = ((np.zeros_like(low), low, "over"), (low, share, "under"))
        for name, (foot, top, sign) in zip(names, pieces, strict=True):
            code = {**look.AREAS[sign], "linewidth": 0.8, "label": name, "gid": f"{sign}-share"}
            look.boxes(ax, (left, right), (foot, top), **code)
        ax.set(xlim=(left[0], right[-1]), ylim=(0, 1.05 * float(share.max())))
    said = f"Above {left[-1]:.2f} lie {share[-1]:.2f} of them; {low[-1]:.2f} are wrong."
    look.remember(ax, [f"Confidence of {table.n:,} predictions.", said])
    return ax
