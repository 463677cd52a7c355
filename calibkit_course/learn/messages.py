"""The catalogue: every word that the machinery of `calibkit_course.learn` says to a learner.

A translation replaces this module and the file `words.toml` of each lesson. No other module
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

# --- in a page, where an exercise has buttons -----------------------------------------------------

PAGE_NO_ANSWER = "your code makes no `{variable}`. Assign your answer to it."
PAGE_BLANK = (
    "replace the `...` of `{variable}`, then run and check again. A hint helps who is stuck."
)
PAGE_TICK = "Tick the points that your text makes."
PAGE_ERROR = "Line {line}: {error}"
PAGE_CODE = "your code"
PAGE_FIGURE = "What your code has drawn"

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
FEW_WORDS = "your text has only {count}. Write a whole sentence; then the points appear."
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
FOUND_ITERATOR = "a {kind}, which can be read only once (put `list(...)` around it)"
FOUND_CLASS = "the class `{kind}` (call it to make one)"
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
ONE_VALUE = "there is 1 value, but {length} are wanted."
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
QUESTION = "Question {number}: {text}"
IN_UNIT = " Answer in {unit}."
LETTER = 'the letter of an answer, such as `"b"`'
QUESTION_RIGHT = "Right. {says}"
QUESTION_WRONG = "Not yet. {says}"
ANOTHER_NUMBER = "Not yet. This is another number. Look at the question once more."
# Said to those who write questions.
NOT_ONE_RIGHT = "question {id} needs exactly one right answer."
OPTIONS_AND_NUMBER = "question {id} has options and a number; leave one out."
NO_ANSWER_GIVEN = "question {id} has neither options nor a number with a tolerance."

# --- said to those who write the `words.toml` of a lesson ---------------------------------------

NO_SENTENCE = "{file} has no sentence called `{key}`."
NOT_ONE_SENTENCE = "`{key}` must be the name of one sentence, in quotes, in the whole lesson."
LIST_WANTED = "`{key}` wants a list, in brackets."
NOT_AN_EXERCISE = "an exercise has two hints or more, and either a judge or points to tick."
NOT_A_RUBRIC = "a text has three to six points to tick, not {count}."
NOT_AN_OUTCOME = "the outcome `{outcome}` is none of the options."
NO_LIST_WANTED = "`{key}` wants one value, without brackets."

# --- the file of a workbook --------------------------------------------------------------------

NOT_KEPT = "Your progress cannot be kept in {path} ({reason}). The lesson works without it."
DAMAGED = "{path} could not be read. It is now called {other}, and your progress starts anew."

# --- one's own calibration ---------------------------------------------------------------------

WHY_SURE = (
    "Add how sure you are, as in `sure=0.7`: the guess becomes a forecast, "
    "and `my_calibration()` shows whether your 70 % deserve their name."
)
SURE = "You are {sure} % sure."
SURE_OF_NUMBER = "You are {sure} % sure that it lies within a factor of 1.25 of the outcome."
SURE_LATE = "The outcome has been shown before, so this does not change your forecasts."
SURE_NO_NUMBER = "{sure} is no probability. Write a number such as `sure=0.7`. The guess is kept."
SURE_PER_CENT = "{sure} looks like per cent; write `sure={share}`. The guess is kept."
SURE_TOO_LARGE = (
    "{sure} is more than {largest}, the largest that is taken: "
    "one wrong guess with 1 would cost infinitely much. The guess is kept."
)
SURE_BELOW_CHANCE = (
    "{sure} is less than pure guessing among {options} options gives, {least}; "
    "then another option must be likelier. The guess is kept."
)
SURE_TOO_SMALL = "{sure} is less than {least}, the smallest that is taken. The guess is kept."
CSV_HEAD = "line 1 is `{found}`; a file of forecasts begins with `{wanted}`."
CSV_LINE = "line {line} {problem} Mend it, and read the file again."
CSV_FIELDS = "has {count} fields; it needs {wanted}, with commas between them."
CSV_NAME = "is called `{name}`; a name is short, without blanks, and no other line has it."
CSV_OPTIONS = "has `{found}` options; it needs a whole number from 2 to {most}."
CSV_SURE = "has the confidence `{found}`; it needs a probability such as 0.7, not above 1."
CSV_RIGHT = "has `{found}` for right; it needs 1, 0, or nothing while the outcome is unknown."
CSV_NO_TEXT = "{path} is no text in UTF-8, so it holds no forecasts. Name the CSV file."
NO_FORECASTS = "there is no forecast with a known outcome. Guess with `sure=0.7`, then reveal."
IMPORTED = "{new} forecasts added; {known} were known already and stay as they are."
OWN_YOURS = "{n} of yours, {right} of them right."
OWN_STAND_IN = (
    "You have made no forecasts yet. Here is a stand-in, a simulated learner who is too sure: "
    "{n}, {right} of them right."
)
OWN_MEANS = "Their mean confidence is {sure} %, and {right} % of them were right."
OWN_VERDICTS = {
    "over": "That is {size} points too sure, with a 95 % interval from {low} to {high}: "
    "over-confident.",
    "under": "That is {size} points less sure than deserved, with a 95 % interval "
    "from {low} to {high}: under-confident.",
    "open": "The difference, {gap} points, has a 95 % interval from {low} to {high}. "
    "It holds 0, so nobody can tell yet whether this is over- or under-confidence.",
}
OWN_LITTLE = (
    "Luck alone moves the share of right guesses by up to {reach} points in 19 of 20 cases, "
    "even for a perfectly calibrated person."
)
OWN_SCORES = (
    "Log loss {log} ({log_chance} for always saying 1/k), "
    "Brier score {brier} ({brier_chance}); smaller is better."
)
OWN_BINS = "The mean gap in five bins (ECE) is {ece}; chance alone would show {null}."
INFINITE = "infinite"
OWN_AXES = ("how sure", "share right")
OWN_TITLE = "Your calibration: {n}"
OWN_TITLE_STAND_IN = "A stand-in, simulated: {n}"
CLASS_POOLED = "all forecasts"
CLASS_STUDENTS = "each student, with a 95 % interval"
CLASS_AXIS = "mean confidence minus share right"
CLASS_ONE = (
    "{n} of {students}: mean confidence minus share right is {gap} points. "
    "An interval needs two students and two questions."
)
CLASS_GAP = (
    "{n} of {students}: mean confidence minus share right is {gap} points. "
    "Its 95 % interval is {low} to {high}. "
    "It counts students as clusters, and questions too, for a hard one misleads many at once. "
    "Over-confident beyond chance, each taken alone: {over}; under-confident: {under}; "
    "luck alone would make it about 3 in 100."
)
TEMPERATURE = "temperature {value} (95 % interval {low} to {high}, {n})."

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
# A line that is drawn: its places are those of the words in braces, also in `draw.js`.
REPLACE_BY_HEIGHTS = (
    "Draw it where the canvas takes a line, or replace `...` by a list of {count} heights from 0 "
    "to {top}, for {axis} {places}. A wrong guess costs nothing."
)
HALF_WAY = "Only {there} of {count} heights are there; a line left half-way counts as none."
OUTSIDE = "The height {height} at {where} lies off the axis, which runs from 0 to {top:g}."
NO_LINE = "This is no line; give a list of {count} numbers."
NOT_COMPUTED = "not computed yet"
NO_TRUTH = "Run the cell above that computes the truth, then this one again."
LINE_NEAR = (
    "You came close: your line is off by {off} on average (the best level line: {flat}), and most "
    "where {place}: you drew {you}, it is {it}."
)
LINE_OFF = (
    "Your line is off by {off} on average (the best level line: {flat}), and most "
    "where {place}: you drew {you}, it is {it}."
)
SURE_OF_LINE = "A line needs no confidence: its distance from the truth is its score."
CANVAS = "Your guess: {y} over {x}. {says}."
DRAWN_NOTHING = "Nothing is drawn yet"
LAID_OVER = "the line with squares."
LINES = "Yours: {you}. The truth: {truth}"
YOU = "you"
TRUTH_LINE = "the truth"
DRAW_HOW = "Press and drag, or use the arrow keys: {there} of {count} heights are there."
DRAWN_ALL = "Your line is complete."
DRAW_CLEAR = "Clear"
DRAW_AT = "at {place}: {height}"
DRAW_OPEN = "nothing yet"
NO_SUCH_LEVEL = "Hints are numbered from 1 to {count}; here is the nearest."
PROGRESS = "Lesson {id}, {title}"
PROGRESS_COUNT = "{correct} of {count} exercises correct, {guesses} of {predictions} guesses made"
PROGRESS_CORE = "{task}"
PROGRESS_FURTHER = "further: {task}"
PROGRESS_LATE = ", {late} of them after the outcome"
PROGRESS_POINTS = "{made} of {count} points"
PROGRESS_HEADINGS = ("exercise", "state", "task")
NO_LESSON = "there is no lesson {id!r}; there are {ids}."
