"""Bad input never gives a number: every measure says what is wrong, where, and what to do."""

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import calibkit as ck
from calibkit.calibrators import PlattCalibrator, TemperatureScaling
from tests.calibkit.families import MANY, ONE_EVENT, fitted, make
from tests.helpers import (
    class_measures,
    measures,
    measures_without_view,
    refuses,
    single_view_measures,
)

Pair = tuple[Any, Any]

LABELS = np.array([0, 1, 1, 1, 0, 0])
PROB = np.array([0.1, 0.4, 0.8, 0.9, 0.6, 0.3])
CLASSES = np.array([0, 1, 2, 2, 1, 0])
ROWS = np.array(
    [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4], [0.5, 0.4, 0.1], [1, 0, 0]]
)


def changed(array: Any, place: Any, value: Any, dtype: Any = np.float64) -> Any:
    array = array.astype(dtype)
    array[place] = value
    return array


def prob_with(place: Any, value: Any) -> Pair:
    return LABELS, changed(PROB, place, value)


def labels_with(place: Any, value: Any, dtype: Any = np.float64) -> Pair:
    return changed(LABELS, place, value, dtype), PROB


def row_with(row: int, values: list[float], dtype: Any = np.float64) -> Pair:
    return CLASSES, changed(ROWS, row, values, dtype)


def classes_with(place: Any, value: Any, dtype: Any = np.float64) -> Pair:
    return changed(CLASSES, place, value, dtype), ROWS


def polars_missing() -> Pair:
    pl = pytest.importorskip("polars")
    return pl.Series([*LABELS[:-1].tolist(), None]), PROB


def masked(array: Any, row: int) -> Any:
    mask = np.zeros(array.shape, dtype=bool)
    mask[row] = True
    return np.ma.masked_array(array, mask)


