"""Finite classifiers, exact: golden rows, theorems, properties, and agreement with the core."""

import itertools
import json
import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calibkit_course import finite
from calibkit_course.finite import FiniteClassifier
from tests.helpers import refuses
from tests.paths import ROOT

GOLDEN = json.loads((ROOT / "tests" / "golden" / "counterexample.json").read_text(encoding="utf-8"))
NAMES = {  # the letter of the golden row, and the example that is the same classifier
    "A": "six atoms, top label off",
    "B": "six atoms",
    "D": "six atoms, wrong winner",
    "E1": "three atoms, right winner",
    "E2": "three atoms",
    "F": "four atoms",
    "G": "class-wise only",
    "H": "confidence only",
    "slides: labels (1,1,2),(2,2,3),(3,3,1)": "slides",
    "slides: labels (1,1,2),(2,2,3),(3,3,2)": "slides, one label changed",
}


def from_golden(row: dict) -> FiniteClassifier:
    return FiniteClassifier(*zip(*((a["mass"], a["c"], a["r"]) for a in row["atoms"]), strict=True))


def vectors(n_classes: int, parts: int = 6):
    """Draw probability vectors on a coarse grid, so that coincidences are frequent."""
    cuts = st.lists(st.integers(0, parts), min_size=n_classes - 1, max_size=n_classes - 1)

    def vector(inner: list[int]) -> tuple[F, ...]:
        edges = [0, *sorted(inner), parts]
        return tuple(F(b - a, parts) for a, b in itertools.pairwise(edges))

    return cuts.map(vector)


@st.composite
def classifiers(draw, n_classes=None, n_atoms=(1, 6)):
    k = n_classes or draw(st.integers(2, 4))
    stated = draw(st.lists(vectors(k), min_size=n_atoms[0], max_size=n_atoms[1], unique=True))
    weights = [draw(st.integers(1, 4)) for _ in stated]
    mass = [F(weight, sum(weights)) for weight in weights]
    truth = [draw(vectors(k)) for _ in stated]
    return FiniteClassifier(mass, stated, truth, ties="lowest")


@st.composite
def lenses(draw, classifier):
    """Draw a lens that gives every atom groups of its own choice."""
    groups = st.lists(
        st.integers(0, 2), min_size=classifier.n_classes, max_size=classifier.n_classes
    )
    table = {stated: draw(groups) for stated in classifier.confidence}
    return table.__getitem__


def only(k):
    """Return the lens that keeps class k and merges the others."""
    return lambda stated: [place == k for place in range(len(stated))]


class TestGolden:
    @pytest.mark.parametrize("title", GOLDEN)
    def test_every_row_is_met_exactly(self, title):
        fake, wanted = from_golden(GOLDEN[title]), GOLDEN[title]["result"]
        best = fake.best_postprocessing()
        found = {
            "strong_L1 = E||r(C)-C||_1": fake.strong_error(),
            "ECE (confidence)": fake.expected_error(),
            "E_C|P(Y=argmax|C)-max C|": fake.vector_conditional_error(),
            "cwECE_k": list(fake.class_wise_errors()),
            "label-conditional top ECE": fake.label_conditional_error(),
            "accuracy": fake.accuracy,
            "accuracy of best post-processing": best.accuracy,
            "Brier": fake.brier,
            "Brier of best post-processing": best.brier,
        }
        exact = {n: [*map(F, v)] if isinstance(v, list) else F(v) for n, v in wanted.items()}
        assert found == exact
        assert all(isinstance(v, F) for v in [*found.pop("cwECE_k"), *found.values()])

    def test_the_examples_are_those_classifiers(self):
        for letter, name in NAMES.items():
            (title,) = (t for t in GOLDEN if t.partition(":")[0] == letter or t == letter)
            pair = finite.example(name), from_golden(GOLDEN[title])
            one, other = (set(zip(f.mass, f.confidence, f.truth, strict=True)) for f in pair)
            assert one == other, name
        assert {*NAMES.values(), "two atoms, four classes"} == set(finite.examples())

    def test_an_unknown_example_is_refused_with_the_names(self):
        with pytest.raises(ValueError, match="no example 'E1'.*three atoms; .*slides"):
            finite.example("E1")


