"""Bad input never gives a map: every calibrator says what is wrong, where, and what to do.

The matrix of `test_bad_input.py` for the calibrators of many classes and of one dimension, and
what only calibrators can be asked wrongly. The checks are shared: one family meets every bad input,
the others a few of each kind, which shows that they call them.
"""

import warnings
from typing import Any

import numpy as np
import pytest

from calibkit import CalibrationWarning
from calibkit.calibrators import MulticlassCalibrator, TemperatureScaling, VennAbers
from tests.calibkit.calibrators import test_calibrators as calibrators
from tests.calibkit.calibrators.test_multiclass import FAMILIES
from tests.calibkit.test_bad_input import (
    BINARY,
    CLASSES,
    LABELS,
    MULTICLASS,
    PROB,
    ROWS,
    Case,
    masked,
)
from tests.helpers import each_case

LOGITS = np.log(np.maximum(ROWS, 1e-3)) + 0.5
ONE_EVENT = {"temperature": TemperatureScaling, "Venn-Abers": VennAbers}
ONE_DIMENSION = {str(family): family for family in calibrators.FAMILIES}


SOME = 6  # a family meets one in so many of the bad inputs, another one than its neighbours


def crossed(families: Any, cases: Any) -> Any:
    """All cases for the first family, and some for each of the others."""
    pairs = [
        (name, case)
        for place, name in enumerate(families)
        for number, case in enumerate(cases)
        if place == 0 or (number + place) % SOME == 0
    ]
    return each_case(("name", "case"), pairs)


def make(name: str, kind: str = "probabilities") -> MulticlassCalibrator:
    family, options = FAMILIES[name]
    return family(kind, **options)


def fitted(model: Any, scores: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return model.fit(scores, y)


def check(model: Any, case: Case) -> None:
    y, scores = case.make()
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are checked below
        model.fit(scores, y)
    message = str(caught.value)
    assert not [word for word in case.words if word not in message], message


@crossed(FAMILIES, MULTICLASS)
def test_rows_of_probabilities(name: str, case: Case) -> None:
    model = make(name)
    check(model, case)
    assert not hasattr(model, "converged_") or not hasattr(model, "n_parameters_")


ABOUT_LABELS = ("label", " y", "one-hot", "as y", "transposed", "one row too many")
ABOUT_ROWS = [case for case in MULTICLASS if not any(w in case.name for w in ABOUT_LABELS)]


@crossed(FAMILIES, ABOUT_ROWS)
def test_the_same_rows_are_refused_by_calibrate(name: str, case: Case) -> None:
    _, scores = case.make()
    with pytest.raises(ValueError, match=r".{20}"):
        fitted(make(name), ROWS, CLASSES).calibrate(scores)


@crossed(ONE_EVENT, BINARY)
def test_probabilities_of_one_event(name: str, case: Case) -> None:
    check(ONE_EVENT[name]("probabilities"), case)


@crossed(ONE_DIMENSION, BINARY)
def test_calibrators_of_one_dimension(name: str, case: Case) -> None:
    check(ONE_DIMENSION[name].make(), case)


def changed(place: Any, value: Any) -> Any:
    array = LOGITS.copy()
    array[place] = value
    return array


BAD_LOGITS = {
    "nan": (changed((4, 1), np.nan), r"scores\[4, 1\] = nan is not a finite logit"),
    "inf": (changed((0, 2), np.inf), r"scores\[0, 2\] = inf is not a finite logit"),
    "log of 0": (changed((5, 1), -np.inf), r"scores\[5, 1\] = -inf .*Logarithms of"),
    "overflow": (changed((5, 1), 1e300), r"scores\[5, 1\] = 1e\+300"),
    "float32 overflow": (changed((5, 1), 1e31).astype(np.float32), r"scores\[5, 1\]"),
    "None": ([[0.1, None, 3.0]] * 6, r"scores\[0.*\] = None is not a number"),
    "masked": (masked(LOGITS, 3), "row 3"),
    "complex": (LOGITS + 0j, "complex"),
    "empty": (np.empty((0, 3)), "empty"),
    "one column": (LOGITS[:, :1], r"\(6, 1\)"),
    "probabilities": (ROWS, "declared as logits, but all rows sum to 1"),
}


@crossed(FAMILIES, BAD_LOGITS)
def test_logits(name: str, case: str) -> None:
    scores, words = BAD_LOGITS[case]
    with pytest.raises(ValueError, match=words):
        make(name, "logits").fit(scores, CLASSES)
    model = fitted(make(name, "logits"), LOGITS, CLASSES)
    with pytest.raises(ValueError, match=words):
        model.calibrate(scores)


# Those of probabilities are checked by the same function, in full.
BAD_LABELS = {
    "too few": (CLASSES[:5], "5 entries"),
    "K": (np.where(np.arange(6) == 3, 3, CLASSES), r"y_true\[3\] = 3"),
    "nan": (np.where(np.arange(6) == 2, np.nan, CLASSES), r"y_true\[2\] = nan"),
    "one-hot": (np.eye(3)[CLASSES], r"argmax\(axis=1\)"),
}


@crossed(FAMILIES, BAD_LABELS)
def test_labels_of_logits(name: str, case: str) -> None:
    labels, words = BAD_LABELS[case]
    with pytest.raises(ValueError, match=words):
        make(name, "logits").fit(LOGITS, labels)


@pytest.mark.parametrize("name", FAMILIES)
class TestOrderOfThings:
    def test_more_or_fewer_classes_than_before(self, name: str, subtests: pytest.Subtests) -> None:
        model = fitted(make(name), ROWS, CLASSES)
        two, four = np.column_stack([PROB, 1 - PROB]), np.full((6, 4), 0.25)
        for scores in (two, four, PROB):
            with (
                subtests.test(shape=scores.shape),
                pytest.raises(ValueError, match=r"was fitted to \(n, 3\)"),
            ):
                model.calibrate(scores)

    def test_a_second_fit_may_change_the_number_of_classes(self, name: str) -> None:
        model = fitted(make(name), ROWS, CLASSES)
        two = np.column_stack([PROB, 1 - PROB])
        assert fitted(model, two, LABELS).calibrate(two).shape == (6, 2)
        with pytest.raises(ValueError, match=r"was fitted to \(n, 2\)"):
            model.calibrate(ROWS)
