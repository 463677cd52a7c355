"""Models compared on the same rows: numbers by hand, coverage, words, pages, hostile input."""

import json
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

import calibkit as ck
from calibkit.decisions import policy_cost
from calibkit.scores import corp_decomposition
from calibkit_audit.auditing import COMPARISON_CODES, AuditSettings, Comparison, audit, compare
from calibkit_audit.auditing.differences import change_of, judge_change
from calibkit_audit.auditing.rows import rows_of
from tests.helpers import binary_data, class_data, refuses


def two(n: int = 1500, slope: float = 2.0) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(5)
    true = rng.beta(0.8, 1.2, n)
    y = (rng.random(n) < true).astype(np.int64)
    return y, {"bold": expit(slope * logit(true)), "fair": true}


def row(found: Comparison, measure: str, model: str | None = None) -> dict[str, Any]:
    return found.changes[model or found.models[1], measure]._asdict()


def column(found: Comparison, name: str) -> Any:
    return found._columns()[name]


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("price", "apart"), [(200, False), (50, True)])
def test_no_cost_is_told_apart_where_five_rows_could_turn_it(price: float, apart: bool) -> None:
    """Of 437 rows that decide otherwise none holds one of the 40 events: its price is not seen."""
    y, cost = np.r_[np.ones(40), np.zeros(49_960)].astype(int), np.zeros(50_000)
    cost[100:451], cost[500:586] = 1, -1
    change = change_of(rows_of(y, np.full(50_000, 0.001)), "cost", (0 * cost, cost), 0.9, price)
    assert change.verdict == ("worse" if apart else "not separated")


@pytest.mark.parametrize("weight", [None, np.random.default_rng(1).lognormal(0, 1, 1500)])
def test_values_are_those_of_the_single_measures(weight: Any) -> None:
    y, models = two()
    found = compare(y, models, costs=(1, 9), sample_weight=weight)
    how: dict[str, Any] = {"sample_weight": weight}
    for key, prob in zip(("first", "value"), models.values(), strict=True):
        parts = corp_decomposition(y, prob, **how)
        wanted = {
            "cost": policy_cost(y, prob, costs=(1, 9), **how).value,
            "log loss": float(ck.log_loss(y, prob, **how)),
            "Brier score": float(ck.brier_score(y, prob, **how)),
            "miscalibration": parts.miscalibration,
            "discrimination": parts.discrimination,
        }
        for measure, value in wanted.items():
            assert row(found, measure)[key] == pytest.approx(value, abs=1e-12), measure
    for one in found.changes.values():
        assert one.difference == pytest.approx(one.value - one.first, abs=1e-12)
        assert one.low <= one.difference <= one.high


@pytest.mark.parametrize("view", [None, "class-wise", "top-label", 1])
def test_many_classes(view: Any) -> None:
    y, prob = class_data(500)
    other = prob**2 / (prob**2).sum(axis=1, keepdims=True)
    found = compare(y, {"a": prob, "b": other}, view=view)
    assert row(found, "Brier score")["value"] == pytest.approx(float(ck.brier_score(y, other)))
    error = ck.expected_calibration_error(y, other, view=view or "class-wise")
    assert found.calibration.columns["error"][1] == pytest.approx(float(error), abs=1e-12)
    if view in (None, "class-wise"):  # the parts of all classes make up the score
        sums = row(found, "miscalibration")["value"] - row(found, "discrimination")["value"]
        share = np.bincount(y) / len(y)
        assert sums + (share * (1 - share)).sum() == pytest.approx(float(ck.brier_score(y, other)))


def test_a_ranking_that_stays_leaves_discrimination_alone() -> None:
    y, models = two()
    found = compare(y, models)
    assert row(found, "discrimination")["verdict"] == "equal"
    assert row(found, "miscalibration")["verdict"] == "better"
    assert {"better log loss", "better miscalibration"} <= found.codes <= set(COMPARISON_CODES)


def test_an_interval_that_holds_zero_separates_nothing() -> None:
    for low, high in combinations_with_replacement([-0.2, -0.1, 0.0, 0.1, 0.2], 2):
        wanted = "better" if high < 0 else "worse" if low > 0 else "not separated"
        wanted = "equal" if low == high == 0 else wanted
        first = 0.5 - (low + high) / 2
        assert judge_change("log loss", first, 0.5, (low, high)).verdict == wanted
        turned = judge_change("discrimination", 0.5, first, (-high, -low)).verdict
        assert turned == wanted
    assert judge_change("log loss", 0.5, 0.6, (np.nan, np.nan)).verdict == "not separated"


