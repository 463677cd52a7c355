"""The count table: what a database has counted gives what is computed in memory."""

from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit_audit.counts import CountTable
from tests.audit_cases import skewed_log
from tests.helpers import binary_data, class_data, refuses

USUAL = (1, 2, 5, 10, 12, 15, 20, 25, 30, 50, 100)


def counted(label: Any, prob: Any, *, with_sums: bool = True) -> dict[str, Any]:
    """Group rows by their cell, as the query does."""
    cell = np.floor((prob.astype(np.float64) + 1e-12) * 25_200)
    used, where, n = np.unique(cell, return_inverse=True, return_counts=True)
    found = {"cell": used, "n": n, "events": np.bincount(where, weights=label)}
    return found | ({"sum_p": np.bincount(where, weights=prob)} if with_sums else {})


def queries(top: bool) -> str:
    """Return the SQL that the docstring shows, for one column or for the top label of three."""
    text = CountTable.from_counts.__doc__ or ""
    select = text[text.index("SELECT floor") : text.index("For the top label")]
    best = text[text.index("WITH best") : text.index("WITH log AS (SELECT confidence")]
    return f"{best if top else ''} {select}"


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "top label"])
def test_what_duckdb_has_counted_is_what_is_computed_in_memory(kind: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    if kind == "top label":
        label, prob = class_data(20_000)
        columns, view = dict(zip(("p0", "p1", "p2"), prob.T, strict=True)), "top-label"
        columns["label"], source = label, "answers"
    else:
        label, prob = skewed_log(20_000, dtype=np.float32 if kind == "FLOAT" else np.float64)
        edges = (np.arange(101) / 100).astype(prob.dtype)
        prob[:101], label[:101] = edges, 0
        columns, view, source = {"p": prob, "y": label}, None, "log"
    names = ", ".join(f"unnest($1{name}) AS {name}".replace("$1", "$") for name in columns)
    connection = duckdb.connect()
    given_rows = {name: values.tolist() for name, values in columns.items()}
    connection.execute(f"CREATE TABLE {source} AS SELECT {names}", given_rows)
    query = queries(top=view is not None)
    query = query.replace("1e-12", "6e-8") if kind == "FLOAT" else query
    frame = connection.execute(query).fetchnumpy()
    table = CountTable.from_counts(frame, view=view or "positive class")
    for bins in USUAL:
        ours = table.bin_table(bins)
        direct = ck.reliability_table(label, prob, view=view, bins=bins)
        assert ours.count.tolist() == direct.count.tolist()
        assert np.array_equal(ours.edges, direct.edges) and ours.view == direct.view
        assert np.array_equal(ours.frequency, direct.frequency, equal_nan=True)
        np.testing.assert_allclose(ours.mean_prob, direct.mean_prob, rtol=0, atol=1e-13)
        error, wanted = (
            table.expected_calibration_error(bins),
            ck.expected_calibration_error(label, prob, view=view, bins=bins),
        )
        assert error.value == pytest.approx(wanted.value, abs=1e-13)
        assert (error.view, error.n, error.name) == (wanted.view, wanted.n, wanted.name)


@pytest.mark.parametrize(("with_sums", "loss"), [(True, 1e-13), (False, 2e-5)])
def test_what_is_lost_where_cells_alone_are_grouped(with_sums: bool, loss: float) -> None:
    label, prob = skewed_log(20_000)
    table = CountTable.from_counts(counted(label, prob, with_sums=with_sums))
    error = ck.expected_calibration_error(label, prob).value
    assert table.expected_calibration_error().value == pytest.approx(error, abs=loss)


def test_a_table_says_how_much_was_counted() -> None:
    table = CountTable.from_counts(counted(*binary_data(500)))
    assert "500 predictions (positive class)" in repr(table)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"cell": [3, 25_201]}, r"cell\[1\] = 25201 is not floor\(p \* 25200\) of a probability"),
        ({"cell": [-1, 3]}, r"cell\[0\] = -1 is not"),
        ({"cell": [3, np.nan]}, r"cell\[1\] = nan is not"),
        ({"events": [1, None]}, r"events\[1\] = None is not a number"),
        ({"events": [1, 9]}, r"events\[1\] = 9 is not a number of labels 1, from 0 to n"),
        ({"n": [0.5, 4]}, r"n\[0\] = 0.5 is not a number of rows"),
        ({"sum_p": [9, 2]}, r"sum_p\[0\] = 9 is not the sum of n predictions p of its cell"),
        ({"sum_p": [1.5, 2]}, r"sum_p\[0\] = 1.5 is not the sum"),
        ({"n": "gone"}, "column 'n' is not there"),
    ],
)
def test_counts_that_cannot_be_are_refused(changed: dict[str, Any], words: str) -> None:
    frame: dict[str, Any] = {"cell": [3, 12_600], "n": [3, 4], "events": [1, 2]} | changed
    frame = {name: values for name, values in frame.items() if values != "gone"}
    with pytest.raises(ValueError, match=words):
        CountTable.from_counts(frame)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_counts_in_frames_of_other_libraries(library: str) -> None:
    frames = pytest.importorskip(library)
    columns = {"cell": [3, 12_600], "n": [3, 4], "events": [1, 2], "sum_p": [4e-4, 2.00005]}
    make = frames.table if library == "pyarrow" else frames.DataFrame
    found, wanted = CountTable.from_counts(make(columns)), CountTable.from_counts(columns)
    assert np.array_equal(found.counts, wanted.counts) and np.array_equal(found.sums, wanted.sums)


SOME = CountTable.from_counts({"cell": [3], "n": [3], "events": [1]})

test_what_a_table_cannot_do_is_refused = refuses(
    (lambda: SOME.bin_table(77), "inside a cell"),
    (lambda: SOME.bin_table(10**9), "no single predictions"),
    (lambda: SOME.bin_table(ck.Pava()), "bins"),  # type: ignore[arg-type]
    (lambda: SOME.bin_table(0), "bins"),
)
