"""Answers to the exercises of lesson 05: wrong ones with the hint they must get, and right ones."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import calibkit as ck
from calibkit.calibrators import (
    HistogramBinning,
    IsotonicCalibrator,
    PlattCalibrator,
    SlopeOneBinning,
)
from calibkit.errors import averaged_two_bin_error
from calibkit.fakes import LogitDistortion, SyntheticShape
from calibkit.fit_on_test import fit_on_test
from calibkit_course import lesson05
from tests.paths import lesson_text

# --- 5.1 and 5.3 ---------------------------------------------------------------------------------


def index_of(y_prob: Any, n_bins: int) -> Any:
    return np.minimum((np.asarray(y_prob) * n_bins).astype(int), n_bins - 1)


def shifts(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    """Return the shifts by loops, from the definition."""
    out = []
    for b in range(n_bins):
        rows = zip(y_true, y_prob, index_of(y_prob, n_bins), strict=True)
        rest = [y - p for y, p, k in rows if k == b]
        out.append(sum(rest) / len(rest) if rest else 0)
    return out


def from_table(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    table = ck.reliability_table(y_true, y_prob, bins=n_bins)
    return np.nan_to_num(-table.gap)


def changed(edit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that spoils the table's columns."""

    def answer(y_true: Any, y_prob: Any, n_bins: int) -> Any:
        return edit(ck.reliability_table(y_true, y_prob, bins=n_bins))

    return answer


