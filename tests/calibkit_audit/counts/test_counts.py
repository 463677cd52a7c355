"""The count table: equal to what is computed in memory, in any order and from any parts."""

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibkit as ck
from calibkit_audit.counts import CountTable
from tests.audit_cases import same_counts, skewed_log
from tests.helpers import binary_data, class_data

USUAL = (1, 2, 5, 10, 12, 15, 20, 25, 30, 50, 100)


# --- cells ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("bins", [10, 15, 20, 50])
def test_what_is_beside_an_edge_is_in_the_bin_that_it_has_in_memory(dtype: Any, bins: int) -> None:
    rounded = (np.arange(bins + 1) / bins).astype(dtype)
    near = [rounded, np.nextafter(rounded, dtype(0)), np.nextafter(rounded, dtype(1))]
    near += [rounded - 3 * np.finfo(dtype).eps, 1 - rounded]
    prob = np.clip(np.concatenate(near), 0, 1).astype(dtype)
    label = np.arange(len(prob)) % 2
    for values in (prob, prob.astype(np.float64)):
        table = CountTable().update(label, values).tables(bins)[0]
        direct = ck.reliability_table(label, values, bins=bins)
        assert table.count.tolist() == direct.count.tolist()


@pytest.mark.parametrize("bins", USUAL)
def test_bins_are_those_of_equal_width_also_on_their_edges(bins: int) -> None:
    fractions = {Fraction(k, q) for q in range(1, 121) for k in range(q + 1)}
    prob = np.array(sorted(map(float, fractions)))
    label = np.arange(len(prob)) % 2
    table = CountTable().update(label, prob).tables(bins)[0]
    direct = ck.reliability_table(label, prob, bins=bins)
    assert np.array_equal(table.edges, direct.edges) and np.array_equal(table.count, direct.count)
    assert np.array_equal(table.frequency, direct.frequency, equal_nan=True)
    np.testing.assert_allclose(table.mean_prob, direct.mean_prob, rtol=0, atol=1e-13)


# --- equal to the measures in memory -------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_errors_equal_those_in_memory(dtype: Any) -> None:
    label, prob = skewed_log(300_000, dtype=dtype)
    table = CountTable().update(label, prob)
    for bins in USUAL:
        ours = table.expected_calibration_error(bins)
        direct = ck.expected_calibration_error(label, prob, bins=bins)
        assert ours.value == pytest.approx(direct.value, abs=1e-13)
        assert ours.null_mean == pytest.approx(direct.null_mean, abs=1e-13)
        assert (ours.view, ours.n, ours.name) == (direct.view, direct.n, direct.name)
    for options in ({"norm": 2}, {"norm": np.inf}, {"weights": "equal"}):
        ours = table.calibration_error(20, **options)
        direct = ck.calibration_error(label, prob, bins=20, **options)
        assert ours.value == pytest.approx(direct.value, abs=1e-13) and ours.name == direct.name


@pytest.mark.parametrize("view", ["top-label", 0, 2])
def test_one_event_of_many_classes(view: Any) -> None:
    label, prob = class_data(5000, n_classes=4)
    table = CountTable(view=view).update(label, prob)
    direct = ck.calibration_error(label, prob, view=view)
    assert table.expected_calibration_error().value == pytest.approx(direct.value, abs=1e-13)
    assert table.tables()[0].view == direct.view and table.n_classes == 4


def test_class_wise_tables() -> None:
    label, prob = class_data(5000, n_classes=4)
    table = CountTable(view="class-wise").update(label, prob)
    direct = ck.class_wise_calibration_error(label, prob)
    ours = table.expected_calibration_error()
    np.testing.assert_allclose(ours.per_view, direct.per_view, atol=1e-13)
    assert ours.value == pytest.approx(direct.value, abs=1e-13) and ours.name == direct.name
    assert table.describe() == "5,000 predictions (4 classes) counted in 25,200 cells."


