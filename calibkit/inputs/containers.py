"""What comes in: arrays out of containers, and events out of labels that are words.

`unwrapped` takes what lists, torch, pandas, polars and arrow hold; `events` says where a label is
the one that is asked about; `is_missing` knows what stands for a missing label.

**The rule of names and order.** Rows and columns belong together by their position. Names never
move anything; but where names say that the positions are wrong, the input is refused:

- Two pandas objects whose indexes are not equal (`refuse_other_order`). One exception: the index
  0, 1, 2, ... that pandas gives by itself says nothing, unless the other one holds these very
  numbers in another order. To align them unasked would be a guess: predictions that were made from
  shuffled rows may have got a fresh index.
- A table whose columns are called like the classes, in another order (`refuse_other_columns`):
  like ``class_names`` where they are given, or 0 to K - 1, or 1 to K, with any head before them.
"""

import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Whole numbers as NumPy and pandas write them, whose ".0" comes and goes.
_PLAIN = re.compile(r" *-?(0|[1-9][0-9]{0,14})(\.0*)? *")
_BLANK = ("", "NaT", "nan", "None")
_MANY = 10  # rows of classes that only one column has, before this is worth a note


def unwrapped(values: Any, name: str) -> NDArray[Any]:
    """Return the NumPy array of any type that a container stands for."""
    if hasattr(values, "detach"):  # torch, also with gradients attached
        values = values.detach().cpu()
        # NumPy has no bfloat16.
        values = (values.float() if "bfloat16" in str(values.dtype) else values).numpy()
    elif hasattr(values, "toarray"):
        raise ValueError(f"{name} is a sparse matrix; pass {name}.toarray().")
    elif isinstance(values, dict | set | frozenset):
        raise ValueError(f"{name} is a {type(values).__name__}; pass a list or an array.")
    elif hasattr(values, "to_numpy") and not hasattr(values, "__arrow_c_array__"):
        values = values.to_numpy()  # pandas and polars: position counts, by the rule above
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise ValueError(f"{name} has masked entries (first in row {row}); drop or fill them.")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is ragged: its rows have different lengths.") from error


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


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Turn lists, pandas, polars, arrow or torch input into an array of numbers (by position)."""
    if values is None:
        raise ValueError(f"{name} is missing; pass an array with one entry per prediction.")
    # A plain array, as most callers have, needs no unwrapping.
    array = values if type(values) is np.ndarray else unwrapped(values, name)
    if array.dtype == object:
        array = _numbers_from_objects(array, name)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} is complex ({array.dtype}); pass real numbers, e.g. {name}.real.")
    if array.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must hold numbers, but its type is {array.dtype}. Turn class names into "
            "labels first, e.g. classes, y_true = np.unique(y_true, return_inverse=True)."
        )
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array with one entry per prediction, got a scalar.")
    if array.size == 0:
        raise ValueError(f"{name} is empty (shape {array.shape}); at least one row is needed.")
    return array


def _numbers_from_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Convert an object array entry by entry and name the first entry that is no number."""
    numbers = np.empty(array.shape, dtype=np.float64)
    for position, value in np.ndenumerate(array):
        try:
            if isinstance(value, str):
                raise TypeError
            numbers[position] = float(value)
        except (TypeError, ValueError, OverflowError):
            row = position[0] if position else 0
            raise ValueError(
                f"{name}[{row}] = {reprlib.repr(value)} is not a number. Drop missing entries; "
                "turn class names into labels with np.unique(y_true, return_inverse=True)."
            ) from None
    return numbers


