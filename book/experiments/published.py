"""Figures, read again, and numbers, computed again: the page `book/published.md` and what it holds.

``python -m book.experiments.published`` writes the tables of the page (seconds). All data come with
scikit-learn, with the package or in `book/_data/published.csv.gz`, so that nothing is fetched:
patients of dcurves 1.1.7 (its wheel's data/df_binary.csv, SHA-256 4c1cb9c3…38d88, Apache-2.0), and
what R 4.2.2 draws by the lines of pmcalibration's vignette from the seed 2345.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import calibkit as ck
from book.experiments import figures, pages
from calibkit import decisions
from calibkit_audit.clinic import calibration_in_the_large, calibration_slope
from calibkit_course import data

PAGE = Path(__file__).parents[1] / "published.md"
DATA = PAGE.parent / "_data" / "published.csv.gz"
HEAD = ("number", "printed", "here")
FITS = ("events, fit", "events, new", "mean prediction", "called impossible", "log loss")
Rows = dict[str, tuple[str, float]]
# Groups of the slides: forecast, its rows, events among them.
SLIDE = [(Fraction(1, 6), 5, 1), (Fraction(1, 3), 3, 1), (Fraction(1, 2), 2, 1)]
SLIDE += [(Fraction(3, 4), 4, 3), (Fraction(1), 1, 1)]


def bayes(method: str | None) -> Any:
    """Return naive Bayes, repaired on two folds or as it is."""
    return CalibratedClassifierCV(GaussianNB(), cv=2, method=method) if method else GaussianNB()


class Case(NamedTuple):
    """One model of an example: what it was fitted to, what is new, and what is printed."""

    fitted: float  # share of events among the rows of the fit
    y: Any
    p: Any
    weight: Any
    printed: str


def blobs() -> dict[str, Case]:
    """Return the models of scikit-learn's "Probability calibration of classifiers"."""
    centers = [(-5, -5), (0, 0), (5, 5)]
    x, _ = make_blobs(50_000, centers=centers, shuffle=False, random_state=42)
    y = np.arange(50_000) >= 25_000  # half of the middle cloud is positive
    weight = np.random.RandomState(42).rand(50_000)
    parts = train_test_split(x, y, weight, test_size=0.9, random_state=42)
    x_fit, x_new, fit, new, w_fit, w_new = parts
    found = {}
    for method, printed in ((None, "0.104"), ("isotonic", "0.084"), ("sigmoid", "0.109")):
        model = bayes(method).fit(x_fit, fit, **({"sample_weight": w_fit} if method else {}))
        prob = model.predict_proba(x_new)[:, 1]
        found[f"three clouds, {method or 'no repair'}"] = Case(
            fit.mean(), new, prob, w_new, printed
        )
    return found


def redundant() -> dict[str, Case]:
    """Return the models of scikit-learn's "Probability calibration curves"."""
    x, y = make_classification(
        100_000, n_features=20, n_informative=2, n_redundant=10, random_state=42
    )
    x_fit, x_new, fit, new = train_test_split(x, y, test_size=0.99, random_state=42)
    models = {"logistic": (LogisticRegression(), "0.099"), "naive Bayes": (bayes(None), "0.118")}
    models["naive Bayes, isotonic"] = bayes("isotonic"), "0.098"
    models["naive Bayes, sigmoid"] = bayes("sigmoid"), "0.109"
    found = {}
    for name, (model, printed) in models.items():
        prob = model.fit(x_fit, fit).predict_proba(x_new)[:, 1]
        found[f"redundant features, {name}"] = Case(fit.mean(), new, prob, None, printed)
    return found


def examples() -> tuple[Rows, list[list[str]]]:
    """Return the Brier scores of both examples beside print, and what they do not print."""
    rows: Rows = {}
    fits = []
    for name, (fitted, y, p, weight, printed) in (blobs() | redundant()).items():
        rows[name] = printed, float(ck.brier_score(y, p, sample_weight=weight))
        loss = ck.log_loss(y, p)
        said = "infinite" if np.isinf(loss.value) else f"{loss.value:.2f}"
        shares = [f"{share:.3f}" for share in (fitted, y.mean(), p.mean())]
        fits.append([name, *shares, str(loss.impossible), said])
    return rows, fits