def test_events_that_were_called_impossible_are_counted() -> None:
    label, prob = [0, 1, 1, 0, 1], [0.0, 0.0, 1.0, 1.0, 0.5]
    table = CountTable().update(label, prob)
    assert table.impossible.tolist() == [ck.brier_score(label, prob).impossible] == [2]
    assert len(CountTable().to_frame()) == 0 < len(table.to_frame())


def test_fixed_edges_on_the_grid() -> None:
    label, prob = binary_data(500)
    bins = ck.FixedEdges([0, 0.1, 0.25, 0.6, 1])
    ours = CountTable().update(label, 0.5 + prob / 2).expected_calibration_error(bins)
    direct = ck.expected_calibration_error(label, 0.5 + prob / 2, bins=bins)
    assert ours.value == pytest.approx(direct.value)
    assert np.array_equal(ours.tables[0].count, direct.tables[0].count)


# --- adding up -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(cuts=st.lists(st.integers(0, 500), max_size=6), seed=st.integers(0, 99))
def test_parts_add_up_in_any_order(cuts: list[int], seed: int) -> None:
    label, prob = skewed_log(500, seed)
    whole = CountTable().update(label, prob)
    order = np.random.default_rng(seed).permutation(500)
    pieces = [piece for piece in np.split(order, sorted(cuts)) if len(piece)]
    tables = [CountTable().update(label[piece], prob[piece]) for piece in pieces]
    for parts in (tables, tables[::-1]):
        assert same_counts(sum(parts, start=CountTable()), whole)


def test_a_table_never_changes() -> None:
    table = CountTable().update([0, 1], [0.2, 0.7])
    before = table.counts.copy()
    table.update([1], [0.5])
    assert np.array_equal(table.counts, before)
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 0, 0] = 7
    assert same_counts(pickle.loads(pickle.dumps(table)), table)


# --- counted by a database -----------------------------------------------------------------------


