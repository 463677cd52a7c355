"""The audit board: against the package, in words, with a file of one's own, without a kernel."""

import csv
from datetime import UTC, datetime
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import integrate
from scipy.special import expit, logit
from scipy.stats import beta

from calibkit import brier_score, log_loss
from calibkit_audit.auditing import audit
from calibkit_course import lesson14
from calibkit_course.lesson14 import figures as figures14
from calibkit_course.lesson14.files import MOST_BYTES, audit_bytes
from calibkit_course.lesson14.sample_files import SAMPLE_FILES, mended_file, sample_file
from calibkit_course.lesson14.verbal import VerbalModel
from calibkit_course.lesson14.view import FILES, UNKNOWN, VIEWS

# --- the board -----------------------------------------------------------------------------------


class TestBoard:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("state", "topic", "verdict"),
        [
            ({"file": "small clinic"}, "calibration", "no evidence"),
            ({"file": "screening"}, "costs", "costs unknown"),
            ({"file": "screening", "costs": "1 : 20"}, "costs", "worse than ignoring"),
            ({"file": "language model"}, "direction", "over-forecast"),
            ({"file": "three animals"}, "direction", "under-confident"),
            ({"file": "three animals", "view": "class-wise"}, "calibration", "miscalibrated"),
            ({"file": "thirty patients"}, "data", "too little data"),
            ({"file": "thirty patients"}, "calibration", "cannot say"),
        ],
    )
    def test_what_the_lesson_says_lights_up(self, state, topic, verdict):
        assert lesson14.audit_board_view(**state).report.verdicts[topic] == verdict

    @pytest.mark.slow
    def test_prices_for_two_classes_are_not_used_for_three(self):
        for costs, said in ((UNKNOWN, False), ("1 : 20", True)):
            board = lesson14.audit_board_view(file="three animals", costs=costs)
            assert ("for two classes only" in board.describe()) == said
            assert board.verdicts[4] == "costs unknown"


# --- the figure ----------------------------------------------------------------------------------


class TestFigure:
    @pytest.mark.parametrize("view", VIEWS)
    def test_the_diagram_names_the_class(self, view):
        board, figure = lesson14.audit_board(), plt.figure(layout="constrained")
        board.draw(board.view(file="three animals", view=view), figure, False)
        axes = [part for ax in figure.axes for part in (ax, *ax.child_axes)]
        words = " ".join(ax.get_xlabel() + ax.get_ylabel() for ax in axes)
        assert words.count("of class cat") == (3 if view == "class-wise" else 0)
        assert "class 0" not in words

    @pytest.mark.parametrize("file", FILES)
    def test_no_text_leaves_the_picture(self, file):
        figure, ax = plt.subplots(figsize=(4.6, 3.1), layout="constrained")
        figures14.audit_board(lesson14.audit_board_view(file=file), ax)
        figure.draw_without_rendering()
        right = max(text.get_window_extent().x1 for text in ax.texts)
        assert right <= figure.bbox.x1


# --- a file of one's own -------------------------------------------------------------------------


def csv_of(name: str) -> bytes:
    rows = sample_file(name)
    lines = [f"{y},{p!r}" for y, p in zip(rows.y_true.tolist(), rows.y_prob.tolist(), strict=True)]
    return "\n".join(["label,p", *lines]).encode()


class TestOwnFile:
    @pytest.mark.slow
    def test_a_picked_file_gets_the_audit_of_its_rows(self):
        found = audit_bytes(csv_of("screening"), "own.csv", label="label", prob="p")
        rows = sample_file("screening")
        wanted = audit(rows.y_true, rows.y_prob)
        assert found.title == "own.csv" and found.verdicts == wanted.verdicts

    @pytest.mark.parametrize(
        ("content", "name", "options", "words"),
        [
            (b"y,p\n1,.5\n", "rows.exe", {}, "must end in"),
            (b"y,p\n1,2.5\n", "rows.csv", {}, "rows.csv"),
            (b"y,p\n1,.5\n", "rows.csv", {"label": " "}, "name the column"),
            (bytes(MOST_BYTES + 1), "rows.csv", {}, "larger than 50 MB"),
        ],
    )
    def test_what_cannot_be_used_is_named(self, content, name, options, words):
        with pytest.raises(ValueError, match=words) as caught:
            audit_bytes(content, name, **({"label": "y", "prob": "p"} | options))
        assert "picked" not in str(caught.value) and "tmp" not in str(caught.value)

    def test_a_path_in_the_name_is_not_followed(self, tmp_path):
        target = tmp_path / "victim.csv"
        audit_bytes(csv_of("small clinic"), str(target), label="label", prob="p")
        assert not target.exists()

    @pytest.mark.slow
    def test_the_picker_says_what_is_wrong_and_what_is_right(self):
        box = lesson14.audit_board().widget()
        *_, inputs, answer = box.children
        picker, *texts, run = inputs.children
        assert next(text.description for text in texts) == "Column of the labels"
        run.click()
        assert "Pick a file first" in answer.value
        pick(picker, "<b>own</b>.csv", csv_of("file in the mail"))
        run.click()
        assert "no discrimination" in answer.value and "<b>own</b>" not in answer.value
        texts[0].value = "<script>"
        run.click()
        assert "<script>" not in answer.value and "script" in answer.value


