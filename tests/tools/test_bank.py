"""The question bank: numbers are computed, answers are told something, exports can be read."""

import math
import re
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from book import bank
from calibkit import (
    brier_decomposition,
    brier_score,
    expected_calibration_error,
    log_loss,
    reliability_table,
)
from calibkit.calibrators import HistogramBinning, SlopeOneBinning
from calibkit.decisions import decision_threshold, policy_cost
from calibkit.fit_on_test import fit_on_test
from calibkit.hypothesis_tests import binomial_p_values
from calibkit_course import lessons, open_lesson
from calibkit_course.learn.questions import COURSE, Option, Question, numbers_of
from tests.browser_pages import script
from tests.helpers import each_case

LESSONS = bank.read()
QUESTIONS = {one.id: one for lesson in LESSONS for one in lesson.questions}
BOLD = re.compile(r"\*\*(-?[\d.,]+)\*\*")
FIGURE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
# Numbers of right options that the question makes up, or that a test below looks at.
PREMISES = {"01.3": {"120", "200"}, "05.2": {"0.5", "1"}, "04.4": {"0.2", "0.3"}, "06.3": {"0.05"}}


# --- every number, computed ----------------------------------------------------------------------


def groups() -> list[str]:
    said = np.repeat([0.2, 0.6, 0.9], [5, 10, 10])
    wet = np.concatenate([np.arange(5) < 1, np.arange(10) < 6, np.arange(10) < 7])
    table = reliability_table(wet, said, bins=10)
    error = expected_calibration_error(wet, said, bins=10).value
    return [f"{np.nanmax(np.abs(table.gap)):.1f}", f"{error:.2f}"]


def scores() -> list[float]:
    return [score([1, 1, 0], [0.8, 0.8, 0.8]).value for score in (log_loss, brier_score)]


def base_rate() -> list[str]:
    wet = np.arange(100) < 30
    parts = brier_decomposition(wet, np.full(100, 0.3), bins=10)
    assert abs(parts.miscalibration) < 1e-12 and abs(parts.discrimination) < 1e-12
    return [f"{parts.uncertainty:.2f}"]


def bin_mean() -> list[str]:
    table = reliability_table([1, 0, 1, 1], [0.62, 0.66, 0.70, 0.78], bins=5)
    used = table.occupied
    mean, frequency = float(table.mean_prob[used][0]), float(table.frequency[used][0])
    low, high = table.edges[:-1][used][0], table.edges[1:][used][0]
    middle = abs(frequency - (low + high) / 2)
    return [f"{mean:.2f}", f"{frequency:.2f}", f"{frequency - mean:.2f}", f"{middle:.2f}"]


def null_level(n, part, level, goal, **_) -> list[float]:
    few, many = (math.sqrt(2 * 15 * 0.16 / (math.pi * rows)) for rows in (n, n * part**2))
    assert level / few == pytest.approx(goal / many)
    return [n * (few / many) ** 2]


def two_fits() -> list[str]:
    rows = ([0, 1], [0.2, 0.6])
    ece = expected_calibration_error(*rows, bins=1).value
    slope, flat = (
        fit_on_test(*rows, evaluator=family(bins=1)).value
        for family in (SlopeOneBinning, HistogramBinning)
    )
    assert ece == pytest.approx(slope, abs=1e-12)
    return [f"{flat:.1f}", f"{ece:.1f}"]


def slanted_piece() -> list[str]:
    said, came = [0.6, 0.55, 0.5, 0.55, 0.9], [1, 0, 1, 1, 1]
    fitted = SlopeOneBinning(1).fit(said, came)
    assert np.mean(said) == pytest.approx(0.62)
    return [f"{fitted.curve(np.array([0.9]))[0]:.2f}"]


def four_times_the_rows() -> list[str]:
    return [f"{0.040 * math.sqrt((60 / 4000) / (15 / 1000)):.3f}"]


def a_boaster(chance, share, **_) -> list[float]:
    true = np.array([chance, 1.0])
    return [np.mean(np.abs((1 - share) * true + share - true))]


