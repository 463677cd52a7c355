"""What the tests of the numeric core share: data, all measures, slow and simple references."""

import dataclasses
import functools
import inspect
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import fsum, inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import calibkit as ck
from calibkit import decisions, errors, scores
from calibkit.fit_on_test import fit_on_test
from calibkit_audit import clinic

GOLDEN = Path(__file__).resolve().parent / "golden"

Measure = Callable[..., Any]
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


@contextmanager
def quiet() -> Iterator[None]:
    """Let other programs warn, and change NumPy's handling of errors, for a while."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


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


def rows_with(predictions: st.SearchStrategy[Any], most: int = 40) -> st.SearchStrategy[Any]:
    """Return labels and such predictions, as two arrays of equal length."""
    rows = st.lists(st.tuples(st.integers(0, 1), predictions), min_size=1, max_size=most)
    return rows.map(lambda rows: tuple(np.array([row[k] for row in rows]) for k in (0, 1)))


def asked(use: Measure, **wanted: Any) -> partial[Any]:
    """Give a measure those options that it has, and few redraws from a seed."""
    known = inspect.signature(use).parameters
    given = {"n_draws": 4, "rng": 0, **wanted}
    return partial(use, **{name: value for name, value in given.items() if name in known})


def errors_with_a_view(view: Any, bins: Any = 5) -> dict[str, Measure]:
    """Return every calibration error that takes a view."""
    functions = filter(inspect.isfunction, map(vars(errors).get, errors.__all__))
    named = {use.__name__: asked(use, view=view, bins=bins) for use in functions}
    return {name: use for name, use in named.items() if "view" in use.keywords} | {
        "adaptive_calibration_error": asked(ck.adaptive_calibration_error, view=view, bins=5),
        "norm 3": asked(ck.calibration_error, view=view, bins=bins, norm=3),
        "unweighted": asked(ck.calibration_error, view=view, bins=bins, weights="equal"),
        "test_based": asked(ck.test_based_calibration_error, view=view, bins=bins),
    }


# What looks at one binary problem.
OF_ONE_EVENT: tuple[Measure, ...] = (
    *(ck.reliability_table, ck.brier_decomposition, ck.consistency_band, ck.binary_problem),
    *(ck.hosmer_lemeshow, ck.spiegelhalter, ck.cox_test, ck.cumulative_differences),
    *(ck.adaptive_test, scores.corp_decomposition, scores.miscalibration, clinic.smooth_curve),
    *(decisions.decision_curve, decisions.murphy_curve, decisions.largest_saving, fit_on_test),
)


def single_view_measures(view: Any, bins: Any = 5) -> dict[str, Measure]:
    """Return everything that looks at one binary problem."""
    found = {use.__name__: asked(use, view=view, bins=bins) for use in OF_ONE_EVENT}
    return found | {
        "simultaneous_band": asked(ck.consistency_band, simultaneous=True, view=view, bins=bins),
        "corp_decomposition, log": asked(scores.corp_decomposition, score="log", view=view),
        "brier_decomposition, distinct": asked(ck.brier_decomposition, view=view),
    }


def measures_without_view(bins: Any = 5) -> dict[str, Measure]:
    """Return everything that knows its view itself."""
    return {
        "class_wise": asked(ck.class_wise_calibration_error, bins=bins),
        "marginal": asked(ck.marginal_calibration_error, bins=bins),
        "top_label": asked(ck.top_label_calibration_error, bins=bins),
        "brier_score": ck.brier_score,
        "brier_score_mean": partial(ck.brier_score, classes="mean"),
        "log_loss": ck.log_loss,
        "generic_null_level": partial(asked(ck.null_level), ck.brier_score),
        "generic_bootstrap": partial(asked(ck.bootstrap_interval), ck.brier_score),
    }


def measures(view: Any = None, bins: Any = 5) -> dict[str, Measure]:
    """Return every public measure by name, as ``measure(y_true, y_prob, **rows)``."""
    o = {"view": view, "bins": bins}
    found = errors_with_a_view(view, bins) | measures_without_view(bins)
    found |= {
        "null_level": partial(asked(ck.null_level), ck.expected_calibration_error, **o),
        "bootstrap_interval": partial(
            asked(ck.bootstrap_interval), ck.expected_calibration_error, **o
        ),
        "reliability_tables": asked(ck.reliability_tables, view=view, bins=bins),
        "binary_problems": asked(ck.binary_problems, view=view),
    }
    return found if view == "class-wise" else found | single_view_measures(view, bins)


def class_measures() -> dict[str, Measure]:
    """Return every measure of rows of three classes, in each kind of view."""
    return measures_without_view() | {
        f"{name}, {view}": measure
        for view in ("top-label", "class-wise", 1)
        for name, measure in measures(view).items()
        if name not in measures_without_view()
    }


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


DATA = {
    "random": binary_data(150),
    "ties and edges": coarse_binary(150, 15),
    "few values": coarse_binary(80, 4),
    "three rows": binary_data(3),
    "one row": binary_data(1),
    "certain": coarse_binary(50, 1),
    "constant": (binary_data(40)[0], np.full(40, 0.3)),
}
GIVEN = [0, 0.15, 0.3, 0.5, 0.9, 1]
BINNINGS: dict[str, tuple[Any, Callable[[Any], Sequence[Any]]]] = {
    "equal width": (ck.EqualWidth(10), lambda p: [k / 10 for k in range(11)]),
    "many": (ck.EqualWidth(500), lambda p: [k / 500 for k in range(501)]),
    "one": (ck.EqualWidth(1), lambda p: [0, 1]),
    "equal mass": (ck.EqualMass(6), lambda p: exact_equal_mass_edges(p, 6)),
    "distinct": (ck.Distinct(), exact_distinct_edges),
    "given": (ck.FixedEdges(GIVEN), lambda p: GIVEN),
}


def refuses(*cases: tuple[Callable[[], Any], str]) -> Any:
    """Return a test: each call is refused, in these words."""

    @pytest.mark.parametrize(("call", "words"), cases)
    def test(call: Callable[[], Any], words: str) -> None:
        with pytest.raises(ValueError, match=words):
            call()

    return test


def refuses_options(use: Callable[..., Any], *cases: tuple[dict[str, Any], str]) -> Any:
    """Return a test: each choice of options is refused, in these words."""
    return refuses(*((partial(use, **options), words) for options, words in cases))
