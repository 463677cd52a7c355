"""Diagrams of maps that were fitted to the test set. Lesson 05.

Source: the fit-on-test view, source 000 section 4.5 (diagonal filling and its generalisation to
any fitted map) and figures 1, 3, 4 and 5.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from calibkit.plot import _scale, look
from calibkit.plot._elements import Truth
from calibkit.plot._map_elements import DRAW, MOST_LINES, Drawn

if TYPE_CHECKING:
    from calibkit.fit_on_test import EvaluatorComparison, FitOnTest

ELEMENTS = tuple(DRAW)
DEFAULT = frozenset({"filling", "map", "counts"})
_OF_BINS = ("bars", "means")
_OF_TRUTH = ("truth", "violations")
_OF_FIT = frozenset({"filling", "map", "distances"})
_WORDS = {
    "filling": "the area between map and diagonal",
    "bars": "flat bars up to the observed frequency",
    "truth": "true map",
    "violations": "lines from the diagonal to the true map",
    "distances": "lines from the diagonal to the map",
    "labels": "the labels at 0 and 1",
    "map": "the fitted map",
    "means": "points at the mean prediction",
    "counts": "counts below",
}
# Colour and line style: each map can be told by either.
_CODES: tuple[tuple[str, Any], ...] = (
    (look.UNDER, "solid"),
    (look.OVER, (0, (5, 2))),
    (look.INK, (0, (1.2, 1.2))),
    ("#A0527A", (0, (7, 1.5, 1.2, 1.5, 1.2, 1.5))),
    ("#8A6D00", (0, (3, 1))),
    (look.SKY, "solid"),
    (look.GREY, (0, (2.5, 1, 1, 1))),
    ("#6B4C9A", (0, (9, 2))),
)


def fit_on_test(
    result: "FitOnTest",
    ax: Axes | None = None,
    *,
    truth: Truth | None = None,
    show: Iterable[str] | None = None,
    scale: str = "linear",
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a map that was fitted to the test set, and its distance from the diagonal.

    Parameters
    ----------
    result : FitOnTest
        From `calibkit.fit_on_test.fit_on_test`.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    truth : callable, optional
        The true map, from predictions to true probabilities (known for fake classifiers).
    show : iterable of str, optional
        Elements to draw, out of ``"filling"`` (the area below the map, hatched towards the
        diagonal), ``"map"``, ``"distances"`` (the lines whose mean length is the estimate),
        ``"labels"`` (points at 0 and 1), ``"counts"``; with `truth` also ``"truth"`` and
        ``"violations"`` (the lines whose mean length is the true error); for evaluators with
        bins ``"bars"`` (flat tops) and ``"means"``. The default is filling, map
        and counts, and the true map where given.
    scale : {"linear", "logit"}
        Axes in probabilities, or stretched so that logits have equal distances. Stretched axes
        end at .00075 and .99925, have no counts, and draw what lies beyond on their frame.
    title : str, optional
        Title of the diagram.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If `show` names something else, or an element that needs bins, `truth` or plain axes
        where there are none, or if there is no such scale.

    See Also
    --------
    compare_maps : several fitted maps on one Axes.
    reliability : the diagram of a bin table.

    Notes
    -----
    For slope-1 bins the filling is the *diagonal filling* of the reliability diagram. Lines are
    drawn for at most 120 predictions, evenly picked by rank. Where a map leaves [0, 1] at a
    prediction, plain axes grow with it. Taught in lesson 05.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.calibrators import SlopeOneBinning
    >>> from calibkit.fit_on_test import fit_on_test
    >>> p, y = [.1, .3, .4, .6, .7, .9], [0, 1, 0, 1, 1, 1]
    >>> result = fit_on_test(y, p, evaluator=SlopeOneBinning(2))
    >>> ax = plot.fit_on_test(result, show={"filling", "distances"})
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted probability', 'observed frequency')
    >>> plt.close(ax.figure)
    """
    _scale.check_scale(scale)
    drawn = Drawn(result, truth, scale)
    names = _chosen(show, drawn)
    with look.style():
        size = (6.8 if legend is not False else 4.6, 5.0 if "counts" in names else 4.2)
        ax, fresh = look.axes_or_new(ax, size)
        _scale.frame(ax, _scale.axis_words(result.view), scale)
        for name in ELEMENTS:
            if name in names:
                DRAW[name](ax, drawn)
        _scale.make_room(ax, result.fitted if names & {"map", "distances"} else [], scale)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    look.remember(ax, _sentences(drawn, names))
    return ax


