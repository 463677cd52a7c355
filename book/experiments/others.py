"""The page `book/other_libraries.md`: lines of other libraries beside ours, on the same data.

``python -m book.experiments.others`` runs all lines whose library is installed, keeps the stored
numbers of the others in ``book/_data/others.json``, and rewrites the page. What the page shows is
what runs: each line is text that is evaluated.
"""

import importlib
import importlib.metadata
import json
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import calibkit as ck
from book.experiments.pages import filled, markdown
from calibkit import calibrators
from calibkit_audit import clinic, estimate_rate
from tools.virtual_environment import ROOT

PAGE = ROOT / "book" / "other_libraries.md"
STORED = ROOT / "book" / "_data" / "others.json"
N = 2000
# Two numbers that differ by less are the same: some libraries compute in single precision.
ROUNDING = 1e-6


class Row(NamedTuple):
    """A line of another library, ours, and why they differ where they do."""

    theirs: str
    ours: str
    why: str = "equal"


class Library(NamedTuple):
    """A library: its name at pip, what to import from where, and the lines to compare."""

    pip: str
    imports: dict[str, str]
    rows: tuple[Row, ...]


CLOSED = "their bins are closed on the right, ours on the left: 0.4 moves to another bin"
ROUNDED = "their edge at 0.3 is rounded up to 0.30000000000000004, so 0.3 falls below it"
ALONE = "p = 1 has a bin of its own there"
HALF = (
    "they halve the range of the bandwidth ten times only, and count predictions of 0 and 1 by half"
)
LIBRARIES = (
    Library(
        "scikit-learn",
        {"metrics": "sklearn.metrics", "calibration": "sklearn.calibration"},
        (
            Row("metrics.brier_score_loss(y, p)", "ck.brier_score(y, p)"),
            Row(
                "metrics.brier_score_loss(y, p, sample_weight=w)",
                "ck.brier_score(y, p, sample_weight=w)",
            ),
            Row("metrics.log_loss(labels, table)", "ck.log_loss(labels, table)"),
            Row(
                "metrics.log_loss([1, 1], [0.0, 0.5], labels=[0, 1])",
                "ck.log_loss([1, 1], [0.0, 0.5])",
                "they replace 0 by 2.2e-16; we clip nothing and count impossible events",
            ),
            Row(
                "max(abs(np.subtract(*calibration.calibration_curve(y, p, n_bins=10))))",
                "ck.maximum_calibration_error(y, p, bins=10)",
                CLOSED,
            ),
        ),
    ),
    Library(
        "netcal",
        {"confidence": "netcal.metrics"},
        (
            Row("confidence.ECE(15).measure(p, y)", "ck.expected_calibration_error(y, p, bins=15)"),
            Row(
                "confidence.ECE(10).measure(p, y)",
                "ck.expected_calibration_error(y, p, bins=10)",
                ROUNDED,
            ),
            Row(
                "confidence.ECE(15).measure(table, labels)",
                'ck.expected_calibration_error(labels, table, view="top-label", bins=15)',
            ),
            Row("confidence.ACE(15).measure(p, y)", "ck.average_calibration_error(y, p, bins=15)"),
            Row("confidence.MCE(15).measure(p, y)", "ck.maximum_calibration_error(y, p, bins=15)"),
        ),
    ),
    Library(
        "torchmetrics",
        {"tm": "torchmetrics.functional.classification", "torch": "torch"},
        (
            Row(
                "tm.binary_calibration_error(torch.tensor(p), torch.tensor(y), n_bins=15)",
                "ck.expected_calibration_error(y, p, bins=15)",
            ),
            Row(
                'tm.binary_calibration_error(torch.tensor(p), torch.tensor(y), 15, norm="l2")',
                "ck.root_mean_square_calibration_error(y, p, bins=15)",
                ALONE,
            ),
            Row(
                'tm.binary_calibration_error(torch.tensor(p), torch.tensor(y), 10, norm="max")',
                "ck.maximum_calibration_error(y, p, bins=10)",
            ),
            Row(
                "tm.multiclass_calibration_error(torch.tensor(table), torch.tensor(labels), 3)",
                'ck.expected_calibration_error(labels, table, view="top-label", bins=15)',
            ),
        ),
    ),
    Library(
        "relplot",
        {"relplot": "relplot"},
        (
            Row(
                "relplot.metrics.binnedECE(p, y, nbins=15)",
                "ck.expected_calibration_error(y, p, bins=15)",
            ),
            Row("relplot.smECE(p, y)", "ck.smooth_ece(y, p)", HALF),
        ),
    ),
    Library(
        "probmetrics",
        {"pm": "probmetrics.metrics", "pd": "probmetrics.distributions", "torch": "torch"},
        (
            Row(
                "pm.BrierLoss().compute(\n    pd.CategoricalDirac(torch.tensor(labels), 3),\n"
                "    pd.CategoricalProbs(torch.tensor(table)))",
                "ck.brier_score(labels, table)",
            ),
            Row(
                "pm.LogLoss().compute(\n    pd.CategoricalDirac(torch.tensor(labels), 3),\n"
                "    pd.CategoricalProbs(torch.tensor(table)))",
                "ck.log_loss(labels, table)",
            ),
            Row(
                "pm.BrierLoss().compute(\n    pd.CategoricalDirac(torch.tensor(y), 2),\n"
                "    pd.CategoricalProbs(torch.tensor(np.column_stack([1 - p, p]))))",
                "ck.brier_score(y, p)",
                "they add the squares of both classes; one column of ours counts the event alone",
            ),
        ),
    ),
    Library(
        "uncertainty-calibration",
        {"calibration": "calibration"},
        (
            Row(
                "calibration.get_ece(p, y, num_bins=15)",
                "ck.expected_calibration_error(y, p, bins=15)",
                CLOSED,
            ),
            Row(
                'calibration.get_calibration_error(score, y, mode="top-label")',
                "ck.debiased_calibration_error(y, score)",
            ),
            Row(
                'calibration.get_calibration_error(table, labels, mode="top-label")',
                'ck.debiased_calibration_error(labels, table, view="top-label")',
            ),
            Row(
                "calibration.get_calibration_error(table, labels)",
                'ck.debiased_calibration_error(labels, table, view="class-wise")',
            ),
            Row(
                "calibration.get_calibration_error(table, drawn)",
                'ck.debiased_calibration_error(drawn, table, view="class-wise")',
                "they set the negative square of a class to 0 before the mean, we keep it",
            ),
        ),
    ),
    Library(
        "probcal",
        {"pm": "probcal.metrics"},
        (
            Row('pm.ece(y, p, strategy="width")', "ck.expected_calibration_error(y, p, bins=15)"),
            Row("pm.brier_score(y, p)", "ck.brier_score(y, p)"),
            Row("pm.calibration_intercept(y, s)", "clinic.calibration_in_the_large(y, s)"),
            Row("pm.calibration_slope(y, s)", "clinic.calibration_slope(y, s)"),
            Row("pm.spiegelhalter_z(y, s).z", "ck.spiegelhalter(y, s).statistic"),
            Row("pm.ecce(y, s).stat_max", "ck.cumulative_differences(y, s)"),
            Row(
                "pm.ici(y, s)",
                "clinic.smooth_curve(y, s)",
                "their loess lays straight lines, ours by default parabolas, as R's does",
            ),
            Row(
                "pm.ici(y, s)",
                "clinic.smooth_curve(y, s, degree=1)",
                "they fit at every value; we lay cubics between knots, as R's loess does",
            ),
            Row(
                "pm.smooth_ece(y, s)",
                "ck.smooth_ece(y, s)",
                "they smooth on the axis of logits without reflection, we on that of probabilities",
            ),
            Row(
                "pm.ece_sweep(y, s)",
                "ck.expected_calibration_error("
                "y, s, bins=ck.EqualMass(calibrators.SweepBinning().fit(s, y).n_bins_))",
            ),
        ),
    ),
    Library(  # not among the extras: it brings what downloads data
        "ppi-python",
        {"ppi": "ppi_py"},
        (
            Row(
                "ppi.ppi_mean_pointestimate(people, score[:200], score, lam=1)[0]",
                "estimate_rate(score, checked).rate[1]",
            ),
            Row(
                "ppi.ppi_mean_ci(people, score[:200], score, alpha=0.05, lam=1)[0][0]",
                "estimate_rate(score, checked).low[1]",
                "ours is Student's, and wider as if two more labels had met an error",
            ),
        ),
    ),
    Library(
        "statsmodels",
        {"sm": "statsmodels.api"},
        (
            Row(
                "sm.GLM(y, y**0, sm.families.Binomial(), offset=x).fit(tol=1e-12).params[0]",
                "clinic.calibration_in_the_large(y, s)",
            ),
            Row(
                "sm.Logit(y, sm.add_constant(x)).fit(disp=0).params[1]",
                "clinic.calibration_slope(y, s)",
            ),
            Row(
                "abs(sm.nonparametric.lowess(y, s, 2 / 3, 0, return_sorted=False) - s).mean()",
                "clinic.smooth_curve(y, s, span=2 / 3, degree=1)",
                "they fit at every row; we fit at knots and lay cubics between, as R's loess does",
            ),
        ),
    ),
)


