"""The knob classifier: golden values, exact relations between its true values, sampling."""

import ast

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibkit as ck
from calibkit.fakes import InfeasibleTarget, KnobClassifier
from tests.helpers import golden, refuses_options

GOLDEN = golden("knob_golden.json")
# Names of the golden file, and of the result.
NAMES = {
    "acc": "accuracy",
    "mean_conf": "mean_confidence",
    "ECE": "expected",
    "top_l2": "root_mean_square",
    "max_CE": "maximum",
    "strong_L1": "strong",
    "cwECE_equal_shares": "class_wise",
    "top_brier": "top_label_brier",
    "brier_sum_equal_shares": "brier",
}


def golden_cases() -> list[tuple[KnobClassifier, dict[str, float]]]:
    cases = []
    for row in GOLDEN["check"]:
        n_classes, accuracy, concentration, direction, share = row["args"]
        fake = KnobClassifier(
            n_classes,
            accuracy,
            budget_share=share,
            direction=direction,
            concentration=concentration,
        )
        cases.append((fake, row["exact"]))
    pivot = KnobClassifier(3, 0.7, budget_share=0.6, direction="pivot", concentration=3)
    cases.append((pivot, GOLDEN["pivot"]["exact"]))
    for error, exact in GOLDEN["kale"].items():
        cases.append((KnobClassifier.with_error(5, 0.8, float(error), concentration=3), exact))
    return cases


@pytest.mark.parametrize(("fake", "exact"), golden_cases())
def test_golden_values(fake: KnobClassifier, exact: dict[str, float]) -> None:
    truth = fake.truth()
    assert fake.law.variance == pytest.approx(exact["var_Q"], abs=1e-12)
    for theirs, ours in NAMES.items():
        assert getattr(truth, ours) == pytest.approx(exact[theirs], abs=1e-9), ours


@pytest.mark.parametrize("key", GOLDEN["nll"])
def test_golden_log_loss(key: str) -> None:
    n_classes, accuracy, concentration, direction, share = ast.literal_eval(key)
    fake = KnobClassifier(
        n_classes, accuracy, budget_share=share, direction=direction, concentration=concentration
    )
    assert fake.truth().log_loss == pytest.approx(GOLDEN["nll"][key], abs=1e-9)


# --- relations that hold for any dials ----------------------------------------------------------


@st.composite
def knobs(draw: st.DrawFn, shares=(0.0, 1.0), largest=50):
    k = draw(st.integers(2, largest))
    direction = draw(st.sampled_from(["over", "under", "pivot"]))
    inner = draw(st.floats(1e-6, 1 - 1e-6))
    return KnobClassifier(
        k,
        1 / k + (1 - 1 / k) * inner,
        budget_share=draw(st.floats(*shares)),
        direction=direction,
        concentration=10 ** draw(st.floats(-3, 5)),
    )


