"""Answers to the exercises of lesson 12, wrong and right, and the numbers that it states."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

import calibkit as ck
from calibkit import fakes
from calibkit.calibrators import (
    DirichletCalibrator,
    MatrixScaling,
    TemperatureScaling,
    VectorScaling,
)
from calibkit.inputs import FloatVector
from calibkit_course import data, lesson12, open_lesson
from calibkit_course.lesson12.checks import _loss, honest, uneven
from calibkit_course.lesson12.models import FAKES, hidden
from tests.paths import lesson_text

PREDICTIONS = open_lesson("12", keep=False).predictions

# --- 12.1 --------------------------------------------------------------------------------------


def view_of(y: FloatVector, p: FloatVector, view: Any) -> tuple[FloatVector, Any]:
    if view == "top-label":
        return p.max(axis=1), p.argmax(axis=1) == y
    if isinstance(view, int):
        return p[:, view], y == view
    return p[:, view].sum(axis=1), np.isin(y, view)


def but(view: Any, made: Callable[..., Any]) -> Callable[..., Any]:
    """Make one kind of view in another way."""

    def changed(y: Any, p: Any, asked: Any) -> Any:
        mine = type(asked) is type(view)
        return made(y, p, asked) if mine else view_of(y, p, asked)

    return changed


def last_of_a_tie(y: Any, p: Any, _: Any) -> Any:
    top = p.shape[1] - 1 - p[:, ::-1].argmax(axis=1)
    return p.max(axis=1), top == y


# --- 12.2 --------------------------------------------------------------------------------------


def rows_of(stated: FloatVector, true: FloatVector, view: Any) -> tuple[FloatVector, FloatVector]:
    k = stated.argmax(axis=1) if view == "top-label" else view
    row = np.arange(len(stated))
    return stated[row, k], true[row, k]


def map_of(
    mean: Callable[[FloatVector, FloatVector], float],
) -> Callable[[FloatVector, FloatVector, Any], dict[float, float]]:
    def seen(stated: FloatVector, true: FloatVector, view: Any) -> dict[float, float]:
        said, truth = rows_of(stated, true, view)
        return {float(s): mean(truth[said == s], truth) for s in np.unique(said)}

    return seen


seen_map = map_of(lambda own, _: float(own.mean()))


def seen_by_lists(stated: Any, true: Any, view: Any) -> dict[float, float]:
    groups: dict[float, list[float]] = {}
    for c, r in zip(stated.tolist(), true.tolist(), strict=True):
        k = c.index(max(c)) if view == "top-label" else view
        groups.setdefault(c[k], []).append(r[k])
    return {said: sum(truths) / len(truths) for said, truths in groups.items()}


# --- 12.3 --------------------------------------------------------------------------------------


def constant(top: float, to: int = 1) -> FloatVector:
    """State one confidence throughout, and give the rest to the `to`-th class after it."""
    predicted = honest().y_prob.argmax(axis=1)
    table = np.zeros((len(predicted), 4))
    row = np.arange(len(predicted))
    table[row, predicted] = top
    table[row, (predicted + to) % 4] = 1 - top
    return table


def kept_confidence() -> FloatVector:
    """Keep the honest confidence, and give one other class as much as it can take."""
    p = honest().y_prob
    row, predicted, top = np.arange(len(p)), p.argmax(axis=1), p.max(axis=1)
    table = np.zeros(p.shape)
    table[row, predicted] = top
    left = 1 - top
    for step in (1, 2, 3):
        given = np.minimum(left, top * (1 - 1e-9))
        table[row, (predicted + step) % 4] = given
        left = left - given
    return table


def column(values: FloatVector) -> FloatVector:
    return np.asarray(values)[:, None]


def barely_honest() -> FloatVector:
    """Move a part of the rest from each row's other classes to the next one: too little harm."""
    return 0.6 * kept_confidence() + 0.4 * honest().y_prob


# --- 12.4 --------------------------------------------------------------------------------------


def fitted(loss: Callable[[FloatVector], float], start: list[float], **options: Any) -> FloatVector:
    return np.asarray(optimize.minimize(loss, start, **options).x)


BEST = fitted(lambda v: _loss(v[:3], v[3:]), [1.0] * 3 + [0.0] * 3)
NO_BIAS = fitted(lambda v: _loss(v, np.zeros(3)), [1.0] * 3)
OF_PROBS = fitted(lambda v: _loss(v[:3], v[3:], logs=False), [1.0] * 3 + [0.0] * 3)
SHRUNK = VectorScaling("probabilities", penalty=0.1).fit(uneven().y_prob, uneven().y_true)
PACKAGE = VectorScaling("probabilities", penalty=0).fit(uneven().y_prob, uneven().y_true)

