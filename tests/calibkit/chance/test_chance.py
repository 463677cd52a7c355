"""Null levels, consistency bands, bootstrap intervals: formulas exactly, claims by simulation.

Simulations are seeded. Where a bound is stated in standard errors, a change of the seed alone
would break a test that uses four of them about once in 16 000 cases.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

import calibkit as ck
from calibkit.chance.null import redrawn_labels
from calibkit.inputs import as_generator
from tests.helpers import binary_data, class_data, class_measures, measures, numbers

ECE = ck.expected_calibration_error


def own_measure(y_true: Any, y_prob: Any) -> float:
    return 1.0


# --- null level: formulas -----------------------------------------------------------------------


def test_p_value_on_a_toy() -> None:
    """A measure that returns 0, 1, 2, ... : redraws 1 to 9, of which six are >= 4."""
    counter = iter([4.0, *range(1, 10)])
    null = ck.null_level(lambda y, p: next(counter), [0, 1], [0.5, 0.5], n_draws=9, rng=0)
    assert null.draws.tolist() == list(range(1, 10))
    assert null.value == 4
    assert null.p_value == (1 + 6) / (9 + 1)
    assert (null.mean, null.median) == (5, 5)
    assert null.sd == pytest.approx(np.std(range(1, 10), ddof=1))
    assert null.low == pytest.approx(np.quantile(range(1, 10), 0.05))
    assert null.high == pytest.approx(np.quantile(range(1, 10), 0.95))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((10.0, *range(1, 10)), 1 / 10),  # never 0
        ((-1.0, *range(1, 10)), 1.0),
        ((9.0, *range(1, 10)), 2 / 10),
        ((0.3, 0.1 + 0.2, 0.3 - 1e-16, 0.2), 3 / 4),  # rounding does not break ties
    ],
)
def test_p_values(values: Any, expected: float) -> None:
    counter, n = iter(values), len(values) - 1
    null = ck.null_level(lambda y, p: next(counter), [0, 1], [0.5, 0.5], n_draws=n, rng=0)
    assert null.p_value == expected


def test_labels_that_cannot_change_and_a_single_draw() -> None:
    null = ck.null_level(ECE, [0, 1, 1], [0.0, 1.0, 1.0], n_draws=20, rng=0)
    assert null.draws.tolist() == [0] * 20
    assert (null.value, null.p_value) == (0, 1)
    null = ck.null_level(ECE, *binary_data(50), n_draws=1, rng=0)
    assert np.isnan(null.sd) and null.p_value in (0.5, 1.0)
    assert "nan" not in null.describe() and "too few redraws to tell" in null.describe()
    with pytest.raises(ValueError, match=r"nan in \d of 9 redraws"):
        ck.null_level(lambda y, p: 1 / y[0] if y[0] else np.nan, [1], [0.5], n_draws=9, rng=0)


def test_labels_are_redrawn_with_the_probabilities_of_their_row() -> None:
    """A measure that records the labels: their means are the predictions."""
    prob = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [0.05, 0.05, 0.9], [1 - 9e-6, 0, 0]])
    seen: list[Any] = []

    def record(y_true: Any, y_prob: Any) -> float:
        seen.append(np.asarray(y_true))
        assert np.array_equal(y_prob, prob)
        return 0.0

    ck.null_level(record, [0, 1, 2, 0], prob, n_draws=8000, rng=1)
    share = np.mean([np.eye(3)[labels] for labels in seen[1:]], axis=0)
    assert np.abs(share - prob).max() < 4 * np.sqrt(0.25 / 8000)
    assert (share[prob == 0] == 0).all()
    assert share[3].tolist() == [1, 0, 0]  # though it misses the sum 1
    ck.null_level(ck.log_loss, np.zeros(9999, int), prob[[3] * 9999], n_draws=99, rng=0)  # no inf


def test_what_a_null_level_says() -> None:
    assert ck.null_level(own_measure, [0, 1], [0.5, 0.5], rng=0).name == "own measure"
    calibrated = ck.null_level(ECE, *binary_data(300, exponent=1), rng=0).describe()
    assert "no evidence of miscalibration" in calibrated
    wrong = ck.null_level(ECE, *binary_data(300, exponent=3), rng=0)
    assert wrong.p_value == 1 / 1001
    assert f"{wrong.value:.4f}" in wrong.describe()
    assert "p = 0.001: more than chance explains (5 % level)" in wrong.describe()


# --- null level: any measure --------------------------------------------------------------------

BINARY = binary_data(150, seed=8)
CLASSES = class_data(150, 3, seed=8)


@pytest.mark.parametrize("run", [ck.null_level, ck.bootstrap_interval])
def test_a_result_s_words_say_nothing_to_a_redraw(run: Callable[..., Any]) -> None:
    """What a table calls its view is text for people: renamed, nothing changes."""

    def renamed(y_true: Any, y_prob: Any) -> Any:
        error = ECE(y_true, y_prob)
        return replace(error, tables=(replace(error.tables[0], view="rain tomorrow"),))

    first = run(renamed, *BINARY, n_draws=20, rng=3)
    other = run(ECE, *BINARY, n_draws=20, rng=3)
    assert first.draws.tolist() == other.draws.tolist()


@pytest.mark.parametrize("run", [ck.null_level, ck.bootstrap_interval])
def test_weights_are_refused(run: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="takes no sample_weight"):
        run(ECE, *BINARY, sample_weight=np.ones(150))


def test_what_was_warned_of_once_is_not_repeated() -> None:
    labels = np.array([0, 1, 1, 0])
    prob = np.array([[0.6, 0.4, 0], [0.3, 0.6, 0.1]] * 2)
    with pytest.warns(ck.CalibrationWarning) as caught:
        ck.null_level(ck.class_wise_calibration_error, labels, prob, n_draws=30, rng=0)
    assert len(caught) == 1


def test_bins_that_look_at_the_labels_are_found_anew_in_each_redraw() -> None:
    calls = []

    class Peeking(ck.EqualWidth):
        uses_labels = True

        def edges(self, prob: Any, label: Any = None) -> Any:
            calls.append(label is not None)
            return ck.EqualWidth.edges(self, prob, label)

    ck.null_level(ECE, *BINARY, n_draws=20, rng=0, bins=Peeking(5))
    assert calls == [True] * 21


# --- null level: truth --------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "n_bins"), [(300, 15), (2000, 15), (2000, 30)])
def test_redraws_agree_with_the_closed_form(n: int, n_bins: int) -> None:
    """3 %; the standard error of the mean of 4000 redraws is below .4 %."""
    labels, prob = binary_data(n, seed=n)
    null = ck.null_level(ECE, labels, prob, bins=n_bins, n_draws=4000, rng=0)
    error = ECE(labels, prob, bins=n_bins)
    assert error.null_mean == pytest.approx(null.mean, rel=0.03)
    assert error.null_sd == pytest.approx(null.sd, rel=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "classes"),
    [(ECE, False), (ck.maximum_calibration_error, False), (ECE, True)],
    ids=["expected", "maximum", "top-label"],
)
def test_p_values_are_uniform_under_calibration(measure: Callable[..., Any], classes: bool) -> None:
    """Chi-square over ten equal cells; false alarms: one in 1000 changes of the seed."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(600):
        prob = rng.dirichlet(np.ones(3), 200) if classes else rng.random(200)
        labels = next(redrawn_labels(prob, 1, rng))
        options = {"view": "top-label"} if classes else {}
        null = ck.null_level(measure, labels, prob, n_draws=39, rng=rng, **options)
        found.append(round(40 * null.p_value))  # a rank, 1 to 40
    counts = np.histogram(found, bins=np.arange(0.5, 41, 4))[0]
    assert counts.sum() == 600
    assert stats.chisquare(counts).pvalue > 1e-3


