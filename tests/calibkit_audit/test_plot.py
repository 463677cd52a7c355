"""The figures of the audit: manners, words, and what their artists hold."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import calibkit as ck
from calibkit.fakes import LogitDistortion
from calibkit_audit import plot
from calibkit_audit.clinic import smooth_curve
from tests.drawn import (
    assert_drawn_inside,
    assert_manners,
    assert_points,
    assert_title_legend_and_words,
    drawn,
    find,
    one,
)

SAMPLE = LogitDistortion(slope=0.5).sample(400, 3)
Y, P = SAMPLE.y_true, SAMPLE.y_prob
TABLE = ck.reliability_table(Y, P, bins=10)
LOESS = smooth_curve(Y, P)
FIGURES = {
    "overlay": (lambda **o: plot.overlay({"a": TABLE}, **o), TABLE),
    "smooth_curve": (lambda **o: plot.smooth_curve(LOESS, **o), LOESS),
}


@pytest.mark.long
def test_manners(subtests, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("plt.show was called"))
    drawings = {name: lambda ax, draw=draw: draw(ax=ax) for name, (draw, _) in FIGURES.items()}
    assert_manners(subtests, drawings)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_title_legend_and_words(name):
    draw, result = FIGURES[name]
    assert_title_legend_and_words(draw, result.describe())
    ax = draw()
    ax.figure.canvas.draw()
    for each in (ax, *ax.child_axes):
        assert_drawn_inside(each)


MEAN, UP = TABLE.mean_prob, TABLE.frequency
FORTY = np.linspace(0, 1, 41)
YES, NO = (np.histogram(p, FORTY)[0] for p in (LOESS.of_events, LOESS.of_others))
MOST = max(YES.max(), NO.max())
DRAWN = {
    "overlay": {"model": (MEAN, UP), "frame": (-0.025, -0.025, 1.025, 1.025)},
    "smooth_curve": {
        "curve": (LOESS.prob, LOESS.frequency), "diagonal": ([0, 1], [0, 1]),
        "band": (
            LOESS.prob.min(), [LOESS.all_low.min(), LOESS.low.min()],
            LOESS.prob.max(), [LOESS.all_high.max(), LOESS.high.max()],
        ),
        "outcomes": ([*FORTY[:-1]] * 2, [*0 * YES, *-NO], [*FORTY[1:]] * 2, [*YES, *0 * NO]),
        "frame": (-0.025, [-0.025, -1.08 * MOST], 1.025, [1.025, 1.08 * MOST]),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_is_what_was_measured(name):
    assert_points(FIGURES[name][0](), DRAWN[name])


def test_a_smooth_curve_may_leave_the_square():
    labels, prob = ck.fakes.LogitDistortion(slope=3).sample(80, 1).y_true, np.linspace(0.3, 0.7, 80)
    curve = smooth_curve(np.sort(labels), prob)
    ax = plot.smooth_curve(curve)
    up = one(ax, "curve").get_ydata()
    assert up.max() > 1 and ax.get_ylim()[1] == pytest.approx(up.max() + 0.025)
    sums = np.ptp(np.reshape(drawn(ax, "outcomes"), (2, 40, 2, 2))[..., 1], axis=2).sum(axis=1)
    assert sums.tolist() == [labels.sum(), (1 - labels).sum()]


def test_models_have_two_codes_and_one_view():
    lines = find(plot.overlay(dict.fromkeys("abcde", TABLE)), "model")
    assert [line.get_label() for line in lines] == [*"abcde"]
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 5
    assert len({line.get_marker() for line in lines}) == 5
    for n in (0, 6):
        with pytest.raises(ValueError, match=f"{n} models; draw 1 to 5"):
            plot.overlay(dict.fromkeys("abcdef"[:n], TABLE))
    other = ck.reliability_table(Y, np.column_stack([1 - P, P]), view="top-label")
    with pytest.raises(ValueError, match="draw one view"):
        plot.overlay({"a": TABLE, "b": other})
