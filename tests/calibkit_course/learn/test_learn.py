"""Predict, reveal, check: five states, no exceptions, one catalogue of words."""

import importlib
import json
import re
from collections import Counter, OrderedDict
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize_scalar

from calibkit import expected_calibration_error, log_loss
from calibkit_course import learn, lessons, open_lesson
from calibkit_course.learn import answers, messages
from calibkit_course.learn._lesson import Lesson
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction, Rubric
from calibkit_course.learn.messages import State
from calibkit_course.learn.record import Record
from calibkit_course.learn.words import read_words

LESSONS = lessons()
STATES = ["Not defined", "Not attempted", "Wrong kind", "Almost", "Correct"]


def tables(name: str) -> Any:
    """Return the module with a lesson's wrong and right answers."""
    return importlib.import_module(f"tests.calibkit_course.lesson{name}.test_checks")


# Without torch nobody can write a training step.
WITHOUT_ANSWER = set() if find_spec("torch") else {"10.3"}


def first_right(name: str, cid: str) -> Any:
    """Return a right answer, or a blank where there can be none."""
    return ... if cid in WITHOUT_ANSWER else tables(name).RIGHT[cid][0]


def often(values: Iterable[Any], *quick: Any) -> list[Any]:
    """Return what to parametrise with: all values, of which a few before every commit."""
    return [pytest.param(v, marks=[] if v in quick else pytest.mark.slow) for v in values]


# Torch takes seconds to load, and two judges draw many samples.
SLOW_CHECKS = ("3.1", "8.6", "10.3", "10.6")
QUICK_LESSONS = often(LESSONS, *(name for name in LESSONS if name != "10"))
EACH_CHECK = [
    pytest.param(name, cid, marks=[pytest.mark.slow] if cid in SLOW_CHECKS else [])
    for name in LESSONS
    for cid in open_lesson(name).checks
]
each_check = pytest.mark.parametrize(("name", "cid"), EACH_CHECK)


# --- every lesson ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LESSONS)
def test_every_check_has_wrong_and_right_answers(name: str) -> None:
    checks = open_lesson(name).checks
    wrong, right = tables(name).WRONG, tables(name).RIGHT
    assert set(wrong) == set(right) == set(checks)
    assert all(len(wrong[cid]) >= 2 and right[cid] for cid in set(checks) - WITHOUT_ANSWER)


@each_check
def test_wrong_answers_are_refused_with_their_hint(name, cid, subtests) -> None:
    """And no message shows two equal numbers."""
    states = set()
    for place, (answer, fragment) in enumerate(tables(name).WRONG[cid]):
        said = open_lesson(name).check(cid, answer)
        states.add(said.state)
        with subtests.test(f"WRONG[{cid!r}][{place}]: {said!r}"):
            assert said.state in (State.ALMOST, State.WRONG_KIND)
            assert fragment in said.text
            assert equal_numbers(said.text) == []
    assert State.ALMOST in states or cid in WITHOUT_ANSWER


@each_check
def test_right_answers_are_accepted_in_other_forms(name, cid, subtests) -> None:
    check = open_lesson(name).checks[cid]
    right = State.COMPARE if check.rubric else State.CORRECT
    for place, answer in enumerate(tables(name).RIGHT[cid]):
        said = open_lesson(name).check(cid, answer)
        with subtests.test(f"RIGHT[{cid!r}][{place}]: {said!r}"):
            assert said.state is right
            assert check.tolerance is None or f"within {check.tolerance:g}" in said.text
    # The judge forgives what is said; not so of a dict and a model.
    if check.tolerance and cid not in ("1.1", "3.2"):
        fine = {}
        for off in (-1.1, -0.9, 0.9, 1.1):
            by = off * check.tolerance
            moved = in_other_words(first_right(name, cid), lambda value, by=by: np.add(value, by))
            fine[off] = not refused(name, cid, moved)
        assert (fine[-0.9] or fine[0.9]) and not (fine[-1.1] and fine[1.1])


# --- every lesson, by construction -------------------------------------------------------------

FORMS: dict[str, Any] = {
    "single": lambda value: np.asarray(value, dtype=np.float32)[()],
    "array": np.asarray,
    "list": lambda value: np.asarray(value).tolist(),
    "tuple": lambda value: tuple(np.asarray(value).tolist()) if np.ndim(value) else value,
    "series": lambda value: pd.Series(value) if np.ndim(value) == 1 else value,
    "torch": lambda value: torch_tensor(np.asarray(value, dtype=np.float64)),
    "torch, single": lambda value: torch_tensor(np.asarray(value, dtype=np.float32)),
}


