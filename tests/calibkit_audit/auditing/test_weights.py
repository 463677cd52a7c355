"""Weights in audit and compare: what a row stands for."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import calibkit as ck
from calibkit.inputs import binary_problem
from calibkit_audit.auditing import AuditSettings, audit, compare
from calibkit_audit.auditing.redraws import joint_test
from calibkit_audit.dependent_rows import DependentRows, consistency_band
from calibkit_audit.incoming import kish
from tests.helpers import class_data

QUICK: dict[str, Any] = {"settings": AuditSettings(n_draws=199, n_resamples=50), "rng": 0}


def drawn(n: int, seed: int = 0, shift: float = 0.0) -> tuple[Any, Any, Any, Any]:
    """Return labels, predictions, weights that say nothing, and groups."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, n)
    return (rng.random(n) < expit(z + shift)) * 1, expit(z), rng.lognormal(0, 1, n), z > 0


def report(kind: str, i: Any, weight: Any) -> Any:
    """Return a report of some rows with some weights."""
    y, p, _, group = (one[i] for one in drawn(300, shift=0.5))
    k, table = (one[i] for one in class_data(300, 4))
    if kind == "models":
        return compare(y, {"a": p, "b": expit(p)}, sample_weight=weight)
    o: dict[str, Any] = QUICK | {"sample_weight": weight}
    if kind == "two":
        return audit(y, p, groups=group, costs=(1, 4), **o)
    if kind == "clusters":
        return audit(y, p, cluster=(np.arange(300) // 4)[i], **o)
    if kind == "classes":
        return audit(k, table, **o)
    return audit(k, table.max(axis=1), predicted=table.argmax(axis=1), **o)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two", "clusters", "classes", "answers", "models"])
def test_only_ratios_of_weights_count(kind: str) -> None:
    """Equal weights are none, to the digit; rows of weight 0 are not there."""
    rng, every = np.random.default_rng(1), np.arange(300)
    weight, some = rng.lognormal(0, 1, 300), every % 4 < 3
    plain, by_weight = report(kind, every, None).to_json(), report(kind, every, weight)
    assert report(kind, every, np.full(300, 0.3)).to_json() == plain != by_weight.to_json()
    assert report(kind, every, 1e7 * weight).text() == by_weight.text()
    left = report(kind, some, weight[some])
    assert report(kind, every, np.where(some, weight, 0)).text() == left.text()
    assert f"worth {kish(weight).sum():,.0f} " in str(by_weight.notes)


def test_few_rows_that_weigh_more_are_no_counts() -> None:
    y, p, w, _ = drawn(60)
    said, came = (f"{100 * np.average(one, weights=w):.0f}" for one in (p, y))
    advice = audit(y, p, sample_weight=w, **QUICK).advice
    assert f"Of 100 cases it expects the event in {said}; it came in {came}." in advice


def test_every_number_is_the_weighted_one() -> None:
    y, p, w, group = drawn(600, 3, shift=0.7)
    o: dict[str, Any] = QUICK | {"costs": (1, 4)}
    found, inside = audit(y, p, groups=group, sample_weight=w, **o), group == 1
    times = np.random.default_rng(0).integers(1, 4, 600)
    one, other = audit(y, p, sample_weight=times, **o), audit(y.repeat(times), p.repeat(times), **o)
    for name in ("cost", "promised", "ignoring"):
        assert one["costs"].numbers[name] == pytest.approx(other["costs"].numbers[name]), name
    assert one.weak.columns["value"] == pytest.approx(other.weak.columns["value"])
    assert one.consequences.curve.area == pytest.approx(other.consequences.curve.area)
    view, error = found.evidence.test.views[0], ck.expected_calibration_error(y, p, sample_weight=w)
    assert view.mean_prob == pytest.approx(np.average(p, weights=w)) and view.events == y.sum()
    assert view.frequency == pytest.approx(np.average(y, weights=w))
    assert found.evidence.error.value == pytest.approx(float(error))
    assert found.repairs.before == pytest.approx(float(ck.log_loss(y, p, sample_weight=w)))
    assert found.groups is not None
    (place,) = np.flatnonzero(found.groups.count == inside.sum())
    assert found.groups.gap[place] == pytest.approx(np.average((p - y)[inside], weights=w[inside]))


def rare_rows(rng: np.random.Generator, n: int = 500) -> tuple[Any, Any, Any]:
    """Choose all events and a twentieth of the others; say with what chance each row was chosen."""
    prob = expit(rng.normal(-3, 1.2, 40 * n))
    label = (rng.random(len(prob)) < prob) * 1
    chance = np.where(label, 1, 0.05)
    rng.lognormal(0, 1, len(prob))  # the sets that were looked at
    row = np.flatnonzero(rng.random(len(prob)) < chance)[:n]
    return label[row], prob[row], chance[row]


@pytest.mark.slow
def test_rows_that_were_chosen_by_their_label_are_put_right() -> None:
    """All events and a tenth of the rest, or the reverse: weights answer for the population."""
    accused = []
    for seed in range(20):
        y, p, _, _ = drawn(3000, seed)
        for rare in (0, 1):
            chosen = np.where(y == rare, 0.1, 1.0)
            kept = np.random.default_rng(seed).random(3000) < chosen
            for weight in (None, kish(1 / chosen[kept])):
                table, rng = np.column_stack([1 - p, p])[kept], np.random.default_rng(seed)
                test = joint_test(table, y[kept], (1,), n_draws=199, rng=rng, weight=weight)
                accused.append(test.p_value <= 0.01)
    error, left = [], 0
    for seed in range(12):  # weights that stay with their rows: 1.8 times the error, and 10 bands
        label, prob, kept = rare_rows(np.random.default_rng([7, seed]))
        rng = np.random.default_rng(seed)
        problem = binary_problem(label, prob, sample_weight=1 / kept)
        o: dict[str, Any] = {"bins": 15, "n_draws": 99, "rng": rng}
        rows = DependentRows(label=problem.label, prob=problem.prob, weight=problem.weight)
        null = rows.null_level(ck.expected_calibration_error, **o)
        band = consistency_band(problem, level=0.9, **o)
        error.append((null.value, null.mean))
        left += band.outside.any()
    value, chance = np.mean(error, axis=0)
    assert chance == pytest.approx(value, rel=0.25) and left <= 5
    group, weight = np.arange(3000) % 2, np.where(y == 1, 1.0, 10.0)  # 1 * 10 with either label
    found = audit(y, p, groups=group, sample_weight=weight, **QUICK).groups
    expected = np.sqrt(10 * np.bincount(group, p * (1 - p))) / np.bincount(group, weight)
    assert found is not None
    ratio = found.smallest / expected[found.segment.astype(int)]
    assert ratio == pytest.approx(ratio[0])
    plain, by_weight = np.reshape(accused, (-1, 2)).sum(axis=0)
    assert plain == 40 and by_weight <= 2
    y, p = y[y == 1 - rare], p[y == 1 - rare]  # one label alone says nothing of a choice
    assert audit(y, p, sample_weight=1 + p, **QUICK)["alignment"].verdict == "alignment unclear"


def test_bad_weights_are_refused(subtests: pytest.Subtests) -> None:
    y, p, w, _ = drawn(50)
    for weight, words in (
        (np.where(w == w[3], np.nan, w), r"sample_weight\[3\] = nan is no weight"),
        (np.full(50, 1e307), "too near to what a float can hold.*pass sample_weight / sample_w"),
    ):
        for judge, models in ((audit, p), (compare, {"a": p, "b": p})):
            with subtests.test(words), pytest.raises(ValueError, match=words):
                judge(y, models, sample_weight=weight)
    with pytest.raises(ValueError, match="test of time= has no weights"):
        audit(y, p, time=np.arange(50), sample_weight=w)
