"""Debiased errors: by loops, by enumeration of all labels, by simulation, by another library."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import calibkit as ck
from calibkit.calibrators import HistogramBinning, SlopeOneBinning
from calibkit.errors import debiased_calibration_error
from calibkit.fit_on_test import fit_on_test
from calibkit_course import data
from tests.helpers import golden, golden_data, refuses_options, rows_with

METHODS = ("frequency", "pairwise")

rows = rows_with(st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0]))


def squares_by_loops(y, p, n_bins, method):
    """Go through the bins and, for the pairwise estimate, through all pairs."""
    total = 0.0
    for b in range(n_bins):
        inside = [i for i in range(len(p)) if min(int(p[i] * n_bins), n_bins - 1) == b]
        n = len(inside)
        if n == 0:
            continue
        gap = sum(p[i] - y[i] for i in inside) / n
        if n == 1:
            value = 0.0
        elif method == "frequency":
            f = sum(y[i] for i in inside) / n
            value = gap**2 - f * (1 - f) / (n - 1)
        else:
            pairs = [(i, j) for i in inside for j in inside if i != j]
            value = sum((p[i] - y[i]) * (p[j] - y[j]) for i, j in pairs) / len(pairs)
        total += n / len(p) * value
    return total


# --- the formulas -------------------------------------------------------------------------------


@given(rows, st.sampled_from([1, 2, 4, 8]), st.sampled_from(METHODS))
def test_squares_by_loops(table, n_bins, method):
    y, p = table
    found = debiased_calibration_error(y, p, bins=n_bins, method=method)
    wanted = squares_by_loops(y, p, n_bins, method)
    assert found.squared == pytest.approx(wanted, abs=1e-12)
    assert found.value == pytest.approx(np.sqrt(max(found.squared, 0)), abs=1e-12)
    plain = ck.calibration_error(y, p, bins=n_bins, norm=2).value
    assert found.plain == pytest.approx(plain, abs=1e-12)
    assert found.plain_squared == pytest.approx(plain**2, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_bins", "exponent"), [(30, 1, 1), (30, 15, 1.6), (200, 5, 1.6)])
def test_the_absolute_error_takes_off_the_mean_of_a_folded_normal(n, n_bins, exponent):
    rng = np.random.default_rng(n)
    p = rng.random(n)
    y = rng.random(n) < p**exponent
    found = debiased_calibration_error(y, p, bins=n_bins, norm=1)
    table = ck.reliability_table(y, p, bins=n_bins)
    used = table.occupied
    frequency = table.frequency[used]
    gap = np.abs(table.gap[used])
    sd = np.sqrt(frequency * (1 - frequency) / table.count[used])
    with np.errstate(divide="ignore", invalid="ignore"):  # a bin of equal labels has no spread
        distance = np.where(sd > 0, stats.foldnorm(gap / sd, scale=sd).mean(), gap)
    chance = table.weight[used] @ distance
    assert found.value == pytest.approx(2 * found.plain - chance, abs=1e-9)
    assert np.isnan(found.squared) and np.isnan(found.plain_squared)


def test_the_absolute_error_may_be_negative():
    found = debiased_calibration_error([0, 1] * 50, [0.5] * 100, bins=1, norm=1)
    # Gap 0, so minus the mean distance of a normal frequency: sd sqrt(2 / pi).
    assert found.value == pytest.approx(-0.05 * np.sqrt(2 / np.pi), abs=1e-15)


# --- what they estimate -------------------------------------------------------------------------


def expectation(p, c, estimate):
    """Take the mean of an estimate over all labels, each with its probability."""
    total = 0.0
    for y in product([0, 1], repeat=len(p)):
        chance = np.prod([q if label else 1 - q for label, q in zip(y, c, strict=True)])
        total += chance * estimate(np.array(y), np.array(p))
    return total


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("said", "true"), [((0.2, 0.7), (0.2, 0.7)), ((0.3, 0.9), (0.1, 0.75))])
def test_squares_are_unbiased_if_predictions_of_a_bin_are_equal(method, said, true):
    p = np.repeat(said, [3, 5])
    c = np.repeat(true, [3, 5])
    truth = np.mean((p - c) ** 2)

    def estimate(y, p):
        return debiased_calibration_error(y, p, bins=2, method=method).squared

    def plain(y, p):
        return debiased_calibration_error(y, p, bins=2).plain_squared

    assert expectation(p, c, estimate) == pytest.approx(truth, abs=1e-12)
    assert expectation(p, c, plain) > truth + 0.01


def test_for_fixed_predictions_pairs_estimate_the_mean_product_of_errors():
    p = np.array([0.1, 0.3, 0.35, 0.45])
    c = np.array([0.2, 0.2, 0.5, 0.4])
    e = p - c
    truth = (e.sum() ** 2 - (e**2).sum()) / 12

    def estimate(y, p):
        return debiased_calibration_error(y, p, bins=1, method="pairwise").squared

    assert expectation(p, c, estimate) == pytest.approx(truth, abs=1e-12)


# --- another program ----------------------------------------------------------------------------

LIBRARY = golden("debiased_errors.json")
VIEWS = {"top-label": "top-label", "marginal": "class-wise"}


@pytest.mark.parametrize("case", LIBRARY)
def test_like_the_library_of_source_003(case):
    y, p = golden_data(case["data"])
    kind = ck.EqualMass if case["bins"] == "equal_mass" else ck.EqualWidth
    view = VIEWS[case["mode"]] if p.ndim == 2 else None
    bins = kind(case["n_bins"])
    found = debiased_calibration_error(y, p, view=view, bins=bins, norm=case["norm"])
    # For norm 1 it draws 1000 frequencies per bin; here is a formula.
    tolerance = 1e-12 if case["norm"] == 2 else 2e-3
    assert float(found) == pytest.approx(case["error"], abs=tolerance)


# Top-label and marginal errors of Li's network by the same library, equal-mass bins (m)
# or equal-width ones (w), in the order of the file: plain, debiased.
NETWORK = [
    ("top-label", "m", 15, 1, 0.0397166789382696, 0.039569759077452284),
    ("top-label", "m", 15, 2, 0.0781007540575716, 0.07768203565242601),
    ("top-label", "m", 100, 1, 0.03978940877616406, 0.039351333900622475),
    ("top-label", "m", 100, 2, 0.08324237968859811, 0.08059536704292611),
    ("top-label", "w", 15, 2, 0.0652795246541927, 0.06309824810776085),
    ("top-label", "w", 100, 2, 0.08457659562440996, 0.07440859516906648),
    ("class-wise", "m", 15, 1, 0.0038919556428328255, 0.0036668416899588554),
    ("class-wise", "m", 100, 1, 0.008173619397792419, 0.007944930046518773),
    ("class-wise", "m", 100, 2, 0.03392413478355869, 0.032477395896921904),
]


@pytest.fixture(scope="module")
def network():
    if not data.available("cifar10-vgg16", original=True):
        pytest.skip("cifar_probs.dat is not in CALIBKIT_DATA")
    return data.load("cifar10-vgg16", original=True)


@pytest.mark.parametrize(("view", "kind", "n_bins", "norm", "plain", "wanted"), NETWORK)
def test_the_network_of_source_003(network, view, kind, n_bins, norm, plain, wanted):
    bins = (ck.EqualMass if kind == "m" else ck.EqualWidth)(n_bins)
    options = {"view": view, "bins": bins, "norm": norm}
    found = debiased_calibration_error(network.y_true, network.y_prob, **options)
    # It closes bins on the right: at an edge, ties fall on the other side.
    assert found.plain == pytest.approx(plain, abs=2e-5)
    assert found.value == pytest.approx(wanted, abs=1e-4 if norm == 1 else 2e-5)


def test_of_the_network_two_classes_have_negative_squares(network):
    """The library cuts each class at 0 and then averages: .0106713 instead of .0105."""
    found = debiased_calibration_error(network.y_true, network.y_prob, view="class-wise")
    assert found.squared == pytest.approx(found.per_view.mean(), abs=1e-12)
    assert np.flatnonzero(found.per_view < 0).tolist() == [6, 7]
    cut = np.sqrt(np.maximum(found.per_view, 0).mean())
    assert cut == pytest.approx(0.010671296134445332, abs=2e-6)
    assert found.value < cut


# --- the result ---------------------------------------------------------------------------------


def test_a_negative_square_is_kept_and_said():
    found = debiased_calibration_error([0, 1, 1, 0], [0.5] * 4, bins=1)
    assert found.squared == pytest.approx(-1 / 12, abs=1e-15) and float(found) == 0
    assert "debiased square is -0.083333" in found.describe()
    assert (found.n, found.bins, found.view) == (4, "1 equal-width bin", "positive class")
    found = debiased_calibration_error([0, 1], [0.1, 0.8], bins=2)
    assert found.squared == 0
    assert "2 bins hold one prediction only." in found.describe()


test_impossible_options = refuses_options(
    partial(debiased_calibration_error, [0, 1, 1], [0.2, 0.4, 0.9]),
    ({"norm": 3}, "norm must be 1 or 2"),
    ({"norm": "2"}, "norm must be 1 or 2"),
    ({"method": "best"}, 'method must be "frequency" or "pairwise"'),
    ({"method": "pairwise", "norm": 1}, "use norm=2"),
)


@pytest.mark.slow
@given(rows, st.sampled_from([1, 3, 8]))
def test_slope_one_bins_report_the_same_numbers(table, n_bins):
    y, p = table
    fit = fit_on_test(y, p, evaluator=SlopeOneBinning(n_bins))
    wanted = [debiased_calibration_error(y, p, bins=n_bins, norm=k) for k in (1, 2)]
    assert fit.debiased == pytest.approx(wanted[0].value, abs=1e-12)
    assert fit.debiased_squared == pytest.approx(wanted[1].squared, abs=1e-12)
    assert np.isnan(fit_on_test(y, p, evaluator=HistogramBinning(n_bins)).debiased)
