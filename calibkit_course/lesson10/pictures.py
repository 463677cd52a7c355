"""Images, and those that a network gets wrong with the highest confidence. Lesson 10.

Source: the hands-on session of Galdran and Riera.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from calibkit.plot import look
from calibkit.plot.look import AnyFigure

_ACROSS = 5


def surest_mistakes(prob: Any, labels: Any, count: int = 10) -> NDArray[np.intp]:
    """Return the rows of the wrong answers with the highest confidence, the surest first."""
    table = np.asarray(prob, dtype=np.float64)
    wrong = np.flatnonzero(table.argmax(axis=1) != np.asarray(labels))
    order = np.argsort(-table[wrong].max(axis=1), kind="stable")
    return wrong[order[:count]]


def gallery(images: Any, labels: Any, prob: Any | None = None, count: int = 10) -> AnyFigure:
    """Show the first images, or where `prob` is given, the wrong answers it is surest of."""
    rows = np.arange(count) if prob is None else surest_mistakes(prob, labels, count)
    deep = -(-len(rows) // _ACROSS)
    words = []
    with look.style():
        figure, axes = plt.subplots(
            deep, _ACROSS, figsize=(8.4, 2.2 * deep + 0.2), layout="constrained", squeeze=False
        )
        for ax in axes.flat:
            ax.set_axis_off()
        for ax, row in zip(axes.flat, rows, strict=False):
            ax.imshow(images[row], cmap="gray_r", vmin=-0.5, vmax=1.5, gid="image")
            title = f"a {labels[row]}"
            if prob is not None:
                said = int(np.argmax(prob[row]))
                title = f"says {said}: {prob[row][said]:.4f}\nis a {labels[row]}"
            ax.set_title(title, fontsize=look.FONT_SIZE)
            words.append(title.replace("\n", ", "))
    look.remember(axes[0, 0], [f"{len(rows)} images of digits.", "; ".join(words) + "."])
    return figure
