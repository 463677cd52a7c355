"""Containers, words for labels, and what is said when something is refused: off the plain road."""

import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs.options import FloatArray


def unwrapped(values: Any, name: str) -> NDArray[Any]:
    """Return the NumPy array of any type that a container stands for."""
    if hasattr(values, "detach"):  # torch, also with gradients attached
        values = values.detach().cpu()
        # NumPy has no bfloat16.
        values = (values.float() if "bfloat16" in str(values.dtype) else values).numpy()
    elif hasattr(values, "toarray"):
        raise ValueError(f"{name} is a sparse matrix; pass {name}.toarray().")
    elif hasattr(values, "collect"):  # polars, before it has computed anything
        raise ValueError(f"{name} is a {type(values).__name__}; pass {name}.collect().")
    elif isinstance(values, dict | set | frozenset | Iterator):
        raise ValueError(f"{name} is a {type(values).__name__}; pass a list or an array.")
    elif hasattr(values, "to_numpy") and not hasattr(values, "__arrow_c_array__"):
        values = values.to_numpy()  # pandas and polars: position counts
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise ValueError(f"{name} has masked entries (first in row {row}); drop or fill them.")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is ragged: its rows have different lengths.") from error


_MISSING = ("", "na", "n/a", "nan", "null")
# Columns have an order of their own: neither the alphabet nor the labels that occur tell it.
_REMEDY = {
    "y_true": "Drop rows without a label; give each class the number of its column in y_prob, "
    "[names.index(word) for word in y_true] with names in the order of the columns."
}


def refuse_words(values: NDArray[Any], name: str) -> NoReturn:
    """Refuse what holds no numbers."""
    raise ValueError(
        f"{name} must hold numbers, but its type is {values.dtype}. "
        f"{_REMEDY.get(name, 'Pass numbers.')}"
    )