def test_null_level_of_a_proper_score_is_its_expectation() -> None:
    """A calibrated model expects a Brier score of mean p (1 - p)."""
    labels, prob = binary_data(300)
    null = ck.null_level(ck.brier_score, labels, prob, n_draws=2000, rng=0)
    expected = (prob * (1 - prob)).mean()
    assert null.mean == pytest.approx(expected, abs=4 * null.sd / np.sqrt(2000))


# --- consistency bands --------------------------------------------------------------------------


@pytest.mark.slow
def test_simultaneous_bands_hold_everywhere_as_often_as_they_say() -> None:
    """Within three standard errors."""
    rng, held = np.random.default_rng(1), []
    for _ in range(1000):
        prob = rng.random(300)
        label = rng.random(300) < prob
        band = ck.consistency_band(label, prob, simultaneous=True, n_draws=200, rng=rng)
        held.append(not band.outside.any())
    assert np.mean(held) == pytest.approx(0.9, abs=0.03)


def test_pointwise_ends_are_quantiles_of_binomial_frequencies() -> None:
    """With one prediction value per bin, the exact distribution is known."""
    labels = np.tile([0, 1], 200)
    prob = np.repeat([0.2, 0.7], [150, 250])
    band = ck.consistency_band(labels, prob, bins=2, n_draws=20_000, rng=0, level=0.8)
    for b, (n, p) in enumerate([(150, 0.2), (250, 0.7)]):
        exact = stats.binom.ppf([0.1, 0.9], n, p) / n
        assert band.lower[b] == pytest.approx(exact[0], abs=1.01 / n)
        assert band.upper[b] == pytest.approx(exact[1], abs=1.01 / n)


