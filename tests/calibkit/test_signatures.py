"""Public functions look alike: the same first arguments, named options, what is refused."""

import dataclasses
import inspect
import re
from importlib import import_module
from typing import Any

import pytest
from sklearn.base import BaseEstimator

from calibkit.calibrators import Calibrator, MulticlassCalibrator
from calibkit.results import Result

# mypy asks that each parameter has a type. Not asked of numpydoc: the order of parameters, which
# may follow what a reader needs first, a description where name and type say all, how sentences are
# laid out (ruff does), and what a short function can lack.
NUMPYDOC = {"EX01", "GL05", "GL06", "GL07", "GL08", "GL09", "PR01", "PR02", "PR10"}
ROOMS = (
    *("calibkit.inputs", "calibkit.bins", "calibkit.reliability", "calibkit.scores"),
    *("calibkit.errors", "calibkit.chance", "calibkit.hypothesis_tests", "calibkit.calibrators"),
    *("calibkit.decisions", "calibkit.fit_on_test", "calibkit.fakes", "calibkit_audit.clinic"),
    *("calibkit_audit.counts", "calibkit_audit.auditing", "calibkit_course.data"),
)


def public(room: str) -> dict[str, Any]:
    """Return what a room offers."""
    module = import_module(room)
    names = getattr(module, "__all__", None) or [
        name
        for name, item in vars(module).items()
        if not name.startswith("_") and getattr(item, "__module__", "") == module.__name__
    ]
    return {name: getattr(module, name) for name in names}


PUBLIC = {name: item for room in ROOMS for name, item in public(room).items()}
FUNCTIONS = {name: item for name, item in PUBLIC.items() if inspect.isfunction(item)}
CLASSES = {name: item for name, item in PUBLIC.items() if inspect.isclass(item)}
DOCUMENTED = FUNCTIONS | public("calibkit.plot") | public("calibkit_audit.plot")
RESULTS = [name for name, item in CLASSES.items() if issubclass(item, Result)]
BASES = (Calibrator, MulticlassCalibrator)
ESTIMATORS = [
    name for name, item in CLASSES.items() if issubclass(item, BaseEstimator) and item not in BASES
]


def says_what_is_refused(item: Any) -> bool:
    """Look for the section Raises, here or where the docstring says "As in `function`"."""
    text = inspect.getdoc(item) or ""
    others = [PUBLIC[name] for name in re.findall(r"As in `(\w+)`", text)]
    return "\nRaises\n------\n" in text or any(map(says_what_is_refused, others))


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstrings_keep_the_rules_of_numpydoc(name: str) -> None:
    item = DOCUMENTED[name]
    validate = pytest.importorskip("numpydoc.validate").validate  # not with the oldest packages
    found = validate(f"{item.__module__}.{item.__qualname__}")["errors"]
    assert [error for error in found if error[0] in NUMPYDOC] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_labels_come_first_and_options_are_named(name: str) -> None:
    item = FUNCTIONS[name]
    parameters = list(inspect.signature(item).parameters.values())
    names = [parameter.name for parameter in parameters]
    if "y_true" not in names:
        return
    start = names.index("y_true")
    assert names[:start] in ([], ["measure"])  # a measure is named before what it measures
    assert names[start : start + 2] in (["y_true", "y_prob"], ["y_true", "models"])
    for one in parameters[start + 2 :]:
        assert one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD), one.name
    assert says_what_is_refused(item)
    assert "lesson" in item.__doc__.lower(), "no lesson is named"


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_frozen_and_speak(name: str) -> None:
    item = CLASSES[name]
    assert dataclasses.is_dataclass(item)
    assert item.__dataclass_params__.frozen and item.describe is not Result.describe
    assert item._columns is not Result._columns
    assert "Parameters\n" in (inspect.getdoc(item) or "")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_look_alike(name: str) -> None:
    """Fitted to predictions and labels, in this order; options are kept as they were given."""
    item = CLASSES[name]
    first = "X"  # a scikit-learn classifier
    if issubclass(item, BASES):
        first = "p" if issubclass(item, Calibrator) else "scores"
        for method in ("curve", "calibrate") if first == "p" else ("calibrate",):
            assert list(inspect.signature(getattr(item, method)).parameters) == ["self", first]
    options = inspect.signature(item).parameters.values()
    if "input" in (one.name for one in options):  # can be made, as clone and grids ask for
        with pytest.raises(ValueError, match=rf'{name}\(input="logits"\) or .*does not guess'):
            item().fit([[0.2, 0.8], [0.7, 0.3]], [0, 1])
    fit = inspect.signature(item.fit).parameters.values()
    assert [p.name for p in fit if p.kind is not p.KEYWORD_ONLY] == ["self", first, "y"]
    text = inspect.getdoc(item) or ""
    described = text.partition("Parameters\n")[2].partition("\nAttributes\n")[0]
    for one in options:
        assert one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
        assert one.name in described, one.name
    # What `fit` refuses may be said there once, for a whole family of calibrators.
    assert "Raises\n------\n" in text + (inspect.getdoc(item.fit) or "")
    assert all(f"\n{section}\n---" in text for section in ("Attributes", "Notes", "Examples"))
