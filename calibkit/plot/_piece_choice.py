"""How many pieces: held-out scores of piecewise-linear maps. Lesson 07.

Source 000, section C.2: the smallest number within 0.1 % of the lowest score.
"""

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from calibkit.plot import look

FloatVector = NDArray[np.float64]

ELEMENTS = ("strip", "lowest", "chosen")


class FittedPieces(Protocol):
    """What `piece_choice` draws: a `PiecewiseLinear` whose folds chose the pieces."""

    @property
    def candidates_(self) -> Any:
        """Numbers of pieces that were tried."""

    @property
    def scores_(self) -> Any:
        """Mean held-out Brier score of each."""

    @property
    def best_n_pieces_(self) -> int:
        """The number with the lowest score."""

    @property
    def n_pieces_(self) -> int:
        """The number that was chosen."""

    @property
    def tolerance(self) -> float:
        """Share by which the chosen score may exceed the lowest."""


def piece_choice(
    model: FittedPieces,
    ax: Axes | None = None,
    *,
    mark: int | None = None,
    show: Iterable[str] = ("strip", "lowest", "chosen"),
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw held-out scores against the number of pieces, with the lowest and the chosen one.

    Parameters
    ----------
    model : PiecewiseLinear
        Fitted without `n_pieces`, so that folds chose.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    mark : int, optional
        A number of pieces to point at.
    show : iterable of {"strip", "lowest", "chosen"}
        What to draw besides the scores. ``"strip"``: the scores that count as good as the lowest.
    title : str, optional
        Title of the figure.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the model holds no scores, or an element does not exist.

    Notes
    -----
    The strip holds the scores that count as good as the lowest; the smallest number of pieces
    in it is chosen. Taught in lesson 07.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.fakes import LogitDistortion
    >>> from calibkit.piecewise import PiecewiseLinear
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> model = PiecewiseLinear(max_pieces=3).fit(sample.y_prob, sample.y_true)
    >>> ax = plot.piece_choice(model)
    >>> ax.get_xlabel()
    'number of pieces'
    >>> plt.close(ax.figure)
    """
    names = frozenset(show)
    for name in sorted(names - set(ELEMENTS)):
        raise ValueError(f"show={name!r} does not exist; choose from {ELEMENTS}.")
    candidates, scores = np.asarray(model.candidates_), np.asarray(model.scores_, dtype=np.float64)
    if not len(scores):
        raise ValueError(
            "the model holds no scores, because n_pieces was given (or only one number was "
            "tried). Fit it with n_pieces=None."
        )
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.8 if legend is not False else 5.0, 3.6))
        look.dress(ax)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if look.is_last_row(ax):
            ax.set_xlabel("number of pieces", fontsize=look.FONT_SIZE)
        ax.set_ylabel("mean held-out Brier score", fontsize=look.FONT_SIZE)
        sentences = _draw(ax, model, names, mark)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    first, last = candidates.min(), candidates.max()
    look.remember(ax, [f"Mean held-out Brier score for {first} to {last} pieces.", *sentences])
    return ax


def _draw(ax: Axes, model: FittedPieces, names: frozenset[str], mark: int | None) -> list[str]:
    """Draw scores and marks, and return what the marks say."""
    candidates, scores = np.asarray(model.candidates_), np.asarray(model.scores_, dtype=np.float64)
    at = dict(zip(candidates.tolist(), scores.tolist(), strict=True))
    best, chosen, sentences = model.best_n_pieces_, model.n_pieces_, []
    if "strip" in names:
        _draw_strip(ax, at[best], model.tolerance)
    _draw_scores(ax, candidates, scores)
    if mark is not None:
        line = ax.axvline(mark, label=f"drawn: {mark}", gid="mark")
        line.set(color=look.GREY, linestyle=":", linewidth=1.4)
    if "lowest" in names:
        _point(ax, (best, at[best]), "lowest")
        sentences.append(f"The lowest is {at[best]:.5f} at {best}.")
    if "chosen" in names:
        _point(ax, (chosen, at[chosen]), "chosen")
        sentences.append(f"Chosen: {chosen}, with {at[chosen]:.5f}.")
    return sentences


def _draw_strip(ax: Axes, lowest: float, tolerance: float) -> None:
    ax.axhspan(
        lowest,
        lowest * (1 + tolerance),
        facecolor=look.PALE,
        edgecolor=look.SKY,
        linewidth=0.8,
        zorder=1,
        label=f"within {100 * tolerance:g} % of the lowest",
        gid="strip",
    )


def _draw_scores(ax: Axes, candidates: NDArray[Any], scores: FloatVector) -> None:
    ax.plot(
        candidates,
        scores,
        color=look.GREY,
        marker=".",
        markersize=6,
        linewidth=1.2,
        label="held-out score",
        gid="scores",
    )


def _point(ax: Axes, place: tuple[int, float], name: str) -> None:
    codes: dict[str, dict[str, Any]] = {
        "lowest": {
            "marker": "o",
            "markersize": 11,
            "markerfacecolor": "none",
            "markeredgecolor": look.UNDER,
        },
        "chosen": {
            "marker": "D",
            "markersize": 6,
            "markerfacecolor": look.OVER,
            "markeredgecolor": look.OVER,
        },
    }
    ax.plot(
        *place,
        linestyle="none",
        markeredgewidth=1.6,
        zorder=4,
        label=f"{name}: {place[0]}",
        gid=name,
        **codes[name],
    )
