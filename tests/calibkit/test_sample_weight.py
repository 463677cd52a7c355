"""Weights and named labels: a row of weight 2 is that row twice, one of weight 0 is left out."""

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression

import calibkit as ck
from calibkit import scores
from tests.helpers import (
    Measure,
    assert_same,
    binary_data,
    class_data,
    coarse_binary,
    coarse_classes,
    measures,
)

CLINIC = ("smooth_curve", "decision_curve")


def weighted(view: Any = None, bins: Any = 5) -> dict[str, Measure]:
    """Return everything that takes weights, as ``measure(y, p, **rows)``."""
    return {
        name: measure
        for name, measure in measures(view, bins).items()
        if {"sample_weight", "rows"} & set(inspect.signature(measure).parameters)
        and not name.startswith(("binary_problem", *CLINIC))  # which refuse them
    }


PARTS = (
    *("value", "score", "miscalibration", "discrimination", "uncertainty", "within_bin"),
    *("per_view", "recalibrated", "mean_prob", "frequency", "low", "high", "in_vain", "missed"),
)


def same(one: Any, other: Any) -> None:
    """Compare what does not count rows."""
    if isinstance(one, tuple):
        (one,), (other,) = one, other
    parts = [part for part in PARTS if hasattr(one, part)]
    assert parts
    for part in parts:
        np.testing.assert_allclose(getattr(one, part), getattr(other, part), atol=1e-11)


CASES = [
    (None, ck.EqualMass(4)),
    (None, 5),
    ("top-label", 5),
    ("top-label", ck.Pava()),
    (1, ck.Distinct()),
    (1, ck.EqualMass(4, rule="quantile")),
]


def rows_of(view: Any, seed: int) -> tuple[Any, Any]:
    """Draw rows with many ties for the first seeds, none for the last; never certain."""
    n = 1 + 20 * seed
    if view is None:
        y, p = coarse_binary(n, 16, seed) if seed < 3 else binary_data(n, seed)
        return y, np.clip(p, 0.01, 0.99)
    y, p = coarse_classes(n, 3, 16, seed) if seed < 3 else class_data(n, 3, seed)
    return y, (p + 0.01) / (p + 0.01).sum(1, keepdims=True)


@pytest.mark.filterwarnings("ignore::calibkit.CalibrationWarning")  # some classes are absent
@pytest.mark.parametrize(("view", "bins"), CASES, ids=str)
@pytest.mark.parametrize("name", weighted())
def test_a_row_of_weight_two_is_that_row_twice(name: str, view: Any, bins: Any) -> None:
    measure = weighted(view, bins)[name]
    for seed in (0, 2, 3):
        y, p = rows_of(view, seed)
        times = np.random.default_rng(seed).integers(0, 4, len(y))
        times[0] += 1
        same(measure(y, p, sample_weight=times), measure(y.repeat(times), p.repeat(times, 0)))


@pytest.mark.parametrize("name", weighted())
def test_only_the_ratio_of_weights_counts(name: str) -> None:
    """Real weights: equal to themselves on any scale, and different from none at all."""
    y, p = binary_data(200, 1)
    weight, measure = np.random.default_rng(0).random(200), weighted()[name]
    if name == "adaptive_calibration_error":
        with pytest.raises(ValueError, match="5 equal-mass bins count rows, so sample_weight must"):
            measure(y, p, sample_weight=weight)
        return
    for one in (weight, np.rint(1e12 * weight)):  # whole numbers whose products exceed 64 bits
        same(*(measure(y, p, sample_weight=w) for w in (one, 0.37 * one)))
    with pytest.raises(AssertionError, match="Mismatched elements"):
        same(measure(y, p, sample_weight=weight), measure(y, p))


@pytest.mark.parametrize("weigh", [False, True])
def test_scikit_learn_weighs_alike(weigh: bool) -> None:
    y, p = binary_data(300, 2)
    w = np.random.default_rng(1).random(300) if weigh else None
    wanted = metrics.brier_score_loss(y, p, sample_weight=w)
    assert float(ck.brier_score(y, p, sample_weight=w)) == pytest.approx(wanted, abs=1e-13)
    assert ck.brier_decomposition(y, p, sample_weight=w).score == pytest.approx(wanted, abs=1e-13)
    wanted = metrics.log_loss(y, p, sample_weight=w)
    assert float(ck.log_loss(y, p, sample_weight=w)) == pytest.approx(wanted, abs=1e-13)
    classes, rows = class_data(300, 4, 2)
    wanted = metrics.log_loss(classes, rows, sample_weight=w, labels=range(4))
    assert float(ck.log_loss(classes, rows, sample_weight=w)) == pytest.approx(wanted, abs=1e-13)
    fitted = IsotonicRegression().fit(p, y, sample_weight=w).predict(p)
    curve = scores.corp_decomposition(y, p, sample_weight=w).recalibrate(p)
    assert curve == pytest.approx(fitted, abs=1e-11)


def test_tables_keep_counting_rows() -> None:
    y = [0, 1, 1, 1]
    p = [0.2, 0.4, 0.6, 0.9]
    w = [3, 1, 0, 2]
    table = ck.reliability_table(y, p, bins=2, sample_weight=w)
    assert table.count.tolist() == [2, 1] and table.mass is not None
    assert table.mass.tolist() == [4, 2] and table.weight == pytest.approx([2 / 3, 1 / 3])
    assert table.mean_prob == pytest.approx([0.25, 0.9]) and table.frequency.tolist() == [0.25, 1]
    assert table.to_frame()["weight"].tolist() == [4, 2]
    assert "3 predictions (positive class, weighted) in 2 equal-width bins" in table.describe()
    observed = calibration_curve(np.repeat(y, w), np.repeat(p, w), n_bins=2)
    assert observed[0] == pytest.approx(table.frequency)


def test_chance_is_not_stated_for_weighted_rows() -> None:
    y, p = binary_data(100)
    error = ck.expected_calibration_error(y, p, sample_weight=np.arange(100))
    assert np.isnan(error.null_mean) and error.describe().endswith("99 predictions).")
    with pytest.raises(ValueError, match="null_moments knows whole rows only"):
        ck.errors.null_moments(error.tables[0])


@pytest.mark.parametrize("name", measures().keys() - {"fit_on_test"})
def test_words_as_labels(name: str) -> None:
    measure, (y, p) = measures()[name], binary_data(50, 4)
    for labels, positive in ((np.array(["no", "yes"])[y], "yes"), (y == 1, True)):
        assert_same(measure(labels, p, positive=positive), measure(y, p), tolerance=0)
    with pytest.raises(ValueError, match="2 labels beside positive='yes': 'no'"):
        measure(["no", "yes", "maybe"], [0.1, 0.5, 0.6], positive="yes")
    with pytest.raises(ValueError, match="positive='yes'"):
        measure(["no", "yes", "no"], [0.1, 0.5, 0.6])


def test_every_measure_of_the_front_page_reads_rows_alike() -> None:
    functions = [f for f in (getattr(ck, name) for name in ck.__all__) if inspect.isfunction(f)]
    signatures = {f.__name__: inspect.signature(f).parameters for f in functions}
    found = {name: one for name, one in signatures.items() if "y_true" in one}
    assert len(found) > 20
    for name, parameters in found.items():
        *_, last = parameters.values()  # a measure of measures hands its options on
        assert last.kind is last.VAR_KEYWORD or "positive" in parameters, name


@pytest.mark.parametrize("name", measures())
def test_misspelt_options_are_errors(name: str) -> None:
    with pytest.raises(TypeError, match="sample_weights"):
        measures()[name](*binary_data(20), sample_weights=np.ones(20))
