"""What the tests of the numeric core share: data, all measures, slow and simple references."""

import dataclasses
import functools
import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import fsum, inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit import scores
from calibkit_audit import clinic

GOLDEN = Path(__file__).resolve().parent / "golden"

Measure = Callable[[Any, Any], Any]
# Per bin: number of predictions, mean prediction, frequency; the last two None if empty.
ExactTable = list[tuple[int, Fraction | None, Fraction | None]]


def some(values: Sequence[Any], n: int = 2) -> list[Any]:
    """Return what to parametrise with: the first few values, the others only where all run."""
    return [*values[:n], *(pytest.param(value, marks=pytest.mark.long) for value in values[n:])]


def each_case(names: str | tuple[str, ...], cases: Iterable[Any]) -> Any:
    """Parametrise as pytest does, in one item: many small cases cost less than their items."""
    keys = names.split(", ") if isinstance(names, str) else names
    rows = [case if len(keys) > 1 else (case,) for case in cases]

    def decorate(test: Any) -> Any:
        known = inspect.signature(test).parameters

        @functools.wraps(test)
        def every(*self: Any, subtests: pytest.Subtests, **given: Any) -> None:
            given |= {"subtests": subtests} if "subtests" in known else {}
            for place, row in enumerate(rows):
                with subtests.test(f"{place}: {row!r}"[:200]):
                    test(*self, **given, **dict(zip(keys, row, strict=True)))

        kept = [part for name, part in known.items() if name not in {*keys, "subtests"}]
        asked = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        every.__signature__ = inspect.Signature([*kept, asked])  # type: ignore[attr-defined]
        return every

    return decorate


def golden(name: str) -> Any:
    """Read golden values."""
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def golden_data(name: str) -> tuple[Any, Any]:
    """Read golden inputs: labels, and probabilities of shape (n,) or (n, K)."""
    columns = np.loadtxt(GOLDEN / f"{name}.csv", delimiter=",", skiprows=1)
    labels, prob = columns[:, 0].astype(np.int64), columns[:, 1:]
    return labels, prob[:, 0] if prob.shape[1] == 1 else prob


def binary_data(n: int = 400, seed: int = 0, exponent: float = 1.3) -> tuple[Any, Any]:
    """Draw uniform predictions and labels; exponent 1 is calibrated."""
    rng = np.random.default_rng(seed)
    prob = rng.random(n)
    return (rng.random(n) < prob**exponent).astype(np.int64), prob


