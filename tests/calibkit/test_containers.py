"""The same numbers from every container and type; results that nothing can change."""

import contextlib
import copy
import dataclasses
import pickle
import random
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import calibkit as ck
from calibkit.fakes import LogitDistortion
from tests.calibkit.families import MANY, ONE_EVENT, make
from tests.helpers import (
    assert_same,
    binary_data,
    class_data,
    class_measures,
    coarse_binary,
    coarse_classes,
    measures,
    numbers,
)

# Multiples of 1/128 are the same number in every type, from bfloat16 to Decimal.
LABELS, PROB = coarse_binary(60, 128, seed=3)
CLASSES, ROWS = coarse_classes(60, 3, 128, seed=4)


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
    index = np.random.default_rng(0).permutation(len(array))
    return (pd.Series if array.ndim == 1 else pd.DataFrame)(array, index=index)


def pandas_nullable(array: Any) -> Any:
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

CLASS_MEASURES = class_measures()

# Every measure reads its input in one place (tests/calibkit/test_bad_input.py). So all measures
# meet some containers and types, and a few measures meet all of them.
FEW = {
    "brier_score": ck.brier_score,
    "table": partial(ck.reliability_table, view=1, bins=5),
    "top-label": partial(ck.expected_calibration_error, view="top-label", bins=5),
}


def assert_equal_results(found: dict[str, Any], data: tuple[Any, Any], plain: Any) -> None:
    for measure in found.values():
        assert_same(measure(*data), measure(*plain))


@pytest.mark.parametrize(
    "container",
    [
        pytest.param(c, marks=[pytest.mark.slow] * c.startswith(("obj", "torch")))
        for c in CONTAINERS
    ],
)
def test_containers(container: str) -> None:
    convert, every = CONTAINERS[container], container in ("list", "objects", "pandas, nullable")
    binary, classes = (measures(), CLASS_MEASURES) if every else (FEW, FEW)
    assert_equal_results(binary, (convert(LABELS), convert(PROB)), (LABELS, PROB))
    assert_equal_results(classes, (convert(CLASSES), convert(ROWS)), (CLASSES, ROWS))


Y, P = pd.Series(LABELS), pd.Series(PROB)
NAMES = [f"row {k}" for k in range(60)]
LOGITS, ONE_MAP = ck.calibrators.TemperatureScaling("logits"), {"": ck.calibrators.SweepBinning()}
MIXED, OTHER = P.sample(frac=1, random_state=0), P.set_axis(NAMES)
REFUSED: dict[str, Callable[[], Any]] = {
    **{name: partial(measure, Y, MIXED) for name, measure in measures().items()},
    "weights": lambda: ck.log_loss(LABELS, P, sample_weight=MIXED),
    "calibrator": lambda: ck.calibrators.PlattCalibrator().fit(MIXED, Y),
    "weights of a map": lambda: LOGITS.fit(P - 1, Y, sample_weight=MIXED),
    "score": lambda: ck.calibrators.PlattCalibrator().fit(P, Y).score(P, MIXED > 0.5),
    "truth": lambda: ck.fit_on_test.compare_evaluators(Y, P, evaluators=ONE_MAP, truth=MIXED),
    "regret": lambda: ck.decisions.regret_curve(P, MIXED),
    "plot": lambda: ck.plot.reliability_diagram(Y, MIXED),
    "other rows": lambda: ck.log_loss(Y.set_axis(NAMES[::-1]), OTHER),
    "a name is missing": lambda: ck.log_loss(Y.set_axis([*NAMES[1:], "x"]), OTHER),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_index_in_another_order_is_refused(case: str) -> None:
    """By position, `b` would be another model; aligned, a fresh index would be believed."""
    with pytest.raises(ValueError, match=r"have indexes that name.*"):
        REFUSED[case]()


@pytest.mark.parametrize(("labels", "prob"), [(Y, OTHER), (LABELS, MIXED)])
def test_an_index_that_pandas_makes_says_nothing_about_rows_with_other_names(labels, prob) -> None:
    assert_same(ck.log_loss(labels, prob), ck.log_loss(LABELS, prob.to_numpy()))


@pytest.mark.parametrize("make", [pandas_shuffled, polars, pyarrow])
def test_columns_named_like_the_classes_in_another_order_are_refused(make: Any) -> None:
    frame = make(ROWS)
    names = [f"class {k}" if make is not pandas_shuffled else k for k in (2, 1, 0)]
    mixed = frame.select(names) if hasattr(frame, "select") else frame[names]
    labels = CLASSES if make is not pandas_shuffled else make(CLASSES)
    with pytest.raises(ValueError, match="scores has the columns .* in another order"):
        LOGITS.fit(mixed, CLASSES)
    for measure in measures("top-label").values():
        with pytest.raises(ValueError, match="the classes in another order"):
            measure(labels, mixed)


LABEL_TYPES = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "g", "O"]