@given(knobs(shares=(0.0, 0.95)))
def test_maps_undo_the_distortion(fake: KnobClassifier) -> None:
    sample = fake.sample(50, rng=3)
    np.testing.assert_allclose(sample.y_prob.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(sample.true_prob.sum(axis=1), 1, atol=1e-12)
    ordered = np.sort(sample.y_prob, axis=1)
    assert np.all(ordered[:, -1] > ordered[:, -2])  # the predicted class is never a tie
    rows = np.arange(50)
    assert np.all(sample.true_prob[rows, sample.y_true] > 0)
    top = sample.true_prob[rows, sample.y_prob.argmax(axis=1)]
    np.testing.assert_allclose(fake.true_map(sample.y_prob.max(axis=1)), top, atol=1e-9)


@pytest.mark.slow
@given(knobs(shares=(0.0, 0.0)), st.floats(0, 1, exclude_max=True))
def test_target_mode_hits_the_target(fake: KnobClassifier, part: float) -> None:
    dials = {"concentration": fake.concentration}
    wanted = part * fake.room
    made = KnobClassifier.with_error(fake.n_classes, fake.accuracy, wanted, fake.direction, **dials)
    assert made.truth().expected == pytest.approx(wanted, abs=1e-12)
    assert made.accuracy == fake.accuracy


# --- sampling ------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["over", "under", "pivot"])
@pytest.mark.parametrize("share", [0.3, 0.99])
def test_the_same_seed_gives_the_same_labels_for_every_error(direction: str, share: float) -> None:
    wanted = KnobClassifier(4, 0.7).sample(500, rng=5)
    sample = KnobClassifier(4, 0.7, budget_share=share, direction=direction).sample(500, rng=5)
    np.testing.assert_array_equal(sample.y_true, wanted.y_true)
    np.testing.assert_allclose(sample.true_prob, wanted.true_prob, atol=1e-15)


# --- the degenerate end --------------------------------------------------------------------------


def test_the_whole_over_confident_budget_can_be_sampled() -> None:
    fake = KnobClassifier(3, 0.6, budget_share=1.0)
    sample = fake.sample(2_000, rng=0)
    assert set(np.unique(sample.y_prob)) == {0.0, 1.0}
    assert fake.truth().log_loss == np.inf
    assert fake.true_map(1.0) == 0.6 and np.isnan(fake.true_map(0.9))


def test_the_whole_under_confident_budget_is_a_tie() -> None:
    fake = KnobClassifier(3, 0.6, budget_share=1.0, direction="under")
    truth = fake.truth()
    assert truth.expected == pytest.approx(0.6 - 1 / 3)
    assert truth.log_loss == pytest.approx(np.log(3))
    with pytest.raises(ValueError, match="all rows are ties"):
        fake.sample(10, rng=0)
    almost = KnobClassifier(3, 0.6, budget_share=1 - 1e-12, direction="under")
    sample = almost.sample(20_000, rng=0)
    correct = sample.y_prob.argmax(axis=1) == sample.y_true
    assert abs(correct.mean() - 0.6) < 5 * np.sqrt(0.24 / 20_000)


@pytest.mark.parametrize(
    ("direction", "gap"), [("over", 0.2), ("under", 0.7), ("pivot", 0.0)], ids=str
)
def test_at_the_whole_share_all_say_one_number_and_have_one_gap(direction: str, gap: float) -> None:
    """A pivot says its accuracy to everybody: no gap is left, as a sample shows."""
    fake = KnobClassifier(10, 0.8, budget_share=1, direction=direction, concentration=2)
    truth = fake.truth()
    found = truth.expected, truth.label_conditional, truth.strong / 2, 5 * truth.class_wise
    assert found == pytest.approx((gap,) * 4)
    if direction == "pivot":
        assert truth.root_mean_square == truth.maximum == 0
    if direction != "under":  # whose rows are all ties, so that no sample shows a gap
        rows = fake.sample(20_000, rng=0)
        error = ck.expected_calibration_error(
            rows.y_true, rows.y_prob, view="top-label", bins=ck.Distinct()
        )
        assert error.value == pytest.approx(gap, abs=0.012)  # four standard deviations


def test_no_pivot_has_the_largest_error_itself() -> None:
    room = KnobClassifier(10, 0.8, direction="pivot").room
    with pytest.raises(InfeasibleTarget, match="not included"):
        KnobClassifier.with_error(10, 0.8, room, "pivot")
    almost = KnobClassifier.with_error(10, 0.8, room * (1 - 1e-9), "pivot")
    assert almost.truth().expected == pytest.approx(room)


def test_true_map_is_nan_where_nothing_is_predicted() -> None:
    over = KnobClassifier(4, 0.6, budget_share=0.5)
    assert np.isnan(over.true_map(0.5)) and over.true_map(0.625) == pytest.approx(0.25)
    under = KnobClassifier(4, 0.6, budget_share=0.5, direction="under")
    assert np.isnan(under.true_map(0.9)) and under.true_map(0.625) == pytest.approx(1.0)
    assert over.true_map([[0.7, 0.8]]).shape == (1, 2)


# --- errors --------------------------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")


SHARE, POSITIVE = "budget_share must be .* from 0 to 1", "positive finite number"
test_bad_dials = refuses_options(
    lambda n_classes=3, accuracy=0.6, **dials: KnobClassifier(n_classes, accuracy, **dials),
    ({"n_classes": 1}, "n_classes must be a whole number of at least 2, got 1"),
    ({"accuracy": 1 / 3}, "strictly between 1/K = 0.333.* and 1"),
    ({"accuracy": 1.0}, "strictly between 1/K = 0.333.* and 1"),
    ({"accuracy": NAN}, "accuracy must be strictly between 1/K = 0.333"),
    *(({"budget_share": share}, SHARE) for share in (-0.1, 1.1, NAN)),
    ({"direction": "up"}, 'direction must be "over", "under" or "pivot"'),
    *(({"concentration": number}, POSITIVE) for number in (0, INF, NAN)),
)


@pytest.mark.parametrize(
    ("direction", "error", "message"),
    [
        ("over", 0.3, "error from 0 to 0.2 = 1 - accuracy"),
        ("under", 0.7, "error from 0 to 0.6 = accuracy - 1/K"),
        ("pivot", 0.5, "drawn towards 0.8 .* error from 0 to 0.1"),
        ("over", -0.1, "impossible"),
    ],
)
def test_impossible_targets(direction: str, error: float, message: str) -> None:
    with pytest.raises(InfeasibleTarget, match=message):
        KnobClassifier.with_error(5, 0.8, error, direction)


def test_the_ends_of_the_feasible_interval_are_feasible() -> None:
    assert KnobClassifier.with_error(5, 0.8, 0.2).budget_share == 1  # 1 - .8 rounds below .2
    assert KnobClassifier.with_error(5, 0.8, 0).budget_share == 0
    with pytest.raises(ValueError, match="error must be a number"):
        KnobClassifier.with_error(5, 0.8, NAN)
    with pytest.raises(ValueError, match="with_error sets budget_share itself"):
        KnobClassifier.with_error(5, 0.8, 0.1, budget_share=0.5)
