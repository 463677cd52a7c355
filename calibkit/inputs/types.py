"""Names for the kinds of arrays, seeds and options that functions take and return.

They say what an array holds, never how many dimensions it has: a "vector" or "matrix" tells the
reader which shape is meant, and the type checker sees the element type alone.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]
FloatArray = NDArray[np.floating[Any]]  # of any precision, as users pass it
IntArray = NDArray[np.integer[Any]]
IntVector = NDArray[np.intp]  # counts and places
BoolVector = NDArray[np.bool_]
Rng = int | np.random.Generator | None  # a seed, a generator, or fresh entropy


class Events(TypedDict, total=False):
    """Which event `y_prob` is about: options that all measures share, as in `binary_problem`."""

    positive: Any
    predicted: Any


class Rows(Events, total=False):
    """How the rows are read: these options, and weights where they have a meaning."""

    sample_weight: Any


Measure = TypeVar("Measure", bound=Callable[..., Any])


def shows_rows(measure: Measure) -> Measure:
    """Let `help` and editors list what ``**rows`` takes, in place of ``**rows``.

    Without predictions, as in ``measure(y, logits=z)``, the measure runs, to answer a wrong name.
    """
    signature = inspect.signature(measure)
    *named, rows = signature.parameters.values()
    (options,) = get_args(rows.annotation)
    named += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in options.__annotations__.items()
    ]
    measure.__defaults__ = (None,)
    measure.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    return measure
