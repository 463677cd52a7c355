"""How many bins, or pieces: held-out scores of each number. Lessons 06 and 07.

Kängsepp, Valk and Kull (2022), sections 4.6 and C.2: the smallest number within 0.1 % of the
lowest score.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calibkit.plot import look
from calibkit.results import spell

if TYPE_CHECKING:
    from calibkit.calibrators import CrossValidatedBinning
    from calibkit.piecewise import PiecewiseLinear

ELEMENTS = ("strip", "lowest", "chosen")
_NO_SCORES = (
    "the model holds no scores, because n_pieces was given (or only one number was tried). "
    "Fit it with n_pieces=None."
)
_CODES = {
    "lowest": look.dot("o", 11, 1.6, face="none", edge=look.UNDER),
    "chosen": look.dot("D", 6, 1.6, face=look.OVER, edge=look.OVER),
}


def choice(
    model: "CrossValidatedBinning | PiecewiseLinear",
    ax: Axes | None = None,
    *,
    mark: int | None = None,
    show: Iterable[str] = ELEMENTS,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw held-out scores against the number of bins or pieces, the lowest and the chosen one.

    Taught in lessons 06 and 07.

    Parameters
    ----------
    model : CrossValidatedBinning or PiecewiseLinear
        Fitted; folds chose the number of bins or pieces.
    mark : int, optional
        A number to point at.
    show : iterable of {"strip", "lowest", "chosen"}
        What to draw besides the scores. ``"strip"``: the scores that count as good as the lowest;
        the smallest number in it is chosen.
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    title : str, optional
        What stands above the diagram.
    legend : bool, optional
        Whether with a legend to the right; left out, on a fresh figure only.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Raises
    ------
    ValueError
        If the model holds no scores, or an element does not exist.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.fakes import LogitDistortion
    >>> from calibkit.piecewise import PiecewiseLinear
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> ax = plot.choice(PiecewiseLinear(max_pieces=3).fit(sample.y_prob, sample.y_true))
    >>> ax.get_xlabel()
    'number of pieces'
    """
    names = look.chosen(show, ELEMENTS, ELEMENTS, {})
    candidates, scores = np.asarray(model.candidates_), np.asarray(model.scores_, dtype=np.float64)
    if not len(scores):
        raise ValueError(_NO_SCORES)
    unit = "bin" if hasattr(model, "n_bins_") else "piece"
    best, chosen = getattr(model, f"best_n_{unit}s_"), getattr(model, f"n_{unit}s_")
    marked = {"lowest": best, "chosen": chosen}
    found = {name: number for name, number in marked.items() if name in names}
    at = dict(zip(candidates.tolist(), scores.tolist(), strict=True))
    words = (f"number of {unit}s", "mean held-out Brier score")
    with look.drawing(ax, (5.0, 3.6), words=words, title=title, legend=legend) as ax:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if "strip" in names:
            label = f"within {100 * model.tolerance:g} % of the lowest"
            look.strip(ax, at[best], at[best] * (1 + model.tolerance), label=label)
        code = look.pen(look.GREY, 1.2)
        ax.plot(candidates, scores, marker=".", label="held-out score", gid="scores", **code)
        if mark is not None:
            dots = look.pen(look.GREY, 1.4, ":")
            ax.axvline(mark, label=f"drawn: {mark}", gid="mark", **dots)
        for name, number in found.items():
            code = _CODES[name]
            look.points(ax, number, at[number], label=f"{name}: {number}", gid=name, **code)
    span = f"{candidates.min()} to {candidates.max()} {unit}s"
    said = [
        f"{name.capitalize()}: {at[number]:.5f} with {spell(number, unit)}."
        for name, number in found.items()
    ]
    look.remember(ax, [f"Mean held-out Brier score for {span}.", *said])
    return ax