def pick(picker: Any, name: str, content: bytes) -> None:
    """Do what the browser does when a file is chosen."""
    picker.value = (
        {"name": name, "type": "text/csv", "size": len(content), "content": memoryview(content),
         "last_modified": datetime(2026, 1, 1, tzinfo=UTC)},
    )  # fmt: skip


# --- the files -----------------------------------------------------------------------------------


MODEL = VerbalModel()


# --- exact values --------------------------------------------------------------------------------


def test_shares_sum_to_one_and_the_mean_is_the_accuracy():
    assert MODEL.shares.sum() == pytest.approx(1, abs=1e-12)
    assert MODEL.truth().accuracy == pytest.approx(2 / 3.2, abs=1e-12)
    assert (np.diff(MODEL.true_map(MODEL.words)) > 0).all()  # surer words are right more often


def test_every_word_by_quadrature():
    """Between the midpoints of its neighbours, on the scale of what the model feels."""
    words, law = np.array(MODEL.words), beta(2.0, 1.2)
    ends = [0, *expit(logit((words[1:] + words[:-1]) / 2) - 1.5), 1]
    for word, share, low, high in zip(words, MODEL.shares, ends[:-1], ends[1:], strict=True):
        mass = integrate.quad(law.pdf, low, high)[0]
        mean = integrate.quad(lambda q: q * law.pdf(q), low, high)[0] / mass
        assert share == pytest.approx(mass, abs=1e-8)
        assert float(MODEL.true_map(word)) == pytest.approx(mean, abs=1e-8)


def test_a_large_sample_agrees_with_the_truth():
    rows, truth = MODEL.sample(200_000, rng=1), MODEL.truth()
    assert set(np.unique(rows.y_prob)) == set(MODEL.words)
    assert rows.y_true.mean() == pytest.approx(truth.accuracy, abs=0.005)
    assert rows.y_prob.mean() == pytest.approx(truth.mean_confidence, abs=0.003)
    assert brier_score(rows.y_true, rows.y_prob).value == pytest.approx(
        truth.top_label_brier, abs=0.005
    )
    assert log_loss(rows.y_true, rows.y_prob).value == pytest.approx(truth.log_loss, abs=0.015)
    for word, share in zip(MODEL.words, MODEL.shares, strict=True):
        said = rows.y_prob == word
        assert said.mean() == pytest.approx(share, abs=0.005)
        if said.sum() > 2000:
            both = rows.true_prob[said].mean(), rows.y_true[said].mean()
            assert both == pytest.approx((float(MODEL.true_map(word)),) * 2, abs=0.03)


def test_a_number_that_is_never_said_has_no_truth():
    with pytest.raises(ValueError, match=r"0\.85, which this model never says"):
        VerbalModel().true_map([0.9, 0.85])


# --- bundled files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLE_FILES)
def test_a_bundled_file_is_fixed_and_sealed_and_its_csv_holds_every_digit(name, tmp_path):
    file, other = sample_file(name), sample_file(name)
    assert np.array_equal(file.y_true, other.y_true) and np.array_equal(file.y_prob, other.y_prob)
    assert not file.y_true.flags.writeable and not file.y_prob.flags.writeable
    assert file.n == len(file.y_prob) and file.title and file.truth
    path = file.write_csv(tmp_path / "rows.csv")
    with path.open(newline="", encoding="utf-8") as stream:
        heads, *rows = csv.reader(stream)
    prob = np.array([[float(value) for value in row[1:]] for row in rows])
    assert np.array_equal(prob.squeeze(), file.y_prob)
    words = file.class_names or ("0", "1")
    assert heads == ["label", *(f"p_{word}" for word in file.class_names or ())] or heads[1] == "p"
    assert [row[0] for row in rows] == [words[y] for y in file.y_true]


def test_the_broken_file_can_be_mended_from_what_it_holds():
    broken, (labels, prob) = sample_file("broken file"), mended_file()
    bad = np.abs(broken.y_prob.sum(axis=1) - 1) > 1e-5
    assert bad.sum() == 40
    filled = np.array(broken.y_prob)
    filled[bad, 2] = 1 - filled[bad].sum(axis=1)
    assert filled == pytest.approx(prob, abs=1e-12)
    assert np.array_equal(np.roll(broken.y_true, -1), labels)
    animals = sample_file("three animals")
    assert np.array_equal(animals.y_true, labels) and np.array_equal(animals.y_prob, prob)


def test_an_unknown_file_lists_those_there_are():
    with pytest.raises(ValueError, match="no sample file 'x'; there are small clinic"):
        sample_file("x")
