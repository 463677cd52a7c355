"""Dirichlet fakes: exact maxima, both readings, distortions, fits by likelihood."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate, optimize, special, stats

from calibkit.fakes import (
    DirichletFake,
    DirichletMixture,
    Distortion,
    Identity,
    LogLinear,
    Power,
    Temperature,
    expected_maximum,
)
from calibkit.fakes.mixtures import fit_dirichlet, without_zeros
from tests.helpers import each_case, golden

GOLDEN = golden("kyle_golden.json")
MIXTURE = DirichletMixture((0.5, 0.3, 0.2), ((8, 1, 1), (1.5, 7.5, 1.5), (2, 2, 6)))
TRUTH, CONFIDENCE = "truth-is-base", "confidence-is-base"


# --- the expected maximum ------------------------------------------------------------------------


def parameters_of(key: str) -> list[float]:
    """Read the parameters out of a golden key such as ``alpha=[1, 2] exponent=.5``."""
    start = min(key.index(c) for c in "([" if c in key)
    end = min(key.index(c) for c in ")]" if c in key)
    return [float(part) for part in key[start + 1 : end].split(",")]


MAXIMA = {
    key: row
    for key, row in {**GOLDEN, **GOLDEN["direction test"]}.items()
    if "emax_quadrature" in row
}


def frequencies(mixture: DirichletMixture) -> np.ndarray:
    """Return the mean probability of each class."""
    return np.array(mixture.weights) @ [np.array(a) / sum(a) for a in mixture.alphas]


@each_case("key", MAXIMA)
def test_golden_expected_maximum(key: str) -> None:
    row = MAXIMA[key]
    alpha = row.get("alpha") or parameters_of(key)
    assert expected_maximum(alpha) == pytest.approx(row["emax_quadrature"], abs=1e-9)


def test_golden_mixture() -> None:
    row = GOLDEN["MultiDirichlet alpha 8,5,3 sigma 1,1.5,2 w .5,.3,.2"]
    assert expected_maximum(MIXTURE) == pytest.approx(row["acc_exact"], abs=1e-9)
    np.testing.assert_allclose(frequencies(MIXTURE), row["class_freq_exact"], atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10, 100, 1000])
def test_uniform_rows_have_the_harmonic_maximum(n_classes: int) -> None:
    harmonic = sum(Fraction(1, k) for k in range(1, n_classes + 1)) / n_classes
    assert expected_maximum(np.ones(n_classes)) == pytest.approx(float(harmonic), abs=1e-14)
    # Second moment: E max G^2 = (H_K)^2 + sum 1/k^2, divided by K (K + 1).
    square = (harmonic * n_classes) ** 2 + sum(Fraction(1, k**2) for k in range(1, n_classes + 1))
    expected = float(square / (n_classes * (n_classes + 1)))
    assert expected_maximum(np.ones(n_classes), 2) == pytest.approx(expected, abs=1e-13)


def test_golden_harmonic_values(subtests: pytest.Subtests) -> None:
    for k, value in golden("fakes_misc.json")["E max of Dirichlet(1..1)"].items():
        with subtests.test(k=k):
            assert expected_maximum([1] * int(k)) == pytest.approx(
                float(Fraction(value)), abs=1e-14
            )


@settings(max_examples=60)
@given(st.floats(-2, 3), st.floats(-2, 3), st.integers(1, 3))
def test_two_classes_agree_with_a_beta_integral(log_a: float, log_b: float, order: int) -> None:
    a, b = 10**log_a, 10**log_b

    def part(a: float, b: float) -> float:  # E[X^m; X > 1/2] in closed form
        moment = np.exp(special.betaln(a + order, b) - special.betaln(a, b))
        return float(moment * special.betaincc(a + order, b, 0.5))

    assert expected_maximum([a, b], order) == pytest.approx(part(a, b) + part(b, a), rel=1e-11)


@pytest.mark.parametrize(
    ("alpha", "limit"),
    [
        ([1e-12, 1e-12], 1.0),
        ([1e-300, 1e-300, 1e-300], 1.0),
        ([1e9] * 4, 0.25),
        ([1e-3, 1e7], 1.0),
        ([1e-5, 1e4, 1e4], 0.5),
    ],
)
def test_extreme_parameters(alpha: list[float], limit: float) -> None:
    assert expected_maximum(alpha) == pytest.approx(limit, abs=5e-3)
    assert expected_maximum(alpha, 2) == pytest.approx(limit**2, abs=5e-3)


# --- the two readings ----------------------------------------------------------------------------


def binary_rows() -> list:
    rows = []
    for key, row in GOLDEN["direction test"].items():
        for name, exact in row.items():
            if name.startswith("exact (reading"):
                reading = TRUTH if name.startswith("exact (reading 1") else CONFIDENCE
                rows.append((parameters_of(key), float(key.rpartition("=")[2]), reading, exact))
    return rows


@pytest.mark.parametrize(("alpha", "exponent", "reading", "exact"), binary_rows())
def test_golden_binary_truth(alpha, exponent, reading, exact) -> None:
    truth = DirichletFake(alpha, Power(exponent), reading).truth()
    assert truth.accuracy == pytest.approx(exact["acc"], abs=1e-9)
    assert truth.expected == pytest.approx(exact["ECE"], abs=1e-9)
    assert truth.class_wise == pytest.approx(exact["cwECE_1"], abs=1e-9)


@pytest.mark.parametrize(("exponent", "sign"), [(2.0, 1), (0.5, -1)])
def test_the_same_distortion_gives_opposite_classifiers(exponent: Any, sign: Any) -> None:
    """The published sampler follows one reading, its integrals the other."""
    gaps = []
    for reading in (TRUTH, CONFIDENCE):
        sample = DirichletFake((1, 1, 1), Power(exponent), reading).sample(20_000, rng=0)
        rows, top = np.arange(20_000), sample.y_prob.argmax(axis=1)
        gaps.append(float((sample.y_prob - sample.true_prob)[rows, top].mean()))
    assert sign * gaps[0] > 0.1 and sign * gaps[1] < -0.1
    assert gaps[0] == pytest.approx(-gaps[1], abs=0.005)


@pytest.mark.long
@pytest.mark.parametrize("exponent", [0.3, 1.7])
@pytest.mark.parametrize("alpha", [(1.0, 1.0), (2.0, 0.7), (0.3, 4.0)])
@pytest.mark.parametrize("reading", [TRUTH, CONFIDENCE])
def test_binary_truth_agrees_with_quadrature_over_density(alpha, exponent, reading) -> None:
    truth = DirichletFake(alpha, Power((exponent, 1.0)), reading).truth()

    def said_and_true(x: float) -> tuple[float, float]:
        other = x**exponent / (x**exponent + 1 - x)
        return (other, x) if reading == TRUTH else (x, other)

    def mean(of) -> float:
        def value(t: float) -> float:  # logit scale tames the ends of the density
            log_density = alpha[0] * special.log_expit(t) + alpha[1] * special.log_expit(-t)
            return of(*said_and_true(special.expit(t))) * np.exp(log_density)

        area = integrate.quad(value, -120, 120, limit=2_000, points=(-3, 0, 3), epsabs=1e-11)[0]
        return area / special.beta(*alpha)

    close = {"abs": 1e-7}
    assert truth.accuracy == pytest.approx(mean(lambda c, r: r if c > 0.5 else 1 - r), **close)
    assert truth.mean_confidence == pytest.approx(mean(lambda c, r: max(c, 1 - c)), **close)
    assert truth.class_wise == pytest.approx(mean(lambda c, r: abs(c - r)), **close)
    assert np.isnan(truth.expected)  # both sides share confidences and may cancel


def test_what_is_exact_for_more_classes() -> None:
    top = expected_maximum((2, 3, 4))
    kept = DirichletFake((2, 3, 4), Power(2)).truth()
    assert kept.accuracy == top and np.isnan(kept.expected) and np.isnan(kept.mean_confidence)
    moved = DirichletFake((2, 3, 4), Power((1, 2, 3))).truth()
    assert np.isnan(moved.accuracy)
    cloned = DirichletFake((2, 3, 4), Power((1, 2, 3)), CONFIDENCE).truth()
    assert cloned.mean_confidence == top and np.isnan(cloned.accuracy)
    assert "accuracy" in kept.describe() and "mean confidence" not in kept.describe()


@pytest.mark.parametrize("base", [(0.4, 1.0, 2.5), MIXTURE], ids=["one", "mixture"])
def test_without_distortion_everything_is_known(base, subtests: pytest.Subtests) -> None:
    truth = DirichletFake(base).truth()
    sample = DirichletFake(base).sample(200_000, rng=0)
    c = sample.true_prob
    np.testing.assert_array_equal(c, sample.y_prob)
    top = c.max(axis=1)
    for name, values in {"accuracy": top, "top_label_brier": top * (1 - top)}.items():
        with subtests.test(name=name):
            error = values.std() / np.sqrt(len(values))
            assert abs(getattr(truth, name) - values.mean()) < 4 * error, name
    assert truth.expected == truth.strong == truth.class_wise == truth.maximum == 0
    assert truth.mean_confidence == truth.accuracy


@each_case("alpha", [(0.002, 0.001, 0.003), (1e-4, 50.0, 3.0)])
@each_case("distortion", [Identity(), Power(0.2), Power((3, 1, 0.3)), Temperature(5)])
@each_case("reading", [TRUTH, CONFIDENCE])
def test_samples_of_extreme_bases_are_probabilities(alpha, distortion, reading) -> None:
    sample = DirichletFake(alpha, distortion, reading).sample(2_000, rng=0)
    both = np.stack([sample.y_prob, sample.true_prob])
    assert np.all(np.isfinite(both)) and both.min() >= 0
    np.testing.assert_allclose(both.sum(axis=2), 1, atol=1e-12)
    assert np.all(sample.true_prob[np.arange(2_000), sample.y_true] > 0)


# --- distortions ---------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn):
    k = draw(st.integers(2, 5))
    row = st.lists(st.sampled_from([0.0, 1e-12, 0.01, 0.3, 1.0]), min_size=k, max_size=k)
    weights = np.array(draw(st.lists(row, min_size=1, max_size=4))) + 0.0
    weights[weights.sum(axis=1) == 0, 0] = 1
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def distorted(draw: st.DrawFn):
    table = draw(tables())
    k = table.shape[1]
    exponent = st.floats(0.1, 10)
    several = st.lists(exponent, min_size=k, max_size=k).map(tuple)
    kind = draw(
        st.one_of(
            st.just(Identity()),
            (exponent | several).map(Power),
            exponent.map(Temperature),
            st.floats(0.1, 10).map(lambda t: LogLinear(np.eye(k) + t)),
        )
    )
    return table, kind


@pytest.mark.slow
@settings(max_examples=60)
@given(distorted())
def test_distortions_stay_on_the_simplex(case: tuple[np.ndarray, Distortion]) -> None:
    table, distortion = case
    before = table.copy()
    result = distortion(table)
    np.testing.assert_array_equal(table, before)
    assert result.shape == table.shape and result.min() >= 0
    np.testing.assert_allclose(result.sum(axis=1), 1, atol=1e-12)
    if distortion.keeps_order:
        for row, new in zip(table, result, strict=True):
            assert np.all(np.diff(new[np.argsort(row)]) >= -1e-15)


def test_temperature_is_a_power_and_composes() -> None:
    table = np.random.default_rng(0).dirichlet([1, 2, 3], 20)
    np.testing.assert_allclose(Temperature(2)(table), Power(0.5)(table), atol=1e-15)
    np.testing.assert_allclose(Power(2)(Power(3)(table)), Power(6)(table), atol=1e-14)


@each_case(
    ("build", "message"),
    [
        (lambda: Power(0), "exponents must be a positive finite number"),
        (lambda: Power((1, -2)), r"exponents\[1\] must be a positive finite number, got -2"),
        (lambda: Power((1, 2, 3))([[0.5, 0.5]]), "3 exponents, but .* 2 classes"),
        (lambda: Temperature(-1), "temperature must be a positive finite number"),
        (lambda: Power(2)([0.5, 0.5]), "np.column_stack"),
        (lambda: Power(2)([[0.5, 0.6]]), "sums to 1.1"),
        (lambda: DirichletFake((1,)), "2 or more positive numbers"),
        (lambda: DirichletFake((1, 0)), r"alpha\[1\] must be a positive finite number"),
        (lambda: DirichletFake((1, 1), reading="both"), '"truth-is-base" or "confidence-is-base"'),
        (lambda: DirichletFake((1, 1), np.sqrt), "distortion must be one of"),
        (lambda: DirichletMixture((0.5, 0.5), ((1, 1), (1, 1, 1))), "all with as many classes"),
        (lambda: DirichletMixture((0.5, 0.6), ((1, 1), (1, 2))), "sum to 1"),
        (lambda: DirichletMixture((1.0,), ((1, -1),)), r"alphas\[0\]\[1\]"),
        (lambda: expected_maximum([1, 1], 0), "order must be"),
    ],
)
def test_bad_input(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


# --- fits ----------------------------------------------------------------------------------------


def likelihood(alpha: np.ndarray, table: np.ndarray) -> float:
    return float(stats.dirichlet.logpdf(table.T, alpha).sum())


@pytest.mark.parametrize(
    "alpha", [(8.0, 4.0, 2.0), (0.3, 0.5), (1.0, 1.0, 1.0, 1.0, 1.0), (300.0, 20.0), (0.7, 40.0)]
)
def test_the_fit_is_a_maximum_and_finds_the_truth(alpha: tuple[float, ...]) -> None:
    table = np.random.default_rng(1).dirichlet(alpha, 4_000)
    fitted = fit_dirichlet(table, np.arange(len(alpha)))
    score = special.digamma(fitted.sum()) - special.digamma(fitted) + np.log(table).mean(axis=0)
    np.testing.assert_allclose(score, 0, atol=1e-9)
    # Standard errors from the inverse of the information matrix; five of them: 6e-7 per number.
    information = np.diag(special.polygamma(1, np.array(alpha))) - special.polygamma(1, sum(alpha))
    error = np.sqrt(np.diag(np.linalg.inv(information)) / 4_000)
    assert np.all(np.abs(fitted - alpha) < 5 * error)


def test_tied_parameters_are_the_constrained_maximum() -> None:
    table = np.random.default_rng(3).dirichlet((5.0, 1.0, 0.8, 1.2), 300)
    fitted = fit_dirichlet(table, np.array([0, 1, 1, 1]))
    assert fitted[1] == fitted[2] == fitted[3]
    best = optimize.minimize(
        lambda t: -likelihood(np.exp(t)[[0, 1, 1, 1]], table), np.zeros(2), method="BFGS"
    )
    np.testing.assert_allclose(fitted[:2], np.exp(best.x), rtol=1e-5)


def test_one_row_is_enough_for_tied_parameters() -> None:
    table = [[0.2, 0.7, 0.1], [0.3, 0.6, 0.1], [0.5, 0.2, 0.3]]
    assert len(DirichletMixture.fit(table, tied=True).alphas) == 2
    with pytest.raises(ValueError, match="class 0 is predicted in 1 row"):
        DirichletMixture.fit(table)
    with pytest.raises(ValueError, match="class 0 is predicted in 1 row"):
        DirichletMixture.fit([*table[:2], [0.5, 0.25, 0.25]], tied=True)


def test_a_clone_has_the_mean_confidence_of_the_original() -> None:
    original = DirichletMixture((0.5, 0.3, 0.2), ((30, 1, 2), (1, 20, 3), (2, 3, 25)))
    table = original.draw(20_000, rng=0)
    clone = DirichletMixture.fit(table)
    assert expected_maximum(clone) == pytest.approx(table.max(axis=1).mean(), abs=5e-3)
    np.testing.assert_allclose(frequencies(clone), table.mean(axis=0), atol=5e-3)
    assert clone.weights[0] == pytest.approx(0.5, abs=0.02)
    tied = DirichletMixture.fit(table, tied=True)
    assert all(len(set(alpha)) == 2 for alpha in tied.alphas)
    fake = DirichletFake(clone, Power(0.7), CONFIDENCE)
    assert fake.truth().mean_confidence == pytest.approx(expected_maximum(clone))


def test_two_classes_and_zeros_can_be_fitted() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.8, 1_000)
    table = np.column_stack([p, 1 - p])
    fitted = fit_dirichlet(table, np.arange(2))
    a, b, *_ = stats.beta.fit(p, floc=0, fscale=1)
    np.testing.assert_allclose(fitted, (a, b), rtol=1e-4)
    rounded = np.round(table, 2)
    assert rounded.min() == 0
    clone = DirichletMixture.fit(rounded)
    assert len(clone.alphas) == 2 and np.all(np.isfinite(clone.alphas))
    single = DirichletMixture.fit(rounded.astype(np.float32))
    np.testing.assert_allclose(single.alphas, clone.alphas, rtol=1e-4)


def test_a_single_zero_moves_the_fit_little() -> None:
    table = np.random.default_rng(0).dirichlet((0.05, 5.0), 2_000)
    table[0] = 0, 1
    alpha = fit_dirichlet(without_zeros(table), np.arange(2))
    np.testing.assert_allclose(alpha, (0.05, 5.0), rtol=0.1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: DirichletMixture.fit([[0.5, 0.5]] * 2), "2 rows without any variation"),
        (lambda: DirichletMixture.fit([[1, 0], [0, 1]]), "class 0 is predicted in 1 row without"),
        (
            lambda: DirichletMixture.fit([[0.2, 0.8], [0.3, 0.7], [0.9, 0.1]]),
            "class 0 is predicted in 1 row without .* tied=True",
        ),
    ],
)
def test_bad_fits(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_a_mixture_draws_from_its_components() -> None:
    rows = MIXTURE.draw(50_000, rng=0)
    error = rows.std(axis=0) / np.sqrt(50_000)
    assert np.all(np.abs(rows.mean(axis=0) - frequencies(MIXTURE)) < 4 * error)
    np.testing.assert_array_equal(MIXTURE.draw(20, 5), MIXTURE.draw(20, 5))