def two_means(high, low, percent, **_) -> list[float]:
    said, right = np.repeat([high, low], 100), np.tile(np.arange(100) < percent, 2)
    true = expected_calibration_error(right, said, bins=10).value
    return [said.mean() - right.mean(), true]


def knots(first, middle, last, at, **_) -> list[float]:
    return [np.interp(at, [0, 0.5, 1], [first, middle, last])]


def hospitals() -> list[str]:
    counts = ((10, 14), (200, 260), (1000, 1030))
    return [f"{(came - due) / due**0.5:.1f}" for due, came in counts]


def two_logits(z, t, **_) -> list[float]:
    return [softmax(np.array([z, 0.0]) / one)[0] for one in (1, t)]


def unwritten_price(start, vain, **_) -> list[float]:
    (miss,) = (m for m in range(100, 20_000, 20)
               if decision_threshold((vain, m)) == pytest.approx(start, rel=1e-9))  # fmt: skip
    return [miss]


def at_the_threshold() -> list[str]:
    costs = [[0, 4], [1, 1]]
    ill = np.arange(4) < 1
    treat, leave = (
        policy_cost(ill, np.full(4, 0.25), costs=[row, row]).value for row in (costs[1], costs[0])
    )
    assert treat == leave
    return [f"{leave:g}", f"{decision_threshold(costs):.2f}"]


NUMBERS: dict[str, Callable[..., list]] = {
    "00.1": lambda: [f"{0.2 * 36:.1f}"],
    "00.4": lambda cost, loss, **_: [decision_threshold([[0, loss], [cost, cost]])],
    "01.1": groups,
    "01.2": lambda days, width, goal, **_: [days * (width / goal) ** 2],
    "02.1": scores,
    "02.2": base_rate,
    "03.1": a_boaster,
    "03.4": two_means,
    "04.1": bin_mean,
    "04.2": null_level,
    "05.1": two_fits,
    "05.3": slanted_piece,
    "06.1": four_times_the_rows,
    "06.2": lambda one, other, **_: [math.sqrt(one**2 + other**2)],
    "07.1": lambda: [f"{(4 - 1) + (4 + 1)}"],
    "07.2": knots,
    "07.3": lambda below, above, **_: [abs(-below + above)],
    "08.1": lambda: [f"{binomial_p_values(15, 20, 0.5):.3f}"],
    "08.2": lambda redraws, reached, **_: [(1 + reached) / (1 + redraws)],
    "09.1": lambda n, prob, came, **_: [came / (n * prob)],
    "09.2": hospitals,
    "09.3": lambda: [f"{50 / 40:.2f}"],
    "10.1": two_logits,
    "10.3": lambda n, prob, **_: [n * (1 - prob)],
    "11.2": lambda: [f"{brier_score([0], [1.0]).value:.0f}"],
    "12.3": lambda n, prob, **_: [n * prob],
    "12.4": lambda: [f"{2 * 0.9 - 0.98:.2f}"],
    "13.1": unwritten_price,
    "13.4": at_the_threshold,
    "14.1": lambda error, half, **_: [error + half],
    "15.1": lambda scores, graded, people, **_: [scores + people - graded],
    "15.2": lambda sd, half, **_: [(1.96 * sd / half) ** 2],
}


def given(number: str, rng: np.random.Generator | None = None) -> dict[str, float]:
    """Return the numbers of a question that are not typed in its text; few have any."""
    text = (COURSE / f"lesson{number[:2]}" / "questions.toml").read_text("utf-8")
    (entry,) = (one for one in tomllib.loads(text)["question"] if one["id"] == number)
    return numbers_of(entry, rng)


def computed(number: str, numbers: dict[str, float]) -> list[float]:
    found = NUMBERS[number](**numbers) if number in NUMBERS else []
    return [float(str(one).replace(",", "")) for one in found]


def as_shown(value: float, text: str) -> str:
    """Return a number with the decimals of a text."""
    return f"{value:.{len(text.partition('.')[2])}f}"


