"""Costs, regret, Murphy and decision curves: loops, theorems and bad input."""

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import expit, logit

import calibkit as ck
from calibkit import calibrators as cal
from calibkit.decisions import (
    best_actions,
    decision_curve,
    decision_threshold,
    largest_saving,
    murphy_curve,
    policy_cost,
    regret_curve,
)
from tests.helpers import binary_data, class_data, coarse_binary, refuses

PROBABILITY = st.floats(0, 1)
AMOUNT = st.floats(0.01, 100)
TABLE = np.array([[0.0, 3.0, 1.0], [2.0, -1.0, 4.0], [1.0, 1.0, 1.0], [5.0, 0.0, -2.0]])


# --- costs --------------------------------------------------------------------------------------


def test_a_tie_of_more_than_two_actions_goes_to_the_lowest() -> None:
    assert best_actions([0.5, 0.25], costs=[[0, 1], [1, 0], [0, 1]]).tolist() == [0, 0]
    assert best_actions([0.3], costs=np.zeros((2, 2))).tolist() == [0]
    for row in ([0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.3, 0.1, 0.3, 0.3], [0.1] * 10):
        # Their sums differ in the last digits.
        assert best_actions([row], costs=1 - np.eye(len(row))) == np.argmax(row), row


def acts(whole: Any, a: int, b: int) -> Any:
    """Tell in whole numbers whether so many hundredths reach the threshold a / (a + b)."""
    return whole * (a + b) >= 100 * a


@pytest.mark.long
def test_the_threshold_treats_to_the_last_bit() -> None:
    """All prices from 0 to 100, in units and hundredths, and all predictions in hundredths.

    The rule, the bill, the curve and the table with its rows swapped.
    """
    whole = np.arange(101)
    prob = whole / 100
    label = np.arange(101) % 3 % 2
    curve = murphy_curve(label, prob)
    for a, b in itertools.product(range(101), range(101)):
        units = (1, 100) if a + b else ()
        levels = [decision_threshold((a / unit, b / unit)) for unit in units]
        assert all(((prob >= t) == acts(whole, a, b)).all() for t in levels), (a, b)
    for a, b in [*itertools.product((1, 2, 3), range(100)), (4, 1), (19, 1), (99, 1)]:
        treated = acts(whole, a, b)
        assert (best_actions(prob, costs=(a, b)) == treated).all()
        assert (best_actions(prob, costs=[[a, 0], [0, b]]) != treated).all()
        bill = np.where(treated, a * (label == 0), b * (label == 1))
        assert policy_cost(label, prob, costs=(a, b)).value == bill.sum() / 101
        assert (a + b) * curve.cost(a / (a + b))[0] == pytest.approx(bill.mean(), abs=1e-12)
    for a in range(1, 100):
        t = a / 100
        assert (best_actions(prob, costs=[[0, 1 - t], [t, 0]]) == (whole >= a)).all()


def test_policy_cost_is_that_of_a_loop() -> None:
    labels, prob = class_data(80)
    cost = policy_cost(labels, prob, costs=TABLE)
    said = prob @ TABLE.T
    done = said.argmin(axis=1)
    assert np.array_equal(best_actions(prob, costs=TABLE), done)
    paid = [TABLE[a, y] for a, y in zip(done, labels, strict=True)]
    assert cost.value == pytest.approx(np.mean(paid), abs=1e-12)
    assert cost.promised == pytest.approx(said.min(axis=1).mean(), abs=1e-12)
    assert cost.ignoring == pytest.approx(
        min(np.mean([TABLE[a, y] for y in labels]) for a in range(4)), abs=1e-12
    )
    assert cost.share == pytest.approx(np.bincount(done, minlength=4) / 80, abs=1e-15)
    assert cost.paid.sum() == pytest.approx(cost.value, abs=1e-12)
    worse = policy_cost([1, 1], [0.1, 0.1], costs=(1, 3))
    assert "; more than ignoring the model (0.0000)" in worse.describe()
    equal = policy_cost([1, 1, 0, 1, 0, 0], [0.9] * 6, costs=[[0, 1], [0.7 + 0.1, 0.1]])
    assert equal.value > equal.ignoring and "; not more than ignoring" in equal.describe()
    weight = np.arange(80) % 3
    weighted = policy_cost(labels, prob, costs=TABLE, sample_weight=weight)
    repeated = policy_cost(labels.repeat(weight), prob.repeat(weight, axis=0), costs=TABLE)
    for name in ("value", "promised", "ignoring", "share", "paid"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), abs=1e-12)


