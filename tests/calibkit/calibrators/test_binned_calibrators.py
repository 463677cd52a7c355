"""Slope-1 and flat bins, and the two ways to choose their number."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from sklearn.model_selection import KFold, LeaveOneOut, PredefinedSplit, StratifiedKFold

import calibkit as ck
from calibkit.bins import EqualMass, Pava, assign
from calibkit.calibrators import (
    BayesianBinning,
    BetaCalibrator,
    CrossValidatedBinning,
    HistogramBinning,
    IsotonicCalibrator,
    ScalingBinning,
    SlopeOneBinning,
    SweepBinning,
)
from calibkit.calibrators.folds import assign_folds
from tests.helpers import binary_data, coarse_binary, refuses_options, rows_with

KINDS = ("equal-mass", "equal-width")

# Ties, predictions on edges, and bins that stay empty.
coarse = st.sampled_from([1, 2, 3, 7, 10, 40]).flatmap(
    lambda k: rows_with(st.integers(0, k).map(lambda i: i / k), 60)
)
anything = coarse | rows_with(st.floats(0, 1), 60)
binnings = st.one_of(
    st.builds(ck.EqualWidth, st.integers(1, 50)),
    st.builds(ck.EqualMass, st.integers(1, 50), st.sampled_from(["midpoint", "first", "quantile"])),
    st.builds(lambda cuts: ck.FixedEdges(sorted({0.0, *cuts, 1.0})), st.lists(st.floats(0.01, 1))),
    st.just(ck.Distinct()),
    st.just(Pava()),
)


def by_bin(model, prob):
    """Return the bin of each prediction, by comparing it with each edge."""
    last = len(model.edges_) - 2
    return np.array([min(sum(p >= e for e in model.edges_[1:-1]), last) for p in prob])


# --- the maps -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(anything, binnings, st.sampled_from([0.5, 1, 2, 3.7]))
def test_the_distance_of_slope_one_bins_from_the_diagonal_is_the_binned_error(data, bins, alpha):
    """Theorem 2 of Kängsepp, Valk and Kull (2022)."""
    y, p = data
    model = SlopeOneBinning(bins).fit(p, y)
    table = ck.reliability_table(y, p, bins=bins)
    used = table.occupied
    error = (table.weight[used] * np.abs(table.gap[used]) ** alpha).sum()
    # Rounding of 1e-17 has the root 3e-9.
    tolerance = 1e-12 if alpha >= 1 else 1e-7
    distance = np.mean(np.abs(model.curve(p) - p) ** alpha)
    assert distance == pytest.approx(error, abs=tolerance)


@given(anything, binnings)
def test_slope_one_bins_are_the_least_squares_fit(data, bins):
    y, p = data
    model = SlopeOneBinning(bins).fit(p, y)
    index = by_bin(model, p)
    design = (index[:, None] == np.unique(index)).astype(float)
    shifts = np.linalg.lstsq(design, y - p, rcond=None)[0]
    np.testing.assert_allclose(model.shift_[np.unique(index)], shifts, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.curve(p), p + design @ shifts, rtol=0, atol=1e-12)


def test_slope_one_bins_may_leave_the_unit_interval_and_calibrate_cuts_it():
    model = SlopeOneBinning(1).fit([0.1, 0.9, 0.8, 0.9], [1, 1, 1, 1])
    assert model.curve([0.9, 0.1]).round(6).tolist() == [1.225, 0.425]
    assert model.calibrate([0.9, 0.1]).round(6).tolist() == [1.0, 0.425]


# --- flat ---------------------------------------------------------------------------------------


@given(anything, binnings)
def test_flat_bins_are_the_least_squares_fit(data, bins):
    y, p = data
    model = HistogramBinning(bins).fit(p, y)
    index = by_bin(model, p)
    wanted = [y[index == b].mean() for b in index]
    np.testing.assert_allclose(model.curve(p), wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [SlopeOneBinning, HistogramBinning])
class TestBothMaps:
    def test_an_empty_bin_leaves_predictions_alone(self, kind):
        model = kind(4).fit([0.1, 0.8], [1, 0])
        at = np.array([0.25, 0.3, 0.4999, 0.5, 0.7])
        assert np.array_equal(model.curve(at), at) and model.n_parameters_ == 2
        assert np.isnan(model.table_.frequency[1:3]).all()


# --- first edges --------------------------------------------------------------------------------
# `EqualMass(rule="first")`: the same bins, with edges at predictions.


@given(anything, st.integers(1, 70))
def test_members_are_those_of_midpoints(data, n_bins):
    _, p = data
    p = p[p < 1]  # no edge is ever put at 1
    if len(p):
        bins = [ck.EqualMass(n_bins, rule) for rule in ("first", "midpoint")]
        first, middle = (assign(p, b.edges(p)) for b in bins)
        assert np.array_equal(first, middle)


@given(anything, st.integers(1, 70))
def test_edges_are_predictions(data, n_bins):
    _, p = data
    edges = ck.EqualMass(n_bins, "first").edges(p)
    assert np.isin(edges[1:-1], p).all() and (np.diff(edges) > 0).all()


# --- the number of bins -------------------------------------------------------------------------


def bins_of(kind, number, rule):
    return ck.EqualMass(number, rule) if kind == "equal-mass" else ck.EqualWidth(number)


def scores_by_definition(y, p, model):
    """Fit slope-1 bins to all folds but one, evaluate them on it; no running sums."""
    order = np.lexsort((y, p))
    y, p = y[order], p[order]
    if hasattr(model.cv, "split"):
        parts = list(model.cv.split(p[:, None], y))
    else:
        fold, n_folds = assign_folds(p, y, model.cv, model.rng)
        parts = [(fold != part, fold == part) for part in range(n_folds)]
    scores = []
    for number in range(1, model.max_bins + 1):
        briers = []
        for kept, held in parts:
            fit = SlopeOneBinning(bins_of(model.kind, number, model.rule)).fit(p[kept], y[kept])
            briers.append(np.mean((fit.curve(p[held]) - y[held]) ** 2))
        scores.append(np.mean(briers))
    return np.array(scores)


# --- cross validation ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["midpoint", "first"])
@pytest.mark.parametrize(
    ("n", "grid", "low"),
    [(12, 2, 0), (30, 3, 0), (60, 7, 0), (80, 20, 0.5), (77, None, 0), (150, None, 0.5)],
)
@pytest.mark.parametrize("seed", [0, 2])
def test_scores_by_definition(kind, rule, n, grid, low, seed):
    y, p = binary_data(n, seed) if grid is None else coarse_binary(n, grid, seed)
    p = np.maximum(p, low)
    if seed == 2:
        p[: n // 2] = 1.0
    model = CrossValidatedBinning(kind, 25, 5, rng=seed, rule=rule).fit(p, y)
    wanted = scores_by_definition(y, p, model)
    np.testing.assert_allclose(model.scores_, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_prefers_few_bins(kind):
    y, p = binary_data(300)
    for tolerance in (0.0, 0.001, 0.02):
        model = CrossValidatedBinning(kind, tolerance=tolerance).fit(p, y)
        good = model.scores_ <= model.scores_.min() * (1 + tolerance)
        assert model.n_bins_ == model.candidates_[good].min()
        assert model.best_n_bins_ == model.candidates_[model.scores_.argmin()]
        assert model.n_bins_ <= model.best_n_bins_
    assert model.candidates_.tolist() == list(range(1, 41))


@pytest.mark.parametrize("rule", ["midpoint", "first"])
def test_an_edge_between_neighbouring_floats_parts_them(rule):
    p = np.repeat(0.5 + 2.0**-53 * np.arange(6), 5)
    y = np.random.default_rng(0).integers(0, 2, 30)
    model = CrossValidatedBinning(max_bins=8, cv=3, rule=rule).fit(p, y)
    wanted = scores_by_definition(y, p, model)
    np.testing.assert_allclose(model.scores_, wanted, rtol=0, atol=1e-12)


def test_an_exact_excess_of_the_tolerance_is_allowed():
    from calibkit.calibrators.folds import parsimonious

    assert parsimonious(np.array([1.0, 0.5 * 1.25, 0.5]), 0.25) == 1
    assert parsimonious(np.array([0.625, 1.0, 0.5]), 0.25) == 0  # need not be next to it


@pytest.mark.slow
@pytest.mark.parametrize(
    "cv", [KFold(5, shuffle=True, random_state=1), StratifiedKFold(4), LeaveOneOut()]
)
def test_splitters_get_the_sorted_data(cv):
    y, p = binary_data(100)
    model = CrossValidatedBinning(max_bins=8, cv=cv).fit(p, y)
    wanted = scores_by_definition(y, p, model)
    np.testing.assert_allclose(model.scores_, wanted, rtol=0, atol=1e-12)


def test_folds_are_drawn_from_rng():
    y, p = binary_data(300)
    one, same, other = (CrossValidatedBinning(rng=rng).fit(p, y).scores_ for rng in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other)


test_impossible_options = refuses_options(
    lambda **options: CrossValidatedBinning(**options).fit(np.linspace(0.1, 0.9, 10), [0, 1] * 5),
    ({"rule": "quantile"}, "rule must be"),
    ({"max_bins": 0}, "max_bins must be a whole number"),
    ({"cv": 1}, "cv must be a whole number of at least 2"),
    ({"cv": 11}, "need at least 11 predictions, got 10"),
    ({"tolerance": -0.1}, "tolerance must be a number from 0 on"),
    ({"tolerance": np.nan}, "tolerance must be a number from 0 on"),
    ({"cv": PredefinedSplit([0] * 10)}, "nothing is left to fit"),
    ({"cv": PredefinedSplit([0] * 5 + [-1] * 5)}, "never holds out row 5"),
)


@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["equal-mass", "equal-width"])
@pytest.mark.parametrize(("n", "p"), [(10, 0.3), (25, 0.2), (40, 0.7), (33, 0.123)])
def test_one_prediction_and_one_label_have_a_number_of_bins(kind, label, n, p):
    """The perfect score is 0; rounding must not push it below."""
    model = CrossValidatedBinning(kind).fit(np.full(n, p), np.full(n, label))
    assert model.n_bins_ == 1 and model.calibrate([p])[0] == pytest.approx(label)


def rising(y, p, bins):
    table = ck.reliability_table(y, p, bins=bins)
    return (np.diff(table.frequency[table.occupied]) >= 0).all()


@pytest.mark.slow
@given(data=anything)
def test_a_sweep_ends_at_the_last_number_in_order(data):
    y, p = data
    model = SweepBinning().fit(p, y)
    in_order = [
        rising(y, p, bins_of("equal-mass", b, model.rule)) for b in range(1, model.n_bins_ + 2)
    ]
    assert all(in_order[:-1]) and (model.n_bins_ == len(p) or not in_order[-1])


def test_equal_frequencies_are_in_order():
    # Thirds in each half, of different size: 1/3 and 2/6 must compare equal.
    p = np.repeat((0.1, 0.6), (3, 6))
    y = [0, 1, 0, 0, 1, 0, 0, 1, 0]
    assert SweepBinning().fit(p, y).n_bins_ == 9


# --- scaling binning ----------------------------------------------------------------------------


@pytest.mark.parametrize("scaler", [None, BetaCalibrator(), IsotonicCalibrator()], ids=str)
def test_the_output_is_the_mean_of_the_scaled_predictions(scaler):
    y, p = binary_data(900, 3)
    model = ScalingBinning(7, scaler).fit(p, y)
    out, scaled = model.calibrate(p), model.scaler_.calibrate(p)
    assert np.array_equal(model.edges_, EqualMass(7).edges(scaled))
    assert len(np.unique(out)) <= 7
    assert model.scaler_ is not scaler
    assert out.mean() == pytest.approx(scaled.mean(), abs=1e-14)
    for value in np.unique(out):
        assert value == pytest.approx(scaled[out == value].mean(), abs=1e-14)


# --- bayesian binning ---------------------------------------------------------------------------


def test_evidence_and_heights_are_those_of_a_beta_binomial():
    y, p = binary_data(25, seed=1)
    model = BayesianBinning().fit(p, y)
    log_evidence, said = [], []
    for edges in model.edges_:
        index, n_bins, total = assign(p, edges), len(edges) - 1, 0.0
        heights = np.empty(n_bins)
        for b in range(n_bins):
            middle = (edges[b] + edges[b + 1]) / 2
            labels = y[index == b]
            prior = stats.beta(2 * middle / n_bins, 2 * (1 - middle) / n_bins)
            a, c = prior.args
            draws = stats.betabinom(len(labels), a, c)
            ways = stats.binom(len(labels), 0.5).logpmf(labels.sum()) + len(labels) * np.log(2)
            total += draws.logpmf(labels.sum()) - ways  # of one order of the labels
            heights[b] = (a + labels.sum()) / (a + c + len(labels))
        log_evidence.append(total)
        said.append(heights[index])
    weight = np.exp(np.array(log_evidence) - max(log_evidence))
    assert model.evidence_ == pytest.approx(weight / weight.sum(), rel=1e-9)
    assert model.calibrate(p) == pytest.approx(np.average(said, axis=0, weights=weight))
    y, p = binary_data(8000)  # from a tenth of the cube root of the rows to ten times as many
    assert BayesianBinning().fit(p, y).n_bins_[[0, -1]].tolist() == [2, 200]
    saturated = BayesianBinning().fit([0.2, 0.3, 1 - 1.1e-16, 1.0], [0, 0, 1, 1])
    assert np.isfinite(saturated.calibrate(p)).all()
    y, p = binary_data(2000)  # to ten times the cube root of the rows, 12.6
    assert BayesianBinning().fit(p, y).n_bins_.tolist() == [*range(1, 126)]