def complaints(one: Question, values: list[float]) -> list[str]:
    """Return what is wrong with the numbers of a question."""
    bold = [found.rstrip(".,").replace(",", "") for found in BOLD.findall(one.solution)]
    if bold != list(map(as_shown, values, bold)) or len(bold) != len(values):
        return [f"{bold} are not {values}"]
    if one.tolerance is None:
        figures = set(FIGURE.findall(one.right.text)) - PREMISES.get(one.id, set())
        return [f"{text} is not computed" for text in figures if float(text) not in {0, *values}]
    right = float(one.right.text)
    found = [] if min(abs(right - value) for value in values) <= one.tolerance else ["not right"]
    near = 2 * one.tolerance * (1 - 1e-9)
    slips = [float(answer.text) for answer in one.options if not answer.right]
    return found + [f"the slip {slip} is right" for slip in slips if abs(slip - right) < near]


@each_case("number", QUESTIONS)
def test_every_number_is_computed_and_no_slip_is_right(number: str) -> None:
    assert complaints(QUESTIONS[number], computed(number, given(number))) == []


def test_a_seed_draws_other_numbers_whose_answers_are_computed_anew(subtests) -> None:
    texts: dict[str, set[str]] = {}
    for seed in range(20):
        for lesson in bank.read(seed):
            rng = np.random.default_rng([seed, int(lesson.id)])
            for one in lesson.questions:
                number = one.id.removesuffix(f"-{seed}")
                with subtests.test(one.id):
                    assert complaints(one, computed(number, given(number, rng))) == []
                    words = [one.text, one.solution, *(answer.says for answer in one.options)]
                    assert one.text != QUESTIONS[number].text and "{" not in "".join(words)
                    texts.setdefault(number, set()).add(one.text)
    assert len(texts) >= 8 and min(map(len, texts.values())) >= 4
    assert bank.read(3) == bank.read(3) != bank.read(4)


def test_a_seed_needs_a_folder_for_the_page_is_public(tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit):
        bank.main(["--seed", "7"])
    assert "needs a FOLDER" in capsys.readouterr().err
    bank.main([str(tmp_path), "--seed", "7"])
    ids = re.findall(
        r"\[id:(\S+)\]", "".join(p.read_text("utf-8") for p in tmp_path.glob("*.gift"))
    )
    assert len(ids) >= 8 and all(one.endswith("-7") for one in ids)


def test_four_questions_for_each_lesson_in_order(subtests: pytest.Subtests) -> None:
    assert [lesson.id for lesson in LESSONS] == list(lessons())
    for lesson in LESSONS:
        with subtests.test(lesson.id):
            wanted = [f"{lesson.id}.{place}" for place in (1, 2, 3, 4)]
            assert [one.id for one in lesson.questions] == wanted
            kinds = {one.tolerance is None for one in lesson.questions}
            assert kinds == {True, False}, "both kinds"


def test_neither_its_place_nor_its_length_tells_the_right_option() -> None:
    """The limit of lengths is what chance passes in one bank of twenty."""
    choices = [one.options for one in QUESTIONS.values() if one.tolerance is None]
    places = [[option.right for option in options].index(True) for options in choices]
    assert max(map(places.count, range(4))) <= 0.4 * len(places)
    for sign in (1, -1):
        ranks = [stats.rankdata([sign * len(one.text) for one in options]) for options in choices]
        first = sum(rank[place] == 1 for rank, place in zip(ranks, places, strict=True))
        assert first <= stats.binom.ppf(0.95, len(choices), 1 / 4)


def test_the_page_is_the_one_that_the_files_give() -> None:
    assert bank.PAGE.read_text("utf-8") == bank.page(LESSONS), "run: python dev.py bank"


# --- claims of right options ----------------------------------------------------------------------


def test_the_longest_record_speaks_most_clearly() -> None:
    """Question 01.3: how often an honest 70 % shows so few rainy days."""
    chances = stats.binom.cdf([1, 6, 60, 120], [3, 10, 100, 200], 0.7)
    assert chances[:3].round(2).tolist() == [0.22, 0.35, 0.02] and chances[3] < 0.002


# --- GIFT ----------------------------------------------------------------------------------------


