"""Read a learner's answer: the helpers that the judges of all lessons use.

Each helper either returns the answer in one plain form or raises `WrongKind` or `Almost` with
words for the learner. Judges may raise the two themselves.
"""

import copy
import math
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.results import spell
from calibkit_course.learn import messages

_SINGLE = 2e-6  # what single precision may lose, relative to the number
_VOWELS = "aeiouAEIO"


class WrongKind(Exception):
    """The answer is of a kind that cannot be compared; the message says what is wanted."""


class Almost(Exception):
    """The answer is of the right kind but not right; the message is a pointed hint."""


class Unfinished(Exception):
    """A blank ``...`` is left inside the answer."""


def found(answer: object) -> str:
    """Say in words what an answer is, without looking far into it.

    >>> found([1, 2]), found(None)[:6], found(3.0)
    ('a list of 2', '`None`', 'a number')
    """
    kind = type(answer).__name__
    try:
        return _found(answer, kind)
    except Exception:  # an object that cannot even be looked at
        return messages.FOUND_OTHER.format(kind=kind)


def _found(answer: object, kind: str) -> str:
    match answer:
        case None | Nothing():
            return messages.FOUND_NONE
        case bool() | np.bool_():
            return messages.FOUND_BOOL.format(value=bool(answer))
        case str() | bytes():
            return messages.FOUND_TEXT
        case int() | float() | complex() | np.number():
            return messages.FOUND_NUMBER
        case np.ndarray():
            return messages.FOUND_SHAPE.format(shape=answer.shape)
        case dict() if hasattr(answer, "fun") and hasattr(answer, "x"):
            return messages.FOUND_OPTIMUM
        case list() | tuple() | dict() | set():
            if not answer:
                return messages.FOUND_EMPTY.format(kind=kind)
            article = "an" if kind[0] in _VOWELS else "a"
            return messages.FOUND_MANY.format(article=article, kind=kind, count=len(answer))
    if isinstance(answer, Iterator):
        return messages.FOUND_ITERATOR.format(kind=kind)
    if isinstance(answer, type):
        return messages.FOUND_CLASS.format(kind=answer.__name__)
    return messages.FOUND_FUNCTION if callable(answer) else messages.FOUND_OTHER.format(kind=kind)


@dataclass(frozen=True, slots=True)
class Nothing:
    """What a function without `return` gave, and for which call."""

    shown: str


def wrong_kind(answer: object, wanted: str) -> WrongKind:
    """Return the exception that names what was found and what is wanted."""
    if type(answer) is Nothing:
        return WrongKind(messages.RETURNED_NOTHING.format(call=answer.shown, wanted=wanted))
    return WrongKind(messages.WANTED.format(found=found(answer), wanted=wanted))


def same(left: float, right: float, tolerance: float) -> bool:
    """Tell whether two numbers differ by at most `tolerance`, give or take single precision.

    >>> same(0.3, float(np.float32(0.3)), 1e-12), same(0.3, 0.301, 1e-4)
    (True, False)
    """
    return abs(left - right) <= tolerance * (1 + 1e-9) + _SINGLE * abs(right) + 1e-12


def agree(found: Any, wanted: Any, tolerance: float = 0.0) -> bool:
    """Tell whether all numbers differ by at most `tolerance`, give or take single precision.

    Where nan is wanted, nan is right. Arrays of different shapes do not agree.

    >>> agree([0.1, np.nan], [0.1, np.nan]), agree([0.1], [0.1, 0.1])
    (True, False)
    """
    left, right = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    room = tolerance * (1 + 1e-9) + 1e-12
    return left.shape == right.shape and np.allclose(left, right, _SINGLE, room, equal_nan=True)


def slip_of(found: Any, slips: Mapping[str, Any], tolerance: float) -> str | None:
    """Return the first of several slips whose value is that of an answer; None for none of them.

    >>> slip_of(0.8, {"half": 0.4, "other side": 0.8}, 1e-3)
    'other side'
    """
    return next((slip for slip, value in slips.items() if agree(found, value, tolerance)), None)


def apart(found: float, wanted: float, digits: int = 3) -> dict[str, str]:
    """Return two unequal numbers as texts that differ, for a message that shows both.

    They have `digits` decimals, and more only where they would look equal. A judge says
    ``SAY["value"].format(p=p, **apart(found, wanted, 4))``, where the sentence holds ``{found}``
    and ``{wanted}`` without a format of their own.

    >>> apart(0.3201, 0.5, 2), apart(0.32004, 0.32, 2)
    ({'found': '0.32', 'wanted': '0.50'}, {'found': '0.32004', 'wanted': '0.32000'})
    """
    for places in range(digits, 13):
        left, right = f"{found:.{places}f}", f"{wanted:.{places}f}"
        if float(left) != float(right):
            return {"found": left, "wanted": right}
    return {"found": f"{found:.17g}", "wanted": f"{wanted:.17g}"}


