"""Rows as they come: texts, spellings, mirrored labels, clusters; what audits alone must read."""

import re
import reprlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import unwrapped

# Whole numbers as NumPy and pandas write them, whose ".0" comes and goes.
_PLAIN = re.compile(r" *-?(0|[1-9][0-9]{0,14})(\.0*)? *")
_BLANK = ("", "NaT", "nan", "None")
_MANY = 10  # rows of classes that only one column has, before this is worth a note


def one_per_row(values: Any, name: str, n: int, remedy: str) -> tuple[NDArray[Any], list[Any]]:
    """Return an array of shape (n,) and its values as Python has them, none of them missing."""
    array = unwrapped(values, name)
    if array.ndim != 1 or len(array) != n:
        raise ValueError(
            f"{name} has shape {array.shape}; it needs one value for each of {n} rows."
        )
    # NumPy would turn the 1 of [1, "a"] into a word.
    given = list(values) if isinstance(values, list | tuple) else array.tolist()
    for row, value in enumerate(given):
        if is_missing(value) or (isinstance(value, str) and value.strip() in _BLANK):
            raise ValueError(f"{name}[{row}] is missing; {remedy}, or drop the row.")
    return array, given


def kish(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale weights so that they, and their squares, sum to Kish's number ``(sum w)^2 / sum w^2``.

    That many rows of equal weight tell as much (Kish, 1965, section 11.7).
    >>> kish(np.array([3.0, 1.0])).round(9).tolist()
    [1.2, 0.4]
    """
    share = weight / weight.max()
    return np.asarray(share * (share.sum() / (share @ share)))


def column_names(values: Any) -> list[Any] | None:
    """Return the names of the columns of a table of pandas, polars or arrow; else None."""
    names = getattr(values, "column_names", None)
    names = getattr(values, "columns", None) if names is None else names
    return None if names is None else list(names)


def _as_word(name: Any) -> str:
    return f"{name:.15g}" if isinstance(name, float) else str(name)


class Answers(NamedTuple):
    """Two columns of labels of one kind: what was true, and what was predicted."""

    true: NDArray[np.intp]  # numbers of the classes
    predicted: NDArray[np.intp]
    names: tuple[str, ...]  # of the classes
    notes: tuple[str, ...]  # what was taken to be the same class, and what was not

    @property
    def right(self) -> NDArray[np.uint8]:
        """1 where the predicted class was the true one."""
        return np.asarray(self.true == self.predicted).view(np.uint8)


def answers_of(y_true: Any, predicted: Any) -> Answers:
    """Compare true and predicted labels, which may be of any kind, as values."""
    columns = []
    for name, labels in (("y_true", y_true), ("predicted", predicted)):
        columns.append(_words(labels, name))
        if missing := [row for row, word in enumerate(columns[-1]) if is_missing(word)]:
            raise ValueError(f"{name}[{missing[0]}] is missing; drop or repair the row.")
    if len(columns[0]) != len(columns[1]):
        raise ValueError(
            f"y_true has {len(columns[0])} entries, but predicted has {len(columns[1])}."
        )
    code, names, notes = shared_classes(*map(_counter, columns))
    true, said = (np.array([code[word] for word in words], dtype=np.intp) for words in columns)
    return Answers(true, said, names, notes)


def shared_classes(
    true: Counter[Any], predicted: Counter[Any]
) -> tuple[dict[Any, int], tuple[str, ...], tuple[str, ...]]:
    """Give the classes in two columns of labels their numbers; return these, names, and notes.

    Equal values are one class. ``4.0`` and ``"4"``, or ``"Gnu"`` and ``"gnu "``, are joined with a
    note if each column has one of these spellings; words in a column with both are two classes,
    but not for blanks around them, nor for ``.0``.
    """
    stands = {word: word for word in (*predicted, *true)}  # True and 1 are equal: the true one's
    spelt: dict[Any, tuple[list[Any], list[Any]]] = {}
    for place, count in enumerate((true, predicted)):
        for word in map(stands.__getitem__, count):
            spelt.setdefault(_value_of(word), ([], []))[place].append(word)
    joined, apart = [], []
    for ours, theirs in spelt.values():
        words = list(dict.fromkeys(ours + theirs))
        bare: dict[Any, Any] = {}  # numbers without ".0", words without blanks around them
        for one in words:
            stands[one] = bare.setdefault(bool(_PLAIN.fullmatch(str(one))) or str(one).strip(), one)
        mine, their = ({stands[word] for word in some} for some in (ours, theirs))
        if len(mine) == len(their) == 1:
            stands |= dict.fromkeys(words, stands[words[0]])
        elif mine and their and mine != their:
            apart.append(" and ".join(map(repr, words)))
        if len(words) > len({stands[word] for word in words}):
            joined.append(" and ".join(map(repr, words)))
    known = {stands[word] for word in predicted}
    if not any(word in known for word in true):
        raise ValueError(
            f"No predicted class is among the true ones, which are {_counted(true)}; the "
            f"predicted ones are {_counted(predicted)}. Spell both alike."
        )
    notes = [f"Taken as one class: {_some(joined)}."] if joined else []
    notes += [f"Counted as different classes: {_some(apart)}."] if apart else []
    never = Counter({word: n for word, n in predicted.items() if stands[word] not in true})
    unsaid = Counter({word: n for word, n in true.items() if word not in known})
    # Of many classes some are rare by chance: the commonest of each kind decides.
    if min(max(count.values(), default=0) for count in (never, unsaid)) >= _MANY:
        notes.append(
            f"Predicted, but never true: {_counted(never)}; true, but never predicted: "
            f"{_counted(unsaid)}. Are some of them the same class, spelt differently?"
        )
    order = sorted({stands[word] for word in stands}, key=_in_order)
    place_of = {word: place for place, word in enumerate(order)}
    return {w: place_of[s] for w, s in stands.items()}, tuple(map(_as_word, order)), tuple(notes)


def _value_of(word: Any) -> Any:
    """Return what a label says, without its spelling: a number, or letters in lower case."""
    text = str(word).strip().casefold()
    try:
        number = float(text.replace("_", "?"))
    except ValueError:
        return text
    return number if number == number else text


def _in_order(word: Any) -> tuple[bool, float, str]:
    value = _value_of(word)
    return (True, 0.0, str(word)) if isinstance(value, str) else (False, value, str(word))


def _some(parts: Sequence[str]) -> str:
    return ", ".join(parts[:5]) + (f" and {len(parts) - 5} more" if len(parts) > 5 else "")


def _words(labels: Any, name: str) -> list[Any]:
    """Return one label per row, as it was given."""
    array = unwrapped(labels, name)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; pass one label per row.")
    return list(labels) if isinstance(labels, list | tuple) else array.tolist()


def _counter(words: list[Any]) -> Counter[Any]:
    try:
        return Counter(words)
    except TypeError as error:
        raise ValueError(f"A label cannot be a list or an array ({error}).") from None


def is_missing(word: Any) -> bool:
    """Recognise None, NaN, NaT, and pandas.NA, which refuses to be compared."""
    return word is None or type(word).__name__ in ("NAType", "NaTType") or bool(word != word)


def _counted(words: Counter[Any]) -> str:
    """Name the five most frequent labels, and how often each occurs."""
    shown = [f"{reprlib.repr(word)} ({count:,})" for word, count in words.most_common(5)]
    return ", ".join(shown) + (", …" if len(words) > 5 else "")