SIGN = r"(?:\\[\\~=#{}:]|[^\\~=#{}:\n])*"  # an escaped sign, or none
ANSWER = re.compile(rf"(=%0%|=|~)({SIGN})(?::([\d.e-]+))?#({SIGN})\n")
BLOCK = re.compile(
    r"// \[id:calibkit-(\S+)\] \[tag:calibkit\]\n"
    rf"::(?P<name>{SIGN})::\[markdown\](?P<text>{SIGN}) \{{(?P<number>#?)\n"
    rf"(?P<answers>(?:[=~].+\n)+)(?:####(?P<solution>{SIGN})\n)?\}}"
)


def parse(text: str) -> dict[str, dict[str, Any]]:
    """Read GIFT strictly: every sign that is not escaped must belong to the format."""
    found = {}
    heading, category, *blocks = text.strip().split("\n\n")
    assert heading.startswith("// ") and category.startswith("$CATEGORY: ")
    for block in blocks:
        whole = BLOCK.fullmatch(block)
        assert whole, block
        entry = {name: plain(part or "") for name, part in whole.groupdict().items()}
        assert whole[1] == entry["name"] and ANSWER.sub("", whole["answers"]) == ""
        answers = [[*map(plain, parts)] for parts in ANSWER.findall(whole["answers"])]
        assert {bool(tolerance) for _, _, tolerance, _ in answers} == {bool(entry["number"])}
        found[entry["name"]] = entry | {"answers": answers}
    return found


def plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


@each_case("lesson", LESSONS)
def test_learning_platforms_read_what_stands_in_the_files(lesson: bank.Lesson, subtests) -> None:
    found = parse(bank.gift(lesson))
    assert list(found) == [one.id for one in lesson.questions]
    for one in lesson.questions:
        with subtests.test(one.id):
            entry = found[one.id]
            assert entry["text"] == one.text + (f" (in {one.unit})" if one.unit else "")
            assert entry["solution"] == one.solution
            reach, wrong = ("", "~") if one.tolerance is None else (f"{one.tolerance:g}", "=%0%")
            assert entry["answers"] == [
                ["=" if answer.right else wrong, answer.text, reach, answer.says]
                for answer in one.options
            ]


def test_signs_of_the_format_are_escaped() -> None:
    evil = Option(text="~ = # { } : \\ `x`", says="::a::{=b}\n// c", right=True)
    one = Question(id="99.1", text="a\n\nb {", options=(evil,))
    (entry,) = parse(bank.gift(bank.Lesson("99", "x", (one,)))).values()
    assert entry["answers"] == [["=", evil.text, "", "::a::{=b} // c"]]
    assert entry["text"] == "a b {"


# --- QTI -----------------------------------------------------------------------------------------


def told(item: ElementTree.Element, given: str) -> tuple[str, str]:
    """Return score and feedback of an answer, as the rules of the item say."""
    for way in item.findall(".//{*}responseCondition/*"):
        test, (score, chosen) = way[0], way.findall("{*}setOutcomeValue/{*}baseValue")
        reach = float(test.get("tolerance", "0").split()[0])
        value = test.findtext("{*}baseValue")
        near = reach and abs(float(given) - float(value)) <= reach * (1 + 1e-9)
        if near or value == given:
            (said,) = (one for one in item.findall("{*}modalFeedback")
                       if one.get("identifier") == chosen.text)  # fmt: skip
            return score.text, "".join(said.itertext()).strip()
    return "0", ""


@each_case("lesson", LESSONS)
def test_a_package_of_qti_scores_and_tells_every_answer(lesson, tmp_path, subtests) -> None:
    bank.write_qti(lesson, tmp_path / "lesson.zip")
    with zipfile.ZipFile(tmp_path / "lesson.zip") as file:
        names = file.namelist()
        items = {name: ElementTree.fromstring(file.read(name)) for name in names}
    listed = items.pop("imsmanifest.xml").findall(".//{*}file")
    assert [one.get("href") for one in listed] == [*items]
    for one, item in zip(lesson.questions, items.values(), strict=True):
        with subtests.test(one.id):
            assert item.get("identifier") == f"calibkit-{one.id}"
            for letter, answer in zip("abcdef", one.options, strict=False):
                given = letter if one.tolerance is None else answer.text
                words = f"{answer.says} {one.solution}" if answer.right else answer.says
                plain_words = re.sub(r"`|\*\*", "", words.strip())
                assert told(item, given) == (f"{answer.right:d}", plain_words)
                assert answer.right == (item.findtext(".//{*}correctResponse/{*}value") == given)
            assert one.tolerance is None or told(item, "77777") == ("0", "")