RAGGED = [[0.5, 0.5], [1.0], [0.2, 0.8], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
LOGITS = np.array([-2.2, -0.4, 1.4, 2.2, 0.4, -0.8])

# Labels and predictions, or what makes them, and what the message must say.
Cases = dict[str, tuple[Any, tuple[str, ...]]]
BINARY: Cases = {
    "nan in p": (prob_with(3, np.nan), ("y_prob[3] = nan", "Drop or repair")),
    "inf in p": (prob_with(2, np.inf), ("y_prob[2] = inf", "overflow")),
    "p just above 1": (prob_with(1, 1.0000001), ("y_prob[1] = 1.0000001", "clipped by you")),
    "p = 1.2": (prob_with(4, 1.2), ("y_prob[4] = 1.2", "expit", "clipped")),
    "p = -0.1": (prob_with(0, -0.1), ("y_prob[0] = -0.1", "expit")),
    "p in per cent": ((LABELS, 100 * PROB), ("y_prob[0] = 10.0", "[0, 1]")),
    "logits": ((LABELS, LOGITS), ("y_prob[0] = -2.2", "logits", "scipy.special.expit")),
    "nan in y": (labels_with(2, np.nan), ("y_true[2] = nan", "Drop")),
    "one label -1": (labels_with(1, -1), ("y_true[1] = -1", "0 and 1", "drop them")),
    "one label 2": (labels_with(5, 2, int), ("y_true[5] = 2", "0 and 1", "column per class")),
    "labels -1, 1": ((2 * LABELS - 1, PROB), ("y_true[0] = -1", "(y_true == 1)")),
    "labels 1, 2": ((LABELS + 1, PROB), ("y_true[1] = 2", "positive=1 or positive=2")),
    "soft label": (labels_with(4, 0.3), ("y_true[4] = 0.3", "Soft labels", "that happened")),
    "label 1.0000001": (labels_with(4, 1.0000001), ("y_true[4] = 1.0000001",)),
    "label 10**400": (([10**400, 0], [0.5, 0.5]), ("y_true[0] = 1000", "not a number")),
    "y and p swapped": ((PROB, LABELS), ("y_true[0] = 0.1", "not a class label")),
    "one-hot y": ((np.eye(2)[LABELS], PROB), ("(6, 2)", "np.array(y_true).argmax(axis=1)")),
    "text y": ((["no", "yes"] * 3, PROB), ("'no' (3), 'yes' (3)", "np.array(y_true) == 'yes'")),
    "one text": ((["yes"] * 6, PROB), ("'yes' (6)", "positive='yes'")),
    "text p": ((LABELS, ["0.1"] * 6), ("y_prob", "<U3", "Pass numbers")),
    "None in y": (([0, 1, None, 1, 0, 0], PROB), ("y_true[2] = None", "Drop")),
    "None in p": ((LABELS, [0.1, None, *PROB[2:]]), ("y_prob[1] = None", "Drop")),
    "pd.NA in y": ((pd.Series([0, 1, 1, 1, 0, pd.NA]), PROB), ("y_true[5] = <NA>", "Drop")),
    "null in polars y": (polars_missing, ("y_true[5] = nan", "Drop")),
    "masked y": ((masked(LABELS, 4), PROB), ("y_true", "row 4", "drop or fill")),
    "masked p": ((LABELS, masked(PROB, 1)), ("y_prob", "row 1", "drop or fill")),
    "empty": (([], []), ("empty", "(0,)", "at least one row")),
    "p (n, 1)": ((LABELS, PROB[:, None]), ("(6, 1)", "np.ravel(y_prob)")),
    "y (n, 2)": ((np.ones((6, 2)), PROB), ("(6, 2)", "one column at a time")),
    "lazy p": (lambda: (LABELS, polars_missing()[0].to_frame().lazy()), ("y_prob.collect()",)),
    "generator": ((iter(LABELS), PROB), ("y_true is a", "pass a list")),
    "p 3-D": ((LABELS, PROB.reshape(1, 2, 3)), ("y_prob", "(1, 2, 3)", "(n, K)")),
    "scalar p": ((LABELS, 0.5), ("y_prob", "a list or an array, got a scalar")),
    "no p at all": ((LABELS, None), ("y_prob", "missing")),
    "ragged p": ((LABELS, RAGGED), ("y_prob", "ragged", "different lengths")),
    "too few y": ((LABELS[:5], PROB), ("y_true has 5 entries", "6 rows")),
    "complex p": ((LABELS, PROB + 0j), ("y_prob", "complex128")),
    "dates as y": ((LABELS.astype("M8[D]"), PROB), ("y_true", "datetime64")),
}

MULTICLASS: Cases = {
    "nan in P": ((CLASSES, changed(ROWS, (4, 1), np.nan)), ("y_prob[4, 1] = nan",)),
    "inf in P": ((CLASSES, changed(ROWS, (3, 2), np.inf)), ("[3, 2] = inf", "overflow")),
    "1.2 and -.2": (row_with(1, [1.2, -0.2, 0]), ("y_prob[1, 0] = 1.2", "softmax")),
    "sum .9": (row_with(3, [0.3, 0.3, 0.3]), ("row 3 sums to 0.9", "multi-label")),
    "sum 1.001": (
        row_with(5, [0.5, 0.5, 1e-3]),
        ("row 5 sums to 1.001", "Rows that miss 1: 1 of", "rounded off"),
    ),
    "sum 1.001, float32": (row_with(5, [0.5, 0.5, 1e-3], np.float32), ("row 5 sums to 1.001",)),
    "sum .9, float16": (row_with(5, [0.5, 0.3, 0.1], np.float16), ("row 5 sums to 0.8999",)),
    "row of zeros": (row_with(0, [0, 0, 0]), ("row 0 sums to 0,", "not 1")),
    "logits": ((CLASSES, 4 * ROWS - 1), ("y_prob[0, 0] = 1.4", "softmax(y_prob")),
    "small logits": ((CLASSES, ROWS / 2), ("row 0 sums to 0.5", "logits", "softmax")),
    "labels 1..K": ((CLASSES + 1, ROWS), ("y_true[2] = 3", "0 to 2", "y_true - 1")),
    "one label -1": (classes_with(4, -1, int), ("y_true[4] = -1", "0 to 2", "3 columns")),
    "one label K": (classes_with(1, 3, int), ("y_true[1] = 3", "0 to 2", "class 3; add it.")),
    "labels -1, 1": ((2 * LABELS - 1, ROWS), ("y_true[0] = -1", "(y_true == 1)")),
    "soft label": (classes_with(2, 0.5), ("y_true[2] = 0.5", "Soft labels", "that happened")),
    "one-hot y": ((np.eye(3)[CLASSES], ROWS), ("(6, 3)", "np.array(y_true).argmax(axis=1)")),
    "soft rows as y": ((ROWS, ROWS), ("(6, 3)", "soft labels are not supported")),
    "text y": ((list("aabbcc"), ROWS), ("y_true", "in the order of the columns")),
    "transposed": ((CLASSES, ROWS.T), ("6 entries", "3 rows", "pass y_prob.T")),
    "one row too many": ((CLASSES[:5], ROWS), ("5 entries", "6 rows")),
    "empty": (([], np.empty((0, 3))), ("y_prob is empty", "(0, 3)")),
    "one column": ((CLASSES, ROWS[:, :1]), ("(6, 1)", "one column per class")),
    "ragged": ((CLASSES, RAGGED), ("y_prob is ragged",)),
    "word in P": ((CLASSES, changed(ROWS, (1, 0), "x", object)), ("y_prob[1] = 'x' is not",)),
    "masked P": ((CLASSES, masked(ROWS, 2)), ("y_prob", "row 2", "drop or fill")),
}

WITHOUT_VIEW = measures_without_view()
# All measures and calibrators check their input by one of these. A handful of cases shows that
# each does.
SHARED: dict[str, Callable[[Any, Any], Any]] = {
    "predictions": ck.brier_score,
    "top-label": partial(ck.binary_problems, view="top-label"),
    "class-wise": partial(ck.binary_problems, view="class-wise"),
    "1": partial(ck.binary_problems, view=1),
    "calibrator": lambda y, p: TemperatureScaling("probabilities").fit(p, y),
}
HANDFUL = ("nan in p", "p just above 1", "one label 2", "None in y", "too few y", "p (n, 1)")
HANDFUL_OF_CLASSES = ("nan in P", "sum .9", "one label K", "soft label", "transposed", "one column")


def fitting(model: Any) -> Callable[[Any, Any], Any]:
    return lambda y, scores: fitted(model, scores, y)


EACH = measures() | {repr(model): fitting(model) for model in ONE_EVENT}
EACH_OF_CLASSES = class_measures() | {name: fitting(make(name)) for name in MANY}


def check(measure: Callable[[Any, Any], Any], case: tuple[Any, tuple[str, ...]]) -> None:
    data, words = case
    y_true, y_prob = data() if callable(data) else data
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are checked below
        measure(y_true, y_prob)
    message = str(caught.value)
    assert not [word for word in words if word not in message], message
    assert message.endswith((".", "0 rows.")), message
    assert len(message.split(". ")) <= 4, "a message is read in a hurry"


@pytest.mark.parametrize("case", BINARY)
def test_binary(case: str) -> None:
    for measure in (*SHARED.values(), ck.binary_problem, fitting(PlattCalibrator())):
        check(measure, BINARY[case])


@pytest.mark.parametrize("case", MULTICLASS)
def test_multiclass(case: str) -> None:
    for measure in SHARED.values():
        check(measure, MULTICLASS[case])


@pytest.mark.parametrize("name", EACH)
def test_each_checks_binary_input(name: str) -> None:
    for case in HANDFUL:
        check(EACH[name], BINARY[case])


@pytest.mark.parametrize("name", EACH_OF_CLASSES)
def test_each_checks_tables(name: str) -> None:
    for case in HANDFUL_OF_CLASSES:
        check(EACH_OF_CLASSES[name], MULTICLASS[case])


@pytest.mark.parametrize("view", ["top-label", "class-wise", 2])
@pytest.mark.parametrize("row", [0, 8_191, 8_192, 20_000])
@pytest.mark.parametrize(
    ("bad", "words"), [(np.nan, r"\[{}, 2\] = nan"), (0.26, "{} sums to 1.01")]
)
def test_the_row_is_named_beyond_the_first_block(view: Any, row: int, bad: float, words: str):
    prob, labels = np.full((20_001, 4), 0.25), np.zeros(20_001, dtype=int)
    prob[row, 2] = bad
    for measure in (partial(ck.reliability_tables, view=view), ck.brier_score):
        with pytest.raises(ValueError, match=words.format(row)):
            measure(labels, prob)


def test_the_first_of_several_bad_rows_is_named() -> None:
    with pytest.raises(ValueError, match=r"y_prob\[1\] = 7"):
        ck.log_loss([0, 1, 1], [0.5, 7, np.nan])
    with pytest.raises(ValueError, match=r"y_true\[1\] = 4"):
        ck.log_loss([0, 4, 9], [0.5, 0.5, 0.5])


# --- calibrators of many classes ----------------------------------------------------------------

SCORES = np.log(np.maximum(ROWS, 1e-3)) + 0.5
BAD_LOGITS = {
    "nan": (changed(SCORES, (4, 1), np.nan), r"scores\[4, 1\] = nan is not a finite logit"),
    "inf": (changed(SCORES, (0, 2), np.inf), r"scores\[0, 2\] = inf is not a finite logit"),
    "log of 0": (changed(SCORES, (5, 1), -np.inf), r"scores\[5, 1\] = -inf .*Logarithms of"),
    "overflow": (changed(SCORES, (5, 1), 1e300), r"scores\[5, 1\] = 1e\+300"),
    "float32 overflow": (changed(SCORES, (5, 1), 1e31).astype(np.float32), r"scores\[5, 1\]"),
    "None": ([[0.1, None, 3.0]] * 6, r"scores\[0.*\] = None is not a number"),
    "masked": (masked(SCORES, 3), "row 3"),
    "complex": (SCORES + 0j, "complex"),
    "empty": (np.empty((0, 3)), "empty"),
    "one column": (SCORES[:, :1], r"\(6, 1\)"),
}
HANDFUL_OF_LOGITS = ("nan", "overflow", "one column")


@pytest.mark.parametrize("name", MANY)
def test_logits(name: str) -> None:
    model = fitted(make(name, "logits"), SCORES, CLASSES)
    for case in BAD_LOGITS if name == "temperature" else HANDFUL_OF_LOGITS:
        scores, words = BAD_LOGITS[case]
        for call in (lambda x: fitted(model, x, CLASSES), model.calibrate):
            with pytest.raises(ValueError, match=words):
                call(scores)
    with pytest.raises(ValueError, match=r"y_true\[3\] = 3"):
        fitted(model, SCORES, changed(CLASSES, 3, 3, int))
    with pytest.raises(ValueError, match="declared as logits, but all rows sum to 1"):
        fitted(model, ROWS, CLASSES)
    fitted(model, SCORES, CLASSES).calibrate(ROWS)  # new logits may look like probabilities


@pytest.mark.filterwarnings("ignore::calibkit.CalibrationWarning")  # no finite optimum
@pytest.mark.parametrize("name", MANY)
def test_other_rows_than_those_of_the_fit(name: str) -> None:
    model = make(name).fit(ROWS, CLASSES)
    for case in ("nan in P", "sum .9", "one column"):
        with pytest.raises(ValueError, match=r".{20}"):
            model.calibrate(MULTICLASS[case][0][1])
    two = np.column_stack([PROB, 1 - PROB])
    four = np.full((6, 4), 0.25)
    for scores in (two, four, PROB):
        with pytest.raises(ValueError, match=r"was fitted to \(n, 3\)"):
            model.calibrate(scores)
    assert model.fit(two, LABELS).calibrate(two).shape == (6, 2)
    with pytest.raises(ValueError, match=r"was fitted to \(n, 2\)"):
        model.calibrate(ROWS)


# --- options ------------------------------------------------------------------------------------

COUNT = (-3, 2.5, 10.0, True, "ten", None, np.nan), "must be a whole number of at least"
# By option: values that are refused, and what the message says after its name.
REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "bins": ((0, -1, 2.5, True, "ten", ck.EqualMass, np.nan), "must be"),
    "n_bins": COUNT,
    "n_draws": COUNT,
    "rule": (("median", None), 'must be "first", "midpoint" or "quantile", got'),
    "weights": (("counts", None), 'must be "mass" or "equal", got'),
    "classes": (("total", None), 'must be "sum" or "mean", got'),
    "method": (("bca",), '.* "reflected" or "percentile", got'),
    "variance": (("p", None), 'must be "bin-mean" or "predictions", got'),
    "part": (("all", None), 'must be "both", "intercept" or "slope", got'),
    "score": (("Brier", "log loss", None), 'must be "brier" or "log", got'),
    "alpha": ((0.0, 1, np.nan), "must be strictly between 0 and 1"),
    "bandwidth": ((0, -1, np.nan, np.inf, True, "0.1", [0.1]), "must be a positive finite number"),
    "level": ((0, 1, -0.1, 90, 1.5, np.nan, "90 %", None, True), "must"),
    "rng": ((-1, 1.5, "seed", True, np.random.RandomState(0), [1]), "must be a non-negative int"),
    "norm": ((0.5, 0, -1, np.nan, -np.inf, True, "2", None, 1j, [1]), "must be a number from 1 on"),
}
OWN = [  # which have fewer norms, methods and bins, and tests of their own
    *(("norm", ck.debiased_calibration_error), ("method", ck.debiased_calibration_error)),
    *(("bins", ck.adaptive_calibration_error), ("rng", ck.fit_on_test.fit_on_test)),
]
DATA = LABELS, PROB
MEASURED = ck.expected_calibration_error, *DATA
FIRST: dict[Any, tuple[Any, ...]] = {
    ck.EqualWidth: (),
    ck.EqualMass: (),
    ck.null_level: MEASURED,
    ck.bootstrap_interval: MEASURED,
}
TAKES = [
    (name, use)
    for use in (*(getattr(ck, name) for name in ck.__all__), ck.fit_on_test.fit_on_test)
    if inspect.isfunction(use) or use in FIRST
    for name in inspect.signature(use).parameters
    if name in REFUSED and (name, use) not in OWN
]


