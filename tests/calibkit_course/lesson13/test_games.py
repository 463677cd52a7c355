"""The three games: golden values, closed forms against simulation, brute force, real data."""

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from calibkit.decisions import policy_cost
from calibkit.fakes import ClassKnobs, DirichletFake, KnobClassifier, LogitDistortion, Power
from calibkit_course.lesson13 import (
    Capacity,
    Clinic,
    Ward,
    abstention,
    least_accuracy,
    play_predictions,
    requirement_sweep,
)
from calibkit_course.lesson13.rounds import GamePlay
from calibkit_course.lesson13.wards import GAINS, knapsack
from tests.helpers import binary_data, class_data, golden, refuses, some

GOLDEN = golden("knob_golden.json")
WARD = GOLDEN["game1 K=5 s=3 B=2 H=6 (t=.75)"]
CAPACITY = GOLDEN["game2 K=5 s=3 stakes 6,8,12 equal probability, capacity .4"]
SWEEP = GOLDEN["sweep table game1 rows acc .6..95 cols ECE 0 .025 .05 .1 .15 .2 .3"]
LEAST = GOLDEN[
    "requirement sweep game1 K=5 s=3: minimal accuracy for utility u at a given ECE (over)"
]
STAKES = Capacity(stakes=(6, 8, 12), share=0.4)


def knob(key: str, n_classes: int = 5) -> KnobClassifier:
    """Build the classifier that a golden key names: ``acc=0.8|over|lam=0.5``."""
    found = re.fullmatch(r"acc=(.*)\|(over|under)\|lam=(.*)", key)
    assert found is not None
    accuracy, direction, share = found.groups()
    return KnobClassifier(
        n_classes, float(accuracy), budget_share=float(share), direction=direction, concentration=3
    )


def error_of(play: GamePlay) -> float:
    """Return the standard error of what a policy won, from the spread over rounds."""
    return float(np.std(play.payoffs, ddof=1) / np.sqrt(len(play.payoffs)))


# --- golden values ------------------------------------------------------------------------------


# What a field is called in the golden file.
COLUMNS = {"oracle": "oracle", "trust": "trust", "regret": "regret", "error": "ECE"}
OF_WARD = {"bound": "bound_ECE", "certain": "treat_all", "cutoff": "t", "acted": "treated_fraction"}
OF_PLACES = {"certain": "stakes_only", "cutoff": "trust_tau"}


@pytest.mark.parametrize(
    ("game", "columns", "rows"),
    [(Ward(benefit=2, harm=6), OF_WARD, WARD), (STAKES, OF_PLACES, CAPACITY)],
    ids=["ward", "capacity"],
)
def test_exact_values(game: Any, columns: dict[str, str], rows: dict[str, Any]) -> None:
    for key, stored in rows.items():
        truth, names = game.truth(knob(key)), COLUMNS | columns
        wanted = {ours: stored[theirs] for ours, theirs in names.items()}
        found = {ours: getattr(truth, ours) for ours in names}
        assert found == pytest.approx(wanted, abs=1e-9), key


