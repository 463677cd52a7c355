"""The audit: right verdicts on data whose right answer is known, and honest about the rest."""

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import expit, logit

import calibkit as ck
from calibkit import CalibrationWarning
from calibkit.decisions import largest_saving, murphy_curve
from calibkit.fakes import LogitDistortion
from calibkit_audit import estimate_rate
from calibkit_audit.auditing import AuditReport, AuditSettings, audit, audit_table
from calibkit_audit.auditing.alignment import alignment_answer
from calibkit_audit.auditing.dependence import add_time, parse_times, time_finding
from calibkit_audit.auditing.evidence import groups_of
from calibkit_audit.auditing.redraws import joint_test
from calibkit_audit.auditing.rows import drop_weightless, rows_of
from calibkit_audit.auditing.settings import CODES, SYMBOLS
from calibkit_audit.clusters import clusters_of
from calibkit_course.data import DataUnavailable, load
from tests.audit_cases import CLASSES, Case, effects, make
from tests.helpers import each_case

QUICK = AuditSettings(n_draws=199, n_resamples=60)
PLAIN = replace(QUICK, repairs=())  # repairs take most of an audit's time


def of(case: Case, **options: Any) -> AuditReport:
    """Audit a case."""
    return audit(case.y_true, case.y_prob, rng=case.seed, **options)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        ("mlb", {"calibration": "no evidence", "repair": "no repair", "data": "enough data"}),
        ("nba", {"calibration": "miscalibrated", "direction": "over-forecast", "repair": "repair"}),
        ("world_cup", {"calibration": "cannot say", "data": "too little data"}),
        (
            "cifar10-vgg16",
            {"calibration": "miscalibrated", "direction": "over-confident", "repair": "repair"},
        ),
    ],
)
def test_real_predictions(name: str, verdicts: dict[str, str]) -> None:
    try:
        data = load(name)
    except DataUnavailable as error:
        pytest.skip(f"needs CALIBKIT_DATA: {error}")
    report = audit(data.y_true, data.y_prob)
    assert verdicts.items() <= report.verdicts.items()
    assert report.verdicts["alignment"] == "aligned"


@pytest.mark.long
def test_the_smallest_error_is_found_as_often_as_promised() -> None:
    """In 90 % of draws, by the whole test and over all views; of 10 draws at least 6 do."""
    rng = np.random.default_rng(0)
    for said in (rng.uniform(0.3, 0.7, 800), rng.dirichlet(np.ones(10), 800)):
        table = np.column_stack([said, 1 - said]) if said.ndim == 1 else said
        first = table.argmax(axis=1) if said.ndim == 2 else 0  # the event of the first view
        is_first = np.arange(table.shape[1]) == np.reshape(first, (-1, 1))
        stated = np.where(is_first, table, 0).sum(axis=1, keepdims=True)
        quiet = audit(np.arange(800) % table.shape[1], said, settings=PLAIN)
        low = stated - quiet["data"].numbers["smallest_error"]
        true = np.where(is_first, low, table * (1 - low) / (1 - stated)).cumsum(axis=1)
        found = 0
        for seed in range(10):
            y = (true[:, :-1] < np.random.default_rng(seed).random((800, 1))).sum(axis=1)
            y = 1 - y if said.ndim == 1 else y
            found += audit(y, said, settings=PLAIN).verdicts["calibration"] == "miscalibrated"
        assert found >= 6, (table.shape, found)


@pytest.mark.parametrize(
    ("order", "cause"), [([1, 0, 2], "Columns look swapped"), ([1, 2, 3, 0], "off by one class")]
)
def test_columns_in_the_wrong_order_are_named(order: list[int], cause: str) -> None:
    case = make("calibrated", len(order), 900, 3)
    report = audit(case.y_true, case.y_prob[:, order], settings=QUICK)
    assert report.verdicts["alignment"] == "not aligned" and report.light == "bad"
    assert cause in report["alignment"].sentence
    assert "label 0 fits column" in report["alignment"].sentence
    # No part of the report recommends a repair before labels are aligned.
    assert (report.verdicts["repair"], report.repair) == ("align first", None)
    assert "Recommended" not in report.repairs.describe()
    with pytest.raises(ValueError, match="repair the labels"):
        report.calibrator.calibrate(case.y_prob)


@pytest.mark.parametrize("share", [1.0, 0.75])
def test_inverted_probabilities_are_named(share: float) -> None:
    """Also where a quarter of the rows is right: half of what was promised is explained."""
    case = make("calibrated", 2, 4000, 5)
    wrong = np.arange(4000) < share * 4000
    report = audit(case.y_true, np.where(wrong, 1 - case.y_prob, case.y_prob), settings=PLAIN)
    assert report.verdicts["alignment"] == "not aligned"
    assert "1 - p fits" in report["alignment"].sentence


def test_labels_of_other_rows_tell_nothing_apart() -> None:
    case = make("calibrated", 3, 600, 7)
    shuffled = np.random.default_rng(0).permutation(case.y_true)
    told = "The predictions tell nothing apart, or the labels belong to other rows."
    for other in (np.roll(case.y_true, 1), np.roll(case.y_true, -1), shuffled):
        report = audit(other, case.y_prob, settings=PLAIN)
        assert "(shuffled, shifted, or of" in report["alignment"].sentence
        assert report.headline == told and report.verdicts["calibration"] == "miscalibrated"
    label = np.repeat(np.arange(3), [480, 60, 60])  # equal rows are in no order, whatever fits
    found = alignment_answer(
        rows_of(label, np.tile([0.2, 0.3, 0.5], (600, 1))), np.random.default_rng(1)
    )
    assert found.verdict == "alignment unclear"


@pytest.mark.long
def test_rare_events_are_not_called_shuffled() -> None:
    """With 15 expected events the fit varies much; what is right is hardly ever accused."""
    verdicts: dict[str, list[str]] = {"right": [], "shuffled": []}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p = rng.beta(0.3, 10, 500)
        y = (rng.random(500) < p).astype(np.int64)
        for name, labels in (("right", y), ("shuffled", rng.permutation(y))):
            verdicts[name].append(alignment_answer(rows_of(labels, p), rng).verdict)
    assert verdicts["right"].count("no discrimination") <= 2
    assert verdicts["right"].count("aligned") >= 50
    assert verdicts["shuffled"].count("aligned") <= 1
    assert verdicts["shuffled"].count("no discrimination") >= 30


def chain(rng: np.random.Generator, n: int, k: int) -> tuple[Any, Any]:
    """Each day's class with a chance made from yesterday's: calibrated persistence forecasts."""
    y, p = [0], np.full((n, k), 0.3 / (k - 1))
    for day in range(n):
        p[day, y[-1]] = 0.7
        y.append(int(rng.choice(k, p=p[day])))
    return np.array(y[1:]), p


