"""Synthetic shapes and the look-alike: the sources' data, exact errors, maps."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibkit as ck
from calibkit.fakes import InfeasibleTarget, KnobClassifier, SyntheticShape, vgg16_lookalike
from calibkit.fakes.shapes import DERIVATE_ERRORS, SHAPES
from tests.helpers import GOLDEN, each_case, golden

WEIGHTS = golden("shape_weights.json")
DATA = {
    "square005_n200": (SyntheticShape.with_error("square", 0.05), 200, 0),
    "beta1010_n1000": (SyntheticShape.with_error("beta1", 0.1), 1_000, 1),
    "stairsfull_n1000_ties": (SyntheticShape("stairs"), 1_000, 3),
    "fig1_beta2full_n3000_seed1": (SyntheticShape("beta2"), 3_000, 1),
}


# --- the five shapes -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_golden_weights_of_all_derivates(name: str, subtests: pytest.Subtests) -> None:
    golden_weights = {float(error): weight for error, weight in WEIGHTS[name].items()}
    assert len(golden_weights) == len(DERIVATE_ERRORS) == 21
    for error in DERIVATE_ERRORS:
        with subtests.test(error=error):
            shape = SyntheticShape.with_error(name, error)
            assert shape.weight == pytest.approx(golden_weights[error], abs=1e-9)
            assert shape.true_error() == pytest.approx(error, abs=6e-7)  # six digits, as the source
            exact = SyntheticShape.with_error(name, error, exact=True)
            assert exact.true_error() == pytest.approx(error, abs=1e-14)


@pytest.mark.parametrize("name", DATA)
def test_golden_data(name: str) -> None:
    """Labels, truths and predictions are those of the source's code, bit for bit."""
    shape, n, seed = DATA[name]
    columns = np.loadtxt(GOLDEN / f"shape_data_{name}.csv", delimiter=",", skiprows=1)
    sample = shape.sample(n, seed)
    np.testing.assert_array_equal(sample.true_prob, columns[:, 2])
    np.testing.assert_array_equal(sample.y_true, columns[:, 1])
    # Other processors may round a logarithm or a sine differently.
    np.testing.assert_allclose(sample.y_prob, columns[:, 0], rtol=0, atol=1e-14)


@each_case("name", SHAPES)
@each_case("weight", [0.0, 0.5, 1.0])
def test_the_same_seed_gives_the_same_labels_for_every_shape(name: str, weight: float) -> None:
    wanted = SyntheticShape("square", 0).sample(500, seed=4)
    np.testing.assert_array_equal(wanted.y_prob, wanted.true_prob)
    sample = SyntheticShape(name, weight).sample(500, seed=4)
    np.testing.assert_array_equal(sample.y_true, wanted.y_true)
    np.testing.assert_array_equal(sample.true_prob, wanted.true_prob)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("square", 1 / 6),
        ("sqrt", 1 / 6),
        ("beta1", 0.120023),
        ("beta2", 0.103297),
        ("stairs", 0.114038),
    ],
)
@pytest.mark.parametrize("norm", [1, 2, 3.5])
def test_true_errors(name: str, error: float, norm: float) -> None:
    shape = SyntheticShape(name)
    c = (np.arange(400_000) + 0.5) / 400_000
    midpoint = np.mean(np.abs(shape.predict(c) - c) ** norm) ** (1 / norm)
    assert shape.true_error(norm) == pytest.approx(midpoint, abs=1e-8)
    assert norm != 1 or shape.true_error() == pytest.approx(error, abs=1e-6)
    assert SyntheticShape(name, 0.3).true_error(norm) == pytest.approx(0.3 * midpoint, abs=1e-8)
    assert SyntheticShape(name, 0.0).true_error(norm) == 0