@pytest.mark.parametrize(("name", "use"), TAKES)
def test_options(name: str, use: Callable[..., Any]) -> None:
    values, words = REFUSED[name]
    for value in values:
        with pytest.raises(ValueError, match=f"{name} {words}") as caught:
            use(*FIRST.get(use, DATA), **{name: value})
        assert repr(value) in str(caught.value)


test_single_options = refuses(
    (lambda: ck.EqualWidth(0), "n_bins must be a whole number of at least 1"),
    (lambda: ck.EqualMass(0), "n_bins must be a whole number of at least 1"),
    (lambda: ck.reliability_table(*DATA, bins=None), "bins must be .* None"),
    (lambda: ck.null_level(*MEASURED, n_draws=0), "n_draws must be .* at least 1"),
    (lambda: ck.consistency_band(*DATA, n_draws=1), "n_draws must be .* at least 2"),
    (lambda: ck.bootstrap_interval(*MEASURED, n_draws=1), "n_draws must be .* at least 2"),
    (lambda: ck.FixedEdges([0, 0.5]), "ends at 1"),
    (lambda: ck.FixedEdges([0.1, 1]), "starts at 0"),
    (lambda: ck.FixedEdges([0, 0.5, 0.5, 1]), "edge 1 is 0.5 and edge 2 is 0.5"),
    (lambda: ck.FixedEdges([0, 0.6, 0.4, 1]), "edge 1 is 0.6 and edge 2 is 0.4"),
    (lambda: ck.FixedEdges([0, np.nan, 1]), "edge 0 is 0 and edge 1 is nan"),
    (lambda: ck.FixedEdges([1]), "starts at 0"),
    (lambda: ck.FixedEdges([[0, 1]]), "starts at 0"),
    (lambda: ck.FixedEdges([]), "empty"),
    (lambda: ck.FixedEdges("01"), "scalar|numbers"),
    (lambda: ck.FixedEdges(0.5), "scalar"),
    (lambda: ck.plot.choice(ck.calibrators.PiecewiseLinear()), "holds no scores: it is not fitted"),
    (lambda: ck.scores.corp_decomposition(*DATA).recalibrate([3.0]), r"\[0\] = 3.0 is not a prob"),
)


