"""Log losses of fits beside those of other programs, on the same inputs.

The numbers of the other programs are written down, so the comparison always runs. Where a program
is installed it is also run again, which shows that the numbers are still its own.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy.special import logit, xlog1py, xlogy
from sklearn.linear_model import LogisticRegression

import calibkit as ck
from calibkit.calibrators import (
    BetaCalibrator,
    DirichletCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    MatrixScaling,
    PlattCalibrator,
    ScalingBinning,
    TemperatureScaling,
    VectorScaling,
)
from calibkit_course import data
from tests.helpers import binary_data, class_data, golden, golden_data, quiet

Prob = np.ndarray[Any, Any]
INPUTS: dict[str, tuple[Prob, Prob]] = {
    "binary": golden_data("binary"),
    "drawn": binary_data(1000, 3),
    "three": golden_data("three_classes"),
    "ten": class_data(2000, 10, 4),
}
# Input, map and program: mean log loss of the data fitted to, in nats.
RECORDED = {
    (data, name, program): loss
    for data, maps in golden("fits_elsewhere.json").items()
    for name, programs in maps.items()
    for program, loss in programs.items()
}
OURS: dict[str, Callable[[], Any]] = {
    "Platt": lambda: PlattCalibrator(smoothing=False),
    "beta abm": BetaCalibrator,
    "isotonic": IsotonicCalibrator,
    "scaling-binning": lambda: ScalingBinning(10, PlattCalibrator(smoothing=False)),
    "histogram": lambda: HistogramBinning(ck.EqualMass(10)),
    "temperature": lambda: TemperatureScaling("probabilities"),
    "vector": lambda: VectorScaling("probabilities", penalty=0),
    "matrix": lambda: MatrixScaling("probabilities", penalty=0),
}
LINE = pytest.mark.parametrize("line", RECORDED, ids=" | ".join)


def log_loss(y: Prob, prob: Prob) -> float:
    if prob.ndim == 1:
        return -float((xlogy(y, prob) + xlog1py(1 - y, -prob)).mean())
    return -float(np.log(prob[np.arange(len(y)), y]).mean())


@lru_cache
def our_loss(name: str, data: str) -> float:
    y, p = INPUTS[data]
    return log_loss(y, OURS[name]().fit(p, y).calibrate(p))


@LINE
def test_never_above_what_other_programs_reach(line: tuple[str, str, str]) -> None:
    ours, theirs = our_loss(line[1], line[0]), RECORDED[line]
    assert ours <= theirs + 1e-12
    assert ours == pytest.approx(theirs, abs=2e-5)  # the same map, fitted better


# --- the other programs, where they are installed -----------------------------------------------


def by_scikit_learn(name: str, y: Prob, p: Prob) -> Any:
    if name == "temperature":
        calibration = pytest.importorskip("sklearn.calibration")
        if not hasattr(calibration, "_TemperatureScaling"):
            pytest.skip("this scikit-learn has no temperature scaling")
        return calibration._TemperatureScaling().fit(np.log(p), y).predict(np.log(p))
    x = logit(p)[:, np.newaxis] if p.ndim == 1 else np.log(p)
    prob = LogisticRegression(C=np.inf, max_iter=2000).fit(x, y).predict_proba(x)
    return prob[:, 1] if p.ndim == 1 else prob


def by_netcal(name: str, y: Prob, p: Prob) -> Any:
    scaling = pytest.importorskip("netcal.scaling")
    if name == "isotonic":
        model = pytest.importorskip("netcal.binning").IsotonicRegression()
    else:
        families = {"beta abm": "BetaCalibration", "temperature": "TemperatureScaling"}
        model = getattr(scaling, families.get(name, "LogisticCalibration"))(method="mle")
    return model.fit(p, y).transform(p)


def by_betacal(name: str, y: Prob, p: Prob) -> Any:
    model = pytest.importorskip("betacal").BetaCalibration(name.split()[1])
    return model.fit(p[:, np.newaxis], y).predict(p[:, np.newaxis])


def by_uncertainty_calibration(name: str, y: Prob, p: Prob) -> Any:
    package = pytest.importorskip("calibration", reason="uncertainty-calibration is missing")
    families = {
        "Platt": package.PlattCalibrator,
        "scaling-binning": package.PlattBinnerCalibrator,
        "histogram": package.HistogramCalibrator,
    }
    model = families[name](len(y), 10)
    model.train_calibration(p, y)
    return model.calibrate(p)


PROGRAMS = {
    "scikit-learn": by_scikit_learn,
    "netcal": by_netcal,
    "betacal": by_betacal,
    "uncertainty-calibration": by_uncertainty_calibration,
}


@pytest.mark.slow
@LINE
def test_the_numbers_are_still_theirs(line: tuple[str, str, str]) -> None:
    y, p = INPUTS[line[0]]
    with quiet():
        theirs = log_loss(y, np.asarray(PROGRAMS[line[2]](line[1], y, p), dtype=np.float64))
    assert theirs == pytest.approx(RECORDED[line], abs=2e-5)
    assert our_loss(line[1], line[0]) <= theirs + 1e-12


def test_both_zeros_are_one_prediction() -> None:
    """Isotonic regression sorts the bits of numbers."""
    model = IsotonicCalibrator().fit([-0.0, 0.0, 0.5, -0.0, 0.0], [1, 0, 1, 0, 0])
    assert model.count_.tolist() == [4, 1] and model.height_.tolist() == [0.25, 1]


# --- numbers of dirichletcal, fitted to 600 rows and judged on 200 ------------------------------

FIRST = slice(0, 600)
# Its default subtracts the last row of weights before it penalises, and its vector and matrix
# scaling subtract a column first: these are other maps, and worse ones.
ASYMMETRIC = {
    "ODIR 1": (DirichletCalibrator, {"penalty": 1}, 0.8514947715997895),
    "ODIR 1000": (DirichletCalibrator, {"penalty": 1e3}, 1.0251322044260316),
    "vector": (VectorScaling, {"penalty": 0}, 0.7968335638579108),
    "matrix": (MatrixScaling, {"penalty": 0}, 0.787167567787408),
}


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_dirichletcal_by_default(name: str) -> None:
    y, p = INPUTS["three"]
    family, options, training = ASYMMETRIC[name]
    model = family("probabilities", **options).fit(p[FIRST], y[FIRST])
    assert log_loss(y[FIRST], model.calibrate(p[FIRST])) < training - 0.004


# --- numbers of uncertainty-calibration on a real network ---------------------------------------


@pytest.fixture(scope="module")
def confidences() -> tuple[Prob, Prob]:
    """Return whether VGG16 on CIFAR-10 was right, and its confidence, in the order of the file."""
    network = data.load("cifar10-vgg16", original=True)
    prob = np.asarray(network.y_prob, dtype=np.float64)
    return (prob.argmax(axis=1) == np.asarray(network.y_true)).astype(int), prob.max(axis=1)


@pytest.mark.data
def test_platt_on_a_real_network(confidences: tuple[Prob, Prob]) -> None:
    y, p = (part[:1000] for part in confidences)
    model = PlattCalibrator(smoothing=False).fit(p, y)
    assert model.slope_ == pytest.approx(0.5789644069847603, abs=3e-3)
    assert model.intercept_ == pytest.approx(-0.5276405730026157, abs=3e-3)


# Distinct outputs, plug-in and debiased l2 error and squared error of the last 7000, after a fit to
# the first 3000 with one set for all steps.
BINNED = {
    ("scaling", 10): (10, 0.011951397173030202, 0.009084100314772107, 0.042910193450026425),
    ("scaling", 15): (15, 0.019571820383332703, 0.017126551688380634, 0.042829479659591475),
    ("histogram", 10): (8, 0.015061927096974475, 0.012905294727975117, 0.042994219203513484),
    ("histogram", 15): (10, 0.017301899945529296, 0.014527856242562512, 0.042753060984386554),
}


@pytest.mark.data
@pytest.mark.parametrize(("kind", "n_bins"), BINNED)
def test_binned_maps_on_a_real_network(confidences, kind: str, n_bins: int) -> None:
    y, p = confidences
    model: Any = HistogramBinning(ck.EqualMass(n_bins))
    if kind == "scaling":
        model = ScalingBinning(n_bins, PlattCalibrator(smoothing=False))
    out = model.fit(p[:3000], y[:3000]).calibrate(p[3000:])
    plain = ck.root_mean_square_calibration_error(y[3000:], out, bins=ck.Distinct())
    debiased = ck.debiased_calibration_error(y[3000:], out, bins=ck.Distinct())
    outputs, *errors, brier = BINNED[kind, n_bins]
    assert len(np.unique(out)) == outputs
    assert (float(plain), float(debiased)) == pytest.approx(tuple(errors), abs=2e-4)
    assert ((out - y[3000:]) ** 2).mean() == pytest.approx(brier, abs=2e-5)
