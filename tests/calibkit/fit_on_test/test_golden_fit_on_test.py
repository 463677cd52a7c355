"""Binned fits against the program of Kängsepp et al.: equal, but for ties and empty bins."""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

import calibkit as ck
from calibkit.calibrators import (
    CrossValidatedBinning,
    HistogramBinning,
    SlopeOneBinning,
    SweepBinning,
)
from calibkit.fit_on_test import fit_on_test
from tests.helpers import GOLDEN, each_case, golden

STORED = golden("binning_of_source_000.json")
NO_TIES = ("square005_n200", "beta1010_n1000", "fig1_beta2full_n3000_seed1")
CASES = [(name, key) for name in STORED["data"] for key in STORED["data"][name]["bins"]]
CHOICES = [(name, key) for name in STORED["data"] for key in STORED["data"][name]["cv"]]


@lru_cache
def data(name: str) -> tuple[Any, Any, Any]:
    """Return predictions, labels and truths; the hand-made predictions are the truth."""
    if name == "edges_n12":
        stored = STORED["data"][name]
        prob = np.array(stored["prediction"])
        return prob, np.array(stored["label"]), prob
    rows = np.loadtxt(GOLDEN / f"shape_data_{name}.csv", delimiter=",", skiprows=1)
    return rows[:, 0], rows[:, 1].astype(int), rows[:, 2]


def binning(key: str) -> Any:
    """Return calibkit's bins for a key such as ES15 (equal size) or EW10 (equal width)."""
    return ck.EqualMass(int(key[2:]), "first") if key[:2] == "ES" else ck.EqualWidth(int(key[2:]))


def folds(choice: str) -> KFold:
    return KFold(int(choice[2:].partition("_")[0]), shuffle=True, random_state=1)


@lru_cache
def ours(name: str, key: str) -> dict[str, float]:
    """Return calibkit's numbers."""
    prob, label, truth = data(name)
    found = fit_on_test(label, prob, evaluator=SlopeOneBinning(binning(key)))
    flat = fit_on_test(label, prob, evaluator=HistogramBinning(binning(key)))
    return {
        "error": ck.expected_calibration_error(label, prob, bins=binning(key)).value,
        "square": ck.calibration_error(label, prob, bins=binning(key), norm=2).value ** 2,
        "slope_one": found.value,
        "slope_one_square": found.squared,
        "flat": flat.value,
        "map_error": float(np.mean(np.abs(found.evaluator.curve(prob) - truth))),
    }


@lru_cache
def chosen(name: str, choice: str, rule: str = "first") -> CrossValidatedBinning:
    prob, label, _ = data(name)
    kind = {"ES": "equal-mass", "EW": "equal-width"}[choice[-2:]]
    return CrossValidatedBinning(kind, cv=folds(choice), rule=rule).fit(prob, label)


# --- errors and maps ----------------------------------------------------------------------------


# The program cuts ties in two.
CUT = [("stairsfull_n1000_ties", key) for key in ("ES15", "EW15")]
SAME = [case for case in CASES if case[0] != "edges_n12" and case not in CUT]


@each_case(("name", "key"), SAME)
def test_where_no_tie_is_cut_all_numbers_are_the_same(name, key, subtests):
    stored = STORED["data"][name]["bins"][key]
    for what, number in ours(name, key).items():
        with subtests.test(what=what):
            assert number == pytest.approx(stored[what], abs=1e-12), what
    prob, label, _ = data(name)
    found = fit_on_test(label, prob, evaluator=SlopeOneBinning(binning(key)))
    # The program adds up 10,000 points where there is a formula.
    assert found.debiased == pytest.approx(stored["debiased"], abs=5e-5)
    assert debiased_square(name, key) == pytest.approx(stored["debiased_square"], abs=1e-12)


def debiased_square(name: str, key: str) -> float:
    """Bins with one prediction count with their plain square, as in the program."""
    prob, label, _ = data(name)
    found = ck.debiased_calibration_error(label, prob, bins=binning(key))
    table = found.tables[0]
    return found.squared + float((table.gap[table.count == 1] ** 2).sum()) / table.n


# --- the number of bins -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "choice"), [case for case in CHOICES if case[0] in NO_TIES and case[1].endswith("ES")]
)
def test_without_ties_equal_mass_scores_are_the_same(name, choice):
    stored = STORED["data"][name]["cv"][choice]["scores"]
    np.testing.assert_allclose(chosen(name, choice).scores_, stored, rtol=0, atol=1e-12)


@each_case(("name", "choice"), CHOICES)
def test_chosen_numbers_of_bins_are_the_same_nevertheless(name, choice):
    model = chosen(name, choice)
    stored = STORED["data"][name]["cv"][choice]
    assert (model.best_n_bins_, model.n_bins_) == (stored["best"], stored["chosen"])


def test_the_place_of_the_edge_between_neighbours_changes_held_out_scores():
    """Why `rule` exists: half-way between neighbours is not the first of the upper bin."""
    model = chosen("square005_n200", "CV5_ES", rule="midpoint")
    stored = STORED["data"]["square005_n200"]["cv"]["CV5_ES"]
    assert np.abs(model.scores_ - stored["scores"]).max() > 0.01
    assert (model.best_n_bins_, stored["best"]) == (13, 22)
    assert model.n_bins_ == stored["chosen"] == 13


@each_case("name", STORED["data"])
@each_case("rule", ["first", "midpoint"])
def test_the_sweep_stops_where_the_program_stops(name, rule):
    prob, label, _ = data(name)
    assert SweepBinning(rule=rule).fit(prob, label).n_bins_ == STORED["data"][name]["sweep"]


def test_cut_ties_and_two_kinds_of_edges_break_the_theorem_there_and_not_here(subtests):
    broken = []
    for name, key in CASES:
        with subtests.test(name=name, key=key):
            stored = STORED["data"][name]["bins"][key]
            found = ours(name, key)
            if abs(stored["slope_one"] - stored["error"]) > 1e-6:
                broken.append(f"{name} {key}")
            assert found["slope_one"] == pytest.approx(found["error"], abs=1e-12)
            assert found["slope_one_square"] == pytest.approx(found["square"], abs=1e-12)
    hand_made = [f"edges_n12 {key}" for key in ("ES10", "EW10", "ES15", "EW15", "ES20", "EW20")]
    assert broken == [" ".join(case) for case in CUT] + hand_made
