"""The smooth calibration error: its sums one by one, what is proved, relplot's numbers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize, stats
from scipy.integrate import trapezoid

from calibkit import smooth_ece
from calibkit.errors import canonical_calibration_error
from calibkit.fakes import DirichletFake, Power
from tests.helpers import binary_data, golden, golden_data, rows_with

# Of a Gaussian with standard deviation s: twice its density at 0, times s; and its mean size.
STEEP = np.sqrt(2 / np.pi)
ROWS = rows_with(st.floats(0, 1), 30)


def by_rows(labels: Any, prob: Any, width: float) -> float:
    """Add up a reflected Gaussian per row on a fine grid, the slow and simple way."""
    at = np.linspace(0, 1, 20_001)
    total = np.zeros_like(at)
    for y, p in zip(labels, prob, strict=True):
        for turn in range(-1 - int(4 * width), 2 + int(4 * width)):
            for image in (p + 2 * turn, -p + 2 * turn):
                total += (p - y) * np.exp(-(((at - image) / width) ** 2) / 2)
    return float(trapezoid(np.abs(total), at) / (np.sqrt(2 * np.pi) * width * len(prob)))


@pytest.mark.parametrize("width", [0.002, 0.01, 0.05, 0.3, 2.0])
def test_the_waves_are_the_sum_over_rows(width: float) -> None:
    labels, prob = binary_data(20, seed=1)
    prob[:5] = [0.0, 0.0, 1.0, 1.0, 0.5]
    found = smooth_ece(labels, prob, bandwidth=width)
    assert found.value == pytest.approx(by_rows(labels, prob, width), rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_bandwidth_is_the_error(seed: int) -> None:
    labels, prob = binary_data(40, seed, exponent=2)
    found = smooth_ece(labels, prob)
    assert found.bandwidth[0] == pytest.approx(found.value, abs=1e-13)
    assert by_rows(labels, prob, found.value) == pytest.approx(found.value, rel=1e-4)


@pytest.mark.slow
def test_the_grid_is_fine_enough_for_a_narrow_kernel() -> None:
    """Many rows, few of them events: the bandwidth is far below a cell of the first grid."""
    rng = np.random.default_rng(0)
    prob = rng.beta(2, 700, 300_000)
    labels = rng.random(len(prob)) < prob
    found = smooth_ece(labels, prob)
    assert found.value < 1 / 2048
    cells = np.bincount(np.round(prob * 2**20).astype(np.intp), prob - labels, 2**20 + 1)
    waves = np.fft.rfft(cells, 2**21).real
    waves *= np.exp(-((np.pi * found.value * np.arange(2**20 + 1)) ** 2) / 2)
    area = 2 * np.abs(np.fft.irfft(waves)[: 2**20 + 1]).sum() / len(prob)
    assert found.value == pytest.approx(area, rel=1e-3)


# --- what is proved ------------------------------------------------------------------------------


@pytest.mark.slow
@given(ROWS)
def test_a_wider_kernel_leaves_less_error(rows: Any) -> None:
    labels, prob = rows
    widths = [0.01, 0.02, 0.1, 0.5, 3.0]
    errors = [smooth_ece(labels, prob, bandwidth=s).value for s in widths]
    assert (np.diff(errors) <= 1e-4).all()  # the grid changes with the bandwidth
    # Between the error of the mean and the error of distinct predictions.
    _, group = np.unique(prob, return_inverse=True)
    apart = np.abs(np.bincount(group, prob - labels)).sum() / len(prob)
    assert errors[0] <= apart + 1e-12 and errors[-1] >= abs((prob - labels).mean()) - 1e-12


@given(ROWS, st.floats(0.02, 0.5), st.integers(0, 10**6))
def test_it_moves_little_where_predictions_move_little(rows, width, seed) -> None:
    """Moving a kernel by d moves at most ``d sqrt(2 / pi) / s`` of its mass, a residual by d."""
    labels, prob = rows
    moved = np.clip(prob + 0.02 * np.random.default_rng(seed).normal(size=len(prob)), 0, 1)
    one, other = (smooth_ece(labels, p, bandwidth=width).value for p in (prob, moved))
    assert abs(one - other) <= np.abs(prob - moved).mean() * (1 + STEEP / width) + 1e-4


@pytest.mark.parametrize("prob", [1 / 2048, 3e-4, 1e-5, 1e-9, 1e-300])
def test_a_single_small_mistake_is_the_error(prob: float) -> None:
    """Narrower than a cell of the grid, where a kernel rings."""
    assert smooth_ece([0], [prob]).value == pytest.approx(prob, rel=1e-4)


@pytest.mark.slow
@given(ROWS)
def test_it_is_at_most_twice_the_root_of_the_distance_from_calibration(rows) -> None:
    """Any way to replace predictions by frequencies of groups gives a distance that bounds it."""
    labels, prob = rows
    error = smooth_ece(labels, prob).value
    for n_groups in (1, 2, 4, 8):
        group = np.minimum((prob * n_groups).astype(np.intp), n_groups - 1)
        count = np.maximum(np.bincount(group), 1)
        frequency = (np.bincount(group, labels) / count)[group]
        assert error <= 2 * np.sqrt(np.abs(prob - frequency).mean()) + 1e-9


@pytest.mark.parametrize("seed", range(1, 5))
def test_no_lipschitz_test_function_sees_more(seed: int) -> None:
    """``mean of w(p) (y - p) <= smECE_s + s sqrt(2/pi) mean|y - p|`` for all slopes up to 1."""
    labels, prob = binary_data(60, seed, exponent=1 + seed)
    order = np.argsort(prob)
    prob, residual = prob[order], (labels - prob)[order]
    slopes = np.eye(60)[1:] - np.eye(60)[:-1]
    limits = np.tile(np.diff(prob), 2)
    sides = np.concatenate([slopes, -slopes])
    sup = optimize.linprog(-residual / 60, sides, limits, bounds=(-1, 1))
    error = smooth_ece(labels[order], prob).value
    assert -sup.fun <= error * (1 + STEEP * np.abs(residual).mean()) + 1e-6
    assert -sup.fun > 0.3 * error  # and it is no bound by being far off


@pytest.mark.parametrize("prob", [0.0, 0.2, 0.999, 1.0])
def test_equal_predictions_are_compared_with_their_frequency(prob: float) -> None:
    labels = np.arange(40) % 4 == 0
    assert smooth_ece(labels, np.full(40, prob)).value == pytest.approx(abs(prob - 0.25))


# --- beside the rest -----------------------------------------------------------------------------


def test_the_curves_are_those_of_the_error() -> None:
    labels, prob = binary_data(3000, exponent=1.6)
    found = smooth_ece(labels, prob, bandwidth=0.05)
    gap = found.mean_prob[0] - found.frequency[0]
    assert trapezoid(found.density[0], found.prob) == pytest.approx(1, abs=1e-6)
    area = trapezoid(found.density[0] * np.abs(gap), found.prob)
    assert area == pytest.approx(found.value, abs=1e-5)


def test_curves_end_where_the_predictions_do() -> None:
    found = smooth_ece([0, 1, 0, 1], [0.2, 0.21, 0.22, 0.23], bandwidth=0.02)
    shown = found.prob[~np.isnan(found.frequency[0])]
    assert 0.13 < shown[0] < 0.2 and 0.23 < shown[-1] < 0.3


# --- relplot -------------------------------------------------------------------------------------

THEIRS = golden("relplot.json")


def forms(case: str) -> tuple[Any, Any]:
    """Return the data of a case: those of a golden file, changed."""
    name, form = case.split(", ")
    labels, prob = golden_data(name)
    changed = {"as it is": prob, "one digit": prob.round(1), "inverted": 1 - prob}
    return labels, {**changed, "sixth power": prob**6}[form]


@pytest.mark.parametrize("case", THEIRS)
def test_how_far_relplot_is_from_the_definition(case: str) -> None:
    data, theirs = forms(case), THEIRS[case]
    value = smooth_ece(*data).value
    if "as it is" not in case:  # a wide kernel, or predictions at the ends
        assert abs(value - theirs["value"]) < 0.07
        return
    assert value == pytest.approx(theirs["value"], abs=0.001)
    at = smooth_ece(*data, bandwidth=0.05)
    assert at.value == pytest.approx(theirs["at 0.05"], rel=0.01)
    shown = at.frequency[0][::32]
    seen = ~np.isnan(shown)
    assert seen.sum() >= 4
    # Their grid has 1001 points, and a little is added to the density.
    np.testing.assert_allclose(shown[seen], np.array(theirs["frequency at 0.05"])[seen], atol=3e-3)


# --- whole vectors ------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [1, 2])
def test_the_canonical_error_is_its_sums(norm: float) -> None:
    """Row by row, with scipy's Dirichlet density."""
    draw = DirichletFake((1, 2, 3), Power(2)).sample(40, rng=3)
    label, prob = draw.y_true, draw.y_prob
    distance = 0.0
    for i in range(40):
        others = [j for j in range(40) if j != i]
        weight = [stats.dirichlet.pdf(prob[i] / prob[i].sum(), 1 + prob[j] / 0.1) for j in others]
        true = np.average(np.eye(3)[label[others]], axis=0, weights=weight)
        distance += (np.abs(true - prob[i]) ** norm).sum() / 40
    found = canonical_calibration_error(label, prob, norm=norm, bandwidth=0.1)
    assert found.value == pytest.approx(distance ** (1 / norm), rel=1e-6)
    turned = canonical_calibration_error((label + 1) % 3, np.roll(prob, 1, axis=1), norm=norm)
    assert turned.value == pytest.approx(canonical_calibration_error(label, prob, norm=norm).value)


def test_rows_that_say_zero_have_neighbours_that_do() -> None:
    label = [0, 1, 0, 1, 2, 2]
    prob = np.array([[0.5, 0.5, 0]] * 4 + [[0, 0, 1]] * 2)
    found = canonical_calibration_error(label, prob, bandwidth=0.05)
    assert found.true_prob[4:].tolist() == [[0, 0, 1]] * 2
    assert found.true_prob[:4, 2].tolist() == [0] * 4
    with pytest.raises(ValueError, match=r"one column per class, got \(6,\)"):
        canonical_calibration_error([0, 1] * 3, prob[:, 0])
    with pytest.raises(ValueError, match=r"two rows or more"):
        canonical_calibration_error([0], prob[:1])
