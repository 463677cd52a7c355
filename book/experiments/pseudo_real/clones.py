"""Clones of real networks: their scores, a calibration map of our choice, and so a known truth.

A *task* is one binary question to one network: is the predicted label right, or is it a cat? One
half of its predictions gives the clone two things. The scores come from the half's quantiles, drawn
as a polyline. The calibration map is fitted to the half's labels, in each of several *families*, so
that no evaluator is judged by truths of its own kind alone. From then on this map is the truth.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import ClassVar, Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import clone

from book.experiments.pseudo_real.kernel import KernelDensityCalibrator
from book.experiments.synthetic import Unseen
from calibkit import expected_calibration_error
from calibkit.calibrators import (
    BetaCalibrator,
    IsotonicCalibrator,
    PiecewiseLinear,
    PlattCalibrator,
    ScalingBinning,
    TemperatureScaling,
)
from calibkit.calibrators.base import Calibrator
from calibkit.fakes import FakeSample, LogitDistortion
from calibkit.inputs import FloatVector, View, as_count, binary_problem
from calibkit_course import data

# A clone is this many predictions, each with its truth; data sets are drawn from them.
POPULATION = 50_000
# So many other rows of the clone fit the calibrators, as in the source.
CALIBRATION_ROWS = 5_000
# Beyond these logits single precision, in which networks answer, knows only 0 and 1.
STEEPEST = 16.0
# The ends first: a run that is stopped early still shows what more data change.
SIZES, SEEDS = (1_000, 10_000, 3_000), tuple(range(5))


class Task(NamedTuple):
    """One binary question to one network."""

    network: str
    view: View | None
    title: str

    @property
    def of_network(self) -> str:
        """The network in words: what stands before the question."""
        return self.title.rpartition(", ")[0]


TASKS: Final[Mapping[str, Task]] = {
    "densenet-top": Task("cifar100-densenet", "top-label", "DenseNet, CIFAR-100, confidence"),
    "wideresnet-top": Task("cifar10-wideresnet", "top-label", "wide ResNet, CIFAR-10, confidence"),
    "lenet-top": Task("cifar10-lenet", "top-label", "LeNet, CIFAR-10, confidence"),
    "efficientnet-top": Task("imagenet-efficientnet", None, "EfficientNet, ImageNet, confidence"),
    "resnext-top": Task("imagenet-resnext101", None, "ResNeXt, ImageNet, confidence"),
    "vgg16-top": Task("cifar10-vgg16", "top-label", "VGG16, CIFAR-10, confidence"),
    "densenet40-10-top": Task("cifar10-densenet40", None, "DenseNet40, CIFAR-10, confidence"),
    "densenet40-100-top": Task("cifar100-densenet40", None, "DenseNet40, CIFAR-100, confidence"),
    "resnet110-10-top": Task("cifar10-resnet110", None, "ResNet110, CIFAR-10, confidence"),
    "resnet110-100-top": Task("cifar100-resnet110", None, "ResNet110, CIFAR-100, confidence"),
    "resnet50-top": Task("birds-resnet50", None, "ResNet50, birds, confidence"),
    "resnet101-top": Task("imagenet-resnet101", None, "ResNet101, ImageNet, confidence"),
    "resnet34-top": Task("imagenet-resnet34", None, "ResNet34, ImageNet, confidence"),
    "mobilenet-top": Task("imagenet-mobilenet", None, "MobileNet, ImageNet, confidence"),
    "efficientnet-b1-top": Task(
        "imagenet-efficientnet-b1", None, "EfficientNet-B1, ImageNet, confidence"
    ),
    "inception-top": Task("imagenet-inception", None, "Inception, ImageNet, confidence"),
    "wideresnet-cat": Task("cifar10-wideresnet", 3, "wide ResNet, CIFAR-10, cat or not"),
    "wideresnet-dog": Task("cifar10-wideresnet", 5, "wide ResNet, CIFAR-10, dog or not"),
    "lenet-car": Task("cifar10-lenet", 1, "LeNet, CIFAR-10, car or not"),
    "lenet-cat": Task("cifar10-lenet", 3, "LeNet, CIFAR-10, cat or not"),
}
# One more that needs no file: for tests, and to try the command.
MADE: Final = "made"

# Families of the true map, fitted to a network's own labels.
TRUTHS: Final[Mapping[str, Calibrator]] = {
    "Platt": PlattCalibrator(),
    "beta": BetaCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "PL3": PiecewiseLinear("logit"),
    "KDE": KernelDensityCalibrator(),
}


class TemperatureMap(Calibrator):
    """Temperature scaling of two classes: ``logit c(p) = logit(p) / T``."""

    family: ClassVar[str] = "temperature"
    loss_name: ClassVar[str] = "log loss"

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        scaling = TemperatureScaling("logits").fit(logit(prob), label.astype(np.int64))
        self.temperature_, self.n_parameters_ = scaling.temperature_, 1
        self.converged_, self.n_iter_ = scaling.converged_, scaling.n_iter_

    def _curve(self, prob: FloatVector) -> FloatVector:
        fitted: FloatVector = expit(logit(prob) / self.temperature_)
        return fitted


# What stands between the network and the test set; "none" leaves the network as it is.
NONE: Final = "none"
CALIBRATORS: Final[Mapping[str, Calibrator | None]] = {
    NONE: None,
    "Platt": PlattCalibrator(),
    "beta": BetaCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "PL3": PiecewiseLinear("logit"),
    "ScaleBin": ScalingBinning(10),
    "temperature": TemperatureMap(),
}


class Scores(NamedTuple):
    """Predictions and labels of one half of a network's test set, in rising order."""

    prob: FloatVector
    label: NDArray[np.int64]


