"""Weights and named labels: a row of weight 2 is that row twice, one of weight 0 is left out."""

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression

import calibkit as ck
from calibkit import scores
from tests.helpers import binary_data, class_data, coarse_binary, coarse_classes, each_case

Measure = Callable[..., Any]


def weighted(view: Any = None, bins: Any = 5) -> dict[str, Measure]:
    """Return everything that takes weights, as ``measure(y, p, **rows)``."""
    o = {"view": view, "bins": bins}

    def fixed(measure: Measure, **options: Any) -> Measure:
        return lambda y, p, **rows: measure(y, p, **options, **rows)

    return {
        "general": fixed(ck.calibration_error, norm=3, weights="equal", **o),
        "expected": fixed(ck.expected_calibration_error, **o),
        "adaptive": fixed(ck.adaptive_calibration_error, view=view, bins=4),
        "average": fixed(ck.average_calibration_error, **o),
        "maximum": fixed(ck.maximum_calibration_error, **o),
        "root_mean_square": fixed(ck.root_mean_square_calibration_error, **o),
        "class_wise": fixed(ck.class_wise_calibration_error, bins=bins),
        "marginal": fixed(ck.marginal_calibration_error, bins=bins),
        "top_label": fixed(ck.top_label_calibration_error, bins=bins),
        "smooth": fixed(ck.smooth_ece, view=view),
        "brier_score": ck.brier_score,
        "brier_score_mean": fixed(ck.brier_score, classes="mean"),
        "log_loss": ck.log_loss,
        "brier_decomposition": fixed(ck.brier_decomposition, **o),
        "brier_decomposition_distinct": fixed(ck.brier_decomposition, view=view),
        "corp": fixed(scores.corp_decomposition, view=view),
        "corp_log": fixed(scores.corp_decomposition, view=view, score="log"),
        "miscalibration": fixed(scores.miscalibration, view=view),
    }


PARTS = ("value", "score", "miscalibration", "discrimination", "uncertainty", "within_bin")
CURVE = ("per_view", "recalibrated", "mean_prob", "low", "high")


def same(one: Any, other: Any) -> None:
    """Compare what does not count rows."""
    compared = 0
    for part in (*PARTS, *CURVE):
        if hasattr(one, part):
            np.testing.assert_allclose(getattr(one, part), getattr(other, part), atol=1e-11)
            compared += 1
    assert compared


ALL = {
    "binary": (None, (ck.EqualMass(4), 5)),
    "top-label": ("top-label", (5, ck.Pava())),
    "class 1": (1, (ck.Distinct(), ck.EqualMass(4, rule="quantile"))),
}


def rows_of(view: Any, seed: int) -> tuple[Any, Any]:
    """Draw rows with many ties for the first seeds, none for the last; never certain."""
    n = 1 + 20 * seed
    if view is None:
        y, p = coarse_binary(n, 16, seed) if seed < 3 else binary_data(n, seed)
        return y, np.clip(p, 0.01, 0.99)
    y, p = coarse_classes(n, 3, 16, seed) if seed < 3 else class_data(n, 3, seed)
    return y, (p + 0.01) / (p + 0.01).sum(1, keepdims=True)


@pytest.mark.filterwarnings("ignore::calibkit.CalibrationWarning")  # some classes are absent
@pytest.mark.parametrize("case", ALL)
@pytest.mark.parametrize("name", weighted())
def test_a_row_of_weight_two_is_that_row_twice(name: str, case: str, subtests) -> None:
    view, all_bins = ALL[case]
    for seed, bins in itertools.product(range(4), all_bins):
        y, p = rows_of(view, seed)
        times = np.random.default_rng(seed).integers(0, 4, len(y))
        times[0] += 1
        measure = weighted(view, bins)[name]
        with subtests.test(seed=seed, bins=bins):
            same(measure(y, p, sample_weight=times), measure(y.repeat(times), p.repeat(times, 0)))


@each_case("name", weighted())
def test_only_the_ratio_of_weights_counts(name: str) -> None:
    """Real weights: equal to themselves on any scale, and different from none at all."""
    y, p = binary_data(200, 1)
    weight = np.random.default_rng(0).random(200)
    if name == "adaptive":
        with pytest.raises(ValueError, match="4 equal-mass bins count rows, so sample_weight must"):
            weighted()[name](y, p, sample_weight=weight)
        return
    measure = weighted()[name]
    if name in ("marginal", "top_label"):
        measure = weighted(None, 5)[name]
    one, other = (measure(y, p, sample_weight=w) for w in (weight, 0.37 * weight))
    same(one, other)
    assert float(one) != pytest.approx(float(measure(y, p)), abs=1e-9)


def test_scikit_learn_weighs_alike() -> None:
    y, p = binary_data(300, 2)
    w = np.random.default_rng(1).random(300)
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
    y, p, w = [0, 1, 1, 1], [0.2, 0.4, 0.6, 0.9], [3, 1, 0, 2]
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


def refusing() -> dict[str, Measure]:
    """Return what refuses weights."""
    return {
        "binary_problem": ck.binary_problem,
        "binary_problems": ck.binary_problems,
        "debiased": ck.debiased_calibration_error,
    }


CHANCE = {  # what has no weights
    "bootstrap": lambda y, p, **rows: ck.bootstrap_interval(ck.brier_score, y, p, **rows),
    "hosmer_lemeshow": ck.hosmer_lemeshow,
    "spiegelhalter": ck.spiegelhalter,
    "cox_test": ck.cox_test,
    "cumulative_differences": ck.cumulative_differences,
    "adaptive_test": ck.adaptive_test,
    "test_based": ck.test_based_calibration_error,
    "consistency_band": ck.consistency_band,
}


@pytest.mark.parametrize("name", [*weighted(), *refusing(), *CHANCE])
def test_words_as_labels(name: str) -> None:
    measure = (weighted() | refusing() | CHANCE)[name]
    y, p = binary_data(50, 4)
    seed = {"rng": 0} if name in ("bootstrap", "consistency_band", "test_based") else {}
    if name in ("adaptive_test",):
        seed = {"rng": 0, "n_draws": 3}
    wanted = repr(measure(y, p, **seed))
    named = repr(measure(np.array(["no", "yes"])[y], p, positive="yes", **seed))
    truth = repr(measure(y == 1, p, positive=True, **seed))
    assert [named, truth] == [wanted, wanted] or name.startswith("binary_problem")
    with pytest.raises(ValueError, match="2 labels beside positive='yes': 'no'"):
        measure(["no", "yes", "NA"], [0.1, 0.5, 0.6], positive="yes")
    with pytest.raises(ValueError, match="positive='yes'"):
        measure(["no", "yes", "no"], [0.1, 0.5, 0.6])


def test_every_measure_of_the_front_page_reads_rows_alike(subtests: pytest.Subtests) -> None:
    measures = {
        name: inspect.signature(getattr(ck, name)).parameters
        for name in set(ck.__all__) - {"audit", "compare"}
        if inspect.isfunction(getattr(ck, name))
    }
    found = {name: parameters for name, parameters in measures.items() if "y_true" in parameters}
    assert len(found) > 20
    for name, parameters in found.items():
        with subtests.test(name=name):
            *_, last = parameters.values()  # a measure of measures hands its options on
            assert last.kind is last.VAR_KEYWORD or "positive" in parameters


@each_case("name", [*weighted(), *refusing()])
def test_misspelt_options_are_errors(name: str) -> None:
    y, p = binary_data(20)
    with pytest.raises(TypeError, match="sample_weights"):
        (weighted() | refusing())[name](y, p, sample_weights=np.ones(20))
