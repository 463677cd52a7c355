"""The look-alike of VGG16 on CIFAR-10 against the numbers of the network."""

import numpy as np
import pytest

import calibkit as ck
from calibkit_course import data
from calibkit_course.lesson11 import vgg16_lookalike


def test_the_lookalike_has_the_numbers_of_the_network() -> None:
    fake = vgg16_lookalike()
    truth = fake.truth()
    assert (fake.n_classes, fake.direction) == (10, "over")
    assert truth.accuracy == pytest.approx(0.936, abs=1e-12)
    assert truth.mean_confidence == pytest.approx(0.9756, abs=1e-12)
    assert 1 - float(fake.law.cdf(fake.true_map(14 / 15))) == pytest.approx(0.917, abs=1e-12)
    sample = fake.sample(200_000, rng=0)
    confidence = sample.y_prob.max(axis=1)
    assert abs((confidence >= 14 / 15).mean() - 0.917) < 4 * np.sqrt(0.917 * 0.083 / 200_000)
    assert np.mean(confidence == 1) < 0.001  # no heap of certain predictions
    binned = ck.expected_calibration_error(sample.y_true, sample.y_prob, view="top-label")
    assert float(binned) == pytest.approx(truth.expected, abs=0.003)


@pytest.mark.data
def test_the_numbers_are_those_of_the_network() -> None:
    if not data.available("cifar10-vgg16", original=True):
        pytest.skip("the predictions of VGG16 are not among the available data")
    real = data.load("cifar10-vgg16", original=True)
    confidence = np.asarray(real.y_prob).max(axis=1)
    hit = np.asarray(real.y_prob).argmax(axis=1) == np.asarray(real.y_true)
    assert hit.mean() == pytest.approx(0.936, abs=5e-4)
    assert confidence.mean() == pytest.approx(0.9756, abs=5e-4)
    assert (confidence >= 14 / 15).mean() == pytest.approx(0.917, abs=5e-4)