def numbers_of(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Convert an object array entry by entry and name the first entry that is no number."""
    numbers = np.empty(array.shape, dtype=np.float64)
    for position, value in np.ndenumerate(array):
        try:
            if isinstance(value, str):
                raise TypeError
            numbers[position] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"{name}[{position[0] if position else 0}] = {reprlib.repr(value)} is not a "
                f"number. {_REMEDY.get(name, 'Drop or repair the row.')}"
            ) from None
    return numbers


def labels_as_events(y_true: Any, positive: Any) -> NDArray[np.bool_]:
    """Return in which rows the label is `positive`, where there are two labels of any kind."""
    (words, count), (_, wanted) = count_labels(y_true), count_labels([positive])
    others = Counter({word: n for word, n in count.items() if word not in wanted})
    for row, word in enumerate(words):
        if is_missing(word):
            raise ValueError(f"y_true[{row}] = {word!r} is no label. Drop the row.")
    # Of 0 and 1, or False and True, one may be absent; a word that is absent may be misspelt.
    if positive not in count and not {positive, *count} <= {0, 1}:
        raise ValueError(
            f"positive={positive!r} never occurs in y_true, which holds {most_common(count)}. "
            "Spell it as the data do, with their type."
        )
    for word in others:
        if isinstance(word, str) and word.strip().lower() in _MISSING:
            row = words.index(word)
            raise ValueError(f"y_true[{row}] = {word!r} reads as missing. Drop or rename it.")
    if len(others) > 1:
        raise ValueError(
            f"y_true holds {len(others)} labels beside positive={positive!r}: "
            f"{most_common(others)}. Drop or recode the rows of all but one."
        )
    return np.array([word == positive for word in words], dtype=np.bool_)


def is_missing(word: Any) -> bool:
    """Recognise None, NaN, NaT, and pandas.NA, which refuses to be compared."""
    return word is None or type(word).__name__ in ("NAType", "NaTType") or bool(word != word)


def count_labels(y_true: Any) -> tuple[list[Any], Counter[Any]]:
    """Return one label per row, as it was given, and how often each occurs."""
    given = isinstance(y_true, list | tuple)  # NumPy would turn the 1 of [1, "a"] into a word
    words = list(y_true) if given else unwrapped(y_true, "y_true").tolist()
    try:
        return words, Counter(words)
    except TypeError as error:
        raise ValueError(f"A label cannot be a list or an array ({error}).") from None


def refuse_two_words(y_true: Any) -> None:
    """Ask for `positive` where labels are two words; what else is no number is refused later."""
    count = count_labels(y_true)[1]
    if len(count) <= 2 and all(isinstance(word, str) for word in count):
        raise ValueError(
            f"y_true must hold numbers, but its labels are {most_common(count)}. "
            f"{say_which([repr(word) for word in sorted(count)])}"
        )


def say_which(labels: list[str]) -> str:
    """Ask for the label that predictions are about; not every function has the option."""
    return (
        f"Say which label y_prob is the probability of: positive={' or positive='.join(labels)}. "
        f"Where that is no option, pass e.g. np.array(y_true) == {labels[-1]}."
    )


def most_common(count: Counter[Any]) -> str:
    """Name the five most frequent labels, and how often each occurs."""
    shown = [f"{reprlib.repr(word)} ({n:,})" for word, n in count.most_common(5)]
    return ", ".join(shown) + (", …" if len(count) > 5 else "")


def refuse_other_order(**given: Any) -> None:
    """Refuse pandas objects whose indexes say that their rows do not stand side by side.

    The index 0, 1, 2, ... that pandas gives by itself says nothing, unless the other one holds
    these very numbers in another order.
    """
    indexed = {name: values.index for name, values in given.items() if hasattr(values, "iloc")}
    for (one, here), (other, there) in combinations(indexed.items(), 2):
        if len(here) != len(there) or here.equals(there):
            continue  # other lengths are refused later, in better words
        same = set(here) == set(there)
        fresh = np.arange(len(here))
        if not same and any(np.array_equal(np.asarray(i), fresh) for i in (here, there)):
            continue
        row = next((r for r in range(len(here)) if repr(here[r]) != repr(there[r])), 0)
        what = "the same rows in another order" if same else "different rows"
        by_names = f", {other}.loc[{one}.index]" if same and here.is_unique else ""
        raise ValueError(
            f"{one} and {other} have indexes that name {what}: row {row} is {here[row]!r} in {one} "
            f"and {there[row]!r} in {other}. Join them by these names first{by_names}; if they "
            f"belong together by position, pass {other}.to_numpy()."
        )


def refuse_other_columns(
    values: Any, name: str = "y_prob", class_names: Iterable[Any] | None = None
) -> None:
    """Refuse a table whose columns are named like the classes, in another order than they are.

    Classes are `class_names`, or 0 to K - 1, or 1 to K, with any head before them.
    """
    columns = getattr(values, "column_names", getattr(values, "columns", None))
    names = [
        f"{c:.15g}" if isinstance(c, float) else str(c)
        for c in ([] if columns is None else columns)
    ]
    known = [["False", "True"], [str(k) for k in range(len(names))]]
    known.append([str(k + 1) for k in range(len(names))])
    known += [] if class_names is None else [[str(c) for c in class_names]]
    for classes in known if len(names) > 1 else []:
        for last in classes:
            ordered = [names[0].removesuffix(last) + one for one in classes]
            if ordered != names and sorted(ordered) == sorted(names):
                raise ValueError(
                    f"{name} has the columns {reprlib.repr(names)}: the classes in another order. "
                    f"Columns belong to classes by position; pass them in the order "
                    f"{reprlib.repr(ordered)}, e.g. {name}[[…]], or {name}.to_numpy() if only "
                    "their names are wrong."
                )


def report_value(prob: FloatArray, name: str = "y_prob") -> NoReturn:
    """Refuse the first value that is no probability."""
    place = tuple(int(i) for i in np.argwhere(~((prob >= 0) & (prob <= 1)))[0])
    value = float(prob[place])
    convert = f"softmax({name}, axis=1)" if prob.ndim == 2 else f"expit({name})"
    remedy = (
        f"Divide percentages by 100; convert logits by scipy.special.{convert}. Values that "
        "left the interval by rounding must be clipped by you, knowingly."
    )
    if np.isnan(value):
        remedy = "Drop or repair the row; calibkit never drops rows silently."
    elif np.isinf(value):
        remedy = "Check the model's output for overflow."
    where = ", ".join(map(str, place))
    raise ValueError(f"{name}[{where}] = {value!r} is not a probability in [0, 1]. {remedy}")


def report_label_table(labels: NDArray[Any]) -> NoReturn:
    """Refuse labels that are no column."""
    if labels.ndim != 2:
        raise ValueError(f"y_true must be one-dimensional, got shape {labels.shape}.")
    remedy = "Of several targets pass one column at a time; soft labels are not supported."
    if (np.sort(labels)[:, :-1] == 0).all() and (labels.sum(axis=1) == 1).all():
        remedy = "It is one-hot: pass np.array(y_true).argmax(axis=1)."
    raise ValueError(f"y_true has shape {labels.shape}. {remedy}")


def report_label(labels: NDArray[Any], n_classes: int, *, binary: bool) -> NoReturn:
    """Refuse the first label that is no class, and say how to recode it."""
    whole = labels == np.rint(labels)
    row = int(np.flatnonzero(~whole | np.isinf(labels) | (labels < 0) | (labels >= n_classes))[0])
    value = float(labels[row])
    if not value.is_integer():  # nor is nan or inf
        remedy = "Drop the row."
        if np.isfinite(value):
            remedy = "Soft labels are not supported; pass the class that happened."
        raise ValueError(f"y_true[{row}] = {value!r} is not a class label. {remedy}")
    found = set(np.unique(labels).tolist())
    if found <= {-1, 1}:
        remedy = "The labels are -1 and 1; pass (y_true == 1)."
    elif min(found) < 0:
        remedy = "To ignore such rows drop them: keep = y_true >= 0; y_true[keep], y_prob[keep]."
    elif binary and len(found) <= 2:  # which of them is "yes", only the user knows
        remedy = say_which([f"{label:.15g}" for label in sorted(found)])
    elif binary:
        remedy = "One-dimensional y_prob is P(y = 1); for more classes pass one column per class."
    elif 0 not in found and max(found) == n_classes:
        remedy = "The labels start at 1; pass y_true - 1."
    else:
        remedy = f"y_prob has no column for class {value:.15g}; add it."
    allowed = "0 and 1" if binary else f"0 to {n_classes - 1} ({n_classes} columns in y_prob)"
    raise ValueError(
        f"y_true[{row}] = {value:.15g} is not a valid label; labels are {allowed}. {remedy}"
    )


def report_view(view: Any, n_classes: int, two_sided: bool) -> NoReturn:
    """Refuse a view that does not exist, and say which do."""
    options = f'"top-label", "class-wise" (not everywhere) or a class from 0 to {n_classes - 1}'
    options += "" if two_sided else ", or a list of some of these classes"
    if view is None:
        start = f"y_prob has {n_classes} columns, so the view must be stated: "
        if n_classes == 2:
            start = "y_prob has 2 columns: pass the second, y_prob[:, 1], for P(y = 1); or say "
        raise ValueError(f"{start}view={options}.")
    raise ValueError(f"view={view!r} does not exist; choose {options}.")