def torch_tensor(array: Any) -> Any:
    return pytest.importorskip("torch").from_numpy(array.copy())


def is_numeric(value: Any) -> bool:
    """Tell whether an answer is a number, or an array or flat list of numbers."""
    if isinstance(value, int | float | np.number):
        return not isinstance(value, bool)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iuf"
    plain = isinstance(value, list | tuple) and len(value) > 0
    return plain and all(is_numeric(entry) and np.ndim(entry) == 0 for entry in value)


def in_other_words(answer: Any, edit: Any) -> Any:
    """Return an answer with its numbers edited, also those that a function returns."""
    if is_numeric(answer):
        return edit(answer)
    if type(answer) is FunctionType:
        return lambda *given: in_other_words(answer(*given), edit)
    if isinstance(answer, tuple):
        return tuple(in_other_words(part, edit) for part in answer)
    if isinstance(answer, dict):
        return {key: in_other_words(value, edit) for key, value in answer.items()}
    return answer


def refused(name: str, cid: str, answer: Any) -> str:
    """Return what a check says about an answer, empty where it accepts it."""
    said = open_lesson(name).check(cid, answer)
    return "" if said.state in (State.CORRECT, State.COMPARE) else said.text


@pytest.mark.parametrize("form", often(FORMS, "single", "series"))
@pytest.mark.parametrize("name", QUICK_LESSONS)
@pytest.mark.filterwarnings("ignore")
def test_right_numbers_are_accepted_in_every_container(name, form, subtests) -> None:
    for cid in open_lesson(name).checks:
        answer = in_other_words(first_right(name, cid), FORMS[form])
        with subtests.test(cid):
            assert refused(name, cid, answer) == ""


@each_check
def test_what_is_no_answer_is_told_what_it_should_be(name: str, cid: str) -> None:
    """And where a function is wanted, what it should return; its other slips are named too."""
    answers, said = tables(name).RIGHT[cid], refused(name, cid, object())
    if any(type(answer) is FunctionType for answer in answers):
        assert "it should be a function" in said
        assert "your function raised" in refused(name, cid, lambda: 0.3)
        said = refused(name, cid, lambda *_, **__: None)
        assert "returns nothing, because `return` is missing. It should return" in said
    elif answers and isinstance(answers[0], list | tuple | np.ndarray):
        assert refused(name, cid, answers[0][:-1]), "one too few"
    wanted = re.sub(".* should (be|return) ", "", said).replace("(2000, 4)", "{shape}")
    known = (*read_words(name).say.values(), *messages.WORDS.values())
    assert wanted.rstrip(".") in known


def equal_numbers(text: str) -> list[str]:
    """Return the decimal numbers that a sentence of a message shows as two that differ."""
    sentences = re.split(r"(?<=[.?!]) ", text)
    sentences = [words for words in sentences if re.search(r"\b(not|should|here|lowest)\b", words)]
    found = [
        re.findall(r"(?<![\w.])(?<!\d, )-?\d[\d,]*\.\d{2,}(?!, \d)", sentence)
        for sentence in sentences
    ]
    return [number for each in found for number, times in Counter(each).items() if times > 1]


@pytest.mark.parametrize("share", often([2e-5, 1e-4, 2e-3], 1e-4))
@pytest.mark.parametrize("name", QUICK_LESSONS)
def test_near_misses_never_look_equal(name: str, share: float, subtests: pytest.Subtests) -> None:
    for cid, factor in product(open_lesson(name).checks, (1 - share, 1 + share)):
        answer = in_other_words(
            first_right(name, cid), lambda value, by=factor: np.asarray(value)[()] * by
        )
        with subtests.test(cid, factor=factor):
            assert equal_numbers(refused(name, cid, answer)) == []


@pytest.mark.parametrize("name", LESSONS)
def test_each_check_has_hints_and_blanks_are_not_attempts(name: str) -> None:
    lesson = open_lesson(name)
    for cid, check in lesson.checks.items():
        assert len(set(check.hints)) == len(check.hints) >= 2
        assert check.variable.isidentifier() and check.task and check.praise
        for level, words in enumerate(check.hints, start=1):
            assert words in lesson.hint(cid, level).text
        for blank in (..., [...], (0.5, ...), {"a": ...}, {"a": [1, ...]}, np.array([1, ...])):
            said = lesson.check(cid, blank)
            assert said.state is State.NOT_ATTEMPTED and f"`{check.variable}`" in said.text


