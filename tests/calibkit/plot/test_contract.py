"""What all figures hold to: manners, elements, words, and a size for a page."""

import io
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import calibkit as ck
from calibkit import plot
from calibkit.calibrators import CrossValidatedBinning, SlopeOneBinning
from calibkit.decisions import decision_curve, murphy_curve
from calibkit.fakes import LogitDistortion
from calibkit.fit_on_test import fit_on_test
from calibkit.hypothesis_tests import cumulative_differences, wilson_interval
from calibkit.scores import corp_decomposition
from tests.drawn import (
    assert_drawn_inside,
    assert_manners,
    assert_points,
    assert_title_legend_and_words,
    find,
)

MODEL = LogitDistortion(slope=0.5)
SAMPLE, TRUTH = MODEL.sample(400, 3), MODEL.true_map
Y, P = SAMPLE.y_true, SAMPLE.y_prob
TABLE = ck.reliability_table(Y, P, bins=10)
BAND = ck.consistency_band(Y, P, bins=10, n_draws=100, rng=1)
NULL = ck.null_level(ck.expected_calibration_error, Y, SAMPLE.true_prob, n_draws=400, rng=2)
PARTS = corp_decomposition(Y, P)
FITTED = fit_on_test(Y, P, evaluator=SlopeOneBinning(10))
CHOICE = CrossValidatedBinning(max_bins=6).fit(P, Y)
CURVE = cumulative_differences(Y, P)
MURPHY, BENEFIT = murphy_curve(Y, P), decision_curve(Y, P)

# Per figure with elements, the artists of each.
RELIABILITY = {
    "bars": ["bars"], "means": ["means"], "gaps": ["gaps-over", "gaps-under"],
    "counts": ["counts"], "filling": ["filling", "filling-over", "filling-under"],
    "band": ["band"], "truth": ["truth"], "intervals": ["intervals"],
}  # fmt: skip
FIT_ON_TEST = {
    "filling": ["filling", "filling-over", "filling-under"], "bars": ["bars"],
    "truth": ["truth"], "violations": ["violations-over", "violations-under"],
    "distances": ["distances-over", "distances-under"], "map": ["map"], "labels": ["labels"],
    "means": ["means"], "counts": ["counts"],
}  # fmt: skip
# Per figure: how it is drawn, and what its words contain.
FIGURES = {
    "reliability": (lambda **o: plot.reliability(TABLE, band=BAND, truth=TRUTH, **o), TABLE),
    "reliability, intervals": (lambda **o: plot.reliability(TABLE, show="intervals", **o), TABLE),
    "reliability_diagram": (lambda **o: plot.reliability_diagram(Y, P, bins=10, **o), TABLE),
    "corp": (lambda **o: plot.corp(PARTS, **o), PARTS),
    "fit_on_test": (lambda **o: plot.fit_on_test(FITTED, truth=TRUTH, **o), FITTED),
    "fit_on_test, every element": (
        lambda **o: plot.fit_on_test(FITTED, truth=TRUTH, show=FIT_ON_TEST, **o),
        FITTED,
    ),
    "choice": (lambda **o: plot.choice(CHOICE, **o), None),
    "cumulative_differences": (lambda **o: plot.cumulative_differences(CURVE, **o), CURVE),
    "null_level": (lambda **o: plot.null_level(NULL, **o), NULL),
    "murphy, priced": (lambda **o: plot.murphy(MURPHY, costs=(2, 6), **o), MURPHY),
    "murphy": (lambda **o: plot.murphy({"a": MURPHY}, marks=[0.5], **o), MURPHY),
    "decision_curve": (lambda **o: plot.decision_curve(BENEFIT, **o), BENEFIT),
}


def test_every_figure_is_here():
    names = {name.split(",")[0] for name in FIGURES}
    assert names == {*plot.__all__} - {"alt_text", "legend", "style"}


@pytest.mark.long
def test_manners(subtests, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("plt.show was called"))
    drawings = {name: lambda ax, draw=draw: draw(ax=ax) for name, (draw, _) in FIGURES.items()}
    assert_manners(subtests, drawings)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_title_legend_and_words(name):
    draw, result = FIGURES[name]
    assert_title_legend_and_words(draw, "" if result is None else result.describe())
    ax = draw()
    ax.figure.canvas.draw()
    for each in (ax, *ax.child_axes):
        assert name == "decision_curve" or assert_drawn_inside(each) is None


LEFT = TABLE.edges[:-1]
RIGHT = TABLE.edges[1:]
MEAN = TABLE.mean_prob
UP = TABLE.frequency
OVER, OUT = TABLE.gap > 0, BAND.outside
FINE = np.linspace(0, 1, 401)
TENT = np.linspace(0, 1, 201)
FORTY = np.linspace(0, 1, 41)
STICKS = np.histogram(PARTS.prediction, FORTY, weights=PARTS.prediction_count)[0]
AT = FITTED.prob[PICKED := np.linspace(0, 399, 120).round().astype(int)]


