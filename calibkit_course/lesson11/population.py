"""Rows of predictions with their true probabilities; the look-alike of a network."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from calibkit.fakes import KnobClassifier
from calibkit.inputs import FloatVector, Rng, as_predictions, data_generator
from calibkit.results import Frozen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Population(Frozen):
    """Predictions with the true probabilities behind their labels: what samples are drawn from.

    Both arrays have the shape (n, K). `true_prob` holds 0 and 1 where the rows themselves are the
    population.
    """

    y_prob: FloatVector
    true_prob: FloatVector
    name: str

    @classmethod
    def of_rows(cls, y_true: Any, y_prob: Any, *, name: str = "rows") -> Self:
        """Take labelled rows for the population itself."""
        label, prob = as_predictions(y_true, y_prob)
        if prob.ndim != 2:
            raise ValueError(
                f"y_prob must have one column per class, (n, K), got {prob.shape}. For one event "
                "pass the columns 1 - p and p."
            )
        true = np.zeros(prob.shape)
        true[np.arange(len(label)), label] = 1.0
        return cls(y_prob=prob.astype(np.float64), true_prob=true, name=name)

    @classmethod
    def of_fake(cls, fake: Any, n: int, rng: Rng = None, *, name: str = "fake") -> Self:
        """Draw predictions of a fake classifier with K classes, and keep their true chances."""
        sample = fake.sample(n, rng)
        if sample.y_prob.ndim != 2:
            raise ValueError("The fake classifier must have one column per class.")
        return cls(y_prob=sample.y_prob, true_prob=sample.true_prob, name=name)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y_prob)

    @property
    def known(self) -> bool:
        """Whether true chances are known: not only the labels of a file."""
        return bool(((self.true_prob > 0) & (self.true_prob < 1)).any())

    def labels(self, rng: Rng = None) -> NDArray[np.int64]:
        """Draw one label per row; the labels of a file come back as they are."""
        uniform = data_generator(rng).random((self.n, 1))
        return np.asarray((uniform >= self.true_prob[:, :-1].cumsum(axis=1)).sum(axis=1))

    def select(self, rows: NDArray[np.intp]) -> Self:
        """Return the population of some rows."""
        return type(self)(y_prob=self.y_prob[rows], true_prob=self.true_prob[rows], name=self.name)


def top(prob: FloatVector) -> tuple[NDArray[np.intp], FloatVector]:
    """Return the predicted class and its probability."""
    winner = prob.argmax(axis=1)
    return winner, prob[np.arange(len(prob)), winner]


def vgg16_lookalike() -> KnobClassifier:
    """Build the knob classifier that resembles VGG16 on CIFAR-10.

    It matches three numbers of the file that Kumar, Liang and Ma (2019) published: accuracy .936,
    mean confidence .9756, and 91.7 % of the predictions in the last of 15 bins. Two concentrations
    do: about 0.14 and 9.5. With the small one, 64 % of the predictions round to exactly 1, so the
    large one is taken. The likeness has limits: in the last bin the network's mean confidence is
    .997, here .982.
    """
    accuracy, confidence = 0.936, 0.9756
    return KnobClassifier.with_error(
        10, accuracy, confidence - accuracy, concentration=9.533980329365868
    )