def chain(fake):
    """Return the notions from the weakest to the strongest."""
    return [
        abs(fake.mean_confidence - fake.accuracy),
        fake.expected_error(),
        fake.label_conditional_error(),
        fake.vector_conditional_error(),
        fake.strong_error() / 2,
    ]


class TestTheorems:
    @given(classifiers(n_classes=3, n_atoms=(2, 2)))
    def test_two_atoms_of_three_classes_that_are_class_wise_calibrated_are_strongly_so(self, fake):
        assert any(fake.class_wise_errors()) or fake.strong_error() == 0

    def test_two_atoms_of_four_classes_are_enough(self):
        fake = finite.example("two atoms, four classes")
        assert fake.class_wise_errors() == (0, 0, 0, 0) and fake.expected_error() == 0
        assert (fake.accuracy, fake.best_postprocessing().accuracy) == (F(2, 5), F(3, 5))

    @pytest.mark.slow
    @given(st.data(), classifiers())
    def test_no_lens_shows_more_than_the_whole_vector(self, data, fake):
        assert fake.lens_error(data.draw(lenses(fake))) <= fake.strong_error()

    @pytest.mark.slow
    @given(classifiers())
    def test_the_notions_are_lenses(self, fake):
        assert fake.lens_error(finite.every_class) == fake.strong_error()
        assert fake.lens_error(finite.top_classes(1)) == 2 * fake.expected_error()
        assert fake.lens_error(finite.top_classes(fake.n_classes)) == 0
        for k, error in enumerate(fake.class_wise_errors()):
            assert fake.lens_error(only(k)) == 2 * error

    @pytest.mark.slow
    @given(classifiers())
    def test_jensens_chain(self, fake):
        assert chain(fake) == sorted(chain(fake))
        assert sum(fake.class_wise_errors()) <= fake.strong_error() and fake.strong_error() <= 2

    @pytest.mark.parametrize(
        ("link", "name"),
        [(0, "pivot"), (1, "confidence only"), (2, "six atoms, top label off"), (3, "six atoms")],
    )
    def test_each_link_of_the_chain_can_be_strict(self, link, name):
        if name == "pivot":  # over-confident at .9, under-confident at .6: the mean hides it
            fake = FiniteClassifier(None, [[0.9, 0.1], [0.6, 0.4]], [[0.8, 0.2], [0.7, 0.3]])
        else:
            fake = finite.example(name)
        assert chain(fake)[link] < chain(fake)[link + 1]

    @pytest.mark.slow
    @given(classifiers(n_classes=2))
    def test_with_two_classes_class_wise_is_strong(self, fake):
        assert sum(fake.class_wise_errors()) == fake.strong_error()

    @pytest.mark.slow
    @given(st.data(), classifiers())
    def test_no_map_of_the_output_scores_better_than_the_best(self, data, fake):
        best = fake.best_postprocessing()
        assert best.strong_error() == 0 and best.accuracy >= fake.accuracy
        mapped = data.draw(
            st.lists(vectors(fake.n_classes), min_size=fake.n_atoms, max_size=fake.n_atoms)
        )
        terms = zip(fake.mass, mapped, fake.truth, strict=True)
        brier = sum(
            m * sum(r * (1 - 2 * g) + g * g for g, r in zip(gs, rs, strict=True))
            for m, gs, rs in terms
        )
        assert best.brier <= brier and best.log_loss <= fake.log_loss + 1e-12

    @pytest.mark.slow
    @given(classifiers())
    def test_the_brier_score_is_miscalibration_plus_refinement(self, fake):
        squares = sum(
            m * sum((a - b) ** 2 for a, b in zip(c, r, strict=True))
            for m, c, r in zip(fake.mass, fake.confidence, fake.truth, strict=True)
        )
        assert fake.brier == squares + fake.best_postprocessing().brier


