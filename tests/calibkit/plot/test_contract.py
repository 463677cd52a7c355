"""What all figures hold to: manners, elements, words, and a size for a page."""

import io
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

import calibkit as ck
from calibkit import plot
from calibkit.calibrators import CrossValidatedBinning, SlopeOneBinning
from calibkit.corp import corp_decomposition
from calibkit.decisions import decision_curve, murphy_curve, regret_curve
from calibkit.fakes import LogitDistortion
from calibkit.fit_on_test import fit_on_test
from calibkit_audit import clinic, plot as audit_plot
from calibkit_audit.auditing import audit
from tests.drawn import assert_drawn_inside, assert_manners, drawn, find

MODEL = LogitDistortion(slope=0.5)
SAMPLE, TRUTH = MODEL.sample(400, 3), MODEL.true_map
Y, P = SAMPLE.y_true, SAMPLE.y_prob
TABLE = ck.reliability_table(Y, P, bins=10)
BAND = ck.consistency_band(Y, P, bins=10, n_draws=100, rng=1)
NULL = ck.null_level(ck.expected_calibration_error, Y, SAMPLE.true_prob, n_draws=400, rng=2)
PARTS = corp_decomposition(Y, P)
FITTED = fit_on_test(Y, P, evaluator=SlopeOneBinning(10))
CHOICE = CrossValidatedBinning(max_bins=6).fit(P, Y)
TESTED = ck.test_based_calibration_error(Y, P, n_draws=5, rng=0)
CURVE = ck.hypothesis_tests.cumulative_differences(Y, P)
LOESS = clinic.smooth_curve(Y, P)
SMOOTH = ck.smooth_calibration_error(Y, P)
MURPHY, REGRET = murphy_curve(Y, P), regret_curve(P, SAMPLE.true_prob)
BENEFIT = decision_curve(Y, P)
REPORT = audit(Y, P, groups=np.repeat(["a", "b"], 200))

# Per figure: how it is drawn, and what its words contain.
FIGURES = {
    "reliability": (lambda **o: plot.reliability(TABLE, band=BAND, truth=TRUTH, **o), TABLE),
    "reliability of data": (lambda **o: plot.reliability(Y, P, bins=10, **o), TABLE),
    "reliability of models": (lambda **o: plot.reliability(Y, {"a": P}, bins=10, **o), TABLE),
    "corp": (lambda **o: plot.corp(PARTS, truth=TRUTH, **o), PARTS),
    "fit_on_test": (lambda **o: plot.fit_on_test(FITTED, truth=TRUTH, **o), FITTED),
    "fit_on_test, every element": (
        lambda **o: plot.fit_on_test(FITTED, truth=TRUTH, show=FIT_ON_TEST, **o),
        FITTED,
    ),
    "choice": (lambda **o: plot.choice(CHOICE, **o), None),
    "test_based": (lambda **o: plot.test_based(TESTED, **o), TESTED),
    "cumulative_differences": (lambda **o: plot.cumulative_differences(CURVE, **o), CURVE),
    "smooth": (lambda **o: plot.smooth(SMOOTH, **o), SMOOTH),
    "smooth_curve": (lambda **o: audit_plot.smooth_curve(LOESS, **o), LOESS),
    "smooth_curve, logit": (lambda **o: audit_plot.smooth_curve(LOESS, scale="logit", **o), LOESS),
    "null_level": (lambda **o: plot.null_level(NULL, **o), NULL),
    "murphy, priced": (lambda **o: plot.murphy(MURPHY, costs=(2, 6), **o), MURPHY),
    "murphy": (lambda **o: plot.murphy({"a": MURPHY}, marks=[0.5], **o), MURPHY),
    "decision_curve": (lambda **o: plot.decision_curve(BENEFIT, band=True, **o), BENEFIT),
    "regret": (lambda **o: plot.regret(REGRET, **o), REGRET),
    "overlay": (lambda **o: plot.overlay({"a": TABLE}, **o), TABLE),
    "venn_abers": (lambda **o: plot.venn_abers([0.1, 0.9], ([0, 0.5], [0.5, 1]), **o), None),
    "audit_gaps": (lambda **o: audit_plot.audit_gaps(BAND, **o), BAND),
    "audit_repairs": (lambda **o: audit_plot.audit_repairs(REPORT.repairs, **o), REPORT.repairs),
    "audit_groups": (lambda **o: audit_plot.audit_groups(REPORT.groups, **o), REPORT.groups),
}