@given(hits=st.lists(st.integers(0, 8), min_size=1, max_size=9), t=st.floats(0.02, 0.98))
def test_a_calibrated_model_pays_what_it_promised_and_never_more_than_ignoring_it(
    hits: list[int], t: float
) -> None:
    """Eight rows with each prediction h / 8, of which h are events: calibrated exactly."""
    prob = np.repeat(np.array(hits) / 8, 8)
    labels = np.concatenate([np.arange(8) < h for h in hits]).astype(np.int64)
    cost = policy_cost(labels, prob, costs=[[0, 1 - t], [t, 0]])
    assert cost.value == pytest.approx(cost.promised, abs=1e-12)
    assert cost.value <= cost.ignoring + 1e-12


# --- regret -------------------------------------------------------------------------------------


@given(
    pairs=st.lists(st.tuples(PROBABILITY, PROBABILITY), min_size=1, max_size=30),
    benefit=AMOUNT,
    harm=AMOUNT,
)
def test_the_regret_is_what_the_oracle_gains_and_stays_below_its_bound(
    pairs: list[tuple[float, float]], benefit: float, harm: float
) -> None:
    said, true = np.array(pairs).T
    t, scale = harm / (benefit + harm), benefit + harm
    regret = scale * regret_curve(said, true, thresholds=t).regret[0]
    worth = true * benefit - (1 - true) * harm
    oracle, trust = (np.where(p >= t, worth, 0).mean() for p in (true, said))
    assert regret == pytest.approx(oracle - trust, abs=1e-12 * scale)
    bound = scale * np.abs(said - true).mean()  # (B + H) times the calibration error
    assert -1e-15 <= regret <= bound + 1e-12 * scale


def test_the_threshold_itself_counts_as_acting_everywhere() -> None:
    for said, true in ((0.25, 0.5), (0.5, 0.25)):  # missed, acted in vain
        assert regret_curve([said], [true], thresholds=0.5).regret[0] == abs(true - 0.5)
    curve = regret_curve([0.75], [0.5], thresholds=0.75)  # the bound is attained
    assert curve.regret[0] == curve.error == 0.25
    assert murphy_curve([0], [0.5]).cost(0.5)[0] == 0.5


def test_thresholds_of_regret_and_its_words() -> None:
    said, true = np.random.default_rng(13).random((2, 300))
    assert regret_curve(said, true).threshold == pytest.approx(np.linspace(0.01, 0.99, 99))
    short = regret_curve([0.8, 0.6], [0.5, 0.6], thresholds=[0.4, 0.75])
    assert "0.1250 per prediction (threshold 0.75" in short.describe()
    earlier = largest_saving([0, 1, 1, 1], [0.1, 0.4, 0.4, 0.9])
    assert "acting from 0.4000 on where costs ask to act from just above 0.4" in earlier.describe()


# --- Murphy curves ------------------------------------------------------------------------------


def cost_by_loop(labels: Any, prob: Any, t: float) -> float:
    rows = zip(labels, prob, strict=True)
    return float(np.mean([t * (y == 0) if p >= t else (1 - t) * (y == 1) for y, p in rows]))


@pytest.mark.parametrize("denominator", [1, 4, 20, 1000])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_the_largest_saving_is_that_of_a_search_over_all_costs_and_cut_offs(
    n: int, denominator: int
) -> None:
    labels, prob = coarse_binary(n, denominator, seed=n)
    found = largest_saving(labels, prob)
    ends = [*np.unique(prob), np.inf]

    def bill(t: float, cutoff: float) -> float:
        return float(np.where(prob >= cutoff, t * (1 - labels), (1 - t) * labels).sum() / n)

    beside = [t for end in ends[:-1] for t in (end, np.nextafter(end, 1))]
    savings = [bill(t, t) - bill(t, cutoff) for t in beside for cutoff in ends]
    assert found.value == pytest.approx(max(0, *savings), abs=1e-12)
    won = bill(found.threshold, found.threshold) - bill(found.threshold, found.cutoff)
    assert won == pytest.approx(found.value, abs=1e-12)
    curve, t = murphy_curve(labels, prob), np.linspace(0, 1, 41)
    repaired = murphy_curve(labels, cal.IsotonicCalibrator().fit(prob, labels).calibrate(prob))
    assert (curve.cost(t) - repaired.cost(t)).max() <= found.value + 1e-12


