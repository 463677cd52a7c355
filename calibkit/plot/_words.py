"""The words behind a figure, for readers who do not see it."""

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

AnyFigure = Figure | SubFigure
_words: WeakKeyDictionary[Axes, str] = WeakKeyDictionary()


def remember(ax: Axes, sentences: Iterable[str]) -> None:
    """Keep the words that say what an Axes shows, for `alt_text`."""
    _words[ax] = " ".join(filter(None, map(str.strip, sentences)))


def alt_text(drawn: Axes | AnyFigure | Sequence[Axes]) -> str:
    """Say in words what a drawn figure shows: the text for readers who do not see it.

    It is one paragraph, built from the ``describe()`` of the results that were drawn.

    Parameters
    ----------
    drawn : matplotlib Axes, Figure, SubFigure, or sequence of Axes
        Drawn by functions of `calibkit.plot`; ValueError if nothing there was.

    Examples
    --------
    >>> from calibkit import plot, reliability_table
    >>> ax = plot.reliability(reliability_table([0, 1, 1, 1], [.2, .3, .8, .9], bins=2))
    >>> plot.alt_text(ax).startswith("Reliability diagram")
    True
    """
    if isinstance(drawn, Axes):
        axes: Sequence[Axes] = [drawn]
    elif isinstance(drawn, Figure | SubFigure):
        axes = drawn.get_axes()
    else:
        axes = list(drawn)
    known = [(ax.get_title().replace("\n", " "), _words[ax]) for ax in axes if ax in _words]
    if not known:
        raise ValueError("nothing here was drawn by calibkit.plot, so there are no words for it.")
    if len(known) == 1:
        return known[0][1]
    return " ".join(
        f"Panel {number}{f' ({title})' if title else ''}: {words}"
        for number, (title, words) in enumerate(known, start=1)
    )
