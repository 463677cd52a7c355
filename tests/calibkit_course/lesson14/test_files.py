"""The simulated language model against integrals and draws, and the bundled files."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import expit, logit
from scipy.stats import beta

from calibkit import brier_score, log_loss
from calibkit_course.lesson14.sample_files import SAMPLE_FILES, mended_file, sample_file
from calibkit_course.lesson14.verbal import FAVOURITES, VerbalModel

MODELS = {
    "default": VerbalModel(),
    "careful": VerbalModel(skill=(3.0, 2.0), slope=0.5, shift=-0.4),
    "low words": VerbalModel(skill=(1.0, 4.0), shift=0.2, words=(0.05, 0.1, 0.5)),
    "one word": VerbalModel(words=(0.9,)),
    "rare words": VerbalModel(skill=(60.0, 60.0), slope=1.0, shift=0.0),
}


def each(items=MODELS):
    return pytest.mark.parametrize("model", items.values(), ids=items)


def by_hand(model):
    """Integrate over Q without closed forms: what is said, and share and P(right; word)."""
    law, words = beta(*model.skill), np.array(model.words)

    def word_of(q):
        felt = expit(model.slope * logit(q) + model.shift)
        return int(np.abs(words - felt).argmin())

    # Midpoints of 40,000 equal slices of probability: good to four decimals.
    grid = law.ppf((np.arange(40_000) + 0.5) / 40_000)
    said = np.array([word_of(q) for q in grid])
    return [np.bincount(said, grid**k, len(words)) / len(grid) for k in range(2)]


# --- exact values --------------------------------------------------------------------------------


@pytest.mark.slow
@each()
def test_exact_values_are_those_of_a_fine_grid(model):
    share, first = by_hand(model)
    used = model.shares > 1e-6
    assert model.shares == pytest.approx(share, abs=6e-5)
    words = np.array(model.words)[used]
    assert model.true_map(words) * model.shares[used] == pytest.approx(first[used], abs=6e-5)


@each()
def test_shares_sum_to_one_and_the_mean_is_the_accuracy(model):
    a, b = model.skill
    assert model.shares.sum() == pytest.approx(1, abs=1e-12)
    assert model.truth().accuracy == pytest.approx(a / (a + b), abs=1e-12)


def test_one_interval_by_quadrature():
    model = VerbalModel()
    low, high = expit(logit([0.85, 0.925]) - 1.5)
    law = beta(2.0, 1.2)
    mass = integrate.quad(law.pdf, low, high)[0]
    mean = integrate.quad(lambda q: q * law.pdf(q), low, high)[0] / mass
    assert model.shares[3] == pytest.approx(mass, abs=1e-10)
    assert float(model.true_map(0.9)) == pytest.approx(mean, abs=1e-10)


@each()
def test_a_large_sample_agrees_with_the_truth(model, subtests):
    rows, truth = model.sample(200_000, rng=1), model.truth()
    assert set(np.unique(rows.y_prob)) <= set(model.words)
    assert rows.y_true.mean() == pytest.approx(truth.accuracy, abs=0.005)
    assert rows.y_prob.mean() == pytest.approx(truth.mean_confidence, abs=0.003)
    assert brier_score(rows.y_true, rows.y_prob).value == pytest.approx(
        truth.top_label_brier, abs=0.005
    )
    assert log_loss(rows.y_true, rows.y_prob).value == pytest.approx(truth.log_loss, abs=0.015)
    for word, share in zip(model.words, model.shares, strict=True):
        with subtests.test(word=word):
            said = rows.y_prob == word
            assert said.mean() == pytest.approx(share, abs=0.005)
            if said.sum() > 2000:
                chance = rows.true_prob[said].mean()
                assert chance == pytest.approx(float(model.true_map(word)), abs=0.01)
                assert rows.y_true[said].mean() == pytest.approx(chance, abs=0.04)


@settings(max_examples=50)
@given(
    a=st.floats(0.3, 20),
    b=st.floats(0.3, 20),
    slope=st.floats(0.1, 5),
    shift=st.floats(-3, 3),
)
def test_surer_words_are_right_more_often(a, b, slope, shift):
    model = VerbalModel(skill=(a, b), slope=slope, shift=shift)
    words = np.array(model.words)[model.shares > 1e-9]
    assert (np.diff(model.true_map(words)) > -1e-6).all()


@settings(max_examples=30)
@given(n=st.integers(1, 300), seed=st.integers(0, 99))
def test_a_seed_gives_the_same_rows(n, seed):
    one, other = (VerbalModel().sample(n, rng=seed) for _ in range(2))
    assert np.array_equal(one.y_true, other.y_true) and np.array_equal(one.y_prob, other.y_prob)
    assert one.n == n and not one.y_prob.flags.writeable


def test_the_model_speaks():
    assert VerbalModel().describe() == "a language model that says 0.5, 0.7, 0.8, 0.9, 0.95, 0.99"
    assert "accuracy 0.6250" in VerbalModel().truth().describe()
    assert VerbalModel().words == FAVOURITES


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"skill": (1, 0)}, "skill"),
        ({"skill": 2}, "skill must be two positive numbers"),
        ({"slope": 0}, "slope"),
        ({"shift": np.inf}, "shift must be finite"),
        ({"shift": np.nan}, "shift must be finite"),
        ({"words": ()}, "words must increase"),
        ({"words": (0.9, 0.8)}, "words must increase"),
        ({"words": (0.9, 0.9)}, "words must increase"),
        ({"words": (0.5, 1.0)}, "strictly between 0 and 1"),
        ({"words": "high"}, "words must be numbers"),
        ({"words": 0.9}, "words must be numbers"),
    ],
)
def test_bad_dials_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        VerbalModel(**options)


def test_a_number_that_is_never_said_has_no_truth():
    with pytest.raises(ValueError, match=r"0\.85, which this model never says"):
        VerbalModel().true_map([0.9, 0.85])
    never = VerbalModel(skill=(5000.0, 100.0), words=(0.1, 0.9))
    with pytest.raises(ValueError, match="never says"):
        never.true_map(0.1)


# --- bundled files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLE_FILES)
def test_a_bundled_file_is_fixed_and_sealed(name):
    one, other = sample_file(name), sample_file(name)
    assert np.array_equal(one.y_true, other.y_true) and np.array_equal(one.y_prob, other.y_prob)
    assert not one.y_true.flags.writeable and not one.y_prob.flags.writeable
    assert one.n == len(one.y_prob) and one.title and one.truth
    classes = 2 if one.class_names is None else len(one.class_names)
    assert set(np.unique(one.y_true)) == set(range(classes))


@pytest.mark.parametrize("name", SAMPLE_FILES)
def test_the_csv_holds_every_digit(name, tmp_path):
    file = sample_file(name)
    path = file.write_csv(tmp_path / "rows.csv")
    with path.open(newline="", encoding="utf-8") as stream:
        heads, *rows = csv.reader(stream)
    prob = np.array([[float(value) for value in row[1:]] for row in rows])
    assert np.array_equal(prob.squeeze(), file.y_prob)
    labels = [row[0] for row in rows]
    if file.class_names is None:
        assert heads == ["label", "p"] and labels == [str(y) for y in file.y_true]
    else:
        assert heads == ["label", *(f"p_{name}" for name in file.class_names)]
        assert labels == [file.class_names[y] for y in file.y_true]


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


def test_mending_gives_fresh_arrays():
    labels, prob = mended_file()
    labels[:], prob[:] = 0, 0.0
    assert mended_file()[1].sum() == pytest.approx(1200)


def test_an_unknown_file_lists_those_there_are():
    with pytest.raises(ValueError, match="no sample file 'x'; there are small clinic"):
        sample_file("x")
