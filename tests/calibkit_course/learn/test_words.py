"""What lessons say: one file of words for each, whose keys and code agree."""

import ast
import re
from collections.abc import Iterator
from string import Formatter

import pytest

from calibkit_course import lessons, open_lesson
from calibkit_course.learn import messages
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.words import COURSE, read_words, words_of
from tests.helpers import each_case
from tests.paths import ROOT

TEXT = '''
title = "Toy"
second = ["9b"]
[exercise."9.1"]
task = "Half"
variable = "half"
hints = ["one", "two"]
[exercise."9.1".say]
low = """
    {found} is below a half,
    by 10 %."""
[guess.9b]
question = "How?"
options = ["so", "not"]
outcome = "so"
why = "It is."
'''


def said(node: ast.expr) -> Iterator[str]:
    """Go through the keys that `SAY[...]` spells out: one, or one of two."""
    if isinstance(node, ast.IfExp):
        yield from (*said(node.body), *said(node.orelse))
    elif isinstance(node, ast.BoolOp):
        yield from (key for value in node.values for key in said(value))
    elif isinstance(node, ast.Constant):
        yield str(node.value)


@pytest.mark.parametrize("name", lessons())
def test_each_sentence_of_the_code_is_there_and_none_is_there_for_nothing(name: str) -> None:
    used, texts, forms = set(), set(), set()
    for path in (COURSE / f"lesson{name}").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "SAY":
                used.update(said(node.slice))
                filled = [one for one in ast.walk(node.slice) if isinstance(one, ast.JoinedStr)]
                forms |= {re.sub(r"\{.+?\}", ".+", ast.unparse(one)[2:-1]) for one in filled}
            elif isinstance(node, ast.Constant):
                texts.add(node.value)
    say = read_words(name).say
    assert used - say.keys() == set()
    unused = say.keys() - used - texts
    assert {key for key in unused if not any(re.fullmatch(form, key) for form in forms)} == set()


def test_the_machinery_says_what_stands_in_its_file_and_nothing_else() -> None:
    places = [
        path
        for name in ("calibkit_course", "tools", "book")
        for path in (ROOT / name).rglob("*.py")
    ]
    code = "".join(path.read_text("utf-8") for path in places)
    used = set(re.findall(r"\bmessages\.([A-Z_]+)\b", code)) - vars(messages).keys()
    assert used - messages.WORDS.keys() == set()
    verdicts = {"OWN_OVER", "OWN_UNDER", "OWN_OPEN"}
    named = {name for name in messages.WORDS if f'"{name}"' in code}
    assert messages.WORDS.keys() == used | named | verdicts
    with pytest.raises(AttributeError, match="NOTHING"):
        messages.NOTHING  # noqa: B018


@pytest.mark.parametrize("name", lessons())
def test_the_words_of_a_lesson_are_whole(name: str) -> None:
    words, lesson = read_words(name), open_lesson(name, keep=False)
    assert set(words.second) <= lesson.checks.keys() | lesson.predictions.keys()
    for sentence in words.say.values():
        assert sentence and list(Formatter().parse(sentence))  # its braces are in pairs
        assert "  " not in sentence


def test_a_line_break_is_a_blank_and_no_break_spaces_stay() -> None:
    words = words_of(TEXT, "toy")
    assert words.say["low"] == "{found} is below a half, by 10\N{NO-BREAK SPACE}%."
    assert words.checks({"9.1": str})["9.1"].hints == ("one", "two")
    line = words_of(TEXT + 'x = [1, 2]\naxes = ["day", "share"]\n', "toy").predictions["9b"]
    assert isinstance(line, Drawing) and line.x == (1, 2)


WRONG = {
    "no TOML": ("= [", "= [[", "toy/words.toml: "),
    "unknown part": ("title", "heading", "toy/words.toml: .*'heading'"),
    "no title": ('title = "Toy"', "", "toy/words.toml: .*'title'"),
    "key in a guess": ("why", "because", "toy/words.toml: 9b: .*'because'"),
    "outcome": ('outcome = "so"', 'outcome = "no"', "toy/words.toml: 9b: .*`no`"),
    "list": ('options = ["so", "not"]', 'options = "so"', "9b: `options` wants a list"),
    "second": ('second = ["9b"]', 'second = "9b"', "toy/words.toml: `second` wants a list"),
    "no list": ('"It is."', '["It is."]', "toy/words.toml: 9b: `why` wants one value"),
    "twice": (
        "[guess.9b]",
        '[say]\nlow = "Low."\n[guess.9b]',
        "toy/words.toml: .*`low` must be the name of one",
    ),
    "a number": ("[guess.9b]", "high = 3\n[guess.9b]", "toy/words.toml: 9.1: .*`high`"),
}


@each_case("old, new, message", WRONG.values())
def test_an_error_names_the_file_and_the_key(old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        words_of(TEXT.replace(old, new, 1), "toy/words.toml")


def test_exercises_and_judges_belong_together() -> None:
    words = words_of(TEXT, "toy/words.toml")
    with pytest.raises(ValueError, match="toy/words.toml: 9.1: .*either a judge or points"):
        words.checks({})
    with pytest.raises(ValueError, match="toy/words.toml: 9.2: .*'task'"):
        words.checks({"9.1": str, "9.2": str})
    with pytest.raises(KeyError, match="toy/words.toml has no sentence called `high`"):
        words.say["high"]