def to_lines(element, end):
    """Return the lines from the diagonal to a map, those that go down and those that go up."""
    down = end < AT
    return {
        f"{element}-over": (AT[down], end[down], AT[down], AT[down]),
        f"{element}-under": (AT[~down], AT[~down], AT[~down], end[~down]),
    }


def columns(slots):
    """Return the columns of a null level, as high as draws lie in them."""
    left = NULL.value + WIDTH * slots
    return left, 0, left + WIDTH, (slots[:, None] == SLOT).sum(axis=1)


WIDTH = np.ptp(NULL.draws) / 30
SLOT = np.floor((NULL.draws - NULL.value) / WIDTH)  # from the observed value on
SLOTS = np.arange(SLOT.min(), SLOT.max() + 1)
TALLEST = 1.15 * max(2.2414 * CURVE.scale, *np.abs(CURVE.difference))
WILSON = wilson_interval(np.rint(TABLE.count * UP), TABLE.count, level=0.9)
DRAWN = {
    "reliability": {
        "bars": (LEFT, 0, RIGHT, UP), "means": (MEAN, UP), "diagonal": ([0, 1], [0, 1]),
        "gaps-over": (MEAN[OVER], UP[OVER], MEAN[OVER], MEAN[OVER]),
        "gaps-under": (MEAN[~OVER], MEAN[~OVER], MEAN[~OVER], UP[~OVER]),
        "counts": (LEFT, 0, RIGHT, TABLE.count), "count": ((LEFT + RIGHT) / 2, TABLE.count),
        "band": (MEAN, BAND.lower, MEAN, BAND.upper), "outside": (MEAN[OUT], UP[OUT]),
        "truth": (TENT, TRUTH(TENT)), "frame": (-0.025, [-0.025, 0], 1.025, [1.025, np.nan]),
    },
    "reliability, intervals": {"intervals": (MEAN, WILSON[0], MEAN, WILSON[1])},
    "corp": {
        "blocks": (PARTS.low, PARTS.recalibrated, PARTS.high, PARTS.recalibrated),
        "curve": (np.c_[PARTS.low, PARTS.high].flat, PARTS.recalibrated.repeat(2)),
        "counts": (FORTY[:-1], -0.2, FORTY[1:], -0.2 + 0.15 * STICKS / STICKS.max()),
        "frame": (-0.025, -0.2, 1.025, 1.025),
    },
    "fit_on_test": {
        "map": (FITTED.line_x, FITTED.line_y), "truth": (FINE, TRUTH(FINE)),
        "counts": (LEFT, 0, RIGHT, TABLE.count), "frame": (-0.025, [-0.025, 0], 1.025, np.nan),
    },
    "fit_on_test, every element": {
        "bars": (LEFT, 0, RIGHT, UP), "means": (MEAN, UP), "labels": (AT, FITTED.label[PICKED]),
        **to_lines("distances", FITTED.fitted[PICKED]), **to_lines("violations", TRUTH(AT)),
    },
    "cumulative_differences": {
        "differences": (CURVE.share, CURVE.difference), "frame": (0, -TALLEST, 1, TALLEST),
    },
    "null_level": {
        "value": (NULL.value, [0, 1]), "null-mean": (NULL.mean, [0, 1]),
        "null": columns(SLOTS[SLOTS < 0]), "null-beyond": columns(SLOTS[SLOTS >= 0]),
    },
    "murphy": {
        "curve": MURPHY.line(), "ignoring": (TENT, MURPHY.ignoring(TENT)), "mark": (0.5, [0, 1]),
        "frame": (0, 0, 1, np.nan),
    },
    "murphy, priced": {
        "curve": (MURPHY.line()[0], 8 * MURPHY.line()[1]), "mark": (0.25, [0, 1]),
        "ignoring": (TENT, 8 * MURPHY.ignoring(TENT)),
    },
    "decision_curve": {
        "curve": (BENEFIT.threshold, BENEFIT.net_benefit), "none": ([0, 1], 0),
        "all": (BENEFIT.threshold, BENEFIT.treat_all),
        "frame": (
            0, -BENEFIT.prevalence / 4, 1, 1.08 * max(BENEFIT.prevalence, *BENEFIT.net_benefit),
        ),
    },
}  # fmt: skip
SQUARE = "0 0.2 0.4 0.6 0.8 1"
TICKS = {
    **dict.fromkeys(("reliability", "corp", "fit_on_test"), (SQUARE, "0 0.5 1")),
    **dict.fromkeys(("murphy", "decision_curve"), (SQUARE, SQUARE)),
    "cumulative_differences": ("0 25 50 75 100", "0 50 100"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_is_what_was_measured(name):
    assert_points(FIGURES[name][0](), DRAWN[name])


@pytest.mark.parametrize("name", TICKS)
def test_ticks_and_labels_of_large_and_of_inner_small_panels(name):
    inner = plt.subplots(2, 4)[1][0, 1]
    draw, wanted = FIGURES[name][0], TICKS[name]
    for ax, texts in zip((draw(), draw(ax=inner)), wanted, strict=True):
        lowest = (ax, *ax.child_axes)[-1]
        assert [
            text.get_text().split(" %")[0] for text in lowest.get_xticklabels()
        ] == texts.split()
        labels = [a.get_xlabel() + a.get_ylabel() for a in (ax, lowest)]
        assert not any(labels) if ax is inner else all(labels)


# Hardly any data, or very many bins.
EXTREMES = {
    "many bins": lambda: plot.reliability(ck.reliability_table(Y, P, bins=ck.Distinct())),
    "one bin": lambda: plot.reliability(ck.reliability_table([1], [0.3], bins=1)),
    "one prediction": lambda: plot.reliability(ck.reliability_table([1], [0.3])),
    "one block": lambda: plot.corp(corp_decomposition([1], [0.3])),
    "equal draws": lambda: plot.null_level(
        ck.null_level(ck.expected_calibration_error, [0, 1], [0, 1], n_draws=5, rng=1)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_can_be_drawn(name):
    EXTREMES[name]().figure.savefig(io.BytesIO())


WITH_ELEMENTS = {
    "reliability": (RELIABILITY, {"bars", "means", "gaps", "counts", "band", "truth"}),
    "fit_on_test": (FIT_ON_TEST, {"filling", "map", "counts", "truth"}),
}
# What needs data that are not given here.
WITHOUT_DATA = {
    "reliability": (lambda **o: plot.reliability(TABLE, **o), {"band", "truth"}),
    "fit_on_test": (lambda **o: plot.fit_on_test(FITTED, **o), {"truth", "violations"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_ELEMENTS)
def test_each_element_can_be_switched_on_and_off(name):
    draw, (elements, default) = FIGURES[name][0], WITH_ELEMENTS[name]
    shows = {None: default, (): set()}
    for element in elements:
        shows[element] = {element}  # a name alone may be a string
        shows[(*(elements.keys() - {element}),)] = elements.keys() - {element}
    for show, wanted in shows.items():
        ax = draw(show=show)
        for element, gids in elements.items():
            assert [bool(find(ax, gid)) for gid in gids] == [element in wanted] * len(gids), show
        plt.close("all")


@pytest.mark.parametrize("name", WITH_ELEMENTS)
def test_an_unknown_element_and_one_without_data_are_refused(name):
    elements, (draw, missing) = WITH_ELEMENTS[name][0], WITHOUT_DATA[name]
    with pytest.raises(ValueError, match="'medians'") as error:
        draw(show={"medians"})
    assert all(element in str(error.value) for element in elements)
    for element in missing:
        with pytest.raises(ValueError, match=f'"{element}".*pass '):
            draw(show={element})
    assert not plt.get_fignums()
    assert not any(find(draw(), gid) for element in missing for gid in elements[element])


def test_weighted_rows_have_no_wilson_interval():
    weighted = ck.reliability_table(Y, P, bins=10, sample_weight=1.0 + Y)
    with pytest.raises(ValueError, match='"intervals".*weights'):
        plot.reliability(weighted, show="intervals")


VIEWS = {
    None: ("predicted probability", "observed frequency"),
    "top-label": ("confidence", "accuracy"),
    1: ("predicted probability of class 1", "observed frequency of class 1"),
}
DIAGRAMS = {
    "reliability": lambda y, p, view: plot.reliability(ck.reliability_table(y, p, view=view)),
    "corp": lambda y, p, view: plot.corp(corp_decomposition(y, p, view=view)),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", DIAGRAMS)
def test_axis_labels_name_the_view(name, view):
    labels = np.arange(50) % 2
    prob = np.random.default_rng(1).dirichlet([1, 1], 50)
    ax = DIAGRAMS[name](labels, prob[:, 1] if view is None else prob, view)
    lowest = next(iter(ax.child_axes), ax)  # the strip of counts carries the label
    assert (lowest.get_xlabel(), ax.get_ylabel()) == VIEWS[view]


def test_without_matplotlib_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['matplotlib'] = None\nfrom calibkit import plot"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "run: pip install matplotlib" in ran.stderr.splitlines()[-1]
