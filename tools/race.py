"""The race: calibkit against installed rivals, on the same arrays: `python dev.py bench --race`.

Rivals are what is installed (the group `compare`), or lies in `build/rivals` (``pip install
--no-deps --target build/rivals probcal …``); one that is absent is skipped by its name. relplot's
binned error is left out: it looks at no input.
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

import calibkit as ck
from calibkit import calibrators, scores
from calibkit_audit import clinic
from tools.bench import Case, Run, best_ms
from tools.virtual_environment import ROOT


class Row(NamedTuple):
    """A measure or a fit: ours, and that of rivals, by the module that a rival is called with."""

    name: str
    ours: Run
    rivals: Mapping[str, Callable[[Any], object]]


def measures(n: int, rng: np.random.Generator) -> Iterator[Row]:
    """Compare errors, scores and tests of many rows."""
    p, table, classes = rng.random(n), rng.dirichlet(np.ones(10), n), rng.integers(0, 10, n)
    y = (rng.random(n) < p).astype(np.int64)
    ece = partial(ck.expected_calibration_error, bins=15)
    many = {"torchmetrics.functional": torchmetrics(table, classes, num_classes=10)}
    many["netcal.metrics"] = lambda lib: lib.ECE(15).measure(table, classes)
    yield Row("top-label ECE, x 10", lambda: ece(classes, table, view="top-label"), many)
    yield Row("equal-width ECE", lambda: ece(y, p), {
        "sklearn.calibration": lambda lib: lib.calibration_curve(y, p, n_bins=15),
        "probcal.metrics": lambda lib: lib.ece(y, p, n_bins=15, strategy="width"),
        "torchmetrics.functional": torchmetrics(p, y),
        "netcal.metrics": lambda lib: lib.ECE(15).measure(p, y),
    })  # fmt: skip
    yield Row("equal-mass ECE", lambda: ck.adaptive_calibration_error(y, p), {
        "sklearn.calibration": lambda lib: lib.calibration_curve(y, p, strategy="quantile"),
        "probcal.metrics": lambda lib: lib.ece(y, p, strategy="mass"),
    })  # fmt: skip
    yield Row("SmoothECE", lambda: ck.smooth_ece(y, p), {
        "probcal.metrics": lambda lib: lib.smooth_ece(y, p),
        "relplot": lambda lib: lib.smECE(p, y),
    })  # fmt: skip
    yield Row("CORP", lambda: scores.corp_decomposition(y, p), {
        "model_diagnostics.scoring": lambda lib: lib.decompose(
            y, p, scoring_function=lib.SquaredError()
        ),
    })  # fmt: skip
    yield Row("isotonic", lambda: calibrators.IsotonicCalibrator().fit(p, y), {
        "sklearn.isotonic": lambda lib: lib.IsotonicRegression().fit(p, y),
        "probcal": lambda lib: lib.IsotonicCalibrator().fit(p, y),
    })  # fmt: skip
    yield Row("Brier score", lambda: ck.brier_score(y, p), {
        "sklearn.metrics": lambda lib: lib.brier_score_loss(y, p),
        "probcal.metrics": lambda lib: lib.brier_score(y, p),
    })  # fmt: skip
    yield Row("log loss", lambda: ck.log_loss(y, p), {
        "sklearn.metrics": lambda lib: lib.log_loss(y, p),
        "probcal.metrics": lambda lib: lib.log_loss(y, p),
    })  # fmt: skip
    spiegelhalter = {"probcal.metrics": lambda lib: lib.spiegelhalter_z(y, p)}
    yield Row("Spiegelhalter", lambda: ck.spiegelhalter(y, p), spiegelhalter)
    cumulative = {"probcal.metrics": lambda lib: lib.ecce(y, p)}
    yield Row("cumulative differences", lambda: ck.cumulative_differences(y, p), cumulative)
    few, labels = p[: n // 10], y[: n // 10]
    yield Row("smooth curve, a tenth", lambda: clinic.smooth_curve(labels, few), {
        "probcal": lambda lib: lib.reliability_smooth(labels, few),
        "probcal.curves": lambda lib: lib.reliability_loess(labels, few),
    })  # fmt: skip


def torchmetrics(prob: Any, label: Any, **options: Any) -> Callable[[Any], object]:
    """Return torchmetrics' error of two arrays, which become tensors before its clock starts."""
    name = "multiclass" if options else "binary"
    tensors: list[Any] = []

    def error(lib: Any) -> object:
        tensors[:] = tensors or map(import_module("torch").as_tensor, (prob, label))
        found = getattr(lib.classification, f"{name}_calibration_error")
        return found(*tensors, n_bins=15, **options)

    return error