def refuse_other_order(**given: Any) -> None:
    """Refuse pandas objects whose indexes say that their rows do not stand side by side."""
    # Of a list, `index` is a method; what pandas calls so can be compared.
    indexed = [
        (name, values.index)
        for name, values in given.items()
        if hasattr(getattr(values, "index", None), "equals")
    ]
    for (one, here), (other, there) in combinations(indexed, 2):
        if here is there or len(here) != len(there) or here.equals(there):
            continue  # other lengths are refused later, in better words
        order = set(here) == set(there)
        if not order and (_says_nothing(here) or _says_nothing(there)):
            continue
        pairs = enumerate(zip(map(repr, here), map(repr, there), strict=True))
        row, (first, second) = next((p for p in pairs if p[1][0] != p[1][1]), (0, ("?", "?")))
        what, remedy = "different rows", "Join them by these names first"
        if order:
            what = "the same rows in another order"
            remedy = f"Bring them into one order, e.g. {other}.loc[{one}.index]"
        raise ValueError(
            f"{one} and {other} have indexes that name {what}: row {row} is {first} in {one} and "
            f"{second} in {other}. {remedy}; if they belong together by position, pass "
            f"{other}.to_numpy()."
        )


def _says_nothing(index: Any) -> bool:
    """Tell whether an index is 0, 1, 2, ..., as pandas makes it."""
    return bool(np.array_equal(np.asarray(index), np.arange(len(index))))


def refuse_other_columns(
    values: Any, name: str = "y_prob", class_names: Iterable[Any] | None = None
) -> None:
    """Refuse a table whose columns are named like the classes, in another order than they are."""
    found = column_names(values)
    if found is None or len(found) < 2:
        return
    names, k = [_as_word(one) for one in found], len(found)
    known = [] if class_names is None else [list(map(_as_word, class_names))]
    for wanted in (*known, ["False", "True"], list(map(str, range(k + 1)))):
        for start in range(len(wanted) - k + 1):
            ordered = _named_after(names, wanted[start : start + k])
            if ordered and ordered != names:
                raise ValueError(
                    f"{name} has the columns {_listed(names)}: the classes in another order. "
                    f"Columns belong to classes by position; pass them in the order "
                    f"{_listed(ordered)}, e.g. {name}[[…]], or {name}.to_numpy() if only their "
                    "names are wrong."
                )


def column_names(values: Any) -> list[Any] | None:
    """Return the names of the columns of a table of pandas, polars or arrow; else None."""
    names = getattr(values, "column_names", None)
    names = getattr(values, "columns", None) if names is None else names
    return None if names is None else list(names)


def _as_word(name: Any) -> str:
    return f"{name:.15g}" if isinstance(name, float) else str(name)


def _named_after(names: Sequence[str], classes: Sequence[str]) -> list[str] | None:
    """Return the names in the order of the classes, if each is a class with one head before it."""
    for last in classes:
        ordered = [names[0].removesuffix(last) + one for one in classes]
        if names[0].endswith(last) and sorted(ordered) == sorted(names):
            return ordered
    return None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")


def events(y_true: Any, positive: Any) -> NDArray[np.bool_]:
    """Tell in which rows the label is `positive`, where there are two labels of any kind."""
    words = _words(y_true, "y_true")
    count, _ = _counter(words), _counter([positive])  # which refuses what cannot be a label
    if missing := [word for word in count if is_missing(word)]:
        row = next(row for row, word in enumerate(words) if word is missing[0])
        raise ValueError(f"y_true[{row}] = {missing[0]!r} is no label. Drop the row.")
    # Of 0 and 1, or False and True, one may be absent; a word that is absent may be misspelt.
    if words and positive not in count and not {positive, *count} <= {0, 1}:
        raise ValueError(
            f"positive={positive!r} never occurs in y_true, which holds {_counted(count)}. Spell "
            "it as the data do, with their type."
        )
    others = Counter({word: n for word, n in count.items() if word != positive})
    if len(others) > 1:
        raise ValueError(
            f"y_true holds {len(others)} labels beside positive={positive!r}: {_counted(others)}. "
            "Drop or recode the rows of all but one."
        )
    return np.array([word == positive for word in words], dtype=np.bool_)


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


def refuse_two_words(y_true: Any) -> None:
    """Ask for `positive` where labels are two words; what else is no number is refused later."""
    count = _counter(_words(y_true, "y_true"))
    if len(count) == 2 and all(isinstance(word, str) for word in count):
        raise ValueError(
            f"y_true must hold numbers, but its labels are {_counted(count)}. Say which of "
            f"them y_prob is the probability of, e.g. positive={max(count)!r}."
        )


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
