"""Class-dependent knobs: cancellation between classes, against independent integration."""

import numpy as np
import pytest
from scipy import stats

from calibkit.fakes import ClassKnobs, KnobClassifier
from tests.helpers import golden, refuses

GOLDEN = golden("fakes_misc.json")["mixture over .4 / under .3, K=2 acc .8 s 4"]


def example(**dials) -> ClassKnobs:
    return ClassKnobs.with_directions(0.8, ("over", "under"), (0.4, 0.3), **dials)


def parts(fake: ClassKnobs, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return density and truth of each class where `z` is reported, by scipy.stats."""
    densities, truths = [], []
    for knob in fake.knobs:
        low, share = 1 / knob.n_classes, knob.budget_share
        mean = (knob.accuracy - low) / (1 - low)
        a, b = mean * knob.concentration, (1 - mean) * knob.concentration
        truths.append((z - share * knob.anchor) / (1 - share))
        density = stats.beta.pdf(truths[-1], a, b, loc=low, scale=1 - low)
        densities.append(density / (1 - share))
    return np.array(densities), np.array(truths)


def test_golden_values() -> None:
    truth = example().truth()
    assert truth.label_conditional == pytest.approx(GOLDEN["exact_label_conditional"], abs=1e-9)
    assert truth.expected == pytest.approx(GOLDEN["ECE"], abs=1e-9)
    assert truth.accuracy == pytest.approx(0.8) and truth.mean_confidence == pytest.approx(0.795)
    # 30 digits of the integral by mpmath, the crossing found by its root finder.
    assert truth.expected == pytest.approx(0.046684128786595762, abs=1e-14)


def test_one_knob_for_all_classes_is_the_knob_classifier() -> None:
    one = KnobClassifier(3, 0.7, budget_share=0.3, concentration=2)
    same = ClassKnobs((one, one, one))
    ours, theirs = same.truth(), one.truth()
    for name in ("accuracy", "expected", "label_conditional", "strong", "brier"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-12), name
    np.testing.assert_array_equal(same.sample(99, 4).y_prob, one.sample(99, 4).y_prob)
    np.testing.assert_array_equal(same.sample(99, 4).y_true, one.sample(99, 4).y_true)


GOOD = KnobClassifier(2, 0.8)


test_bad_knobs = refuses(
    (lambda: ClassKnobs(()), "at least 2, got 0"),
    (lambda: ClassKnobs((GOOD, 0.5)), r"knobs\[1\] must be a KnobClassifier"),
    (lambda: ClassKnobs((GOOD, KnobClassifier(3, 0.8))), r"knobs\[1\] has n_classes=3"),
    (lambda: ClassKnobs((GOOD, KnobClassifier(2, 0.8, budget_share=1))), "not including 1"),
    (lambda: ClassKnobs.with_directions(0.8, ("over",), (0.1, 0.2)), "one entry per class"),
    (lambda: ClassKnobs.with_directions(0.5, ("over",) * 2, (0.1,) * 2), "1/K = 0.5"),
)


def test_true_map_is_the_mixture_of_classes() -> None:
    fake, z = example(), np.array([0.6, 0.75, 0.9])
    density, truth = parts(fake, z)
    expected = (density * truth).sum(axis=0) / density.sum(axis=0)
    np.testing.assert_allclose(fake.true_map(z), expected, atol=1e-12)
    assert np.isnan(fake.true_map(0.3)) and fake.true_map(0.8).shape == ()