def test_every_figure_is_here():
    names = {name.split(",")[0].split(" ")[0] for name in FIGURES}
    drawn = {*plot.__all__, "audit_gaps", "audit_groups", "audit_repairs", "smooth_curve"}
    assert names == drawn - {"alt_text", "legend", "style"}


@pytest.mark.long
def test_manners(subtests, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("plt.show was called"))
    drawings = {name: lambda ax, draw=draw: draw(ax=ax) for name, (draw, _) in FIGURES.items()}
    assert_manners(subtests, drawings)


@pytest.mark.slow
def test_title_legend_and_words(subtests):
    for name, (draw, result) in FIGURES.items():
        with subtests.test(name):
            ax = draw(title="Mine")
            assert "Mine" in (ax.get_title(), ax.get_title(loc="left"))
            assert result is None or result.describe() in plot.alt_text(ax)
            if name not in ("test_based", "audit_repairs"):
                ax.figure.canvas.draw()
                assert ax.get_legend().get_window_extent().x0 > ax.get_window_extent().x1
                assert draw(legend=False).get_legend() is None
            for each in (ax, *ax.child_axes):
                assert name == "decision_curve" or assert_drawn_inside(each) is None
        plt.close("all")


# Per figure, what each element holds: columns of points, or left, bottom, right and top of areas.
# What stands as NaN depends on the layout.
LEFT, RIGHT, MEAN, UP = TABLE.edges[:-1], TABLE.edges[1:], TABLE.mean_prob, TABLE.frequency
OVER, OUT = TABLE.gap > 0, BAND.outside
MIDDLE, BEYOND = (LEFT + RIGHT) / 2, OUT & ~OVER
FINE, TENT, FORTY = np.linspace(0, 1, 401), np.linspace(0, 1, 201), np.linspace(0, 1, 41)
STICKS = np.histogram(PARTS.prediction, FORTY, weights=PARTS.prediction_count)[0]
TESTS, (ACCEPTED, UP_TO) = TESTED.table, TESTED.acceptance()
LOW, HIGH, THIRTY = TESTS.edges[:-1], TESTS.edges[1:], np.linspace(0, 1.03, 31)
SIDE, BESIDE = np.histogram(P, THIRTY)[0], 0.03 * np.ptp(TESTS.edges)
PICKED = np.linspace(0, 399, 120).round().astype(int)
AT = FITTED.prob[PICKED]


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


