"""The same numbers from every container and type; results that nothing can change."""

import copy
import dataclasses
import pickle
import random
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer

import calibkit as ck
from calibkit.fakes import LogitDistortion
from calibkit_audit import AuditSettings, audit, compare
from calibkit_audit.incoming import column_names
from tests.helpers import (
    assert_same,
    binary_data,
    class_data,
    coarse_binary,
    coarse_classes,
    each_case,
    measures,
    measures_without_view,
    numbers,
    single_view_measures,
)

# Multiples of 1/128 are the same number in every type, from bfloat16 to Decimal.
LABELS, PROB = coarse_binary(60, 128, seed=3)
CLASSES, ROWS = coarse_classes(60, 3, 128, seed=4)

QUICK = AuditSettings(n_draws=99, n_resamples=50)


def strided(array: Any) -> Any:
    wide = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    wide[::2] = array
    return wide[::2]


def read_only(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


def nested(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Convert each number and keep the nesting of lists."""

    def apply(array: Any) -> Any:
        return [apply(row) if isinstance(row, list) else convert(row) for row in list(array)]

    return lambda array: apply(array.tolist())


def pandas_shuffled(array: Any) -> Any:
    pd = pytest.importorskip("pandas")
    index = np.random.default_rng(0).permutation(len(array))
    return (pd.Series if array.ndim == 1 else pd.DataFrame)(array, index=index)


def pandas_nullable(array: Any) -> Any:
    pd = pytest.importorskip("pandas")
    frame = (pd.Series if array.ndim == 1 else pd.DataFrame)(array)
    return frame.convert_dtypes()


def polars(array: Any) -> Any:
    pl = pytest.importorskip("polars")
    if array.ndim == 1:
        return pl.Series(array)
    return pl.DataFrame(array, schema=[f"class {k}" for k in range(array.shape[1])])


def pyarrow(array: Any) -> Any:
    pa = pytest.importorskip("pyarrow")
    if array.ndim == 1:
        return pa.array(array)
    return pa.table({f"class {k}": column for k, column in enumerate(array.T)})


def torch_tensor(array: Any) -> Any:
    torch = pytest.importorskip("torch")
    return torch.tensor(array, requires_grad=array.dtype.kind == "f")


def torch_bfloat16(array: Any) -> Any:
    torch = pytest.importorskip("torch")
    return torch.tensor(array).bfloat16() if array.dtype.kind == "f" else torch.tensor(array)


CONTAINERS = {
    "list": lambda array: array.tolist(),
    "tuple": lambda array: tuple(map(tuple, array)) if array.ndim == 2 else tuple(array),
    "list of rows": list,
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "reversed twice": lambda array: array[::-1].copy()[::-1],
    "read-only": read_only,
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "objects": lambda array: array.astype(object),
    "Fraction": nested(Fraction),
    "Decimal": nested(Decimal),
    "masked array without a mask": np.ma.masked_array,
    "pandas, shuffled index": pandas_shuffled,
    "pandas, nullable": pandas_nullable,
    "polars": polars,
    "pyarrow": pyarrow,
    "pyarrow, in chunks": lambda array: (
        pytest.importorskip("pyarrow").chunked_array([array[:20], array[20:]])
        if array.ndim == 1
        else pyarrow(array)
    ),
    "torch with gradient": torch_tensor,
    "torch bfloat16": torch_bfloat16,
}

CLASS_MEASURES = measures_without_view() | {
    f"{name}, {view}": measure
    for view in ("top-label", "class-wise", 1)
    for name, measure in measures(view).items()
    if name not in measures_without_view()
}


# Every measure reads its input in one place (tests/calibkit/test_bad_input.py). So all measures
# meet some containers and types, and a few measures meet all of them.
FEW = {
    "brier_score": ck.brier_score,
    "table": lambda y, p: ck.reliability_table(y, p, view=1, bins=5),
    "top-label": lambda y, p: ck.expected_calibration_error(y, p, view="top-label", bins=5),
}


def assert_equal_results(
    subtests: pytest.Subtests,
    found: dict[str, Any],
    labels: Any,
    prob: Any,
    wanted: tuple[Any, Any],
) -> None:
    for name, measure in found.items():
        with subtests.test(name):
            assert_same(measure(labels, prob), measure(*wanted))


@pytest.mark.parametrize(
    "container",
    [
        pytest.param(c, marks=[pytest.mark.slow] * c.startswith(("obj", "torch")))
        for c in CONTAINERS
    ],
)
def test_containers(container: str, subtests: pytest.Subtests) -> None:
    convert, every = CONTAINERS[container], container in ("list", "objects", "pandas, nullable")
    binary, classes = (measures(), CLASS_MEASURES) if every else (FEW, FEW)
    assert_equal_results(subtests, binary, convert(LABELS), convert(PROB), (LABELS, PROB))
    assert_equal_results(subtests, classes, convert(CLASSES), convert(ROWS), (CLASSES, ROWS))


def test_an_index_in_another_order_is_refused(subtests: pytest.Subtests) -> None:
    """By position, `b` would be another model; aligned, a fresh index would be believed."""
    pd = pytest.importorskip("pandas")
    y, p, names = pd.Series(LABELS), pd.Series(PROB), [f"row {k}" for k in range(60)]
    mixed, other = p.sample(frac=1, random_state=0), p.set_axis(names)
    for name, measure in measures().items():
        with (
            subtests.test(name),
            pytest.raises(ValueError, match=r"same rows in another order.*y_"),
        ):
            measure(y, mixed)
    refused: dict[str, Callable[[], Any]] = {
        "compare": lambda: compare(y, {"a": p, "b": mixed}),
        "models": lambda: compare(LABELS, {"a": p, "b": mixed}),
        "audit": lambda: audit(y, mixed),
        "logits": lambda: audit(y, logits=mixed),
        "groups": lambda: audit(LABELS, p, groups=pd.Series(LABELS, index=mixed.index)),
        "weights": lambda: ck.log_loss(LABELS, p, sample_weight=mixed),
        "calibrator": lambda: ck.calibrators.PlattCalibrator().fit(mixed, y),
        "plot": lambda: ck.plot.reliability_diagram(y, mixed),
        "other rows": lambda: ck.log_loss(y.set_axis(names[::-1]), other),
        "a name is missing": lambda: ck.log_loss(y.set_axis([*names[1:], "x"]), other),
    }
    for case, call in refused.items():
        with subtests.test(case), pytest.raises(ValueError, match="have indexes that name"):
            call()
    # The index that pandas makes by itself says nothing about rows with other names.
    for case, (labels, prob) in {"fresh": (y, other), "array": (LABELS, mixed)}.items():
        with subtests.test(case):
            assert_same(ck.log_loss(labels, prob), ck.log_loss(LABELS, prob.to_numpy()))


@pytest.mark.parametrize("make", [pandas_shuffled, polars, pyarrow])
def test_columns_named_like_the_classes_in_another_order_are_refused(make, subtests) -> None:
    frame = make(ROWS)
    names = column_names(frame)
    assert names is not None
    mixed = frame.select(names[::-1]) if hasattr(frame, "select") else frame[names[::-1]]
    labels = CLASSES if make is not pandas_shuffled else make(CLASSES)
    for name, measure in measures("top-label").items():
        with subtests.test(name), pytest.raises(ValueError, match="the classes in another order"):
            measure(labels, mixed)
    for case, run in {
        "audit": lambda one: audit(labels, one, settings=QUICK),
        "logits": lambda one: audit(labels, logits=one),
        "compare": lambda one: compare(labels, {"a": frame, "b": one}),
    }.items():
        with subtests.test(case), pytest.raises(ValueError, match="the classes in another order"):
            run(mixed)


def test_columns_named_like_class_names_are_compared_with_them(subtests: pytest.Subtests) -> None:
    pd = pytest.importorskip("pandas")
    animals = ["cat", "dog", "owl"]
    for head in ("", "p_"):
        frame = pd.DataFrame(ROWS, columns=[head + name for name in animals])
        with subtests.test(head=head):
            report = audit(CLASSES, frame, class_names=animals, settings=QUICK)
            assert report.class_names == tuple(animals)
            for names in (animals[::-1], ["dog", "owl", "cat"]):
                with pytest.raises(ValueError, match="the classes in another order"):
                    audit(CLASSES, frame, class_names=names)
    with pytest.raises(ValueError, match="model 'b'.*in another order"):
        compare(CLASSES, {"a": frame, "b": frame[frame.columns[::-1]]})


LABEL_TYPES = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "g", "O"]


@pytest.mark.parametrize("dtype", LABEL_TYPES)
def test_types_of_labels(dtype: str, subtests: pytest.Subtests) -> None:
    every = dtype in ("u1", "u8")  # bytes, and what sums with indices would turn into floats
    binary, classes = (measures(), CLASS_MEASURES) if every or dtype == "?" else (FEW, FEW)
    assert_equal_results(subtests, binary, LABELS.astype(dtype), PROB, (LABELS, PROB))
    if dtype != "?":
        assert_equal_results(subtests, classes, CLASSES.astype(dtype), ROWS, (CLASSES, ROWS))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "O"])
def test_types_of_probabilities(dtype: str, subtests: pytest.Subtests) -> None:
    binary, classes = (measures(), CLASS_MEASURES) if dtype == "f4" else (FEW, FEW)
    assert_equal_results(subtests, binary, LABELS, PROB.astype(dtype), (LABELS, PROB))
    assert_equal_results(subtests, classes, CLASSES, ROWS.astype(dtype), (CLASSES, ROWS))


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8"])
def test_whole_numbers_as_probabilities(dtype: str, subtests: pytest.Subtests) -> None:
    """A model that only says 0 or 1 may do so in any type."""
    labels, prob = coarse_binary(40, 1, seed=1)
    classes, rows = coarse_classes(40, 3, 1, seed=1)
    for name, measure in measures().items():
        if measure is not ck.log_loss:
            with subtests.test(name):
                assert_same(measure(labels, prob.astype(dtype)), measure(labels, prob))
    for measure in (ck.brier_score, ck.class_wise_calibration_error, ck.log_loss):
        with subtests.test(measure.__name__):
            assert_same(measure(classes, rows.astype(dtype)), measure(classes, rows))


@pytest.mark.slow
def test_torch_gradients_stay_where_they_are() -> None:
    torch = pytest.importorskip("torch")
    prob = torch.tensor(PROB, requires_grad=True)
    ck.expected_calibration_error(torch.tensor(LABELS), prob)
    assert prob.requires_grad and prob.grad is None


# --- order, precision, size ---------------------------------------------------------------------

# What draws random numbers spends them on other rows after a shuffle.
RANDOM = ("null_level", "bootstrap", "consistency")
ONE_GAP = ("expected", "adaptive", "average", "maximum", "root_mean_square", "lp")
# They redraw labels, and keep a verdict per row: test_tce.py and test_adaptive.py compare.
BY_ROW = ("test_based", "adaptive_test")
# A curve, and what needs an event: one row is an error.
PAIRS = ("smooth_curve", "decision_curve")


def deterministic(found: dict[str, Any]) -> dict[str, Any]:
    return {
        name: measure
        for name, measure in found.items()
        if not any(word in name for word in (*RANDOM, "binary_problem", *BY_ROW))
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "found"),
    [
        (binary_data(3000), measures()),
        (coarse_binary(3000, 60), measures()),
        (class_data(3000, 4), CLASS_MEASURES),
        (coarse_classes(3000, 4, 12), CLASS_MEASURES),
    ],
    ids=["binary", "ties", "classes", "classes with ties"],
)
def test_the_order_of_rows_never_matters(data: Any, found: dict[str, Any], subtests) -> None:
    labels, prob = data
    order = np.random.default_rng(1).permutation(3000)
    for name, measure in deterministic(found).items():
        with subtests.test(name):
            assert_same(measure(labels[order], prob[order]), measure(labels, prob))


@pytest.mark.long
@pytest.mark.parametrize(
    ("data", "found"), [(binary_data, measures()), (class_data, CLASS_MEASURES)]
)
def test_single_precision_is_summed_in_double_precision(data, found, subtests) -> None:
    labels, prob = data(30_000)
    prob = prob.astype(np.float32)
    for name, measure in deterministic(found).items():
        with subtests.test(name):
            assert_same(measure(labels, prob), measure(labels, prob.astype(np.float64)))


def test_a_mean_of_equal_float32_values_is_that_value() -> None:
    """A float32 accumulator would stop growing at 2^24 ones and be off long before."""
    prob = np.full(300_000, 0.1, dtype=np.float32)
    table = ck.reliability_table(np.zeros(300_000, dtype=bool), prob, bins=1)
    assert table.mean_prob[0] == pytest.approx(float(np.float32(0.1)), abs=1e-12)


@pytest.mark.filterwarnings("ignore::calibkit.CalibrationWarning")  # one class is absent
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("prob", [0.0, 0.3, 0.5, 1.0])
def test_one_row_is_enough_for_every_binary_measure(label: int, prob: float, subtests) -> None:
    impossible = prob == 1 - label
    for name, measure in measures().items():
        with subtests.test(name=name):
            if name in PAIRS:
                continue
            result = measure([label], [prob])
            if name == "log_loss" and impossible:
                assert result.value == np.inf and result.impossible == 1
                continue
            if "calibration" in name or name in ONE_GAP:
                assert float(result) == pytest.approx(abs(prob - label))
            if hasattr(result, "describe"):
                assert result.describe()


@pytest.mark.filterwarnings("ignore::calibkit.CalibrationWarning")  # most classes are absent
@each_case("name", [n for n in CLASS_MEASURES if not n.startswith(PAIRS)])
def test_one_row_is_enough_for_every_measure_of_classes(name: str) -> None:
    result = CLASS_MEASURES[name]([2], [[0.2, 0.5, 0.3]])
    if name == "top_label":
        assert float(result) == pytest.approx(0.5)
    assert np.isfinite(numbers(result)).any()


def test_a_class_that_never_occurs_keeps_its_column() -> None:
    labels, prob = np.array([0, 1, 0, 1]), np.full((4, 3), 1 / 3)
    with pytest.warns(ck.CalibrationWarning, match="Never seen in y_true: class 2. The column is"):
        error = ck.class_wise_calibration_error(labels, prob)
    assert len(error.per_view) == 3 and error.per_view == pytest.approx([1 / 6, 1 / 6, 1 / 3])
    assert float(error) == pytest.approx(2 / 9)
    assert ck.brier_score(labels, prob).name == "Brier score (sum over 3 classes)"
    assert len(ck.binary_problems(labels, prob, view="class-wise")) == 3
    table = ck.reliability_table(labels, prob, view=2, bins=1)
    assert (table.count[0], table.frequency[0]) == (4, 0)


# --- nothing outside is changed -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "found"), [(binary_data, measures()), (class_data, CLASS_MEASURES)]
)
def test_arguments_are_never_changed(data: Any, found: dict[str, Any], subtests) -> None:
    for name, measure in found.items():
        (labels, prob), before = data(50), data(50)
        measure(labels, prob)
        with subtests.test(name):
            assert np.array_equal(labels, before[0])
            assert np.array_equal(prob, before[1])
            assert labels.flags.writeable
            assert prob.flags.writeable


def test_global_state_is_left_alone() -> None:
    labels, prob = class_data(50)
    legacy, standard = np.random.get_state(), random.getstate()  # noqa: NPY002
    filters, errors, printing = list(warnings.filters), np.geterr(), np.get_printoptions()
    for measure in CLASS_MEASURES.values():
        measure(labels, prob)
    LogitDistortion(0.5).sample(10)
    after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(a, b) for a, b in zip(legacy, after, strict=True))
    assert random.getstate() == standard
    assert warnings.filters == filters
    assert np.geterr() == errors
    assert np.get_printoptions() == printing


# --- results ------------------------------------------------------------------------------------


def results() -> dict[str, Any]:
    """Return one result of every kind."""
    (labels, prob), (classes, rows) = binary_data(80), class_data(80)
    found = {name: m(labels, prob) for name, m in single_view_measures(None).items()}
    found["brier_score"] = ck.brier_score(classes, rows)
    found["expected"] = ck.expected_calibration_error(labels, prob, bins=ck.FixedEdges([0, 0.4, 1]))
    found["class_wise"] = ck.class_wise_calibration_error(classes, rows)
    for run in (ck.null_level, ck.bootstrap_interval):
        found[run.__name__] = run(ck.expected_calibration_error, labels, prob, rng=0)
    found["sample"] = LogitDistortion(0.5).sample(20, 0)
    return found


RESULTS = results()
SPEAKING = {name: result for name, result in RESULTS.items() if hasattr(result, "describe")}


def arrays(result: Any) -> dict[str, Any]:
    values = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("name", RESULTS)
class TestResults:
    def test_are_frozen(self, name: str, subtests: pytest.Subtests) -> None:
        result = RESULTS[name]
        for field in dataclasses.fields(result):
            with subtests.test(field=field), pytest.raises(dataclasses.FrozenInstanceError):
                setattr(result, field.name, 0)
        with pytest.raises((AttributeError, TypeError)):
            result.new_attribute = 1

    def test_have_read_only_arrays(self, name: str) -> None:
        assert not [key for key, array in arrays(RESULTS[name]).items() if array.flags.writeable]

    def test_survive_pickle_and_copy(self, name: str, subtests: pytest.Subtests) -> None:
        result = RESULTS[name]
        ways = {"pickle": lambda one: pickle.loads(pickle.dumps(one)), "copy": copy.copy}
        for way, again in (ways | {"deepcopy": copy.deepcopy}).items():
            other = again(result)
            with subtests.test(way):
                assert type(other) is type(result)
                assert_same(other, result, tolerance=0)
                assert repr(other) == repr(result)
                with pytest.raises(dataclasses.FrozenInstanceError):
                    setattr(other, dataclasses.fields(other)[0].name, 0)

    def test_take_keywords_only(self, name: str) -> None:
        with pytest.raises(TypeError):
            type(RESULTS[name])(1.0)


@pytest.mark.parametrize("name", SPEAKING)
class TestSpeakingResults:
    def test_describe_is_one_line_of_sentences(self, name: str) -> None:
        text = SPEAKING[name].describe()
        assert text[0].isupper() or text[0].isdigit()
        assert text.endswith(".") and "\n" not in text and "nan" not in text
        assert repr(SPEAKING[name]) == f"<{type(SPEAKING[name]).__name__}: {text}>"

    def test_frame_and_html_show_the_same_table(self, name: str) -> None:
        pytest.importorskip("pandas")
        frame, html = SPEAKING[name].to_frame(), SPEAKING[name]._repr_html_()
        assert len(frame) >= 1
        assert html.count("<tr>") == len(frame) + 1 and html.count("<td>") == frame.size
        assert not [name for name in frame.columns if f"<th scope='col'>{name}</th>" not in html]
        assert "nan" not in html

    def test_a_frame_is_a_copy(self, name: str) -> None:
        pytest.importorskip("pandas")
        frame = SPEAKING[name].to_frame()
        columns = SPEAKING[name]._columns().items()
        assert not [key for key, one in columns if np.shares_memory(frame[key].to_numpy(), one)]


def test_html_is_escaped() -> None:
    labels, prob = binary_data(20)
    error = ck.calibration_error(labels, prob, name="<script>error</script>")
    assert "<script>" not in error._repr_html_()


def test_float_of_a_result_is_its_number() -> None:
    labels, prob = binary_data(80)
    error = ck.expected_calibration_error(labels, prob)
    assert float(error) == error.value and isinstance(float(error), float)
    assert float(RESULTS["null_level"]) == RESULTS["null_level"].value
    assert float(RESULTS["bootstrap_interval"]) == RESULTS["bootstrap_interval"].value
    assert float(RESULTS["brier_score"]) == RESULTS["brier_score"].value
    assert float(RESULTS["brier_decomposition"]) == RESULTS["brier_decomposition"].score
    assert f"{error:.3f}" == f"{error.value:.3f}" and f"{error}" == str(error)
    assert np.mean([error, error]) == error.value
    scorer = make_scorer(
        lambda y, p: float(ck.expected_calibration_error(y, p)),
        greater_is_better=False,
        response_method="predict_proba",
    )
    X = prob[:, np.newaxis]
    model = LogisticRegression().fit(X, labels)
    wanted = ck.expected_calibration_error(labels, model.predict_proba(X)[:, 1]).value
    assert scorer(model, X, labels) == -wanted


def test_values_are_python_numbers() -> None:
    """A NumPy scalar would print as np.float64(0.1) in a lesson."""
    assert not [
        (name, field.name)
        for name, result in RESULTS.items()
        for field in dataclasses.fields(result)
        if isinstance(getattr(result, field.name), np.generic)
    ]