def fits(rng: np.random.Generator) -> Iterator[Row]:
    """Compare calibrators of one dimension and of many classes."""
    p = rng.random(10_000)
    y = (rng.random(len(p)) < p**1.5).astype(np.int64)
    column, logit = p[:, None], np.log(p / (1 - p))[:, None]
    yield Row("Platt, 1e4", lambda: calibrators.PlattCalibrator().fit(p, y), {
        "sklearn.linear_model": lambda lib: lib.LogisticRegression(C=np.inf).fit(logit, y),
        "probcal": lambda lib: lib.PlattCalibrator().fit(p, y),
    })  # fmt: skip
    yield Row("beta, 1e4", lambda: calibrators.BetaCalibrator().fit(p, y), {
        "betacal": lambda lib: lib.BetaCalibration("abm").fit(column, y),
        "probcal": lambda lib: lib.BetaCalibrator().fit(p, y),
    })  # fmt: skip
    for n, k in ((10_000, 10), (25_000, 1_000)):
        yield temperature(*overconfident(n, k, rng))
    z, c = overconfident(5_000, 10, rng)
    z = z.astype(float)  # as ours, which ends at a gradient of 1e-8; else a rival stops early
    prob = softmax(z, axis=1)
    yield Row("matrix, 5e3 x 10", lambda: calibrators.MatrixScaling("logits").fit(z, c), {
        "sklearn.linear_model": lambda lib: lib.LogisticRegression(C=np.inf, tol=1e-8).fit(z, c),
        "probmetrics.calibrators": lambda lib: lib.MatrixScalingCalibrator().fit(prob, c),
    })  # fmt: skip


def temperature(z: Any, y: Any) -> Row:
    """Compare temperature scaling on logits, or on the probabilities that a rival takes."""
    prob, name = softmax(z.astype(float), axis=1), f"temperature, {z.shape[0]} x {z.shape[1]}"
    return Row(name, lambda: calibrators.TemperatureScaling("logits").fit(z, y), {
        "probmetrics.calibrators": lambda lib: lib.TemperatureScalingCalibrator().fit(prob, y),
        "sklearn.calibration": lambda lib: lib._TemperatureScaling().fit(z, y),
        "netcal.scaling": lambda lib: lib.TemperatureScaling().fit(prob, y),
    })  # fmt: skip


def overconfident(n: int, k: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return logits that say too much, and labels."""
    truth = 1.5 * rng.standard_normal((n, k), dtype=np.float32)
    return 1.8 * truth, (truth + rng.gumbel(size=(n, k))).argmax(axis=1)


def cases(n: int) -> Iterator[Case]:
    """Time row by row, with so many rows in the measures; the quickest rival is the yardstick."""
    sys.path.append(str(ROOT / "build" / "rivals"))
    warnings.simplefilter("ignore")  # theirs
    rng = np.random.default_rng(0)
    for row in chain(measures(n, rng), fits(rng)):
        times = {"none is installed": np.inf}
        for name, run in row.rivals.items():
            try:
                times[name] = best_ms(partial(run, import_module(name)))
            except ImportError as error:
                print(f"  skipped: {name} ({error})")
        who = min(times, key=times.__getitem__)
        yield Case(row.name, best_ms(row.ours), 1.0, who, times[who])
