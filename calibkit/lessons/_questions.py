"""The questions of a lesson, from the file `questions.toml` in its folder."""

import tomllib
from pathlib import Path
from typing import Any

from calibkit.learn import Option, Question

FOLDER = Path(__file__).resolve().parent


def read_questions(lesson: str) -> tuple[Question, ...]:
    """Return the questions of a lesson, e.g. of ``"04"``, in order."""
    text = (FOLDER / f"lesson{lesson}" / "questions.toml").read_text(encoding="utf-8")
    return tuple(question(**entry) for entry in tomllib.loads(text)["question"])


def question(
    *,
    id: str,
    text: str,
    solution: str = "",
    options: list[dict[str, Any]] | None = None,
    answer: float | None = None,
    tolerance: float | None = None,
    unit: str = "",
    right: str = "",
    slips: list[dict[str, Any]] | None = None,
) -> Question:
    """Return a question as it stands in a file; an unknown or missing entry raises."""
    if options is not None:
        if answer is not None:
            raise ValueError(f"{id} has options and a number")
        given = [Option(**option) for option in options]
    else:
        if answer is None or tolerance is None:
            raise ValueError(f"{id} has neither options nor a number with a tolerance")
        given = [Option(text=f"{answer:g}", says=right, right=True)]
        given += [Option(text=f"{slip['value']:g}", says=slip["says"]) for slip in slips or []]
    return Question(id=id, text=text, options=tuple(given), tolerance=tolerance, unit=unit,
                    solution=solution)  # fmt: skip