def halves(task: str) -> tuple[Scores, Scores]:
    """Return the half that makes the clone, and the other one, on which it can be checked."""
    if task == MADE:
        sample = LogitDistortion(0.6, -0.3, (3.0, 1.0)).sample(8000, rng=0)
        prob, label = sample.y_prob, sample.y_true
    else:
        network = data.load(TASKS[task].network, original=True)
        problem = binary_problem(network.y_true, network.y_prob, view=TASKS[task].view)
        prob, label = problem.prob.astype(np.float64), problem.label.astype(np.int64)
    order = np.random.default_rng(crc32(task.encode())).permutation(len(prob))
    one, other = (np.sort(rows) for rows in np.array_split(order, 2))
    return _rising(prob[one], label[one]), _rising(prob[other], label[other])


def _rising(prob: FloatVector, label: NDArray[np.int64]) -> Scores:
    inside = expit(np.clip(logit(prob), -STEEPEST, STEEPEST))
    order = np.lexsort((label, inside))
    return Scores(inside[order], label[order])


class Population(NamedTuple):
    """All predictions of a clone, in rising order, and the truth of each."""

    prob: FloatVector
    true_prob: FloatVector


@lru_cache(maxsize=16)
def clone_of(task: str, truth: str) -> Population:
    """Return the clone of a task whose true map belongs to a family."""
    one, _ = halves(task)
    fitted = clone(TRUTHS[truth]).fit(one.prob, one.label)
    place = (np.arange(len(one.prob)) + 0.5) / len(one.prob)
    score = np.interp((np.arange(POPULATION) + 0.5) / POPULATION, place, logit(one.prob))
    prob = expit(score)
    return Population(prob, fitted.calibrate(prob))


@lru_cache(maxsize=16)
def calibrated(task: str, truth: str, calibrator: str, seed: int) -> Population:
    """Return a clone behind a calibrator, and the truth of what the two say together.

    The calibrator is fitted to rows of its own. Its map may not fall: where it does, it stays at
    its highest value so far, so equal outputs are neighbours. Where many predictions become one,
    their truth is the mean of their truths; elsewhere each keeps its own.
    """
    raw = clone_of(task, truth)
    recipe = CALIBRATORS[calibrator]
    if recipe is None:
        return raw
    rng = _rng(task, truth, "calibration", seed)
    rows = rng.choice(POPULATION, CALIBRATION_ROWS, replace=False)
    label = (rng.random(CALIBRATION_ROWS) < raw.true_prob[rows]).astype(np.int64)
    fitted = clone(recipe).fit(raw.prob[rows], label)
    prob = np.maximum.accumulate(fitted.calibrate(raw.prob))
    _, group, count = np.unique(prob, return_inverse=True, return_counts=True)
    return Population(prob, (np.bincount(group, raw.true_prob) / count)[group])


