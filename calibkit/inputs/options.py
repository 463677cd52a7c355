"""Options, seeds, kinds of arrays and the logit: what every room shares."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

# What an array holds; a "vector" or "matrix" tells the reader which shape is meant.
FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]
FloatArray = NDArray[np.floating[Any]]  # of any precision, as users pass it
IntArray = NDArray[np.integer[Any]]
IntVector = NDArray[np.intp]  # counts and places
BoolVector = NDArray[np.bool_]
Rng = int | np.random.Generator | None  # a seed, a generator, or fresh entropy

# Two computations of the same number may differ in the last digits; such numbers are equal.
TIE = 1e-12
# What rounding may take off a number up to 1, by the type that it has passed through.
ROUNDING = {"float64": TIE, "float32": 2.0**-24, "float16": 2.0**-11}
EPS = 1e-16
LOGIT_LIMIT = float(-np.log(EPS))  # 36.84
CHILD = 38  # marks the stream of redraws that belongs to a seed
_LARGEST_LEGACY_SEED = 2**32 - 1
_NOT_THE_USER = ("calibkit", "sklearn.", "joblib.")  # the houses above, too
_QUIET = ContextVar("_QUIET", default=False)


def logit(prob: Any, least: float = EPS) -> FloatVector:
    """Return ``log(p / (1 - p))`` of p from `least` on, and at most 36.84: 0 and 1 are in reach.

    Near 1 a float ends at 1 - 1e-16, near 0 it goes on: see `least_prediction`.

    >>> logit([0.0, 0.5, 1.0]).round(2).tolist(), logit([1e-30], least=1e-40).round(2).tolist()
    ([-36.84, 0.0, 36.84], [-69.08])
    """
    unlimited = special.logit(np.maximum(np.asarray(prob, dtype=np.float64), least))
    return np.asarray(np.clip(unlimited, None, LOGIT_LIMIT))


def least_prediction(prob: FloatArray) -> float:
    """Return what 0 counts as in a logarithm: 1e-16, or the smallest prediction above 0 if less."""
    return float(prob.min(initial=EPS, where=prob > 0))


def expit(value: Any) -> FloatVector:
    """Return ``1 / (1 + exp(-v))``, the inverse of the logit."""
    return np.asarray(special.expit(np.asarray(value, dtype=np.float64)))


class CalibrationWarning(UserWarning):
    """Valid input whose result should be read with care, such as a class that never occurs.

    Turn it into an error with ``warnings.simplefilter("error", calibkit.CalibrationWarning)``.
    """


def warn(*messages: str) -> None:
    """Warn at the user's line, whichever function or pipeline it called."""
    if _QUIET.get():
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith(_NOT_THE_USER):
        frame, level = frame.f_back, level + 1
    for message in messages:
        warnings.warn(message, CalibrationWarning, stacklevel=level)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep our own warnings back; filters of warnings belong to all threads, so none is set."""
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)


def data_generator(rng: Rng) -> np.random.Generator:
    """Return the generator that makes data: an ``int`` is its seed, ``None`` asks for entropy."""
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise ValueError(
        f"rng must be a non-negative int, a numpy.random.Generator or None, got {rng!r}."
    )


def as_generator(rng: Rng) -> np.random.Generator:
    """Return the generator of redraws, folds and permutations: an ``int`` seeds a child stream.

    Data that the caller drew by ``default_rng(0)`` are independent of what ``rng=0`` draws here.
    """
    generator = data_generator(rng)
    seeded = isinstance(rng, int | np.integer)
    return np.random.default_rng([int(rng), CHILD]) if seeded else generator  # type: ignore[arg-type]


def legacy_generator(seed: int) -> np.random.RandomState:
    """Return NumPy's legacy generator, which published data were drawn with; not the global one."""
    if seed > _LARGEST_LEGACY_SEED:
        raise ValueError(f"the seed must be at most {_LARGEST_LEGACY_SEED}, got {seed}.")
    return np.random.RandomState(seed)


def as_count(value: Any, name: str, minimum: int = 1) -> int:
    """Check a whole number, such as a number of bins or of draws."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}.")
    return int(value)


def as_number(
    value: Any, name: str, wanted: str, allowed: Callable[[float], Any] = np.isfinite
) -> float:
    """Check a real number, which True and False are not; `wanted` says what `allowed` tests."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if number and not isinstance(value, bool) and allowed(value):
        return float(value)
    raise ValueError(f"{name} must be {wanted}, got {value!r}.")


def as_finite(value: Any, name: str, low: float = -np.inf, high: float = np.inf) -> float:
    """Check a finite number from `low` to `high`, ends included.

    >>> as_finite(1.5, "price", 0, 1)
    Traceback (most recent call last):
    ValueError: price must be a finite number from 0 to 1, got 1.5.
    """
    wanted = "a finite number"
    if low > -np.inf:
        wanted += f" from {low:g} to {high:g}" if high < np.inf else f" of at least {low:g}"
    return as_number(value, name, wanted, lambda v: np.isfinite(v) and low <= v <= high)


def as_positive(value: Any, name: str) -> float:
    """Check a finite number above 0."""
    return as_number(value, name, "a positive finite number", lambda number: 0 < number < np.inf)


def as_norm(value: Any) -> float:
    """Check the p of ``(E |p - c|^p)^(1/p)``, from 1 on and finite."""
    return as_number(value, "norm", "a finite number from 1 on", lambda norm: 1 <= norm < np.inf)


def as_level(level: Any, name: str = "level") -> float:
    """Check a probability that is neither 0 nor 1."""
    wanted = "strictly between 0 and 1 (e.g. 0.9)"
    return as_number(level, name, wanted, lambda value: 0 < value < 1)


def as_choice(value: Any, name: str, options: Iterable[str]) -> str:
    """Check a word against the words that exist.

    >>> as_choice("median", "gap", ("mean", "centre", "low"))
    Traceback (most recent call last):
    ValueError: gap must be "mean", "centre" or "low", got 'median'.
    """
    words = tuple(options)
    if isinstance(value, str) and value in words:
        return value
    *others, last = (f'"{word}"' for word in words)
    raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {value!r}.")


def as_flag(value: Any, name: str) -> bool:
    """Check a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)
