"""Predict, reveal, check: the machinery behind the exercises, and what each lesson checks.

In a notebook::

    from calibkit import learn

    lesson = learn.lesson("04")
    lesson.predict("4a", ...)      # replace ... by a guess; leaving it is fine
    lesson.reveal("4a")            # the guess beside what happened, and why
    lesson.check("4.1", answer)    # one of five states, never an exception
    lesson.hint("4.1", 2)          # the second hint
    lesson.progress()              # a table; nothing is written to disk

A check answers *Not defined* (there is no answer yet: ``lesson.check("4.1")`` finds no variable),
*Not attempted* (the answer is ``...``), *Wrong kind* (it cannot be compared), *Almost* (with a
pointed hint) or *Correct*. Whatever the answer is, it never raises. Messages show themselves as
text and as HTML; both depend on the answer only, so notebooks store and compare both strictly.

How to add a lesson
-------------------
1. Write ``calibkit/learn/lessonNN.py`` with three names: `TITLE` (str), `CHECKS` (dict from
   ``"N.1"`` to `Check`) and `PREDICTIONS` (dict from ``"Na"`` to `Prediction`). Nothing else has
   to be registered: `lesson` finds the module by its name.
2. Import what a lesson module needs from `calibkit.learn.exercises` (`Check`, `Prediction`) and
   `calibkit.learn.answers` (`as_number`, `as_numbers`, `as_mapping`, `as_option`, `as_function`,
   `call`, `Almost`, `WrongKind`). A judge returns None for a right answer and a hint otherwise::

       SAY = {"count": "this counts the hits; divide by the number of forecasts."}

       def judge_share(answer):
           value = as_number(answer)
           if same(value, 3, TOLERANCE):
               return SAY["count"]
           return None if same(value, 0.5, TOLERANCE) else SAY["recount"]

3. Keep all sentences in module-level tables, as `SAY` above: a test refuses text inside
   functions, so that a translation finds every word.
4. Write ``tests/test_learn_lessonNN.py`` with two dicts. ``WRONG["N.1"]`` lists at least two pairs
   ``(answer, fragment)``; each answer is refused, with the fragment in the feedback.
   ``RIGHT["N.1"]`` lists at least one right answer in another form than the solution.
   ``tests/test_learn.py`` runs all rows of all lessons and complains where some are missing.
"""

from calibkit.learn import true_or_false
from calibkit.learn._feedback import Feedback, Message, Progress
from calibkit.learn._lesson import Lesson, lesson, lessons
from calibkit.learn.exercises import Check, Prediction
from calibkit.learn.messages import State

__all__ = [
    "Check",
    "Feedback",
    "Lesson",
    "Message",
    "Prediction",
    "Progress",
    "State",
    "lesson",
    "lessons",
    "true_or_false",
]
