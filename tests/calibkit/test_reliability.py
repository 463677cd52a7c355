"""The bin table: counts, means and frequencies, against exact loops and against scikit-learn."""

import json
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.calibration import calibration_curve

import calibkit as ck
from tests.helpers import (
    binary_data,
    exact_distinct_edges,
    exact_equal_mass_edges,
    exact_table,
    rows_with,
)
from tests.paths import ROOT


def assert_table(table: ck.BinTable, exact: Any) -> None:
    """Compare with exact rows, leaving out empty bins on both sides."""
    exact = [row for row in exact if row[0]]
    used = table.occupied
    assert table.count[used].tolist() == [count for count, _, _ in exact]
    assert table.mean_prob[used] == pytest.approx([float(m) for _, m, _ in exact], abs=1e-12)
    assert table.frequency[used] == pytest.approx([float(f) for _, _, f in exact], abs=1e-15)


@pytest.mark.parametrize(
    ("strategy", "bins"), [("uniform", 15), ("quantile", ck.EqualMass(15, "quantile"))]
)
def test_tables_agree_with_scikit_learn(strategy: str, bins: Any) -> None:
    """On continuous predictions: scikit-learn closes bins on the right."""
    labels, prob = binary_data(1000)
    frequency, mean_prob = calibration_curve(labels, prob, n_bins=15, strategy=strategy)
    table = ck.reliability_table(labels, prob, bins=bins)
    assert table.mean_prob[table.occupied] == pytest.approx(mean_prob, abs=1e-12)
    assert table.frequency[table.occupied] == pytest.approx(frequency, abs=1e-12)


SPARSE = ck.reliability_table([0, 1], [0.05, 0.95], bins=10)


def test_empty_bins_are_nan_rows_of_weight_zero() -> None:
    assert SPARSE.occupied.tolist() == [True] + 8 * [False] + [True]
    empty = ~SPARSE.occupied
    columns = np.stack([SPARSE.mean_prob, SPARSE.frequency, SPARSE.gap])
    assert np.array_equal(np.isnan(columns), np.broadcast_to(empty, (3, 10)))
    assert (SPARSE.weight[empty] == 0).all()


def test_empty_bins_are_dashes_in_html_and_rows_in_the_frame() -> None:
    assert SPARSE._repr_html_().count("<td>–</td>") == 3 * 8
    assert len(SPARSE.to_frame()) == 10


def test_a_small_gap_is_told_with_its_digits() -> None:
    table = ck.reliability_table([0] * 9, [4e-4] * 9)
    assert "0.0004 above the frequency 0.0000" in table.describe()


def test_derived_columns() -> None:
    table = ck.reliability_table(*binary_data(500), bins=8)
    assert table.gap == pytest.approx(table.mean_prob - table.frequency)
    assert table.weight == pytest.approx(table.count / 500)
    assert table.weight.sum() == pytest.approx(1, abs=1e-12)
    assert table.centre == pytest.approx((np.arange(8) + 0.5) / 8)
    assert table.width == pytest.approx(np.full(8, 1 / 8))
    assert (table.n, table.n_bins) == (500, 8)


# No edge fits between 1 and the float below it: see the tests of bins.
probabilities = st.one_of(st.floats(0, 0.999999), st.just(1.0))


@given(rows_with(probabilities), st.integers(1, 40))
def test_any_table_agrees_with_exact_loops(rows: Any, n_bins: int) -> None:
    labels, prob = rows
    for bins, edges in (
        (n_bins, [k / n_bins for k in range(n_bins + 1)]),
        (ck.EqualMass(n_bins), exact_equal_mass_edges(prob, n_bins)),
        (ck.Distinct(), exact_distinct_edges(prob)),
    ):
        table = ck.reliability_table(labels, prob, bins=bins)
        assert_table(table, exact_table(labels, prob, edges))


# --- bins that are printed -----------------------------------------------------------------------

JUDGE = """const { parse, judge } = require(process.argv[1]);
const papers = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(papers.map((text) => judge(parse(text)))));"""


def by_script(papers: list[str]) -> list[dict[str, Any]]:
    """Return what the page "Read a diagram in a paper" says of lines of bins."""
    command = ["node", "-e", JUDGE, str(ROOT / "book" / "_static" / "read_a_diagram.js")]
    done = subprocess.run(command, input=json.dumps(papers), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_bins_alone_have_the_errors_band_and_null_level_of_their_rows() -> None:
    """In Python, and by the script of the page."""
    papers, nulls = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        prob = rng.beta(0.8, 1.2, int(rng.integers(200, 3000)))
        data = (rng.random(len(prob)) < prob ** (1 + seed % 2 / 4)), prob
        table = ck.reliability_table(*data, bins=10)
        alone = ck.BinTable.from_bins(table.count, table.mean_prob, table.frequency)
        rows, how = alone.rows(), {"bins": alone.binning}
        for measure in (ck.expected_calibration_error, ck.debiased_calibration_error):
            assert float(measure(*rows, **how)) == pytest.approx(float(measure(*data, bins=10)))
        bands = ck.consistency_band(*data, bins=10, rng=0), ck.consistency_band(*rows, **how, rng=0)
        own, other = (band.upper[band.table.occupied] for band in bands)
        assert (np.abs(own - other) < 0.2 * alone.count**-0.5 + 1 / alone.count).all()
        how |= {"rng": 0, "n_draws": 500}
        nulls.append(ck.null_level(ck.expected_calibration_error, *rows, **how))
        own = ck.null_level(ck.expected_calibration_error, *data, bins=10, rng=1, n_draws=500)
        assert own.mean == pytest.approx(nulls[-1].mean, rel=0.08)
        columns = zip(alone.mean_prob, alone.frequency, alone.count, strict=True)
        papers.append("\n".join(f"{p} {f} {n}" for p, f, n in columns))
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    for said, null in zip(by_script(papers), nulls, strict=True):
        assert said["value"] == pytest.approx(null.value, abs=1e-9)
        assert [said["mean"], said["high"]] == pytest.approx([null.mean, null.high], rel=0.08)
        assert said["p"] == pytest.approx(null.p_value, abs=0.09)


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        (([10, 10], [0.2, 0.7], [0.3, 0.74]), r"frequency\[1\] = 0.74 is not a whole number of e"),
        (([10, 10], [0.2, 0.2], [0.3, 0.7]), r"mean_prob\[1\] = 0.2 is not above the mean"),
        (([10, 0, 1.5], [0.2, np.nan, 0.4], [0.3, 0, 1]), r"count\[2\] = 1.5 is not a number"),
        (([10], [0.2, 0.7], [0.3, 0.7]), r"shapes \(1,\), \(2,\), \(2,\)"),
    ],
)
def test_bins_that_cannot_be_are_refused(bins: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ck.BinTable.from_bins(*bins)
    weighted = ck.reliability_table([0, 1], [0.2, 0.7], sample_weight=[1, 2])
    with pytest.raises(ValueError, match="weighted rows does not hold the rows"):
        weighted.rows()
