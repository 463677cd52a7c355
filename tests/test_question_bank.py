"""The question bank and the capstone: every number in bold is computed here."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit, softmax

from calibkit import (
    brier_decomposition,
    brier_score,
    data,
    debiased_calibration_error,
    expected_calibration_error,
    log_loss,
    reliability_table,
)
from calibkit.auditing.report import CODES
from calibkit.calibrators import FlatBinning, IsotonicCalibrator, SlopeOneBinning, shift_prior
from calibkit.cli import _parser
from calibkit.decisions import decision_threshold, policy_cost, regret_bound
from calibkit.fakes import LogitDistortion
from calibkit.finite import FiniteClassifier
from calibkit.fit_on_test import fit_on_test
from calibkit.significance._binomial import binomial_p_values

LESSONS = [f"{number:02d}" for number in range(15)]
QUESTIONS = [f"{lesson}.{place}" for lesson in LESSONS for place in (1, 2)]
BLOCK = re.compile(
    r"^\*\*(\d\d\.\d)\*\* (.+?)\n\n<details><summary>▸ Answer (\d\d\.\d)</summary>\n\n"
    r"(.+?)\n\n</details>",
    re.MULTILINE | re.DOTALL,
)
BOLD = re.compile(r"\*\*(-?[\d.,]+)\*\*")


def blocks(root: Path) -> dict[str, tuple[str, str]]:
    """Return question and answer by number."""
    text = (root / "book" / "question_bank.md").read_text("utf-8")
    found = BLOCK.findall(text)
    assert [number for number, *_ in found] == [number for *_, number, _ in found] == QUESTIONS
    return {number: (question, answer) for number, question, _, answer in found}


# --- every number, computed ----------------------------------------------------------------------


def dice() -> list[str]:
    law = stats.binom(120, 1 / 6)
    assert abs(14 - 20) / law.std() < 2 > abs(27 - 20) / law.std()
    return [f"{law.mean():.0f}", f"{law.std():.1f}"]


def groups() -> list[str]:
    said = np.repeat([0.2, 0.6, 0.9], [5, 10, 10])
    wet = np.concatenate([np.arange(5) < 1, np.arange(10) < 6, np.arange(10) < 7])
    table = reliability_table(wet, said, bins=10)
    error = expected_calibration_error(wet, said, bins=10).value
    return [f"{np.nanmax(np.abs(table.gap)):.1f}", f"{error:.2f}"]


def hundred_days() -> list[str]:
    error = stats.binom(100, 0.7).std() / 100
    return [f"{error:.3f}", f"{0.1 / error:.1f}"]


def scores() -> list[str]:
    rows = ([1, 1, 0], [0.8, 0.8, 0.8])
    return [f"{brier_score(*rows).value:.2f}", f"{log_loss(*rows).value:.3f}"]


def base_rate() -> list[str]:
    wet = np.arange(100) < 30
    parts = brier_decomposition(wet, np.full(100, 0.3), bins=10)
    assert abs(parts.miscalibration) < 1e-12 and abs(parts.discrimination) < 1e-12
    return [f"{parts.uncertainty:.2f}"]


def doubled() -> list[str]:
    return [f"{float(LogitDistortion(slope=0.5).true_map(0.9)):.2f}"]


def bin_mean() -> list[str]:
    table = reliability_table([1, 0, 1, 1], [0.62, 0.66, 0.70, 0.78], bins=5)
    used = table.occupied
    mean, frequency = float(table.mean_prob[used][0]), float(table.frequency[used][0])
    low, high = table.edges[:-1][used][0], table.edges[1:][used][0]
    middle = abs(frequency - (low + high) / 2)
    return [f"{mean:.2f}", f"{frequency:.2f}", f"{frequency - mean:.2f}", f"{middle:.2f}"]


def null_level() -> list[str]:
    roots = 15 * math.sqrt(20 * 0.2)
    return [f"{math.sqrt(2 / math.pi) / 300 * roots:.3f}"]


def two_fits() -> list[str]:
    rows = ([0, 1], [0.2, 0.6])
    ece = expected_calibration_error(*rows, bins=1).value
    slope, flat = (
        fit_on_test(*rows, evaluator=family(bins=1)).value
        for family in (SlopeOneBinning, FlatBinning)
    )
    assert ece == pytest.approx(slope, abs=1e-12)
    return [f"{ece:.1f}", f"{flat:.1f}"]


def four_times_the_rows() -> list[str]:
    return [f"{0.040 / math.sqrt(4):.3f}"]


def debiased() -> list[str]:
    hit = np.arange(50) < 30
    found = debiased_calibration_error(hit, np.full(50, 0.5), bins=1)
    plug_in = (0.6 - 0.5) ** 2
    wanted = plug_in - 0.6 * 0.4 / 49
    assert found.squared == pytest.approx(wanted, abs=1e-12)
    return [f"{plug_in:.4f}", f"{wanted:.4f}"]


def warm() -> list[str]:
    return [f"{expit(logit(0.95) / 2):.3f}"]


def knots() -> list[str]:
    return [f"{np.interp(0.7, [0, 0.5, 1], [0.1, 0.4, 0.8]):.2f}"]


def fifteen_of_twenty() -> list[str]:
    found = float(binomial_p_values(15, 20, 0.5))
    assert found == pytest.approx(stats.binomtest(15, 20, 0.5).pvalue, abs=1e-12)
    return [f"{found:.3f}"]


def twenty_bins() -> list[str]:
    return [f"{1 - 0.95**20:.2f}"]


def prior() -> list[str]:
    return [f"{shift_prior([0.8], train_prevalence=0.5, test_prevalence=0.05)[0]:.3f}"]


def rare() -> list[str]:
    ill = np.arange(1000) < 20
    error = expected_calibration_error(ill, np.full(1000, 0.01)).value
    return [f"{error:.2f}", f"{ill.mean() / 0.01:.0f}"]


def two_logits() -> list[str]:
    return [f"{softmax(np.array([2.0, 0.0]) / t)[0]:.3f}" for t in (1, 2)]


def smoothed() -> list[str]:
    target = 0.9 + 0.1 / 10
    # Cross-entropy against (target, rest) is lowest at the target itself.
    grid = np.linspace(0.5, 0.999, 5000)
    loss = -target * np.log(grid) - (1 - target) * np.log((1 - grid) / 9)
    assert grid[loss.argmin()] == pytest.approx(target, abs=1e-3)
    return [f"{target:.2f}", f"{1 - target:.2f}"]


def complexity() -> list[str]:
    return [f"{50 + 1 / 0.1**2:,.0f}", f"{50 + 50 / 0.1**2:,.0f}"]


def isotonic() -> list[str]:
    score = np.array([0.1, 0.3, 0.6, 0.8])
    fitted = IsotonicCalibrator().fit(score, np.array([0, 1, 0, 1])).calibrate(score)
    assert fitted[[0, 3]].tolist() == [0, 1]
    return [f"{value:.1f}" for value in fitted[1:3]]


def six_orders() -> list[str]:
    said = ["136", "163", "316", "361", "613", "631"]
    true = [(0, 0, 10), (2, 2, 6), (6, 2, 2), (0, 10, 0), (10, 0, 0), (2, 6, 2)]
    orders = FiniteClassifier(
        None,
        [[Fraction(int(digit), 10) for digit in order] for order in said],
        [[Fraction(value, 10) for value in row] for row in true],
    )
    right = [row[k] for row, k in zip(orders.truth, orders.predicted, strict=True)]
    assert [float(value) for value in right] == [1, 0.2, 0.2, 1, 1, 0.2]
    assert orders.expected_error() == 0 and max(orders.class_wise_errors()) == 0
    return [f"{float(orders.mean_confidence):.1f}", f"{float(orders.strong_error()):.1f}"]


def ward() -> list[str]:
    costs = [[0, 0], [6, -2]]
    right = np.arange(10) < 7
    won = -policy_cost(right, np.full(10, 0.7), costs=[[6, -2], [6, -2]]).value
    return [f"{decision_threshold(costs):.2f}", f"{won:.1f}"]


def bound() -> list[str]:
    return [f"{regret_bound(0.03, benefit=2, harm=6):.2f}"]


def sample_size() -> list[str]:
    exact, rounded = (math.ceil((z / 0.01) ** 2 * 0.11) for z in (stats.norm.ppf(0.95), 1.645))
    assert exact == rounded
    return [f"{exact:,}"]


NUMBERS: dict[str, Callable[[], list[str]]] = {
    "00.1": dice,
    "01.1": groups,
    "01.2": hundred_days,
    "02.1": scores,
    "02.2": base_rate,
    "03.1": doubled,
    "03.2": lambda: [f"{1 - 0.85:.2f}"],
    "04.1": bin_mean,
    "04.2": null_level,
    "05.1": two_fits,
    "06.1": four_times_the_rows,
    "06.2": debiased,
    "07.1": warm,
    "07.2": knots,
    "08.1": fifteen_of_twenty,
    "08.2": twenty_bins,
    "09.1": prior,
    "09.2": rare,
    "10.1": two_logits,
    "10.2": smoothed,
    "11.1": complexity,
    "11.2": isotonic,
    "12.1": six_orders,
    "13.1": ward,
    "13.2": bound,
    "14.1": sample_size,
}


@pytest.mark.parametrize("number", QUESTIONS)
def test_numbers_in_bold_are_what_is_computed(number: str, root: Path) -> None:
    _, answer = blocks(root)[number]
    wanted = NUMBERS[number]() if number in NUMBERS else []
    assert [found.rstrip(".,") for found in BOLD.findall(answer)] == wanted


def test_two_questions_for_each_lesson_in_order(root: Path) -> None:
    text = (root / "book" / "question_bank.md").read_text("utf-8")
    headings = re.findall(r"^## Lesson (\d\d): (.+)$", text, re.MULTILINE)
    assert [number for number, _ in headings] == LESSONS
    for number, title in headings:
        part = text.partition(f"\n## Lesson {number}: ")[2].partition("\n## ")[0]
        assert re.findall(r"^\*\*(\d\d\.\d)\*\*", part, re.MULTILINE) == [
            f"{number}.1",
            f"{number}.2",
        ], title


def test_no_answer_stands_in_its_question(root: Path) -> None:
    for question, answer in blocks(root).values():
        assert not BOLD.search(question)
        assert len(answer.split()) >= 6


def test_flat_and_slope_agree_away_from_the_diagonal() -> None:
    """What answer 05.2 says, for a bin on one side of it and for one that crosses."""
    for said, same in (([0.1, 0.2, 0.25], True), ([0.4, 0.6, 0.9], False)):
        wet, prob = np.array([0, 1, 1]), np.array(said)
        flat = np.abs(wet.mean() - prob).mean()
        ece = expected_calibration_error(wet, prob, bins=1).value
        assert (abs(flat - ece) < 1e-12) == same


# --- the capstone --------------------------------------------------------------------------------


def capstone(root: Path) -> str:
    return (root / "book" / "capstone.md").read_text("utf-8")


def test_the_rubric_has_a_hundred_points(root: Path) -> None:
    table = capstone(root).partition("\n## Marking")[2].partition("\n### What costs")[0]
    assert sum(map(int, re.findall(r"\| (\d+) \|$", table, re.MULTILINE))) == 100


def test_the_capstone_names_all_codes(root: Path) -> None:
    for topic, codes in CODES.items():
        line = next(line for line in capstone(root).splitlines() if line.startswith(f"- {topic}:"))
        assert tuple(re.findall(r"`([^`]+)`", line)) == codes


def test_files_that_the_capstone_names_exist(root: Path) -> None:
    text = capstone(root).partition("## Choose a file")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z0-9_-]+)`", text))
    assert named <= set(data.REGISTRY) and len(named) == 8
    lesson = (root / "notebooks" / "14_audit_your_predictions.md").read_text("utf-8")
    forbidden = text.partition("Do not take")[2]
    assert all(f'"{name}"' in lesson for name in re.findall(r"`([a-z0-9_-]+)`", forbidden))


@pytest.mark.parametrize("page", ["book/capstone.md", "notebooks/14_audit_your_predictions.md"])
def test_commands_on_the_page_can_be_given(page: str, root: Path) -> None:
    text = (root / page).read_text("utf-8")
    commands = re.findall(r"^calibkit (audit .+)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        options = _parser().parse_args(command.split())
        assert options.command == "audit" and options.costs == "1:20"