@pytest.mark.parametrize("dtype", LABEL_TYPES)
def test_types_of_labels(dtype: str) -> None:
    every = dtype in ("u1", "u8")  # bytes, and what sums with indices would turn into floats
    binary, classes = (measures(), CLASS_MEASURES) if every or dtype == "?" else (FEW, FEW)
    assert_equal_results(binary, (LABELS.astype(dtype), PROB), (LABELS, PROB))
    if dtype != "?":
        assert_equal_results(classes, (CLASSES.astype(dtype), ROWS), (CLASSES, ROWS))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "O"])
def test_types_of_probabilities(dtype: str) -> None:
    binary, classes = (measures(), CLASS_MEASURES) if dtype == "f4" else (FEW, FEW)
    assert_equal_results(binary, (LABELS, PROB.astype(dtype)), (LABELS, PROB))
    assert_equal_results(classes, (CLASSES, ROWS.astype(dtype)), (CLASSES, ROWS))


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8"])
def test_whole_numbers_as_probabilities(dtype: str) -> None:
    """A model that only says 0 or 1 may do so in any type."""
    labels, prob = coarse_binary(40, 1, seed=1)
    classes, rows = coarse_classes(40, 3, 1, seed=1)
    found = {name: one for name, one in measures().items() if one is not ck.log_loss}
    assert_equal_results(found, (labels, prob.astype(dtype)), (labels, prob))
    few = {"b": ck.brier_score, "c": ck.class_wise_calibration_error, "l": ck.log_loss}
    assert_equal_results(few, (classes, rows.astype(dtype)), (classes, rows))


# --- order, precision, size ---------------------------------------------------------------------

# What draws random numbers spends them on other rows after a shuffle.
RANDOM = ("null_level", "bootstrap", "band")
NO_GAP = ("debiased_calibration_error", "test_based")
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


# Bins that look at labels.
PAVA = {
    str(bins): partial(ck.reliability_table, bins=bins)
    for bins in (ck.Pava(), ck.PavaBC(), ck.PavaBC(3, 12))
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "found"),
    [
        (binary_data(3000), measures() | PAVA),
        (coarse_binary(3000, 60), measures() | PAVA),
        (class_data(3000, 4), CLASS_MEASURES),
        (coarse_classes(3000, 4, 12), CLASS_MEASURES),
    ],
    ids=["binary", "ties", "classes", "classes with ties"],
)
def test_order_and_precision_never_matter(data: Any, found: dict[str, Any]) -> None:
    labels, prob = data
    order = np.random.default_rng(1).permutation(3000)
    single = prob.astype(np.float32)
    same = deterministic(found)
    assert_equal_results(same, (labels[order], prob[order]), data)
    assert_equal_results(same, (labels, single), (labels, single.astype(np.float64)))


def test_a_mean_of_equal_float32_values_is_that_value() -> None:
    """A float32 accumulator would stop growing at 2^24 ones and be off long before."""
    prob = np.full(300_000, 0.1, dtype=np.float32)
    table = ck.reliability_table(np.zeros(300_000, dtype=bool), prob, bins=1)
    assert table.mean_prob[0] == pytest.approx(float(np.float32(0.1)), abs=1e-12)


@pytest.mark.filterwarnings("ignore::calibkit.CalibrationWarning")  # one class is absent
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("prob", [0.0, 0.3, 0.5, 1.0])
def test_one_row_is_enough_for_every_binary_measure(label: int, prob: float) -> None:
    for name in measures().keys() - PAIRS:
        result = measures()[name]([label], [prob])
        if name == "log_loss" and prob == 1 - label:
            assert result.value == np.inf and result.impossible == 1
        elif name.endswith("calibration_error") and name not in NO_GAP:
            assert float(result) == pytest.approx(abs(prob - label)), name
        assert not hasattr(result, "describe") or result.describe()


@pytest.mark.filterwarnings("ignore::calibkit.CalibrationWarning")  # most classes are absent
@pytest.mark.parametrize("name", [n for n in CLASS_MEASURES if not n.startswith(PAIRS)])
def test_one_row_is_enough_for_every_measure_of_classes(name: str) -> None:
    result = CLASS_MEASURES[name]([2], [[0.2, 0.5, 0.3]])
    if name == "top_label":
        assert float(result) == pytest.approx(0.5)
    assert np.isfinite(numbers(result)).any()


