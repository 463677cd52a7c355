"""Numbers that other programs or exact arithmetic produced: `tests/golden/README.md`."""

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from tests.helpers import golden, golden_data

# --- plug-in errors of uncertainty-calibration --------------------------------------------------

PLUGIN = golden("plugin_errors.json")
# 1-D data have one event; for rows, "marginal" is the l_p mean over classes.
VIEWS = {"top-label": "top-label", "marginal": "class-wise"}


def binning(rule: str, n_bins: int) -> Any:
    return ck.EqualMass(n_bins) if rule == "equal_mass" else ck.EqualWidth(n_bins)


@pytest.mark.parametrize("case", PLUGIN)
def test_plug_in_errors(case: dict[str, Any]) -> None:
    labels, prob = golden_data(case["data"])
    bins = binning(case["bins"], case["n_bins"])
    view = VIEWS[case["mode"]] if prob.ndim == 2 else None
    error = ck.calibration_error(labels, prob, view=view, bins=bins, norm=case["norm"])
    assert float(error) == pytest.approx(case["error"], abs=1e-12)
    if view is not None:
        named = {
            "top-label": ck.top_label_calibration_error,
            "class-wise": ck.marginal_calibration_error,
        }[view]
        assert float(named(labels, prob, bins=bins, norm=case["norm"])) == float(error)


# Upper ends of equal-mass bins by the same library. It closes bins on the right, calibkit on the
# left. So a tie at a cut stays below the edge there and goes above it here; the edges themselves
# are the same, except where one of them then opens no bin.
EQUAL_MASS = [
    ([0.3, 0.5, 0.2, 0.3, 0.5, 0.7], 1, [1.0], None),
    ([0.3, 0.5, 0.2, 0.3, 0.5, 0.7], 2, [0.4, 1.0], None),
    ([0.3, 0.5, 0.2, 0.3, 0.5, 0.7], 3, [0.3, 0.5, 1.0], None),
    ([0.3, 0.5, 1.0, 1.0, 1.0, 1.0], 3, [0.75, 1.0], None),
    ([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], 3, [0.55, 0.75, 1.0], None),
    ([0.3], 2, [1.0], None),
    # There 0 is the upper end of the bin {0}; here no bin ends at 0, and 0 lies in [0, .5).
    ([0.0, 0.0, 0.0, 0.0, 1.0], 3, [0.0, 0.5, 1.0], [0.5, 1.0]),
]


@pytest.mark.parametrize(("prob", "n_bins", "upper", "ours"), EQUAL_MASS)
def test_equal_mass_edges(prob, n_bins, upper, ours) -> None:
    edges = ck.EqualMass(n_bins).edges(np.array(prob))
    assert edges[0] == 0 and edges[1:] == pytest.approx(ours or upper, abs=1e-15)


# --- tables of a tutorial, in fractions ---------------------------------------------------------

SLIDES = golden("slides.json")


def rows_of(bins: list[dict[str, Any]]) -> tuple[list[int], list[float]]:
    """Turn counts and frequencies into rows."""
    labels: list[int] = []
    prob: list[float] = []
    for row in bins:
        hits = Fraction(row["freq"]) * row["n"]
        assert hits.denominator == 1
        labels += [1] * int(hits) + [0] * (row["n"] - int(hits))
        prob += [float(Fraction(row["p"]))] * row["n"]
    return labels, prob


