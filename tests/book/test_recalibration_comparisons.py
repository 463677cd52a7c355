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
from tests.helpers import binary_data, class_data, each_case, golden, golden_data, quiet

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


def by_scikit_learn(name: str, y: Prob, p: Prob) -> Prob:
    from sklearn.linear_model import LogisticRegression

    calibration = pytest.importorskip("sklearn.calibration")
    if name == "temperature":
        if not hasattr(calibration, "_TemperatureScaling"):
            pytest.skip("this scikit-learn has no temperature scaling")
        return np.asarray(calibration._TemperatureScaling().fit(np.log(p), y).predict(np.log(p)))
    x = logit(p)[:, np.newaxis] if p.ndim == 1 else np.log(p)
    prob = LogisticRegression(C=np.inf, max_iter=2000).fit(x, y).predict_proba(x)
    return np.asarray(prob[:, 1] if p.ndim == 1 else prob)


def by_netcal(name: str, y: Prob, p: Prob) -> Prob:
    with quiet():
        scaling = pytest.importorskip("netcal.scaling")
        binning = pytest.importorskip("netcal.binning")
        model = {
            "Platt": lambda: scaling.LogisticCalibration(method="mle"),
            "vector": lambda: scaling.LogisticCalibration(method="mle"),
            "beta abm": lambda: scaling.BetaCalibration(method="mle"),
            "temperature": lambda: scaling.TemperatureScaling(method="mle"),
            "isotonic": binning.IsotonicRegression,
        }[name]()
        return np.asarray(model.fit(p, y).transform(p), dtype=np.float64)


def by_betacal(name: str, y: Prob, p: Prob) -> Prob:
    with quiet():
        package = pytest.importorskip("betacal")
        model = package.BetaCalibration(name.split()[1])
        model.fit(p[:, np.newaxis], y)
        return np.asarray(model.predict(p[:, np.newaxis]))


def by_uncertainty_calibration(name: str, y: Prob, p: Prob) -> Prob:
    with quiet():
        package = pytest.importorskip("calibration", reason="uncertainty-calibration is missing")
        family = {
            "Platt": "PlattCalibrator",
            "scaling-binning": "PlattBinnerCalibrator",
            "histogram": "HistogramCalibrator",
        }[name]
        model = getattr(package, family)(len(y), 10)
        model.train_calibration(p, y)
        return np.asarray(model.calibrate(p))


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
    theirs = log_loss(y, PROGRAMS[line[2]](line[1], y, p))
    assert theirs == pytest.approx(RECORDED[line], abs=2e-5)
    assert our_loss(line[1], line[0]) <= theirs + 1e-12


@each_case("seed", range(20))
def test_isotonic_blocks_of_ties_and_both_zeros(seed: int) -> None:
    """It sorts the bits of numbers: -0 is 0, and labels of equal predictions are pooled."""
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(seed)
    p = rng.integers(0, 5, 40) / 4
    p[(p == 0) & (rng.random(40) < 0.5)] = -0.0
    y = rng.integers(0, 2, 40)
    model = IsotonicCalibrator().fit(p, y)
    theirs = IsotonicRegression(y_min=0, y_max=1).fit(p, y).predict(p)
    np.testing.assert_allclose(model.calibrate(p), theirs, atol=1e-15)
    assert model.count_.sum() == 40 and (np.diff(model.height_) > 0).all()


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
class TestRealNetwork:
    def test_platt(self, confidences: tuple[Prob, Prob]) -> None:
        y, p = (part[:1000] for part in confidences)
        model = PlattCalibrator(smoothing=False).fit(p, y)
        assert model.slope_ == pytest.approx(0.5789644069847603, abs=3e-3)
        assert model.intercept_ == pytest.approx(-0.5276405730026157, abs=3e-3)

    # Bins: distinct outputs, plug-in and debiased l2 error and squared error of the last 7000,
    # after a fit to the first 3000 with one set for all steps.
    SCALING_BINNING = {
        10: (10, 0.011951397173030202, 0.009084100314772107, 0.042910193450026425),
        15: (15, 0.019571820383332703, 0.017126551688380634, 0.042829479659591475),
    }
    HISTOGRAM = {
        10: (8, 0.015061927096974475, 0.012905294727975117, 0.042994219203513484),
        15: (10, 0.017301899945529296, 0.014527856242562512, 0.042753060984386554),
    }

    @pytest.mark.parametrize("n_bins", [10, 15])
    @pytest.mark.parametrize("name", ["scaling-binning", "histogram"])
    def test_binned_maps(self, confidences: tuple[Prob, Prob], name: str, n_bins: int) -> None:
        y, p = confidences
        if name == "histogram":
            model, want = HistogramBinning(ck.EqualMass(n_bins)), self.HISTOGRAM[n_bins]
        else:
            scaler = PlattCalibrator(smoothing=False)
            model, want = ScalingBinning(n_bins, scaler), self.SCALING_BINNING[n_bins]
        out = model.fit(p[:3000], y[:3000]).calibrate(p[3000:])
        plain = ck.root_mean_square_calibration_error(y[3000:], out, bins=ck.Distinct())
        debiased = ck.debiased_calibration_error(y[3000:], out, bins=ck.Distinct())
        assert len(np.unique(out)) == want[0]
        assert float(plain) == pytest.approx(want[1], abs=2e-4)
        assert float(debiased) == pytest.approx(want[2], abs=2e-4)
        assert ((out - y[3000:]) ** 2).mean() == pytest.approx(want[3], abs=2e-5)