def test_a_class_that_never_occurs_keeps_its_column() -> None:
    labels = np.array([0, 1, 0, 1])
    prob = np.full((4, 3), 1 / 3)
    with pytest.warns(ck.CalibrationWarning, match="Never seen in y_true: class 2. The column is"):
        error = ck.class_wise_calibration_error(labels, prob)
    assert len(error.per_view) == 3 and error.per_view == pytest.approx([1 / 6, 1 / 6, 1 / 3])
    assert float(error) == pytest.approx(2 / 9)
    assert ck.brier_score(labels, prob).name == "Brier score (sum over 3 classes)"
    assert len(ck.binary_problems(labels, prob, view="class-wise")) == 3
    table = ck.reliability_table(labels, prob, view=2, bins=1)
    assert (table.count[0], table.frequency[0]) == (4, 0)


# --- nothing outside is changed -----------------------------------------------------------------


def test_nothing_outside_is_changed() -> None:
    legacy, standard = str(np.random.get_state()), random.getstate()  # noqa: NPY002
    filters, errors, printing = list(warnings.filters), np.geterr(), np.get_printoptions()
    for data, found in ((binary_data, measures()), (class_data, CLASS_MEASURES)):
        labels, prob = data(50)
        for name, measure in found.items():
            measure(labels, prob)
            assert labels.flags.writeable and prob.flags.writeable, name
        assert np.array_equal(labels, data(50)[0]) and np.array_equal(prob, data(50)[1])
    for model in (*ONE_EVENT, *map(make, MANY)):
        y, p = (labels, prob) if hasattr(model, "input") else binary_data(50)
        with contextlib.suppress(ck.CalibrationWarning):
            model.fit(p, y).calibrate(p)
    assert str(np.random.get_state()) == legacy  # noqa: NPY002
    assert random.getstate() == standard
    assert warnings.filters == filters
    assert np.geterr() == errors
    assert np.get_printoptions() == printing


# --- results ------------------------------------------------------------------------------------


(LABELS_80, PROB_80), SAMPLE = binary_data(80), LogitDistortion(0.5).sample(20, 0)
RESULTS = {name: measure(LABELS_80, PROB_80) for name, measure in measures().items()}
RESULTS = {name: one for name, one in RESULTS.items() if not isinstance(one, tuple)}
RESULTS |= {"sample": SAMPLE, "classes": ck.class_wise_calibration_error(*class_data(80))}
RESULTS["edges"] = ck.reliability_table(LABELS_80, PROB_80, bins=ck.FixedEdges([0, 0.4, 1]))
SPEAKING = {name: result for name, result in RESULTS.items() if hasattr(result, "describe")}


def arrays(result: Any) -> dict[str, Any]:
    values = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_frozen_and_survive_pickle_and_copy(name: str) -> None:
    result, fields = RESULTS[name], dataclasses.fields(RESULTS[name])
    assert not [key for key, array in arrays(result).items() if array.flags.writeable]
    again = [pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)]
    for one in (result, *again):
        assert type(one) is type(result) and repr(one) == repr(result)
        assert_same(one, result, tolerance=0)
        for field in fields:
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(one, field.name, 0)
    with pytest.raises((AttributeError, TypeError)):
        result.new_attribute = 1
    with pytest.raises(TypeError):  # keywords only
        type(result)(1.0)
    # A NumPy scalar would print as np.float64(0.1) in a lesson.
    assert not [f.name for f in fields if isinstance(getattr(result, f.name), np.generic)]


@pytest.mark.parametrize("name", SPEAKING)
def test_results_speak_in_a_line_and_show_the_same_table_twice(name: str) -> None:
    result, text = SPEAKING[name], SPEAKING[name].describe()
    assert text[0].isupper() or text[0].isdigit()
    assert text.endswith(".") and "\n" not in text and "nan" not in text
    assert repr(result) == f"<{type(result).__name__}: {text}>"
    frame, html = result.to_frame(), result._repr_html_()
    assert len(frame) >= 1
    assert html.count("<tr>") == len(frame) + 1 and html.count("<td>") == frame.size
    assert not [name for name in frame.columns if f"<th scope='col'>{name}</th>" not in html]
    assert "nan" not in html
    mine = [frame[key].to_numpy() for key in frame.columns]
    assert not any(np.shares_memory(x, y) for x in mine for y in arrays(result).values())


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