@pytest.mark.parametrize("table", SLIDES["tables"], ids=lambda table: table["name"])
class TestTablesOfTheTutorial:
    def test_rows(self, table: dict[str, Any]) -> None:
        found = ck.reliability_table(*rows_of(table["bins"]), bins=ck.Distinct())
        assert found.count.tolist() == [row["n"] for row in table["bins"]]
        for column, key in ((found.mean_prob, "p"), (found.frequency, "freq")):
            expected = [float(Fraction(row[key])) for row in table["bins"]]
            assert column == pytest.approx(expected, abs=1e-15)
        gaps = [float(Fraction(row["gap"])) for row in table["bins"]]
        assert np.abs(found.gap) == pytest.approx(gaps, abs=1e-15)

    @pytest.mark.parametrize(
        ("key", "norm", "weights"),
        [("expected", 1, "mass"), ("average", 1, "equal"), ("maximum", inf, "mass")],
    )
    def test_errors(self, table: dict[str, Any], key: str, norm: float, weights: str) -> None:
        data = rows_of(table["bins"])
        error = ck.calibration_error(*data, bins=ck.Distinct(), norm=norm, weights=weights)
        assert float(error) == pytest.approx(float(Fraction(table[key])), abs=1e-15)

    def test_the_predicted_label(self, table: dict[str, Any]) -> None:
        for row, seen in zip(table["bins"], table["top_label"], strict=True):
            problem = ck.binary_problem(*rows_of([row]), view="top-label")
            confidence = float(Fraction(seen["conf"]))
            accuracy = float(Fraction(seen["acc"]))
            assert problem.prob == pytest.approx(np.full(row["n"], confidence), abs=1e-15)
            # Exactly 1/2 is class 0 here and class 1 there, right equally often.
            assert problem.label.mean() == pytest.approx(accuracy, abs=1e-15)


TRUTH = np.array([0, 0, 1, 1, 2, 2])


def check(key: str, rows: Any) -> None:
    expected = SLIDES["scores"][key]
    top = ck.binary_problem(TRUTH, rows, view="top-label")
    assert rows.argmax(axis=1).tolist() == [k - 1 for k in expected["pred"]]
    assert top.prob == pytest.approx(expected["conf"], abs=1e-12)
    assert top.label.mean() == pytest.approx(expected["accuracy"], abs=1e-12)
    assert float(ck.brier_score(TRUTH, rows)) == pytest.approx(expected["brier"], abs=1e-12)
    assert float(ck.log_loss(TRUTH, rows)) == pytest.approx(float(expected["nll"]))


def test_nearly_uniform_rows() -> None:
    """Printed as accuracy 1/3; it is 1/2, so the model is not calibrated."""
    rows = np.full((6, 3), 1 / 3 - 0.01)
    rows[range(6), [0, 1, 2, 1, 1, 2]] = 1 / 3 + 0.02
    check("PSR table 1 (eps=.01); the slide says accuracy 1/3", rows)
    gap = ck.expected_calibration_error(TRUTH, rows, view="top-label")
    assert float(gap) == pytest.approx(1 / 6 - 0.02, abs=1e-12)


def test_calibrated_in_its_top_label_and_yet_infinitely_bad() -> None:
    rows = np.array([[2, 1, 0], [0, 1, 2], [0, 2, 1], [0, 1, 2], [1, 0, 2], [0, 1, 2]]) / 3
    check("PSR table 2; the slide says accuracy 2/3", rows)
    gap = ck.expected_calibration_error(TRUTH, rows, view="top-label")
    assert float(gap) == pytest.approx(0, abs=1e-15)


def test_certain_and_right() -> None:
    check("PSR table 3", np.eye(3)[TRUTH])


@pytest.mark.parametrize(("name", "row"), [("p", [1 / 3, 1 / 3, 1 / 3]), ("q", [2 / 3, 1 / 3, 0])])
def test_two_predictions_for_one_event(name, row) -> None:
    expected = SLIDES["scores"]["Brier/NLL example"]
    assert float(ck.brier_score([0], [row])) == pytest.approx(expected[f"brier_{name}"])
    nats = float(ck.log_loss([0], [row]))
    assert nats == pytest.approx(expected[f"nll_ln_{name}"])
    # The tutorial prints base 10, which is another unit.
    assert nats / np.log(10) == pytest.approx(expected[f"nll_log10_{name}"])


# --- finite classifiers, exactly ----------------------------------------------------------------

FINITE = golden("counterexample.json")


