"""The page of Matsubara et al.'s tables: every number is computed anew, or stored and compared."""

import json
import re
from functools import cache

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC
from test_golden_tce import TABLE_2, TABLE_6, TABLE_7, TABLE_9, TABLE_10, TABLES_8_AND_11

from book.experiments.pages import BLOCK
from book.experiments.tce import __main__ as page
from book.experiments.tce import printed, real
from calibkit import bins, significance

EXACT = ("table-2", "table-6", "table-7", "table-9", "table-10")
REAL = [" ".join(key).replace(" ", "-") for key in printed.TABLES_3_AND_14]


@cache
def text() -> str:
    return page.PAGE.read_text(encoding="utf-8")


@cache
def block(name: str) -> str:
    """Return a table as it stands on the page."""
    (found,) = [match[0] for match in BLOCK.finditer(text()) if match["name"] == name]
    return found


def pairs(table: str) -> list[tuple[str, str]]:
    """Return our numbers and the printed ones."""
    return re.findall(r"(-?[\d.]+) \((-?[\d.]+)\)", table)


@pytest.mark.parametrize("name", page.BLOCKS)
def test_the_page_shows_what_comes_out_today(name: str) -> None:
    assert page.BLOCKS[name]() in block(name)


@pytest.mark.parametrize("name", EXACT)
def test_every_number_of_the_simulations_agrees(name: str) -> None:
    found = pairs(block(name))
    assert len(found) >= 12
    assert all(ours == theirs for ours, theirs in found)


def test_the_tests_agree_where_the_source_has_them() -> None:
    found = pairs(block("tests"))
    assert len(found) == 20
    assert all(ours == theirs for ours, theirs in found)


@pytest.mark.parametrize(("name", "tolerance"), [("table-12", 0.005), ("table-13", 0.04)])
def test_models_that_were_fitted_anew_differ_by_a_few_predictions(
    name: str, tolerance: float
) -> None:
    for ours, theirs in pairs(block(name)):
        assert abs(float(ours) - float(theirs)) <= tolerance


def test_printed_numbers_are_those_of_the_golden_tests() -> None:
    assert [tuple(row) for row in printed.TABLE_2] == TABLE_2
    assert (printed.TABLE_6, printed.TABLE_7) == (TABLE_6, TABLE_7)
    assert (printed.TABLE_9, printed.TABLE_10) == (TABLE_9, TABLE_10)
    for share in page.USED_AT:
        assert printed.TABLE_8[share] == TABLES_8_AND_11[share, "binomial"]
        assert printed.TABLE_11[share] == TABLES_8_AND_11[share, "t-as-published"]


def test_the_repaired_t_test_agrees_with_the_binomial_within_two_points() -> None:
    rows = [line.split(" | ") for line in block("tests").splitlines() if "used at 50 %" in line]
    binomial, published, rooted = (
        [float(cell.split()[0]) for cell in row[1:]] for row in (rows[0], rows[1], rows[2])
    )
    assert all(abs(a - b) < 2 for a, b in zip(binomial, rooted, strict=True))
    assert all(b - a > 25 for a, b in zip(binomial, published, strict=True))


def test_sizes_alone_move_a_calibrated_model_from_2_to_92() -> None:
    assert (min(printed.TABLE_6[0.5]), max(printed.TABLE_6[0.5])) == (2.35, 92.2)
    assert "from 2 to 92 %" in text()


# --- real data -----------------------------------------------------------------------------------


def test_all_stored_numbers_of_the_real_data_agree() -> None:
    stored = json.loads(page.STORED.read_text(encoding="utf-8"))
    assert len(stored) == len(printed.TABLES_3_AND_14) == 6
    for (data, method), theirs in printed.TABLES_3_AND_14.items():
        assert stored[f"{data}, {method}"] == list(theirs)
    assert "All 24 numbers agree" in text()


@pytest.mark.long
@pytest.mark.parametrize(("data", "method"), printed.TABLES_3_AND_14, ids=REAL)
def test_real_data_give_the_printed_numbers(data: str, method: str) -> None:
    if lacking := real.missing(data):
        pytest.skip(f"{data} comes with {lacking}, which is not installed")
    measured = real.measured(*real.predictions(data, method))
    assert measured == list(printed.TABLES_3_AND_14[data, method])


@pytest.mark.slow
def test_equal_mass_bins_share_out_the_rest_in_another_way() -> None:
    if lacking := real.missing("abalone"):
        pytest.skip(f"abalone comes with {lacking}, which is not installed")
    given = real.predictions("abalone", "SVM")
    error = significance.test_based_calibration_error(*given, bins=bins.EqualMass(10), null_draws=0)
    assert f"{100 * error.value:.1f}" == "39.2"
    assert "from 38.4 to 39.2" in text()


@pytest.mark.slow
def test_the_successor_of_the_svm_gives_another_value(monkeypatch: pytest.MonkeyPatch) -> None:
    if lacking := real.missing("abalone"):
        pytest.skip(f"abalone comes with {lacking}, which is not installed")
    successor = CalibratedClassifierCV(SVC(random_state=0), ensemble=False)
    monkeypatch.setattr(real, "method", lambda name: successor)
    found = real.measured(*real.predictions("abalone", "SVM"))
    assert f"{found[0]:.1f}" == "56.1"
    assert "gives abalone a TCE of 56.1" in text()


def test_a_missing_package_is_named_as_pip_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(real.SETS, "abalone", ("no_such_module", real.abalone))
    monkeypatch.setitem(real.PACKAGES, "no_such_module", "no-such-package")
    assert real.missing("abalone") == "no-such-package"


@pytest.mark.slow
def test_a_page_without_a_place_for_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for"):
        page.rewritten("# empty page")