def _chosen(show: Iterable[str] | None, drawn: Drawn) -> frozenset[str]:
    if show is None:
        counts = frozenset() if drawn.scale == "linear" else frozenset({"counts"})
        return (DEFAULT | {"truth"} if drawn.truth is not None else DEFAULT) - counts
    names = frozenset([show] if isinstance(show, str) else show)
    unknown = sorted(map(str, names.difference(ELEMENTS)))
    if unknown:
        options = ", ".join(sorted(ELEMENTS))
        raise ValueError(f"show has no element {', '.join(map(repr, unknown))}; choose: {options}.")
    for name in _OF_TRUTH:
        if name in names and drawn.truth is None:
            raise ValueError(f'show asks for "{name}", but truth= was not given; pass truth=….')
    for name in _OF_BINS:
        if name in names and drawn.table is None:
            raise ValueError(
                f'show asks for "{name}", but the family "{drawn.result.family}" has no bins; '
                "leave it out, or fit SlopeOneBinning or FlatBinning."
            )
    if "counts" in names and drawn.scale != "linear":
        raise ValueError('show asks for "counts", which need scale="linear".')
    return names


def _sentences(drawn: Drawn, names: frozenset[str]) -> list[str]:
    words = [_WORDS[name] for name in ELEMENTS if name in names]
    axes = "" if drawn.scale == "linear" else " on logit axes"
    shown = f"Fit-on-test diagram{axes}{' with ' if words else ''}{', '.join(words)}."
    few = names & {"distances", "violations"} and drawn.result.n > MOST_LINES
    picked = f"Lines stand at {MOST_LINES} of {drawn.result.n:,} predictions." if few else ""
    if not names & _OF_FIT:  # only the truth is drawn: nothing to say about the fit
        return [shown, picked, f"{drawn.result.n:,} predictions."]
    return [shown, picked, drawn.result.describe()]


def compare_maps(
    results: "Mapping[str, FitOnTest] | EvaluatorComparison",
    ax: Axes | None = None,
    *,
    truth: Truth | None = None,
    scale: str = "linear",
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the maps that several families fitted to the same test set, with the true map.

    Parameters
    ----------
    results : mapping of str to FitOnTest, or EvaluatorComparison
        At most eight. The names stand in the legend, each with its estimate.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    truth : callable, optional
        The true map, where it is known.
    scale : {"linear", "logit"}
        Axes in probabilities, or stretched so that logits have equal distances.
    title : str, optional
        Title of the diagram.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no result or more than eight, or no such scale.

    Notes
    -----
    Each map has its own colour and its own line style. Taught in lesson 05.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.calibrators import IsotonicCalibrator, PlattCalibrator
    >>> from calibkit.fakes import LogitDistortion
    >>> from calibkit.fit_on_test import fit_on_test
    >>> s = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> families = {"Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}
    >>> results = {k: fit_on_test(s.y_true, s.y_prob, evaluator=v) for k, v in families.items()}
    >>> ax = plot.compare_maps(results)
    >>> len(ax.get_lines())
    3
    >>> plt.close(ax.figure)
    """
    _scale.check_scale(scale)
    named = _by_name(results)
    if not 1 <= len(named) <= len(_CODES):
        raise ValueError(f"{len(named)} maps cannot be told apart; pass 1 to {len(_CODES)}.")
    with look.style():
        ax, fresh = look.axes_or_new(ax, (7.4 if legend is not False else 4.6, 4.4))
        view = next(iter(named.values())).view
        _scale.frame(ax, _scale.axis_words(view), scale)
        for (name, result), (color, dashes) in zip(named.items(), _CODES, strict=False):
            ax.plot(
                *Drawn(result, None, scale).line(),
                color=color,
                linestyle=dashes,
                linewidth=1.8,
                zorder=3,
                label=f"{name}: {result.value:.3f}",
                gid=f"map {name}",
            )
        if truth is not None:
            DRAW["truth"](ax, Drawn(next(iter(named.values())), truth, scale))
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    look.remember(ax, _comparison_words(named, truth, scale))
    return ax


def _by_name(results: "Mapping[str, FitOnTest] | EvaluatorComparison") -> "dict[str, FitOnTest]":
    if isinstance(results, Mapping):
        return dict(results)
    return dict(zip(results.names, results.results, strict=True))


def _comparison_words(
    named: "Mapping[str, FitOnTest]", truth: Truth | None, scale: str
) -> list[str]:
    axes = "" if scale == "linear" else " on logit axes"
    values = ", ".join(f"{name} {result.value:.3f}" for name, result in named.items())
    drawn = " and the true map" if truth is not None else ""
    return [f"Maps of {len(named)} families{drawn}{axes}, with their estimates: {values}."]