def exciting(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Each event makes the next one likelier, and that is known."""
    y, p, state = [], [], 0.0
    for _ in range(n):
        p.append(0.15 + 0.5 * state)
        y.append(int(rng.random() < p[-1]))
        state = 0.8 * state + 0.2 * y[-1]
    return np.array(y), np.array(p)


def without_skill(rng: np.random.Generator, n: int, k: int) -> tuple[Any, Any]:
    """Predictions that know nothing: of five answers, or a tree's, grown on noise."""
    return rng.integers(0, k, n), rng.dirichlet(np.full(k, 0.4), n)


def stated(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Stated confidences that tell nothing."""
    return (rng.random(n) < 0.7) * 1, rng.choice(np.linspace(0.6, 0.95, 8), n)


def another_prior(rng: np.random.Generator, n: int, k: int) -> tuple[Any, Any]:
    """Right ranks, but the commonest class is far too low: once called inverted, and swapped."""
    true = rng.dirichlet([4.0, *[1.0] * (k - 1)], n)
    label = (rng.random((n, 1)) > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    said = true * [0.03, *[1.0] * (k - 1)]
    said /= said.sum(axis=1, keepdims=True)
    return label, said[:, 1] if k == 2 else said


@pytest.mark.parametrize(
    "draw",
    [
        *(partial(chain, n=n, k=2) for n in (60, 90, 180)),
        partial(chain, n=90, k=3),
        partial(exciting, n=120),
        partial(stated, n=1000),
        *(partial(another_prior, n=1000, k=k) for k in (2, 3)),
        partial(without_skill, n=1000, k=2),
        partial(without_skill, n=230, k=5),
    ],
)
def test_aligned_rows_are_not_accused(draw: Any) -> None:
    """In 3,200 files of these eight designs nothing was; before, of some 94 in 100."""
    for seed in range(20):
        rng = np.random.default_rng([13, seed])
        found = alignment_answer(rows_of(*draw(rng)), rng)
        assert found.verdict != "not aligned"


def test_what_is_off_on_one_side_of_the_mean_is_too_bold() -> None:
    said = np.repeat([0.01, 0.5], [400, 400])
    y = (np.arange(800) % 20 < np.where(said < 0.5, 1, 10)) * 1
    one_side = audit(y, said, settings=QUICK)["direction"].sentence
    assert one_side.startswith("Over-confident: predictions lie too far from their mean.")
    stated = audit(y, np.full(800, 0.2), predicted=True, settings=QUICK)["alignment"]
    assert "The predicted class has accuracy 0.275." in stated.sentence


def test_all_too_low_comes_before_too_bold() -> None:
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 0.0011, 5000)  # all too low, the lowest by the most
    all_low = audit((rng.random(5000) < 0.003) * 1, low, settings=QUICK)["direction"]
    assert all_low.sentence.startswith("Under-forecast, and over-confident: predictions are too")
    said = np.repeat([0.01, 0.5], [400, 400])
    y = (np.arange(800) % 20 < np.where(said < 0.5, 1, 10)) * 1
    one_side = audit(y, said, settings=QUICK)["direction"].sentence
    assert one_side.startswith("Over-confident: predictions lie too far from their mean.")


def test_a_ranking_upside_down_and_a_weak_fit_are_named() -> None:
    y = np.r_[np.arange(800) % 10 < 7, np.arange(200) % 10 < 6] * 1
    p = np.repeat([0.999, 0.4], [800, 200])  # z = 2.7
    weak, down = (
        audit(y, q, settings=QUICK)["alignment"] for q in (p, np.where(p > 0.5, 0.4, 0.6))
    )
    assert weak.verdict == "alignment unclear" and "hardly better" in weak.sentence
    assert "would: 2.7 standard deviations" in weak.sentence
    right = np.tile([1, 1, 1, 0], 250)
    low = np.where(right == 1, 0.8, 0.9) - np.arange(1000) % 3 / 10
    report = audit(right, low, predicted=True, settings=QUICK)
    assert report.verdicts["alignment"] == "upside down"
    assert report.headline == "The ranking is upside down."
    assert report.verdicts["repair"] != "align first" and down.light != "good"


def test_predictions_without_information_are_unclear_not_wrong() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 1000)
    report = audit(y, rng.uniform(0.49, 0.51, 1000), settings=PLAIN)
    assert report.verdicts["alignment"] == "alignment unclear"
    assert report.verdicts["calibration"] == "no evidence"


@pytest.mark.parametrize("k", CLASSES)
def test_the_order_of_rows_does_not_matter(k: int) -> None:
    case = make("over-confident", k, 300, 11)
    groups = np.arange(300) % 3
    order = np.random.default_rng(0).permutation(300)
    one = of(case, settings=QUICK, groups=groups)
    y, p = case.y_true[order], case.y_prob[order]
    two = audit(y, p, groups=groups[order], rng=11, settings=QUICK)
    assert one.text() == two.text()
    for a, b in zip(one.answers, two.answers, strict=True):
        assert a.numbers == pytest.approx(b.numbers, abs=1e-12, nan_ok=True)
    assert one.to_dict() == two.to_dict()


def test_the_input_is_not_changed_and_containers_agree() -> None:
    case = make("calibrated", 3, 200, 2)
    y, p = case.y_true.copy(), case.y_prob.copy()
    one = audit(y, p, settings=PLAIN)
    assert (y == case.y_true).all()
    assert (p == case.y_prob).all()
    assert audit(y.tolist(), p.tolist(), settings=PLAIN).to_dict() == one.to_dict()


def test_logits_are_audited_and_repaired_as_logits() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(1500, 4))
    y = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    report = audit(y, logits=2 * truth, settings=QUICK)
    assert report.verdicts["direction"] == "over-confident"
    assert report.repair == "temperature"
    assert report.calibrator.temperature_ == pytest.approx(2, rel=0.15)
    assert "T = " in report["repair"].sentence


@pytest.mark.parametrize("size", [25, 400])
def test_no_logit_says_0_or_1_and_the_mirror_says_the_same(size: float) -> None:
    """P(y = 1) is rounded to 1 from a logit of 37 on, and to 0 from -746 on."""
    rng = np.random.default_rng(1)
    given = rng.normal(0, size, 1000)
    y = (rng.random(1000) < expit(2 * given / size)).astype(int)
    lost, z = np.logaddexp(0, np.where(y == 1, -given, given)).mean(), []
    slope = ck.cox_test(y, expit(given / size)).slope / size
    for label, sign in ((y, 1), (1 - y, -1)):
        report = audit(label, logits=sign * given, settings=PLAIN)
        view = report.evidence.focus
        assert (view.sure, view.wrong, report.evidence.impossible.certain) == (0, 0, 0)
        assert report["repair"].numbers["log_loss"] == pytest.approx(lost, rel=1e-12)
        assert report.weak.columns["value"][-1] == pytest.approx(slope, rel=1e-6)
        z += [(sign * view.z_level, view.z_slope)]
    assert z[0] == pytest.approx(z[1], rel=1e-9)


def test_a_1_whose_other_side_is_not_0_is_not_sure() -> None:
    table = np.tile([[0.3, 0.7, 0.0], [0.0, 1.0, 1e-30], [1e-30, 1.0, 0.0]], (50, 1))
    label, rng = np.tile([0, 1, 1, 1, 1, 0], 25), np.random.default_rng(0)
    views, *_ = joint_test(table, label, [1, 2], n_draws=99, rng=rng)
    assert [(view.sure, view.p_value) for view in views] == [(0, 0.01), (100, 1.0)]


def test_a_repair_after_which_the_error_is_larger_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make("over-confident", 2, 3000, 0)
    assert "not in that error" not in audit(case.y_true, case.y_prob, settings=QUICK).text()
    worse = SimpleNamespace(value=0.5)
    monkeypatch.setattr("calibkit_audit.auditing.repairs._error", lambda *_, **__: worse)
    said = audit(case.y_true, case.y_prob, settings=QUICK)["repair"].sentence
    assert "afterwards: 0.5000" in said and "gains in log loss, not in that error" in said


@pytest.mark.slow
def test_impossible_statements_are_a_finding_of_their_own() -> None:
    case = make("calibrated", 2, 800, 5)
    p = case.y_prob.copy()
    wrong = np.flatnonzero(case.y_true == 1)[3]
    p[wrong] = 0.0
    report = audit(case.y_true, p, groups=np.arange(800) % 2, settings=PLAIN)
    # Such a row proves itself wrong, and not its group: no redraw shows one, so p cannot tell.
    assert report.groups is not None and not report.groups.miscalibrated
    assert f"wrong: {wrong % 2} has most (1)" in report["groups"].sentence
    assert "1 wrong. All others together show no error beyond chance. Never" in report.advice
    assert "shown is 1 row that wrongly said 0 or 1. 0 of" in report["direction"].sentence
    numbers, sentence = report["calibration"].numbers, report["calibration"].sentence
    assert report.verdicts["calibration"] == "miscalibrated" and numbers["p_value"] == 0
    assert numbers["p_value_of_others"] > 0.01
    assert "1 of 1 predictions of exactly 0 or 1 were wrong" in sentence
    assert "impossible statements" in report.codes
    gone = f"1 row gave probability 0 to what happened (row {wrong}, counted from 0)"
    assert report.promise.startswith("At most 1 in 100 calibrated models would be called miscal")
    for page in (report.text(), report.to_html(), report._repr_html_()):
        assert gone in page and report.promise in page and report.symbol in page
    gaps = {"y": np.r_[np.nan, case.y_true], "p": np.r_[0.5, p]}
    report = audit_table(gaps, label="y", prob="p", drop_missing=True, settings=PLAIN)
    assert f"{gone[:-1]} among those that are left)" in report["impossible"].sentence
    # The log loss is infinite here and in the package.
    assert np.isinf(ck.log_loss(case.y_true, p).value)
    assert np.isinf(report["repair"].numbers["log_loss"])


def test_a_price_of_nothing_is_said_in_words() -> None:
    case, rng = make("calibrated", 2, 2000, 2), np.random.default_rng(0)
    for votes, which, act in (1, "a miss", "never"), (3, "a false alarm", "in every case"):
        said = rng.binomial(votes, case.y_prob) / votes
        text = audit(case.y_true, said, settings=PLAIN)["costs"].sentence
        assert f"where {which} costs next to nothing, act {act}." in text


def test_chance_takes_nothing_away_from_the_error() -> None:
    y = np.random.default_rng(1).random(1000) < 0.3
    numbers = audit(y.astype(int), np.full(1000, 0.5), settings=PLAIN)["calibration"].numbers
    assert numbers["error_low"] <= numbers["error_without_chance"] <= numbers["error"]


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_a_tree_that_is_always_certain_leaves_nothing_to_test(share: float) -> None:
    rng = np.random.default_rng(0)
    p = rng.integers(0, 2, 400).astype(float)
    y = np.where(rng.random(400) < share, 1 - p, p).astype(int)
    report = audit(y, p, groups=np.arange(400) % 2, settings=QUICK)
    assert report["impossible"].numbers["rows"] == (y != p).sum()
    assert "predict_proba in place of predict" in report["impossible"].sentence
    numbers = report["calibration"].numbers
    assert (numbers["p_value"], numbers["p_value_of_others"]) == (0, 1)
    assert "No number of such can tell" in report["data"].sentence
    assert report["data"].numbers["needed"] == np.inf
    assert {"miscalibrated", "group miscalibrated", "too little data"} <= report.codes
    if share == 1:
        return
    assert report.verdicts["direction"] == "over-confident"
    assert report.repair == "temperature"  # the log loss becomes finite, and nothing is ruled out
    after = report["repair"].numbers["log_loss_after"]
    assert f"log loss falls from infinite to {after:.4f}. Expected" in report["repair"].sentence


WRONG = np.repeat([1, 0, 1, 0], [640, 160, 100, 100]), np.repeat([1.0, 0.4], [800, 200])


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["one", "three", "answers", "clusters", "weights"])
def test_a_statement_speaks_of_all_rows(columns: str) -> None:
    """Claimed .880, came .740: what is sure and wrong counts as what is sure and right does."""
    more: dict[str, Any] = {"settings": AuditSettings(n_draws=99, n_resamples=50, repairs=())}
    top = columns in ("three", "answers")
    for (y, p), way in ((WRONG, "over"), ((1 - WRONG[0], 1 - WRONG[1]), "under")):
        y, p = WRONG if top else (y, p)
        given = np.column_stack([(1 - p) / 2, p, (1 - p) / 2]) if columns == "three" else p
        if columns == "answers":
            more["predicted"] = p >= 0
        elif columns == "clusters":
            more["cluster"] = np.arange(1000) // 2
        elif columns == "weights":
            more["sample_weight"] = 1.0 + np.arange(1000) % 2
        report = audit(y, given, groups=np.arange(1000) % 2, **more)
        means = report["direction"].numbers
        assert report.verdicts["calibration"] == "miscalibrated" and report.groups is not None
        said = report.groups.mean_prob - report.groups.frequency
        assert (np.sign(said) == np.sign(means["gap"])).all() and len(report.groups.miscalibrated)
        assert report.weak.columns["value"][0] == pytest.approx(
            means["frequency"] / means["mean_prob"]
        )
        assert (means["mean_prob"], means["frequency"]) == pytest.approx(
            (0.88, 0.74) if top or way == "over" else (0.12, 0.26), abs=0.003
        )
        wanted = {"over-confident"} if top else {"over-confident", f"{way}-forecast"}
        assert wanted <= report.codes, report["direction"].sentence


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_where_most_of_it_lies_is_what_the_bins_say(seed: int) -> None:
    """On random files, with rows at 0 and 1, for any seed of the redraws."""
    rng = np.random.default_rng([39, seed])
    p = rng.choice([0, 1, *np.arange(1, 10) / 10], 400, p=rng.dirichlet(np.ones(11)))
    y = rng.random(400) < np.clip(p + rng.normal(0, 0.2), 0.02, 0.98)
    ask = AuditSettings(n_draws=99, n_resamples=50, repairs=())
    answer, other = (audit(y, p, settings=ask, rng=k)["direction"] for k in (0, 1))
    numbers, way = answer.numbers, answer.verdict
    low, high, n = (numbers.get(f"region_{name}") for name in ("low", "high", "n"))
    assert (low, n) == (other.numbers.get("region_low"), other.numbers.get("region_n"))
    if low is None:
        told = "spread over" in answer.sentence or "All that is shown" in answer.sentence
        assert told or way in ("mixed", "no direction")
        return
    table = ck.reliability_table(y, p)
    inside = (table.edges[:-1] >= low) & (table.edges[1:] <= high)
    side = -1 if way.startswith("under") else 1
    if way.endswith("confident"):
        side = side * np.sign(table.mean_prob - p.mean())
    excess = np.nan_to_num(side * table.count * table.gap)
    assert excess[inside].sum() > excess[excess > 0].sum() / 2 and n == table.count[inside].sum()


def test_an_error_of_all_bins_lies_in_none() -> None:
    """Each tenth is .09 too high; a bin near 0 with one event too many explains none of it."""
    p = np.repeat(np.arange(1, 10) / 10, 100)
    y = np.arange(900) % 100 < 100 * (p - 0.09)
    p, y = np.r_[p, np.full(20, 1e-6)], np.r_[y, np.arange(20) == 0]
    ask = AuditSettings(n_draws=99, n_resamples=50, repairs=())
    for seed in range(2):
        sentence = audit(y, p, settings=ask, rng=seed)["direction"].sentence
        assert "It is spread over 10 bins." in sentence and "too high" in sentence


def test_small_means_keep_two_digits() -> None:
    y = np.repeat([1, 0], [16, 4912])
    report = audit(y, np.full(4928, 0.00056), settings=AuditSettings(n_draws=99, repairs=()))
    assert "Mean prediction 0.00056, observed 0.0032" in report["direction"].sentence


# Shifts between a p of 0.001 and one of 0.9: one problem has one verdict.
@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, -0.3, 0.5])
@pytest.mark.parametrize("way", ["probabilities", "logits"])
def test_one_column_or_two_are_one_problem(shift: float, way: str) -> None:
    rng = np.random.default_rng(3)
    true = rng.normal(0.2, 0.8, 450)
    y = (rng.random(450) < expit(true)).astype(int)
    said = true + shift
    if way == "logits":
        given = [{"logits": said}, {"logits": np.column_stack([np.zeros(450), said])}]
    else:
        given = [{"y_prob": expit(said)}, {"y_prob": np.stack([1 - expit(said), expit(said)], 1)}]
    one, two = (audit(y, **options, costs=(1, 5), settings=QUICK) for options in given)
    assert one.text() == two.text()
    assert one.to_dict() == two.to_dict()
    heated = way == "logits" and one.repairs.name[one.repairs.place] == "temperature"
    score = said if heated else expit(said)
    fixed = copy.deepcopy(two.candidate).calibrate(score)
    assert fixed == pytest.approx(one.candidate.calibrate(score))


def test_a_calibrator_is_there_even_where_none_is_recommended() -> None:
    case = make("calibrated", 2, 400, 3)
    report = of(case, settings=QUICK)
    assert report.repair is None
    with pytest.warns(CalibrationWarning, match="not recommended") as caught:
        fixed = report.calibrator.calibrate(case.y_prob)
    assert caught[0].filename == __file__  # the line that asked for it, not one of ours
    assert fixed.shape == case.y_prob.shape
    with pytest.raises(ValueError, match="two classes"):
        audit([0, 0, 0], [0.1, 0.2, 0.3], settings=QUICK).calibrator  # noqa: B018


@pytest.mark.parametrize("digits", [2, 3])
@pytest.mark.parametrize("k", [2, 3, pytest.param(10, marks=pytest.mark.slow)])
def test_rounded_probabilities_are_no_logits(digits: int, k: int) -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(k), 200).round(digits)
    with pytest.raises(ValueError, match="probabilities"):
        audit(np.arange(200) % k, logits=p, settings=PLAIN)
    audit(np.arange(200) % k, logits=4 * p, settings=PLAIN)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [(["yes", "no"], "yes"), ([True, False], True), ([2, 1], 2), ([1, 0], 1)],
)
def test_any_two_labels_with_a_positive_one(labels: Any, positive: Any) -> None:
    case = make("calibrated", 2, 200, 3)
    y = np.array([labels[0] if happened else labels[1] for happened in case.y_true])
    whole = audit(case.y_true, case.y_prob, event="it rains", settings=PLAIN)
    table: dict[str, Any] = {"table": {"churn": y, "p": case.y_prob}, "label": "churn", "prob": "p"}
    how: dict[str, Any] = {"positive": positive, "settings": PLAIN}
    for named, event in (
        (audit(y, case.y_prob, **how), f"y = {positive}"),
        (audit_table(**table, **how), f"churn = {positive}"),
    ):
        assert named.view == event and event in named.advice
        assert named.evidence.band.table.view == event
        for one, wanted in zip(named.answers, whole.answers, strict=True):
            assert one.sentence.replace(event, "it rains") == wanted.sentence


@pytest.mark.slow
def test_costs_of_an_over_confident_model() -> None:
    data = LogitDistortion(slope=0.3).sample(6000, rng=0)
    report = audit(data.y_true, data.y_prob, costs=(1, 19), settings=QUICK)
    numbers = report["costs"].numbers
    assert report.verdicts["costs"] in ("costly", "worse than ignoring")
    assert numbers["threshold"] == pytest.approx(0.05)
    assert numbers["regret_low"] > 0
    assert numbers["over_ignoring_low"] <= numbers["over_ignoring"] <= numbers["over_ignoring_high"]
    more = numbers["over_ignoring"]
    assert f"trust {'adds' if more > 0 else 'saves'} {abs(more):.4f}" in report["costs"].sentence
    table = audit(data.y_true, data.y_prob, costs=[[0, 19], [1, 0]], settings=QUICK)
    assert table["costs"].numbers == numbers
    three = audit(data.y_true, data.y_prob, costs=[[0, 19], [1, 0], [1, 1]], settings=QUICK)
    assert np.isnan(three["costs"].numbers["threshold"])


def test_trust_that_is_worse_than_no_model() -> None:
    rng = np.random.default_rng(0)
    said = np.where(rng.random(4000) < 0.5, 0.03, 0.97)
    y = (rng.random(4000) < np.where(said > 0.5, 0.5, 0.3)).astype(int)
    for costs, same in (((1, 9), "every"), ((9, 1), "no")):
        report = audit(y, said, costs=costs, settings=PLAIN)
        assert report.verdicts["costs"] == "worse than ignoring"
        assert f"cheaper to act in {same} case than to follow it" in report.advice


@pytest.mark.parametrize(("slope", "n", "named"), [(1, 1000, False), (1.5, 3000, True)])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_another_cut_off_could_save_at_any_costs(
    slope: float, n: int, named: bool, weighted: bool
) -> None:
    rng = np.random.default_rng(n)
    true = rng.beta(1, 2, n)
    y, said = (rng.random(n) < true) * 1, expit(slope * logit(true))
    weight = rng.uniform(0.5, 2, n) if weighted else None
    answer = audit(y, said, sample_weight=weight, settings=PLAIN)["costs"]
    assert ("saving" in answer.numbers) == named
    if not named:  # nothing speaks against these: not asked
        assert answer.sentence == "No costs were given, so this is open."
    else:
        found = largest_saving(y, said, sample_weight=weight)
        assert answer.numbers["saving"] == pytest.approx(found.value)
        assert f"{found.value:.4f}" in answer.sentence
        assert answer.numbers["saving_by_chance"] < found.value


def test_equal_stakes_and_monotone_errors_cost_nothing() -> None:
    data = LogitDistortion(slope=0.5).sample(4000, rng=1)
    for repairs, verdict in ((["temperature"], "not costly"), ([], "costs unknown")):
        settings = replace(PLAIN, repairs=repairs)
        report = audit(data.y_true, data.y_prob, costs=(1, 1), settings=settings)
        assert report.verdicts["calibration"] == "miscalibrated"
        assert report.verdicts["costs"] == verdict


@pytest.mark.parametrize("view", ["top-label", 2])
def test_the_curve_of_costs_is_that_of_the_view(view: Any) -> None:
    case = make("over-confident", 3, 400, 4)
    report = of(case, view=view, settings=QUICK)
    costs = report.consequences
    assert costs.curve.area == pytest.approx(murphy_curve(case.y_true, case.y_prob, view=view).area)
    assert costs.repaired is not None and costs.repaired.area < costs.curve.area


def test_repairs_are_only_recommended_where_they_gain() -> None:
    data = LogitDistortion(slope=0.5, shift=0.4).sample(4000, rng=3)
    report = audit(data.y_true, data.y_prob, settings=QUICK)
    assert report.repair == "Platt"
    assert report.calibrator.slope_ == pytest.approx(0.5, abs=0.08)
    gain = report["repair"].numbers
    low, high = gain["gain"] - gain["gain_low"], gain["gain_high"] - gain["gain"]
    assert gain["gain_low"] > 0 and 0 < low < high - 1e-5  # by half of what fits are flattered
    fixed = report.calibrator.calibrate(data.y_prob)
    label = (np.random.default_rng(4).random(len(fixed)) < fixed).astype(int)
    again = audit(label, fixed, settings=QUICK)
    assert again.verdicts["repair"] == "no repair"


@pytest.mark.long
def test_borderline_is_a_verdict_of_its_own() -> None:
    rng = np.random.default_rng(18)
    p = rng.random(300)
    y = (rng.random(300) < p - 0.05).astype(int)  # p = 0.015, level z of -3
    how = replace(PLAIN, detectable=0.11)
    report = audit(y, p, settings=how)
    assert (report.verdicts["calibration"], report.light) == ("borderline", "caution")
    assert report.headline.startswith("Borderline; if anything, over-forecast (positive class)")
    assert report.verdicts["direction"] == "over-forecast"
    assert "If anything: over-forecast" in report["direction"].sentence
    assert "Wait for new rows" in report.advice
    assert "borderline" in report.codes
    strict = audit(y, p, settings=replace(how, alpha=0.05))
    assert strict.verdicts["calibration"] == "miscalibrated"
    assert "p ≤ " not in strict["calibration"].sentence
    for _ in range(2):  # at the limit it is found; redraws go on there as long as they may
        level = report["calibration"].numbers["p_value"]
        report = audit(y, p, settings=replace(PLAIN, alpha=level))
    assert report["calibration"].numbers["p_value"] == level
    assert report.verdicts["calibration"] == "miscalibrated"


def test_a_report_is_neither_true_nor_false() -> None:
    bold = make("over-confident", 2, 800, 3)
    bad = audit(bold.y_true, bold.y_prob, settings=PLAIN)
    with pytest.raises(TypeError, match=r"in report\.codes"):
        assert bad
    assert json.loads(bad.to_json())["verdicts"]["calibration"] == "miscalibrated"
    assert "p ≤ 0.0" in bad["calibration"].sentence  # the floor of so many redraws


@pytest.mark.long
def test_nothing_that_seems_right_is_repaired() -> None:
    """Of 60 calibrated sets of 30 rows a repair is recommended in no more than the level allows."""
    found = 0
    for seed in range(60):
        case = make("calibrated", 2, 30, seed)
        report = audit(case.y_true, case.y_prob, settings=QUICK)
        found += report.verdicts["repair"] == "repair"
        accused = {"miscalibrated", "borderline"} & report.codes
        assert report.verdicts["repair"] != "repair" or accused
    assert found <= 5  # at most 2 % each


def test_a_repair_is_tried_on_rows_that_it_was_not_fitted_to() -> None:
    """A map that knows its own rows by heart gains nothing on others."""
    rng = np.random.default_rng(0)
    p = rng.random(400)
    report = audit((rng.random(400) < p).astype(int), p, settings=QUICK)
    place = report.repairs.name.tolist().index("isotonic")
    assert report.repairs.gain[place] < 0


@pytest.mark.parametrize("sure", [1.0, 0.0, 1e-12])
def test_a_sure_row_that_was_wrong_does_not_choose_the_repair(sure: float) -> None:
    """Ten groups are exactly calibrated: whatever turns the line for one row makes it worse."""
    hits = np.array([5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 99])
    label = np.concatenate([np.repeat([1, 0], [k, 100 - k]) for k in hits])
    prob = np.repeat([*np.arange(0.05, 1, 0.1), 1.0], 100)
    if sure < 0.5:
        label, prob = 1 - label, np.where(prob == 1, sure, 1 - prob)
    repairs = audit(label, prob, rng=0, settings=QUICK).repairs
    names = repairs.name.tolist()
    assert repairs.chosen < 0 or repairs.harmless[repairs.chosen]
    assert not repairs.harmless[names.index("Platt")]
    assert repairs.log_loss.argmin() == names.index("pulled Platt")


def test_where_a_1_was_contradicted_no_repair_says_0_or_1_again() -> None:
    prob = np.repeat([0.0, 0.5, 1.0], 100)
    label = np.r_[np.zeros(100), np.arange(100) % 2, np.arange(100) > 9].astype(int)
    repairs = audit(label, prob, settings=replace(QUICK, repairs=["isotonic"])).repairs
    assert repairs.harmless[0] and repairs.clear[0] and repairs.chosen == -1


@pytest.mark.parametrize(("half", "repair"), [(0.0, None), (0.15, "temperature")])
def test_no_repair_says_0_or_1_where_the_model_did_not(half: float, repair: str | None) -> None:
    """One threshold separates the labels, or two do, nearly, with an even chance between them."""
    rng = np.random.default_rng([3, 9])
    prob = rng.uniform(0.02, 0.98, 1500)
    true = np.select([prob < 0.5 - half, prob < 0.5 + half], [half / 300, 0.5], 1 - half / 300)
    label = (rng.random(1500) < true).astype(int)
    assert audit(label, prob, settings=QUICK).repair == repair
    few = replace(QUICK, repairs=["isotonic"])
    sentence = audit(label, prob, settings=few)["repair"].sentence
    assert sentence.startswith("None.") and "but it is too sure. It says exactly 0 (or" in sentence


def test_of_what_tells_nothing_the_base_rate_is_left() -> None:
    label, prob = np.tile([1] * 7 + [0] * 3, 100), np.repeat(np.linspace(0.6, 0.95, 8), 125)
    repairs = audit(label, prob, rng=0, settings=QUICK).repairs
    assert repairs.name[repairs.harmless].tolist() == ["base rate"]


def test_some_repairs_by_name() -> None:
    case = make("over-confident", 2, 1000, 5)
    report = of(case, settings=replace(QUICK, repairs=["Platt", "temperature"]))
    assert report.repairs.name.tolist() == ["Platt", "temperature", "base rate"]
    assert of(case, settings=PLAIN).verdicts["repair"] == "no repair"


def test_groups() -> None:
    case = make("calibrated", 2, 4000, 6)
    rng = np.random.default_rng(0)
    group = rng.choice(["north", "south", "west"], 4000)
    said = case.y_prob.copy()
    bad = group == "south"
    said[bad] = said[bad] ** 0.5
    report = audit(case.y_true, said, groups=group, settings=PLAIN)
    table = report.groups
    assert table is not None and table.miscalibrated == ("south",) == (table.segment[0],)
    assert table.gap[0] == pytest.approx(said[bad].mean() - case.y_true[bad].mean())
    assert "south" in report.text() and len(table.to_frame()) == 3
    # A group that can show nothing is not called fine, but its row is there.
    for rows, words in (
        (2, "too few rows in each to show an average error of 0.1; join some."),
        (1000, "Too few rows to show an average error of 0.1: 1 segment."),
    ):
        many = np.where(np.arange(4000) < 20, 0, 1 + np.arange(4000) // rows)
        few = audit(case.y_true, case.y_prob, groups=many, settings=PLAIN).groups
        assert few is not None and words in few.describe()
        assert len(few.segment) == len(np.unique(many)) and np.isnan(few.p_value[-1])
    # Of several columns each part is looked at, and what parts share.
    side = np.where(rng.random(4000) < 0.5, "left", "right")
    several = {"at": group, "side": side}
    found = audit(case.y_true, said, groups=several, settings=PLAIN).groups
    assert found is not None and len(found.segment) == 3 + 2 + 6
    assert found.segment[0] == "at south"
    alone = dict(zip(table.segment, table.statistic, strict=True))
    each = dict(zip(found.segment, found.statistic, strict=True))
    assert [each[f"at {name}"] for name in alone] == pytest.approx(list(alone.values()))
    named = {"y": case.y_true, "p": said, **several}
    by_name = audit_table(named, label="y", prob="p", groups=["at", "side"], settings=PLAIN)
    assert by_name.groups is not None and by_name.groups.segment.tolist() == found.segment.tolist()


@pytest.mark.parametrize("off", ["both ways", "alone", "beside a sure row", "rare"])
def test_a_wrong_group_is_told_first(off: str) -> None:
    rng, inside = np.random.default_rng(6), np.arange(6000) % 5 == 2
    middle, by, of = (-6, 2.0, "1,000") if off == "rare" else (-0.3, 1.0, "100")
    p = expit(rng.normal(middle, 1, 6000))
    y = (rng.random(6000) < p) * 1
    said = expit(logit(p) + np.where(inside, by, -by / 4 if off == "both ways" else 0))
    said[np.flatnonzero(y)[:1]] *= off != "beside a sure row"
    report = audit(y, said, groups=np.arange(6000) % 5, settings=replace(QUICK, repairs=["offset"]))
    said, came = (f"{int(of.replace(',', '')) * one[inside].mean():.0f}" for one in (said, y))
    told = f"2 (n = 1,200): of {of}, {said} were promised and {came} came"
    assert told in report.headline and told in report.advice and told in report["groups"].sentence
    beside = "to what happened. Miscalibrated in 1" in report.headline
    assert beside == (off == "beside a sure row")
    assert report.groups is not None and report.groups.p_value[0] == 1 / (QUICK.n_draws + 1)
    assert report.light == report["groups"].light == "bad" and "group miscalibrated" in report.codes
    assert report.repair == (None if off == "both ways" else "offset")
    assert "what differs there" in report.advice and "mend" not in report.advice


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "rate"), [("", 0.1), ("", 0.04), ("", 0.5), ("cluster", 0.1), ("sample_weight", 0.1)]
)
def test_groups_keep_their_level(more: str, rate: float) -> None:
    wrong = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        prob, pairs = rng.beta(1, 1 / rate - 1, 2000), np.arange(2000) // 2
        label = rng.random(2000) < prob
        if more == "cluster":
            prob, label = prob[pairs], label[pairs]
        given = {more: pairs if more == "cluster" else rng.uniform(1, 5, 2000)} if more else {}
        rows = drop_weightless(rows_of(label, prob, groups=pairs // 2 % 10, **given))
        table = groups_of(rows, 1, AuditSettings(n_draws=299), rng)
        assert table is not None and np.isfinite(table.p_value).all()
        wrong += bool(table.miscalibrated)
    assert wrong <= 6  # of 100 at 1 %: more have a chance of 1 in 10 000


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(12, 60), k=st.integers(2, 5), grid=st.integers(1, 6), seed=st.integers(0, 10**6)
)
def test_any_valid_input_gets_six_answers(n: int, k: int, grid: int, seed: int) -> None:
    """Ties, zeros and ones, absent classes: verdicts come from the lists, numbers are numbers."""
    rng = np.random.default_rng(seed)
    p = rng.multinomial(grid, np.full(k, 1 / k), n) / grid
    y = rng.integers(0, k, n)
    report = audit(y, p[:, 1] if k == 2 else p, settings=AuditSettings(n_draws=99, n_resamples=50))
    assert [a.topic for a in report.answers] == list(CODES)
    for answer in report.answers:
        assert answer.verdict in CODES[answer.topic]
        assert answer.light in SYMBOLS
        assert answer.sentence
        assert "nan" not in answer.sentence
    assert 0 <= report["calibration"].numbers["p_value"] <= 1
    json.dumps(report.to_dict(), allow_nan=False)


BAD = [
    (([0, 1], [0.2, 0.3]), {"logits": [0.1, 0.2]}, "either y_prob or logits"),
    (([0, 1], None), {}, "either y_prob or logits"),
    (([0, 1], [0.2, 0.3]), {"costs": [[0, 1, 2], [1, 1, 1]]}, "columns"),
    (([0, 1], [0.2, 0.3]), {"groups": ["a"]}, "one value for each of 2 rows"),
    (([0, 1], [0.2, 0.3]), {"groups": ["a", "b"]}, "each of 2 rows differently"),
    ((["yes", "NA"], [0.2, 0.3]), {"positive": "Yes"}, "'Yes' never occurs in y_true"),
    (([0, 1], [0.2, 0.3]), {"view": "sideways"}, "does not exist"),
    (([0, 1], [0.2, 0.3]), {"class_names": ["a"]}, "2 names"),
]


@each_case(("given_data", "options", "message"), BAD)
def test_bad_input_is_refused_with_its_place(
    given_data: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        audit(*given_data, **options)


BAD_SETTINGS = {"alpha": 0, "level": 1, "n_draws": 10, "n_resamples": 1} | {
    "folds": 1, "detectable": 2, "bins": 0, "repairs": "temperature"
}  # fmt: skip


@each_case("name", BAD_SETTINGS)
def test_bad_settings_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        AuditSettings(**{name: BAD_SETTINGS[name]})


def test_unknown_repairs_are_refused() -> None:
    with pytest.raises(ValueError, match="repairs"):
        of(make("calibrated", 3, 100, 0), settings=replace(QUICK, repairs=["magic"]))


@pytest.mark.long
def test_threads_leave_the_process_as_it_was(tmp_path: Path) -> None:
    """rcParams belong to all threads; each audit puts them back."""
    case = make("over-confident", 2, 300, 1)
    before = dict(mpl.rcParams)

    def one(number: int) -> str:
        report = audit(case.y_true, case.y_prob, settings=QUICK)
        report.save(tmp_path / f"{number}.html")
        return report.text()

    with ThreadPoolExecutor(4) as pool:
        texts = set(pool.map(one, range(8)))
    assert len(texts) == 1
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("missing", [None, float("nan"), "NA", "NaT", "masked"])
def test_groups_without_a_name_are_refused(missing: Any) -> None:
    pd = pytest.importorskip("pandas")
    names: Any = np.array(["a", "b"] * 20, dtype=object)
    if missing == "masked":
        names = np.ma.MaskedArray(names, mask=np.arange(40) == 3)
    else:
        names[3] = getattr(pd, missing) if isinstance(missing, str) else missing
    with pytest.raises(ValueError, match=r"groups(\[3\] is missing| .*row 3)"):
        audit(np.arange(40) % 2, np.full(40, 0.5), groups=names, settings=PLAIN)


def test_a_headline_on_twelve_rows_says_how_little_they_say() -> None:
    """Here labels and predictions are opposed, in so few rows that nobody can say why."""
    rng = np.random.default_rng(1)
    y_prob = rng.random(12)
    y_true = (rng.random(12) < 1 - y_prob).astype(int)
    headline = audit(y_true, y_prob, independent=True, settings=QUICK).headline
    assert headline.startswith("Miscalibrated beyond chance")
    assert "Too few rows to say by how much. Whether the labels belong" in headline
    rows = np.repeat(y_true, 40), np.repeat(y_prob, 40)
    assert "Too few" not in audit(*rows, independent=True, settings=QUICK).headline
    # Decisions promise no surprise, but by how much they are wrong is known.
    decisions = np.where(np.arange(480) % 9, rows[0], 1 - rows[0]) * 1.0
    headline = audit(rows[0], decisions, settings=QUICK).headline
    assert "gave probability 0" in headline and "Too few" not in headline


def test_the_condition_stands_in_the_headline_until_it_is_answered() -> None:
    case = make("over-forecast", 2, 900, 1)
    condition = "if no two rows are about the same case."
    assert of(case, settings=PLAIN).headline.endswith(condition)
    for answer in ({"independent": True}, {"cluster": np.arange(900) // 2}):
        assert condition not in of(case, settings=PLAIN, **answer).headline
    with pytest.raises(ValueError, match="leave out cluster"):
        of(case, independent=True, cluster=np.arange(900) // 2)
    table = {"y": case.y_true, "p": case.y_prob}
    report = audit_table(table, label="y", prob="p", settings=PLAIN, independent=True)
    assert condition not in report.headline


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("digits", [2, 3, 15])
def test_of_both_sides_of_a_match_one_is_kept(digits: int, clustered: bool) -> None:
    rng = np.random.default_rng([8, digits])
    p = rng.beta(2, 2, 600).round(digits)
    y, order, match = (rng.random(600) < p) * 1, rng.permutation(1200), np.tile(np.arange(600), 2)
    both = np.r_[y, 1 - y][order], np.r_[p, 1 - p][order]
    how = {"cluster": match[order]} if clustered else {}
    report = audit(*both, settings=PLAIN, **how)
    off = p != 0.5  # both sides of one half say nothing
    alone = audit(np.where(p < 0.5, 1 - y, y)[off], np.maximum(p, 1 - p)[off], settings=PLAIN)
    assert report.n == off.sum() and "one side kept" in report.codes
    assert report["calibration"].numbers["p_value"] == pytest.approx(
        alone["calibration"].numbers["p_value"], abs=0.1
    )
    one_more = audit(np.r_[both[0], 1], np.r_[both[1], 0.3], settings=PLAIN)
    assert one_more.n == 1201 and "one side kept" not in one_more.codes
    coin = audit(rng.permutation(np.arange(100) % 2), np.full(100, 0.5), settings=PLAIN)
    assert coin.n == 100  # a constant .5, right half of the time, is its own image


def test_few_clusters_can_be_aligned_and_shuffled_labels_never_are() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y, p, case = effects(rng, clusters=10, rows=60)
        for label, verdict in ((y, "aligned"), (rng.permutation(y), "no discrimination")):
            assert alignment_answer(rows_of(label, p, cluster=case), rng).verdict == verdict


def test_clusters_are_what_their_rows_are(subtests: pytest.Subtests) -> None:
    """Other names, and another order of rows, change nothing; any of several names connects."""
    y, p, case = effects(np.random.default_rng(3), clusters=40, rows=8)
    first = audit(y, p, cluster=case, settings=PLAIN)
    names = np.random.default_rng(0).permutation(40)
    order = np.random.default_rng(1).permutation(len(y))
    for cluster in (names[case], case.astype(str), [case, case // 1], [f"p{k}" for k in case]):
        again = audit(y, p, cluster=cluster, settings=PLAIN)
        assert again["calibration"].numbers == first["calibration"].numbers
    again = audit(y[order], p[order], cluster=names[case][order], settings=PLAIN)
    assert again.text() == first.text()
    pair = np.arange(320) // 2 % 160
    nested = [pair, (np.arange(320) // 32).astype(str)]  # each pair lies in one of ten
    joined = clusters_of(nested, 320, several=True)
    assert (joined.count, joined.beside) == (10, ())
    crossed = clusters_of([np.arange(320) % 20, np.arange(320) // 20], 320, several=True)
    assert (crossed.count, [one.count for one in crossed.beside]) == (16, [20])
    both = audit(y, p, cluster=[np.arange(320) % 20, np.arange(320) // 20], settings=PLAIN)
    table = {"y": y, "p": p, "patient": np.arange(320) % 20, "doctor": np.arange(320) // 20}
    ways, how = ["patient", "doctor"], {"label": "y", "prob": "p", "settings": PLAIN}
    assert audit_table(table, cluster=ways, **how).text() == both.text()
    assert "if rows that share no name are independent" in both.promise
    assert "Several columns say what belongs together" in str(both.notes)
    with pytest.raises(ValueError, match="one value for each of 320 rows"):
        estimate_rate(p, y, cluster=nested)


def test_few_clusters_that_carry_the_file_are_named() -> None:
    size = np.r_[np.full(39, 5), 800]
    cluster, rng = np.repeat(np.arange(40), size), np.random.default_rng(0)
    p = rng.random(len(cluster))
    report = audit((rng.random(len(p)) < p) * 1, p, cluster=cluster, settings=PLAIN)
    assert "they tell as much as 1 of one size" in report.promise


def drifting(seed: int, by: float, shift: float = 0.0, n: int = 4000) -> tuple[Any, Any, Any]:
    """Draw labels whose logits are `by` above the predictions at first, and as much below later."""
    rng, days = np.random.default_rng([6, seed]), np.arange(n) // 10
    score = rng.normal(0, 1.5, n)
    true = expit(score + shift + np.where(np.arange(n) < n / 2, by, -by))
    date = np.datetime64("2024-01-01") + days.astype("timedelta64[D]")
    return (rng.random(n) < true) * 1, expit(score), date


@pytest.mark.long
def test_an_error_that_changes_over_time_is_found() -> None:
    y, p, date = drifting(0, 0.6)
    report = audit(y, p, time=date, settings=PLAIN)
    assert {"error changes", "no evidence"} <= report.codes and report.light == "bad"
    assert report.headline.startswith("The error changes over time. On average: no evidence")
    assert "what has changed" in report.advice
    assert report["time"].sentence.split(". ")[0].endswith("cannot be right")  # what a board shows
    assert report.times is not None and report.times.columns["first"][0] == "2024-01-01"
    gap = report.times.columns["gap"]
    assert gap[0] < -0.05 < 0.05 < gap[-1]
    assert f"{gap[0]:+.3f} in the first block (2024-01-01 to" in report["time"].sentence
    assert "Time" in report.to_html()
    # The order of rows, and how a time is written, change nothing.
    order = np.random.default_rng(0).permutation(len(y))
    for time in (date.astype(str), date.astype("datetime64[s]").astype(float), date.tolist()):
        again = audit(y[order], p[order], time=np.array(time)[order], settings=PLAIN)
        assert again["time"].numbers == pytest.approx(report["time"].numbers)
    # An error that is the same all along is no change, and neither is chance.
    for shift in (0.0, 1.0):
        found = [times_p_value(*drifting(seed, 0.0, shift, 1000)) for seed in range(100)]
        assert np.mean(np.array(found) <= 0.05) < 0.12
    y, p, cluster = effects(np.random.default_rng(1))
    by_row, by_cluster = (times_p_value(y, p, cluster, names) for names in (None, cluster))
    assert by_row < by_cluster


def test_a_change_near_an_end_of_the_file_is_told_in_whole_rows() -> None:
    p = np.full(600, 0.5)
    y = np.arange(600) % 2 * (np.arange(600) < 540)
    report = audit(y, p, time=np.arange(600), settings=QUICK)
    assert "error changes" in report.codes and "event in 20.0; it came in 0" in report.advice


CHANGES = {  # logits of 3,000 rows at a part of the time, and how many of 20 are found at least
    "a late step": (lambda score, part: score + 0.5 * (part >= 0.75), 16),
    "boldness": (lambda score, part: score * np.where(part < 0.5, 0.6, 1.4), 19),
    "a stretch": (lambda score, part: score + 0.5 * ((part >= 1 / 3) & (part < 2 / 3)), 15),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_over_time_is_found(kind: str) -> None:
    (true, least), found, part = CHANGES[kind], 0, np.arange(3000) / 3000
    for seed in range(20):
        rng = np.random.default_rng([37, seed])
        score = rng.normal(0, 1.5, 3000)
        y = (rng.random(3000) < expit(true(score, part))) * 1
        found += times_p_value(y, expit(score), part) <= 0.01
    assert found >= least


def times_p_value(y: Any, p: Any, time: Any, cluster: Any = None) -> float:
    """Return the p-value of the test over blocks of time."""
    rows = add_time(rows_of(y, p, cluster=cluster), y, time)
    first = joint_test(rows.table, rows.label, (1,), n_draws=99, rng=np.random.default_rng(0))
    _, (found,) = time_finding(rows, first.views[0], PLAIN, np.random.default_rng(0))
    return found.numbers["p_value"]


@pytest.mark.parametrize("first", ["13.01.2024", "13/01/2024", "01/13/2024", "13.01.2024 00:00"])
def test_dates_are_read_as_the_file_shows(first: str) -> None:
    last = first.replace("13", "02")
    seconds = parse_times([last, first], 2)[0]
    month = "%m/%d/%Y" if first.startswith("01") else f"%d{first[2]}%m{first[2]}%Y"
    days = [datetime.strptime(text.split()[0], month) for text in (last, first)]
    assert np.ptp(seconds) == (days[1] - days[0]).total_seconds()


def test_times_that_do_not_parse_are_refused(subtests: pytest.Subtests) -> None:
    y, p = [0, 1, 1, 0], [0.2, 0.7, 0.6, 0.4]
    bad = {
        "missing": (["2024-01-01", None, "2024-01-02", "2024-01-03"], r"time\[1\] is missing"),
        "not a date": (["2024-01-01", "2024-13-01", "x", "x"], r"time\[1\] = '2024-13-01' is"),
        "mixed": ([2020.0, 2021.0, "soon", "later"], r"time\[2\] = 'soon' is .* date, as others"),
        "infinite": ([1.0, np.inf, 2.0, 3.0], r"time\[1\] = 'inf' is neither"),
        "first": (["x", *["2024-01-01"] * 2, "2024-01-02"], r"time\[0\] = 'x' is neither"),
        "day or month": (["01/02/2024", *["03/02/2024"] * 3], "day or month first"),
        "both": (["13/01/2024", "01/13/2024", *["14/01/2024"] * 2], r"time\[1\].* is neither"),
        "neither": (["soon"] * 3 + ["late"], r"time\[0\] = 'soon' .* nor a date \("),
        "one": ([2020] * 4, "'2020' in all rows"),
        "short": ([1, 2], r"shape \(2,\); it needs one value for each of 4 rows"),
    }
    for case, (time, message) in bad.items():
        with subtests.test(case=case), pytest.raises(ValueError, match=message):
            audit(y, p, time=time, settings=PLAIN)
