"""The simulated language model against integrals and draws, and the bundled files."""

import csv

import numpy as np
import pytest
from scipy import integrate
from scipy.special import expit, logit
from scipy.stats import beta

from calibkit import brier_score, log_loss
from calibkit_course.lesson14.sample_files import SAMPLE_FILES, mended_file, sample_file
from calibkit_course.lesson14.verbal import VerbalModel

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