# --- in the lesson -------------------------------------------------------------------------------


@each_case("number", QUESTIONS)
def test_the_lesson_tells_every_answer_what_the_file_says(number: str, subtests) -> None:
    one, lesson = QUESTIONS[number], open_lesson(number[:2])
    place, shown = int(number[3:]) - 1, lesson.quiz().paragraphs[1:]
    for letter, option in zip("ABCDEF", one.options, strict=False):
        with subtests.test(letter):
            given = letter if one.tolerance is None else option.text
            said = lesson.quiz(*[...] * place, given).paragraphs[1:]
            (verdict,) = {*said} - {*shown}
            start = "Right." if option.right else "Not yet."
            assert verdict.startswith(f"→ {start} {option.says}") and "**" not in verdict
    if one.tolerance is not None:
        right = float(one.right.text)
        for given in (np.float32(right), np.array(right), f"{100 * right:.9g} %"):
            assert one.verdict(given).startswith("Right."), given


def test_the_lesson_says_what_it_cannot_read() -> None:
    choice, number = QUESTIONS["06.3"], QUESTIONS["06.2"]
    wanted = 'this is a number; it should be the letter of an answer, such as `"b"`.'
    assert choice.verdict(2).startswith(wanted)
    assert choice.verdict("e").startswith("this is text; it should be the letter")
    assert number.verdict("much").startswith("this is text; it should be a number.")
    assert number.verdict(0.77).startswith("Not yet. This is another number.")


# --- in a browser ---------------------------------------------------------------------------------


@pytest.fixture
def quiz(browser: Any, root: Path) -> Any:
    """Open the questions with their script, without the rest of the book."""
    tab = browser.new_context().new_page()
    items = "".join(bank.item(one) for one in QUESTIONS.values())
    tab.set_content(f"<main>{items}</main>")
    tab.add_script_tag(path=str(root / "book" / "_static" / "question_bank.js"))
    yield tab
    tab.context.close()


@pytest.mark.browser
def test_every_answer_is_told_what_the_file_says(quiz: Any, subtests: pytest.Subtests) -> None:
    asked = [(one, n, answer) for one in QUESTIONS.values() for n, answer in enumerate(one.options)]
    answers = [[f"q-{one.id.replace('.', '-')}", n, answer.text] for one, n, answer in asked]
    told = quiz.evaluate(script("answer_all"), answers)
    for said, (one, _, answer) in zip(told, asked, strict=True):
        with subtests.test(one.id, answer=answer.text):
            assert said.startswith("Right." if answer.right else "Not yet."), one.id
            assert answer.says.replace("`", "") in said


TYPED = {"1,6": "Right.", "160 %": "Right.", "8/5": "Right.", "0.3": "Not yet. This is another"}
TYPED |= dict.fromkeys(("", "<b>1</b>"), "Type a number")


@pytest.mark.browser
def test_numbers_may_be_typed_in_many_ways(quiz: Any, subtests: pytest.Subtests) -> None:
    item = quiz.locator("#q-09-1")
    for typed, said in TYPED.items():
        with subtests.test(typed):
            item.get_by_role("textbox").fill(typed)
            quiz.keyboard.press("Enter")
            assert item.get_by_role("status").inner_text().startswith(said)


@pytest.mark.browser
def test_the_keyboard_answers_and_a_listener_knows_the_question(quiz: Any) -> None:
    item = quiz.locator("#q-01-3")
    assert item.get_by_role("radiogroup", name=re.compile("Whose record speaks most")).count() == 1
    assert quiz.get_by_role("textbox", name=re.compile("states 0.002 for each")).count() == 1
    item.get_by_role("button").press("Enter")
    assert "Choose one" in item.get_by_role("status").inner_text()
    item.get_by_role("radio").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown"):
        quiz.keyboard.press(key)
    quiz.keyboard.press("Enter")
    assert item.get_by_role("status").inner_text().startswith("Right.")
    assert item.locator("details").get_attribute("open") is None
