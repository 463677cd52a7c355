"""Which columns hold what, and how a block of them becomes labels and probabilities."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatArray, row_sum_tolerance
from calibkit_audit.counts.blocks import Block, Column, Place, Texts, listed, quoted
from calibkit_audit.counts.csv_files import Dialect

_USUAL = Dialect()
_NAMED = 5  # this many rows are named in a message
_TRUTH = {"true": 1, "false": 0}


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold what; the words are those of `calibkit_audit.counts.count_files`."""

    label: str
    prob: tuple[str, ...]
    positive: str | None = None
    classes: tuple[str, ...] | None = None
    group: str | None = None  # column of the groups
    cluster: str | None = None  # column that says which rows belong together
    time: str | None = None  # column that says when
    weight: str | None = None  # column of what each row stands for
    predicted: str | None = None  # column of the predicted class: y says whether the label is it
    codes: Mapping[str, int] | None = None  # then the number of the class of every word
    logits: bool = False  # `prob` names logits: any finite numbers
    dialect: Dialect = _USUAL

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns to be read, each once."""
        names = (self.label, *self.prob, self.group, self.cluster, self.time, self.weight)
        names = (*names, self.predicted)
        return tuple(dict.fromkeys(name for name in names if name))

    def found_in(self, names: Sequence[str], place: Place) -> "Columns":
        """Return the columns with patterns resolved, after a look at what the file has."""
        prob, classes = list(self.prob), self.classes
        for pattern in self.prob:
            if "*" in pattern and pattern not in names:
                if len(self.prob) > 1 or pattern.count("*") > 1:
                    raise place.error(f"{quoted(pattern)} must be the only pattern, with one *.")
                head, _, tail = pattern.partition("*")
                fits = [name for name in names if _fits(name, head, tail) and name != self.label]
                prob = fits
                classes = classes or tuple(n[len(head) : len(n) - len(tail)] for n in fits)
                if len(fits) < 2:
                    raise place.error(
                        f"the pattern {quoted(pattern)} fits {len(fits)} columns, at least two are "
                        f"needed. The columns are {listed(names)}."
                    )
            elif pattern not in names and f"{pattern}[0]" in names:  # a table in an .npz file
                prob = [name for name in names if _fits(name, f"{pattern}[", "]")]
        resolved = replace(self, prob=tuple(prob), classes=classes)
        for name in resolved.needed:
            if list(names).count(name) != 1:
                what = "is there more than once" if name in names else "is not there"
                raise place.error(
                    f"column {quoted(name)} {what}. The columns are {listed(names)}; choose with "
                    f"label= and prob= (command line: --label and --prob).{_hint(names, name)}"
                )
        resolved.check(place)
        return resolved

    def check(self, place: Place) -> None:
        """Refuse columns and classes that contradict each other."""
        n_classes = len(self.prob)
        if not n_classes or len(set(self.prob)) < n_classes or self.label in self.prob:
            raise place.error(
                "label and probabilities must be different columns, each given once; got label "
                f"{quoted(self.label)}, probabilities {listed(self.prob) or 'none'}."
            )
        if self.predicted and (n_classes > 1 or self.positive or self.predicted == self.label):
            raise place.error(
                "a predicted class goes with one column of confidence, another column of labels, "
                "and no positive label."
            )
        if n_classes > 1 and self.positive is not None:
            raise place.error(
                "a positive label belongs to one column of probabilities; with one column per "
                "class, name the classes instead."
            )
        if self.classes is None:
            return
        if n_classes == 1 or len(set(self.classes)) != n_classes:
            raise place.error(
                f"{n_classes} columns of probabilities, but the classes named are "
                f"{listed(self.classes)}: one different name per column is needed."
            )


def columns_of(
    label: str,
    prob: str | Sequence[str],
    *,
    classes: Sequence[str] | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    **more: Any,
) -> Columns:
    """Return checked `Columns`; `more`: its other fields."""
    names = (prob,) if isinstance(prob, str) else tuple(prob)
    for name in ("group", "cluster", "time", "weight"):
        if (found := more.get(name)) not in (label, *names):
            continue
        raise ValueError(
            f"The {name}s' column {quoted(found)} is the labels' or a probability column; name "
            "another one."
        )
    more["classes"] = None if classes is None else tuple(classes)
    return Columns(label, names, dialect=Dialect.checked(delimiter, decimal), **more)


def _hint(names: Sequence[str], name: str) -> str:
    """Say so if a name, or the one name of a file, looks like several."""
    if set(name.split(",")) <= set(names):
        return " Several targets are several audits: a label for each. Models: calibkit compare."
    for mark, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (",", "commas")):
        if len(names) == 1 and mark in names[0]:
            return (
                f" The file looks separated by {word}: if so, say delimiter={mark!r} (command "
                f"line: --delimiter {'tab' if mark == chr(9) else repr(mark)})."
            )
    return ""


def _fits(name: str, head: str, tail: str) -> bool:
    within = len(name) > len(head) + len(tail)
    return within and name.startswith(head) and name.endswith(tail)


def predictions_of(
    block: Block, columns: Columns, words: Counter[str]
) -> tuple[NDArray[Any], FloatArray]:
    """Return checked labels and probabilities (or logits); count labels for `check_words`."""
    place = block.place
    logits = columns.logits
    prob = [_numbers(block.columns[name], place, name, logits) for name in columns.prob]
    table = prob[0] if len(prob) == 1 else np.stack(prob, axis=1)
    if table.ndim == 2 and not logits:
        _check_rows(table, place)
    if columns.predicted:
        true, said = true_and_predicted(block, columns)
        return (true == said).astype(np.int64), table
    column = block.columns[columns.label]
    _refuse_missing(column, place, columns.label)
    if isinstance(column, Texts):
        labels = _labels_in_words(column, columns, words)
    elif column.dtype.kind in "buif":
        labels = _numeric_labels(column, columns, words)
    else:
        raise place.error(f"column {quoted(columns.label)} holds {column.dtype}, not labels.")
    bad = np.flatnonzero(labels < 0)
    if len(bad):
        row = int(bad[0])
        raise place.error(_unknown_label(value_at(column, row), columns), row)
    return labels, table


def check_words(words: Counter[str], columns: Columns, place: Place) -> None:
    """Refuse a positive label that never occurs (it is probably misspelt), and a third label."""
    if columns.positive is None:
        return
    positive, column = columns.positive.strip(), quoted(columns.label)
    if positive not in words:
        raise place.error(f"the positive label {quoted(positive)} never occurs in column {column}.")
    others = Counter({word: count for word, count in words.items() if word != positive})
    if len(others) > 1:
        found = ", ".join(f"{quoted(w)} ({n:,} rows)" for w, n in others.most_common(_NAMED))
        raise place.error(
            f"column {column} holds {len(others)} labels beside the positive {quoted(positive)}: "
            f"{found}. Only one may mean y = 0: drop the rows of the others, or rename them."
        )


def words_of(block: Block, name: str) -> NDArray[np.str_]:
    """Return a column of any kind, in words."""
    coded = texts_of(block, name)
    return np.array(coded.values or ("",))[coded.codes]


def weights_of(block: Block, name: str) -> NDArray[np.float64]:
    """Return a column of finite numbers."""
    return _numbers(block.columns[name], block.place, name, True).astype(np.float64)


def texts_of(block: Block, name: str) -> Texts:
    """Return a column of any kind as one of texts, without a missing one."""
    column = block.columns[name]
    _refuse_missing(column, block.place, name)
    return column if isinstance(column, Texts) else _coded(column)


def true_and_predicted(block: Block, columns: Columns) -> tuple[NDArray[np.int64], ...]:
    """Return the numbers of the true and of the predicted class of each row."""
    assert columns.codes is not None and columns.predicted  # see `files.resolve_all`
    found = []
    for name in (columns.label, columns.predicted):
        texts = texts_of(block, name)
        # A categorical column may know words that never occur.
        known = np.array([columns.codes.get(word, -1) for word in texts.values] or [0])
        found.append(np.asarray(known[texts.codes], dtype=np.int64))
    return tuple(found)


def count_words(column: Texts, words: Counter[str]) -> None:
    """Count the texts that occur."""
    counts = np.bincount(column.codes, minlength=len(column.values)).tolist()
    for text, count in zip(column.values, counts, strict=True):
        if count:
            words[text] += count


def _coded(column: NDArray[Any]) -> Texts:
    """Return a column of numbers as one of texts."""
    values, codes = np.unique(column, return_inverse=True)
    return Texts(tuple(value_at(values, i) for i in range(len(values))), codes)


def value_at(column: Column, row: int) -> str:
    """Return a value as text; whole numbers without a point."""
    if isinstance(column, Texts):
        return str(column.values[column.codes[row]])
    value = column[row].item()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _refuse_missing(column: Column, place: Place, name: str) -> None:
    if isinstance(column, Texts):
        missing = np.flatnonzero(column.codes < 0)
    elif column.dtype.kind == "f":
        missing = np.flatnonzero(np.isnan(column))
    else:
        return
    if len(missing):
        numbers = ", ".join(f"{place.first_row + row + 1:,}" for row in missing[:_NAMED].tolist())
        more = f" and {len(missing) - _NAMED:,} more here" if len(missing) > _NAMED else ""
        rows = "row" if len(missing) == 1 else "rows"
        raise place.error(
            f"no value in column {quoted(name)}, {rows} {numbers}{more}. Drop or repair them; "
            "nothing is dropped silently."
        )


def _numbers(column: Column, place: Place, name: str, logits: bool) -> FloatArray:
    if isinstance(column, Texts):
        raise place.error(f"column {quoted(name)} holds text; store it as numbers.")
    if column.dtype.kind in "bui":
        column = column.astype(np.float64)
    if column.dtype.kind != "f":
        raise place.error(f"column {quoted(name)} holds {column.dtype}, not numbers.")
    good = np.isfinite(column) if logits else (column >= 0) & (column <= 1)
    if good.all():
        return column
    _refuse_missing(column, place, name)
    row = int(np.flatnonzero(~good)[0])
    what = (
        "a probability in [0, 1]. Divide percentages by 100; if these are logits, say so "
        "(command line: --logits)."
    )
    value = f"{quoted(name)} = {repr(column[row].item()).removesuffix('.0')}"
    raise place.error(f"{value} is not {'a finite logit or weight.' if logits else what}", row)


def _check_rows(table: FloatArray, place: Place) -> None:
    total = table.sum(axis=1, dtype=np.float64)
    off = np.abs(total - 1) > row_sum_tolerance(table.dtype, table.shape[1])
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise place.error(
            f"the probabilities of the classes sum to {total[row]:.6g}, not 1. Is there a "
            "column for every class? Nothing is rescaled silently.",
            row,
        )


def _meaning(text: str, columns: Columns) -> int | None:
    """Return the class that a label in words means, or None."""
    word = text.strip()
    if columns.positive is not None:
        return int(word == columns.positive.strip())
    if columns.classes is not None:
        return columns.classes.index(word) if word in columns.classes else None
    if len(columns.prob) > 1 and word in columns.prob:
        return columns.prob.index(word)
    if _named_by_numbers(columns):
        return None
    if len(columns.prob) == 1 and word.lower() in _TRUTH:
        return _TRUTH[word.lower()]
    try:
        number = float(word.replace("_", "?"))
    except ValueError:
        return None
    return int(number) if number in range(max(len(columns.prob), 2)) else None


def _named_by_numbers(columns: Columns) -> bool:
    """Tell whether columns are called 1, 2, 3: then a label 1 is a name, in every kind of file."""
    return len(columns.prob) > 1 and any(name.strip().isdecimal() for name in columns.prob)


def _labels_in_words(column: Texts, columns: Columns, words: Counter[str]) -> NDArray[np.int64]:
    if columns.positive is not None:
        found = Counter[str]()
        count_words(column, found)
        for text, count in found.items():
            words[text.strip()] += count
    meaning = [_meaning(text, columns) for text in column.values]
    labels = np.array([-1 if code is None else code for code in meaning], dtype=np.int64)
    return labels[column.codes] if len(column) else labels[:0]


def _numeric_labels(column: NDArray[Any], columns: Columns, words: Counter[str]) -> NDArray[Any]:
    """Return the classes that labels in numbers mean, -1 for none."""
    named = columns.positive is not None or columns.classes is not None
    if named or _named_by_numbers(columns):
        return _labels_in_words(_coded(column), columns, words)
    good = (column >= 0) & (column < max(len(columns.prob), 2))
    if column.dtype.kind == "f":
        good &= column == np.rint(column)
    labels = column if good.all() else np.where(good, column, -1.0)
    return labels if labels.dtype.kind in "ui" else labels.astype(np.int64)


def _unknown_label(value: str, columns: Columns) -> str:
    column = quoted(columns.label)
    if len(columns.prob) == 1:
        return (
            f"label {quoted(value)} in column {column} is neither 0 nor 1. Say which label means "
            'y = 1: positive="…" (command line: --positive …).'
        )
    if columns.classes is not None:
        known = f"is none of the classes {listed(columns.classes)}"
    elif _named_by_numbers(columns):
        known = f"is none of the columns {listed(columns.prob)}"
    else:
        known = f"is no class from 0 to {len(columns.prob) - 1} and no name of a column"
    return (
        f"label {quoted(value)} in column {column} {known}. Name the classes in the order of "
        "their columns: classes=[…] (command line: --classes …), or use a pattern such as 'p_*'."
    )