WRONG: dict[str, list[tuple[Any, str]]] = {
    "12.1": [
        (but("", last_of_a_tie), "has a tie"),
        (but([], lambda y, p, view: (p[:, view], y == np.array(view + view))), "is a group"),
        (lambda y, p, view: (view_of(y, p, view)[0], y), "not the label itself"),
        (but([], lambda y, p, view: (p[:, view].max(axis=1), np.isin(y, view))), "add up"),
        (but(0, lambda y, p, view: (p[:, 1], y == view)), "class 1 only"),
        (but(0, lambda y, p, view: (p[:, 0], y == view)), "row 0 states 0.55"),
        (but(0, lambda y, p, view: (p[:, view], p.argmax(axis=1) == y)), "the event"),
        (but("", lambda y, p, view: (p.max(axis=1), p.argmax(axis=1))), "the predicted class"),
        (but(0, lambda y, p, view: (p[:, view], p.argmax(axis=1) == view)), "2 is predicted"),
        (lambda y, p, view: np.column_stack(view_of(y, p, view)), "Return two"),
        (lambda y, p, view: view_of(y, p, view)[::-1], "wrong way round"),
        (lambda y, p, view: (view_of(y, p, view)[0] + 1e-3, y == 0), "states 0.550, not 0.551"),
        (lambda y, p, view: (column(view_of(y, p, view)[0]), y == 0), "`.ravel()`"),
    ],
    "12.2": [
        (map_of(lambda own, _: own[-1]), "last truth only"),
        (lambda c, r, v: seen_map(c, 0 * r + r.max(axis=1, keepdims=True), v), "largest truth"),
        (map_of(lambda own, _: own.sum()), "adds up the truths"),
        (map_of(lambda own, every: own.sum() / len(every)), "not of all"),
        (lambda c, r, view: {s: s for s in rows_of(c, r, view)[0]}, "number back"),
        (lambda c, r, view: {0.5: 0.5}, "your dict has 0.5"),
    ],
    "12.3": [
        (honest().y_prob, "honest model"),
        (constant(0.99), "its ECE is"),
        (barely_honest(), "class-wise error is only 0.0"),
        (constant(1.2), "smallest entry -0.2"),
        (np.roll(constant(0.75), 1, axis=1), "Keep the predicted class"),
        (constant(0.75)[:, :3], "one column per class"),
    ],
    "12.4": [
        (BEST, "as a pair"),
        (([1e308] * 3, [0, 0, 0]), "temperature scaling"),
        ((BEST[3:], BEST[:3]), "swapped"),
        ((NO_BIAS, np.zeros(3)), "equal biases do nothing"),
        ((OF_PROBS[:3], OF_PROBS[3:]), "probabilities"),
        ((1 / BEST[:3], BEST[3:]), "inverse weights"),
        ((SHRUNK.weights_, SHRUNK.bias_), "Is there a penalty left"),
        ((np.eye(3), np.zeros(3)), "this is a matrix"),
    ],
}  # fmt: skip

RIGHT: dict[str, list[Any]] = {
    "12.1": [view_of],
    "12.2": [
        seen_map,
        seen_by_lists,
        map_of(lambda own, _: round(own.mean(), 3)),
        lambda c, r, view: pd.Series(seen_map(c, r, view)),
        lambda c, r, view: {np.float32(k): np.array(v) for k, v in seen_map(c, r, view).items()},
    ],
    "12.3": [
        constant(0.75),
        constant(0.7501, to=2).tolist(),
        kept_confidence(),
        pd.DataFrame(constant(0.75)),
    ],
    "12.4": [
        (BEST[:3], BEST[3:]),
        (PACKAGE.weights_, PACKAGE.bias_),
        [BEST[:3].tolist(), (BEST[3:] + 7).tolist()],
        np.array([BEST[:3], BEST[3:]], dtype=np.float32),
        (np.round(BEST[:3], 2), np.round(BEST[3:], 2)),  # as the solution prints it
    ],
}


# --- what the lesson states --------------------------------------------------------------------


def test_only_vector_and_matrix_scaling_notice_a_constant_per_row() -> None:
    """What prediction 12e asks, and by how much the map changes."""
    sample = FAKES["per class"].sample(3000, 1)
    logits = np.log(sample.y_prob)
    moved = logits + np.random.default_rng(2).normal(0, 2, (3000, 1))
    changes = {}
    for family in (TemperatureScaling, VectorScaling, MatrixScaling, DirichletCalibrator):
        one, other = (family("logits").fit(z, sample.y_true).calibrate(z) for z in (logits, moved))
        changes[family.__name__] = np.abs(one - other).max()
    assert max(changes["TemperatureScaling"], changes["DirichletCalibrator"]) < 1e-9
    assert min(changes["VectorScaling"], changes["MatrixScaling"]) > 0.05
    assert PREDICTIONS["12e"].outcome == "vector and matrix"