@pytest.mark.parametrize("denominator", [1, 4, 1000])
def test_the_curve_is_that_of_a_loop_also_on_ties_and_at_the_ends(denominator: int) -> None:
    labels, prob = coarse_binary(60, denominator)
    curve = murphy_curve(labels, prob)
    levels = np.unique(np.concatenate([prob, np.linspace(0, 1, 101)]))
    expected = [cost_by_loop(labels, prob, t) for t in levels]
    assert curve.cost(levels) == pytest.approx(expected, abs=1e-12)
    x, y = curve.line()
    inner = (x[::2] + x[1::2]) / 2
    assert (y[::2] + y[1::2]) / 2 == pytest.approx(curve.cost(inner), abs=1e-12)
    base = labels.mean()
    assert curve.ignoring(levels) == pytest.approx(
        [min(t * (1 - base), (1 - t) * base) for t in levels], abs=1e-12
    )


def test_its_area_is_half_the_brier_score() -> None:
    labels, prob = binary_data(500)
    area = murphy_curve(labels, prob).area
    assert area == pytest.approx(float(ck.brier_score(labels, prob)) / 2, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_where_it_is_worse_than_ignoring(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = rng.beta(0.6, 1.4, 300)
    labels = (rng.random(300) < true).astype(np.int64)
    curve = murphy_curve(labels, expit(3 * logit(true)))
    ranges = curve.worse_than_ignoring()
    assert len(ranges) > 0
    levels = np.linspace(0.0005, 0.9995, 2001)
    worse = curve.cost(levels) > curve.ignoring(levels) + 1e-9
    inside = ((levels[:, None] > ranges[:, 0]) & (levels[:, None] <= ranges[:, 1])).any(axis=1)
    assert (worse == inside).mean() > 0.999  # but for equality to rounding
    assert "worse than ignoring the model for thresholds" in curve.describe()


def test_a_perfect_model_is_nowhere_worse() -> None:
    curve = murphy_curve([0, 1, 1], [0, 1, 1])
    assert curve.area == 0
    assert len(curve.worse_than_ignoring()) == 0
    assert "nowhere worse" in curve.describe()
    assert not len(murphy_curve([0, 1, 1], [2 / 3] * 3).worse_than_ignoring())
    assert murphy_curve([1], [0.3]).cost([0, 0.3, 0.5, 1]).tolist() == [0, 0, 0.5, 0]
    often = murphy_curve(np.arange(17) // 2 % 2, np.linspace(0.1, 0.9, 17))
    assert len(often.worse_than_ignoring()) == 4 and " and 1 more (" in often.describe()
    # Certain predictions are no ends of pieces of their own.
    assert murphy_curve([0, 1, 1], [0, 0.4, 1]).threshold.tolist() == [0, 0.4, 1]


# --- net benefit --------------------------------------------------------------------------------


@pytest.mark.parametrize("denominator", [20, 1000])
def test_net_benefit_is_the_murphy_curve_in_another_unit(denominator: int) -> None:
    """By the identity of its docstring, and by bills; also on ties."""
    labels, prob = coarse_binary(300, denominator)
    curve = decision_curve(labels, prob)
    costs = murphy_curve(labels, prob)
    base = labels.mean()
    t = curve.threshold
    assert curve.net_benefit == pytest.approx(base - costs.cost(t) / (1 - t), abs=1e-12)
    odds = t / (1 - t)
    treated = prob >= t[:, None]
    assert curve.treat_all == pytest.approx(base - odds * (1 - base), abs=1e-12)
    spared = (~treated & (labels == 0)).mean(axis=1) - (~treated & labels).mean(axis=1) / odds
    assert curve.avoided == pytest.approx(spared, abs=1e-9)
    assert curve.standardised == pytest.approx(curve.net_benefit / base, abs=1e-12)


# --- bad input ----------------------------------------------------------------------------------

GOOD = {"costs": [[0, 1], [1, 0]]}
test_bad_input_is_refused = refuses(
    (lambda: best_actions([0.5], costs=[1, 2, 3]), r"shape \(3,\)"),
    (lambda: best_actions([[0.2, 0.3, 0.5]], costs=np.ones((3, 2))), "costs.T"),
    (lambda: best_actions([1.5], **GOOD), "not a probability"),
    (lambda: decision_threshold(np.ones((3, 2))), "two actions"),
    (lambda: decision_threshold([[0, 0], [1, 1]]), "no threshold"),
    (lambda: decision_threshold([[0, 0], [0, 0]]), "no threshold"),
    (lambda: policy_cost([2], [0.5], **GOOD), r"y_true\[0\] = 2"),
    (lambda: regret_curve([[0.5, 0.5]], [0.5]), r"must be \(n,\)"),
    (lambda: regret_curve([0.5], [1.5]), r"true_prob\[0\] = 1.5"),
    (lambda: decision_curve([1], [0.5], thresholds=1), r"thresholds\[0\] = 1"),
    (lambda: decision_curve([1], [0.5], thresholds=-0.1), r"thresholds\[0\] = -0.1"),
    (lambda: decision_curve([0], [0.5]), "y_true has no event"),
    (lambda: murphy_curve([0], [0.5]).cost([0.5, 1.5]), r"threshold\[1\] = 1.5"),
    (lambda: murphy_curve([0], [[0.5, 0.5]]), "or say view="),
    (lambda: regret_curve([0.5], [0.5], thresholds=[]), "thresholds is empty"),
    (
        lambda: policy_cost([0, 1], [[0.2, 0.3, 0.5]] * 2, costs=(1, 20)),
        "for two classes, but .* have 3",
    ),
)
BAD_COSTS: list[tuple[Any, str]] = [
    ({"false alarm": 1, "miss": 20}, "'false alarm' is unknown; pass a pair"),
    ({"false positive": 1}, "price of a false negative is missing"),
    ({"fp": 1, "false positive": 2, "fn": 3}, "there twice"),
    ((1, -20), "costs: the price of a false negative must be .* got -20.0"),
    ((0, 0), "both costs are 0"),
    ("1-20", "not of the form FP:FN"),
    ({"fp": "dear", "fn": 1}, "costs"),
    (20, "costs must be a list or an array"),
    ([[0, np.nan], [1, 0]], r"costs\[0, 1\] = nan"),
    ([[0, 1, 2], [1, 0, 3]], "costs has 3 columns"),
]
test_bad_costs_are_refused = refuses(
    *((partial(policy_cost, [0, 1], [0.2, 0.3], costs=costs), words) for costs, words in BAD_COSTS)
)


# --- costs in every form that is accepted ---------------------------------------------------------

PAIR_FORMS: dict[str, Any] = {
    "pair": (1, 20),
    "list": [1.0, 20.0],
    "array": np.array([1, 20]),
    "names": {"false positive": 1, "false negative": 20},
    "names in the other order": {"False_Negative": 20, "false-positive": 1},
    "short names": {"fp": 1, "fn": 20},
    "text": "1:20",
    "table": [[0, 20], [1, 0]],
}


@pytest.mark.parametrize("form", PAIR_FORMS)
def test_every_form_of_the_same_costs_gives_the_same_bill(form: str) -> None:
    """One convention: a pair charges mistakes only, here and on the curve."""
    labels, prob = binary_data(300)
    acted, costs = prob > 1 / 21, PAIR_FORMS[form]
    by_hand = (1 * (acted & (labels == 0)) + 20 * (~acted & (labels == 1))).mean()
    words = np.where(labels, "ill", "well")
    cost = policy_cost(words, prob, costs=costs, positive="ill")
    assert cost.value == pytest.approx(by_hand, abs=1e-12)
    assert decision_threshold(costs) == pytest.approx(1 / 21)
    assert 21 * murphy_curve(labels, prob).cost(1 / 21)[0] == pytest.approx(by_hand, abs=1e-12)


def test_a_mistake_that_costs_nothing_moves_the_threshold_to_an_end() -> None:
    assert (decision_threshold((1, 0)), decision_threshold((0, 1))) == (1, 0)


def test_from_the_threshold_0_on_everybody_is_treated() -> None:
    curve = decision_curve([0, 1, 1, 0], [0, 0.2, 0.7, 0.4], thresholds=[0, 0.5])
    assert curve.net_benefit.tolist() == [0.5, 0.25] and curve.avoided.tolist() == [0, 0.25]
