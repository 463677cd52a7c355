"""How sure the answers are, and which of them are right. Lesson 10."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import look

if TYPE_CHECKING:
    from calibkit.reliability import BinTable


def confidences(
    table: "BinTable",
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the share of predictions in each bin: those whose event did not happen, below.

    With the view ``"top-label"`` these are the wrong and the right answers by their confidence.

    Parameters
    ----------
    table : BinTable
        From `reliability_table`, with bins of equal width.
    ax, title, legend : optional
        Where to draw (default: a fresh figure with a legend), title, whether with a legend.

    Notes
    -----
    The hands-on session of Galdran and Riera. Used in lesson 10.

    Examples
    --------
    >>> import calibkit as ck
    >>> ax = confidences(ck.reliability_table([0, 1, 1, 1], [0.2, 0.7, 0.9, 0.9], bins=10))
    >>> ax.get_ylabel()
    'share of predictions'
    """
    answers = table.view.startswith("top-label")
    across = "confidence" if answers else "prediction"
    names = ("wrong", "right") if answers else ("did not happen", "happened")
    share = table.count / table.n
    low = share * (1 - np.nan_to_num(table.frequency, nan=1.0))
    left, right = table.edges[:-1], table.edges[1:]
    with look.drawing(
        ax, (4.0, 3.2), words=(across, "share of predictions"), title=title, legend=legend
    ) as ax:
        pieces = ((np.zeros_like(low), low, "over"), (low, share, "under"))
        for name, (foot, top, sign) in zip(names, pieces, strict=True):
            code = {**look.AREAS[sign], "linewidth": 0.8, "label": name, "gid": f"{sign}-share"}
            look.boxes(ax, (left, right), (foot, top), **code)
        ax.set(xlim=(left[0], right[-1]), ylim=(0, 1.05 * float(share.max())))
    words = (
        f"{across.capitalize()} of {table.n:,} predictions.",
        f"Above {left[-1]:.2f} lie {share[-1]:.2f} of them; {low[-1]:.2f} are {names[0]}.",
    )
    look.remember(ax, words)
    return ax
