"""The page "From another library": our numbers are computed anew, the others where installed."""

import inspect
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from book.experiments import others
from book.experiments.pages import BLOCK
from calibkit.wrong_names import WORDS
from tools.virtual_environment import ROOT

NAMES = [library.pip for library in others.LIBRARIES]


@cache
def text() -> str:
    return others.PAGE.read_text(encoding="utf-8")


def pairs(library: others.Library) -> list[tuple[others.Row, float]]:
    """Return each line with the stored number of the other library."""
    return list(zip(library.rows, others.stored()[library.pip]["numbers"], strict=True))


@pytest.mark.parametrize("library", others.LIBRARIES, ids=NAMES)
def test_the_page_shows_what_comes_out_today(library: others.Library) -> None:
    (shown,) = [match[0] for match in BLOCK.finditer(text()) if match["name"] == library.pip]
    assert others.block(library) in shown


@pytest.mark.parametrize("library", others.LIBRARIES, ids=NAMES)
def test_a_reason_is_given_where_numbers_differ_and_only_there(library, subtests) -> None:
    for row, number in pairs(library):
        with subtests.test(number=number):
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


def test_the_impossible_costs_what_the_page_says() -> None:
    (number,) = [n for row, n in pairs(others.LIBRARIES[0]) if "2.2e-16" in row.why]
    eps = float(np.finfo(np.float64).eps)
    assert number == pytest.approx(-np.log([eps, 0.5]).mean())


def test_the_table_of_words_is_the_one_that_answers_wrong_names() -> None:
    rows = text().partition("## The words")[2].partition("\n## ")[0].split("\n| ")[3:]
    assert [row.partition("\n\n")[0] for row in rows] == [
        f"{word.theirs} | {word.ours} |" for word in WORDS
    ]
    typed = [name for word in WORDS for name in word.typed.split()]
    assert len(set(typed)) == len(typed)
    names = {name for word in WORDS for name in re.findall(r"`([a-z_]{8,})`", word.ours)}
    assert len(names) >= 10
    assert all(hasattr(ck, name) for name in names)


def test_wrong_names_and_options_are_answered(subtests: pytest.Subtests) -> None:
    """With the name that is right here, and never with one that the user did not type."""
    for name, ours in {
        "ece": "expected_calibration_error",
        "ECE": "expected_calibration_error",
        "calibration_curve": "plot.reliability",
        "brier_score_loss": "brier_score",
        "ReliabilityDiagram": "reliability_table",
        "TemperatureScaling": "calibkit.calibrators",
    }.items():
        for module in (ck, pytest.importorskip("calibkit.plot")):
            with subtests.test(name=name), pytest.raises(AttributeError, match=ours):
                getattr(module, name)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'") as caught:
        _ = ck.no_such_name
    assert (caught.value.name, caught.value.obj) == ("no_such_name", ck)  # Python's suggestions
    y, p = np.arange(40) % 2, np.linspace(0.1, 0.9, 40)
    options = {"n_bins": "bins=15", "pos_label": "positive=", "seed": "rng=0", "logits": "expit"}
    options |= {"random_state": "rng", "norm": "", "view": "", "bins": "", "name": ""}
    for measure in (getattr(ck, name) for name in ck.__all__ if name.islower()):
        signature = inspect.signature(measure).parameters
        if list(signature)[:2] != ["y_true", "y_prob"]:
            continue
        needed = {"norm": 2} if measure is ck.lp_calibration_error else {}
        for option in options.keys() - signature.keys():
            with subtests.test(measure=measure.__name__, option=option):
                said = rf"^{measure.__name__}\(\) has no option '{option}'.*{options[option]}"
                with pytest.raises(TypeError, match=said):
                    measure(y, p, **{option: 1}, **needed)
    with pytest.raises(TypeError, match=r"^null_level\(\) has no option 'n_bins'; here it is bins"):
        ck.null_level(ck.expected_calibration_error, y, p, n_bins=5)
    with pytest.raises(
        TypeError, match="it takes view, n_bins, positive, predicted, sample_weight"
    ):
        ck.adaptive_calibration_error(y, p, bins=5)


def test_the_page_is_in_the_book() -> None:
    assert "book/other_libraries" in (ROOT / "book" / "_toc.yml").read_text(encoding="utf-8")


def test_a_missing_library_keeps_its_stored_numbers() -> None:
    absent = others.LIBRARIES[0]._replace(imports={"metrics": "no_such_module"})
    assert others.theirs(absent) is None