def as_number(answer: Any, wanted: str = messages.NUMBER) -> float:
    """Return an answer as a float.

    Accepts whole numbers, floats, fractions, these as text, calibkit results, numpy and torch
    scalars, and arrays or lists of one number.

    >>> as_number(Fraction(1, 5)), as_number("1/4"), as_number([0.5]), as_number(np.array([[0.5]]))
    (0.2, 0.25, 0.5, 0.5)
    """
    plain = _only(answer)
    if isinstance(plain, str):
        return _spelled(plain, 1, wanted)
    truth, many = isinstance(plain, bytes | bool | np.bool_), getattr(plain, "ndim", 0) != 0
    if truth or many or not hasattr(plain, "__float__"):
        raise wrong_kind(answer, wanted)
    value = float(plain)
    if not math.isfinite(value):
        raise WrongKind(messages.NOT_FINITE.format(value=value))
    return value


def as_probability(answer: Any, wanted: str = messages.NUMBER) -> float:
    """Return a number that may also be given as text in per cent.

    >>> as_probability("1/4"), as_probability("25 %")
    (0.25, 0.25)
    """
    if isinstance(answer, str) and answer.rstrip().endswith("%"):
        return _spelled(answer.rstrip()[:-1], 100, wanted)
    return as_number(answer, wanted)


def _spelled(text: str, unit: int, wanted: str) -> float:
    """Return the number that a text spells, divided by a unit."""
    try:
        return float(Fraction(text.strip()) / unit)
    except (ValueError, ArithmeticError):
        raise wrong_kind(text, wanted) from None


def as_truth(answer: Any, wanted: str = messages.TRUTH) -> bool:
    """Return `True` or `False`, which numpy and torch may hold.

    >>> as_truth(np.array(True))
    True
    """
    plain = _only(answer)
    if not isinstance(plain, bool | np.bool_):
        raise wrong_kind(answer, wanted)
    return bool(plain)


def as_list(answer: Any, wanted: str, length: int | None = None) -> list[Any]:
    """Return the entries of a list, tuple, array, data-frame column, or text with commas."""
    if isinstance(answer, str) and "," in answer:
        return as_list([part.strip() for part in answer.split(",")], wanted, length)
    if isinstance(answer, str | bytes | Mapping) or not _is_listable(answer):
        raise wrong_kind(answer, wanted)
    count = len(answer)
    if length is not None and count != length:
        raise Almost(messages.NOT_EQUAL_LENGTH.format(found=spell(count, "value"), length=length))
    return list(_array(answer)) if hasattr(answer, "__array__") else list(answer)


def _only(answer: Any) -> Any:
    """Return the only entry of an array or a list of one, and anything else as it is."""
    if isinstance(answer, list | tuple) and len(answer) == 1:
        return _only(answer[0])
    if not hasattr(answer, "__array__"):
        return answer
    array = _array(answer)
    return array.flat[0] if array.size == 1 else answer


def _array(answer: Any) -> NDArray[Any]:
    """Return an array; torch gives numbers away without their gradient only."""
    return np.asarray(answer.detach() if hasattr(answer, "detach") else answer)


def _is_listable(answer: Any) -> bool:
    """Tell whether `list(answer)` is safe: it has an end and an order."""
    if hasattr(answer, "__array__"):
        return len(np.shape(answer)) > 0
    return isinstance(answer, Sequence | KeysView | ValuesView)


def as_numbers(
    answer: Any, wanted: str = messages.NUMBERS, length: int | None = None
) -> NDArray[np.float64]:
    """Return a list or array of numbers as a one-dimensional float array.

    Truth values count as 0 and 1.

    >>> as_numbers((0.5, True), length=2)
    array([0.5, 1. ])
    """
    if hasattr(answer, "__array__") and getattr(answer, "ndim", 1) != 1:
        shape = tuple(answer.shape)
        column = messages.ONE_COLUMN if shape[1:] == (1,) else messages.WANTED
        raise WrongKind(column.format(shape=shape, found=found(answer), wanted=wanted))
    entries = as_list(answer, wanted, length)
    plain = [int(entry) if isinstance(entry, bool | np.bool_) else entry for entry in entries]
    return np.array([as_number(entry, wanted) for entry in plain], dtype=np.float64)


