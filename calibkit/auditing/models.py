"""Several models on the same rows: their input, checked together."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibkit.auditing.rows import Rows, rows_of
from calibkit.auditing.settings import MOST_CLASSES
from calibkit.containers import column_names, refuse_other_columns, refuse_other_order
from calibkit.types import FloatVector
from calibkit.validation import as_predictions
from calibkit.views import View


def view_of_models(rows: Rows, view: View) -> View:
    """Return the events that all models are compared in."""
    if rows.top:
        if view not in (None, "top-label"):
            raise ValueError(f'predicted= has one view, "top-label", got view={view!r}.')
        return "confidence"
    if view is None and not rows.binary:
        return "class-wise" if rows.n_classes <= MOST_CLASSES else "top-label"
    return view


def rows_of_models(y_true: Any, y_prob: Any, **options: Any) -> tuple[Rows, dict[str, FloatVector]]:
    """Check all models against one set of labels, and put their rows into one order."""
    if not isinstance(y_prob, Mapping) or len(y_prob) < 2:
        raise ValueError(
            "y_prob must be a mapping from names to the probabilities of two or more models, e.g. "
            '{"a": p, "b": q}; one model alone is judged by audit.'
        )
    named = {str(name): prob for name, prob in y_prob.items()}
    if len(named) < len(y_prob):
        raise ValueError("two models have the same name.")
    models = {f"model {name!r}": prob for name, prob in named.items()}
    by_row = {name: options[name] for name in ("groups", "cluster", "predicted")}
    refuse_other_order(y_true=y_true, **by_row, **models)
    first = next(filter(None, map(column_names, models.values())), None)
    for said, prob in models.items():
        for wanted in (first, options["class_names"]):
            refuse_other_columns(prob, said, wanted)
    rows, probs = None, {}
    for name, prob in named.items():
        try:
            if rows is None:
                rows = rows_of(y_true, prob, **options)
                y_true = rows.label[np.argsort(rows.position)]
            checked = as_predictions(y_true, prob)[1].astype(np.float64)
        except ValueError as error:
            raise ValueError(f"model {name!r}: {error}") from None
        if checked.shape != rows.prob.shape:
            raise ValueError(
                f"model {name!r} has shape {checked.shape}, the first one {rows.prob.shape}; all "
                "must have a row per label and the same classes."
            )
        probs[name] = checked[rows.position]
    assert rows is not None
    return rows, probs