def exact_rows(atoms: list[dict[str, Any]]) -> tuple[Any, Any]:
    """Return the smallest data set in which every label has exactly its probability."""
    shares = [Fraction(a["mass"]) * Fraction(r) for a in atoms for r in a["r"]]
    n = np.lcm.reduce([share.denominator for share in shares])
    labels: list[int] = []
    rows: list[list[float]] = []
    for atom in atoms:
        for k, r in enumerate(atom["r"]):
            count = Fraction(atom["mass"]) * Fraction(r) * int(n)
            labels += [k] * int(count)
            rows += [[float(Fraction(c)) for c in atom["c"]]] * int(count)
    assert len(labels) == n
    return np.array(labels), np.array(rows)


@pytest.mark.parametrize("name", FINITE)
def test_finite_classifiers(name: str) -> None:
    """Calibrated in one view and not in another; every number is a fraction."""
    labels, prob = exact_rows(FINITE[name]["atoms"])
    exact, top = FINITE[name]["result"], prob.argmax(axis=1)

    def confidence(rows: Any) -> Any:
        options: dict[str, Any] = {"view": "top-label", "bins": ck.Distinct()}
        return ck.expected_calibration_error(labels[rows], prob[rows], **options)

    error = confidence(slice(None))
    table = error.tables[0]
    found = {
        "ECE (confidence)": error,
        "accuracy": (table.weight * table.frequency).sum(),
        "Brier": ck.brier_score(labels, prob),
        "label-conditional top ECE": sum(
            (top == k).mean() * float(confidence(top == k)) for k in np.unique(top)
        ),
    }
    for key, value in found.items():
        assert float(value) == pytest.approx(float(Fraction(exact[key])), abs=1e-12), key
    class_wise = ck.class_wise_calibration_error(labels, prob, bins=ck.Distinct())
    expected = [float(Fraction(value)) for value in exact["cwECE_k"]]
    assert class_wise.per_view == pytest.approx(expected, abs=1e-12)
    assert float(class_wise) == pytest.approx(np.mean(expected), abs=1e-12)


# --- consistency bands and null level -----------------------------------------------------------

BANDS = golden("bands.json")
# Theirs begin at 1/K: here a bin below them stays empty.
BINS = ck.FixedEdges([0, *(0.1 + 0.9 * (np.arange(16) / 15))])


def test_consistency_bands() -> None:
    """Bands of 1000 redraws by another program, on a calibrated model with 500 predictions."""
    band = ck.consistency_band(*golden_data("calibrated"), bins=BINS, n_draws=4000, rng=0)
    exact = {
        key: [x for x in column if x is not None] if isinstance(column, list) else column
        for key, column in BANDS["fixed"].items()
    }
    table, used = band.table, band.table.occupied
    assert table.count.tolist() == [0, *exact["count"]]
    assert table.mean_prob[used] == pytest.approx(exact["mean_prob"], abs=1e-12)
    assert table.frequency[used] == pytest.approx(exact["frequency"], abs=1e-12)
    # Ends are multiples of 1/count: equal up to one such step, mostly exactly.
    steps = 1 / table.count[used]
    ends = np.array([band.lower[used], band.upper[used]])
    off = np.abs(ends - [exact["lower"], exact["upper"]])
    assert (off <= 1.01 * steps).all() and (off <= 0.26 * steps).sum() >= 20  # of 26
    assert np.isnan(band.lower[~used]).all()


def test_null_level_of_the_calibrated_model() -> None:
    """A calibrated model with 500 predictions shows an error of about 4 %. Four standard errors."""
    null = ck.null_level(
        ck.expected_calibration_error, *golden_data("calibrated"), bins=BINS, n_draws=4000, rng=0
    )
    exact = BANDS["fixed"]
    assert null.value == pytest.approx(exact["error"], abs=1e-12)
    se = null.sd * np.sqrt(1 / 1000 + 1 / 4000)
    assert null.mean == pytest.approx(exact["null_mean"], abs=4 * se)
    assert null.high == pytest.approx(exact["null_high"], abs=4 * 2.1 * se)
    spread = np.sqrt(0.25 * (1 / 1000 + 1 / 4000))
    assert null.p_value == pytest.approx(exact["p_value"], abs=4 * spread)
