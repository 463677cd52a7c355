"""The judges of exercises 12.4 and 12.5, and what they say."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from calibkit.fakes import DirichletFake, FakeSample, Power
from calibkit.multiclass import TemperatureScaling, VectorScaling
from calibkit.scores import log_loss
from calibkit.types import FloatVector
from calibkit_course.learn import answers

SAY = {
    # 12.4
    "two": "a pair (w, b) with three numbers each",
    "matrix": "this is a matrix. Vector scaling has one weight per class.",
    "swapped": "this fits if the two are swapped: first the weights, then the biases.",
    "temperature": "one weight for all classes is temperature scaling. Give each its own.",
    "no bias": "equal biases do nothing: the log loss is {found}, and {wanted} is possible. Fit "
    "the biases too.",
    "no logs": "these weights fit the probabilities better than their logarithms. Scale the "
    "logarithms.",
    "inverse": "these are the inverse weights. The logits are multiplied by w.",
    "flat": "these are six numbers in one list. Give them as a pair of three weights and three "
    "biases.",
    "not there": "the log loss is {found}, but {wanted} is possible. Is there a penalty left, or "
    "did the optimiser stop early?",
    # 12.5
    "cells call": "`cells_in_use(p, {n_bins})` for {n} rows and {k} classes",
    "whole": "a whole number of cells",
    "all cells": "for {call}, {found:g} counts all cells that there could be, also the empty ones.",
    "per class": "for {call}, {found:g} adds up the bins of single classes. A cell is a bin in "
    "each class at once.",
    "n rows": "for {call}, {found:g} is the number of rows. Rows may share a cell.",
    "edge": "for {call}, {found:g} makes a bin of its own for probability 1. The last bin holds "
    "it.",
    "one column": "for {call}, {found:g} looks at one class only.",
    "last column": "for {call}, {found:g} leaves out the last class. It has bins as well.",
    "ten": "for {call}, {found:g} comes from ten bins. Use `n_bins`.",
    "linspace": "for {call}, {found:g} takes the edges from `np.linspace`, where 0.3 and 0.6 fall "
    "into the bin below. Multiply by `n_bins` instead.",
    "nearest": "for {call}, {found:g} rounds to the nearest edge. Bin j begins at j/B: round down.",
    "closed right": "for {call}, {found:g} puts a probability on an edge into the bin below. Bin j "
    "holds its lower edge.",
    "cells off": "for {call}, {wanted} cells hold a prediction, not {found:g}.",
}


# --- 12.4 --------------------------------------------------------------------------------------

_CLOSE = 2e-5


@lru_cache(maxsize=1)
def uneven() -> FakeSample:
    """Return predictions of three classes, each bold in its own way."""
    return DirichletFake((1, 1, 1), Power((0.3, 0.6, 1.2)), "confidence-is-base").sample(3000, 124)


@lru_cache(maxsize=1)
def _optima() -> dict[str, float]:
    """Return the log losses of the best maps: vector, and temperature."""
    data = uneven()
    maps = {
        "vector": VectorScaling("probabilities", penalty=0),
        "temperature": TemperatureScaling("probabilities"),
    }
    return {
        name: log_loss(data.y_true, m.fit(data.y_prob, data.y_true).calibrate(data.y_prob)).value
        for name, m in maps.items()
    }


def judge_vector(answer: Any) -> str | None:
    """Judge exercise 12.4: weights and biases of vector scaling, without a penalty."""
    shape = np.shape(_array(answer))
    if shape in ((3, 3), (6,)):
        return SAY["matrix" if shape == (3, 3) else "flat"]
    pair = answers.as_list(answer, SAY["two"], 2)
    if np.ndim(_array(pair[0])) == 2:
        return SAY["matrix"]
    first = pair[0] if np.ndim(_array(pair[0])) == 1 else [pair[0]] * 3
    w, b = (answers.as_numbers(part, SAY["two"], 3) for part in (first, pair[1]))
    found, wanted = _loss(w, b), _optima()["vector"]
    if abs(found - wanted) <= _CLOSE:
        return None
    if abs(_loss(b, w) - wanted) <= 10 * _CLOSE:
        return SAY["swapped"]
    if np.ptp(w) <= 1e-3:
        return SAY["temperature"]
    if np.all(w != 0) and abs(_loss(1 / w, b) - wanted) <= 10 * _CLOSE:
        return SAY["inverse"]
    if np.ptp(b) <= 1e-9:
        return SAY["no bias"].format(**answers.apart(found, wanted, 4))
    if _loss(w, b, logs=False) < found - 0.05:
        return SAY["no logs"]
    return SAY["not there"].format(**answers.apart(found, wanted, 5))


def _array(answer: Any) -> Any:
    """Return the answer as an array if it has one shape, else None."""
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _loss(w: FloatVector, b: FloatVector, logs: bool = True) -> float:
    """Return the log loss of ``softmax(w z + b)`` on the data of 12.4."""
    data = uneven()
    z = np.log(data.y_prob) if logs else data.y_prob
    with np.errstate(over="ignore", invalid="ignore"):  # a wild guess is wrong, not an accident
        rows = special.log_softmax(z * w + b, axis=1)
        return -float(rows[np.arange(data.n), data.y_true].mean())


# --- 12.5 --------------------------------------------------------------------------------------

_TABLES = (
    ([[0.72, 0.28], [0.78, 0.22], [0.31, 0.69], [0.33, 0.67], [0.05, 0.95]], 10),
    (  # the first two rows differ in the last class only; ten bins would part the next two
        [
            [0.21, 0.21, 0.58],
            [0.38, 0.22, 0.4],
            [0.39, 0.39, 0.22],
            [0.12, 0.33, 0.55],
            [0.33, 0.12, 0.55],
            [0.14, 0.31, 0.55],
            [0.13, 0.55, 0.32],
            [0.05, 0.41, 0.54],
        ],
        5,
    ),
    ([[1.0, 0.0, 0.0], [0.92, 0.04, 0.04], [0.0, 1.0, 0.0], [0.03, 0.93, 0.04]], 4),
    (  # probabilities on edges
        [
            [0.3, 0.6, 0.1],
            [0.35, 0.55, 0.1],
            [0.31, 0.58, 0.11],
            [0.62, 0.3, 0.08],
            [0.6, 0.31, 0.09],
        ],
        10,
    ),
)


def judge_cells(answer: Any) -> str | None:
    """Judge exercise 12.5: the number of K-dimensional bins that hold a prediction."""
    function = answers.as_function(answer)
    for rows, n_bins in _TABLES:
        p = np.array(rows)
        shown = SAY["cells call"].format(n_bins=n_bins, n=len(p), k=p.shape[1])
        found = answers.as_number(answers.call(function, p, n_bins, shown=shown), SAY["whole"])
        if problem := _cells_problem(found, p, n_bins, shown):
            return problem
    return None


def _cells_problem(found: float, p: FloatVector, n_bins: int, call: str) -> str | None:
    cell = np.minimum(np.floor(p * n_bins), n_bins - 1)  # the last bin holds probability 1
    wanted = len(np.unique(cell, axis=0))
    if found == wanted:
        return None
    slip = answers.slip_of(found, _cell_slips(p, n_bins), 0) or "cells off"
    return SAY[slip].format(call=call, wanted=wanted, found=found)


def _cell_slips(p: FloatVector, n_bins: int) -> dict[str, int]:
    """Return what usual slips would give."""
    place = np.floor(p * n_bins).astype(int)
    cell, edges = np.minimum(place, n_bins - 1), np.linspace(0, 1, n_bins + 1)
    places = {
        "edge": place,
        "last column": cell[:, :-1],
        "one column": cell[:, :1],
        "ten": np.minimum((p * 10).astype(int), 9),
        "linspace": np.digitize(p, edges[1:-1]),
        "closed right": np.maximum(np.ceil(p * n_bins), 1),
        "nearest": np.round(p * n_bins),
    }
    return {slip: len(np.unique(rows, axis=0)) for slip, rows in places.items()} | {
        "n rows": len(p),
        "all cells": n_bins ** p.shape[1],
        "per class": sum(len(np.unique(column)) for column in cell.T),
    }
