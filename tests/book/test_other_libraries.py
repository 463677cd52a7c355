"""The page "From another library": our numbers are computed anew, the others where installed."""

import re
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logit
from scipy.stats import norm, t

import calibkit as ck
from book.experiments import others

NAMES = [library.pip for library in others.LIBRARIES]


def pairs(library: others.Library) -> list[tuple[others.Row, float]]:
    """Return each line with the stored number of the other library."""
    return list(zip(library.rows, others.stored()[library.pip]["numbers"], strict=True))


@pytest.mark.parametrize("library", others.LIBRARIES, ids=NAMES)
def test_a_reason_is_given_where_numbers_differ_and_only_there(library: others.Library) -> None:
    for row, number in pairs(library):
        same = others.ours(row) == pytest.approx(number, abs=others.ROUNDING)
        assert same == (row.why == "equal"), row


@pytest.mark.slow
@pytest.mark.parametrize("library", others.LIBRARIES, ids=NAMES)
def test_what_is_installed_gives_the_stored_numbers(library: others.Library) -> None:
    found = others.theirs(library)
    if found is None:
        pytest.skip(f"{library.pip} is not installed")
    stored = others.stored()[library.pip]["numbers"]
    assert found == pytest.approx(stored, abs=others.ROUNDING)


def errors_with(edges: Any, side: Any, *, one_alone: bool = False) -> dict[str, float]:
    """Compute the errors of `p` with bins of another convention."""
    p, y = others.data()["p"], others.data()["y"]
    bins = np.clip(np.searchsorted(edges[1:-1], p, side=side), 0, len(edges) - 2)
    bins[(p == 1) & one_alone] = len(edges) - 1
    inside = [bins == b for b in np.unique(bins)]
    gap = np.array([abs(p[rows].mean() - y[rows].mean()) for rows in inside])
    share = np.array([rows.mean() for rows in inside])
    return {
        "expected": float(gap @ share),
        "root_mean_square": float(np.sqrt(gap**2 @ share)),
        "maximum": float(gap.max()),
    }


def exact(n_bins: int) -> Any:
    return np.arange(n_bins + 1) / n_bins


def test_the_reasons_are_true(subtests: pytest.Subtests) -> None:
    """With the convention that the reason names, our bins give their number."""
    checked = 0
    for row, number in (pair for library in others.LIBRARIES for pair in pairs(library)):
        with subtests.test(number=number):
            found = re.search(r"ck\.(\w+)_calibration_error\(y, p, bins=(\d+)\)", row.ours)
            if found is None or row.why == "equal":
                continue
            n_bins = int(found[2])
            conventions = {
                others.CLOSED: errors_with(exact(n_bins), "left"),
                others.ROUNDED: errors_with(np.linspace(0, 1, n_bins + 1), "right"),
                others.ALONE: errors_with(exact(n_bins), "right", one_alone=True),
            }
            assert conventions[row.why][found[1]] == pytest.approx(number, abs=others.ROUNDING), row
            checked += 1
    assert checked >= 4


def test_lines_at_every_value_and_a_kernel_on_logits_give_probcals_numbers() -> None:
    """The loess of its ICI and the kernel of its SmoothECE, in plain numpy."""
    (probcal,) = [library for library in others.LIBRARIES if library.pip == "probcal"]
    numbers = {row.theirs: number for row, number in pairs(probcal)}
    y, s = (others.data()[name] for name in "ys")
    values, place = np.unique(s, return_inverse=True)

    def line_at(value: float) -> float:
        off = np.abs(s - value)
        weight = np.clip(1 - (off / np.quantile(off, 0.75, method="inverted_cdf")) ** 3, 0, 1) ** 3
        return float(np.polyfit(s - value, y, 1, w=weight**0.5)[1])

    curve = np.array([line_at(value) for value in values])[place]
    assert np.abs(curve - s).mean() == pytest.approx(numbers["pm.ici(y, s)"], abs=others.ROUNDING)
    grid, mass = np.linspace(-12, 12, 2001), np.bincount(place, y - s) / len(s)

    def excess(width: float) -> float:
        smooth = norm.pdf(grid[:, np.newaxis], logit(values), width) @ mass
        return float(np.abs(smooth).sum() * (grid[1] - grid[0])) - width

    # Theirs lays the rows on a lattice, which moves the fourth digit.
    assert brentq(excess, 0.01, 1) == pytest.approx(numbers["pm.smooth_ece(y, s)"], abs=1e-4)


def test_two_more_errors_and_students_law_make_ppis_interval_ours() -> None:
    (ppi,) = [library for library in others.LIBRARIES if library.pip == "ppi-python"]
    (_, rate), (row, low) = pairs(ppi)
    half = t.isf(0.025, 199) * np.hypot((rate - low) / norm.isf(0.025), 2**0.5 / 200)
    assert half == pytest.approx(rate - others.ours(row), rel=0.01)


def test_the_impossible_costs_what_the_page_says() -> None:
    (number,) = [n for row, n in pairs(others.LIBRARIES[0]) if "2.2e-16" in row.why]
    eps = float(np.finfo(np.float64).eps)
    assert number == pytest.approx(-np.log([eps, 0.5]).mean())


def test_the_names_in_the_table_of_words_exist() -> None:
    words = others.PAGE.read_text("utf-8").partition("## The words")[2].partition("\n## ")[0]
    ours = [row.split(" | ")[1] for row in words.splitlines() if row.startswith("| ")]
    names = re.findall(r"`([a-z_]{8,})`", " ".join(ours))
    assert len(names) >= 10
    assert all(hasattr(ck, name) for name in names if name != "sample_weight")


def test_a_missing_library_keeps_its_stored_numbers() -> None:
    absent = others.LIBRARIES[0]._replace(imports={"metrics": "no_such_module"})
    assert others.theirs(absent) is None