@pytest.mark.parametrize("name", measures("top-label"))
def test_missing_view(name: str) -> None:
    measure = measures(None)[name]
    if name in WITHOUT_VIEW:
        measure(CLASSES, ROWS)
        return
    words = re.escape('y_prob has 3 columns, so the view must be stated: view="top-label"')
    with pytest.raises(ValueError, match=words):
        measure(CLASSES, ROWS)


@pytest.mark.parametrize("view", [3, -1, "top", "class_wise", "", 1.0, True, ["top-label"], "0"])
def test_views_that_do_not_exist(view: Any) -> None:
    """All of them where views are checked, and two in each measure."""
    for name, measure in measures(view).items():
        if name in WITHOUT_VIEW or (name != "binary_problems" and view not in (3, "top")):
            continue
        for data, last in (((CLASSES, ROWS), 2), (DATA, 1)):
            words = f"{re.escape(repr(view))} does not exist; choose .* class from 0 to {last}"
            with pytest.raises(ValueError, match=words):
                measure(*data)


def test_class_wise_where_one_problem_is_needed() -> None:
    found = single_view_measures("class-wise")
    for name in ("reliability_table", "binary_problem", "consistency_band", "brier_decomposition"):
        with pytest.raises(ValueError, match="one binary problem per class, but a single one"):
            found[name](CLASSES, ROWS)


