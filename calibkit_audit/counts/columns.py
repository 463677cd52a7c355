"""Which columns of a log hold what, and how a block of them becomes labels and probabilities."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatArray, FloatVector, IntVector, row_sum_tolerance
from calibkit_audit.counts.places import Place, quote, quotes
from calibkit_audit.counts.readers import NUMBER, Block
from calibkit_audit.incoming import PERCENT, RESCALED, Changes, rescale_rows

Words = defaultdict[str, set[str]]  # by column, what stands in it
_MISSING = {"", "na", "n/a", "<na>", "null", "nan"}
_NO_NUMBER = _MISSING | {"none"}  # which may well be a class
_MARKS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", " ": "blanks"}
# What to do where a value is missing.
_DROP = (
    "Repair them, or leave out all rows without label or prediction: drop_missing=True (command "
    "line: --drop-missing); they are counted."
)
_EACH = "Each row needs one: write it (of groups 'unknown'), or take the row out of the file."
_BESIDE = {"group": "groups", "cluster": "cluster", "time": "time", "weight": "sample_weight"}


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold what; the words are those of `calibkit_audit.counts.monitor_files`."""

    label: str
    prob: tuple[str, ...]
    positive: str | None = None
    classes: tuple[str, ...] | None = None
    predicted: str | None = None  # column of the predicted class: y says whether the label is it
    right: bool = False  # the label says whether a prediction was right, `prob` its confidence
    logits: bool = False  # `prob` names logits: any finite numbers
    rescale: bool = False  # rows of classes are divided by their sums
    percent: bool = False  # `prob` names percentages, with their sign or without
    group: str | Sequence[str] | None = None
    cluster: str | Sequence[str] | None = None
    time: str | None = None
    weight: str | None = None
    on: str | None = None  # by which the label is found in another file,
    labels_in: str = ""  # which is this one

    @property
    def beside(self) -> dict[str, str]:
        """More columns, by what they are to `audit`; of several each with its name behind it."""
        found = dict[str, str]()
        for name, role in _BESIDE.items():
            given = getattr(self, name) or ()
            several = (given,) if isinstance(given, str) else given
            found |= {f"{role} {one}" if len(several) > 1 else role: one for one in several}
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to be read, each once."""
        names = (self.label, *self.prob, *self.beside.values(), self.predicted, self.on)
        return tuple(dict.fromkeys(name for name in names if name))

    @property
    def confidence(self) -> bool:
        """Whether `prob` is the confidence in a predicted class."""
        return self.right or self.predicted is not None

    @property
    def labels(self) -> dict[str, int]:
        """The number of the class of each label."""
        if len(self.prob) == 1:
            return {"0": 0, "1": 1, "false": 0, "true": 1}
        names = {name: k for k, name in enumerate(self.classes or self.prob)}
        # Columns that are called 1, 2, 3 name their classes, in every kind of file.
        if self.classes or any(name.strip().isdecimal() for name in names):
            return names
        return {str(k): k for k in range(len(names))} | names

    @property
    def no_labels(self) -> set[str]:
        """What stands for no label, unless it names a class."""
        return _MISSING - {name.strip().lower() for name in (*self.labels, str(self.positive))}

    @property
    def joined(self) -> str:
        """Where labels are, if it is another file."""
        place = f"by {quote(self.on)} in {quote(self.labels_in)}"
        return f" Labels are found {place}." if self.on else ""

    def resolve(self, names: Sequence[str], place: Place) -> "Columns":
        """Return the columns with patterns resolved, after a look at what the file has."""
        columns = self
        if self.predicted == "true" and self.predicted not in names:
            columns = replace(self, predicted=None, right=True)
        if len(self.prob) == 1 and self.prob[0] not in names:
            columns = columns._resolve_pattern(names, place)
        for name in columns.names:
            if name not in names:
                known = f"The columns are {quotes(names) or 'none'}.{_hint(names)}"
                raise place.error(f"column {quote(name)} is not there. {known}")
            if list(names).count(name) > 1:
                twice = "is there more than once: give each column a name of its own."
                raise place.error(f"column {quote(name)} {twice}")
        columns._refuse_contradictions(place)
        return columns

    def _resolve_pattern(self, names: Sequence[str], place: Place) -> "Columns":
        pattern = self.prob[0]
        if f"{pattern}[0]" in names:  # a table in an .npz file
            return replace(self, prob=tuple(_matches(names, f"{pattern}[*]")))
        if set(pattern.split(",")) <= set(names):
            return replace(self, prob=tuple(pattern.split(",")))
        if "*" not in pattern:
            return self
        fits = _matches([name for name in names if name != self.label], pattern)
        if len(fits) < 2:
            few = f"the pattern {quote(pattern)} fits {len(fits)} columns, two are needed"
            raise place.error(f"{few}. The columns are {quotes(names)}.")
        return replace(self, prob=tuple(fits), classes=self.classes or tuple(fits.values()))

    def _refuse_contradictions(self, place: Place) -> None:
        n, beside = len(self.prob), {*self.beside.values()}
        labels = self.positive or self.predicted == self.label
        names = n > 1 and len(set(self.classes or self.prob)) == n == len(self.classes or self.prob)
        problems = {
            "label and probabilities must be different columns, and no groups, clusters, time or "
            "weights": not n or len({self.label, *self.prob} - beside) <= n,
            "a predicted class goes with one column of confidence": self.confidence and n > 1,
            "a predicted class goes with no positive label, nor itself": self.predicted and labels,
            "logits are no percentages": self.percent and self.logits,
            "logits are not rescaled, nor is one column": self.rescale and (n == 1 or self.logits),
            "a positive label belongs to one column; name the classes": n > 1 and self.positive,
            "classes must be one different name per column": self.classes and not names,
        }
        for problem, there in problems.items():
            if there:
                known = f"label {quote(self.label)}, probabilities {quotes(self.prob) or 'none'}"
                raise place.error(f"{problem}; {known}.")


def columns_of(
    label: str, prob: str | Sequence[str], *, classes: Sequence[str] | None = None, **given: Any
) -> Columns:
    """Return `Columns`; `given`: more of what `open_log` takes."""
    names = (prob,) if isinstance(prob, str) else tuple(prob)
    return Columns(label, names, classes=None if classes is None else tuple(classes), **given)


def _matches(names: Sequence[str], pattern: str) -> dict[str, str]:
    """Return the names that fit a pattern, and what its * stands for in each."""
    wanted = re.compile("(.+)".join(map(re.escape, pattern.split("*", 1))), re.DOTALL)
    return {name: found[1] for name in names if (found := wanted.fullmatch(name))}


def _hint(names: Sequence[str]) -> str:
    """Say so if the names look like numbers, or the one name like several."""
    if names and all(map(NUMBER.fullmatch, names)):
        return " These are numbers: is the first row, with the names, missing?"
    for mark, word in _MARKS.items():
        if len(names) == 1 and mark in names[0].strip():
            return (
                f" The file looks separated by {word}: if so, say delimiter={mark!r} (command "
                f"line: --delimiter {'tab' if mark == chr(9) else repr(mark)})."
            )
    return ""


# --- what a block says ----------------------------------------------------------------------------


def words_of(block: Block, name: str, *, numbers: bool = False) -> NDArray[np.str_]:
    """Return a column of any kind in words, none missing; `numbers` among them with a point."""
    _refuse_missing(block, name, _missing(block, name, {""}), _EACH)
    words = texts_of(block, name)
    if numbers and block.decimal == ",":
        words = [word.replace(",", ".") if NUMBER.fullmatch(word) else word for word in words]
    return np.array(words, dtype=np.str_)


def beside_of(block: Block, columns: Columns) -> dict[str, NDArray[Any]]:
    """Return what stands beside predictions, by role: words, or weights."""
    return {
        role: numbers_of(block, name, finite=True, remedy=_EACH).astype(np.float64)
        if role == "sample_weight"
        else words_of(block, name, numbers=not role.startswith("cluster"))
        for role, name in columns.beside.items()
    }


def texts_of(block: Block, name: str) -> list[str]:
    """Return a column of any kind as texts, a missing one as an empty one."""
    return list(map(_as_text, block.columns[name].tolist()))


def floats_of(block: Block, name: str, *, percent: bool = False) -> FloatArray:
    """Return a column of numbers, or the hundredths of percentages; missing ones are NaN."""
    column = block.columns[name]
    if column.dtype == object:
        return _parse(block, name, percent=percent)
    column = column if column.dtype.kind == "f" else column.astype(np.float64)
    return column / 100 if percent else column


def numbers_of(
    block: Block, name: str, *, finite: bool = False, percent: bool = False, remedy: str = ""
) -> FloatArray:
    """Return a column of probabilities, also from percentages, or of any finite numbers."""
    column = floats_of(block, name, percent=percent)
    good = np.isfinite(column) if finite else (column >= 0) & (column <= 1)
    if good.all():
        return column
    _refuse_missing(block, name, np.isnan(column), remedy or _DROP)
    row = int(good.argmin())
    other = "" if column[row] < 0 else "percentages (--percent) or "
    remedy = remedy or f"If these are {other}logits, say so (command line: --logits)."
    value = f"{quote(name)} = {repr(column[row].item()).removesuffix('.0')}"
    if finite:
        raise block.place.error(f"{value} is not a finite logit or weight.", row)
    if percent:
        raise block.place.error(f"{value}, divided by 100, is not a probability in [0, 1].", row)
    raise block.place.error(f"{value} is not a probability in [0, 1]. {remedy}", row)


def with_values(block: Block, columns: Columns, scores: Sequence[str] = ()) -> Block:
    """Return the rows that have a label and all these scores."""
    labels = [name for name in (columns.label, columns.predicted) if name in block.columns]
    missing = [_missing(block, name, _NO_NUMBER) for name in scores]
    missing += [_missing(block, name, columns.no_labels) for name in labels]
    return block.take(~np.any(missing, axis=0))


def _missing(block: Block, name: str, words: set[str]) -> NDArray[np.bool_]:
    """Tell where there is no number, or one of the words that stand for no value."""
    column = block.columns[name]
    if column.dtype != object:
        return np.asarray(column != column)  # NaN; other types have none
    return np.array([(text or "").strip().lower() in words for text in column], dtype=np.bool_)


def _parse(block: Block, name: str, *, percent: bool) -> FloatVector:
    """Turn texts into numbers, or the exact hundredths of percentages; missing ones are NaN."""
    # Python alone would read 1_0 as 10, and a point beside a decimal comma separates thousands.
    marks = str.maketrans({"_": "?"} | ({".": "?", ",": "."} if block.decimal == "," else {}))
    numbers = np.empty(block.n)
    for row, text in enumerate(block.columns[name]):
        word = (text or "").strip().lower().translate(marks)
        try:
            if percent and word not in _NO_NUMBER:
                word = str(Decimal(word.removesuffix("%").strip()).scaleb(-2))
            numbers[row] = np.nan if word in _NO_NUMBER else float(word)
        except (ValueError, ArithmeticError):
            mark, other = ("point", ",") if block.decimal == "." else ("comma", ".")
            remedy = "Write numbers, for no and yes 0 and 1."
            if any(map(str.isdigit, word)):
                remedy = f"Write a decimal {mark}, and nothing between thousands; where {other!r} "
                remedy += f"is the decimal mark and separates no columns, choose decimal={other!r} "
                remedy += f"(command line: --decimal {other}); percent signs: --percent."
            what = f"{quote(text)} in column {quote(name)} is no number. {remedy}"
            raise block.place.error(what, row) from None
    return numbers


def scores_of(block: Block, models: Sequence[Columns], changes: Changes) -> list[FloatArray]:
    """Return the checked scores of each model, (n,) or (n, K); count rows that were changed."""
    found, rescaled = [], np.zeros(block.n, dtype=np.bool_)
    for columns in models:
        how: dict[str, Any] = {"finite": columns.logits, "percent": columns.percent}
        parts = [numbers_of(block, name, **how) for name in columns.prob]
        table = parts[0] if len(parts) == 1 else np.stack(parts, axis=1)
        if columns.rescale:
            table, off = rescale_rows(table)
            rescaled |= off
        if table.ndim == 2 and not columns.logits:
            _refuse_sums(block, table)
        found.append(table)
    changes[PERCENT] += block.n if models[0].percent else 0
    changes[RESCALED] += int(rescaled.sum())
    return found


def _refuse_sums(block: Block, table: FloatArray) -> None:
    total = table.sum(axis=1, dtype=np.float64)
    off = np.abs(total - 1) > row_sum_tolerance(table.dtype, table.shape[1])
    if off.any():
        row = int(off.argmax())
        raise block.place.error(
            f"the probabilities of the classes sum to {total[row]:.6g}, not 1. Rows that miss 1: "
            f"{off.sum():,} of {block.n:,} read at once. Is there a column for every class? "
            "Several models: calibkit compare. What was only rounded, sums from 0.9 to 1.1, is "
            "divided by its sum by rescale=True (command line: --rescale).",
            row,
        )


def events_of(block: Block, columns: Columns, words: Words) -> NDArray[Any]:
    """Return checked labels, or whether the predicted class is the true one; note their words."""
    texts, codes = _count_words(block, columns.label, columns, words)
    if columns.predicted:
        predicted, guesses = _count_words(block, columns.predicted, columns, words)
        same = np.array(texts)[codes] == np.array(predicted)[guesses]
        return np.asarray(same, dtype=np.int64)
    known, positive = columns.labels, columns.positive
    if positive is None:
        classes = [known.get(t, known.get(plain_word(t), -1)) for t in texts]
    else:
        classes = [int(text == positive.strip()) for text in texts]
    labels = np.array(classes, np.int64)[codes]
    if (labels < 0).any():
        row = int(labels.argmin())
        raise block.place.error(_unknown_label(texts[codes[row]], columns), row)
    return labels


def _count_words(
    block: Block, name: str, columns: Columns, words: Words
) -> tuple[list[str], IntVector]:
    """Return the different words of a column, and which of them each row has."""
    remedy = _DROP + columns.joined
    _refuse_missing(block, name, _missing(block, name, columns.no_labels), remedy)
    values = np.unique(block.columns[name])
    texts = list(map(_as_text, values.tolist()))
    words[name].update(texts)
    return texts, np.searchsorted(values, block.columns[name])  # as its inverse, and faster


def _unknown_label(text: str, columns: Columns) -> str:
    label = f"label {quote(text)} in column {quote(columns.label)}"
    if len(columns.prob) == 1:
        return (
            f"{label} is neither 0 nor 1. Say which label means y = 1: "
            'positive="…" (command line: --positive …).'
        )
    pattern = "" if columns.classes else ", or use a pattern such as 'p_*'"
    return (
        f"{label} is none of {quotes(list(columns.labels))}. Name the classes in the order of "
        f"their columns: classes=[…] (command line: --classes …){pattern}."
    )


def plain_word(text: str) -> str:
    """Return a number without a point where it is whole, and other words in small letters."""
    word = text.strip().casefold()
    try:
        return _as_text(float(word.replace("_", "?")))
    except ValueError:
        return word


def _as_text(value: Any) -> str:
    if value is None or value != value:  # NaN
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value).strip()


def _refuse_missing(block: Block, name: str, missing: NDArray[np.bool_], remedy: str) -> None:
    if missing.any():
        rows = f"{missing.sum():,} of {block.n:,} rows read at once"
        problem = f"no value in column {quote(name)} ({rows}). {remedy}"
        raise block.place.error(problem, int(missing.argmax()))
