"""The race: calibkit against installed rivals, on the same arrays: `python dev.py bench --race`.

Each row is timed for us and for every rival that has the measure and is installed, as is what lies
in `build/rivals` (``pip install --no-deps --target build/rivals probcal …``); the others are named.
Arrays are turned into what a rival takes before its clock starts. Exit code 1 if a row falls behind.
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import calibkit as ck
from calibkit import calibrators
from tools.timing import Run, best_ms
from tools.virtual_environment import ROOT

MEASURED, FITTED, WIDE = 1_000_000, 10_000, 1_000
RIVALS = ("sklearn", "torchmetrics", "netcal", "probmetrics", "relplot", "betacal", "probcal")
RIVALS += ("model_diagnostics",)


class Row(NamedTuple):
    """A measure or a fit, ours and that of rivals, each of which is made ready when it is asked."""

    name: str
    ours: Run
    rivals: Mapping[str, Callable[[], Run]]


@cache
def library(name: str) -> Any:
    """Import a module of a rival; None where it, or what it needs, is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return import_module(name)
        except ImportError:
            return None


def of(name: str, path: str, *data: Any, **options: Any) -> tuple[str, Callable[[], Run]]:
    """Return a rival by its function, or by a class and its method ("module:Class().fit")."""

    def ready() -> Run:
        module, _, found = path.partition(":")
        attribute, _, method = found.partition("().")
        found = getattr(library(module), attribute)
        if method:
            return lambda: getattr(found(**options), method)(*data)
        return partial(found, *data, **options)

    return name, ready


def tensors(*arrays: Any) -> list[Any]:
    """Return arrays as torch's, where it is installed."""
    torch = library("torch")
    return [torch.as_tensor(array) for array in arrays] if torch else []