def test_simultaneous_ends_are_a_multiple_of_standard_deviations() -> None:
    labels, prob = binary_data(600)
    band = ck.consistency_band(labels, prob, bins=6, simultaneous=True, n_draws=2000, rng=0)
    table = band.table
    index = (prob * 6).astype(int)
    sd = np.sqrt(np.bincount(index, prob * (1 - prob))) / table.count
    reach = np.array([table.mean_prob - band.lower, band.upper - table.mean_prob]) / sd
    inside = np.array([band.lower > 0, band.upper < 1])
    assert reach[inside] == pytest.approx(np.full(inside.sum(), reach[inside][0]), rel=1e-9)
    # Six nearly independent normal deviations: the 90 % quantile of the largest.
    exact = stats.norm.ppf((1 + 0.9 ** (1 / 6)) / 2)
    assert reach[inside][0] == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("simultaneous", [False, True])
class TestBandShape:
    def test_it_lies_in_the_unit_interval_and_is_nan_where_empty(self, simultaneous: bool) -> None:
        prob = np.repeat([0.01, 0.02, 0.5, 0.99], 5)
        labels = np.tile([0, 1], 10)
        band = ck.consistency_band(labels, prob, simultaneous=simultaneous, rng=0)
        used = band.table.occupied
        assert np.isnan(band.lower[~used]).all()
        assert np.isnan(band.upper[~used]).all()
        assert not band.outside[~used].any()
        assert (band.lower[used] >= 0).all()
        assert (band.upper[used] <= 1).all()
        assert (band.lower[used] <= band.table.mean_prob[used] + 1e-12).all()
        assert (band.upper[used] >= band.table.mean_prob[used] - 1e-12).all()

    def test_predictions_of_0_and_1_leave_no_room(self, simultaneous: bool) -> None:
        prob = [0.0, 0.0, 1.0, 1.0]
        right = ck.consistency_band([0, 0, 1, 1], prob, simultaneous=simultaneous, rng=0, bins=2)
        assert right.lower.tolist() == right.upper.tolist() == [0, 1]
        assert not right.outside.any()
        wrong = ck.consistency_band([0, 1, 1, 0], prob, simultaneous=simultaneous, rng=0, bins=2)
        assert wrong.outside.tolist() == [True, True]


# --- bootstrap ----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_ends_of_the_interval(level: float) -> None:
    data = binary_data(200)
    reflected = ck.bootstrap_interval(ECE, *data, level=level, rng=0, method="reflected")
    percentile = ck.bootstrap_interval(ECE, *data, level=level, rng=0, method="percentile")
    assert np.array_equal(reflected.draws, percentile.draws)
    low, high = np.quantile(reflected.draws, [(1 - level) / 2, (1 + level) / 2])
    assert (percentile.low, percentile.high) == (low, high)
    value = float(ECE(*data))
    assert reflected.value == percentile.value == value
    assert (reflected.low, reflected.high) == (2 * value - high, 2 * value - low)


def test_rows_of_a_bootstrap_keep_their_labels() -> None:
    """A measure that looks at pairs: every resampled pair is one of the data."""
    labels, prob = binary_data(30)
    pairs = set(zip(labels.tolist(), prob.tolist(), strict=True))
    sizes = []

    def check(y_true: Any, y_prob: Any) -> float:
        drawn = list(zip(y_true.tolist(), y_prob.tolist(), strict=True))
        assert set(drawn) <= pairs
        sizes.append((len(drawn), len(set(drawn))))
        return float(y_prob.mean())

    interval = ck.bootstrap_interval(check, labels, prob, n_draws=400, rng=0)
    assert {size for size, _ in sizes} == {30}
    assert np.mean([kept for _, kept in sizes[1:]]) / 30 == pytest.approx(0.638, abs=0.02)
    se = prob.std() / np.sqrt(30)
    assert interval.draws.std() == pytest.approx(se, rel=0.15)


# --- random numbers -----------------------------------------------------------------------------


# What keeps more of its redraws than a p-value.
DRAWN = ("null_level", "bootstrap", "consistency_band", "test_based", "fit_on_test", "smooth_curve")


@pytest.mark.parametrize(
    ("data", "found"), [(BINARY, measures()), (CLASSES, class_measures())], ids=["event", "rows"]
)
def test_random_numbers_follow_the_seed(data: Any, found: dict[str, Any]) -> None:
    for name, measure in found.items():
        if not any(word in name for word in DRAWN):
            continue
        run, generator = partial(measure, *data, n_draws=20), as_generator(5)
        seeded, same, later, other = (numbers(run(rng=rng)) for rng in (5, generator, generator, 6))
        assert np.array_equal(seeded, same, equal_nan=True), name
        for another in (later, other, numbers(run(rng=None))):
            assert not np.array_equal(seeded, another, equal_nan=True), name
