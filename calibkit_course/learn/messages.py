"""The catalogue: every word that the machinery of `calibkit_course.learn` says to a learner.

A translation replaces this module and the tables ``SAY`` of the lesson modules. No other module
of this room holds a sentence, which a test checks. Texts in backticks become code in HTML.
"""

from enum import StrEnum


class State(StrEnum):
    """The answers of a check, in words; the last two belong to exercises in free text."""

    NOT_DEFINED = "Not defined"
    NOT_ATTEMPTED = "Not attempted"
    WRONG_KIND = "Wrong kind"
    ALMOST = "Almost"
    CORRECT = "Correct"
    COMPARE = "Compare"
    SELF_ASSESSED = "Self-assessed"


SYMBOLS = {
    State.NOT_DEFINED: "∅",
    State.NOT_ATTEMPTED: "…",
    State.WRONG_KIND: "≠",
    State.ALMOST: "≈",
    State.CORRECT: "✓",
    State.COMPARE: "☐",
    State.SELF_ASSESSED: "☑",
}
NOTE_SYMBOLS = {"guess": "?", "outcome": "→", "hint": "☞"}

# --- checks ------------------------------------------------------------------------------------

NO_ANSWER = (
    "there is no variable `{variable}` yet. Run the cell of exercise {id} above, "
    "then this one again."
)
NO_EXERCISE = "this lesson has no exercise {id}. It has {ids}."
BLANK = (
    "replace the `...` of `{variable}` in the cell above and run both cells. "
    'If you are stuck, call `lesson.hint("{id}")`.'
)
PARTLY_BLANK = "a part of `{variable}` still holds `...`. Fill it in and run both cells."
DONE = "well done."
TOLERANCE = "(Numbers count as equal within {tolerance}.)"
RAISED = "looking at this answer raised {kind}{message}."

# --- free text: compared by the learner, graded by nobody ---------------------------------------

COMPARE = "your text of {count} words is noted. Which of these points does it make?"
POINT = "{number}. {point}"
MODEL = "A model answer: {model}"
TICK = (
    "Put the numbers of the points that your text makes into "
    '`lesson.check("{id}", contains=[1, {last}])`, or `contains=[]` if it makes none of them.'
)
SELF_ASSESSED = "{made} of {count} points, by your own reading."
STILL_MISSING = "{made} of {count} points, by your own reading. These are still missing:"
TEXT_WANTED = "a text in quotes"
NO_TEXT = "the text is still empty. Write a whole sentence; then the points appear."
FEW_WORDS = "your text has only {count} words. Write a whole sentence; then the points appear."
PICKS_WANTED = "the numbers of points, such as `[1, {count}]`"
NO_SUCH_POINT = "there is no point {number}; the points are numbered from 1 to {count}."
NOTHING_TO_TICK = 'exercise {id} has no points to tick. Call `lesson.check("{id}")`.'

# --- what a wrong kind was ---------------------------------------------------------------------

WANTED = "this is {found}; it should be {wanted}."
FOUND_NONE = "`None` (a function without `return` gives `None`)"
FOUND_TEXT = "text"
FOUND_BOOL = "`{value}`"
FOUND_NUMBER = "a number"
FOUND_FUNCTION = "a function (call it, or pass what it returns)"
FOUND_EMPTY = "an empty {kind}"
FOUND_MANY = "{article} {kind} of {count}"
FOUND_OPTIMUM = "the whole result of an optimiser (its best place is in `.x`)"
FOUND_SHAPE = "an array of shape {shape}"
FOUND_OTHER = "an object of type {kind}"
ONE_COLUMN = (
    "this is an array of shape {shape}, a table of one column; it should be {wanted}. "
    "`.ravel()` makes it flat."
)
NUMBER = "a number"
TRUTH = "`True` or `False`"
NUMBERS = "a list or array of numbers"
TEXT = "text in quotes"
FUNCTION = "a function"
MAPPING = "a dict"
NOT_FINITE = "`{value}` is no usable number. Look for a division by zero or a logarithm of 0."
NOT_EQUAL_LENGTH = "there are {count} values, but {length} are wanted."
NO_SUCH_OPTION = "`{value}` is not among the answers. Choose one of {options}."