class TestNorms:
    FAKE = FiniteClassifier(["1/4", "3/4"], [[0.9, 0.1], [0.6, 0.4]], [[0.6, 0.4], [0.5, 0.5]])

    def test_by_hand(self):
        assert self.FAKE.expected_error() == F(1, 4) * F(3, 10) + F(3, 4) * F(1, 10)
        assert self.FAKE.expected_error(math.inf) == F(3, 10)
        assert self.FAKE.expected_error(2) == pytest.approx(math.sqrt(0.25 * 0.09 + 0.75 * 0.01))
        assert self.FAKE.strong_error(2) == pytest.approx(math.sqrt(2 * 0.03))
        assert self.FAKE.class_wise_errors(2)[0] == pytest.approx(math.sqrt(0.03))

    @pytest.mark.parametrize("norm", [0, 0.5, -1, math.nan, "2", True, None])
    def test_bad_norms_are_refused(self, norm):
        with pytest.raises(ValueError, match="norm must be a number of at least 1"):
            self.FAKE.expected_error(norm)


class TestLenses:
    def test_super_classes(self):
        fake = FiniteClassifier(None, [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]], [[0, 0.8, 0.2]] * 2)
        assert fake.lens_error(lambda stated: "aab") == 0 and fake.lens_error(only(0)) > 0

    def test_atoms_that_look_alike_are_pooled(self):
        fake = FiniteClassifier(
            None, [[0.5, 0.3, 0.2], [0.3, 0.5, 0.2]], [[0.5, 0.2, 0.3], [0.3, 0.6, 0.1]]
        )
        assert fake.lens_error(only(2)) == 0 and fake.lens_error(finite.every_class) > 0

    def test_a_group_that_is_absent_looks_like_one_of_probability_0(self):
        stated = [["1/2", "1/2", 0], ["1/4", "3/4", 0]]
        fake = FiniteClassifier(None, stated, [["1/2", "1/4", "1/4"], stated[1]], ties="lowest")
        lens = {fake.confidence[0]: "aab", fake.confidence[1]: "aaa"}.__getitem__
        # Both are seen as "a: 1"; the truth is b with 1/4 on one atom, so 1/8 on average.
        assert fake.lens_error(lens) == F(1, 8) + F(1, 8)
        assert fake.lens_error(lens, math.inf) == F(1, 8)

    def test_the_top_two(self):
        assert list(finite.top_classes(2)((0.2, 0.3, 0.5))) == [False, True, True]
        assert list(finite.top_classes(1)((0.4, 0.4, 0.2))) == [True, False, False]

    def test_a_lens_with_too_few_groups_is_refused(self):
        with pytest.raises(ValueError, match="2 groups for 3 classes"):
            finite.example("three atoms").lens_error(lambda stated: "ab")


class TestSampling:
    N = 200_000

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["three atoms", "class-wise only", "confidence only"])
    def test_frequencies_converge(self, name):
        """Each of at most 27 cells within 4.5 standard errors: one false alarm in 5,000 runs."""
        fake = finite.example(name)
        sample = fake.sample(self.N, rng=7)
        assert sample.y_prob.shape == sample.true_prob.shape == (self.N, fake.n_classes)
        for mass, stated, true in zip(fake.mass, fake.confidence, fake.truth, strict=True):
            rows = (sample.y_prob == np.array(stated, dtype=float)).all(axis=1)
            for k, r in enumerate(true):
                share = float(mass * r)
                found = (rows & (sample.y_true == k)).mean()
                assert abs(found - share) <= 4.5 * math.sqrt(share * (1 - share) / self.N)
            assert np.array_equal(
                np.unique(sample.true_prob[rows], axis=0)[0], np.array(true, float)
            )

    def test_what_has_probability_0_never_happens(self):
        fake = FiniteClassifier(None, [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], [[0, 1, 0], [0, 0, 1]])
        sample = fake.sample(10_000, rng=0)
        assert np.array_equal(sample.y_true == 2, sample.y_prob[:, 2] == 0.6)
        assert set(sample.y_true) == {1, 2}