def medians(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    index, out = index_of(y_prob, n_bins), np.zeros(n_bins)
    for b in np.unique(index):
        out[b] = np.median((y_true - y_prob)[index == b])
    return out


def short(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    """Return no shifts of bins behind the last prediction: `bincount` without `minlength`."""
    index = index_of(y_prob, n_bins)
    return np.bincount(index, y_true - y_prob) / np.maximum(np.bincount(index), 1)


def each_alone(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    index, far = index_of(y_prob, n_bins), np.abs(y_true - y_prob)
    return np.bincount(index, far, n_bins) / np.maximum(np.bincount(index, minlength=n_bins), 1)


def slanted(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    return y_prob + np.array(shifts(y_true, y_prob, n_bins))[index_of(y_prob, n_bins)]


def wrong_bins(rule: Callable[[Any, int], Any]) -> Callable[..., Any]:
    """Return what gives shifts and map of bins by the number of each prediction's bin."""

    def answer(y_true: Any, y_prob: Any, n_bins: int) -> Any:
        index = rule(y_prob, n_bins)
        count = np.maximum(np.bincount(index, minlength=n_bins), 1)
        shift = np.bincount(index, y_true - y_prob, n_bins) / count
        return shift, y_prob + shift[index]

    return answer


OPEN = wrong_bins(lambda p, n: (p * n).astype(int))
CLOSED = wrong_bins(lambda p, n: (np.ceil(p * n).astype(int) - 1).clip(0))
NEAR = wrong_bins(lambda p, n: (np.digitize(p, np.linspace(0, 1, n + 1)) - 1).clip(0, n - 1))


def right_closed(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    index = np.maximum(np.ceil(y_prob * n_bins).astype(int) - 1, 0)
    return y_prob + np.array(shifts(y_true, y_prob, n_bins))[index]


WRONG: dict[str, list[tuple[Any, str]]] = {
    "5.1": [
        (lambda y, p, n: -np.array(shifts(y, p, n)), "signs are reversed"),
        (changed(lambda t: t.frequency), "height of a flat piece"),
        (changed(lambda t: t.edges[:-1] - t.gap), "height at the left edge"),
        (changed(lambda t: -t.gap * t.count), "these are sums"),
        (changed(lambda t: -t.gap * t.weight), "not by the number of all"),
        (changed(lambda t: t.frequency - t.centre), "the centre of the bin"),
        (changed(lambda t: -t.gap), "empty bin is 0"),
        (changed(lambda t: np.nan_to_num(-t.gap) + 0.1), "the shift of bin 0"),
        (changed(lambda t: np.abs(np.nan_to_num(t.gap))), "lost their signs"),
        (short, "An empty bin has a shift too"),
        (lambda y, p, n: [0.1], "this returns 1 shift for "),
        (each_alone, "each case by itself"),
        (medians, "median of y - p"),
        (lambda y, p, n: OPEN(y, p, n)[0], "belongs to the last bin"),
        (lambda y, p, n: slanted(y, p, n) - p, "one shift per prediction"),
        (lambda y, p, n: NEAR(y, p, n)[0], "`np.linspace` has the edge"),
        (lambda y, p, n: CLOSED(y, p, n)[0], "on an edge belongs to the bin above"),
    ],
    "5.3": [
        (lambda y, p, n: slanted(y, p, n) - p, "prediction plus shift"),
        (lambda y, p, n: HistogramBinning(n).fit(p, y).curve(p), "these are flat pieces"),
        (lambda y, p, n: np.clip(slanted(y, p, n), 0, 1), "cut to [0, 1]"),
        (
            lambda y, p, n: fit_on_test(y, p, evaluator=SlopeOneBinning(n)).fitted,
            "their order is not",
        ),
        (right_closed, "gets the shift of another bin"),
        (lambda y, p, n: slanted(y, p, n) + 0.01, "the map should be"),
        (lambda y, p, n: slanted(y, p, n) + 5e-10, "holds to 1e-12"),
        (lambda y, p, n: NEAR(y, p, n)[1], "`np.linspace` has the edge"),
        (lambda y, p, n: CLOSED(y, p, n)[1], "on an edge belongs to the bin above"),
        (lambda y, p, n: shifts(y, p, n), "2 values for 6 predictions"),
    ],
    "5.2": [
        ([0.4, 0.5, 0.9, 1], "0.700 and the labels 0.5, so the ECE is 0.200"),
        ([0.3, 0.4, 0.6, 0.7], "the flat piece reports 0.150"),
        ([5, 10, 90, 95], "between 0 and 1"),
    ],
    "5.4": [
        (["A"], "C is true"),
        (["C"], "A is true"),
        (["A", "C", "D"], "mixes two losses"),
        (["A", "C", "E"], "may cancel"),
        ("ABCDE", "fitted to"),
        (["F"], "no statement"),
        ([1, 3], "a list of letters"),
    ],
}

RIGHT: dict[str, list[Any]] = {
    "5.1": [shifts, from_table, lambda y, p, n: np.array(shifts(y, p, n))[:, None]],
    "5.3": [slanted, lambda y, p, n: SlopeOneBinning(n).fit(p, y).curve(p).tolist()],
    "5.2": [[0, 0.1, 0.9, 1], (1, 1, 0, 0), np.array([0.05, 0.95, 0.15, 0.85])],
    "5.4": [["A", "C"], "AC", "A and C", "a & c", "A; C.", ("c", "a"), "A, C", {"A", "C"}],
}

# --- what the lesson says ------------------------------------------------------------------------


def test_bins_by_position_break_the_theorem_on_ties() -> None:
    sample = SyntheticShape("stairs").sample(1000, seed=3)
    p, y = sample.y_prob, sample.y_true
    assert np.sum(p == 1 / 3) == 7
    assert (np.diff(p) >= 0).all()
    thirds = ck.EqualMass(3)
    ours = fit_on_test(y, p, evaluator=SlopeOneBinning(thirds)).value
    ece = ck.expected_calibration_error(y, p, bins=thirds).value
    assert ours == pytest.approx(ece, abs=1e-12)
    by_position = lesson05.by_position(y, p, 3)
    assert f"{by_position[0]:.5f} {by_position[1]:.5f}" == "0.10109 0.10085"
    draws = [SyntheticShape("stairs").sample(1000, seed=seed) for seed in range(50)]
    off = [np.diff(lesson05.by_position(one.y_true, one.y_prob, 15)) for one in draws]
    assert 0.0005 < np.abs(off).max() < 0.001


# --- the outcome is not one seed's luck ---------------------------------------------------------


def test_the_sample_of_the_student_is_no_rare_one() -> None:
    """Her numbers, their distance and their misses lie in the middle half of 200 samples."""
    model, families = LogitDistortion(slope=0.5), (SlopeOneBinning(15), IsotonicCalibrator())
    found = []
    for seed in (247, *range(300, 500)):
        s = model.sample(500, rng=seed)
        ece, isotonic = (fit_on_test(s.y_true, s.y_prob, evaluator=f).value for f in families)
        truth = np.abs(s.y_prob - s.true_prob).mean()
        found.append((ece, isotonic, ece - isotonic, abs(ece - truth), abs(isotonic - truth)))
    low, high = np.quantile(found[1:], [0.25, 0.75], axis=0)
    assert (low < found[0]).all() and (found[0] < high).all()


def test_no_family_is_right_about_both_models() -> None:
    """The table of the lesson, with other seeds: the outcome is not luck."""
    stairs, rng = SyntheticShape("stairs"), np.random.default_rng(99)
    truths = {"perfect": 0.0, "stairs": stairs.true_error()}
    samples = {
        "perfect": [LogitDistortion().sample(500, rng) for _ in range(30)],
        "stairs": [stairs.sample(500, seed=1000 + seed) for seed in range(30)],
    }
    for family in (PlattCalibrator(), SlopeOneBinning(15), SlopeOneBinning(50)):
        off = []
        for model, draws in samples.items():
            values = [fit_on_test(s.y_true, s.y_prob, evaluator=family).value for s in draws]
            off.append(abs(np.mean(values) - truths[model]))
        assert max(off) > 0.025, family


def test_the_honest_forecaster_loses_the_contest_by_ece_alone() -> None:
    """The order of the stored means, in other draws and by the package; and that he lies."""
    rng, found = np.random.default_rng(0), []
    for _ in range(500):
        c = rng.beta(2, 2, 300)
        y = (rng.random(300) < c).astype(int)
        for p in (c, np.where(c < 0.5, 0.33, 0.67), np.full(300, 0.5)):
            errors = ck.expected_calibration_error(y, p), averaged_two_bin_error(y, p)
            found.append([*map(float, errors), ck.brier_score(y, p).value])
    ece, two_bins, brier = np.reshape(found, (500, 3, 3)).mean(axis=0).T
    assert list(np.argsort(ece)) == [2, 1, 0]
    assert list(np.argsort(two_bins)) == list(np.argsort(brier)) == [0, 1, 2]
    low = stats.beta(2, 2).expect(lambda c: c, ub=0.5, conditional=True)
    assert low == pytest.approx(0.31, abs=0.005)
    rows = re.findall(r"(the chances|always 0.5) +([\d.]+) +([\d.]+)", lesson_text("05", ".ipynb"))
    (_, *honest), (_, *blank) = [row for row in rows if float(row[1]) < 0.1]
    assert [*map(float, honest), *map(float, blank)] == pytest.approx(
        [ece[0], 1e4 * two_bins[0], ece[2], 1e4 * two_bins[2]], rel=0.12
    )


# --- the explorer --------------------------------------------------------------------------------


CONTROLS = {control.name: control for control in lesson05.two_families().controls}


@pytest.fixture(scope="module")
def views():
    """Return each state of data and edges with its view."""
    names = ("data", "n_bins", "moved")
    states = [
        dict(zip(names, values, strict=True))
        for values in product(*(CONTROLS[name].values for name in names))
    ]
    return [(state, lesson05.two_families_view(**state)) for state in states]


class TestView:
    def test_the_worked_example(self):
        view = lesson05.two_families_view()
        assert view.flat.value == pytest.approx(1.1333333333 / 6, abs=1e-9)
        assert view.slanted.value == pytest.approx(1 / 6, abs=1e-12)
        assert view.ece == pytest.approx(1 / 6, abs=1e-12) and view.crossed == 1

    @pytest.mark.slow
    def test_slanted_tops_give_the_ece_wherever_the_edges_stand(self, views):
        for state, view in views:
            assert abs(view.slanted.value - view.ece) < 1e-12, state

    @pytest.mark.slow
    def test_flat_tops_report_more_exactly_where_one_is_crossed(self, views):
        """By the triangle inequality: equality if and only if no bin has both signs."""
        for state, view in views:
            surplus = view.flat.value - view.slanted.value
            assert (surplus > 1e-12) == (view.crossed > 0), state
            assert surplus > -1e-12, state

    def test_squared_the_surplus_is_the_variance_inside_the_bins(self, views):
        for _, view in views:
            prob, edges = view.flat.prob, np.array(view.flat.evaluator.edges_)
            index = np.searchsorted(edges[1:-1], prob, side="right")
            inside = sum(
                np.sum((prob[index == b] - prob[index == b].mean()) ** 2) for b in np.unique(index)
            )
            wanted = inside / len(prob)
            assert view.flat.squared - view.slanted.squared == pytest.approx(wanted, abs=1e-12)

    def test_an_edge_on_a_prediction_is_exact(self):
        """The edge at 0.3 has 0.3 to its right, whatever arithmetic it came from."""
        view = lesson05.two_families_view(n_bins=2, moved=-0.4)
        assert view.flat.evaluator.edges_.tolist() == [0, 0.3, 1]
        assert view.flat.evaluator.table_.count.tolist() == [1, 5]

    def test_the_titles_of_its_states_say_what_they_hold(self):
        for title, values in lesson05.two_families().presets:
            view = lesson05.two_families_view(**values)
            assert title.endswith(f": {view.shown.value:.3f}, ECE {view.ece:.3f}")