# --- functions under test ----------------------------------------------------------------------

FUNCTION_RAISED = "your function raised {kind}{message} for {call}."
FUNCTION_MUTATED = (
    "your function changes its input. Work on a copy: `x = x.copy()`, or make a new list."
)
RETURNED_NOTHING = (
    "for {call}, your function returns nothing, because `return` is missing. "
    "It should return {wanted}."
)

# --- the questions at the end ------------------------------------------------------------------

QUIZ = "Questions"
QUIZ_INVITATION = (
    'replace each `...` by a letter such as `"b"`, or by a number, and run the cell again.'
)
QUESTION = "{id}: {text}"
IN_UNIT = " Answer in {unit}."
LETTER = 'the letter of an answer, such as `"b"`'
QUESTION_RIGHT = "Right. {says}"
QUESTION_WRONG = "Not yet. {says}"
ANOTHER_NUMBER = "Not yet. This is another number. Look at the question once more."
# Said to those who write questions.
NOT_ONE_RIGHT = "question {id} needs exactly one right answer."
OPTIONS_AND_NUMBER = "question {id} has options and a number; leave one out."
NO_ANSWER_GIVEN = "question {id} has neither options nor a number with a tolerance."

# --- the file of a workbook --------------------------------------------------------------------

NOT_KEPT = "Your progress cannot be kept in {path} ({reason}). The lesson works without it."
DAMAGED = "{path} could not be read. It is now called {other}, and your progress starts anew."

# --- predict, reveal, hint, progress -----------------------------------------------------------

PREDICTION = "Prediction {id}"
OUTCOME = "Outcome {id}"
HINT = "Hint {level} of {count} for {id}"
NO_PREDICTION = "this lesson has no prediction {id}. It has {ids}."
NONE_AT_ALL = "none"
REPLACE_BY_OPTION = "Replace `...` by one of {options}. A wrong guess costs nothing."
REPLACE_BY_NUMBER = "Replace `...` by a number of {unit}. A wrong guess costs nothing."
NOTED = "Noted: {guess}. Run the next cells and compare."
NOT_AN_OPTION = "{guess} is not among the answers. Replace it by one of {options}."
NOT_A_NUMBER = "{guess} is not a number. Replace it by a number of {unit}, for example 10."
NOT_POSSIBLE = "{guess} cannot be. Replace it by a number of {unit}, for example 10."
STANDS = "Your earlier guess, {guess}, stands."
OPTION_SEPARATOR = ", "
HAPPENED = "{outcome}."
NO_GUESS = "You made no guess, which is fine. A guess before the next experiment makes it stick."
GUESSED_RIGHT = "You guessed {guess}: right."
GUESSED_WRONG = "You guessed {guess}: surprised?"
GUESSED_EXACT = "You guessed {guess}: exactly right."
GUESSED_NEAR = "You guessed {guess}: close."
GUESSED_LOW = "You guessed {guess}: too low, by a factor of {factor}."
GUESSED_HIGH = "You guessed {guess}: too high, by a factor of {factor}."
NO_SUCH_LEVEL = "Hints are numbered from 1 to {count}; here is the nearest."
PROGRESS = "Lesson {id}, {title}"
PROGRESS_COUNT = "{correct} of {count} exercises correct, {guesses} of {predictions} guesses made"
PROGRESS_LATE = ", {late} of them after the outcome"
PROGRESS_POINTS = "{made} of {count} points"
PROGRESS_HEADINGS = ("exercise", "state", "task")
NO_LESSON = "there is no lesson {id!r}; there are {ids}."
