"""What the cells of lesson 04 read and print: made forecasts, real ones, tables."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit.plot import look
from calibkit_course import data

Vector = NDArray[Any]
_GAMES = {"MLB": ("mlb", None), "NBA": ("nba", None), "World Cup": ("world_cup", 0)}


def forecasts(
    bars: Sequence[float], means: Sequence[float], counts: Sequence[int]
) -> tuple[Vector, Vector]:
    """Return labels and predictions of a model with one prediction and one frequency per bin."""
    pairs = zip(counts, bars, strict=True)
    labels = [np.arange(count) < round(count * bar) for count, bar in pairs]
    return np.concatenate(labels), np.repeat(means, counts)


def same_bars() -> dict[str, tuple[Vector, Vector]]:
    """Return labels and predictions of three models with the same five bars."""
    bars, high = [0.1, 0.3, 0.5, 0.7, 0.9], [0.1975, 0.3975, 0.5975, 0.7975, 0.91]
    return {
        "Ann": forecasts(bars, means=bars, counts=5 * [100]),
        "Bob": forecasts(bars, means=high, counts=5 * [100]),
        "Cat": forecasts(bars, means=high, counts=4 * [10] + [1000]),
    }


def digits() -> tuple[dict[str, Vector], Vector]:
    """Return the test probabilities of two models of handwritten digits, and the test labels."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_digits(return_X_y=True)
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=4)
    models = {
        "naive Bayes": GaussianNB(),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    }
    return {k: m.fit(X_fit, y_fit).predict_proba(X_test) for k, m in models.items()}, y_test


def published_games() -> dict[str, tuple[Vector, Vector, int | None]]:
    """Return labels, predictions and view of three published files."""
    files = {name: (data.load(key), view) for name, (key, view) in _GAMES.items()}
    return {f"{k}, {g.n:,} games": (g.y_true, g.y_prob, view) for k, (g, view) in files.items()}


def count_scale(axes: Iterable[Axes], scale: str) -> None:
    """Give the strips of counts below several diagrams the same kind of scale."""
    strips = [s for ax in axes for s in ax.child_axes if s.get_label() == "counts"]
    for strip in strips:
        bars = next(part for part in strip.collections if part.get_gid() == "counts")
        top = max(float(np.asarray(path.vertices)[:, 1].max()) for path in bars.get_paths())
        for number in strip.texts:
            number.remove()
        strip.set_yscale(scale)
        strip.set_ylim(0.5 if scale == "log" else 0, 1.3 * top)
        strip.set_yticks([1, top], ["1", f"{top:,.0f}"])
        strip.set_yticks([], minor=True)
        strip.set_ylabel("count\n(log)" if scale == "log" else "count", fontsize=look.FONT_SIZE)
