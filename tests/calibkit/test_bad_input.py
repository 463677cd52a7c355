"""Bad input never gives a number: every measure says what is wrong, where, and what to do."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import calibkit as ck
from tests.helpers import each_case, errors_with_a_view, measures, measures_without_view

Pair = tuple[Any, Any]

LABELS = np.array([0, 1, 1, 1, 0, 0])
PROB = np.array([0.1, 0.4, 0.8, 0.9, 0.6, 0.3])
CLASSES = np.array([0, 1, 2, 2, 1, 0])
ROWS = np.array(
    [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4], [0.5, 0.4, 0.1], [1, 0, 0]]
)


class Case(NamedTuple):
    """One bad input: how to make it, and what the message must say."""

    name: str
    make: Callable[[], Pair]
    words: tuple[str, ...]


def changed(array: Any, place: Any, value: Any, dtype: Any = np.float64) -> Any:
    array = array.astype(dtype)
    array[place] = value
    return array


def prob_with(place: Any, value: Any) -> Callable[[], Pair]:
    return lambda: (LABELS, changed(PROB, place, value))


def labels_with(place: Any, value: Any, dtype: Any = np.float64) -> Callable[[], Pair]:
    return lambda: (changed(LABELS, place, value, dtype), PROB)


def row_with(row: int, values: list[float], dtype: Any = np.float64) -> Callable[[], Pair]:
    return lambda: (CLASSES, changed(ROWS, row, values, dtype))


def classes_with(place: Any, value: Any, dtype: Any = np.float64) -> Callable[[], Pair]:
    return lambda: (changed(CLASSES, place, value, dtype), ROWS)


def pandas_missing(labels: list[int], prob: Any) -> Callable[[], Pair]:
    def make() -> Pair:
        pd = pytest.importorskip("pandas")
        return pd.Series([*labels[:-1], pd.NA], dtype="object"), prob

    return make


def polars_missing() -> Pair:
    pl = pytest.importorskip("polars")
    return pl.Series([*LABELS[:-1].tolist(), None]), PROB


def masked(array: Any, row: int) -> Any:
    mask = np.zeros(array.shape, dtype=bool)
    mask[row] = True
    return np.ma.masked_array(array, mask)


RAGGED = [[0.5, 0.5], [1.0], [0.2, 0.8], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
LOGITS = np.array([-2.2, -0.4, 1.4, 2.2, 0.4, -0.8])

BINARY = [
    Case("nan in p", prob_with(3, np.nan), ("y_prob[3] = nan", "Drop or repair")),
    Case("inf in p", prob_with(2, np.inf), ("y_prob[2] = inf", "overflow")),
    Case("p just above 1", prob_with(1, 1.0000001), ("y_prob[1] = 1.0000001", "clipped by you")),
    Case("p = 1.2", prob_with(4, 1.2), ("y_prob[4] = 1.2", "expit", "clipped")),
    Case("p = -0.1", prob_with(0, -0.1), ("y_prob[0] = -0.1", "expit")),
    Case("p in per cent", lambda: (LABELS, 100 * PROB), ("y_prob[0] = 10.0", "[0, 1]")),
    Case("logits", lambda: (LABELS, LOGITS), ("y_prob[0] = -2.2", "logits", "scipy.special.expit")),
    Case("nan in y", labels_with(2, np.nan), ("y_true[2] = nan", "Drop")),
    Case("one label -1", labels_with(1, -1), ("y_true[1] = -1", "0 and 1", "np.unique")),
    Case("one label 2", labels_with(5, 2, int), ("y_true[5] = 2", "0 and 1", "column per class")),
    Case("labels -1, 1", lambda: (2 * LABELS - 1, PROB), ("y_true[0] = -1", "(y_true == 1)")),
    Case("labels 1, 2", lambda: (LABELS + 1, PROB), ("y_true[1] = 2", "pass y_true - 1")),
    Case("soft label", labels_with(4, 0.3), ("y_true[4] = 0.3", "Soft labels", "that happened")),
    Case("label 1.0000001", labels_with(4, 1.0000001), ("y_true[4] = 1.0000001",)),
    Case("label 10**400", lambda: ([10**400, 0], [0.5, 0.5]), ("y_true[0] = 1000", "not a number")),
    Case("y and p swapped", lambda: (PROB, LABELS), ("y_true[0] = 0.1", "not a class label")),
    Case("one-hot y", lambda: (np.eye(2)[LABELS], PROB), ("(6, 2)", "y_true.argmax(axis=1)")),
    Case(
        "text y",
        lambda: (["no", "yes"] * 3, PROB),
        ("y_true", "'no' (3), 'yes' (3)", "positive='yes'"),
    ),
    Case("text p", lambda: (LABELS, ["0.1"] * 6), ("y_prob", "<U3", "numbers")),
    Case("None in y", lambda: ([0, 1, None, 1, 0, 0], PROB), ("y_true[2] = None", "Drop")),
    Case("None in p", lambda: (LABELS, [0.1, None, *PROB[2:]]), ("y_prob[1] = None", "Drop")),
    Case("pd.NA in y", pandas_missing([0, 1, 0, 1, 0, 1], PROB), ("y_true[5] = <NA>", "Drop")),
    Case("null in polars y", polars_missing, ("y_true[5] = nan", "Drop")),
    Case("masked y", lambda: (masked(LABELS, 4), PROB), ("y_true", "row 4", "drop or fill")),
    Case("masked p", lambda: (LABELS, masked(PROB, 1)), ("y_prob", "row 1", "drop or fill")),
    Case("empty", lambda: ([], []), ("empty", "(0,)", "at least one row")),
    Case("p (n, 1)", lambda: (LABELS, PROB[:, None]), ("(6, 1)", "y_prob.ravel()")),
    Case("y (n, 1)", lambda: (LABELS[:, None], PROB), ("(6, 1)", "y_true.ravel()")),
    Case("p 3-D", lambda: (LABELS, PROB.reshape(1, 2, 3)), ("y_prob", "(1, 2, 3)", "(n, K)")),
    Case("scalar p", lambda: (LABELS, 0.5), ("y_prob", "scalar", "one entry per prediction")),
    Case("no p at all", lambda: (LABELS, None), ("y_prob", "missing")),
    Case("ragged p", lambda: (LABELS, RAGGED), ("y_prob", "ragged", "different lengths")),
    Case("too few y", lambda: (LABELS[:5], PROB), ("y_true has 5 entries", "6 rows")),
    Case("complex p", lambda: (LABELS, PROB + 0j), ("y_prob", "complex128")),
    Case("dates as y", lambda: (LABELS.astype("M8[D]"), PROB), ("y_true", "datetime64")),
]

MULTICLASS = [
    Case("nan in P", lambda: (CLASSES, changed(ROWS, (4, 1), np.nan)), ("y_prob[4, 1] = nan",)),
    Case(
        "inf in P", lambda: (CLASSES, changed(ROWS, (3, 2), np.inf)), ("[3, 2] = inf", "overflow")
    ),
    Case("1.2 and -.2", row_with(1, [1.2, -0.2, 0]), ("y_prob[1, 0] = 1.2", "softmax")),
    Case("sum .9", row_with(3, [0.3, 0.3, 0.3]), ("row 3 sums to 0.9", "divide each row")),
    Case("sum 1.001", row_with(5, [0.5, 0.5, 1e-3]), ("row 5 sums to 1.001", "softmax")),
    Case("sum 1.001, float32", row_with(5, [0.5, 0.5, 1e-3], np.float32), ("row 5 sums to 1.001",)),
    Case("sum .9, float16", row_with(5, [0.5, 0.3, 0.1], np.float16), ("row 5 sums to 0.8999",)),
    Case("row of zeros", row_with(0, [0, 0, 0]), ("row 0 sums to 0,", "not 1")),
    Case("logits", lambda: (CLASSES, 4 * ROWS - 1), ("y_prob[0, 0] = 1.4", "softmax(y_prob")),
    Case("small logits", lambda: (CLASSES, ROWS / 2), ("row 0 sums to 0.5", "logits", "softmax")),
    Case("labels 1..K", lambda: (CLASSES + 1, ROWS), ("y_true[2] = 3", "0 to 2", "y_true - 1")),
    Case("one label -1", classes_with(4, -1, int), ("y_true[4] = -1", "0 to 2", "3 columns")),
    Case("one label K", classes_with(1, 3, int), ("y_true[1] = 3", "0 to 2", "3 columns")),
    Case("labels -1, 1", lambda: (2 * LABELS - 1, ROWS), ("y_true[0] = -1", "(y_true == 1)")),
    Case("soft label", classes_with(2, 0.5), ("y_true[2] = 0.5", "Soft labels", "that happened")),
    Case("one-hot y", lambda: (np.eye(3)[CLASSES], ROWS), ("(6, 3)", "y_true.argmax(axis=1)")),
    Case("soft rows as y", lambda: (ROWS, ROWS), ("(6, 3)", "soft labels are not supported")),
    Case("text y", lambda: (list("aabbcc"), ROWS), ("y_true", "np.unique")),
    Case("transposed", lambda: (CLASSES, ROWS.T), ("6 entries", "3 rows", "pass y_prob.T")),
    Case("one row too many", lambda: (CLASSES[:5], ROWS), ("5 entries", "6 rows")),
    Case("empty", lambda: ([], np.empty((0, 3))), ("y_prob is empty", "(0, 3)")),
    Case("one column", lambda: (CLASSES, ROWS[:, :1]), ("(6, 1)", "one column per class")),
    Case("ragged", lambda: (CLASSES, RAGGED), ("y_prob is ragged",)),
    Case("masked P", lambda: (CLASSES, masked(ROWS, 2)), ("y_prob", "row 2", "drop or fill")),
]

WITHOUT_VIEW = set(measures_without_view())
MULTICLASS_MEASURES = measures_without_view() | {
    f"{name}, {view}": measure
    for view in ("top-label", "class-wise", 1)
    for name, measure in measures(view).items()
    if name not in WITHOUT_VIEW
}


# All measures check their input by one of these. A handful of cases shows that each measure does.
SHARED: dict[str, Callable[[Any, Any], Any]] = {
    "predictions": ck.brier_score,
    **{
        f"view {view}": lambda y, p, view=view: ck.binary_problems(y, p, view=view)
        for view in ("top-label", "class-wise", 1)
    },
}
HANDFUL = ("nan in p", "p just above 1", "one label 2", "None in y", "too few y", "p (n, 1)")
HANDFUL_OF_CLASSES = ("nan in P", "sum .9", "one label K", "soft label", "transposed", "one column")


def check(measure: Callable[[Any, Any], Any], case: Case) -> None:
    y_true, y_prob = case.make()
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are checked below
        measure(y_true, y_prob)
    message = str(caught.value)
    assert not [word for word in case.words if word not in message], message
    assert message.endswith((".", "0 rows.")), message
    assert len(message.split(". ")) <= 4, "a message is read in a hurry"


@each_case("measure", [*SHARED.values(), ck.binary_problem])
@each_case("case", BINARY)
def test_binary(case: Case, measure: Any) -> None:
    check(measure, case)


@each_case("case", MULTICLASS)
def test_multiclass(case: Case, subtests: pytest.Subtests) -> None:
    for name, measure in SHARED.items():
        with subtests.test(name):
            check(measure, case)


@each_case("name", measures())
def test_each_measure_checks_binary_input(name: str, subtests: pytest.Subtests) -> None:
    cases = [case for case in BINARY if case.name in HANDFUL]
    assert len(cases) == len(HANDFUL)
    for case in cases:
        with subtests.test(case=case):
            check(measures()[name], case)


@each_case("name", MULTICLASS_MEASURES)
def test_each_measure_checks_tables(name: str, subtests: pytest.Subtests) -> None:
    cases = [case for case in MULTICLASS if case.name in HANDFUL_OF_CLASSES]
    assert len(cases) == len(HANDFUL_OF_CLASSES)
    for case in cases:
        with subtests.test(case=case):
            check(MULTICLASS_MEASURES[name], case)


@each_case("view", ["top-label", "class-wise", 2])
@each_case("row", [0, 8_191, 8_192, 20_000])
def test_the_row_is_named_beyond_the_first_block(view: Any, row: int, subtests) -> None:
    prob = np.full((20_001, 4), 0.25)
    labels = np.zeros(20_001, dtype=int)
    for value, words in ((np.nan, rf"y_prob\[{row}, 2\] = nan"), (0.26, f"row {row} sums to 1.01")):
        with subtests.test(value=value):
            bad = prob.copy()
            bad[row, 2] = value
            with pytest.raises(ValueError, match=words):
                ck.reliability_tables(labels, bad, view=view)
            with pytest.raises(ValueError, match=words):
                ck.brier_score(labels, bad)


def test_the_first_of_several_bad_rows_is_named() -> None:
    with pytest.raises(ValueError, match=r"y_prob\[1\] = 7"):
        ck.log_loss([0, 1, 1], [0.5, 7, np.nan])
    with pytest.raises(ValueError, match=r"y_true\[1\] = 4"):
        ck.log_loss([0, 4, 9], [0.5, 0.5, 0.5])


# --- options ------------------------------------------------------------------------------------

BAD_BINS = (0, -1, 2.5, True, "ten", ck.EqualMass, None, [0, 0.5, 1], np.nan)


def with_bins(bins: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """Return everything that takes bins."""
    found = errors_with_a_view(None, bins)
    del found["adaptive"], found["smooth"]
    found |= {
        "class_wise": lambda y, p: ck.class_wise_calibration_error(y, p, bins=bins),
        "marginal": lambda y, p: ck.marginal_calibration_error(y, p, bins=bins),
        "top_label": lambda y, p: ck.top_label_calibration_error(y, p, bins=bins),
        "reliability_table": lambda y, p: ck.reliability_table(y, p, bins=bins),
        "reliability_tables": lambda y, p: ck.reliability_tables(y, p, bins=bins),
        "consistency_band": lambda y, p: ck.consistency_band(y, p, bins=bins),
        "null_level": lambda y, p: ck.null_level(ck.calibration_error, y, p, bins=bins),
        "bootstrap": lambda y, p: ck.bootstrap_interval(ck.calibration_error, y, p, bins=bins),
    }
    if bins is not None:  # None is the default there
        found["brier_decomposition"] = lambda y, p: ck.brier_decomposition(y, p, bins=bins)
    return found


@each_case("bins", BAD_BINS)
def test_bins(bins: Any, subtests: pytest.Subtests) -> None:
    """All of them in one measure, and two in each."""
    for name, measure in with_bins(bins).items():
        with subtests.test(name=name):
            if name != "reliability_table" and bins not in (0, "ten"):
                continue
            with pytest.raises(ValueError, match="bins must be") as caught:
                measure(LABELS, PROB)
            assert repr(bins) in str(caught.value), name


@each_case(
    ("edges", "words"),
    [
        ([0, 0.5], "ends at 1"),
        ([0.1, 1], "starts at 0"),
        ([0, 0.5, 0.5, 1], "edge 1 is 0.5 and edge 2 is 0.5"),
        ([0, 0.6, 0.4, 1], "edge 1 is 0.6 and edge 2 is 0.4"),
        ([0, np.nan, 1], "edge 0 is 0 and edge 1 is nan"),
        ([1], "starts at 0"),
        ([[0, 1]], "starts at 0"),
        ([], "empty"),
        ("01", "scalar|numbers"),
        (0.5, "scalar"),
    ],
)
def test_edges(edges: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ck.FixedEdges(edges)


BAD_VIEWS = (3, -1, "top", "class_wise", "", 1.0, True, ["top-label"], "0")


@each_case("name", measures("top-label"))
def test_missing_view(name: str) -> None:
    measure = measures(None)[name]
    if name in WITHOUT_VIEW:
        measure(CLASSES, ROWS)
        return
    words = re.escape('y_prob has 3 columns, so the view must be stated: view="top-label"')
    with pytest.raises(ValueError, match=words):
        measure(CLASSES, ROWS)


@each_case("view", BAD_VIEWS)
def test_views_that_do_not_exist(view: Any, subtests: pytest.Subtests) -> None:
    """All of them where views are checked, and two in each measure."""
    for name, measure in measures(view).items():
        with subtests.test(name=name):
            if name in WITHOUT_VIEW or (name != "binary_problems" and view not in (3, "top")):
                continue
            with pytest.raises(
                ValueError, match="does not exist; choose .* class from 0 to 2"
            ) as told:
                measure(CLASSES, ROWS)
            assert repr(view) in str(told.value), name
            with pytest.raises(ValueError, match="does not exist; choose .* class from 0 to 1"):
                measure(LABELS, PROB)


@pytest.mark.parametrize(
    "measure",
    [ck.reliability_table, ck.binary_problem, ck.consistency_band, ck.brier_decomposition],
)
def test_class_wise_where_one_problem_is_needed(measure: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="one binary problem per class, but a single one"):
        measure(CLASSES, ROWS, view="class-wise")


def test_bins_that_look_at_the_labels_have_no_consistency_band() -> None:
    class Peeking(ck.EqualWidth):
        uses_labels = True

    with pytest.raises(ValueError, match="bins that ignore the labels, not 3 equal-width bins"):
        ck.consistency_band(LABELS, PROB, bins=Peeking(3))


# By option: values that are refused, and what the message says after its name.
COUNT = (0, -3, 2.5, 10.0, True, "ten", None, np.nan), "must be a whole number of at least"
REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "n_bins": COUNT,
    "n_draws": COUNT,
    "rule": (("median", None), 'must be "first", "midpoint" or "quantile", got'),
    "weights": (("counts", None), 'must be "mass" or "equal", got'),
    "classes": (("total", None), 'must be "sum" or "mean", got'),
    "method": (("bca",), '.* "reflected" or "percentile", got'),
    "level": ((0, 1, -0.1, 90, 1.5, np.nan, "90 %", None, True), "must"),
    "rng": ((-1, 1.5, "seed", True, np.random.RandomState(0), [1]), "must be a non-negative int"),
    "norm": ((0.5, 0, -1, np.nan, -np.inf, True, "2", None, 1j, [1]), "must be a number from 1 on"),
}
DATA = LABELS, PROB
MEASURED = ck.expected_calibration_error, *DATA
NORMED = (ck.calibration_error, ck.marginal_calibration_error, ck.top_label_calibration_error)
TAKES = [
    ("n_bins", ck.EqualWidth, ()),
    ("n_bins", ck.EqualMass, ()),
    ("rule", ck.EqualMass, ()),
    ("weights", ck.calibration_error, DATA),
    ("classes", ck.brier_score, DATA),
    ("method", ck.bootstrap_interval, MEASURED),
    ("level", ck.consistency_band, DATA),
    ("level", ck.bootstrap_interval, MEASURED),
    ("rng", ck.consistency_band, DATA),
    ("rng", ck.null_level, MEASURED),
    ("rng", ck.bootstrap_interval, MEASURED),
    ("n_draws", ck.consistency_band, DATA),
    ("n_draws", ck.null_level, MEASURED),
    ("n_draws", ck.bootstrap_interval, MEASURED),
    *(("norm", measure, DATA) for measure in NORMED),
    *(("norm", ck.null_level, (measure, *DATA)) for measure in NORMED),
]


@each_case(("name", "use", "first"), TAKES)
def test_options(name: str, use: Callable[..., Any], first: tuple[Any, ...], subtests) -> None:
    values, words = REFUSED[name]
    for value in values:
        with subtests.test(f"{name}={value!r}"), pytest.raises(ValueError, match=f"{name} {words}"):
            use(*first, **{name: value})


@pytest.mark.parametrize(
    ("use", "first"), [(ck.consistency_band, DATA), (ck.bootstrap_interval, MEASURED)]
)
def test_one_draw_is_no_interval(use: Callable[..., Any], first: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="n_draws must be a whole number of at least 2"):
        use(*first, n_draws=1)


@pytest.mark.parametrize("run", [ck.null_level, ck.bootstrap_interval])
def test_measures_that_are_not_finite(run: Callable[..., Any], subtests: pytest.Subtests) -> None:
    for value in (np.nan, np.inf):
        with subtests.test(value=value), pytest.raises(ValueError, match=f"The measure is {value}"):
            run(lambda y, p, value=value: value, LABELS, PROB)
    with pytest.raises(ValueError, match="The measure is inf"):
        run(ck.log_loss, [1, 0], [0.0, 0.5])