YES, NO = (np.histogram(p, FORTY)[0] for p in (LOESS.of_events, LOESS.of_others))
MOST = max(YES.max(), NO.max())
GROUPS, GAINS, ROW = REPORT.groups, REPORT.repairs, np.arange(len(REPORT.repairs.gain))
FINITE = np.where(np.isfinite(GAINS.gain), 1, np.nan)
OTHERS = np.isfinite(GAINS.gain) & (GAINS.chosen != ROW)
FOUND, OFF = GROUPS.p_value <= GROUPS.alpha, GROUPS.frequency - GROUPS.mean_prob
WIDTH = np.ptp(NULL.draws) / 30
SLOT = np.floor((NULL.draws - NULL.value) / WIDTH)  # from the observed value on
SLOTS = np.arange(SLOT.min(), SLOT.max() + 1)
TALLEST = 1.15 * max(2.2414 * CURVE.scale, *np.abs(CURVE.difference))
DRAWN = {
    "reliability": {
        "bars": (LEFT, 0, RIGHT, UP), "means": (MEAN, UP), "diagonal": ([0, 1], [0, 1]),
        "gaps-over": (MEAN[OVER], UP[OVER], MEAN[OVER], MEAN[OVER]),
        "gaps-under": (MEAN[~OVER], MEAN[~OVER], MEAN[~OVER], UP[~OVER]),
        "counts": (LEFT, 0, RIGHT, TABLE.count), "count": (MIDDLE, TABLE.count),
        "band": (MEAN, BAND.lower, MEAN, BAND.upper), "outside": (MEAN[OUT], UP[OUT]),
        "truth": (TENT, TRUTH(TENT)), "frame": (-0.025, [-0.025, 0], 1.025, [1.025, np.nan]),
    },
    "corp": {
        "blocks": (PARTS.low, PARTS.recalibrated, PARTS.high, PARTS.recalibrated),
        "curve": (np.c_[PARTS.low, PARTS.high].flat, PARTS.recalibrated.repeat(2)),
        "counts": (FORTY[:-1], -0.2, FORTY[1:], -0.2 + 0.15 * STICKS / STICKS.max()),
        "truth": (TENT, TRUTH(TENT)), "frame": (-0.025, -0.2, 1.025, 1.025),
    },
    "fit_on_test": {
        "map": (FITTED.line_x, FITTED.line_y), "truth": (FINE, TRUTH(FINE)),
        "counts": (LEFT, 0, RIGHT, TABLE.count), "frame": (-0.025, [-0.025, 0], 1.025, np.nan),
    },
    "fit_on_test, every element": {
        "bars": (LEFT, 0, RIGHT, UP), "means": (MEAN, UP), "labels": (AT, FITTED.label[PICKED]),
        **to_lines("distances", FITTED.fitted[PICKED]), **to_lines("violations", TRUTH(AT)),
    },
    "test_based": {
        "acceptance": (LOW, ACCEPTED, HIGH, UP_TO), "count": (LOW, 0, HIGH, TESTS.count),
        "frequency": (LOW, TESTS.frequency, HIGH, TESTS.frequency),
        "rejected-count": (LOW, 0, HIGH, TESTED.verdicts[0].rejected_count),
        "marginal": (0, THIRTY[:-1], SIDE, THIRTY[1:]), "diagonal": ([0, 1], [0, 1]),
        "frame": (
            [LOW[0] - BESIDE, LOW[0] - BESIDE, 0], [-0.03, 0, -0.03],
            [HIGH[-1] + BESIDE, HIGH[-1] + BESIDE, 1.08 * SIDE.max()],
            [1.03, 1.5 * TESTS.count.max(), 1.03],
        ),
    },
    "cumulative_differences": {
        "differences": (CURVE.share, CURVE.difference), "frame": (0, -TALLEST, 1, TALLEST),
    },
    "smooth": {
        "curve": (SMOOTH.mean_prob[0], SMOOTH.frequency[0]),
        "density": (SMOOTH.prob[0], -0.2, SMOOTH.prob[-1], -0.05),
        "frame": (-0.025, -0.2, 1.025, 1.025),
    },
    "smooth_curve": {
        "curve": (LOESS.prob, LOESS.frequency), "diagonal": ([0, 1], [0, 1]),
        "band": (
            LOESS.prob.min(), [LOESS.all_low.min(), LOESS.low.min()],
            LOESS.prob.max(), [LOESS.all_high.max(), LOESS.high.max()],
        ),
        "outcomes": ([*FORTY[:-1]] * 2, [*0 * YES, *-NO], [*FORTY[1:]] * 2, [*YES, *0 * NO]),
        "frame": (-0.025, [-0.025, -1.08 * MOST], 1.025, [1.025, 1.08 * MOST]),
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
        "band": (0.01, np.nanmin(BENEFIT.low), 0.97, np.nanmax(BENEFIT.high)),
        "frame": (
            0, -BENEFIT.prevalence / 4, 1, 1.08 * max(BENEFIT.prevalence, *BENEFIT.net_benefit),
        ),
    },
    "regret": {"curve": (REGRET.threshold, REGRET.regret), "frame": (0, 0, 1, np.nan)},
    "overlay": {"model": (MEAN, UP), "frame": (-0.025, -0.025, 1.025, 1.025)},
    "venn_abers": {
        "0": ([0.1, 0.9], [0, 0.5]), "1": ([0.1, 0.9], [0.5, 1]), "between": (0.1, 0, 0.9, 1),
        "frame": (0, -0.02, 1, 1.02),
    },
    "audit_gaps": {
        "band": (MEAN, BAND.lower - MEAN, MEAN, BAND.upper - MEAN),
        "within chance": (MEAN[~OUT], (UP - MEAN)[~OUT]), "frame": (-0.02, np.nan, 1.02, np.nan),
        "predicted too low": (MEAN[BEYOND], (UP - MEAN)[BEYOND]),
        "predicted too high": (MEAN[OUT & OVER], (UP - MEAN)[OUT & OVER]),
    },
    "audit_repairs": {
        "interval": (FINITE * GAINS.low, FINITE * ROW, FINITE * GAINS.high, FINITE * ROW),
        "chosen": (GAINS.gain[[GAINS.chosen]], ROW[[GAINS.chosen]]),
        "candidate": (GAINS.gain[OTHERS], ROW[OTHERS]),
        "frame": (np.nan, len(ROW) - 0.4, np.nan, -0.6),
    },
    "audit_groups": {
        "chance": (-2 * GROUPS.error, [-0.25, 0.75], 2 * GROUPS.error, [0.25, 1.25]),
        "no evidence": (OFF[~FOUND], ROW[:2][~FOUND]), "frame": (np.nan, 1.6, np.nan, -0.6),
        "miscalibrated": (OFF[FOUND], ROW[:2][FOUND]),
    },
}  # fmt: skip
SQUARE = "0 0.2 0.4 0.6 0.8 1"
TICKS = {
    **dict.fromkeys(("reliability", "corp", "fit_on_test", "smooth"), (SQUARE, "0 0.5 1")),
    **dict.fromkeys(("murphy", "decision_curve", "regret"), (SQUARE, SQUARE)),
    "smooth_curve, logit": ("0.001 0.01 0.1 0.5 0.9 0.99 0.999", "0.01 0.5 0.99"),
    "cumulative_differences": ("0 25 50 75 100", "0 50 100"),
}