def test_bins_that_look_at_the_labels_have_no_consistency_band() -> None:
    class Peeking(ck.EqualWidth):
        uses_labels = True

    with pytest.raises(ValueError, match="bins that ignore the labels, not 3 equal-width bins"):
        ck.consistency_band(LABELS, PROB, bins=Peeking(3))


@pytest.mark.parametrize("run", [ck.null_level, ck.bootstrap_interval])
def test_measures_that_are_not_finite(run: Callable[..., Any]) -> None:
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match=f"The measure is {value}"):
            run(lambda y, p, value=value: value, LABELS, PROB)
    with pytest.raises(ValueError, match="The measure is inf"):
        run(ck.log_loss, [1, 0], [0.0, 0.5])


def test_images_become_rows_as_the_message_says() -> None:
    y_prob = np.random.default_rng(0).dirichlet([1, 1, 1], (2, 4, 5)).transpose(0, 3, 1, 2)
    y_true = y_prob.argmax(axis=1)
    y_true[0, 0] = 255
    with pytest.raises(ValueError, match=r"np.moveaxis\(y_prob, 1, -1\).reshape\(-1, C\)"):
        ck.brier_score(y_true, y_prob)
    rows = np.moveaxis(y_prob, 1, -1).reshape(-1, 3)
    label = y_true.ravel()
    error = ck.top_label_calibration_error(label[label != 255], rows[label != 255], bins=1)
    assert float(error) == pytest.approx(1 - rows[label != 255].max(axis=1).mean())


def test_a_column_of_labels_is_labels() -> None:
    assert ck.brier_score(LABELS[:, None], PROB).value == ck.brier_score(LABELS, PROB).value
