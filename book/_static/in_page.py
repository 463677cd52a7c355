"""Runs inside the Python of a page: states of its explorers, and the audit of a file.

The explorers draw through `calibkit_course.explore.page`, which prepared the page's states; the
audit is the command `calibkit audit` itself. Texts go in and out as JSON.
"""

import contextlib
import csv
import doctest
import gzip
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import shlex
import shutil
import tempfile
import time
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(tempfile.gettempdir(), "calibkit-audit")
MARKS = ("\t", ";", ",", None)  # between pasted columns; None: any white space
NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?")
EXAMPLE_ROWS = 500
ONE_LABEL = (
    "Every label is the same. So this report proves little: it can compare the mean prediction "
    "with what happened, and cannot see whether predictions tell one outcome from the other."
)
TOO_LARGE = (
    "{name} unpacks to more than {most} MB, the most that this page reads. "
    "The command `calibkit audit` reads a file of any size."
)
ONE_COLUMN = (
    "The first row is one column, {name!r}. Which mark stands between columns? "
    "Choose it in the field “Between columns”."
)
MOST = 100_000_000  # bytes of a file, unpacked
CSV = (".csv", ".tsv", ".txt")
CURES = ("percent", "drop-missing", "rescale")  # what one key of the form can mend
FEW = 12  # different words of a column that can be offered as labels
# What a message calls an option or an argument, and what the form calls it.
FIELDS = {
    "label": "Labels",
    "prob": "Predictions",
    "logits": "They are",
    "percent": "They are",
    "positive": "The label that means yes",
    "predicted": "The predicted class",
    "group": "Groups to compare",
    "cluster": "Rows that belong together",
    "time": "When",
    "weight": "Weights",
    "classes": "Names of the classes",
    "view": "Look at",
    "costs": "Costs",
    "bins": "Bins",
    "seed": "Seed of the redraws",
    "title": "Title",
    "delimiter": "Between columns",
    "decimal": "Decimal mark",
    "drop-missing": "Leave out rows without a label or prediction",
    "rescale": "Divide rows by their sum",
}
SAID: tuple[tuple[str, Any], ...] = (
    (r" by rescale=True \(.*\)\.", ": tick “Divide rows by their sum”."),
    (r"percent signs: --percent", "for percent signs choose percentages in the field “They are”"),
    (r"delimiter=',' and decimal=','.*", "A decimal comma needs another mark "
     "between columns than a comma: choose it in the field “Between columns”."),
    (r"choose decimal=',' \([^)]*\)", "choose comma in the field “Decimal mark”"),
    (r" \(--percent\) or logits", " or logits"),
    (r"\w+=True \(command line: (--[\w-]+)\)", r"\1"),
    (r",? ?\w+=(\"…\"|\[…\]) \(command line: --(\w+)[^)]*\)", r" --\2"),
    (r":? --(\w+)$|:? --(\w+)\.$", r" in the field --\1\2."),
    (r"\(command line: --(\w+)[^)]*\)", r"(field --\1)"),
    (r"argument --", "--"),
    (r"sample_weight\[(\d+)\] =", lambda found: f"--weight, row {int(found[1]) + 1}:"),
    (r"test of time= (.*): leave out time,", r"test of --time \1: leave out --time,"),
    (r"(?<!')sample_weight", "--weight"),
)  # fmt: skip


# --- explorers -----------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def explorer(address: str, start: str) -> Any:
    """Return an explorer or a quiz by its lesson and name, as the page has it at first."""
    lesson, _, name = address.partition(":")
    made = getattr(importlib.import_module(f"calibkit_course.{lesson}"), name.replace("-", "_"))()
    values = json.loads(start)
    return made.starting_at(**values) if values else made


def controls(address: str, start: str) -> Any:
    """Return the controls with all their values."""
    from calibkit_course.explore.page import live_controls

    return live_controls(explorer(address, start))


