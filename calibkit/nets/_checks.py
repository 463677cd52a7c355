"""Checks of data and settings of the networks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from calibkit._validation import as_count
from calibkit.nets._train import ARCHITECTURES, LOSSES, FloatMatrix, Recipe, Rows, shapes

STOPS = ("last", "loss", "refined")


def as_features(estimator: Any, X: Any, *, reset: bool) -> FloatMatrix:
    """Check features and return them as float32; `reset` stores their number."""
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # scikit-learn 1.5
        table = estimator._validate_data(X, reset=reset, dtype="numeric", force_all_finite=False)
    else:
        table = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False)
    with np.errstate(over="ignore"):
        found: FloatMatrix = np.ascontiguousarray(table, dtype=np.float32)
    bad = np.argwhere(~np.isfinite(found))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"X[{row}, {column}] = {table[row, column]} is not a finite number of single precision "
            "(NaN, inf or above 3e38). Drop or fill the row, or scale the feature."
        )
    return found


def coded(x: FloatMatrix, y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    label = as_label_array(x, y, "y")
    classes, number = np.unique(label, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has only one class, {classes[0]}; a classifier needs at least two.")
    return classes, number.astype(np.intp)


def as_label_array(x: FloatMatrix, y: Any, name: str) -> NDArray[Any]:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: pass the labels.")
    check_classification_targets(y)
    label = column_or_1d(y, warn=True)
    if len(label) != len(x):
        raise ValueError(f"{name} has {len(label)} entries, but there are {len(x)} rows of X.")
    return np.asarray(label)


def as_validation(estimator: Any, validation: Any) -> Rows | None:
    if validation is None:
        if estimator.stop != "last":
            raise ValueError(
                f"stop={estimator.stop!r} chooses the epoch on validation data: pass "
                "validation=(X, y) to fit, of rows that are not trained on."
            )
        return None
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        raise ValueError("validation must be a pair (X, y) of data kept apart.")
    x = as_features(estimator, validation[0], reset=False)
    label = as_label_array(x, validation[1], "validation y")
    classes = estimator.classes_
    place = np.searchsorted(classes, label).clip(max=len(classes) - 1)
    unknown = np.flatnonzero(classes[place] != label)
    if len(unknown):
        row = int(unknown[0])
        raise ValueError(
            f"validation y[{row}] = {label[row]} is not among the classes trained on, "
            f"{classes.tolist()[:10]}."
        )
    return Rows(x=x, label=place.astype(np.intp))


def recipe_of(estimator: Any, n_features: int, n_classes: int) -> Recipe:
    choices = {"architecture": ARCHITECTURES, "loss": tuple(LOSSES), "stop": STOPS}
    for name, known in choices.items():
        value = getattr(estimator, name)
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}.")
    cnn = estimator.architecture == "cnn"
    usual_hidden, usual_rate = ((64, 64, 64), 3e-3) if cnn else ((256, 256), 1e-3)
    rate = usual_rate if estimator.learning_rate is None else estimator.learning_rate
    hidden = usual_hidden if estimator.hidden is None else estimator.hidden
    if isinstance(hidden, str) or not hasattr(hidden, "__len__") or (cnn and not len(hidden)):
        raise ValueError(f"hidden must be a sequence of sizes, e.g. (256, 256), got {hidden!r}.")
    sizes = [as_count(size, f"hidden[{k}]") for k, size in enumerate(hidden)]
    return Recipe(
        layers=shapes(estimator.architecture, n_features, sizes, n_classes),
        loss=estimator.loss,
        strength=_strength(estimator.loss, estimator.strength),
        weight_decay=as_number(estimator.weight_decay, "weight_decay", 0.0),
        epochs=as_count(estimator.epochs, "epochs"),
        batch_size=as_count(estimator.batch_size, "batch_size"),
        learning_rate=as_number(rate, "learning_rate", 1e-12),
        stop=estimator.stop,
        keep_logits=bool(estimator.keep_logits),
        progress=bool(estimator.progress),
    )


def as_number(value: Any, name: str, least: float) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not least <= value < np.inf:
        raise ValueError(f"{name} must be a finite number of at least {least:g}, got {value!r}.")
    return float(value)


def _strength(loss: str, strength: Any) -> float:
    usual, most = LOSSES[loss]
    if strength is None:
        return usual
    if loss == "cross-entropy":
        raise ValueError(
            f'strength={strength!r} has no meaning for loss="cross-entropy"; leave it out, or name '
            "another loss."
        )
    value = as_number(strength, "strength", 0.0)
    if value >= most:
        raise ValueError(f"strength of {loss} must be below {most:g}, got {strength!r}.")
    if loss == "focal" and 0 < value < 1:
        raise ValueError(f"strength of focal loss must be 0, or at least 1, got {strength!r}.")
    return value