@pytest.mark.parametrize("name", LESSONS)
def test_predictions_can_be_guessed_and_revealed(name: str) -> None:
    lesson = open_lesson(name)
    for pid, prediction in lesson.predictions.items():
        assert prediction.question in lesson.predict(pid, ...).text
        assert "no guess" in lesson.reveal(pid).text
        assert prediction.why in lesson.reveal(pid).text
        right = prediction.outcome
        if isinstance(prediction, Drawing):  # whose truth a cell computes
            right = [prediction.top / 2] * len(prediction.x)
        assert "Noted" in lesson.predict(pid, right).text
        assert re.search("right|close", lesson.reveal(pid, right).text)


# --- five states -------------------------------------------------------------------------------


def judge_half(answer: Any) -> str | None:
    return None if answers.as_number(answer) == 0.5 else "think of a coin."


def toy(judge: Any = judge_half) -> Lesson:
    check = Check(task="t", variable="half", judge=judge, hints=("a", "b"), tolerance=0.1)
    return Lesson("99", "Toy", {"9.1": check}, {})


def test_without_an_answer_the_variable_is_looked_up() -> None:
    lesson = toy()
    assert "no variable `half`" in lesson.check("9.1").text
    half = ...
    assert lesson.check("9.1").state is State.NOT_ATTEMPTED
    half = 0.5
    assert lesson.check("9.1").state is State.CORRECT
    assert half == 0.5


@pytest.mark.parametrize(
    "error", [ValueError("no good"), KeyError("x"), RecursionError(), SystemExit(3)]
)
def test_what_a_judge_raises_is_a_wrong_kind(error: BaseException) -> None:
    said = toy(Mock(side_effect=error)).check("9.1", 1)
    assert said.state is State.WRONG_KIND and type(error).__name__ in said.text


def test_an_interrupt_still_interrupts() -> None:
    with pytest.raises(KeyboardInterrupt):
        toy(Mock(side_effect=KeyboardInterrupt)).check("9.1", 1)