def state(address: str, start: str, places: list[int], form: str) -> Any:
    """Return picture, alternative text and sentence of one state, and how long it took."""
    from calibkit_course.explore.page import live_state

    begun = time.perf_counter()
    drawn: dict[str, Any] = dict(live_state(explorer(address, start), places, form))
    return drawn | {"seconds": round(time.perf_counter() - begun, 3)}


def draw(address: str, step: int, form: str) -> Any:
    """Return a draw of a quiz that the page does not hold."""
    from calibkit_course.explore.page import live_draw

    return live_draw(explorer(address, "{}"), step, form)


# --- exercises -----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def workbook(lesson: str, cells: str) -> Any:
    """Return the exercises of the page, whose code cells are given as JSON."""
    from calibkit_course import open_lesson
    from calibkit_course.learn.page import Workbook

    return Workbook(open_lesson(lesson, keep=False), json.loads(cells))


def exercise(lesson: str, cells: str, method: str, *words: Any) -> Any:
    """Ask the exercises what has to run first, to run it, or to check an answer."""
    return getattr(workbook(lesson, cells), method)(*words)


# --- an example of the API ------------------------------------------------------------------------


def api_example(name: str, text: str) -> Any:
    """Run an example as its docstring has it, with prompts; return what it prints and draws."""
    from calibkit_course.learn.page import run_shown

    item = pkgutil.resolve_name(name)
    module = inspect.getmodule(getattr(item, "fget", item))
    steps = [one.source for one in doctest.DocTestParser().get_examples(text)]
    code = "\n".join(f"exec(compile({step!r}, {name!r}, 'single'))" for step in steps)
    return run_shown(code, dict(vars(module)))


# --- a file --------------------------------------------------------------------------------------


def clear() -> str:
    """Forget the file before; return the folder for the next."""
    os.chdir("/")
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "in").mkdir(parents=True)
    (FOLDER / "out").mkdir()
    os.chdir(FOLDER / "in")
    return str(FOLDER / "in")


