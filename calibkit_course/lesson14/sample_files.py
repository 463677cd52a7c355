"""Small files of predictions, each with something to find and a known truth."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibkit.fakes import FakeSample, KnobClassifier, LogitDistortion
from calibkit.results import read_only
from calibkit_course.lesson14.verbal import VerbalModel

ANIMALS = ("cat", "dog", "owl")
_EMPTY_ROWS, _EMPTY_COLUMN = slice(400, 440), 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleFile:
    """Labels and predictions of a bundled file, and what is true about them."""

    name: str
    title: str  # what it claims to be
    y_true: NDArray[np.int64]
    y_prob: NDArray[np.float64]
    class_names: tuple[str, ...] | None  # where there are more than two classes
    truth: str  # what is wrong with it, in words

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y_true)

    def write_csv(self, path: str | PathLike[str]) -> Path:
        """Write the rows as a CSV file, and return its path.

        The column ``label`` holds 0 and 1, or the names of the classes. The column ``p`` holds
        P(label = 1); with more classes there is one column per class, such as ``p_cat``.
        """
        names = self.class_names
        heads = ["p"] if names is None else [f"p_{name}" for name in names]
        with Path(path).open("w", newline="", encoding="utf-8") as stream:
            out = csv.writer(stream)
            out.writerow(["label", *heads])
            table = self.y_prob.reshape(self.n, -1)
            for label, prob in zip(self.y_true.tolist(), table.tolist(), strict=True):
                out.writerow([label if names is None else names[label], *prob])
        return Path(path)


def sample_file(name: str) -> SampleFile:
    """Return one of `SAMPLE_FILES`: drawn from a fake classifier with a fixed seed.

    "broken file" is not valid on purpose: in forty rows the last column is empty, and each label
    stands one row too low. `mended_file` returns it as it should be.
    """
    if name not in _MAKERS:
        raise ValueError(f"there is no sample file {name!r}; there are {', '.join(_MAKERS)}.")
    title, make, truth = _MAKERS[name]
    rows = make()
    y_true, y_prob = rows.y_true, rows.y_prob
    if name == "file in the mail":
        y_true = np.random.default_rng(1).permutation(y_true)
    if name == "broken file":
        y_true, y_prob = np.roll(y_true, 1), np.array(y_prob)
        y_prob[_EMPTY_ROWS, _EMPTY_COLUMN] = 0
    return SampleFile(
        name=name,
        title=title,
        y_true=read_only(y_true),
        y_prob=read_only(y_prob),
        class_names=ANIMALS if y_prob.ndim == 2 else None,
        truth=truth,
    )


def mended_file() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return labels and probabilities of "broken file" as they should be: exercise 14.3."""
    rows = _animals()
    return np.array(rows.y_true), np.array(rows.y_prob)


def _animals() -> FakeSample:
    return KnobClassifier(3, 0.75, budget_share=0.5, direction="under").sample(1200, 14)


_MAKERS: dict[str, tuple[str, Callable[[], FakeSample], str]] = {
    "small clinic": (
        "300 patients of a clinic",
        lambda: LogitDistortion(scores=(0.8, 0.8)).sample(300, rng=4),
        "calibrated: the true probabilities themselves",
    ),
    "file in the mail": (
        "a file that arrived by mail",
        lambda: LogitDistortion(scores=(1.0, 1.5)).sample(1500, rng=14),
        "calibrated, but the labels were shuffled",
    ),
    "screening": (
        "a score for the screening of 2,500 people",
        lambda: LogitDistortion(slope=0.5, scores=(0.5, 2.0)).sample(2500, rng=14),
        "over-confident: logits twice as large as they should be",
    ),
    "language model": (
        "what a language model says of its own answers",
        lambda: VerbalModel().sample(2000, rng=17),
        "few favourite numbers, too high by 23 points on average",
    ),
    "three animals": (
        "pictures of cats, dogs and owls",
        _animals,
        "under-confident, by half of what is possible",
    ),
    "thirty patients": (
        "a pilot study",
        lambda: LogitDistortion(slope=0.8, scores=(1.0, 1.5)).sample(30, rng=14),
        "slightly over-confident, which thirty rows cannot show",
    ),
    "broken file": (
        "the pictures again, after an export",
        _animals,
        "in 40 rows the last column is empty, and all labels stand one row too low",
    ),
}
SAMPLE_FILES: tuple[str, ...] = tuple(_MAKERS)
