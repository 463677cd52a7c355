"""The training that lesson 10 follows, fresh or stored, and its stored table of five seeds."""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from calibkit_course.learn import table
from calibkit_course.learn.words import read_words
from calibkit_course.lesson10 import nets
from calibkit_course.lesson10.nets.history import history_of

FOLDER = Path(__file__).parent
RUN, SMOOTHED, TABLE = "run.npz", "smoothed.npz", "networks.json"
EPOCHS = 40
KEPT = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 35, 40)  # epochs whose logits are stored
NOISE = 0.5
_SEED = 10
UNIT = 16  # logits are stored in steps of 1/16; those of the smoothed network, finer
FINE = 128
SMOOTHING = 0.5  # half of each label is spread: far too much

SAY = read_words("10").say
HEADS = ("training", "accuracy", "ECE", "T", "log loss", "difference", "it is")

Logits = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """A training: what happened on the validation images, and logits of all three parts."""

    history: nets.TrainingHistory
    kept: Logits  # of the validation images, after each epoch in KEPT: (12, 1500, 10)
    train: Logits  # at the end: (1000, 10)
    validation: Logits  # at the end: (1500, 10)
    test: Logits  # at the end: (2500, 10)

    def at(self, epoch: int) -> NDArray[np.float64]:
        """Return the probabilities of the validation images after one of the epochs in KEPT."""
        return np.asarray(softmax(self.kept[KEPT.index(epoch)].astype(np.float64), axis=1))


def images() -> nets.Split:
    """Return the noisy digits of the lesson."""
    return nets.mnist_digits(noise=NOISE, seed=_SEED)


def train(step: Any = None) -> Run:
    """Train the lesson's network, with the step given or with the package's own."""
    split, network = images(), nets.image_network(rng=_SEED)
    history = nets.train_network(
        network, split, step=step, epochs=EPOCHS, keep_logits=True, rng=_SEED
    )
    assert history.logits is not None  # asked for above
    parts = [nets.logits_of(network, x) for x in (split.train_x, split.test_x)]
    return Run(
        history=history,
        kept=history.logits[np.array(KEPT) - 1],
        train=parts[0],
        validation=history.logits[-1],
        test=parts[1],
    )


def train_smoothed() -> tuple[Logits, Logits]:
    """Train the network with half of each label spread; logits of validation and test images."""
    split, network = images(), nets.image_network(rng=_SEED)
    options: dict[str, Any] = {"loss": "label-smoothing", "strength": SMOOTHING}
    nets.train_network(network, split, epochs=EPOCHS, rng=_SEED, **options)
    return nets.logits_of(network, split.validation_x), nets.logits_of(network, split.test_x)


@lru_cache(maxsize=1)
def smoothed() -> tuple[Logits, Logits]:
    """Return the stored outputs of `train_smoothed`."""
    with np.load(FOLDER / SMOOTHED) as file:
        parts = [file[name].astype(np.float32) / FINE for name in ("validation", "test")]
    return parts[0], parts[1]


def follow(step: Any = None) -> Run:
    """Train the network by a learner's step; without torch, read the stored outputs, and say so.

    Where the blank ``...`` is left, the package's own step trains.
    """
    if find_spec("torch") is None:
        print(SAY["stored"])
        return stored()
    if not callable(step):
        print(SAY["blank"])
        return train()
    return train(step)


@lru_cache(maxsize=1)
def stored() -> Run:
    """Return the training that comes with the package; `python dev.py networks` makes it anew."""
    with np.load(FOLDER / RUN) as file:
        found = {name: file[name] for name in file.files}
    rows = [tuple(row) for row in found.pop("measured").astype(np.float64).T]
    labels = found.pop("labels").astype(np.int64)
    logits = {name: part.astype(np.float32) / UNIT for name, part in found.items()}
    history = history_of(rows, labels)
    return Run(history=history, validation=logits["kept"][-1], **logits)


@lru_cache(maxsize=1)
def five_seeds() -> dict[str, dict[str, dict[str, Any]]]:
    """Return what is stored: data set, recipe, and each quantity as a list of one per seed.

    Beside them stand the `difference` to cross-entropy in log loss after scaling, `half` its
    interval, and the `verdict` that both allow.
    """
    found: dict[str, dict[str, dict[str, Any]]] = json.loads((FOLDER / TABLE).read_text("utf-8"))
    return found


def compared(data: str) -> str:
    """Return the table of a data set: means of five seeds, and differences with intervals."""
    rows = []
    for name, row in five_seeds()[data].items():
        means = [np.mean(row[key]) for key in ("accuracy", "ece", "temperature", "loss_scaled")]
        beside = f"{row['difference']:+.3f} ± {row['half']:.3f}" if row["half"] else "–"
        rows.append((name, *means, beside, row["verdict"]))
    return table(HEADS, rows, 2)
