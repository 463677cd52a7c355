"""Reading predictions for an audit; a random sample of rows that are too many."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, softmax

from calibkit_audit.auditing import AuditSettings, audit, audit_table, compare
from calibkit_audit.auditing.dependence import rows_that_agree
from calibkit_audit.auditing.predictions import keep_rows, read_predictions
from calibkit_audit.auditing.rows import rows_of

QUICK = AuditSettings(n_draws=99, n_resamples=50, repairs=())


# --- reading -------------------------------------------------------------------------------------


def test_a_csv_with_words_groups_and_classes(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        'site,p_cat,what,p_dog\nnorth,.9,cat,.1\n"so,uth",.2,dog,.8\n7,.5,cat,.5\n',
        encoding="utf-8",
    )
    rows = read_predictions(path, label="what", prob="p_*", group="site")
    assert rows["y_true"].tolist() == [0, 1, 0]
    assert rows["y_prob"].tolist() == [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]
    assert rows["groups"].tolist() == ["north", "so,uth", "7"]
    assert rows["class_names"] == ("cat", "dog")
    np.savez(tmp_path / "log.npz", y=[1, 0], p=[0.5, 0.2], g=[2.0, 10.5])
    rows = read_predictions(tmp_path / "log.npz", label="y", prob="p", group="g")
    assert rows["groups"].tolist() == ["2", "10.5"]


@pytest.mark.parametrize("limit", [0, 20_000, 320_000])
def test_too_many_rows_are_a_random_sample_fair_and_in_order(limit: float) -> None:
    rows = {"y_true": np.arange(20_000) % 2, "y_prob": np.arange(20_000) / 20_000}
    starts = range(0, 20_000, 700)
    blocks = [{name: part[k : k + 700] for name, part in rows.items()} for k in starts]
    kept, seen = keep_rows(blocks, limit, sample=500, seed=3)
    assert seen == 20_000
    if limit >= 16 * 20_000:
        assert np.array_equal(kept["y_prob"], rows["y_prob"]) and set(kept) == set(rows)
        return
    place = kept["y_prob"]
    assert len(place) == len(np.unique(place)) == 500
    assert (np.diff(place) > 0).all() and np.array_equal(
        kept["y_true"], np.rint(20_000 * place) % 2
    )
    assert abs(place.mean() - 0.5) < 4 / np.sqrt(12 * 500)
    assert abs((place < 0.1).sum() - 50) < 4 * np.sqrt(45)
    few, _ = keep_rows(blocks, limit, sample=20_000)
    assert np.array_equal(few["y_prob"], rows["y_prob"])  # as many as there are


# --- true class, predicted class, confidence -----------------------------------------------------

NAMES = np.array(["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibex", "jay"])


def ten_classes(temperature: float, n: int = 2500, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 1.5, (n, 10))
    label = (rng.random((n, 1)) > softmax(scores, axis=1).cumsum(axis=1)[:, :-1]).sum(axis=1)
    return label, softmax(scores * temperature, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 2.0, 0.5])
def test_a_confidence_is_audited_as_the_top_label_view_of_the_table(temperature: float) -> None:
    label, prob = ten_classes(temperature)
    guess, top = prob.argmax(axis=1), prob.max(axis=1)
    table = audit(label, prob, view="top-label", class_names=NAMES, settings=QUICK)
    found = audit(NAMES[label], top, predicted=NAMES[guess], settings=QUICK)
    assert found.verdicts == table.verdicts
    assert (found.n_classes, found.class_names, found.view) == (10, tuple(NAMES), "top-label")
    for topic, name in (("alignment", "accuracy"), ("alignment", "majority"), ("direction", "gap")):
        assert found[topic].numbers[name] == pytest.approx(table[topic].numbers[name])
    assert found["calibration"].numbers["error"] == table["calibration"].numbers["error"]
    for words in ("positive class", "inverted", "2 classes", "false alarm"):
        assert words not in found.text()


def test_labels_of_other_rows_are_found_from_confidences() -> None:
    label, prob = ten_classes(1.0)
    guess, top = prob.argmax(axis=1), prob.max(axis=1)
    other = np.random.default_rng(0).permutation(label)
    for truth, verdict, cause in (
        (other, "no discrimination", "shuffled"),
        (np.roll(label, 1), "no discrimination", "shifted"),
        ((label + 1) % 10, "not aligned", "off by one class"),
    ):
        sentence = audit(NAMES[truth], top, predicted=NAMES[guess], settings=QUICK)["alignment"]
        assert sentence.verdict == verdict and cause in sentence.sentence


@pytest.mark.parametrize("cut", [0.5, 0.3])
@pytest.mark.parametrize("names", [np.arange(2), np.array(["Class1", "Class2"])])
def test_a_probability_of_one_class_is_no_confidence(cut: float, names: Any) -> None:
    p = np.random.default_rng(0).random(1000)
    y = (np.random.default_rng(1).random(1000) < p) * 1
    with pytest.raises(ValueError, match="look like the probability of one class"):
        audit(names[y], p, predicted=names[(p > cut) * 1], settings=QUICK)
    # Confidences of one half and more, stated ones below, of more classes, and of one
    # predicted class, which tells nothing of what they are, are none.
    for truth, sure, guess in (
        (y, np.maximum(p, 1 - p), (p > 0.5) * 1),
        (y, p, np.random.default_rng(2).integers(0, 2, 1000)),
        (y, p, np.zeros(1000, dtype=int)),
        (y + np.arange(1000) % 2, p, (p > 0.5) * 1),
    ):
        assert audit(truth, sure, predicted=guess, settings=QUICK).n == 1000


def test_a_comparison_of_confidences_in_one_predicted_class() -> None:
    label, prob = ten_classes(2.0)
    guess, top = prob.argmax(axis=1), prob.max(axis=1)
    models = {"bold": top, "mild": top**2}
    found = compare(NAMES[label], models, predicted=NAMES[guess])
    right = compare((label == guess).astype(int), models)
    assert (found.view, found.n_classes) == ("top-label", 10)
    assert found.changes == right.changes
    with pytest.raises(ValueError, match="one view"):
        compare(label, models, predicted=guess, view="class-wise")


# --- a table with names -------------------------------------------------------------------------


def test_columns_of_a_table_are_audited_by_name(subtests: pytest.Subtests) -> None:
    pd = pytest.importorskip("pandas")
    label, prob = ten_classes(1.0, 400)
    frame = pd.DataFrame(prob, columns=[f"p_{name}" for name in NAMES])
    guess, top = NAMES[prob.argmax(axis=1)], prob.max(axis=1)
    frame = frame.assign(what=NAMES[label], first=label == 0, said=guess, sure=top, site=label % 2)
    o: dict[str, Any] = {"settings": QUICK}
    direct = {
        "one": (audit(label == 0, prob[:, 0], groups=label % 2, **o), "first", "p_ant", "groups"),
        "classes": (audit(label, prob, class_names=NAMES, **o), "what", "p_*", ""),
        "words": (audit(NAMES[label], prob, class_names=NAMES, **o), "what", "p_*", ""),
        "confidence": (audit(NAMES[label], top, predicted=guess, **o), "what", "sure", "predicted"),
    }
    for name, (wanted, labels, chosen, more) in direct.items():
        named = {"groups": {"groups": "site"}, "predicted": {"predicted": "said"}}.get(more, {})
        for table in (frame, dict(frame)):
            with subtests.test(name, table=type(table).__name__):
                assert (
                    audit_table(table, label=labels, prob=chosen, **named, **o).text()
                    == wanted.text()
                )
    for options, words in (
        ({"prob": ["p_ant", "p_bee"]}, "several targets"),
        ({"prob": "none"}, "'none' is not there"),
        ({"prob": "p_ant", "groups": "none"}, "'none' is not there"),
    ):
        with subtests.test(words), pytest.raises(ValueError, match=words):
            audit_table(frame, label="first", **options)
    lazy = type("LazyFrame", (), {"columns": ["first"]})()
    with pytest.raises(ValueError, match=r"is a LazyFrame; pass table.collect\(\)"):
        audit_table(lazy, label="first", prob="p_ant")
    with pytest.raises(ValueError, match="the table must be of pandas"):
        audit_table(label, label="first", prob="p_ant")
    with pytest.raises(ValueError, match="'emu' is none of class_names"):
        audit(np.where(label == 3, "emu", NAMES[label]), prob, class_names=NAMES)
    with pytest.raises(ValueError, match="sum to 1 within 0.1 as probabilities do"):
        audit(label % 4, logits=np.round(softmax(np.log(prob[:, :4]), axis=1), 1))


def test_a_column_in_whose_values_rows_agree_is_named_and_no_other() -> None:
    offered = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        team, order = np.repeat(np.arange(60), 15), rng.permutation(900)
        chance = 0.5 + 0.3 * rng.choice([-1, 1], 60)[team]  # on average the half that is said
        table = {
            "y": (rng.random(900) < chance) * 1,
            "p": np.full(900, 0.5),
            "team": team,
            "age": rng.integers(20, 80, 900),
            "row": np.arange(900),
            "note": ["", None, "x"] * 300,
        }
        table = {name: np.asarray(values)[order] for name, values in table.items()}
        table |= {"source": "one text", "wide": np.zeros((900, 2)), "short": [1, 2]}
        report = audit_table(table, label="y", prob="p", settings=QUICK)
        offered += [name for one in report.findings for name in one.numbers]
        assert "if no two rows are about the same case." in report.headline
        for answer in ({"cluster": "team"}, {"independent": True}):
            assert not audit_table(table, label="y", prob="p", settings=QUICK, **answer).findings
    assert offered == ["team"] * 5
    with pytest.raises(ValueError, match=r"others 'few' has shape \(2,\)"):
        audit([0, 1, 1], [0.2, 0.5, 0.9], others={"few": [1, 2]})


def columns_named(y_true: Any, y_prob: Any, column: Any) -> bool:
    return bool(rows_that_agree(rows_of(y_true, y_prob), 1, {"column": column}))


@pytest.mark.parametrize("kind", ["calibrated", "decisions", "one way", "rare", "rarer than said"])
def test_a_column_that_says_nothing_is_not_named(kind: str) -> None:
    """Of 120 files none; where rare events are many in one of its values, few."""
    rng, named = np.random.default_rng(41), 0
    for _ in range(40):
        prob = rng.beta(0.5, 50, 1000) if kind == "rare" else rng.random(1000)
        event = rng.random(1000) < prob
        if kind in ("decisions", "one way"):  # predictions of 0 and 1, of which a tenth was wrong
            prob, wrong = (prob < 0.3) * 1.0, rng.random(1000) < 0.1
            event = (prob == 1) ^ (wrong & (prob <= (kind == "decisions")))
        if kind == "rarer than said":
            prob = np.where(np.arange(1000) < 10, 0.5, 0.001)
            event = rng.random(1000) < 0.01
        pairs = np.repeat(np.arange(500), 2)[rng.permutation(1000)]
        for column in (rng.integers(18, 90, 1000), pairs, rng.zipf(1.5, 1000) % 500):
            named += columns_named(event * 1, prob, column)
    assert named <= (2 if kind == "rare" else 0)


@pytest.mark.parametrize(("size", "least"), [(5, 36), (10, 38)])
def test_a_column_that_says_what_belongs_together_is_named(size: int, least: int) -> None:
    """Rows of a case share two fifths of what is not known: found in 98 and 100 of 100 files."""
    rng, named = np.random.default_rng(42), 0
    for _ in range(40):
        case, prob = np.repeat(np.arange(1000 // size), size), rng.random(1000)
        shared = np.sqrt(0.4) * rng.standard_normal(len(case) // size)[case]
        own = np.sqrt(0.6) * rng.standard_normal(1000)
        named += columns_named((ndtr(shared + own) < prob) * 1, prob, case)
    assert named >= least