@pytest.mark.slow
@settings(max_examples=50)
@given(st.sampled_from(SHAPES), st.floats(0, 1), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_shapes_are_increasing_and_invertible(name: str, weight: float, points: list) -> None:
    shape = SyntheticShape(name, weight)
    c = np.sort(np.array([0.0, *points, 1.0]))
    p = shape.predict(c)
    assert p[0] == 0 and p[-1] == 1 and np.all((p >= 0) & (p <= 1))
    assert np.all(np.diff(p) >= -1e-15)
    # The map is exact in p; in c as far as the slope of the shape allows.
    np.testing.assert_allclose(shape.predict(shape.true_map(p)), p, rtol=0, atol=1e-15)
    np.testing.assert_allclose(shape.true_map(shape.predict(p)), p, rtol=0, atol=0.03)


@pytest.mark.parametrize("name", SHAPES)
def test_true_map_inverts_derivates_to_rounding(name: str) -> None:
    shape = SyntheticShape.with_error(name, 0.05)
    c = np.linspace(0, 1, 3_001)
    np.testing.assert_allclose(shape.true_map(shape.predict(c)), c, rtol=0, atol=1e-14)
    assert shape.true_map(0.5).shape == () and shape.true_map(c[:6].reshape(2, 3)).shape == (2, 3)


def test_the_steps_of_the_stairs() -> None:
    """Where truths collide after rounding the map gives the middle of those truths."""
    stairs = SyntheticShape("stairs")
    c = np.linspace(1 / 3 - 0.02, 1 / 3 + 0.02, 20_001)
    tied = c[stairs.predict(c) == stairs.predict(1 / 3)]
    assert np.ptp(tied) > 0.005  # not one point: truths that no prediction can tell apart
    middle = float(stairs.true_map(stairs.predict(1 / 3)))
    assert middle == pytest.approx((tied[0] + tied[-1]) / 2, abs=1e-5)
    assert middle == pytest.approx(1 / 3, abs=1e-3)
    top = c = np.linspace(0.98, 1, 20_001)
    top = c[stairs.predict(c) == 1]
    assert float(stairs.true_map(1.0)) == pytest.approx((top[0] + 1) / 2, abs=1e-5)
    assert stairs.true_map(np.array([0, 2 / 3])) == pytest.approx([0, 2 / 3])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SyntheticShape("cube"), 'name must be "square", "sqrt"'),
        (lambda: SyntheticShape("square", 1.1), "between 0 .* and 1"),
        (lambda: SyntheticShape("square").true_map(1.1), r"prob must lie in \[0, 1\]"),
        (lambda: SyntheticShape("square").true_error(0.5), "norm must be"),
        (lambda: SyntheticShape("square").sample(5, None), "seed must be"),
        (lambda: SyntheticShape("square").sample(5, 2**32 - 1), "at most 4294967295"),
    ],
)
def test_bad_shapes(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("error", [0.17, -0.01, float("inf")])
def test_impossible_derivates(error: float) -> None:
    with pytest.raises(InfeasibleTarget, match="from 0 to 0.166667"):
        SyntheticShape.with_error("square", error)


# --- the look-alike ------------------------------------------------------------------------------


def last_bin_mass(fake: KnobClassifier) -> float:
    """Share of predictions whose confidence falls in the last of 15 bins."""
    return 1 - float(fake.law.cdf(fake.true_map(14 / 15)))


def test_the_lookalike_has_the_numbers_of_the_network() -> None:
    fake = vgg16_lookalike()
    truth = fake.truth()
    assert (fake.n_classes, fake.direction) == (10, "over")
    assert truth.accuracy == pytest.approx(0.936, abs=1e-12)
    assert truth.mean_confidence == pytest.approx(0.9756, abs=1e-12)
    assert last_bin_mass(fake) == pytest.approx(0.917, abs=1e-12)
    assert fake is vgg16_lookalike()
    sample = fake.sample(200_000, rng=0)
    confidence = sample.y_prob.max(axis=1)
    assert abs((confidence >= 14 / 15).mean() - 0.917) < 4 * np.sqrt(0.917 * 0.083 / 200_000)
    assert np.mean(confidence == 1) < 0.001  # no heap of certain predictions
    binned = ck.expected_calibration_error(sample.y_true, sample.y_prob, view="top-label")
    assert float(binned) == pytest.approx(truth.expected, abs=0.003)


@pytest.mark.data
def test_the_numbers_are_those_of_the_network() -> None:
    from calibkit_course import data

    if not data.available("cifar10-vgg16", original=True):
        pytest.skip("the predictions of VGG16 are not among the available data")
    real = data.load("cifar10-vgg16", original=True)
    confidence = np.asarray(real.y_prob).max(axis=1)
    hit = np.asarray(real.y_prob).argmax(axis=1) == np.asarray(real.y_true)
    assert hit.mean() == pytest.approx(0.936, abs=5e-4)
    assert confidence.mean() == pytest.approx(0.9756, abs=5e-4)
    assert (confidence >= 14 / 15).mean() == pytest.approx(0.917, abs=5e-4)