def class_data(n: int = 400, n_classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Draw rows of probabilities and labels that follow their squares: under-confident."""
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(n_classes), n)
    true = prob**2 / (prob**2).sum(axis=1, keepdims=True)
    labels = (rng.random((n, 1)) > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return labels, prob


def coarse_binary(n: int, denominator: int, seed: int = 0) -> tuple[Any, Any]:
    """Draw predictions on a grid, so that there are ties and predictions on the edges."""
    rng = np.random.default_rng(seed)
    prob = rng.integers(0, denominator + 1, n) / denominator
    return rng.integers(0, 2, n), prob


def coarse_classes(n: int, n_classes: int, denominator: int, seed: int = 0) -> tuple[Any, Any]:
    """Draw rows of multiples of 1/denominator with the exact sum 1, ties included."""
    rng = np.random.default_rng(seed)
    prob = rng.multinomial(denominator, np.full(n_classes, 1 / n_classes), n) / denominator
    return rng.integers(0, n_classes, n), prob


def _significance(measure: Callable[..., Any], options: dict[str, Any]) -> dict[str, Measure]:
    return {
        "null_level": lambda y, p: ck.null_level(measure, y, p, n_draws=4, rng=0, **options),
        "bootstrap_interval": lambda y, p: ck.bootstrap_interval(
            measure, y, p, n_draws=4, rng=0, **options
        ),
    }


def errors_with_a_view(view: Any, bins: Any = 5) -> dict[str, Measure]:
    """Return every calibration error that takes a view."""
    o = {"view": view, "bins": bins}
    return {
        "calibration_error": lambda y, p: ck.calibration_error(y, p, norm=3, **o),
        "unweighted": lambda y, p: ck.calibration_error(y, p, weights="equal", **o),
        "expected": lambda y, p: ck.expected_calibration_error(y, p, **o),
        "adaptive": lambda y, p: ck.adaptive_calibration_error(y, p, view=view, bins=5),
        "average": lambda y, p: ck.average_calibration_error(y, p, **o),
        "maximum": lambda y, p: ck.maximum_calibration_error(y, p, **o),
        "root_mean_square": lambda y, p: ck.root_mean_square_calibration_error(y, p, **o),
        "debiased": lambda y, p: ck.debiased_calibration_error(y, p, **o),
        "test_based": lambda y, p: ck.test_based_calibration_error(y, p, n_draws=3, rng=0, **o),
        "smooth": lambda y, p: ck.smooth_ece(y, p, view=view),
    }


def single_view_measures(view: Any) -> dict[str, Measure]:
    """Return everything that looks at one binary problem."""
    o = {"view": view, "bins": 5}
    return {
        "reliability_table": lambda y, p: ck.reliability_table(y, p, **o),
        "brier_decomposition": lambda y, p: ck.brier_decomposition(y, p, **o),
        "brier_decomposition_distinct": lambda y, p: ck.brier_decomposition(y, p, view=view),
        "hosmer_lemeshow": lambda y, p: ck.hosmer_lemeshow(y, p, view=view),
        "spiegelhalter": lambda y, p: ck.spiegelhalter(y, p, view=view),
        "cox_test": lambda y, p: ck.cox_test(y, p, view=view),
        "cumulative_differences": lambda y, p: ck.cumulative_differences(y, p, view=view),
        "adaptive_test": lambda y, p: ck.adaptive_test(y, p, view=view, n_draws=3, rng=0),
        "consistency_band": lambda y, p: ck.consistency_band(y, p, n_draws=4, rng=0, **o),
        "consistency_band_simultaneous": lambda y, p: ck.consistency_band(
            y, p, n_draws=4, rng=0, simultaneous=True, **o
        ),
        "corp": lambda y, p: scores.corp_decomposition(y, p, view=view),
        "corp_part": lambda y, p: scores.miscalibration(y, p, view=view),
        "binary_problem": lambda y, p: ck.binary_problem(y, p, view=view),
        "smooth_curve": lambda y, p: clinic.smooth_curve(y, p, view=view, n_draws=3, rng=0),
        "decision_curve": lambda y, p: ck.decisions.decision_curve(y, p, view=view),
    }


def measures_without_view() -> dict[str, Measure]:
    """Return everything that knows its view itself."""
    return {
        "class_wise": lambda y, p: ck.class_wise_calibration_error(y, p, bins=5),
        "marginal": ck.marginal_calibration_error,
        "top_label": ck.top_label_calibration_error,
        "brier_score": ck.brier_score,
        "brier_score_mean": lambda y, p: ck.brier_score(y, p, classes="mean"),
        "log_loss": ck.log_loss,
        "generic_null_level": lambda y, p: ck.null_level(ck.brier_score, y, p, n_draws=4, rng=0),
        "generic_bootstrap": lambda y, p: ck.bootstrap_interval(
            ck.brier_score, y, p, n_draws=4, rng=0
        ),
    }


def measures(view: Any = None) -> dict[str, Measure]:
    """Return every public measure by name, as ``measure(y_true, y_prob)``."""
    found = errors_with_a_view(view) | measures_without_view()
    found |= _significance(ck.expected_calibration_error, {"view": view, "bins": 5})
    found["reliability_tables"] = lambda y, p: ck.reliability_tables(y, p, view=view, bins=5)
    found["binary_problems"] = lambda y, p: ck.binary_problems(y, p, view=view)
    if view != "class-wise":
        found |= single_view_measures(view)
    return found


def numbers(result: Any) -> Any:
    """Return all numbers in a result as one flat array, fields in order."""
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        result = tuple(getattr(result, field.name) for field in dataclasses.fields(result))
    if isinstance(result, tuple):
        parts = [numbers(part) for part in result]
        return np.concatenate(parts) if parts else np.empty(0)
    if isinstance(result, str):
        return np.empty(0)
    return np.ravel(np.asarray(result, dtype=np.float64))


def assert_same(one: Any, other: Any, tolerance: float = 1e-12) -> None:
    """Compare all numbers of two results; NaN equals NaN."""
    np.testing.assert_allclose(numbers(one), numbers(other), rtol=0, atol=tolerance)


# --- an independent, slow, exact reference ------------------------------------------------------


def exact_table(y_true: Any, prob: Any, edges: Sequence[Any]) -> ExactTable:
    """Fill bins ``[a, b)``, the last closed, by comparing fractions."""
    exact_edges = [Fraction(edge) for edge in edges]
    rows: list[list[tuple[int, Fraction]]] = [[] for _ in exact_edges[1:]]
    for label, p in zip(y_true, prob, strict=True):
        x = Fraction(float(p))
        inside = [k for k, edge in enumerate(exact_edges[:-1]) if edge <= x]
        rows[inside[-1]].append((int(label), x))
    table: ExactTable = []
    for bin_rows in rows:
        n = len(bin_rows)
        if n == 0:
            table.append((0, None, None))
        else:
            mean = sum((x for _, x in bin_rows), Fraction(0)) / n
            table.append((n, mean, Fraction(sum(y for y, _ in bin_rows), n)))
    return table


def exact_error(table: ExactTable, norm: float = 1, weights: str = "mass") -> float:
    """Take the norm of the gaps, by loops."""
    n, used = sum(row[0] for row in table), sum(row[0] > 0 for row in table)
    gaps, shares = [], []
    for count, mean, frequency in table:
        if mean is None or frequency is None:
            continue
        gaps.append(abs(mean - frequency))
        shares.append(Fraction(count, n) if weights == "mass" else Fraction(1, used))
    if norm == inf:
        return float(max(gaps))
    total = fsum(float(s) * float(g) ** norm for s, g in zip(shares, gaps, strict=True))
    return float(total ** (1 / norm))


def exact_equal_mass_edges(prob: Any, n_bins: int) -> list[Fraction]:
    """Cut the sorted predictions into runs; a tie at a cut goes to the bin above."""
    ordered = sorted(Fraction(float(p)) for p in prob)
    n, edges = len(ordered), {Fraction(0), Fraction(1)}
    n_bins = min(n_bins, n)
    position = 0
    for k in range(n_bins - 1):
        position += n // n_bins + (k < n % n_bins)
        low, high = ordered[position - 1], ordered[position]
        edges.add((low + high) / 2)
    return sorted(edges)


def exact_distinct_edges(prob: Any) -> list[Fraction]:
    """Put an edge half-way between neighbouring distinct predictions."""
    values = sorted({Fraction(float(p)) for p in prob})
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    return [Fraction(0), *middles, Fraction(1)]


def as_event(y_true: Any, prob: Any, view: Any) -> tuple[list[int], list[float]]:
    """Reduce K classes to one event, by loops over rows."""
    labels, chances = [], []
    for label, row in zip(y_true, prob, strict=True):
        values = [float(value) for value in row]
        k = values.index(max(values)) if view == "top-label" else view
        labels.append(int(label == k))
        chances.append(values[k])
    return labels, chances
