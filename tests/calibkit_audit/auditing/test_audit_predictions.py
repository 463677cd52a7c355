"""Reading predictions for an audit, and auditing rows that are not kept."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from calibkit.fakes import LogitDistortion
from calibkit_audit.auditing import AuditSettings, audit, audit_table, compare
from calibkit_audit.auditing.large import RandomSample, audit_stream, compare_rows, compare_stream
from calibkit_audit.auditing.predictions import TooLarge, read_predictions
from tests.audit_cases import in_blocks, predictions
from tests.helpers import class_data

QUICK = AuditSettings(n_draws=99, n_resamples=50, repairs=())


# --- reading -------------------------------------------------------------------------------------


def test_a_csv_with_words_groups_and_classes(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        'site,p_cat,what,p_dog\nnorth,.9,cat,.1\n"so,uth",.2,dog,.8\n7,.5,cat,.5\n',
        encoding="utf-8",
    )
    rows = read_predictions(path, label="what", prob="p_*", group="site")
    assert rows.y_true.tolist() == [0, 1, 0]
    assert rows.scores.tolist() == [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]
    assert rows.beside["groups"].tolist() == ["north", "so,uth", "7"]
    assert rows.class_names == rows.arguments["class_names"] == ("cat", "dog")
    np.savez(tmp_path / "log.npz", y=[1, 0], p=[0.5, 0.2], g=[2.0, 10.5])
    rows = read_predictions(tmp_path / "log.npz", label="y", prob="p", group="g")
    assert rows.beside["groups"].tolist() == ["2", "10.5"]


def test_the_memory_limit_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    np.savez(path, y=np.tile([0, 1], 50_000), p=np.full(100_000, 0.5))
    assert read_predictions(path, label="y", prob="p", limit=2_000_000).n == 100_000
    with pytest.raises(TooLarge):
        read_predictions(path, label="y", prob="p", limit=1_000_000)


# --- rows that are not kept ----------------------------------------------------------------------


def test_a_file_that_fits_into_the_sample_is_audited_as_usual() -> None:
    data = LogitDistortion(slope=0.6).sample(1500, rng=2)
    rows = predictions(data.y_true, data.y_prob)
    report = audit_stream(in_blocks(rows, 400), settings=QUICK)
    direct = audit(data.y_true, data.y_prob, settings=QUICK)
    assert report.text() == direct.text()


def test_the_sample_is_random_fair_and_in_order() -> None:
    keeper = RandomSample(500, seed=3)
    for block in in_blocks(predictions(np.arange(20_000) % 2, np.arange(20_000) / 20_000), 700):
        keeper.add(block)
    place = keeper.sample.scores
    assert len(place) == len(np.unique(place)) == 500
    assert (np.diff(place) > 0).all()
    assert abs(place.mean() - 0.5) < 4 / np.sqrt(12 * 500)
    assert abs((place < 0.1).sum() - 50) < 4 * np.sqrt(45)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slope", "offset", "verdict", "direction"),
    [
        (1.0, 0.0, "no evidence", "no direction"),
        (0.8, 0.0, "miscalibrated", "over-confident"),
        (1.25, 0.0, "miscalibrated", "under-confident"),
        (1.0, -0.2, "miscalibrated", "over-forecast"),
        (1.0, 0.2, "miscalibrated", "under-forecast"),
    ],
)
def test_verdicts_of_all_rows(slope: float, offset: float, verdict: str, direction: str) -> None:
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 1.5, 60_000)
    label = rng.random(60_000) < 1 / (1 + np.exp(-(slope * logits + offset)))
    rows = predictions(label.astype(int), logits, logits=True)
    report = audit_stream(in_blocks(rows, 10_000), settings=QUICK, sample=3000)
    assert report.n == 60_000
    assert report.verdicts["calibration"] == verdict
    assert report.verdicts["direction"] == direction
    assert report.verdicts["data"] == "enough data"
    assert report.verdicts["alignment"] == "aligned"
    assert "60,000 predictions" in report["calibration"].sentence
    for topic in ("alignment", "costs", "repair"):
        assert "Random sample of 3,000 rows" in report[topic].sentence
    assert "60,000" in report.text()
    assert any("All 60,000 rows" in note for note in report.notes)


@pytest.mark.long
def test_a_calibrated_stream_is_rarely_accused() -> None:
    """At 2 % and conservative tests, 3 or more of 40 have a probability below 5 %."""
    accused = 0
    for seed in range(40):
        rng = np.random.default_rng([8, seed])
        prob = rng.beta(1, 4, 4000)
        rows = predictions((rng.random(4000) < prob).astype(int), prob)
        report = audit_stream([rows], settings=QUICK, sample=200)
        accused += report.verdicts["calibration"] == "miscalibrated"
    assert accused <= 2


@pytest.mark.slow
@pytest.mark.parametrize("view", [None, "top-label", "class-wise", 1])
def test_classes(view: Any) -> None:
    label, prob = class_data(20_000, n_classes=3)
    rows = predictions(label, prob, class_names=("cat", "dog", "<b>owl"))
    report = audit_stream(in_blocks(rows, 7000), view=view, settings=QUICK, sample=2000)
    assert report.verdicts["calibration"] == "miscalibrated"
    assert report.n == 20_000
    words = {None: "top-label", "top-label": "top-label", "class-wise": "class ", 1: "class dog"}
    assert words[view] in report["calibration"].sentence
    rng = np.random.default_rng(5)  # where nothing is found, the first class is shown
    right = (rng.random((3000, 1)) > prob[:3000].cumsum(axis=1)[:, :2]).sum(axis=1)
    rows = predictions(right, prob[:3000], class_names=("cat", "dog", "<b>owl"))
    report = audit_stream([rows], view=view, settings=QUICK, sample=500)
    assert "miscalibrated" not in report.codes
    wanted = "class cat" if view == "class-wise" else words[view]
    assert f"({wanted})" in report["direction"].sentence
    if view == "class-wise":  # the p-value is that of the class that speaks loudest
        assert report["calibration"].numbers["p_value"] < 0.6


def test_shuffled_labels_are_seen_in_the_sample() -> None:
    rng = np.random.default_rng(1)
    prob = rng.beta(0.5, 0.5, 30_000)
    label = rng.permutation((rng.random(30_000) < prob).astype(int))
    report = audit_stream([predictions(label, prob)], settings=QUICK, sample=2000)
    assert report.verdicts["alignment"] == "no discrimination"
    assert "labels belong to other rows" in report.headline


def test_bad_streams() -> None:
    with pytest.raises(ValueError, match="no rows"):
        audit_stream([], settings=QUICK)
    with pytest.raises(ValueError, match="inside a cell"):
        audit_stream(
            in_blocks(predictions(np.arange(500) % 2, np.full(500, 0.5)), 100),
            settings=AuditSettings(n_draws=99, n_resamples=50, repairs=(), bins=11),
            sample=100,
        )


@pytest.mark.parametrize("view", [None, "top-label", "class-wise"])
def test_a_stream_has_the_sign_of_memory(view: Any) -> None:
    """Rows that say 0 or 1 and are wrong count in both; the cells of sure rows hold others, too."""
    rng = np.random.default_rng(3)
    top = np.where(rng.random(3000) < 0.5, 1.0, rng.choice([0.6, 0.99999], 3000))
    label = np.where(rng.random(3000) < 0.7 * top, 0, rng.integers(1, 3, 3000))
    scores = np.column_stack([top, (1 - top) / 2, (1 - top) / 2])
    ask = AuditSettings(n_draws=99, n_resamples=50, repairs=())
    whole = audit(label, scores, view=view, settings=ask)
    part = audit_stream(in_blocks(predictions(label, scores), 700), view=view, settings=ask,
                        sample=2000)  # fmt: skip
    assert part.verdicts["direction"] == whole.verdicts["direction"]
    for name in ("mean_prob", "frequency", "z_level", "z_slope"):
        assert part["direction"].numbers[name] == pytest.approx(
            whole["direction"].numbers[name], rel=1e-3
        ), name
    assert part["calibration"].numbers["p_value"] == whole["calibration"].numbers["p_value"] == 0
    assert part["impossible"].sentence == whole["impossible"].sentence
    assert part["data"].numbers["n"] == 3000


def test_models_of_a_stream_are_compared_by_a_random_sample() -> None:
    rng = np.random.default_rng(4)
    prob = rng.beta(1, 2, 9000)
    label = (rng.random(9000) < prob).astype(int)
    rows, names = predictions(label, np.column_stack([prob**2, prob])), ["bold", "fair"]
    whole = compare_stream(in_blocks(rows, 700), names, sample=9000)
    assert whole.to_dict() == compare_rows(rows, names).to_dict()
    part = compare_stream(in_blocks(rows, 700), names, sample=2000)
    assert part.n == 2000 and "a random sample of 2,000 of 9,000 rows" in part.notes[0]


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
    rows = predictions(label, top, beside={"predicted": guess}, class_names=tuple(NAMES))
    streamed = audit_stream(in_blocks(rows, 600), settings=QUICK, sample=2000)
    kept = ("calibration", "direction", "data")
    assert {t: streamed.verdicts[t] for t in kept} == {t: table.verdicts[t] for t in kept}
    assert "positive class" not in streamed.text() and streamed.n_classes == 10


def test_labels_of_other_rows_are_found_from_confidences() -> None:
    label, prob = ten_classes(1.0)
    guess, top = prob.argmax(axis=1), prob.max(axis=1)
    other = np.random.default_rng(0).permutation(label)
    for truth, verdict, cause in (
        (other, "no discrimination", "shuffled"),
        (np.roll(label, 1), "not aligned", "shifted by one"),
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
    assert found.difference.tolist() == right.difference.tolist()
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
        ({"prob": ["p_ant", "p_bee"]}, "several audits"),
        ({"prob": "none"}, "'none' is not there"),
        ({"prob": "p_ant", "groups": "none"}, "'none' is not there"),
    ):
        with subtests.test(words), pytest.raises(ValueError, match=words):
            audit_table(frame, label="first", **options)
    with pytest.raises(ValueError, match="the table must be of pandas"):
        audit_table(label, label="first", prob="p_ant")
    with pytest.raises(ValueError, match="'emu' is none of class_names"):
        audit(np.where(label == 3, "emu", NAMES[label]), prob, class_names=NAMES)
    with pytest.raises(ValueError, match="sum to 1 within 0.1 as probabilities do"):
        audit(label % 4, logits=np.round(softmax(np.log(prob[:, :4]), axis=1), 1))
