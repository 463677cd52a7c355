"""What the reports say, sentence by sentence: one stored text each, with fractions left out."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from calibkit_audit.auditing import AuditReport, AuditSettings, audit, compare
from calibkit_audit.auditing.repairs import repairs_of
from calibkit_audit.auditing.rows import rows_of
from tests.audit_cases import assert_snapshot, make

QUICK = AuditSettings(n_draws=199, n_resamples=60)
RNG = np.random.default_rng


def report(kind: str, n: int = 500, k: int = 2, **options: Any) -> Any:
    """Audit the first rows of a case."""
    case = make(kind, k, 500, 3)
    return audit(case.y_true[:n], case.y_prob[:n], settings=QUICK, **options)


def with_zeros() -> Any:
    """Audit rows of which five called impossible what happened."""
    case = make("calibrated", 2, 500, 3)
    zeros = np.where(np.cumsum(case.y_true) <= 5, 0.0, case.y_prob)
    return audit(case.y_true, zeros, settings=QUICK)


def models(*names: str, n: int = 500, costs: Any = (1, 9)) -> Any:
    """Compare models on the first rows of one case, by name."""
    kinds = {"bold": "over-confident", "fair": "calibrated", "low": "under-forecast"}
    said = {name: make(kind, 2, 500, 3).y_prob for name, kind in kinds.items()}
    y, noise = make("calibrated", 2, 500, 3).y_true, RNG(0).normal(0, 0.8, 500)
    said |= {"same": said["fair"], "noisy": expit(logit(said["fair"]) + noise)}
    said |= {"zero": np.where(np.cumsum(y) == 5, 0.0, said["fair"]), "bolder": said["bold"] ** 3}
    return compare(y[:n], {name: said[name][:n] for name in names}, costs=costs)


HALVES = np.arange(500) % 2
REPORTS: dict[str, Callable[[], Any]] = {
    "over_confident": lambda: report("over-confident", costs=(1, 5), groups=HALVES),
    "calibrated": lambda: report("calibrated"),
    "classes": lambda: report("under-confident", k=3, class_names=["cat", "dog", "owl"]),
    "shuffled": lambda: report("shuffled"),
    "few_rows": lambda: report("calibrated", n=30),
    "one_row": lambda: report("calibrated", n=1),
    "clusters": lambda: report("over-confident", cluster=np.arange(500) // 5),
    "weights": lambda: report("over-confident", sample_weight=1.0 + np.arange(500) % 3),
    "over_time": lambda: report("over-confident", time=np.arange(500)),
    "impossible_rows": with_zeros,
    "two_models": lambda: models("bold", "fair"),
    "many_models": lambda: models("fair", "zero", "low", "noisy", "same"),
    "models_off": lambda: models("bold", "low", "bolder", costs=(1, 1)),
    "few_rows_of_models": lambda: models("fair", "low", n=20),
    "two_zeros": lambda: models("zero", "fair", costs=None),
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_says_what_it_said(name: str) -> None:
    found = REPORTS[name]()
    methods = "\n- ".join(["Methods", *found.notes])
    assert_snapshot(name, f"{found.text()}\n\n{methods}")


# --- the paragraph for the person who decides, of five files that people have, and of classes -----

COUNTS = re.compile(r"f ([\d,]+) (?:cases|answers) it expects \D*?([\d,.]+)\D*?; \D*?([\d,]+)")


def ward(rng: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Patients in order of time; more come back than the model says, in the second half."""
    true = rng.beta(2, 8, 3000)
    said = np.where(np.arange(3000) < 1500, true, expit(logit(true) - 0.8))
    return rng.random(3000) < true, said, {"time": np.arange(3000)}


