"""What a class guessed together: the files `class_….csv` that `dev.py class` writes."""

import csv
from pathlib import Path

COLUMNS = ["student", "forecast", "options", "sure", "right", "guess"]
LARGEST = 10 * 2**20


def read_answers(path: Path) -> tuple[list[tuple[str, ...]], list[int]]:
    """Return the forecasts whose outcome was shown, and the numbers of damaged lines.

    A forecast is its student, question, number of options, confidence, and 1 or 0 for right.
    ValueError where the file is not one of a class, or cannot be read.
    """
    from calibkit_course.learn.forecasts import COLUMNS as names, read_rows

    try:
        text = path.read_text(encoding="utf-8-sig") if path.stat().st_size <= LARGEST else ""
        head, *lines = [*csv.reader(text.splitlines())] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"it cannot be read ({error})") from None
    if head != COLUMNS:
        raise ValueError(f"its first line is not {','.join(COLUMNS)}")
    found, damaged = list[tuple[str, ...]](), list[int]()
    for number, line in enumerate(lines, start=2):
        try:
            student, *row, _ = line
            is_decided = bool(row[-1])
            if not student or not read_rows(f"{','.join(names)}\n{','.join(row)}\n"):
                raise ValueError
        except (ValueError, IndexError):
            damaged.append(number)
        else:
            found += [(student, *row)] if is_decided else []
    return found, damaged


def answers_of(
    folder: Path, roster: Path | None = None
) -> tuple[list[tuple[str, ...]], list[Path], list[str]]:
    """Return the forecasts in a folder's class files, the files, and what is to be said of each."""
    rows, read, said = list[tuple[str, ...]](), list[Path](), list[str]()
    for path in sorted(one for one in folder.glob("class_*.csv") if one.resolve() != roster):
        try:
            found, damaged = read_answers(path)
        except ValueError as problem:
            said.append(f"{path.name} is no file of `dev.py class`: {problem}.")
            continue
        left = f" Damaged and left out: line {', '.join(map(str, damaged))}." if damaged else ""
        said.append(f"{path.name}: forecasts of the class, {len(found)}.{left}")
        rows, read = rows + found, [*read, path]
    return rows, read, said