def measures(n: int, rng: np.random.Generator) -> Iterator[Row]:
    """Compare errors, scores and tests of many rows."""
    table, classes = rng.dirichlet(np.ones(10), n), rng.integers(0, 10, n)
    top = partial(ck.expected_calibration_error, classes, table, view="top-label", bins=15)
    functional = "torchmetrics.functional.classification"
    yield Row("top-label ECE, x 10", top, dict([
        of("torchmetrics", f"{functional}:multiclass_calibration_error", *tensors(table, classes),
           num_classes=10, n_bins=15),
        of("netcal", "netcal.metrics:ECE().measure", table, classes, bins=15),
    ]))  # fmt: skip
    del table, classes
    p = rng.random(n)
    y = (rng.random(n) < p).astype(np.int64)
    curve, binned = "sklearn.calibration:calibration_curve", "probcal.metrics:ece"
    yield Row("equal-width ECE", partial(ck.expected_calibration_error, y, p, bins=15), dict([
        of("sklearn", curve, y, p, n_bins=15),
        of("probcal", binned, y, p, n_bins=15, strategy="width"),
        of("torchmetrics", f"{functional}:binary_calibration_error", *tensors(p, y), n_bins=15),
        of("netcal", "netcal.metrics:ECE().measure", p, y, bins=15),
        of("relplot", "relplot.metrics:binnedECE", p, y, nbins=15),
    ]))  # fmt: skip
    yield Row("equal-mass ECE", partial(ck.adaptive_calibration_error, y, p, n_bins=15), dict([
        of("sklearn", curve, y, p, n_bins=15, strategy="quantile"),
        of("probcal", binned, y, p, n_bins=15, strategy="mass"),
    ]))  # fmt: skip
    yield Row("SmoothECE", partial(ck.smooth_calibration_error, y, p), dict([
        of("probcal", "probcal.metrics:smooth_ece", y, p),
        of("relplot", "relplot:smECE", p, y),
    ]))  # fmt: skip
    squared = {} if library("model_diagnostics") is None else {
        "scoring_function": import_module("model_diagnostics.scoring").SquaredError()
    }  # fmt: skip
    yield Row("CORP", partial(ck.corp_decomposition, y, p), dict([
        of("model_diagnostics", "model_diagnostics.scoring:decompose", y, p, **squared),
    ]))  # fmt: skip
    yield Row("isotonic", partial(calibrators.IsotonicCalibrator().fit, p, y), dict([
        of("sklearn", "sklearn.isotonic:IsotonicRegression().fit", p, y),
        of("probcal", "probcal:IsotonicCalibrator().fit", p, y),
    ]))  # fmt: skip
    yield Row("Brier score", partial(ck.brier_score, y, p), dict([
        of("sklearn", "sklearn.metrics:brier_score_loss", y, p),
        of("probcal", "probcal.metrics:brier_score", y, p),
    ]))  # fmt: skip
    yield Row("log loss", partial(ck.log_loss, y, p), dict([
        of("sklearn", "sklearn.metrics:log_loss", y, p),
        of("probcal", "probcal.metrics:log_loss", y, p),
    ]))  # fmt: skip
    yield Row("Spiegelhalter", partial(ck.spiegelhalter, y, p), dict([
        of("probcal", "probcal.metrics:spiegelhalter_z", y, p),
    ]))  # fmt: skip
    yield Row("cumulative differences", partial(ck.cumulative_differences, y, p), dict([
        of("probcal", "probcal.metrics:ecce", y, p),
    ]))  # fmt: skip
    few = (y[: n // 10], p[: n // 10])
    yield Row("smooth curve, 1e5", partial(ck.smooth_curve, *few), dict([
        of("probcal", "probcal:reliability_smooth", *few),
        of("probcal, LOESS", "probcal:reliability_loess", *few),
    ]))  # fmt: skip


def fits(rng: np.random.Generator) -> Iterator[Row]:
    """Compare calibrators of one dimension and of many classes."""
    p = rng.random(FITTED)
    y = (rng.random(FITTED) < p**1.5).astype(np.int64)
    column = np.log(p / (1 - p))[:, None]
    yield Row("Platt, 1e4", partial(calibrators.PlattCalibrator().fit, p, y), dict([
        of("sklearn", "sklearn.linear_model:LogisticRegression().fit", column, y, C=np.inf),
        of("probcal", "probcal:PlattCalibrator().fit", p, y),
    ]))  # fmt: skip
    yield Row("beta, 1e4", partial(calibrators.BetaCalibrator().fit, p, y), dict([
        of("betacal", "betacal:BetaCalibration().fit", p[:, None], y, parameters="abm"),
        of("probcal", "probcal:BetaCalibrator().fit", p, y),
    ]))  # fmt: skip
    for n, k in ((FITTED, 10), (25_000, WIDE), (5_000, 10)):
        truth = 1.5 * rng.standard_normal((n, k), dtype=np.float32)
        y = (truth + rng.gumbel(size=(n, k)).astype(np.float32)).argmax(axis=1)
        z = (1.8 * truth).astype(np.float32 if k == WIDE else np.float64)
        prob = np.exp(z - np.log(np.exp(z).sum(axis=1, keepdims=True)))
        room = "probmetrics.calibrators"
        if n == 5_000:
            matrix = partial(calibrators.MatrixScaling("logits").fit, z, y)
            yield Row("matrix, 5e3 x 10", matrix, dict([
                of("sklearn", "sklearn.linear_model:LogisticRegression().fit", z, y, C=np.inf),
                of("probmetrics", f"{room}:MatrixScalingCalibrator().fit", prob, y),
            ]))  # fmt: skip
            continue
        scaling = partial(calibrators.TemperatureScaling("logits").fit, z, y)
        yield Row(f"temperature, {n} x {k}", scaling, dict([
            of("probmetrics", f"{room}:TemperatureScalingCalibrator().fit", prob, y),
            of("sklearn", "sklearn.calibration:_TemperatureScaling().fit", z, y),
            of("netcal", "netcal.scaling:TemperatureScaling().fit", prob, y),
        ]))  # fmt: skip


def rows(n: int = MEASURED) -> Iterator[Row]:
    """Yield all rows of the race."""
    rng = np.random.default_rng(0)
    yield from measures(n, rng)
    yield from fits(rng)


def run(found: Iterator[Row] | None = None) -> int:
    """Run the race and print it row by row; 1 where a rival is quicker."""
    folder = str(ROOT / "build" / "rivals")
    if folder not in sys.path:
        sys.path.append(folder)
    print(f"{'row':<26}{'ours (ms)':>10}{'best rival (ms)':>17}  {'who':<18}{'ratio':>6}")
    behind, absent = 0, {name for name in RIVALS if library(name) is None}
    for row in found or rows():
        times: dict[str, float] = {}
        for name, ready in row.rivals.items():
            try:
                times[name] = best_ms(ready(), 0.5)
            except (ImportError, AttributeError):  # also of something that a rival needs
                absent.add(f"{name} for {row.name}" if name not in absent else name)
        ours = best_ms(row.ours, 0.5)
        who = min(times, key=times.__getitem__, default="")
        best = times.get(who, np.inf)
        behind += ours > best
        print(f"{row.name:<26}{ours:>10.2f}{best:>17.2f}  {who or 'no rival here':<18}"
              f"{best / ours:>6.1f}{'  <- behind' * (ours > best)}", flush=True)  # fmt: skip
    for name in sorted(absent):
        print(f"skipped, not installed: {name}")
    return int(behind > 0)