def bank(rng: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Rare defaults, three times as many as the model says."""
    said = expit(rng.normal(-8, 0.7, 60_000))
    return rng.random(60_000) < 3 * said, said, {}


def weather(rng: Any) -> tuple[Any, Any, dict[str, Any]]:
    """A service that is right."""
    said = rng.integers(0, 11, 2000) / 10
    return rng.random(2000) < said, said, {"independent": True}


def language_model(rng: Any) -> tuple[Any, Any, dict[str, Any]]:
    """A model that is sure of half of its answers, and too sure of all."""
    said = np.where(rng.random(1000) < 0.5, 1.0, rng.uniform(0.6, 1, 1000))
    return rng.random(1000) < said - 0.2, said, {"predicted": True}


def shop(rng: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Sixty rows."""
    said = rng.uniform(0.2, 0.6, 60)
    return rng.random(60) < said, said, {}


def classes(rng: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Three classes, of which one comes twice as often as it is forecast."""
    true = rng.dirichlet([1, 2, 3], 2000)
    label = (rng.random((2000, 1)) > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    said = true * [0.4, 1, 1]
    names = ["rare", "common", "commonest"]
    return label, said / said.sum(axis=1, keepdims=True), {"view": 0, "class_names": names}


FILES = {one.__name__: one for one in (ward, bank, weather, language_model, shop, classes)}


def report_of(
    file: Callable[[Any], Any], seed: int = 0, **how: Any
) -> tuple[Any, Any, AuditReport]:
    y_true, y_prob, options = file(RNG(seed))
    settings = replace(QUICK, **how)
    return y_true, y_prob, audit(y_true * 1, y_prob, settings=settings, **options)


def of_so_many(counts: tuple[str, ...], y: Any, p: Any) -> float:
    """Compare what is said of so many cases with plain means; return how many cases."""
    of, said, came = (float(count.replace(",", "")) for count in counts)
    assert (said, came) == pytest.approx((of * p.mean(), of * y.mean()), abs=0.51)
    return of


def test_a_constant_error_of_rare_events_is_shifted_not_heated() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        true = expit(rng.normal(-4, 1, 3000))
        label, said = (rng.random(3000) < true).astype(int), expit(logit(true) - np.log(3))
        repairs = repairs_of(rows_of(label, said), QUICK, np.random.default_rng(seed)).table
        assert repairs.name[repairs.chosen] == "offset"


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_paragraph_says_the_plain_means(name: str) -> None:
    y, p, report = report_of(FILES[name])
    if p.ndim == 2:
        y, p = y == 0, p[:, 0]
    whole, *parts = COUNTS.findall(report.advice.lower())
    assert of_so_many(whole, y, p) == (10_000 if name == "bank" else min(100, len(p)))
    numbers = report["direction"].numbers
    if "Most of the error" in report.advice:
        inside = (p >= numbers["region_low"]) & (p < numbers["region_high"] + (p == 1))
        of_so_many(parts.pop(0), y[inside], p[inside])
        assert f"in the {inside.sum():,} rows" in report.advice
    if report.times is not None:
        (moments,) = re.findall(r"most somewhere from (\d+) to (\d+)\.", report.advice)
        first, last = map(int, moments)
        assert first <= 1500 <= last
        for counts, part in zip(parts, (slice(first), slice(last, None)), strict=True):
            of_so_many(counts, y[part], p[part])
    for text in (report.text(), report.to_html()):
        assert report.advice in " ".join(text.split())
    assert_snapshot(f"advice_{name}", f"{report.headline}\n\n{report.advice}")


@pytest.mark.parametrize("seed", range(3))
def test_an_error_that_is_spread_is_counted_on_both_sides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = rng.beta(1, 8, 6000)
    y, p = (rng.random(6000) < true) * 1, expit(1.6 * (logit(true) + 1.8) - 1.8)
    advice = audit(y, p, costs=(1, 4), settings=replace(QUICK, repairs=())).advice
    cut = round(15 * float(advice.partition("Where it says less than ")[2][:4])) / 15
    _, low, high = COUNTS.findall(advice.lower())
    for counts, side in ((low, p < cut), (high, p >= cut)):
        of_so_many(counts, y[side], p[side])
    assert "At the given costs" not in advice  # of what mending would save nothing is known


@pytest.mark.parametrize(
    ("n", "first", "others", "named"), [(9000, 0.02, 0.2, False), (300, 0.2, 0, True)]
)
def test_a_region_is_named_where_it_holds_more_of_the_error_than_of_the_rows(
    n: int, first: float, others: float, named: bool
) -> None:
    said = np.repeat([0.01, 0.3, 0.5, 0.7], [n, 200, 200, 200])
    came = said + np.where(said == 0.01, first, others)
    y = (np.arange(len(said)) * 0.61803 % 1 < came) * 1  # as evenly as can be
    report = audit(y, said, settings=replace(QUICK, repairs=()))
    assert ("Most of it lies" in report["direction"].sentence) == named
    assert ("Most of the error lies" in report.advice) == named


@pytest.mark.slow
def test_nothing_is_claimed_beyond_the_test() -> None:
    """Twenty calibrated files: no error, no region, no repair is named."""
    for seed in range(20):
        for file in (weather, shop):
            *_, report = report_of(file, seed, repairs=())
            clear = report.verdicts["calibration"] in ("no evidence", "cannot say")
            assert clear == ("no more than chance makes" in report.advice), report.advice
            assert not clear or "Most of the error" not in report.advice
