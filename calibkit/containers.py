"""What comes in: arrays out of containers, and events out of labels that are words.

`unwrapped` takes what lists, torch, pandas, polars and arrow hold, by position; `events` says where
a label is the one that is asked about; `is_missing` knows what stands for a missing label.
"""

import reprlib
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
        values = values.to_numpy()  # pandas and polars: position counts, not the index
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise ValueError(f"{name} has masked entries (first in row {row}); drop or fill them.")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is ragged: its rows have different lengths.") from error


def events(y_true: Any, positive: Any) -> NDArray[np.bool_]:
    """Tell in which rows the label is `positive`, where there are two labels of any kind."""
    array = unwrapped(y_true, "y_true")
    if array.ndim != 1:
        raise ValueError(f"y_true has shape {array.shape}; pass one label per row.")
    words = _words(y_true, array)
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


def refuse_two_words(y_true: Any) -> None:
    """Ask for `positive` where labels are two words; what else is no number is refused later."""
    count = _counter(_words(y_true, unwrapped(y_true, "y_true")))
    if len(count) == 2 and all(isinstance(word, str) for word in count):
        raise ValueError(
            f"y_true must hold numbers, but its labels are {_counted(count)}. Say which of "
            f"them y_prob is the probability of, e.g. positive={max(count)!r}."
        )


def _words(y_true: Any, array: NDArray[Any]) -> list[Any]:
    """Return the labels one by one: NumPy would turn the 1 of [1, "a"] into a word."""
    return list(y_true) if isinstance(y_true, list | tuple) else array.tolist()


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
