"""Figures, tested by what their artists hold."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

import calibkit as ck
from calibkit import plot
from calibkit.fakes import LogitDistortion
from tests.drawn import area, drawn, find, labels, one


@pytest.fixture(scope="module")
def sample():
    return LogitDistortion(slope=0.5).sample(400, 3)


@pytest.fixture(scope="module")
def table(sample):
    return ck.reliability_table(sample.y_true, sample.y_prob, bins=10)


@pytest.fixture(scope="module")
def gappy():
    """Predictions only below .2 and above .7, so that ten bins leave five empty."""
    return ck.reliability_table([0, 1, 0, 1, 1, 0], [0.05, 0.15, 0.17, 0.75, 0.95, 1.0], bins=10)


@pytest.fixture(scope="module")
def band(sample):
    return ck.consistency_band(sample.y_true, sample.y_prob, bins=10, rng=1)


def corners(collection) -> np.ndarray:
    return np.array([path.vertices[:4] for path in collection.get_paths()])


def strip_of(ax: Axes) -> Axes:
    return next(child for child in ax.child_axes if child.get_label() == "counts")


class TestElements:
    def test_a_band_with_other_bins_is_refused(self, sample, band):
        table = ck.reliability_table(sample.y_true, sample.y_prob, bins=15)
        with pytest.raises(ValueError, match="10 equal-width bins.*15 equal-width bins"):
            plot.reliability(table, band=band)


class TestGeometry:
    def test_over_and_under_differ_in_colour_and_in_line_style(self, table):
        over, under = (one(plot.reliability(table), f"gaps-{s}") for s in ("over", "under"))
        assert not np.array_equal(over.get_color(), under.get_color())
        assert over.get_linestyle() != under.get_linestyle()
        ax = plot.reliability(table, show="filling")
        assert one(ax, "filling-over").get_hatch() != one(ax, "filling-under").get_hatch()

    def test_the_slanted_tops_are_the_slope_1_fit(self, table):
        shape = corners(one(plot.reliability(table, show="filling"), "filling"))
        left, right = table.edges[:-1], table.edges[1:]
        shift = table.frequency - table.mean_prob
        assert np.allclose(shape[:, 1], np.column_stack([left, left + shift]), atol=1e-15)
        assert np.allclose(shape[:, 2], np.column_stack([right, right + shift]), atol=1e-15)
        # At the mean prediction the slanted top crosses the flat one.
        height = shape[:, 1, 1] + (table.mean_prob - left)
        assert np.allclose(height, table.frequency)

    def test_the_shaded_area_is_the_error_when_bins_weigh_the_same(self, sample):
        y_prob = (np.arange(500) + 0.5) / 500
        y_true = np.random.default_rng(0).random(500) < y_prob**2
        error = ck.expected_calibration_error(y_true, y_prob, bins=10)
        ax = plot.reliability(error.tables[0], show="filling")
        shaded = area(ax, "filling-over") + area(ax, "filling-under")
        assert shaded == pytest.approx(float(error), abs=1e-12)

    def test_empty_bins_stay_empty(self, gappy, subtests):
        ax = plot.reliability(gappy, show={"bars", "means", "gaps", "filling", "counts"})
        seen = gappy.occupied
        assert seen.sum() == 4
        for gid in ("bars", "filling", "counts"):
            with subtests.test(gid):
                assert np.array_equal(corners(one(ax, gid))[:, 0, 0], gappy.edges[:-1][seen])
        assert one(ax, "means").get_linestyle() == "None"
        assert len(drawn(ax, "means")) == len(drawn(ax, "gaps-over") + drawn(ax, "gaps-under")) == 4

    def test_a_gap_of_rounding_size_is_no_gap(self):
        table = ck.reliability_table([0, 1], [0.5, 0.5], bins=1)
        ax = plot.reliability(table)
        assert not find(ax, "gaps-over") and not find(ax, "gaps-under")

    def test_the_square_is_a_square(self, table):
        ax = plot.reliability(table)
        ax.figure.canvas.draw()
        box = ax.get_window_extent()
        assert box.width == pytest.approx(box.height)


class TestCounts:
    @pytest.mark.parametrize(("bins", "turned"), [(16, 0), (17, 90), (21, 90), (22, None)])
    def test_counts_are_printed_upright_turned_or_on_the_scale(self, sample, bins, turned):
        table = ck.reliability_table(sample.y_true, sample.y_prob, bins=bins)
        ax, counts = plot.reliability(table), [str(count) for count in table.count if count]
        said = [(text.get_text(), text.get_rotation()) for text in find(ax, "count")]
        assert said == [(count, turned) for count in counts if turned is not None]
        ticks = [text.get_text() for text in strip_of(ax).get_yticklabels()]
        assert ticks == ([] if said else ["0", str(table.count.max())])

    @pytest.mark.parametrize(("most", "base"), [(100, 0), (101, 0.5)])
    def test_a_wide_range_that_cannot_be_printed_gets_a_log_scale(self, most, base):
        y_prob = np.r_[np.full(most - 2, 0.995), np.arange(100) / 99]  # all others: 1 or 2 per bin
        strip = strip_of(plot.reliability(ck.reliability_table(np.round(y_prob), y_prob, bins=60)))
        assert (strip.get_yscale() == "log") == ("log" in strip.get_ylabel()) == (base > 0)
        assert strip.get_yticks().tolist() == [float(base > 0), most]
        top = base * (most / base) ** 1.08 if base else 1.08 * most
        assert strip.get_ylim() == pytest.approx((base, top))

    def test_the_strip_shares_the_axis_and_carries_its_label(self, table, band):
        ax = plot.reliability(table, band=band, show="counts")
        strip = strip_of(ax)
        assert strip.get_xlim() == ax.get_xlim() and strip.get_xlabel() == "predicted probability"
        assert not ax.xaxis.label.get_visible()
        assert plot.alt_text(ax).removesuffix(table.describe()).endswith("counts per bin below. ")


class TestPageFit:
    @pytest.mark.slow
    def test_small_multiples_share_a_style_and_one_legend(self, table, gappy, subtests):
        figure, axes = plt.subplots(1, 3, layout="constrained", figsize=(7.5, 3.4))
        for ax, one_table in zip(axes, (table, gappy, table), strict=True):
            with subtests.test(one_table=one_table):
                assert plot.reliability(one_table, ax=ax, title="t") is ax
        assert all(ax.get_legend() is None for ax in axes)
        assert [bool(ax.get_ylabel()) for ax in axes] == [True, False, False]
        plot.legend(figure)
        said = [text.get_text() for text in figure.legends[0].get_texts()]
        assert len(said) == len(set(said)) == 5
        figure.canvas.draw()
        legend = figure.legends[0].get_window_extent()
        for ax in axes:
            with subtests.test(ax=ax):
                assert ax.get_tightbbox().y0 >= legend.y1
                assert ax.get_tightbbox().y1 <= figure.bbox.height
        assert legend.x0 >= 0 and legend.x1 <= figure.bbox.width
        boxes = [ax.get_tightbbox() for ax in axes]
        assert boxes[0].x1 <= boxes[1].x0 and boxes[1].x1 <= boxes[2].x0


class TestManners:
    def test_rc_params_are_restored_after_an_error(self, table):
        before = dict(mpl.rcParams)
        with pytest.raises(ZeroDivisionError), plot.style():
            raise ZeroDivisionError
        assert dict(mpl.rcParams) == before

    def test_what_a_backend_sets_while_it_loads_survives(self):
        """Otherwise the first figure of a notebook would not be shown."""
        with mpl.rc_context():
            mpl.interactive(False)
            with plot.style():
                mpl.interactive(True)
            assert mpl.is_interactive()


class TestAltText:
    def test_a_figure_lists_its_panels(self, table, gappy):
        figure, axes = plt.subplots(1, 2)
        plot.reliability(table, ax=axes[0], title="First")
        plot.reliability(gappy, ax=axes[1])
        words = plot.alt_text(figure)
        assert words == plot.alt_text(axes)
        assert words.startswith("Panel 1 (First): ") and "Panel 2: " in words

    def test_a_foreign_axes_is_refused(self):
        _, ax = plt.subplots()
        with pytest.raises(ValueError, match="drawn by calibkit"):
            plot.alt_text(ax)


class TestNullLevel:
    @pytest.mark.parametrize("calibrated", [True, False])
    def test_title_and_legend_say_p_value_and_observed_value(self, sample, calibrated):
        y, prob = sample.y_true, sample.true_prob if calibrated else sample.y_prob
        null = ck.null_level(ck.expected_calibration_error, y, prob, n_draws=200, rng=2)
        often = f"{100 * null.p_value:.0f} %" if calibrated else "fewer than 1 %"
        title = f"p = {null.p_value:.3f}: a calibrated model is as bad or worse in {often} of draws"
        ax = plot.null_level(null)
        assert (ax.get_title(loc="left"), ax.get_xlabel()) == (title, null.name)
        assert f"observed {null.value:.3f}" in labels(ax)


class TestFirstGuess:
    """`plot.reliability(y, p)` and `plot.reliability(classifier, X, y)`: one line, one figure."""

    def test_labels_and_probabilities_give_table_band_and_null_level(self, sample, subtests):
        y, p = sample.y_true, sample.y_prob
        ax = plot.reliability(y, p, bins=10)
        band = ck.consistency_band(y, p, bins=10, rng=0)
        wanted = plot.reliability(ck.reliability_table(y, p, bins=10), band=band)
        for gid in ("bars", "band"):
            with subtests.test(gid):
                assert np.array_equal(corners(one(ax, gid)), corners(one(wanted, gid)))
        null = ck.null_level(ck.expected_calibration_error, y, p, bins=10, rng=0)
        said = f"ECE {null.value:.4f}; by chance {null.mean:.4f} (95 % below {null.high:.4f})"
        assert ax.get_title() == said
        assert null.describe() in plot.alt_text(ax.figure)
        assert strip_of(ax)

    def test_a_view_of_many_classes(self):
        prob = np.random.default_rng(0).dirichlet(np.ones(3), 200)
        label = prob.argmax(axis=1)
        ax = plot.reliability(label, prob, view="top-label", bins=5)
        assert ax.get_ylabel() == "accuracy"
        with pytest.raises(ValueError, match="view must be stated"):
            plot.reliability(label, prob)

    @pytest.mark.parametrize("options", [{"sample_weight": range(1, 401)}, {"bins": ck.Pava()}])
    def test_chance_is_left_out_where_it_has_no_meaning(self, sample, options):
        ax = plot.reliability(sample.y_true, sample.y_prob, **options)
        assert not find(ax, "band")
        assert ax.get_title() == ""

    @pytest.mark.parametrize(("words", "positive"), [(None, 1), (("no", "yes"), "no")])
    def test_a_fitted_classifier_of_two_classes(self, words, positive):
        from sklearn.linear_model import LogisticRegression

        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 2))
        y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
        y = y if words is None else np.array(words)[y]
        model = LogisticRegression().fit(X, y)
        options = {} if words is None else {"positive": positive}
        ax = plot.reliability(model, X, y, **options)
        column = list(model.classes_).index(positive)
        wanted = plot.reliability(y, model.predict_proba(X)[:, column], positive=positive)
        assert ax.get_title() == wanted.get_title()

    def test_a_fitted_classifier_of_many_classes(self):
        from sklearn.naive_bayes import GaussianNB

        X = np.random.default_rng(0).normal(size=(300, 2))
        number = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.5, 2])
        names = np.array(["cat", "dog", "eel"])[number]
        model = GaussianNB().fit(X, names)
        ax = plot.reliability(model, X, names, view=2)
        wanted = plot.reliability(number, model.predict_proba(X), view=2)
        assert ax.get_title() == wanted.get_title()
        with pytest.raises(ValueError, match="'fox', a class the classifier was not"):
            plot.reliability(model, X[:2], ["fox", "dog"], view=2)

    def test_what_is_refused(self, sample, table, subtests):
        from sklearn.svm import LinearSVC

        y, p = sample.y_true, sample.y_prob
        model = LinearSVC().fit(p[:, None], y)
        with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
            plot.reliability(model, p[:, None], y)
        for data in ((y,), (y, p, p, p), ()):
            with subtests.test(n=len(data)), pytest.raises(ValueError, match="pass y_true and y"):
                plot.reliability(*data)
        for options in ({"bins": 5}, {"view": 1}, {"positive": 1}):
            with subtests.test(str(options)), pytest.raises(ValueError, match="pass it alone"):
                plot.reliability(table, **options)
        with pytest.raises(ValueError, match="y_true has 3 entries"):
            plot.reliability(y[:3], p)