@pytest.mark.long
def test_codes_pay_for_all_measures_and_models() -> None:
    """Of equal models some measure is separated more often than the level says; a code is not."""
    alone = together = 0
    for seed in range(60):
        rng = np.random.default_rng([5, seed])
        true, noise = rng.normal(size=400), rng.normal(0, 0.5, (3, 400))
        y = (rng.random(400) < expit(true)).astype(np.int64)
        models = dict(zip("abc", expit(true + noise), strict=True))
        found = compare(y, models, costs=(1, 4), level=0.9, rng=seed)
        said, joint = np.isin(column(found, "verdict"), ["better", "worse"]), column(found, "joint")
        alone, together = alone + said.any(), together + (said & joint).any()
        assert (found.codes == {"not separated"}) == (not (said & joint).any())
        assert found.text().count("(taken alone)") == (said & ~joint).sum()
    assert alone > 9 > together


def test_what_rows_are_about_is_asked_until_it_is_answered() -> None:
    y, models = two(300)
    assert "Every row is taken as new" in compare(y, models).text()
    for answer in ({"cluster": np.arange(300) // 2}, {"independent": True}):
        assert compare(y, models, **answer).advice == ""


def test_neither_the_order_of_rows_nor_other_models_matter() -> None:
    y, models = two(400)
    order = np.random.default_rng(0).permutation(400)
    one = compare(y, models)
    turned = compare(y[order], {n: p[order] for n, p in models.items()})
    more = compare(y, models | {"third": np.full(400, 0.4)})
    low = column(one, "low")
    assert np.array_equal(low, column(turned, "low"))
    assert column(more, "low")[: len(low)] == pytest.approx(low, abs=1e-12)
    models["ties"], rows = models["fair"].round(1), np.arange(400)
    back = {name: models[name][order] for name in reversed(models)}
    for name, given in (("event", None), ("cluster", rows // 2), ("sample_weight", 1 + rows % 3)):
        first = compare(y, models, **{name: given}).calibration.columns["p_value"]
        again = compare(y[order], back, **{name: given if given is None else given[order]})
        assert np.array_equal(again.calibration.columns["p_value"][::-1], first)


def test_of_however_many_models_one_that_is_off_is_named() -> None:
    y, prob = binary_data(200, exponent=1)
    models = {"bad": np.where(prob > 0.5, 0.99, 0.01), "fair": prob, "same": prob}
    found = compare(y, models, level=0.99)  # 1 of 201 is more than 0.01 / 3
    assert "separate" in found.headline and " bad may not be taken at its word" in found.headline


@pytest.mark.long
def test_intervals_cover_known_differences() -> None:
    """120 data sets of 1,000 rows: 95 % intervals of log loss, Brier score and cost."""
    rng = np.random.default_rng(11)
    grid = rng.beta(0.8, 1.2, 400_000)
    said = expit(1.5 * logit(grid) + 0.2)

    def expected(p: Any) -> Any:
        act = p > 0.1
        return np.array(
            [
                np.mean(act * (1 - grid) + 9 * ~act * grid),
                -np.mean(grid * np.log(p) + (1 - grid) * np.log1p(-p)),
                np.mean(grid * (1 - p) ** 2 + (1 - grid) * p**2),
            ]
        )

    truth, hits, sets = expected(grid) - expected(said), np.zeros(3), 120
    for one in range(sets):
        true = rng.beta(0.8, 1.2, 1000)
        y = (rng.random(1000) < true).astype(np.int64)
        models = {"a": expit(1.5 * logit(true) + 0.2), "b": true}
        found = compare(y, models, costs=(1, 9), rng=one, bins=5)
        low, high = column(found, "low")[:3], column(found, "high")[:3]
        hits += (low <= truth) & (truth <= high)
    # 95 % of 120 are 114; fewer than 104 have a chance of about one in 5,000.
    assert hits.min() >= 104, hits


# --- impossible events, groups, costs -------------------------------------------------------


def test_infinite_log_loss_is_said_and_decides() -> None:
    y, models = two(400)
    y[0], zero = 1, models["fair"] ** 1.1
    zero[0] = 0.0
    found = compare(y, {"fair": models["fair"], "zero": zero})
    loss = row(found, "log loss")
    assert np.isinf(loss["value"]) and np.isinf(loss["difference"]) and np.isnan(loss["low"])
    assert loss["verdict"] == "worse"
    assert np.isfinite(row(found, "Brier score")["low"])
    both = compare(y, {"zero": zero, "too": zero**1.01})
    assert row(both, "log loss")["verdict"] == "not separated"
    assert "infinite -> infinite (infinite: it gave probability 0 to what happened)" in both.text()
    assert "nan" not in both.text() and "inf " not in found.text()
    assert found.to_dict()["differences"][0]["value"] is None


@pytest.mark.parametrize("events", [0, 9, 400])
def test_nothing_is_concluded_from_a_handful_of_events(events: int) -> None:
    y = (np.arange(400) < events).astype(np.int64)
    rng = np.random.default_rng(1)
    models = {"a": rng.uniform(0.1, 0.3, 400), "b": rng.uniform(0.6, 0.9, 400)}
    found = compare(y, models, costs=(1, 1))
    assert set(column(found, "verdict").tolist()) <= {"not separated", "equal"}


def test_a_cost_needs_rows_decided_better_and_worse() -> None:
    """Thirty false alarms less are no proof where a miss costs thirty."""
    y = (np.arange(400) < 100).astype(np.int64)
    first, other = np.where(y, 0.9, 0.02), np.where(y, 0.9, 0.02)
    first[-30:] = 0.2
    found = compare(y, {"a": first, "b": other}, costs=(1, 30))
    assert row(found, "cost")["difference"] == -30 / 400
    assert row(found, "cost")["verdict"] == "not separated"
    cheap = compare(y, {"a": first, "b": other}, costs=(1, 5))
    assert row(cheap, "cost")["verdict"] == "better"


test_bad_input_is_refused = refuses(
    (lambda: compare([0, 1], {"a": [0.2, 0.3]}), "two or more models"),
    (lambda: compare([0, 1], [[0.2, 0.3], [0.4, 0.5]]), "must be a mapping"),
    (lambda: compare([0, 1], {1: [0.2, 0.3], "1": [0.2, 0.3]}), "the same name"),
    (lambda: compare([0, 1], {"a": [0.2, 0.3], "b": [0.2]}), "model 'b': "),
    (lambda: compare([0, 1], {"a": [0.2, 0.3], "b": [0.2, 1.3]}), "model 'b': y_prob"),
    (lambda: compare([0, 1], {"a": [0.2, 0.3], "b": [[0.5, 0.2, 0.3]] * 2}), "'b' has shape"),
    (lambda: compare([0, 1], {"a": [0.2, 0.3], "b": [0.2, 0.4]}, level=95), "level"),
    (lambda: compare([0, 1], {"a": [0.2, 0.3], "b": [0.2, 0.4]}, costs=(0, 0)), "both costs are 0"),
)


# --- pages ---------------------------------------------------------------------------


@pytest.mark.slow
def test_save_by_suffix(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    y, models = two(400)
    evil = "<script>alert(1)</script>"
    found = compare(y, models | {evil: models["bold"]}, costs=(1, 9), title=evil)
    report = audit(
        y, models["bold"], settings=AuditSettings(n_draws=99, n_resamples=50, repairs=())
    )
    assert set(found.figures()) == {"models", "costs"}
    for result in (found, report):
        page = result.save(tmp_path / "x.HTML").read_text(encoding="utf-8")
        assert page.startswith("<!DOCTYPE html>") and "<script" not in page
        assert page.count("<img") == len(result.figures())
        assert json.loads(result.save(tmp_path / "x.json").read_text()) == result.to_dict()
        with pytest.raises(ValueError, match=r"must end in \.html or \.json"):
            result.save(tmp_path / "x.html.gz")
        with pytest.raises(ValueError, match="no file in a folder that exists"):
            result.save(tmp_path / "no" / "x.json")


def test_each_column_of_a_data_frame_is_a_model() -> None:
    pd = pytest.importorskip("pandas")
    label, prob = binary_data(200)
    models, frame = {"a": prob, "b": prob**2}, pd.DataFrame({"a": prob, "b": prob**2})
    two = {name: np.column_stack([1 - one, one]) for name, one in models.items()}
    wanted = compare(label, models).text()
    assert compare(label, frame).text() == compare(label, two).text() == wanted