def queries(top: bool) -> str:
    """Return the SQL that the docstring shows, for one column or for the top label of three."""
    text = CountTable.from_counts.__doc__ or ""
    select = text[text.index("SELECT floor") : text.index("For the top label")]
    best = text[text.index("WITH best") : text.index("WITH log AS (SELECT confidence")]
    return f"{best if top else ''} {select}"


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "top label"])
def test_what_duckdb_has_counted_is_what_files_give(kind: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    if kind == "top label":
        label, prob = class_data(20_000)
        columns, view = dict(zip(("p0", "p1", "p2"), prob.T, strict=True)), "top-label"
        columns["label"], source = label, "answers"
    else:
        label, prob = skewed_log(20_000, dtype=np.float32 if kind == "FLOAT" else np.float64)
        prob[:3], label[:3] = [1, 0, 0], [0, 0, 0]
        columns, view, source = {"p": prob, "y": label}, None, "log"
    names = ", ".join(f"unnest($1{name}) AS {name}".replace("$1", "$") for name in columns)
    connection = duckdb.connect()
    given_rows = {name: values.tolist() for name, values in columns.items()}
    connection.execute(f"CREATE TABLE {source} AS SELECT {names}", given_rows)
    query = queries(top=view is not None)
    query = query.replace("1e-12", "6e-8") if kind == "FLOAT" else query
    counted = connection.execute(query).fetchnumpy()
    table = CountTable.from_counts(counted, view=view, n_classes=3 if view else 2)
    whole = CountTable(view=view).update(label, prob)
    assert np.array_equal(table.counts, whole.counts)
    np.testing.assert_allclose(table.sums, whole.sums, rtol=1e-12)
    assert table.impossible.tolist() == whole.impossible.tolist()
    assert (table.views, table.n_classes) == (whole.views, whole.n_classes)
    assert (table + whole).n == 40_000


@pytest.mark.parametrize(("with_sums", "loss"), [(True, 1e-13), (False, 2e-5)])
def test_what_is_lost_where_cells_alone_are_grouped(with_sums: bool, loss: float) -> None:
    label, prob = skewed_log(20_000)
    cell = np.floor(prob * 25_200)
    used, where, n = np.unique(cell, return_inverse=True, return_counts=True)
    counted = {"cell": used, "n": n, "events": np.bincount(where, weights=label)}
    counted |= {"sum_p": np.bincount(where, weights=prob)} if with_sums else {}
    table = CountTable.from_counts(counted)
    error = ck.expected_calibration_error(label, prob).value
    assert table.expected_calibration_error().value == pytest.approx(error, abs=loss)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"cell": [3, 25_201]}, r"cell\[1\] = 25201 is not floor\(p \* 25200\) of a probability"),
        ({"cell": [-1, 3]}, r"cell\[0\] = -1 is not"),
        ({"cell": [3, np.nan]}, r"cell\[1\] = nan is not"),
        ({"events": [1, None]}, r"events\[1\] = None is not a number"),
        ({"events": [1, 9]}, r"events\[1\] = 9 is not a number of labels 1, from 0 to n"),
        ({"n": [0.5, 4]}, r"n\[0\] = 0.5 is not a number of rows"),
        ({"sum_p": [9, 2]}, r"sum_p\[0\] = 9 is not a sum of n probabilities"),
        ({"sum_p": [1.5, 2]}, "row 0: the predictions of cell 3 have the mean 0.5, which lies out"),
        ({"n": "gone"}, "column 'n' is not there"),
    ],
)
def test_counts_that_cannot_be_are_refused(changed: dict[str, Any], words: str) -> None:
    counted: dict[str, Any] = {"cell": [3, 12_600], "n": [3, 4], "events": [1, 2]} | changed
    counted = {name: values for name, values in counted.items() if values != "gone"}
    with pytest.raises(ValueError, match=words):
        CountTable.from_counts(counted)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_counts_in_frames_of_other_libraries(library: str) -> None:
    frames = pytest.importorskip(library)
    counted = {"cell": [3, 12_600], "n": [3, 4], "events": [1, 2], "sum_p": [4e-4, 2.00005]}
    make = frames.table if library == "pyarrow" else frames.DataFrame
    assert same_counts(CountTable.from_counts(make(counted)), CountTable.from_counts(counted))


# --- what is refused -----------------------------------------------------------------------------


class Seeing:
    """Somebody's own bins, which look at the predictions."""

    def edges(self, prob: Any, label: Any = None) -> Any:
        return np.array([0.0, np.median(prob), 1.0])

    def assign(self, prob: Any, edges: Any) -> Any:
        return np.zeros(len(prob), dtype=np.intp)


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        (77, "inside a cell"),
        (ck.FixedEdges([0, 1 / 3, 0.51234567, 1]), "inside a cell"),
        (ck.Pava(), "holds no single predictions"),
        (Seeing(), "holds no single predictions"),
        (ck.EqualMass(10), "holds no single predictions"),
        (10**9, "do not fit into the table's 25,200 cells"),
    ],
)
def test_bins_that_a_table_cannot_make_are_refused(bins: Any, words: str) -> None:
    table = CountTable().update([0, 1], [0.2, 0.7])
    with pytest.raises(ValueError, match=words):
        table.expected_calibration_error(bins)


def one_row(n_classes: int) -> CountTable:
    return CountTable(view=1).update([0], np.full((1, n_classes), 1 / n_classes))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: CountTable().tables(), "empty"),
        (lambda: CountTable().update([0], [1.5]), r"y_prob\[0\] = 1.5"),
        (lambda: CountTable(view="top").update([0], [0.5]), "does not exist"),
        (lambda: CountTable() + CountTable(view="top-label"), "cannot be added"),
        (
            lambda: CountTable(view="class-wise").update([0], np.full((1, 101), 1 / 101)),
            "at most 100 classes",
        ),
        (lambda: one_row(2) + one_row(3), "2 and of 3 classes"),
        (lambda: CountTable.from_counts({}, view="class-wise"), "takes one event"),
    ],
)
def test_bad_input_says_what_is_wrong(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