@cache
def data() -> Mapping[str, Any]:
    """Return the names that the lines use; `p` has two digits, so that many lie on an edge."""
    rng = np.random.default_rng(2026)
    p = rng.integers(0, 101, N) / 100
    score = rng.random(N)
    y = (rng.random(N) < 0.2 + 0.6 * p).astype(np.int64)
    table = rng.dirichlet([1.0, 1.0, 1.0], N)
    true = np.sqrt(table) / np.sqrt(table).sum(axis=1, keepdims=True)
    labels, drawn = (
        (rng.random((N, 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1) for chance in (true, table)
    )
    arrays = {"p": p, "y": y, "w": rng.random(N), "score": score, "s": 0.01 + 0.98 * p}
    arrays["x"] = np.log(arrays["s"] / (1 - arrays["s"]))
    arrays |= {"table": table, "labels": labels, "drawn": drawn}
    arrays["people"] = 1.0 * (rng.random(200) < score[:200] ** 2)
    arrays["checked"] = np.append(arrays["people"], np.full(N - 200, np.nan))
    names = {"calibrators": calibrators, "ck": ck, "clinic": clinic, "np": np}
    return {**arrays, **names, "estimate_rate": estimate_rate}


def ours(row: Row) -> float:
    """Run our line."""
    return float(eval(row.ours, dict(data())))


def theirs(library: Library) -> list[float] | None:
    """Run the lines of a library, or return None where it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, about themselves
        try:
            names = {name: importlib.import_module(path) for name, path in library.imports.items()}
        except ImportError:
            return None
        return [float(eval(row.theirs, {**data(), **names})) for row in library.rows]


def stored() -> dict[str, dict[str, Any]]:
    """Return the version and the numbers of each library, as they were last computed."""
    return dict(json.loads(STORED.read_text(encoding="utf-8"))) if STORED.exists() else {}


def block(library: Library) -> str:
    """Return the comparison of one library, from stored numbers and ours of today."""
    known = stored()[library.pip]
    lines = []
    for row, number in zip(library.rows, known["numbers"], strict=True):
        theirs_and_ours = f"`{' '.join(row.theirs.split())}`", f"`{row.ours}`"
        lines.append([*theirs_and_ours, digits(number), digits(ours(row)), row.why])
    head = [f"{library.pip} {known['version']}", "calibkit", "theirs", "ours", "why"]
    return markdown(head, lines, ("calibkit", "why"))


def digits(number: float) -> str:
    """Return a number as the page prints it."""
    return "infinite" if np.isinf(number) else f"{number:.6f}"


def main() -> None:
    """Compute what can be computed here, store it, and rewrite the page."""
    known = stored()
    for library in LIBRARIES:
        numbers = theirs(library)
        if numbers is not None:
            version = importlib.metadata.version(library.pip)
            known[library.pip] = {"version": version, "numbers": numbers}
        print(library.pip, "stored earlier" if numbers is None else "computed")
    STORED.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    blocks = {library.pip: block(library) for library in LIBRARIES}
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