class TestInput:
    @pytest.mark.parametrize(
        "stated", [[0.1, 0.9], ["1/10", ".9"], np.array([0.1, 0.9]), np.float32([0.1, 0.9])]
    )
    def test_numbers_may_be_written_in_many_ways(self, stated):
        wanted = FiniteClassifier([F(1)], [[F(1, 10), F(9, 10)]], [[F(0), F(1)]])
        assert FiniteClassifier(None, [stated], [[0, 1]]) == wanted
        assert hash(wanted) == hash(FiniteClassifier([1], [[0.1, 0.9]], [[0, 1]]))

    def test_ties_are_broken_only_when_asked(self):
        fake = FiniteClassifier(None, [[0.5, 0.5]], [[0.2, 0.8]], ties="lowest")
        assert fake.predicted == (0,) and fake.accuracy == F(1, 5)
        with pytest.raises(ValueError, match='ties must be "reject" or "lowest"'):
            FiniteClassifier(None, [[1, 0]], [[1, 0]], ties="random")


test_bad_classifiers_are_refused = refuses(
    (
        lambda: FiniteClassifier(None, [[0.5, 0.4]], [[1, 0]]),
        r"confidence\[0\] sums to 9/10, not exactly 1",
    ),
    (lambda: FiniteClassifier(None, [[1 / 3, 2 / 3]], [[1, 0]]), "Write thirds.*'1/3'"),
    (
        lambda: FiniteClassifier(None, [[0.6, 0.4]], [[1.5, -0.5]]),
        r"truth\[0\]\[0\] = 3/2 is not a probability",
    ),
    (
        lambda: FiniteClassifier(None, [["a", 1]], [[1, 0]]),
        r"confidence\[0\]\[0\] = 'a' is not a number",
    ),
    (lambda: FiniteClassifier(None, [[math.nan, 1]], [[1, 0]]), "= nan is not a number"),
    (
        lambda: FiniteClassifier(None, [0.4, 0.6], [[1, 0]]),
        r"confidence\[0\] = 0.4 must be a vector",
    ),
    (lambda: FiniteClassifier(None, [], []), "at least one; got 0, 0 and 0"),
    (
        lambda: FiniteClassifier([1, 0], [[1, 0], [0, 1]], [[1, 0], [0, 1]]),
        r"mass\[1\] = 0 must be positive",
    ),
    (lambda: FiniteClassifier([0.5, 0.4], [[1, 0], [0, 1]], [[1, 0], [0, 1]]), "mass sums to 9/10"),
    (lambda: FiniteClassifier(None, [[1, 0]], [[1, 0, 0]]), "got 2, 3"),
    (
        lambda: FiniteClassifier(None, [[1, 0], [1, 0]], [[1, 0], [0, 1]]),
        "Atoms 0 and 1 state the same vector",
    ),
    (
        lambda: FiniteClassifier(None, [[0.5, 0.5]], [[1, 0]]),
        r"Atom 0 states \(1/2, 1/2\).*tied.*ties=\"lowest\"",
    ),
)


def test_it_says_the_fractions():
    words = finite.example("three atoms").describe()
    assert "3 classes, 3 atoms: accuracy 2/5, mean confidence 2/5" in words
    assert "expected 0, largest class-wise 0, strong 3/5" in words
    assert "accuracy 3/5 and Brier score 12/25 instead of 33/50" in words


def test_log_loss_is_infinite_where_the_impossible_happens():
    assert finite.example("confidence only").log_loss == pytest.approx(
        -(0.5 * (0.9 + 0.7) * math.log(0.8) + 0.5 * (0.1 + 0.3) * math.log(0.2))
    )
    fake = FiniteClassifier(None, [[1, 0]], [["1/2", "1/2"]])
    assert fake.log_loss == math.inf
    assert finite.example("slides").log_loss < math.inf