def test_no_truth_with_four_straight_diagrams_lies_farther_or_is_named_better() -> None:
    """Below 12b: 0.8 is the largest mean distance and accuracy, by two integer programs."""
    stated = np.array(hidden().confidence, dtype=float)
    n, said = stated.size, stated.ravel()
    true, gap, side = np.split(np.eye(3 * n), 3)
    cell = np.arange(n).reshape(stated.shape)
    groups = [(row, 1.0) for row in cell]
    for k in range(3):
        at = [cell[np.isclose(stated[:, k], level), k] for level in (0.1, 0.3, 0.6)]
        groups += [(rows, said[rows].sum()) for rows in at]
    top = cell[np.arange(6), stated.argmax(axis=1)]
    groups.append((top, said[top].sum()))
    matrix = np.array([true[rows].sum(axis=0) for rows, _ in groups])
    value = np.array([number for _, number in groups])

    def largest(limits: list[Any], most: Any) -> float:
        """Return the largest mean gap of a truth that all diagrams show straight."""
        found = optimize.milp(
            -gap.sum(axis=0) / 6,
            constraints=[(matrix, value, value), *limits],
            bounds=optimize.Bounds(0, most),
            integrality=np.repeat([0, 0, 1], n),
        )
        return float(-found.fun)

    away = [(gap - true + 2 * side, -np.inf, 2 - said), (gap + true - 2 * side, -np.inf, said)]
    assert largest(away, np.repeat([1.0, 2.0, 1.0], n)) == pytest.approx(0.8, abs=1e-6)
    assert float(hidden().strong_error()) == 0.8
    # One class is named in each row (side), and hit as often as it is true (gap).
    named = np.array([side[row].sum(axis=0) for row in cell])
    hit = [(named, 1, 1), (gap - true, -np.inf, 0), (gap - side, -np.inf, 0)]
    best = largest(hit, 1)
    assert best == pytest.approx(float(PREDICTIONS["12b"].outcome) / 100, abs=1e-6)
    assert hidden().best_postprocessing().accuracy == pytest.approx(best)


# --- lenses, predicted classes and whole vectors on data -----------------------------------------


def test_the_kernel_of_whole_vectors_is_the_mean_over_pairs() -> None:
    rows = fakes.DirichletFake((1, 1, 1), fakes.Power(0.5)).sample(30, 3)
    y, p = rows.y_true, rows.y_prob
    pairs = [
        np.exp(-((p[i] - p[j]) ** 2).sum() / (2 * 0.2**2))
        * ((np.eye(3)[y[i]] - p[i]) @ (np.eye(3)[y[j]] - p[j]))
        for i in range(30)
        for j in range(30)
        if i != j
    ]
    value, _ = lesson12.whole_vector_test(y, p, n_draws=9)
    assert value == pytest.approx(np.mean(pairs))


def test_the_test_of_whole_vectors_keeps_its_level() -> None:
    perfect = fakes.DirichletFake((1, 1, 1))
    found = []
    for seed in range(60):
        rows = perfect.sample(100, seed)
        found.append(lesson12.whole_vector_test(rows.y_true, rows.y_prob, 39, seed)[1])
    assert np.mean(np.array(found) <= 0.1) < 0.25  # 6 of 60 expected
    assert 0.35 < np.mean(found) < 0.65


def test_the_error_given_the_predicted_class_is_that_of_the_fake() -> None:
    fake = fakes.ClassKnobs.with_directions(0.7, ("over", "over", "under"), (0.8, 0.4, 0.3))
    rows = fake.sample(50_000, 12)
    found = lesson12.label_conditional_error(rows.y_true, rows.y_prob)
    assert found == pytest.approx(fake.truth().label_conditional, abs=0.003)
    pooled = ck.expected_calibration_error(rows.y_true, rows.y_prob, view="top-label")
    assert 1 - pooled.value / found == pytest.approx(1 / 4, abs=0.03)  # "nearly a quarter"


def test_p_values_after_two_repairs_are_those_of_the_text() -> None:
    pattern = r"(temperature|Dirichlet)" + 4 * r" +(\d\.\d{3})" + r"\\n"
    found = re.findall(pattern, lesson_text("12", ".ipynb"))
    rows = {name: [float(value) for value in values] for name, *values in found}
    confidence, zero, group, vectors = rows["temperature"]
    assert min(confidence, zero) > 0.05
    assert group <= 0.05
    assert vectors == 0.005
    assert min(rows["Dirichlet"]) > 0.05


@pytest.mark.slow
def test_the_real_network_has_the_numbers_of_the_text() -> None:
    net = data.load("cifar10-wideresnet")
    y, p = net.y_true, np.asarray(net.y_prob)
    animals = ck.expected_calibration_error(y, p, view=[2, 3, 4, 5, 6, 7])
    assert (round(animals.value, 3), round(animals.null_mean, 3)) == (0.008, 0.002)
    assert round(lesson12.label_conditional_error(y, p), 3) == 0.059