def test_requirement_sweep() -> None:
    """Golden cells have four digits; they leave out some cells on the limit of Lemma 1 itself.

    There rounding decided, as 1 - 0.8 < 0.2 in floating point. Here the limit is feasible: all
    predictions are 1, so everybody is treated.
    """
    accuracies = [0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
    errors = [0, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3]
    sweep = requirement_sweep(Ward(), accuracies=accuracies, errors=errors, concentration=3)
    for (i, a), (j, e) in product(enumerate(accuracies), enumerate(errors)):
        expected, value = SWEEP[i][j], sweep.value[i, j]
        if abs(a + e - 1) < 1e-12:
            assert value == pytest.approx(2 * a - 6 * (1 - a), abs=1e-9)
        if expected is not None:
            assert value == pytest.approx(expected, abs=5.1e-5)
        elif abs(a + e - 1) >= 1e-12:
            assert np.isnan(value)
    assert (sweep.feasible == ~np.isnan(sweep.value)).all()


@pytest.mark.slow
@pytest.mark.parametrize("error", some([*LEAST], 3))
def test_least_accuracy(error: str) -> None:
    for utility, expected in LEAST[error].items():
        found = least_accuracy(Ward(), utility=float(utility), error=float(error), concentration=3)
        if expected is None:
            # Reached on the limit of Lemma 1 itself (see above), or not at all.
            everybody = 8 * (1 - float(error)) - 6
            if everybody == pytest.approx(float(utility), abs=1e-12):
                assert found == pytest.approx(1 - float(error), abs=1e-9)
            else:
                assert np.isnan(found)
        else:
            assert found == pytest.approx(expected, abs=1e-9)


# 20,000 rounds each by another program, with the standard error of `trust`: accuracy 0.75 unless
# said, concentration 3, three classes: (accuracy, direction, share) to (trust, oracle, certain).
CLINIC = {
    (0.6, "over", 0.9): (19.8466, 20.563, 19.1449, 0.0744),
    (0.75, "over", 0.0): (26.4563, 26.4563, 25.1855, 0.0676),
    (0.75, "over", 0.5): (26.2495, 26.4563, 25.1855, 0.0681),
    (0.75, "over", 0.9): (25.9472, 26.4563, 25.1855, 0.0686),
    (0.75, "under", 0.9): (25.1202, 26.4563, 25.1855, 0.0729),
    (0.9, "under", 0.9): (30.6966, 32.0904, 31.3251, 0.0617),
}


@pytest.mark.parametrize("case", CLINIC, ids=lambda case: "-".join(map(str, case)))
def test_clinic(case: tuple[float, str, float]) -> None:
    accuracy, direction, share = case
    *expected, error = CLINIC[case]
    classifier = KnobClassifier(
        3, accuracy, budget_share=share, direction=direction, concentration=3
    )
    game = Clinic()
    deal = game.deal(classifier, 6000, rng=3)
    plays = [game.play(policy, deal) for policy in ("trust", "oracle", "certain")]
    allowed = [3 * np.hypot(error, error_of(play)) for play in plays]
    assert (np.abs(np.subtract([play.value for play in plays], expected)) < allowed).all()
    lost = plays[1].payoffs - plays[0].payoffs
    # The difference is far less noisy than the values; the other side's is not known as well.
    allowance = 3 * lost.std() * np.sqrt(1 / 6000 + 1 / 20_000)
    assert abs(lost.mean() - (expected[1] - expected[0])) <= allowance


def test_clairvoyant_clinic_and_class_dependent_miscalibration() -> None:
    game = Clinic()
    calibrated = KnobClassifier(3, 0.75, concentration=3)
    best = game.play("clairvoyant", game.deal(calibrated, 6000, rng=5))
    assert abs(best.value - 35.5684) < 3 * error_of(best) * np.sqrt(1.3)
    bent = ClassKnobs.with_directions(
        0.75, ["under", "over", "over"], [0.8, 0.8, 0.0], concentration=3
    )
    trust = game.play("trust", game.deal(bent, 6000, rng=5))
    assert abs(trust.value - 24.8628) < 3 * error_of(trust) * np.sqrt(1.3)
    # The other side's error is that of its sample.
    assert bent.truth().label_conditional == pytest.approx(0.17757, abs=1e-3)


# --- beds ---------------------------------------------------------------------------------------

MACHINE = KnobClassifier(5, 0.8, budget_share=0.5, concentration=3)


def test_beds_go_to_the_most_confident_who_are_worth_it() -> None:
    ward = Ward(size=8, beds=3)
    deal = ward.deal(MACHINE, 300, rng=0)
    for row, done in zip(deal.seen, ward.decide(deal.seen, deal), strict=True):
        wanted = [i for i in np.argsort(-row, kind="stable")[:3] if row[i] >= ward.threshold]
        assert sorted(wanted) == np.flatnonzero(done).tolist()
    assert "at most 3 of 8 patients" in ward.describe()
    none = Ward(size=8, beds=0)
    assert none.play("oracle", deal).value == 0


@pytest.mark.parametrize("beds", [None, 8])
def test_a_bed_for_everybody_is_the_plain_ward(beds: int | None) -> None:
    """The value per patient is the same as in rounds of one."""
    rows = MACHINE.sample(1600, 4)
    one, many = (
        ward.play("trust", ward.deal_predictions(rows.y_true, rows.y_prob, rng=1))
        for ward in (Ward(), Ward(size=8, beds=beds))
    )
    assert many.value == pytest.approx(one.value, abs=1e-12)


# --- closed forms against simulation ------------------------------------------------------------

MODELS: dict[str, Any] = {
    "over": MACHINE,
    "under": KnobClassifier(4, 0.7, budget_share=0.2, direction="under", concentration=5),
    "pivot": KnobClassifier(3, 0.7, budget_share=0.6, direction="pivot"),
    "classes": ClassKnobs.with_directions(0.75, ["over", "under", "over"], [0.4, 0.1, 0.7]),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_ward_simulates_its_closed_form(model: Any) -> None:
    game = Ward(benefit=3, harm=7)
    truth, deal = game.truth(model), game.deal(model, 40_000, rng=1)
    for policy in ("trust", "oracle", "certain"):
        play = game.play(policy, deal)
        assert abs(play.value - getattr(truth, policy)) < 4 * error_of(play)
    assert game.play("trust", deal).acted == pytest.approx(truth.acted, abs=0.01)


KNOBS = st.builds(
    KnobClassifier,
    st.just(4),
    st.floats(0.3, 0.95),
    budget_share=st.floats(0, 1),
    direction=st.sampled_from(["over", "under", "pivot"]),
    concentration=st.floats(0.5, 20),
)
# Confidences that a float can hardly tell apart.
FLAT = KnobClassifier(4, 0.8, budget_share=1 - 1e-12, direction="over", concentration=3)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@example(FLAT, (1, 2))
@given(KNOBS, st.tuples(st.floats(0.1, 9), st.floats(0.1, 9)))
def test_regret_is_never_negative_and_never_above_its_bound(model: Any, stakes: Any) -> None:
    for game in (Ward(*stakes), Capacity(stakes, share=0.3)):
        truth = game.truth(model)
        assert -1e-9 <= truth.regret <= truth.bound + 1e-9


@pytest.mark.parametrize("direction", ["over", "under", "pivot"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_with_equal_stakes_monotone_miscalibration_costs_exactly_nothing(direction, share) -> None:
    game = Capacity(stakes=(7,), share=0.4)
    model = KnobClassifier(5, 0.8, budget_share=share, direction=direction, concentration=3)
    assert game.truth(model).regret == pytest.approx(0, abs=1e-12)
    unequal = Capacity(stakes=(6, 8, 12), share=0.4).truth(model)
    assert unequal.regret > 1e-6


def test_the_limit_of_the_error_budget() -> None:
    """All confidences are equal: stakes alone decide, or everybody, or nobody."""
    over, under = (
        KnobClassifier(5, 0.8, budget_share=1, direction=d, concentration=3)
        for d in ("over", "under")
    )
    assert Ward().truth(over).trust == pytest.approx(0.4, abs=1e-12)
    assert Ward().truth(under).trust == pytest.approx(0, abs=1e-12)
    assert STAKES.truth(over).trust == pytest.approx(STAKES.truth(over).certain, abs=1e-12)
    few, full = Capacity(share=0.2), Capacity(share=1)
    assert few.truth(over).trust == pytest.approx(0.2 * 12 * 0.8, abs=1e-12)
    everybody = 0.8 * (6 + 8 + 12) / 3
    assert full.truth(over).trust == pytest.approx(everybody, abs=1e-12)
    assert full.truth(MODELS["over"]).trust == pytest.approx(everybody, abs=1e-12)


# --- requirements -------------------------------------------------------------------------------


@pytest.mark.slow
def test_iso_lines_and_their_ends() -> None:
    sweep = requirement_sweep(Ward(), accuracies=[0.8, 0.9], errors=[0, 0.05, 0.4], concentration=3)
    line = sweep.iso_line(1.0)
    assert line[:2] == pytest.approx([LEAST["0"]["1.0"], LEAST["0.05"]["1.0"]], abs=1e-9)
    assert np.isnan(line[2])
    assert sweep.iso_line(-100)[0] == pytest.approx(0.2, abs=1e-6)  # all feasible models do
    assert np.isnan(least_accuracy(Ward(), utility=0, error=0.95))
    assert "4 of 6 pairs are feasible" in sweep.describe()


# --- knapsack and payoffs -----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    patients=st.integers(1, 5),
    budget=st.integers(0, 9),
    prices=st.lists(st.integers(0, 5), min_size=1, max_size=3),
)
def test_knapsack_is_that_of_brute_force(seed, patients, budget, prices) -> None:
    prices = [0, *prices]
    gain = np.random.default_rng(seed).normal(size=(3, patients, len(prices)))
    chosen = knapsack(gain, prices, budget)
    for table, found in zip(gain, chosen, strict=True):
        totals = [
            sum(table[i, o] for i, o in enumerate(options))
            for options in product(range(len(prices)), repeat=patients)
            if sum(prices[o] for o in options) <= budget
        ]
        assert sum(prices[o] for o in found) <= budget
        assert sum(table[i, o] for i, o in enumerate(found)) == pytest.approx(max(totals))


def test_payoffs_by_loop() -> None:
    model = KnobClassifier(3, 0.6, budget_share=0.5)
    clinic = Clinic(size=4)
    deal = clinic.deal(model, 50, rng=0)
    actions = clinic.decide(deal.seen, deal)
    won = [
        sum(GAINS[y][a] for y, a in zip(*pair, strict=True))
        for pair in zip(deal.outcome, actions, strict=True)
    ]
    assert clinic.payoff(actions, deal) == pytest.approx(won, abs=1e-12)


def test_policies() -> None:
    model = MODELS["over"]
    game = Ward()
    deal = game.deal(model, 500, rng=4)
    repaired = game.play(lambda z: np.clip((z - 0.5) / 0.5, 0.2, 1), deal)  # undoes the dial
    assert (repaired.payoffs == game.play("oracle", deal).payoffs).all()
    assert game.play(np.zeros_like, deal).value == 0
    best = game.play("clairvoyant", deal)
    assert best.value == pytest.approx(2 * deal.outcome.mean(), abs=1e-12)
    same = game.play("clairvoyant", game.deal(model, 500, rng=4))
    assert (same.payoffs == best.payoffs).all()
    rows = Clinic().deal(KnobClassifier(3, 0.7), 40, rng=0)
    sure = Clinic().play(lambda p: np.eye(3)[p.argmax(axis=1)], rows)
    assert (sure.payoffs == Clinic().play("certain", rows).payoffs).all()


def test_other_fakes_can_be_played() -> None:
    """P(y = 1) is the confidence that treating is right; certain treats everybody."""
    binary, game = LogitDistortion(slope=0.5), Ward(benefit=1, harm=1)
    deal = game.deal(binary, 4000, rng=0)
    trust, oracle, certain = (game.play(p, deal) for p in ("trust", "oracle", "certain"))
    assert certain.acted == 1
    assert certain.value == pytest.approx(2 * deal.outcome.mean() - 1, abs=1e-12)
    assert (trust.payoffs == oracle.payoffs).all()  # the threshold 1/2 is where the map is right
    clinic = Clinic()
    dirichlet = DirichletFake((1, 1, 1), Power(3))
    deal = clinic.deal(dirichlet, 3000, rng=0)
    lost = clinic.play("oracle", deal).payoffs - clinic.play("trust", deal).payoffs
    assert lost.mean() > 3 * lost.std() / np.sqrt(3000)


# --- real predictions ---------------------------------------------------------------------------

GAMES = {"ward": Ward(), "few beds": Ward(size=7, beds=3), "clinic": Clinic(size=5)}
NAMED: Any = {name: name for name in ("trust", "certain", "clairvoyant")}


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_real_predictions_in_any_order(game: Any) -> None:
    labels, prob = class_data(403)
    order = np.random.default_rng(0).permutation(403)
    options: Any = {"game": game, "policies": NAMED, "n_resamples": 50, "rng": 1}
    one = play_predictions(labels, prob, **options)
    other = play_predictions(labels[order], prob[order], **options)
    for name in ("value", "low", "high", "gain", "gain_low", "gain_high"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12)
    assert f"{403 // game.size} rounds of 403 predictions" in one.describe()
    assert (one.low <= one.value).all() and (one.value <= one.high).all()
    assert one.gain[0] == one.gain_low[0] == one.gain_high[0] == 0
    assert one.value[2] >= max(one.value[:2])  # nobody beats the clairvoyant


def test_real_predictions_on_the_ward_are_a_mean_over_rows() -> None:
    labels, prob = binary_data(800)
    game = Ward(benefit=1, harm=3)
    won = play_predictions(labels, prob, game=game, policies=NAMED, rng=0, n_resamples=4000)
    payoff = np.where(prob >= 0.75, np.where(labels == 1, 1, -3), 0)
    assert won.value[0] == pytest.approx(payoff.mean(), abs=1e-12)
    # The percentile bootstrap of a mean is nearly the normal interval.
    half = 1.6449 * payoff.std() / np.sqrt(800)
    assert won.low[0] == pytest.approx(payoff.mean() - half, abs=0.15 * half)
    assert won.high[0] == pytest.approx(payoff.mean() + half, abs=0.15 * half)
    assert won.value[1] == pytest.approx(np.mean(np.where(labels == 1, 1, -3)), abs=1e-12)
    assert "90 % intervals" in won.describe()


def test_a_repair_is_a_policy_and_intervals_cover() -> None:
    model = MODELS["over"]
    truth, game = Ward().truth(model), Ward()
    policies: dict[str, Any] = {
        "as it is": "trust",
        "repaired": lambda z: np.clip(2 * z - 1, 0.2, 1),
    }
    covered = 0
    for seed in range(60):
        data = model.sample(300, rng=seed)
        won = play_predictions(
            data.y_true, data.y_prob, game=game, policies=policies, n_resamples=200, rng=seed
        )
        covered += int(won.gain_low[1] <= truth.regret <= won.gain_high[1])
        assert won.policy == ("as it is", "repaired")
    assert 46 <= covered <= 60  # nominal 54, standard deviation 2.3


# --- bad input ----------------------------------------------------------------------------------

MODEL = KnobClassifier(5, 0.8)
Y, P = binary_data(20)
DEAL = Ward().deal(MODEL, 5, rng=0)


def real(policies: Any) -> Any:
    return play_predictions(Y, P, game=Ward(), policies=policies)


test_bad_input_is_refused = refuses(
    (lambda: Ward(benefit=0), "benefit must be a positive"),
    (lambda: Ward(beds=2), "beds=2 for 1 patients"),
    (lambda: Ward(size=0), "size"),
    (lambda: Ward(size=10, beds=4).truth(MODEL), "no closed form; deal rounds"),
    (lambda: Capacity(stakes=()), "stakes is empty"),
    (lambda: Capacity(share=1.2), "share must be"),
    (lambda: Clinic().deal(MODEL, 5), "3 diseases"),
    (lambda: Clinic().deal_predictions(Y[:3], P[:3]), "3 predictions cannot fill"),
    (lambda: Ward().play("hope", DEAL), "policy='hope' does not exist"),
    (lambda: Ward().play(lambda z: z + 1, DEAL), "beliefs must lie"),
    (lambda: Ward().play(lambda z: z[1:], DEAL), r"returned shape \(4,\)"),
    (lambda: real({"truth": "oracle"}), "true probab"),
    (lambda: real("trust"), "policies must map"),
    (lambda: play_predictions(Y, P, game="ward", policies=NAMED), "game must be"),  # type: ignore[arg-type]
    (lambda: Ward().truth(DirichletFake((1, 1, 1))), "deal rounds and play"),  # type: ignore[arg-type]
    (lambda: requirement_sweep(Ward(), accuracies=0.8, errors=[0, -1]), r"errors\[1\]"),
    (lambda: requirement_sweep(Ward(), accuracies=1.0, errors=0), "accuracy must be strictly"),
)


@pytest.mark.parametrize("price", [0.05, 0.3, 0.6])
def test_abstaining_is_a_constant_row_in_the_table_of_costs(price: float) -> None:
    labels, prob = class_data(300)
    result = abstention(labels, prob, price=price)
    table = np.vstack([1 - np.eye(3), np.full(3, price)])
    cost = policy_cost(labels, prob, costs=table)
    assert result.value == pytest.approx(cost.value, abs=1e-12)
    assert result.coverage == pytest.approx(1 - cost.share[3], abs=1e-12)
    answered = prob.max(1) >= 1 - price
    risks = ((prob.argmax(1) != labels)[answered].mean(), (1 - prob.max(1))[answered].mean())
    assert (result.risk, result.promised_risk) == pytest.approx(risks, abs=1e-12)


def test_hundredths_are_met_to_the_last_bit_and_no_answer_has_no_risk() -> None:
    confidence = np.arange(50, 101)
    prob = np.column_stack([1 - confidence / 100, confidence / 100])
    for a in range(1, 51):
        answered = abstention(confidence % 2, prob, price=a / 100).coverage
        assert answered == np.mean(confidence >= 100 - a)
    nobody = abstention([1], [0.7], price=0.1)
    assert (nobody.coverage, nobody.value) == (0, 0.1) and np.isnan(nobody.risk)
    assert abstention([1], [0.5], price=0.5).coverage == 1
    with pytest.raises(ValueError, match="price must be"):
        abstention([0], [0.5], price=2)