def _rng(task: str, truth: str, purpose: str, *numbers: int) -> np.random.Generator:
    return np.random.default_rng([crc32(f"{task} {truth} {purpose}".encode()), *numbers])


@dataclass(frozen=True, order=True, slots=True)
class PseudoSet:
    """One pseudo-real data set, given by its coordinates.

    Parameters
    ----------
    task, truth, calibrator : str
        Which question to which network (`TASKS`, or "made"), the family of the true map
        (`TRUTHS`), and what was done to the predictions (`CALIBRATORS`).
    n, seed : int
        Number of predictions, and seed of the draw.
    """

    task: str
    truth: str
    calibrator: str
    n: int
    seed: int

    def __post_init__(self) -> None:
        for name, known in (
            ("task", (*TASKS, MADE)),
            ("truth", tuple(TRUTHS)),
            ("calibrator", tuple(CALIBRATORS)),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} {getattr(self, name)!r} does not exist; choose one of "
                    f"{', '.join(known)}."
                )
        if as_count(self.n, "n") > POPULATION:
            raise ValueError(f"n must be at most {POPULATION}, the size of a clone, got {self.n}.")
        as_count(self.seed, "seed", minimum=0)

    @property
    def key(self) -> str:
        """The coordinates as the name of a file."""
        return f"{self.seed}-{self.n}-{self.task}-{self.truth}-{self.calibrator}"

    def population(self) -> Population:
        """Return the predictions from which this data set is drawn."""
        return calibrated(self.task, self.truth, self.calibrator, self.seed)

    def sample(self) -> FakeSample:
        """Draw the data: the same rows and labels for all calibrators."""
        rng = _rng(self.task, self.truth, "test", self.n, self.seed)
        rows = np.sort(rng.choice(POPULATION, self.n, replace=False))
        right = rng.random(self.n) < clone_of(self.task, self.truth).true_prob[rows]
        prob, true_prob = self.population()
        return FakeSample(
            y_true=right.astype(np.int64), y_prob=prob[rows], true_prob=true_prob[rows]
        )

    def unseen(self) -> Unseen:
        """Return the whole clone behind the calibrator."""
        return Unseen(*self.population())


@dataclass(frozen=True, slots=True)
class PseudoGrid:
    """All combinations, in the order in which they are measured.

    Seeds come first, then sizes: a run that is stopped leaves a smaller study, not a lopsided one.
    """

    tasks: tuple[str, ...] = tuple(TASKS)
    truths: tuple[str, ...] = tuple(TRUTHS)
    calibrators: tuple[str, ...] = tuple(CALIBRATORS)
    sizes: tuple[int, ...] = SIZES
    seeds: tuple[int, ...] = SEEDS

    def __len__(self) -> int:
        shape = (self.tasks, self.truths, self.calibrators, self.sizes, self.seeds)
        return int(np.prod([len(axis) for axis in shape]))

    def __iter__(self) -> Iterator[PseudoSet]:
        axes = product(self.seeds, self.sizes, self.tasks, self.truths, self.calibrators)
        return (
            PseudoSet(task, truth, calibrator, n, seed) for seed, n, task, truth, calibrator in axes
        )


def missing(tasks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the networks of these tasks whose files are not on this machine."""
    networks = dict.fromkeys(TASKS[task].network for task in tasks if task != MADE)
    return tuple(name for name in networks if not data.available(name, original=True))


def likeness(task: str) -> dict[str, dict[str, float]]:
    """Compare the clones of a task with the half of the network that did not make them.

    Returns the share of ones and the error of 15 bins: of that half, and of as many predictions of
    the clone of each family.
    """
    _, other = halves(task)
    real = {"ones": float(other.label.mean()), "error": _binned_error(other.label, other.prob)}
    found = {"network": real}
    for truth in TRUTHS:
        population, rng = clone_of(task, truth), _rng(task, truth, "likeness")
        rows = np.sort(rng.choice(POPULATION, len(other.prob), replace=False))
        label = (rng.random(len(rows)) < population.true_prob[rows]).astype(np.int64)
        error = _binned_error(label, population.prob[rows])
        found[truth] = {"ones": float(label.mean()), "error": error}
    return found


def _binned_error(label: NDArray[np.int64], prob: FloatVector) -> float:
    return float(expected_calibration_error(label, prob, bins=15))
