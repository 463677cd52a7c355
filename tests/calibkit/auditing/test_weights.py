"""Weights in audit and compare: what a row stands for; and several targets in one run."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import calibkit as ck
from calibkit.auditing import audit, compare
from calibkit.auditing.redraws import joint_test
from calibkit.cli import main
from calibkit.validation import kish
from tests.helpers import class_data

QUICK: dict[str, Any] = {"n_draws": 199, "n_resamples": 50, "rng": 0}


def drawn(n: int, seed: int = 0, shift: float = 0.0) -> tuple[Any, Any, Any, Any]:
    """Return labels, predictions, weights that say nothing, and groups."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, n)
    return (rng.random(n) < expit(z + shift)) * 1, expit(z), rng.lognormal(0, 1, n), z > 0


Report = Callable[..., str]


def reports() -> dict[str, tuple[int, Report]]:
    """Return reports of every kind, as JSON of some rows with some weights."""
    y, p, _, group = drawn(400, shift=0.5)
    k, table = class_data(300, 4)
    guess, top, pair = table.argmax(axis=1), table.max(axis=1), {"a": p, "b": expit(p)}
    o: dict[str, Any] = QUICK | {"costs": (1, 4)}
    cluster = np.arange(400) // 4
    return {
        "two": (400, lambda i, w: audit(y[i], p[i], groups=group[i], sample_weight=w, **o)),
        "clusters": (400, lambda i, w: audit(y[i], p[i], cluster=cluster[i], sample_weight=w, **o)),
        "classes": (300, lambda i, w: audit(k[i], table[i], sample_weight=w, **QUICK)),
        "answers": (
            300,
            lambda i, w: audit(k[i], top[i], predicted=guess[i], sample_weight=w, **QUICK),
        ),
        "models": (
            400,
            lambda i, w: compare(
                y[i], {name: q[i] for name, q in pair.items()}, groups=group[i], sample_weight=w
            ),
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", reports())
def test_only_ratios_of_weights_count(name: str) -> None:
    """Equal weights are none, to the digit; rows of weight 0 are not there."""
    n, report = reports()[name]
    rng, every = np.random.default_rng(1), np.arange(n)
    weight, some = rng.lognormal(0, 1, n), every % 4 < 3
    plain, by_weight = report(every, None).to_json(), report(every, weight)
    assert report(every, np.full(n, 0.3)).to_json() == plain != by_weight.to_json()
    assert report(every, 1e7 * weight).text() == by_weight.text()
    assert report(every, np.where(some, weight, 0)).text() == report(some, weight[some]).text()
    worth = f"worth {kish(weight).sum():,.0f} "
    assert worth in str(by_weight.notes) and (name == "models" or worth in by_weight.text())


def test_every_number_is_the_weighted_one() -> None:
    y, p, w, group = drawn(600, 3, shift=0.7)
    costs = (1, 4)
    report = audit(y, p, groups=group, costs=costs, sample_weight=w, **QUICK)
    times = np.random.default_rng(0).integers(1, 4, 600)
    often = [audit(y, p, costs=costs, sample_weight=times, **QUICK)]
    often += [audit(y.repeat(times), p.repeat(times), costs=costs, **QUICK)]
    for topic, name in (("costs", "cost"), ("costs", "promised"), ("costs", "ignoring")):
        one, other = (each[topic].numbers[name] for each in often)
        assert one == pytest.approx(other), name
    assert often[0].weak.columns["value"] == pytest.approx(often[1].weak.columns["value"])
    assert often[0].consequences.curve.area == pytest.approx(often[1].consequences.curve.area)
    view, effective = report.evidence.test.views[0], w.sum() ** 2 / (w @ w)
    mean = np.average(p, weights=w)
    assert (view.mean_prob, view.events) == (pytest.approx(mean), y.sum())
    assert view.frequency == pytest.approx(np.average(y, weights=w))
    assert report["data"].numbers["effective_n"] == pytest.approx(effective)
    assert report.evidence.error.value == pytest.approx(
        float(ck.expected_calibration_error(y, p, sample_weight=w))
    )
    assert report.repairs.before == pytest.approx(float(ck.log_loss(y, p, sample_weight=w)))
    inside = group == 1
    assert report.groups is not None
    assert report.groups.gap[1] == pytest.approx(np.average((p - y)[inside], weights=w[inside]))
    other = np.clip(p + 0.1, 0, 1)
    found = compare(y, {"p": p, "q": other}, sample_weight=w)
    for name, measure in (("Brier score", ck.brier_score), ("log loss", ck.log_loss)):
        wanted = [float(measure(y, each, sample_weight=w)) for each in (p, other)]
        place = found.measure.tolist().index(name)
        assert [found.first[place], found.value[place]] == pytest.approx(wanted), name


@pytest.mark.slow
def test_rows_that_were_chosen_by_their_label_are_put_right() -> None:
    """All events and a tenth of the rest, or the reverse: weights answer for the population."""
    accused = []
    for seed in range(20):
        y, p, _, _ = drawn(3000, seed)
        for rare in (0, 1):
            chosen = np.where(y == rare, 0.1, 1.0)
            kept = np.random.default_rng(seed).random(3000) < chosen
            table = np.column_stack([1 - p, p])[kept]
            for weight in (None, kish(1 / chosen[kept])):
                rng = np.random.default_rng(seed)
                test = joint_test(table, y[kept], (1,), n_draws=199, rng=rng, weight=weight)
                accused.append(test.p_value <= 0.01)
    plain, by_weight = np.reshape(accused, (-1, 2)).sum(axis=0)
    assert plain == 40 and by_weight <= 2


def test_bad_weights_are_refused(subtests: pytest.Subtests) -> None:
    y, p, w, _ = drawn(50)
    for weight, words in (
        (np.where(w == w[3], -1, w), r"sample_weight\[3\] = -1.0 is no weight"),
        (np.where(w == w[3], np.nan, w), r"sample_weight\[3\] = nan is no weight"),
        (0 * w, "zero in every row"),
        (w[1:], "50 rows need shape"),
        (np.full(50, 1e307), "too near to what a float can hold.*pass sample_weight / sample_w"),
    ):
        for judge in (audit, compare):
            models = p if judge is audit else {"a": p, "b": p}
            with subtests.test(words), pytest.raises(ValueError, match=words):
                judge(y, models, sample_weight=weight)
    with pytest.raises(ValueError, match="test of time= has no weights"):
        audit(y, p, time=np.arange(50), sample_weight=w)


# --- several targets ----------------------------------------------------------------------------


def test_several_targets_are_several_reports(tmp_path: Path, capsys: Any) -> None:
    pd = pytest.importorskip("pandas")
    y, p, w, _ = drawn(300, 1, shift=1.5)
    frame = pd.DataFrame({"y1": y, "p1": p, "y/2": p > 0.5, "p2": p, "w": w})
    names: dict[str, Any] = {"label": ["y1", "y/2"], "prob": ["p1", "p2"]}
    found: Any = audit(frame, **names, sample_weight="w", **QUICK)
    assert list(found) == ["y1", "y/2"]
    alone = audit(frame, label="y/2", prob="p2", sample_weight="w", **QUICK)
    assert found["y/2"].answers[2].sentence == alone.answers[2].sentence
    assert found["y1"].title == "Audit of predictions: y1"
    for wrong in ({"prob": ["p1"]}, {"prob": "p1"}, {"label": ["y1", "y1"]}):
        with pytest.raises(ValueError, match="several labels need as many predictions"):
            audit(frame, **names | wrong)
    log, page = tmp_path / "log.csv", tmp_path / "page.json"
    frame.astype(float).to_csv(log, index=False)
    words = ["audit", str(log), "--label", "y1,y/2", "--weight", "w", "--prob"]
    assert main([*words, "p1,p2", "--json", str(page), "--fail-if", "miscalibrated"]) == 1
    files = {path.name: path.read_text() for path in tmp_path.glob("*.json")}
    assert list(map(str, sorted(files))) == ["page-y%2F2.json", "page-y1.json"]
    assert "worth" in capsys.readouterr().out and str(tmp_path) not in str(files)
    for more, said in (("p1", "several labels need"), ("p1,p2 --large", "a stream has no weights")):
        assert main([*words, *more.split()]) == 2
        assert said in capsys.readouterr().err


def test_logits_and_other_names_for_predictions_are_answered(subtests: pytest.Subtests) -> None:
    y, p, _, _ = drawn(20)
    for name in ("ece", "log_loss", "reliability_table", "consistency_band", "cox_test", "audit"):
        name = "expected_calibration_error" if name == "ece" else name
        measure = getattr(ck, name)
        for option in ("logits", "scores", "y_score", "probas", "y_pred"):
            if option in inspect.signature(measure).parameters:
                continue
            ours = "expit" if option == "logits" else "y_prob=p, after the labels"
            with subtests.test(name, option=option), pytest.raises(TypeError, match=ours):
                measure(y, **{option: p})
        with subtests.test(name), pytest.raises((TypeError, ValueError), match="y_prob"):
            measure(y)
