"""Public functions look alike: the same first arguments, named options, complete docstrings."""

import dataclasses
import importlib
import inspect
import re
from typing import Any

import pytest
from sklearn.base import BaseEstimator

import calibkit
from calibkit.calibrators import Calibrator, MulticlassCalibrator
from calibkit.results import Result
from tests.helpers import each_case

ROOMS = (
    "inputs",
    "bins",
    "reliability",
    "scores",
    "errors",
    "chance",
    "hypothesis_tests",
    "audit.clinic",
    "calibrators",
    "decisions",
    "fit_on_test",
    "audit.counts",
    "audit.auditing",
    "fakes",
    "data",
)


def public(room: str) -> dict[str, Any]:
    """Return what a room offers."""
    house = "calibkit_course." if room == "data" else "calibkit."
    module = importlib.import_module(f"{house}{room}".replace("calibkit.audit.", "calibkit_audit."))
    names = getattr(module, "__all__", None) or [
        name
        for name, item in vars(module).items()
        if not name.startswith("_") and getattr(item, "__module__", "") == module.__name__
    ]
    return {f"{room}.{name}": getattr(module, name) for name in names}


PUBLIC = {name: item for room in ROOMS for name, item in public(room).items()}
PUBLIC_BY_NAME = {name.rpartition(".")[2]: item for name, item in PUBLIC.items()}
FUNCTIONS = {name: item for name, item in PUBLIC.items() if inspect.isfunction(item)}
RESULTS = {
    name: item
    for name, item in PUBLIC.items()
    if inspect.isclass(item) and issubclass(item, Result)
}
BASES = (Calibrator, MulticlassCalibrator)
ESTIMATORS = {
    name: item
    for name, item in PUBLIC.items()
    if inspect.isclass(item) and issubclass(item, BaseEstimator) and item not in BASES
}


def each(items: dict[str, Any]) -> Any:
    """Run a test once per public name."""
    return each_case("item", items.values())


def test_there_is_something_to_look_at() -> None:
    assert len(FUNCTIONS) >= 25
    assert len(RESULTS) >= 7
    assert len(ESTIMATORS) >= 12


@each(FUNCTIONS)
def test_labels_come_first_and_options_are_named(item: Any, subtests: pytest.Subtests) -> None:
    parameters = list(inspect.signature(item).parameters.values())
    names = [parameter.name for parameter in parameters]
    if "y_true" not in names:
        return
    start = names.index("y_true")
    assert names[:start] in ([], ["measure"])  # a measure is named before what it measures
    assert names[start : start + 2] in (["y_true", "y_prob"], ["y_true", "models"])
    for parameter in parameters[start + 2 :]:
        with subtests.test(parameter=parameter):
            assert parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD), parameter.name


@each(FUNCTIONS)
def test_every_parameter_is_annotated(item: Any, subtests: pytest.Subtests) -> None:
    signature = inspect.signature(item)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        with subtests.test(parameter=parameter):
            assert parameter.annotation is not inspect.Parameter.empty, parameter.name


def says_what_is_refused(item: Any) -> bool:
    """Look for the section Raises, here or where the docstring says "As in `function`"."""
    text = inspect.getdoc(item) or ""
    others = [PUBLIC_BY_NAME[name] for name in re.findall(r"As in `(\w+)`", text)]
    return "\nRaises\n------\n" in text or any(map(says_what_is_refused, others))


@each(FUNCTIONS)
def test_docstrings_are_complete(item: Any, subtests: pytest.Subtests) -> None:
    text = inspect.getdoc(item) or ""
    parameters = [p for p in inspect.signature(item).parameters.values() if p.kind != p.VAR_KEYWORD]
    # What is returned stands in the annotation; a section is for shapes, units and ranges.
    sections = ["Examples"] + ["Parameters"] * bool(parameters)
    if "y_true" in (parameter.name for parameter in parameters):
        assert says_what_is_refused(item)
        assert "lesson" in text.lower(), "no lesson is named"
    for section in sections:
        with subtests.test(section=section):
            assert f"\n{section}\n{'-' * len(section)}\n" in text, section
    described = re.split(r"\n\w+\n---", text.partition("Parameters\n")[2])[0]
    for parameter in parameters:
        with subtests.test(parameter=parameter):
            assert parameter.name in described, parameter.name


@each(RESULTS)
def test_results_are_frozen_and_speak(item: Any) -> None:
    assert dataclasses.is_dataclass(item)
    assert item.__dataclass_params__.frozen and item.describe is not Result.describe
    assert item._columns is not Result._columns
    assert "Parameters\n" in (inspect.getdoc(item) or "")


@each(ESTIMATORS)
def test_estimators_look_alike(item: Any, subtests: pytest.Subtests) -> None:
    """Fitted to predictions and labels, in this order; options are kept as they were given."""
    first = "X"  # a scikit-learn classifier
    if issubclass(item, BASES):
        first = "p" if issubclass(item, Calibrator) else "scores"
        for method in ("curve", "calibrate") if first == "p" else ("calibrate",):
            with subtests.test(method=method):
                assert list(inspect.signature(getattr(item, method)).parameters) == ["self", first]
    if "input" in inspect.signature(item).parameters:  # can be made, as clone and grids ask for
        said = rf'{item.__name__}\(input="logits"\) or .*does not guess'
        with pytest.raises(ValueError, match=said):
            item().fit([[0.2, 0.8], [0.7, 0.3]], [0, 1])
    fit = inspect.signature(item.fit).parameters.values()
    assert [p.name for p in fit if p.kind is not p.KEYWORD_ONLY] == ["self", first, "y"]
    for parameter in inspect.signature(item).parameters.values():
        with subtests.test(parameter=parameter):
            assert parameter.annotation is not inspect.Parameter.empty, parameter.name
            assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)


@each(ESTIMATORS)
def test_docstrings_of_estimators_are_complete(item: Any, subtests: pytest.Subtests) -> None:
    text = inspect.getdoc(item) or ""
    names = list(inspect.signature(item).parameters)
    for section in ["Attributes", "Notes", "Examples"] + ["Parameters"] * bool(names):
        with subtests.test(section=section):
            assert f"\n{section}\n{'-' * len(section)}\n" in text, section
    # What `fit` refuses may be said there once, for a whole family of calibrators.
    assert "Raises\n------\n" in text + (inspect.getdoc(item.fit) or "")
    described = text.partition("Parameters\n")[2].partition("\nAttributes\n")[0]
    for name in names:
        with subtests.test(name=name):
            assert name in described, name


def test_the_front_page_lists_what_it_shows(subtests: pytest.Subtests) -> None:
    assert sorted(calibkit.__all__) == calibkit.__all__
    for name in calibkit.__all__:
        with subtests.test(name=name):
            assert hasattr(calibkit, name)
