"""From K classes to one event: top-label, one class, class by class."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibkit as ck
from tests.helpers import (
    as_event,
    assert_same,
    binary_data,
    class_data,
    coarse_classes,
    errors_with_a_view,
    measures,
    measures_without_view,
)

CLASSES, ROWS = class_data(200, 4, seed=2)
# They redraw labels of whole rows, or report the view itself.
OF_ROWS = ("null_level", "bootstrap_interval", "test_based", "binary_problem", "binary_problems")


@pytest.mark.parametrize("view", ["top-label", 1, [0, 2]])
def test_every_measure_takes_a_view_as_its_binary_problem(view: Any) -> None:
    problem = ck.binary_problem(CLASSES, ROWS, view=view)
    whole = measures(None)
    for name in whole.keys() - measures_without_view().keys() - {*OF_ROWS}:
        found = measures(view)[name](CLASSES, ROWS)
        assert_same(found, whole[name](problem.label, problem.prob))
        assert getattr(found, "view", problem.view) == problem.view, name


@pytest.mark.parametrize("name", errors_with_a_view(None))
def test_class_wise_errors_are_those_of_each_class(name: str) -> None:
    found = errors_with_a_view("class-wise")[name](CLASSES, ROWS)
    single = [errors_with_a_view(k)[name](CLASSES, ROWS).per_view[0] for k in range(4)]
    assert found.per_view == pytest.approx(single, abs=1e-12)


@pytest.mark.parametrize("n", [8_191, 8_192, 8_193, 20_000])
def test_top_label_is_right_in_every_block(n: int) -> None:
    """As many rows as a block holds, or more, ties included, against argmax."""
    labels, prob = coarse_classes(n, 5, 4, seed=1)
    problem = ck.binary_problem(labels, prob, view="top-label")
    assert np.array_equal(problem.prob, prob.max(axis=1))
    assert np.array_equal(problem.label, prob.argmax(axis=1) == labels)


def test_class_wise_gives_all_classes_in_order() -> None:
    problems = ck.binary_problems(CLASSES, ROWS, view="class-wise")
    assert [problem.view for problem in problems] == [f"class {k}" for k in range(4)]
    for k, problem in enumerate(problems):
        assert_same(problem, ck.binary_problem(CLASSES, ROWS, view=k))
        assert (problem.n, problem.n_classes) == (200, 4)
    assert sum(problem.label for problem in problems).tolist() == [1] * 200


LABELS, PROB = binary_data(100, seed=3)


@pytest.mark.parametrize("view", ["top-label", "class-wise", 0, 1])
def test_one_dimension_is_the_second_column_of_a_table(view: Any) -> None:
    table = np.column_stack([1 - PROB, PROB])
    from_table = ck.binary_problems(LABELS, table, view=view)
    assert_same(ck.binary_problems(LABELS, PROB, view=view), from_table)


@pytest.mark.parametrize("labels", [[0], [1]])
def test_one_half_predicts_class_0_as_in_a_table(labels: Any) -> None:
    one = ck.binary_problem(labels, [0.5], view="top-label")
    two = ck.binary_problem(labels, [[0.5, 0.5]], view="top-label")
    assert one.label.tolist() == two.label.tolist() == [1 - labels[0]]


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 30), st.integers(1, 8))
def test_one_event_agrees_with_loops(seed: int, n_classes: int, n: int, denominator: int) -> None:
    """Ties for the largest probability are frequent, and go to the lowest class."""
    labels, prob = coarse_classes(n, n_classes, denominator, seed)
    for view in ("top-label", 0, n_classes - 1):
        problem = ck.binary_problem(labels, prob, view=view)
        assert (problem.label.tolist(), problem.prob.tolist()) == as_event(labels, prob, view)


# --- lenses: groups of classes -------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(3, 6), st.integers(1, 30), st.integers(1, 8))
def test_a_group_of_classes_is_one_event(seed: int, k: int, n: int, denominator: int) -> None:
    labels, prob = coarse_classes(n, k, denominator, seed)
    group = ck.binary_problem(labels, prob, view=np.array([0, 2]))
    assert group.view == "classes 0, 2"
    assert group.label.tolist() == [int(label in (0, 2)) for label in labels]
    np.testing.assert_allclose(group.prob, prob[:, 0] + prob[:, 2], atol=1e-15)
    others = ck.binary_problem(labels, prob, view=[j for j in range(k) if j not in (0, 2)])
    np.testing.assert_allclose(group.prob + others.prob, 1, atol=1e-12)
    assert (group.label + others.label == 1).all()
    alone = ck.binary_problem(labels, prob, view=(1,))
    one = ck.binary_problem(labels, prob, view=1)
    assert (alone.label.tolist(), alone.prob.tolist()) == (one.label.tolist(), one.prob.tolist())


@pytest.mark.parametrize("view", [[], [0, 0], [3], [-1], [0, 1, 2], [True], [0.0], ["a"]])
def test_a_group_must_be_some_of_the_classes(view: Any) -> None:
    with pytest.raises(ValueError, match="or a list of some of these classes"):
        ck.binary_problem([0, 1], [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], view=view)


def test_two_classes_have_no_groups() -> None:
    with pytest.raises(ValueError, match="does not exist; choose"):
        ck.binary_problem([0, 1], [0.5, 0.3], view=[0])


# --- true class, predicted class, confidence ----------------------------------------------------


def test_two_columns_say_which_one_is_meant() -> None:
    with pytest.raises(ValueError, match=r"pass the second, y_prob\[:, 1\]"):
        ck.expected_calibration_error([0, 1], [[0.5, 0.5], [0.2, 0.8]])


def test_confidence_is_that_of_a_prediction_which_was_right_or_not() -> None:
    problem = ck.binary_problem([1, 0, 1], [0.9, 0.6, 0.7], view="confidence")
    assert problem.view == "top-label" and problem.label.tolist() == [1, 0, 1]
    assert problem.prob.tolist() == [0.9, 0.6, 0.7]
    with pytest.raises(ValueError, match="view='confidence' does not exist"):
        ck.binary_problem([1, 0], [[0.9, 0.1], [0.6, 0.4]], view="confidence")