def as_mapping(answer: Any, wanted: str = messages.MAPPING) -> dict[Any, Any]:
    """Return a dict, another mapping, or a pandas Series as a dict.

    >>> as_mapping({"a": 1})
    {'a': 1}
    """
    if isinstance(answer, Mapping):
        return dict(answer)
    if hasattr(answer, "to_dict") and hasattr(answer, "index") and not isinstance(answer, type):
        return dict(answer.to_dict())
    raise wrong_kind(answer, wanted)


def as_option(answer: Any, options: Iterable[str], wanted: str = messages.TEXT) -> str:
    """Return which of the options the text is; case and outer spaces do not matter.

    An option that spells a number may be given as that number.

    >>> as_option(" Over ", ["over", "under"]), as_option(7, ["6", "7"])
    ('over', '7')
    """
    names, answer = {option.casefold(): option for option in options}, _only(answer)
    if not isinstance(answer, str):
        text = "" if isinstance(answer, bool) else f"{as_number(answer, wanted):g}"
        if text not in names:
            raise wrong_kind(answer, wanted)
        return names[text]
    key = answer.strip().casefold()
    if key not in names:
        listed = ", ".join(f"`{option}`" for option in names.values())
        raise WrongKind(messages.NO_SUCH_OPTION.format(value=answer[:40], options=listed))
    return names[key]


def as_picks(answer: Any, count: int) -> tuple[int, ...]:
    """Return which of `count` numbered things are named: a number, or several, or none.

    >>> as_picks([3, 1], 4), as_picks(2, 4), as_picks((), 4)
    ((1, 3), (2,), ())
    """
    try:
        given = np.asarray(sorted(answer) if isinstance(answer, set | frozenset) else answer)
        blank = has_blank(answer)
    except Exception:  # whatever was typed instead
        given, blank = np.array(None), False
    if blank:
        raise Unfinished
    if given.ndim > 1 or (given.size and given.dtype.kind not in "iu"):
        wanted = messages.PICKS_WANTED.format(count=count)
        raise WrongKind(messages.WANTED.format(found=found(answer), wanted=wanted))
    numbers = sorted({int(number) for number in given.flat})
    for number in numbers:
        if not 1 <= number <= count:
            raise WrongKind(messages.NO_SUCH_POINT.format(number=number, count=count))
    return tuple(numbers)


def as_function(answer: Any, wanted: str = messages.FUNCTION) -> Callable[..., Any]:
    """Return the answer if it can be called and is not a class."""
    if not callable(answer) or isinstance(answer, type):
        raise wrong_kind(answer, wanted)
    return answer  # type: ignore[no-any-return]


def call(function: Callable[..., Any], *arguments: Any, shown: str) -> Any:
    """Call a learner's function on copies, and see that it leaves them as they were.

    A message names the call as `shown`, e.g. ``"`f([0.2, 0.7])`"``. Where the function returns
    nothing, the next reader says what it should return: `Nothing` is of no reader's kind.
    """
    given = copy.deepcopy(arguments)
    try:
        result = function(*given)
    except (Exception, SystemExit) as error:
        kind, message = type(error).__name__, told(error)
        words = messages.FUNCTION_RAISED.format(kind=kind, message=message, call=shown)
        raise WrongKind(words) from None
    if result is ...:
        raise Unfinished
    if not all(map(_unchanged, given, arguments)):
        raise Almost(messages.FUNCTION_MUTATED)
    return Nothing(shown) if result is None else result


def told(error: BaseException) -> str:
    """Return an exception's message for a sentence, short and on one line."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # an exception that cannot even say what it is
        return ""
    return f" ({words[:160].rstrip('.')})" if words else ""


def _unchanged(after: Any, before: Any) -> bool:
    if isinstance(before, np.ndarray):
        return bool(np.array_equal(after, before))
    if isinstance(before, tuple):  # tuples of arrays cannot be compared as a whole
        return len(after) == len(before) and all(map(_unchanged, after, before))
    return bool(after == before)


def has_blank(answer: object, depth: int = 3) -> bool:
    """Tell whether ``...`` stands somewhere in a list, tuple, dict or object array."""
    if answer is ...:
        return True
    if depth == 0:
        return False
    if isinstance(answer, np.ndarray):
        if answer.dtype != object or answer.size > 10_000:
            return False
        return any(entry is ... for entry in answer.flat)
    if type(answer) is dict:
        return any(has_blank(value, depth - 1) for value in answer.values())
    if type(answer) in (list, tuple) and len(answer) <= 10_000:  # type: ignore[arg-type]
        return any(has_blank(entry, depth - 1) for entry in answer)  # type: ignore[attr-defined]
    return False
