"""Numbers that Matsubara and others (2023) prints, and coefficients that its simulations need.

The numbers are facts from the source's tables, in its units: rejected predictions in per cent.
They lie in ``book/_data/tce_printed.json``. Its Table 3 has no TCE(Q); these five values are those
of the authors' result files.

The coefficients in ``book/_data/tce_fitted.json`` are **copied, not computed here**: they are what
scikit-learn 1.2.2 returns for the source's data, whose features come from NumPy's legacy generator
with seed 0. Its optimiser stops early, and that of another version stops elsewhere. `afresh` fits
the same penalised model to its optimum.
"""

import json
from functools import cache
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from calibkit_course.lesson09.gaussian import GaussianDiscriminant
from tools.virtual_environment import ROOT

DATA = ROOT / "book" / "_data"
Rows = dict[str, list[float]]


@cache
def _read(name: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return stored


def table(number: int) -> dict[str, Any]:
    """Return a table: rows by label; Tables 6 to 12 by the prevalence in use first, in per cent."""
    found: dict[str, Any] = _read("tce_printed.json")[str(number)]
    return found


def real_rows() -> Rows:
    """Return the rows of Tables 3 and 14 whose data sets packages carry."""
    return {**table(3), **table(14)}


# Table 2: prevalences in training and in use, then TCE, TCE(Q), ECE, ACE.
TABLE_2 = (
    (0.5, 0.5, 7.2833, 10.8833, 0.0138, 0.0150),
    (0.5, 0.4, 96.1, 96.4667, 0.0963, 0.0951),
    (0.5, 0.6, 98.8333, 98.9333, 0.1097, 0.1096),
    (0.01, 0.01, 3.4, 0.1833, 0.0017, 0.0031),
    (0.01, 0.0, 95.5, 68.7333, 0.0094, 0.0094),
    (0.01, 0.02, 92.3167, 89.7333, 0.0139, 0.0139),
)
# The bins beside which Tables 6 and 7 put their sizes; the first row of Table 6 is labelled 1,
# but the authors' program takes 3 there (6000 rows in 2000 bins).
FIRST_SMALLEST = 3
N_BINS = (1000, 500, 100, 50, 10, 5, 1)
PAIRS = ((6, 24), (30, 120), (60, 240), (300, 1200), (600, 2400))  # Tables 8 and 11
PAIR_BINS = (500, 100, 50, 10, 5)


def copied(made_for: float, n_train: int) -> tuple[float, float]:
    """Return slope and intercept as scikit-learn 1.2.2 fitted them."""
    slope, intercept = _read("tce_fitted.json")["coefficients"][f"{made_for:g}, {n_train}"]
    return slope, intercept


@cache
def afresh(made_for: float, n_train: int) -> tuple[float, float]:
    """Return slope and intercept at the optimum, by Newton steps that every version repeats."""
    model = GaussianDiscriminant(made_for)
    x, y, _, _ = model.source_data(n_train=n_train, n_test=3 * n_train // 7)
    fitted = LogisticRegression(solver="newton-cholesky", tol=1e-10).fit(x[:, np.newaxis], y)
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