class Hostile:
    """Nothing about this object can be looked at."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no")

    def _no(self, *_: Any) -> Any:
        raise RuntimeError("no")

    __repr__ = __str__ = __len__ = __iter__ = __eq__ = __float__ = __bool__ = _no  # type: ignore
    __hash__ = __contains__ = __getitem__ = __call__ = __array__ = _no  # type: ignore


class NoClass:
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no class")


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raises_unspeakable(*_: Any) -> None:
    raise Unspeakable


WEIRD: list[Any] = [
    None, True, np.True_, 0, -1, 10**400, float("nan"), float("inf"), 1j, Decimal("0.5"),
    Fraction(1, 3), "", "0.5", b"0.5", [], (), {}, set(), frozenset({1}), range(3), range(10**12),
    [[]], [None] * 6, [[0.5, [1]]] * 6, {None: None}, {"a": {}}, object(), object, int, len, print,
    lambda: 1 / 0, (x for x in [1]), iter([1]), Ellipsis.__class__, NotImplemented, Hostile(),
    Hostile, NoClass(), SimpleNamespace(a=1), np.array([]), np.array(0.5), np.array([[0.5, 1]] * 6),
    np.array(["a"]), np.array([None]), np.array([object()]), np.zeros((2, 2, 2)), np.ma.masked,
    np.datetime64("2020-01-01"), pd.Series([0.5]), pd.Series(["a"]), pd.DataFrame({"a": [1, 2]}),
    pd.NA, log_loss([0, 1], [0.5, 0.5]), learn, open_lesson("00"), raises_unspeakable,
    {F: F for F in (Hostile(),) if False}, [Hostile()] * 6, {0.5: Hostile()}, memoryview(b"ab"),
]  # fmt: skip


@each_check
@pytest.mark.filterwarnings("ignore")
def test_no_answer_raises(name: str, cid: str) -> None:
    lesson = open_lesson(name)
    for place, answer in enumerate(WEIRD):
        said = lesson.check(cid, answer)
        assert str(said).startswith((*STATES, "Compare")), f"WEIRD[{place}]"
        again = lesson.check(cid, answer)
        assert repr(said) == repr(again) and " at 0x" not in repr(said), f"WEIRD[{place}]"
        assert said._repr_html_(), f"WEIRD[{place}]"


@pytest.mark.parametrize("name", LESSONS)
def test_no_weird_guess_raises(name: str) -> None:
    lesson = open_lesson(name)
    for guess in WEIRD:
        for pid in lesson.predictions:
            assert lesson.predict(pid, guess)._repr_html_()
            assert lesson.reveal(pid, guess)._repr_html_()


# --- free text ---------------------------------------------------------------------------------

POINTS = ("It names both axes.", "It says how many predictions there are.", "It says which way.")
TEXT = "Confidence across and accuracy up, for 40 forecasts."


def essay() -> Lesson:
    rubric = Rubric(points=POINTS, model="Confidence across, accuracy up, 40: over-confident.")
    check = Check(task="t", variable="my_text", rubric=rubric, hints=("a", "b"))
    return Lesson("99", "Toy", {"9.1": check}, {})


def test_a_text_is_compared_and_assessed_by_its_writer() -> None:
    lesson = essay()
    said = lesson.check("9.1", TEXT)
    assert said.state is State.COMPARE and "8 words is noted" in said.text
    assert said.paragraphs[1:4] == tuple(f"{n}. {p}" for n, p in enumerate(POINTS, start=1))
    assert "40: over-confident" in said.text and 'check("9.1", contains=[1, 3])' in said.text
    said = lesson.check("9.1", TEXT, contains=[1, 2])
    assert said.state is State.SELF_ASSESSED and said.points == (1, 2)
    assert "2 of 3 points" in said.text and "still missing: 3. It says which way." in said.text
    assert "☑ 2 of 3 points" in repr(lesson.progress()) and "☑ 2 of 3" in _html(lesson)
    assert "0 of 1 exercises correct" in repr(lesson.progress())
    lesson.check("9.1", TEXT)
    assert "☑ 2 of 3 points" in repr(lesson.progress()), "looking again takes nothing back"
    whole = lesson.check("9.1", TEXT, contains=(3, 1, 2, 2))
    assert whole.paragraphs == ("3 of 3 points, by your own reading.",)
    assert "1 of 1 exercises correct" in repr(lesson.progress())


def _html(lesson: Lesson) -> str:
    return lesson.progress()._repr_html_()


@pytest.mark.parametrize("ticked", [{}, {"contains": [1]}, {"contains": ...}], ids=str)
def test_points_are_shown_below_a_text_only(ticked: Any) -> None:
    for text, state, words in (
        (..., State.NOT_ATTEMPTED, "`my_text`"),
        (" \n", State.NOT_ATTEMPTED, "still empty"),
        (17, State.WRONG_KIND, "a number; it should be a text in quotes"),
        ("It is over-confident.", State.ALMOST, "only 3 words"),
    ):
        said = essay().check("9.1", text, **ticked)
        assert said.state is state and words in said.text
        assert not any(point in said.text for point in POINTS)


NAMED = [([1, 3], (1, 3)), (3, (3,)), ([], ()), ({2, 1}, (1, 2)), (range(1, 4), (1, 2, 3)),
         (np.array([3, 1]), (1, 3)), (np.int64(2), (2,)), (pd.Series([1, 2]), (1, 2))]  # fmt: skip
NO_POINT = [([1, 4], "there is no point 4"), (0, "no point 0"), ("1, 3", "this is text"),
            (["1"], "a list of 1"), (1.0, "a number"), (True, "`True`"), (None, "`None`"),
            ([[1, 2], [3]], "the numbers of points"), ({1: True}, "a dict of 1")]  # fmt: skip


def test_points_are_named_by_their_numbers_or_get_a_sentence() -> None:
    for contains, points in NAMED:
        assert essay().check("9.1", TEXT, contains=contains).points == points
    for contains, words in NO_POINT:
        said = essay().check("9.1", TEXT, contains=contains)
        assert said.state is State.WRONG_KIND and words in said.text
    for blank in (..., [...], [1, ...]):
        said = essay().check("9.1", TEXT, contains=blank)
        assert said.state is State.COMPARE and "contains=[1, 3]" in said.text
    for contains in WEIRD:
        assert essay().check("9.1", TEXT, contains=contains)._repr_html_()
    assert "has no points to tick" in toy().check("9.1", 0.5, contains=[1]).text


def test_exercises_are_checked_when_they_are_declared() -> None:
    rubric = Rubric(points=POINTS, model="m")
    both, neither = {"judge": judge_half, "rubric": rubric}, dict[str, Any]()
    for options in (both, neither, {"judge": judge_half, "hints": ("only one",)}):
        with pytest.raises(ValueError, match="two hints or more"):
            Check(**{"task": "t", "variable": "v", "hints": ("a", "b")} | options)
    with pytest.raises(ValueError, match="not 2"):
        Rubric(points=POINTS[:2], model="m")


# --- predictions -------------------------------------------------------------------------------


def guessing() -> Lesson:
    side = Prediction(question="Which way?", options=("up", "down"), outcome="up", why="So it is.")
    size = Prediction(question="How many?", unit="days", outcome=200.0, why="So many.")
    return Lesson("98", "Guessing", {}, {"8a": side, "8b": size})


def test_a_guess_is_kept_until_it_is_changed() -> None:
    lesson = guessing()
    lesson.predict("8a", " UP ")
    assert 'You guessed "up": right' in lesson.reveal("8a").text
    lesson.predict("8a", "down")
    assert 'You guessed "down": surprised' in lesson.reveal("8a").text
    assert 'Your earlier guess, "down", stands.' in lesson.predict("8a", ...).text
    assert 'You guessed "down"' in lesson.reveal("8a").text
    assert "stands" not in guessing().predict("8a", ...).text


def test_a_guess_after_the_outcome_is_counted_as_one() -> None:
    lesson = guessing()
    lesson.predict("8a", "down")
    lesson.reveal("8a")
    lesson.reveal("8b")
    assert repr(lesson.progress()).endswith("1 of 2 guesses made.")
    lesson.predict("8b", 100)
    lesson.predict("8a", "up")
    assert repr(lesson.progress()).endswith("2 of 2 guesses made, 1 of them after the outcome.")


def test_options_that_are_numerals_accept_the_number() -> None:
    for guess in (60, 60.0, np.int64(60), "60"):
        assert 'Noted: "60"' in open_lesson("00").predict("0a", guess).text
    assert "`5` is not among the answers" in open_lesson("00").predict("0a", 5).text
    for guess in (35, "35", "35 %", "About 35%"):
        assert 'Noted: "about 35' in open_lesson("04").predict("4f", guess).text


@pytest.mark.parametrize("guess", [float("nan"), float("inf"), -(10**400)])
def test_what_cannot_be_is_refused(guess: float) -> None:
    lesson = guessing()
    lesson.predict("8b", 50)
    said = lesson.predict("8b", guess).text
    assert "cannot be. Replace it by a number of days" in said
    assert f"`{guess}"[:40] in said and "Your earlier guess, 50 days, stands." in said
    assert "50 days" in lesson.reveal("8b").text


def test_a_wrong_option_lists_the_options_and_is_not_kept() -> None:
    lesson = guessing()
    lesson.predict("8a", "down")
    said = lesson.predict("8a", "sideways").text
    assert "sideways" in said and '`"up"`' in said and '`"down"`' in said
    assert 'Your earlier guess, "down", stands.' in said
    assert 'You guessed "down"' in lesson.reveal("8a").text


BESIDE = {200: "exactly right", 200.0000001: "exactly right", 170: "close", -3: "surprised",
          50: "too low, by a factor of 4.0", 1000: "too high, by a factor of 5.0"}  # fmt: skip


@pytest.mark.parametrize("guess", BESIDE)
def test_a_number_is_put_beside_the_outcome(guess: float) -> None:
    lesson = guessing()
    lesson.predict("8b", guess)
    assert BESIDE[guess] in lesson.reveal("8b").text
    assert "200 days" in lesson.reveal("8b").text


def test_what_the_experiment_showed_wins() -> None:
    lesson = guessing()
    lesson.predict("8b", 100)
    said = lesson.reveal("8b", np.int64(110)).text
    assert "110 days" in said and "close" in said
    assert '"down"' in lesson.reveal("8a", "down").text


def test_a_missing_prediction_is_named() -> None:
    for said in (guessing().predict("8z", 1), guessing().reveal("8z"), toy().predict("8a")):
        assert "no prediction 8" in said.text


# --- hints and progress ------------------------------------------------------------------------


def test_hints_go_up_in_levels() -> None:
    lesson = toy()
    assert lesson.hint("9.1").text == "a"
    assert repr(lesson.hint("9.1", 2)) == "Hint 2 of 2 for 9.1: b"
    assert lesson.hint("9.1", 7).text.startswith("b Hints are numbered from 1 to 2")
    assert lesson.hint("9.1", 0).text.startswith("a Hints")
    assert lesson.hint("9.1", "two").text.startswith("a Hints")  # type: ignore[arg-type]
    assert "no exercise 7.7" in lesson.hint("7.7").text


def test_a_finished_core_is_whole_whatever_the_second_notebook_asks() -> None:
    lesson = open_lesson("04")
    for cid in lesson.checks.keys() - set(lesson.second):
        lesson.check(cid, first_right("04", cid))
    for pid in lesson.predictions.keys() - set(lesson.second):
        lesson.predict(pid, lesson.predictions[pid].outcome or [0.1] * 10)  # 4b is a line
    said = repr(lesson.progress())
    assert "2 of 2 exercises correct, 3 of 3 guesses made.\nfurther: 0 of 2 " in said
    assert "further" not in repr(open_lesson("00").progress())


# --- what is kept over a restart -----------------------------------------------------------------


@pytest.fixture
def workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALIBKIT_WORKBOOK", str(tmp_path))
    return tmp_path / ".progress"


def test_nothing_is_stored_outside_a_workbook(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("CALIBKIT_WORKBOOK", raising=False)
    monkeypatch.chdir(tmp_path)
    lesson = open_lesson("00")
    lesson.predict("0a", "60")
    lesson.reveal("0a")
    lesson.check("0.1", 1 / 6)
    assert list(tmp_path.iterdir()) == []


def test_progress_survives_a_restart(workbook: Path) -> None:
    lesson = open_lesson("00")
    assert not workbook.exists(), "looking writes nothing"
    lesson.predict("0a", "70")
    lesson.reveal("0a")
    lesson.check("0.1", 1 / 6)
    again = open_lesson("00")
    assert repr(again.progress()) == repr(lesson.progress())
    assert 'You guessed "70"' in again.reveal("0a").text
    for blank in (..., learn.exercises.MISSING):  # the setup cell, then cells in any order
        again.check("0.1", blank)
    assert "✓ Correct" in repr(open_lesson("00").progress())
    again.check("0.1", 5 / 36)
    assert "≈ Almost" in repr(open_lesson("00").progress())
    assert [path.name for path in workbook.iterdir()] == ["00.json"]
    assert json.loads((workbook / "00.json").read_text()) == {
        "guesses": {"0a": "70"},
        "revealed": {"0a": "70"},
        "states": {"0.1": "Almost"},
        "points": {},
    }


def test_a_self_assessment_survives_too(workbook: Path) -> None:
    lesson = essay()
    object.__setattr__(lesson, "record", Record(workbook.parent / "99.json"))
    lesson.check("9.1", TEXT, contains=[1, 2])
    later = Lesson("99", "Toy", lesson.checks, {}, Record(workbook.parent / "99.json"))
    assert "☑ 2 of 3 points" in repr(later.progress())


def test_two_kernels_lose_nothing(workbook: Path) -> None:
    first, second, other = open_lesson("01"), open_lesson("01"), open_lesson("02")
    first.check("1.1", 0.5)
    other.check("2.2", 0.5)
    second.check("1.2", "x")
    first.check("1.3", 0.5)
    states = json.loads((workbook / "01.json").read_text())["states"]
    assert set(states) == {"1.1", "1.2", "1.3"}
    assert "2.2" in json.loads((workbook / "02.json").read_text())["states"]


@pytest.mark.parametrize(
    "content",
    ["", "{", '{"guesses": {"0a": ["1"]}, "revealed": {}, "states": {}, "points": {}}',
     "[1]", "null", '{"guesses": {}}', "\x00", '{"guesses": 1, "revealed": 2}',
     '{"guesses": {}, "revealed": {}, "states": {"0.1": "Great"}, "points": {}}',
     '{"guesses": {}, "revealed": {}, "states": {"0.1": []}, "points": {"0.1": 3}}'],
)  # fmt: skip
def test_a_damaged_file_is_set_aside(workbook, content, capsys) -> None:
    workbook.mkdir()
    (workbook / "00.json").write_text(content)
    lesson = open_lesson("00")
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and "could not be read. It is now called 00.damaged.json" in said
    lesson.check("0.1", 1 / 6)
    assert "✓ Correct" in repr(open_lesson("00").progress())
    assert (workbook / "00.damaged.json").read_text() == content
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("where", ["folder is a file", "file is a folder", "no workbook"])
def test_a_place_that_cannot_be_written_gives_one_sentence(
    workbook: Path, where: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "folder is a file":
        workbook.write_text("")
    elif where == "file is a folder":
        (workbook / "00.json").mkdir(parents=True)
    else:
        monkeypatch.setenv("CALIBKIT_WORKBOOK", str(workbook / "nowhere"))
    lesson = open_lesson("00")
    for answer in (5 / 36, 1 / 6):
        lesson.check("0.1", answer)
    lesson.predict("0a", 60)
    said = capsys.readouterr().out
    assert said.count("Your progress cannot be kept in") == said.count("\n") == 1
    assert "1 of 1 exercises correct, 1 of 1" in repr(lesson.progress())


def test_an_entry_of_another_course_breaks_nothing(workbook: Path) -> None:
    workbook.mkdir()
    foreign = {"guesses": {"0a": 1, "9z": "x"}, "revealed": {"0a": {}}, "points": {"0.1": [7]},
               "states": {"0.1": "Self-assessed", "7.7": "Correct"}}  # fmt: skip
    (workbook / "00.json").write_text(json.dumps(foreign))
    lesson = open_lesson("00")
    assert lesson.progress()._repr_html_() and repr(lesson.reveal("0a"))
    assert repr(lesson.predict("0a", ...)) and repr(lesson.check("0.1", 1 / 6))


# --- lessons by number -------------------------------------------------------------------------


def test_a_lesson_is_found_by_its_number_or_those_that_exist_are_listed() -> None:
    assert {open_lesson(number).id for number in ("01", "1", 1)} == {"01"}
    for number in ("77", "one", 77, "", None):
        with pytest.raises(ValueError, match="00, 01"):
            open_lesson(number)


# --- looks -------------------------------------------------------------------------------------


def test_text_and_html_say_the_state_in_words_and_a_symbol() -> None:
    for state, answer in {State.WRONG_KIND: "x", State.ALMOST: 0.4, State.CORRECT: 0.5}.items():
        said = toy().check("9.1", answer)
        html = said._repr_html_()
        assert repr(said).startswith(f"{state}: ")
        assert f"<strong>{state}:</strong>" in html and messages.SYMBOLS[state] in html
        assert 'role="status"' in html


def test_html_is_escaped_and_code_is_marked() -> None:
    said = toy(lambda answer: "use `<b>` & `x`").check("9.1", 1)
    html = re.sub("<code [^>]*>", "<code>", said._repr_html_())
    assert "<code>&lt;b&gt;</code> &amp; <code>x</code>" in html


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("page", ["#ffffff", "#121212"])
def test_borders_are_visible_on_light_and_dark_pages(page: str) -> None:
    for answer in (..., "x", 0.4, 0.5):
        html = toy().check("9.1", answer)._repr_html_()
        border = re.findall(r"#[0-9a-f]{6}", html)[0]
        low, high = sorted([luminance(border), luminance(page)])
        assert (high + 0.05) / (low + 0.05) >= 3, border
        assert "background: none" in html or "background" not in html
        assert html.count("color: inherit") == 1 + html.count("<code")


# --- reading answers ---------------------------------------------------------------------------


def test_functions_are_called_on_copies() -> None:
    with pytest.raises(answers.Almost, match="changes its input"):
        answers.call(lambda values: values.sort(), [3, 1, 2], shown="`f([3, 1, 2])`")
    with pytest.raises(answers.Unfinished):
        answers.call(lambda x: ..., 1, shown="`f`")
    with pytest.raises(answers.WrongKind, match="Unspeakable"):
        answers.call(raises_unspeakable, 1, shown="`f`")


HALF = [0.5, np.float32(0.5), Decimal("0.5"), np.array(0.5), np.array([[0.5]]), [0.5], ["1/2"],
        "0.5", " 1/2 "]  # fmt: skip
NO_NUMBER = [True, "one", "", "1/0", None, [], [1, 2], iter([1]), np.array([1.0, 2]), 1j,
             float("nan"), -np.float32(np.inf)]  # fmt: skip
PAIR = ([0.0, 1.0], (0, 1), np.array([0, 1]), pd.Series([0, 1]), range(2), [False, True])
# Per reader: what it accepts as what, and what it refuses with which words.
READERS: dict[str, tuple[Any, list[tuple[Any, Any]], list[Any], str]] = {
    "number": (answers.as_number, [(v, 0.5) for v in HALF], [*NO_NUMBER, "50 %"], "this is|usable"),
    "probability": (
        answers.as_probability,
        [*((v, 0.5) for v in HALF), ("16.7%", 0.167), (" 16.7 % ", 0.167)],
        NO_NUMBER,
        "this is|usable",
    ),
    "truth": (
        answers.as_truth,
        [(v, True) for v in (True, np.True_, np.array(True), np.array([True]), [True])],
        [1, 0.0, "True", None, [True, False], np.array([True, False])],
        "it should be `True` or `False`",
    ),
    "numbers": (
        lambda value: answers.as_numbers(value).tolist(),
        [
            *((v, [0.0, 1.0]) for v in PAIR),
            ({"a": 1}.values(), [1.0]),
            (["1/4", 3], [0.25, 3.0]),
            ("1/4, 3", [0.25, 3.0]),
        ],
        [{1, 2}, iter([1]), "12", {1: 2}, 3, np.array(3.0)],
        "it should be",
    ),
    "option": (
        lambda value: answers.as_option(value, ["up", "down"]),
        [("UP", "up"), (" down ", "down"), (["up"], "up"), (np.array("up"), "up")],
        ["left"],
        "Choose one of `up`, `down`",
    ),
    "function": (answers.as_function, [(len, len)], [3, int, None], "it should be a function"),
}


@pytest.mark.parametrize("reader", READERS)
def test_answers_are_read_or_refused(reader: str) -> None:
    read, accepted, refused, words = READERS[reader]
    for value, wanted in accepted:
        assert read(value) == wanted
    for value in refused:
        with pytest.raises(answers.WrongKind, match=words):
            read(value)


def test_table_rounds_numbers_and_results_but_no_fraction() -> None:
    error = expected_calibration_error([0, 1, 1], [0.25, 0.5, 0.75])
    one = ("model", error, Fraction(1, 3), 7, True)
    rows = [one, ("other", np.float32(0.5), "none", 12, False)]
    printed = learn.table(("name", "ECE", "exact", "rows", "fits"), rows, digits=2)
    assert printed.split("\n") == [
        "name    ECE  exact  rows   fits",
        f"model  {error.value:.2f}    1/3     7   True",
        "other  0.50   none    12  False",
    ]
    assert (
        learn.table(("name", "x"), {"a": 0.25, "b": np.float64(1)}, 1)
        == "name    x\na     0.2\nb     1.0"
    )


@given(found=st.floats(-1e6, 1e6), gap=st.floats(1e-12, 10), digits=st.integers(0, 6))
def test_apart_tells_any_two_numbers_apart(found: float, gap: float, digits: int) -> None:
    texts = answers.apart(found, found + gap, digits)
    assert found == found + gap or float(texts["found"]) < float(texts["wanted"])


def test_single_precision_agrees() -> None:
    values = np.random.default_rng(0).random(1000)
    assert answers.agree(values.astype(np.float32), values)


@pytest.mark.slow
def test_torch_and_result_objects_are_numbers() -> None:
    torch = pytest.importorskip("torch")
    assert answers.as_number(torch.tensor(0.25)) == 0.25
    assert answers.as_number(log_loss([1], [1.0])) == 0
    assert answers.as_numbers(torch.tensor([0.25, 0.5])).tolist() == [0.25, 0.5]
    trained = torch.tensor([0.25, 0.5], requires_grad=True)
    assert answers.as_numbers(trained).tolist() == [0.25, 0.5]
    assert answers.as_number(trained.sum()) == 0.75
    assert answers.as_truth(torch.tensor(True)) is True


ORDERED = OrderedDict(a=1)
OPTIMUM = minimize_scalar(lambda x: (x - 1) ** 2)


def test_answers_are_described_in_words() -> None:
    cases = {
        "text": "a", "a number": 2, "`True`": True, "an array of shape (2,)": np.zeros(2),
        "an empty list": [], "a dict of 1": {1: 2}, "the class `int` (call it to make one)": int,
        "a function (call it, or pass what it returns)": len,
        "an object of type SimpleNamespace": SimpleNamespace(), "an OrderedDict of 1": ORDERED,
        "the whole result of an optimiser (its best place is in `.x`)": OPTIMUM,
    }  # fmt: skip
    for words, value in cases.items():
        assert answers.found(value) == words
