"""Probability vectors of three classes, stated and true, as figures draw them. Lessons 03, 12."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibkit.fakes import FakeSample
from calibkit.finite import FiniteClassifier
from calibkit.results import spell
from calibkit.types import FloatMatrix, FloatVector, IntVector

# Each class has a colour and, as second code, a marker.
CODES = (("#0072B2", "o"), ("#E69F00", "s"), ("#007A5A", "^"))


@dataclass(frozen=True, slots=True)
class Cloud:
    """What is drawn: stated vectors, perhaps true ones, predicted classes, masses, words."""

    stated: FloatMatrix
    true: FloatMatrix | None
    predicted: IntVector
    mass: FloatVector | None  # of the atoms of a finite classifier
    words: str


def read_cloud(source: Any, truth: Any = None) -> Cloud:
    """Read a finite classifier, a fake sample, or an array with its true vectors.

    Examples
    --------
    >>> read_cloud([[0.2, 0.5, 0.3]]).words
    '1 prediction: 0 of the first, 1 of the second, 0 of the third class.'
    """
    if isinstance(source, FiniteClassifier):
        mass, predicted = np.array(source.mass, dtype=np.float64), np.array(source.predicted)
        tables = _table(source.confidence), _table(source.truth)
        return Cloud(*tables, predicted, mass, source.describe())
    if isinstance(source, FakeSample):
        source, truth = source.y_prob, source.true_prob
    stated, true = _table(source), None if truth is None else _table(truth)
    if true is not None and true.shape != stated.shape:
        raise ValueError(f"truth has shape {true.shape}, but the predictions {stated.shape}.")
    predicted = stated.argmax(axis=1)
    first, second, third = np.bincount(predicted, minlength=3).tolist()
    words = (
        f"{spell(len(stated), 'prediction')}: {first:,} of the first, {second:,} of the "
        f"second, {third:,} of the third class."
    )
    return Cloud(stated, true, predicted, None, words)


def _table(values: Any) -> FloatMatrix:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 3:
        raise ValueError(f"The simplex needs three classes, shape (n, 3); got shape {table.shape}.")
    return table