def others() -> Rows:
    """Return numbers of other places beside what we find."""
    y, p = [0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]
    net, vgg = data.load("imagenet-resnext101"), data.load("cifar10-vgg16")
    right = float((vgg.y_prob.argmax(axis=1) == vgg.y_true).mean())
    return {
        "torchmetrics, 2 bins, norm l1": (
            "0.2900",
            float(ck.expected_calibration_error(y, p, bins=2)),
        ),
        "torchmetrics, norm l2": (
            "0.2918",
            float(ck.root_mean_square_calibration_error(y, p, bins=2)),
        ),
        "torchmetrics, norm max": ("0.3167", float(ck.maximum_calibration_error(y, p, bins=2))),
        "reliability-diagrams, ResNeXt, accuracy": ("0.79312", float(net.y_true.mean())),
        "reliability-diagrams, ResNeXt, confidence": ("0.8737", float(net.y_prob.mean())),
        "Li's report, VGG16, accuracy": ("0.931", right),
    }


def patients(example: str) -> tuple[Any, Any]:
    """Return labels and predictions of dcurves, or of pmcalibration."""
    name, y, p = np.loadtxt(DATA, delimiter=",", skiprows=1, dtype=str, unpack=True)
    return y[name == example].astype(int), p[name == example].astype(float)


def clinic() -> Rows:
    """Return what R prints of two examples of clinical prediction beside what we find."""
    drawn = patients("pmcalibration")
    large = calibration_in_the_large(*drawn)
    slope = calibration_slope(*drawn)
    curve = decisions.decision_curve(*patients("dcurves"), thresholds=[0.05, 0.1, 0.2, 0.35])
    by_r = ("0.105544", "0.087407", "0.067333", "0.050154")
    marks = zip(curve.threshold, by_r, curve.net_benefit.tolist(), strict=True)
    found = {f"dcurves, net benefit at {t:g}": (said, value) for t, said, value in marks}
    found["dcurves, treat all at 0.05"] = "0.094737", float(curve.treat_all[0])
    for name, wanted, line in (
        ("intercept", ("-0.044", "-0.29", "0.19"), large),
        ("slope", ("1.336", "1.10", "1.60"), slope),
    ):
        values = dict(zip(wanted, (line.value, line.low, line.high), strict=True))
        heads = ("", ", 95 % from", ", to")
        found |= {
            f"pmcalibration, {name}{end}": pair
            for end, pair in zip(heads, values.items(), strict=True)
        }
    return found


def slide() -> dict[str, Fraction]:
    """Return what three readings make of the slides' table; only the last is the ECE."""
    n = sum(rows for _, rows, _ in SLIDE)
    gaps = [(rows, abs(p - Fraction(hits, rows))) for p, rows, hits in SLIDE]
    return {
        "as printed: each gap of means divided by its rows": sum(
            (g / k for k, g in gaps), Fraction()
        )
        / len(gaps),
        "unweighted: every group counts the same": sum((g for _, g in gaps), Fraction())
        / len(gaps),
        "the ECE: groups count by their rows": sum((k * g for k, g in gaps), Fraction()) / n,
    }


def alike(printed: str, value: float) -> str:
    """Return a number with as many digits as another is printed with."""
    return f"{value:.{len(printed.partition('.')[2])}f}"


def blocks() -> dict[str, str]:
    """Return the generated parts of the page."""
    rows, fits = examples()

    def table(found: Rows) -> str:
        lines = [[n, said, alike(said, value)] for n, (said, value) in found.items()]
        return pages.markdown(HEAD, lines)

    fractions = [[name, str(value)] for name, value in slide().items()]
    return {
        "figures": figures.block(),
        "examples": table(rows),
        "fits": pages.markdown(("example", *FITS), fits),
        "slide": pages.markdown(("reading", "value"), fractions),
        "others": table(others()),
        "clinic": table(clinic()),
    }


if __name__ == "__main__":
    PAGE.write_text(pages.filled(PAGE.read_text("utf-8"), blocks()), encoding="utf-8")
