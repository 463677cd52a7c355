"""Which columns of a log hold what, and how a block of them becomes labels and probabilities."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatArray, FloatVector, row_sum_tolerance
from calibkit_audit.counts.places import Place, quote, quotes
from calibkit_audit.counts.readers import NUMBER, Block
from calibkit_audit.incoming import PERCENT, RESCALED, Changes, rescale_rows

Words = defaultdict[str, set[str]]  # by column, what stands in it
_NAMED = 5  # this many rows or words are named in a message
_MISSING = {"", "na", "n/a", "<na>", "null", "nan"}
_NO_NUMBER = _MISSING | {"none"}  # which may well be a class
_MARKS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", " ": "blanks"}
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
    on: str | None = None  # by which the label is found in another file

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
        if self.classes:
            return {name: k for k, name in enumerate(self.classes)}
        if len(self.prob) == 1:
            return {"0": 0, "1": 1, "false": 0, "true": 1}
        names = {name: k for k, name in enumerate(self.prob)}
        # Columns that are called 1, 2, 3 name their classes, in every kind of file.
        if any(name.strip().isdecimal() for name in names):
            return names
        return {str(k): k for k in range(len(names))} | names

    def resolve(self, names: Sequence[str], place: Place) -> "Columns":
        """Return the columns with patterns resolved, after a look at what the file has."""
        columns = self
        if self.predicted == "true" and self.predicted not in names:
            columns = replace(self, predicted=None, right=True)
        if len(self.prob) == 1 and self.prob[0] not in names:
            columns = columns._resolve_pattern(names, place)
        elif any("*" in name and name not in names for name in self.prob):
            raise place.error(f"{quotes(self.prob)}: a pattern must be the only one, with one *.")
        for name in columns.names:
            if name not in names:
                known = f"The columns are {quotes(names)}.{_hint(names)}"
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
        n_classes, problem = len(self.prob), ""
        if not n_classes or len(set(self.prob)) < n_classes or self.label in self.prob:
            problem = "label and probabilities must be different columns, each given once"
        elif self.confidence and n_classes > 1:
            problem = "a predicted class goes with one column of confidence"
        elif self.predicted and (self.positive or self.predicted == self.label):
            problem = "a predicted class goes with another column of labels, and no positive label"
        elif self.percent and self.logits:
            problem = "logits are no percentages"
        elif self.rescale and (n_classes == 1 or self.logits):
            problem = "what is rescaled are rows of probabilities, one column per class"
        elif n_classes > 1 and self.positive is not None:
            problem = "a positive label belongs to one column of probabilities; name the classes"
        elif self.classes and (n_classes == 1 or len(set(self.classes)) != n_classes):
            problem = f"classes are {quotes(self.classes)}, one different name per column is needed"
        if problem:
            prob = quotes(self.prob) or "none"
            raise place.error(f"{problem}; label {quote(self.label)}, probabilities {prob}.")


def columns_of(
    label: str, prob: str | Sequence[str], *, classes: Sequence[str] | None = None, **given: Any
) -> Columns:
    """Return `Columns`; `given`: more of what `open_log` takes."""
    names = (prob,) if isinstance(prob, str) else tuple(prob)
    columns = Columns(label, names, classes=None if classes is None else tuple(classes), **given)
    for role, name in columns.beside.items():
        if name in (label, *names):
            taken = f"{quote(name)} is the labels' or a probability column"
            raise ValueError(f"The column for {role.partition(' ')[0]}, {taken}; name another one.")
    return columns


def _matches(names: Sequence[str], pattern: str) -> dict[str, str]:
    """Return the names that fit a pattern, and what its * stands for in each."""
    wanted = re.compile("(.+)".join(map(re.escape, pattern.split("*", 1))), re.DOTALL)
    return {name: found[1] for name in names if (found := wanted.fullmatch(name))}


def _hint(names: Sequence[str]) -> str:
    """Say so if the names look like numbers, or the one name like several."""
    if all(map(NUMBER.fullmatch, names)):
        return " These are numbers: is the first row, with the names, missing?"
    for mark, word in _MARKS.items():
        if len(names) == 1 and mark in names[0].strip():
            return (
                f" The file looks separated by {word}: if so, say delimiter={mark!r} (command "
                f"line: --delimiter {'tab' if mark == chr(9) else repr(mark)})."
            )
    return ""


# --- what a block says ----------------------------------------------------------------------------


def texts_of(block: Block, name: str) -> list[str]:
    """Return a column of any kind in words, without a missing one."""
    column = block.columns[name]
    if isinstance(column, list):
        _refuse_missing([text is None for text in column], block.place, name)
        return cast(list[str], column)
    _refuse_missing(column != column, block.place, name)
    return list(map(_as_text, column.tolist()))


def words_of(block: Block, name: str) -> NDArray[np.str_]:
    """Return the same as an array."""
    return np.array(texts_of(block, name), dtype=np.str_)


def floats_of(block: Block, name: str, *, percent: bool = False) -> FloatArray:
    """Return a column of numbers, or the hundredths of percentages; missing ones are NaN."""
    column, place = block.columns[name], block.place
    if isinstance(column, list):
        if not block.decimal:
            raise place.error(f"column {quote(name)} holds text; store it as numbers.")
        column = _parse(block, name, column, percent=percent)
    elif percent:
        column = column / 100
    if column.dtype.kind in "bui":
        column = column.astype(np.float64)
    if column.dtype.kind != "f":
        raise place.error(f"column {quote(name)} holds {column.dtype}, not numbers.")
    return column


def numbers_of(
    block: Block, name: str, *, finite: bool = False, percent: bool = False
) -> FloatArray:
    """Return a column of probabilities, also from percentages, or of any finite numbers."""
    column, place = floats_of(block, name, percent=percent), block.place
    good = np.isfinite(column) if finite else (column >= 0) & (column <= 1)
    if good.all():
        return column
    _refuse_missing(np.isnan(column), place, name)
    row = int(good.argmin())
    value = f"{quote(name)} = {repr(column[row].item()).removesuffix('.0')}"
    if finite:
        raise place.error(f"{value} is not a finite logit or weight.", row)
    if percent:
        raise place.error(f"{value}, divided by 100, is not a probability in [0, 1].", row)
    other = "" if column[row] < 0 else "percentages (--percent) or "
    remedy = f"If these are {other}logits, say so (command line: --logits)."
    raise place.error(f"{value} is not a probability in [0, 1]. {remedy}", row)


def with_values(block: Block, columns: Columns, more: Sequence[str] = ()) -> Block:
    """Return the rows that have a label and all predictions; `more`: those of other models."""
    names = (columns.label, columns.predicted or columns.label, *columns.prob, *more)
    return block.take(~np.any([_missing(block, columns, name) for name in names], axis=0))


def _missing(block: Block, columns: Columns, name: str) -> NDArray[np.bool_]:
    """Tell where there is no number, or a word that stands for no value unless it names a class."""
    column, missing, named = block.columns[name], _NO_NUMBER, set[str]()
    if not isinstance(column, list):
        return np.asarray(column != column)  # NaN; other types have none
    if name in (columns.label, columns.predicted):
        missing, named = _MISSING, {*columns.labels, columns.positive or ""} - {""}
    return np.array([(t or "").strip().lower() in missing and t not in named for t in column])


def _parse(block: Block, name: str, texts: list[str | None], *, percent: bool) -> FloatVector:
    """Turn texts into numbers, or the exact hundredths of percentages; missing ones are NaN."""
    # Python alone would read 1_0 as 10, and a point beside a decimal comma separates thousands.
    marks = str.maketrans({"_": "?"} | ({".": "?", ",": "."} if block.decimal == "," else {}))
    numbers = np.empty(len(texts))
    for row, text in enumerate(texts):
        word = (text or "").strip().lower().translate(marks)
        try:
            if percent and word not in _NO_NUMBER:
                word = str(Decimal(word.removesuffix("%").strip()).scaleb(-2))
            numbers[row] = np.nan if word in _NO_NUMBER else float(word)
        except (ValueError, ArithmeticError):
            mark, other = ("point", ",") if block.decimal == "." else ("comma", ".")
            remedy = "Write numbers, for no and yes 0 and 1."
            if any(map(str.isdigit, word)):
                choice = f"(or choose decimal={other!r} or --decimal {other})"
                remedy = f"Write a decimal {mark} {choice}; percent signs: --percent."
            what = f"{quote(text)} in column {quote(name)} is no number. {remedy}"
            raise block.place.error(what, row) from None
    return numbers


def scores_of(block: Block, columns: Columns, changes: Changes) -> FloatArray:
    """Return checked probabilities, or logits, of shape (n,) or (n, K); count rescaled rows."""
    how = {"finite": columns.logits, "percent": columns.percent}
    parts = [numbers_of(block, name, **how) for name in columns.prob]
    changes[PERCENT] += block.n if columns.percent else 0
    if len(parts) == 1:
        return parts[0]
    table = np.stack(parts, axis=1)
    if columns.logits:
        return table
    if columns.rescale:
        table, count = rescale_rows(table)
        changes[RESCALED] += count
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
    return table


def events_of(block: Block, columns: Columns, words: Words) -> NDArray[Any]:
    """Return checked labels, or whether the predicted class is the true one; note their words."""
    if columns.predicted:
        names = (columns.label, columns.predicted)
        true, predicted = (_count_texts(block, name, columns, words) for name in names)
        return np.array(list(map(str.__eq__, true, predicted)), np.int64)
    column, known = block.columns[columns.label], columns.labels
    if not isinstance(column, list):
        if column.dtype.kind not in "buif":
            what = f"column {quote(columns.label)} holds {column.dtype}, not labels."
            raise block.place.error(what)
        # Where nothing names the labels, numbers are among the words that are known.
        numbered = columns.positive is None and len(known) > len(columns.prob)
        if numbered and np.isin(column, range(max(len(columns.prob), 2))).all():
            return column.astype(np.int64)
    texts = _count_texts(block, columns.label, columns, words)
    if columns.positive is None:
        number = {
            t: known.get(t.strip(), known.get(plain_word(t), -1)) for t in dict.fromkeys(texts)
        }
    else:
        number = {t: int(t.strip() == columns.positive.strip()) for t in dict.fromkeys(texts)}
    labels = np.array([number[text] for text in texts], np.int64)
    if (labels < 0).any():
        row = int(labels.argmin())
        raise block.place.error(_unknown_label(texts[row], columns), row)
    return labels


def _count_texts(block: Block, name: str, columns: Columns, words: Words) -> list[str]:
    texts = texts_of(block, name)
    _refuse_missing(_missing(block, columns, name), block.place, name)
    words[name].update(texts)
    return texts


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
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _refuse_missing(where: Any, place: Place, name: str) -> None:
    if missing := np.flatnonzero(where).tolist():
        numbers = ", ".join(f"{place.number(row):,}" for row in missing[:_NAMED])
        more = f" and {len(missing) - _NAMED:,} more here" if len(missing) > _NAMED else ""
        rows = "row" if len(missing) == 1 else "rows"
        raise place.error(
            f"no value in column {quote(name)}, {rows} {numbers}{more}. Repair them, or leave out "
            "all rows without label or prediction: drop_missing=True (command line: "
            "--drop-missing); they are counted."
        )