@pytest.mark.slow
def test_what_is_drawn_is_what_was_measured(subtests):
    for name, elements in DRAWN.items():
        ax = FIGURES[name][0]()
        for gid, points in elements.items():
            with subtests.test(f"{name}: {gid}"):
                wanted = np.column_stack(np.broadcast_arrays(*points))
                found = np.reshape(drawn(ax, gid), wanted.shape)  # refuses more or fewer
                assert (np.isclose(found, wanted) | np.isnan(wanted)).all()
        plt.close("all")


@pytest.mark.slow
def test_ticks_and_labels_of_large_and_of_inner_small_panels(subtests):
    for name, wanted in TICKS.items():
        inner = plt.subplots(2, 4)[1][0, 1]
        for ax, texts in zip((FIGURES[name][0](), FIGURES[name][0](ax=inner)), wanted, strict=True):
            with subtests.test(name, inner=ax is inner):
                lowest = (ax, *ax.child_axes)[-1]
                ticks = [text.get_text().split(" %")[0] for text in lowest.get_xticklabels()]
                assert ticks == texts.split()
                labels = [a.get_xlabel() + a.get_ylabel() for a in (ax, lowest)]
                assert not any(labels) if ax is inner else all(labels)
    plt.close("all")


# Hardly any data, or very many bins.
EXTREMES = {
    "many bins": lambda: plot.reliability(ck.reliability_table(Y, P, bins=ck.Distinct())),
    "one bin": lambda: plot.reliability(ck.reliability_table([1], [0.3], bins=1)),
    "one prediction": lambda: plot.reliability(ck.reliability_table([1], [0.3])),
    "one block": lambda: plot.corp(corp_decomposition([1], [0.3])),
    "no error": lambda: plot.smooth(ck.smooth_calibration_error([0, 1], [0.0, 1.0])),
    "one bin, tested": lambda: plot.test_based(
        ck.test_based_calibration_error([0, 1], [0.3, 0.3], bins=ck.EqualMass(1), n_draws=0)
    ),
    "equal draws": lambda: plot.null_level(
        ck.null_level(ck.expected_calibration_error, [0, 1], [0, 1], n_draws=5, rng=1)
    ),
}


@pytest.mark.slow
def test_extremes_can_be_drawn(subtests):
    for name, draw in EXTREMES.items():
        with subtests.test(name):
            draw().figure.savefig(io.BytesIO())