def columns(name: str, delimiter: str, decimal: str) -> Any:
    """Return the names of a file's columns, or the sentence that says why there are none.

    Marks of a CSV file that are not given are recognised, and returned with the names.
    """
    from calibkit_audit.counts.readers import Dialect, column_names
    from calibkit_audit.saving import plain

    try:
        if unpacked(name) > MOST:
            return {"refused": TOO_LARGE.format(name=name, most=MOST // 1_000_000)}
        usual = Dialect().of(name)
        delimiter, decimal = recognised(name, delimiter, decimal, usual)
        names = column_names(name, Dialect(delimiter, decimal))
    except (ValueError, OSError, EOFError, ImportError, MemoryError) as error:
        return {"refused": in_fields(plain(str(error))) or type(error).__name__}
    if len(names) == 1 and re.search(r"[;,|\t]", names[0]):
        return {"refused": ONE_COLUMN.format(name=names[0])}
    marks = {"delimiter": "tab" if delimiter == "\t" else delimiter, "decimal": decimal}
    seen = first_words(name, names, Dialect(delimiter, decimal))
    return {"columns": names, **marks, "is_usual": delimiter == usual, **likely(seen, decimal)}


def first_words(name: str, names: list[str], dialect: Any) -> dict[str, list[str]]:
    """Return the different words of each column in the first rows of a file, without blanks."""
    from calibkit_audit.counts.readers import blocks_of

    with contextlib.suppress(ValueError, OSError, EOFError, ImportError, StopIteration):
        first = next(blocks_of(name, names, dialect=dialect)).columns.items()
        words = {column: dict.fromkeys(str(one).strip() for one in rows) for column, rows in first}
        blank = ("", "None", "nan")
        return {name: [one for one in found if one not in blank] for name, found in words.items()}
    return {}


def likely(seen: dict[str, list[str]], decimal: str) -> dict[str, Any]:
    """Return the one column of labels and the one of numbers in [0, 1], if there are such.

    Labels are 0 and 1, or else any two words. And the words of each column that has few.
    """

    def number(word: str) -> float:
        with contextlib.suppress(ValueError):
            return float(word.replace(decimal, "."))
        return -1.0

    numbers = {name: set(map(number, words)) for name, words in seen.items()}
    two = [name for name, found in numbers.items() if found == {-1.0} and len(seen[name]) == 2]
    label = [name for name, found in numbers.items() if found == {0.0, 1.0}] or two
    prob = [name for name, found in numbers.items()
            if name not in label and found and all(0 <= one <= 1 for one in found)]  # fmt: skip
    both = [label[0], prob[0]] if len(label) == len(prob) == 1 else None
    return {"likely": both, "words": {k: words for k, words in seen.items() if len(words) <= FEW}}


def unpacked(name: str) -> int:
    """Return how many bytes a file holds once it is unpacked, counted no further than needed."""
    kind = Path(name).suffix.lower()
    if kind == ".npz" and zipfile.is_zipfile(name):
        with zipfile.ZipFile(name) as archive:
            return sum(int(entry.file_size) for entry in archive.infolist())
    if kind in (".parquet", ".pq"):
        parquet = importlib.import_module("pyarrow.parquet")
        groups = parquet.ParquetFile(name).metadata
        sizes = (groups.row_group(k).total_byte_size for k in range(groups.num_row_groups))
        return int(max(sum(sizes), 4 * groups.num_rows * groups.num_columns))
    total = os.path.getsize(name) if kind != ".gz" and os.path.exists(name) else 0
    if kind != ".gz":
        return total
    # Whoever reads a damaged file says so.
    with contextlib.suppress(OSError, EOFError, zlib.error), gzip.open(name) as stream:
        while total <= MOST and (block := stream.read(1 << 20)):
            total += len(block)
    return total


def recognised(name: str, delimiter: str, decimal: str, usual: str) -> tuple[str, str]:
    """Return the marks of a CSV file: those that are given, else those that its first rows show."""
    if Path(name.removesuffix(".gz")).suffix.lower() not in CSV:
        return usual, "."
    lines = first_lines(name)
    delimiter = "\t" if delimiter == "tab" else delimiter
    if not delimiter:
        delimiter = next((mark for mark in (usual, *"\t;|,") if _splits(lines, mark)), usual)
    words = [word for row in csv.reader(lines[1:], delimiter=delimiter) for word in row]
    is_comma = delimiter != "," and any(re.fullmatch(r"\s*-?\d*,\d+\s*", word) for word in words)
    return delimiter, decimal or ("," if is_comma else ".")


def first_lines(name: str) -> list[str]:
    """Return the first lines of a text file that are not blank; none of one that is damaged."""
    opened = gzip.open if name.lower().endswith(".gz") else open
    with (
        contextlib.suppress(OSError, EOFError, zlib.error),
        opened(name, "rt", encoding="utf-8-sig", errors="replace", newline="") as file,
    ):
        return [line for line in file.read(100_000).splitlines()[:20] if line.strip()]
    return []


def _splits(lines: list[str], mark: str) -> bool:
    """Tell whether a mark splits all lines into columns, and into equally many."""
    with contextlib.suppress(csv.Error):
        counts = {len(row) for row in csv.reader(lines, delimiter=mark)}
        return len(counts) == 1 and counts.pop() > 1
    return False


def in_fields(text: str) -> str:
    """Put a sentence that speaks of options and arguments into the words of the form."""
    for pattern, words in SAID:
        text = re.sub(pattern, words, text)
    options = rf"--({'|'.join(FIELDS)})\b"  # a file may be called --html=x
    return re.sub(options, lambda found: f"“{FIELDS[found[1]]}”", text)


def pasted(text: str) -> Any:
    """Write pasted columns as a CSV file, with names where the first row has only numbers."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        mark = next((m for m in MARKS if all(len(_cells(x, m)) > 1 for x in lines[:20])), ",")
        rows = [_cells(line, mark) for line in lines]
    except csv.Error as error:
        return {"refused": f"What is pasted is no table: {error}."}
    if not rows or len(rows[0]) < 2:
        return {"refused": "Paste at least two columns, e.g. a label and a probability per line."}
    if all(NUMBER.fullmatch(word) for word in rows[0]):
        rows.insert(0, [f"column {number}" for number in range(1, len(rows[0]) + 1)])
    clear()
    comma = mark != "," and not any("." in word for row in rows[1:] for word in row)
    with open("pasted.csv", "w", encoding="utf-8", newline="") as file:
        for number, row in enumerate(rows):
            csv.writer(file).writerow(map(_decimal_point, row) if comma and number else row)
    return {"name": "pasted.csv", **columns("pasted.csv", "", "")}


def _cells(line: str, mark: str | None) -> list[str]:
    cells = line.split() if mark is None else next(csv.reader([line], delimiter=mark))
    return [cell.strip() for cell in cells]


def _decimal_point(word: str) -> str:
    return word.replace(",", ".") if NUMBER.fullmatch(word) else word


def example() -> str:
    """Return two columns of an over-confident forecaster, to paste."""
    import numpy as np

    from calibkit.fakes import LogitDistortion

    drawn = LogitDistortion(slope=0.5).sample(EXAMPLE_ROWS, rng=np.random.default_rng(1))
    rows = zip(drawn.y_true.tolist(), drawn.y_prob.tolist(), strict=True)
    return "happened,p\n" + "".join(f"{y},{p:.4f}\n" for y, p in rows)


def arguments(asked: dict[str, Any]) -> list[str]:
    """Return the words of the command that asks what the form asks."""
    words = ["compare" if asked.get("second") else "audit"]
    kind = "logits" if asked.get("logits") else "prob"
    words += [f"--label={asked['label']}"] if asked.get("label") else []
    both = [*asked.get("prob", ()), *filter(None, [asked.get("second")])]
    words += [f"--{kind}={name}" for name in both]
    given = ("positive", "predicted", "classes", "group", "cluster", "time", "weight")
    for name in (*given, "delimiter", "decimal", "view", "costs", "title"):
        words += [f"--{name}={asked[name]}"] if asked.get(name) else []
    words += [f"--{name}" for name in CURES if asked.get(name)]
    for name, usual in (("bins", "15"), ("seed", "0")):
        words += [f"--{name}={asked[name]}"] if asked.get(name, "") not in ("", usual) else []
    return words


def ready() -> None:
    """Import what an audit needs."""
    for name in ("calibkit_audit.cli", "calibkit.plot"):
        importlib.import_module(name)


def audit(asked: dict[str, Any]) -> Any:
    """Run the command on the file that was chosen; return the report, or the sentence."""
    from calibkit_audit.cli import main

    alone = map(asked.get, ("logits", "time", "group"))  # what is asked of one model only
    if asked.get("second") and (any(alone) or len(asked["prob"]) != 1):
        return {"refused": "Two models are compared by one column of probabilities each, without "
                "logits, without “When” and without “Groups to compare”."}  # fmt: skip
    out = FOLDER / "out"
    files = [f"--html={out / 'report.html'}", f"--json={out / 'report.json'}"]
    words = [*arguments(asked), *files, "--", asked["name"]]
    said, erred = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(erred):
        code = main(words)
    lines = [line.partition(": ")[2] for line in erred.getvalue().splitlines() if ": " in line]
    notes = [in_fields(line.removeprefix("note: ").removeprefix("error: ")) for line in lines]
    if code:
        last = lines[-1] if lines else ""
        cures = [name for name in CURES if f"--{name}" in last and not asked.get(name)]
        cures += ["positive"] * ("which label means y = 1" in last)
        return {"refused": notes[-1] if notes else "the audit was not made.", "cures": cures}
    named = ["--"] * asked["name"].startswith("-") + [asked["name"]]
    html, text = ((out / f"report.{kind}").read_text("utf-8") for kind in ("html", "json"))
    found = json.loads(text)
    if any(answer["numbers"].get("majority") == 1 for answer in found.get("answers", ())):
        notes.insert(0, ONE_LABEL)
    return {
        "html": html,
        "json": text,
        "notes": notes,
        "headline": found["headline"],
        "command": shlex.join(["calibkit", *arguments(asked), "--html=report.html", *named]),
    }
