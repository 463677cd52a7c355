"""The checks themselves: what passes, what is kept, and where the tolerances lie."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.pipeline import make_pipeline

import calibkit as ck
from calibkit.calibrators import BetaCalibrator, OneVsRest, PlattCalibrator, TemperatureScaling
from calibkit.inputs import (
    as_array,
    as_generator,
    as_labels,
    as_predictions,
    as_probabilities,
    as_weights,
    data_generator,
)
from tests.helpers import class_data

# --- as array -----------------------------------------------------------------------------------


# --- as probabilities ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floating_types_are_kept(dtype: Any) -> None:
    prob = np.array([0.5, 0.25], dtype=dtype)
    assert as_probabilities(prob) is prob


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 5e-324, np.nextafter(1, 0)])
def test_the_ends_are_probabilities(value: float) -> None:
    assert as_probabilities([value])[0] == value


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3, 10, 1000])
def test_rows_of_a_softmax_pass_in_every_precision(dtype: Any, n_classes: int) -> None:
    logits = np.random.default_rng(0).normal(scale=3, size=(300, n_classes))
    as_probabilities(softmax(logits, axis=1).astype(dtype))
    as_probabilities(softmax(logits.astype(dtype), axis=1).astype(dtype))


def test_single_precision_rows_stored_in_double_precision_pass() -> None:
    logits = np.random.default_rng(0).normal(scale=3, size=(300, 1000)).astype(np.float32)
    as_probabilities(softmax(logits, axis=1).astype(np.float64))


def test_rows_printed_with_six_digits_pass() -> None:
    _, prob = class_data(500, 4)
    as_probabilities(prob.round(6))


def test_the_sum_of_many_classes_is_exact_enough() -> None:
    """100 000 classes of 1e-5 in float64: rounding of the sum must not matter."""
    as_probabilities(np.full((2, 100_000), 1e-5))


def test_a_hint_is_given_only_where_it_fits() -> None:
    with pytest.raises(ValueError, match="2 entries, but y_prob has 3 rows.$"):
        as_labels([0, 1], np.full((3, 3), 1 / 3))
    with pytest.raises(ValueError, match=r"y_true\[1\] = 5.*no column for class 5"):
        as_labels([1, 5, 2], np.full((3, 3), 1 / 3))
    with pytest.raises(ValueError, match="3 entries"):  # shapes before sums
        as_predictions([0, 1, 0], np.array([[0.3, 0.3], [0.6, 0.1]]))


# --- numbers ------------------------------------------------------------------------------------


def test_a_generator_is_used_not_copied() -> None:
    generator = np.random.default_rng(0)
    assert as_generator(generator) is data_generator(generator) is generator


def test_data_have_the_stream_of_their_seed_and_redraws_another() -> None:
    prob = np.random.default_rng(0).random(300)
    assert data_generator(0).random(300).tolist() == prob.tolist()
    redrawn = as_generator(0).random(300)
    assert abs(np.corrcoef(prob, redrawn)[0, 1]) < 0.2
    # Of a calibrated model each label of a redraw once was "not below its own probability".
    assert abs((redrawn < prob).mean() - prob.mean()) < 0.1


NAMED = ["no", "yes", "yes", "no"]
EVENTS = [0, 1, 1, 0]


def as_events(y_true: Any, positive: Any) -> list[int]:
    prob = np.full(len(y_true), 0.5)
    return as_labels(y_true, prob, positive).tolist()


@pytest.mark.parametrize(
    ("y_true", "positive"),
    [
        (NAMED, "yes"),
        (np.array(NAMED), np.str_("yes")),
        (np.array(NAMED, dtype=object), "yes"),
        ([False, True, True, False], True),
        ([True, False, False, True], False),
        ([1, 2, 2, 1], 2),
        ([-1, 1, 1, -1], 1),
        ([0.5, 1.5, 1.5, 0.5], 1.5),
    ],
)
def test_two_labels_of_any_kind(y_true: Any, positive: Any) -> None:
    assert as_events(y_true, positive) == EVENTS


@pytest.mark.parametrize(("y_true", "positive"), [([0, 0], 1), ([False, False], True)])
def test_of_numbers_and_truth_values_one_may_be_absent(y_true, positive) -> None:
    assert as_events(y_true, positive) == [0, 0]


@pytest.mark.parametrize(
    ("y_true", "positive", "words"),
    [
        (["no", "no"], "yes", "'yes' never occurs in y_true, which holds 'no' (2)"),
        ([0, "1", 1], "1", "2 labels beside positive='1': 0 (1), 1 (1)"),
        (["a", np.nan], "a", "y_true[1] = nan is no label"),
        ([*NAMED, "NA"], "yes", "y_true[4] = 'NA' reads as missing"),
        (list("abcdefgh"), "a", "'b' (1), 'c' (1), 'd' (1), 'e' (1), 'f' (1), …. Drop"),
        ([*NAMED, None], "yes", "y_true[4] = None is no label. Drop the row"),
        (np.array([1, np.datetime64("NaT")], dtype=object), 1, "y_true[1] ="),
        (NAMED, ["yes"], "A label cannot be a list"),
    ],
)
def test_a_label_that_is_refused(y_true: Any, positive: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        as_events(y_true, positive)


def test_a_missing_label_of_pandas_is_refused() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"y_true\[1\] = <NA> is no label"):
        as_events(pd.Series(["yes", pd.NA, "no"], dtype="object"), "yes")


def test_positive_needs_one_column_of_probabilities() -> None:
    with pytest.raises(ValueError, match=r"one column of probabilities, but y_prob has 2"):
        as_labels(NAMED, np.full((4, 2), 0.5), "yes")


def test_pyarrow_and_polars() -> None:
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    assert as_events(pa.array(NAMED), "yes") == EVENTS
    assert as_events(pa.chunked_array([NAMED]), "yes") == EVENTS
    assert as_events(pl.Series(NAMED), "yes") == EVENTS


# --- weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, -1, 1], "sample_weight[1] = -1.0 is no weight"),
        ([1, 1, np.nan], "sample_weight[2] = nan is no weight"),
        ([np.inf, 1, 1], "sample_weight[0] = inf is no weight"),
        ([0, 0, 0], "zero in every row"),
        ([1, 1], "shape (2,); 3 rows need shape (3,)"),
        (2.0, "scalar"),
        (["a", "b", "c"], "must hold numbers"),
    ],
)
def test_what_is_no_weight(weight: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        as_weights(weight, 3)


# --- hostile containers -------------------------------------------------------------------------


def test_a_large_dict_makes_a_short_message() -> None:
    with pytest.raises(ValueError, match="y_prob is a dict; pass a list") as caught:
        as_array({i: i for i in range(100_000)}, "y_prob")
    assert len(str(caught.value)) < 200
    with pytest.raises(ValueError, match=r"y_prob\[0\] = ") as caught:
        as_array(np.array([{i: i for i in range(100_000)}]), "y_prob")
    assert len(str(caught.value)) < 300


def test_a_sparse_matrix_is_called_that() -> None:
    with pytest.raises(ValueError, match=r"sparse matrix; pass y_prob.toarray\(\)"):
        as_array(csr_array(np.eye(3)), "y_prob")


@pytest.mark.parametrize("missing", [[True, None], [1, None]])
def test_missing_entries_of_arrow_arrays(missing: list[Any]) -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=r"y_true\[1\] = (nan|None) is not"):
        as_labels(pa.array(missing), np.full(2, 0.5))


DATA: Any = ([0, 0], [[0.5, 0.5], [0.7, 0.3]])
APART = ([0.1, 0.2, 0.6, 0.9], [0, 0, 1, 1])
Z = (np.diag([3.0, 2, 1]), [0, 1, 2])
CALLS: dict[str, Callable[[], Any]] = {
    "class 1": lambda: ck.calibration_error(*DATA, view="class-wise"),
    "class 1.": lambda: ck.null_level(ck.marginal_calibration_error, *DATA, n_draws=1, rng=0),
    "optimum": lambda: OneVsRest("logits", PlattCalibrator(smoothing=False)).fit(*Z),
    "no finite optimum": lambda: make_pipeline(BetaCalibrator()).fit(*APART),
    "bound": lambda: make_pipeline(TemperatureScaling("logits")).fit(*Z),
}


@pytest.mark.parametrize("words", CALLS)
def test_a_warning_points_at_the_line_of_the_user(words: str) -> None:
    with pytest.warns(ck.CalibrationWarning, match=words) as caught:
        CALLS[words]()
    assert caught[0].filename == __file__
    assert caught[0].lineno == CALLS[words].__code__.co_firstlineno