# Per figure with elements: how it is drawn; each element with its artists; which are the default.
RELIABILITY = {
    "bars": ["bars"], "means": ["means"], "gaps": ["gaps-over", "gaps-under"],
    "counts": ["counts"], "filling": ["filling", "filling-over", "filling-under"],
    "band": ["band"], "truth": ["truth"],
}  # fmt: skip
CORP = {"curve": ["blocks"], "parts": ["parts"], "counts": ["counts"], "truth": ["truth"]}
FIT_ON_TEST = {
    "filling": ["filling", "filling-over", "filling-under"], "bars": ["bars"],
    "truth": ["truth"], "violations": ["violations-over", "violations-under"],
    "distances": ["distances-over", "distances-under"], "map": ["map"], "labels": ["labels"],
    "means": ["means"], "counts": ["counts"],
}  # fmt: skip
WITH_ELEMENTS = {
    "reliability": (RELIABILITY, {"bars", "means", "gaps", "counts", "band", "truth"}),
    "corp": (CORP, set(CORP)),
    "fit_on_test": (FIT_ON_TEST, {"filling", "map", "counts", "truth"}),
}
# What needs data that are not given here.
WITHOUT_DATA = {
    "reliability": (lambda **o: plot.reliability(TABLE, **o), {"band", "truth"}),
    "corp": (lambda **o: plot.corp(PARTS, **o), {"truth"}),
    "fit_on_test": (lambda **o: plot.fit_on_test(FITTED, **o), {"truth", "violations"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_ELEMENTS)
def test_each_element_can_be_switched_on_and_off(name, subtests):
    draw, (elements, default) = FIGURES[name][0], WITH_ELEMENTS[name]
    every = set(elements)
    shows = {"by default": (None, default), "nothing": ((), set())}
    for element in elements:
        shows[element] = element, {element}  # a name alone may be a string
        shows[f"all but {element}"] = every - {element}, every - {element}
    for said, (show, wanted) in shows.items():
        with subtests.test(said):
            ax = draw(show=show)
            for element, gids in elements.items():
                assert [bool(find(ax, gid)) for gid in gids] == [element in wanted] * len(gids)
        plt.close("all")


@pytest.mark.parametrize("name", WITH_ELEMENTS)
def test_an_unknown_element_and_one_without_data_are_refused(name, subtests):
    elements, (draw, missing) = WITH_ELEMENTS[name][0], WITHOUT_DATA[name]
    with pytest.raises(ValueError, match="'medians'") as error:
        draw(show={"medians"})
    assert all(element in str(error.value) for element in elements)
    for element in missing:
        with subtests.test(element), pytest.raises(ValueError, match=f'"{element}".*pass'):
            draw(show={element})
    assert not plt.get_fignums()
    assert not any(find(draw(), gid) for element in missing for gid in elements[element])


VIEWS = {
    None: ("predicted probability", "observed frequency"),
    "top-label": ("confidence", "accuracy"),
    1: ("predicted probability of class 1", "observed frequency of class 1"),
}
DIAGRAMS = {
    "reliability": lambda y, p, view: plot.reliability(ck.reliability_table(y, p, view=view)),
    "corp": lambda y, p, view: plot.corp(corp_decomposition(y, p, view=view)),
    "smooth": lambda y, p, view: plot.smooth(ck.smooth_calibration_error(y, p, view=view)),
}


@pytest.mark.parametrize("view", VIEWS)
def test_axis_labels_name_the_view(view, subtests):
    labels, prob = np.arange(50) % 2, np.random.default_rng(1).dirichlet([1, 1], 50)
    for name, draw in DIAGRAMS.items():
        with subtests.test(name):
            ax = draw(labels, prob[:, 1] if view is None else prob, view)
            lowest = next(iter(ax.child_axes), ax)  # the strip of counts carries the label
            assert (lowest.get_xlabel(), ax.get_ylabel()) == VIEWS[view]


def test_names_of_groups_are_cut_and_thirty_are_shown() -> None:
    names = np.array(["a" * 28, "b" * 29])  # a longer one is cut
    ax = audit_plot.audit_groups(replace(GROUPS, group=names))
    assert [name.get_text() for name in ax.get_yticklabels()] == [names[0], "b" * 27 + "…"]
    ax = audit_plot.audit_groups(replace(GROUPS, group=np.array(["$1$", "\ue000"])))
    ax.figure.canvas.draw()
    assert [name.get_text() for name in ax.get_yticklabels()] == ["$1$", r"\ue000"]
    assert not ax.get_yticklabels()[0].get_parse_math()  # a dollar sign is no formula
    fields = ("group", "mean_prob", "frequency", "error", "count", "smallest", "p_differs")
    many = {field: np.resize(getattr(GROUPS, field), 31) for field in fields}
    ax = audit_plot.audit_groups(replace(GROUPS, **many, p_value=np.linspace(1, 0, 31)))
    assert [name.get_text() for name in ax.get_yticklabels()] == many["group"][1:].tolist()
