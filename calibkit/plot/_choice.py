"""How many bins, or pieces: held-out scores of each number.

Kängsepp, Valk and Kull (2022), sections 4.6 and C.2: the smallest number within 0.1 % of the
lowest score.
"""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calibkit.plot import look
from calibkit.results import spell

if TYPE_CHECKING:
    from calibkit.calibrators import CrossValidatedBinning, PiecewiseLinear

_NO_SCORES = (
    "the model holds no scores: it is not fitted, or n_pieces was given (or only one number was "
    "tried). Fit it with n_pieces=None."
)
_CODES = {
    "lowest": look.marker("o", 11, 1.6, face="none", edge=look.UNDER),
    "chosen": look.marker("D", 6, 1.6, face=look.OVER, edge=look.OVER),
}


def choice(
    model: "CrossValidatedBinning | PiecewiseLinear",
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw held-out scores against the number of bins or pieces, the lowest and the chosen one.

    A strip holds the scores that count as good as the lowest; the smallest number in it is chosen.
    Lessons 06 and 07.

    Parameters
    ----------
    model : CrossValidatedBinning or PiecewiseLinear
        Fitted; folds chose the number of bins or pieces.
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
        If the model holds no scores.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.fakes import LogitDistortion
    >>> from calibkit.calibrators import PiecewiseLinear
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> ax = plot.choice(PiecewiseLinear(max_pieces=3).fit(sample.y_prob, sample.y_true))
    >>> ax.get_xlabel()
    'number of pieces'
    """
    scores = np.asarray(getattr(model, "scores_", ()))
    if not len(scores):
        raise ValueError(_NO_SCORES)
    candidates = np.asarray(model.candidates_)
    unit = "bin" if hasattr(model, "n_bins_") else "piece"
    best, fewest = getattr(model, f"best_n_{unit}s_"), getattr(model, f"n_{unit}s_")
    at = dict(zip(candidates.tolist(), scores.tolist(), strict=True))
    sentences = [f"Mean held-out Brier score for {min(at)} to {max(at)} {unit}s."]
    words = (f"number of {unit}s", "mean held-out Brier score")
    with look.drawing(ax, (5.0, 3.6), words=words, title=title, legend=legend) as ax:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        label = f"within {100 * model.tolerance:g} % of the lowest"
        look.strip(ax, at[best], at[best] * (1 + model.tolerance), label=label)
        code = look.stroke(look.GREY, 1.2, marker=".", label="held-out score", gid="scores")
        ax.plot(candidates, scores, **code)
        for name, number in (("lowest", best), ("chosen", fewest)):
            code = {**_CODES[name], "label": f"{name}: {number}", "gid": name}
            look.points(ax, number, at[number], **code)
            number_of = spell(number, unit)
            sentences.append(f"{name.capitalize()}: {at[number]:.5f} with {number_of}.")
    look.remember(ax, sentences)
    return ax
