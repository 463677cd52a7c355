"""A classifier with finitely many outputs and its exact errors."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.fakes import FakeSample
from calibkit.inputs import as_count, data_generator
from calibkit.results import Result, spell
from calibkit_course.finite._exact import (
    Vector,
    as_fraction,
    as_vector,
    check_atoms,
    check_shapes,
    conditional_gaps,
    cumulative,
    lens_gaps,
    weighted_norm,
)
from calibkit_course.finite.lenses import Lens, every_class


@dataclass(frozen=True, slots=True, repr=False)
class FiniteClassifier(Result):
    """A classifier that states one of finitely many probability vectors, the atoms.

    Parameters
    ----------
    mass : sequence of numbers, or None
        How often each atom occurs; positive, with sum 1. None gives all atoms the same mass.
    confidence, truth : sequence of probability vectors
        What the classifier states, no two equal, and the true probabilities of the K classes
        wherever it states this.
    ties : {"reject", "lowest"}
        An atom with two largest probabilities predicts no class: an error, unless
        ``"lowest"`` breaks the tie in favour of the class with the lowest number.

    Notes
    -----
    Numbers may be fractions, whole numbers, text such as ``"2/3"``, or floats, which stand for
    the decimal that Python prints: 0.1 is 1/10. Everything is computed in exact fractions, so
    vectors must sum to exactly 1. Errors of other norms than 1 and infinity end with a root,
    which is a float.

    With the stated vector C, its largest entry Z, the true vector r(C), the predicted class and
    the event A that it is right, these hold for every classifier (Jensen's inequality):
    ``|E Z - accuracy| <= expected <= label-conditional <= vector-conditional <= strong / 2``.
    Source: Panchenko (2021), sections 1 and 2. Taught in lessons 03 and 12.

    Examples
    --------
    >>> rain = FiniteClassifier(["1/4", "3/4"], [[.2, .8], [.7, .3]], [[.2, .8], [.6, .4]])
    >>> print(rain.expected_error(), rain.accuracy, rain.best_postprocessing().expected_error())
    3/40 13/20 0
    """

    mass: tuple[Fraction, ...]
    confidence: tuple[Vector, ...]
    truth: tuple[Vector, ...]
    _: KW_ONLY
    ties: str = "reject"

    def __post_init__(self) -> None:
        for name in ("confidence", "truth"):
            rows = enumerate(getattr(self, name))
            exact = tuple(as_vector(row, f"{name}[{i}]") for i, row in rows)
            object.__setattr__(self, name, exact)
        n_atoms = len(self.confidence)
        given = [Fraction(1, max(n_atoms, 1))] * n_atoms if self.mass is None else self.mass
        mass = tuple(as_fraction(value, f"mass[{i}]") for i, value in enumerate(given))
        object.__setattr__(self, "mass", mass)
        check_shapes(mass, self.confidence, self.truth)
        check_atoms(self.confidence, self.ties)

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return len(self.mass)

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.confidence[0])

    @property
    def predicted(self) -> tuple[int, ...]:
        """Predicted class of each atom."""
        return tuple(row.index(max(row)) for row in self.confidence)

    @property
    def accuracy(self) -> Fraction:
        """Chance that the predicted class is right."""
        chances = (m * r[k] for (m, _, r), k in zip(self._atoms(), self.predicted, strict=True))
        return sum(chances, Fraction(0))

    @property
    def mean_confidence(self) -> Fraction:
        """Mean of the largest stated probability."""
        return sum((m * max(c) for m, c, _ in self._atoms()), Fraction(0))

    @property
    def brier(self) -> Fraction:
        """Brier score, summed over classes (0 to 2)."""
        terms = (m * (r * (1 - c) ** 2 + (1 - r) * c**2) for m, c, r in self._entries())
        return sum(terms, Fraction(0))

    @property
    def log_loss(self) -> float:
        """Mean negative logarithm of the probability of the label, in nats; may be infinite."""
        total = 0.0
        for m, c, r in self._entries():
            if r > 0:
                total += float("inf") if c == 0 else -float(m * r) * log(c)
        return total

    def _atoms(self) -> Iterator[tuple[Fraction, Vector, Vector]]:
        """Yield mass, stated and true vector of each atom."""
        return zip(self.mass, self.confidence, self.truth, strict=True)

    def _entries(self) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
        """Yield mass, stated and true probability of each class of each atom."""
        for mass, stated, true in self._atoms():
            yield from ((mass, c, r) for c, r in zip(stated, true, strict=True))

    def strong_error(self, norm: float = 1) -> Fraction | float:
        """Distance of stated from true vectors, at most 2: ``(E sum_k |c_k - r_k|^p)^(1/p)``."""
        return self.lens_error(every_class, norm)

    def expected_error(self, norm: float = 1) -> Fraction | float:
        """Calibration error of the predicted class, given its confidence (ECE with norm 1)."""
        return self._top_error(lambda i: max(self.confidence[i]), norm)

    def label_conditional_error(self, norm: float = 1) -> Fraction | float:
        """Calibration error of the predicted class, given the class and its confidence."""
        return self._top_error(lambda i: (self.predicted[i], max(self.confidence[i])), norm)

    def vector_conditional_error(self, norm: float = 1) -> Fraction | float:
        """Calibration error of the predicted class, given the whole stated vector."""
        return self._top_error(lambda i: i, norm)

    def _top_error(self, key: Callable[[int], Hashable], norm: float) -> Fraction | float:
        rows = (
            (key(i), self.mass[i], self.confidence[i][k], self.truth[i][k])
            for i, k in enumerate(self.predicted)
        )
        return weighted_norm(conditional_gaps(rows), norm)

    def class_wise_errors(self, norm: float = 1) -> tuple[Fraction | float, ...]:
        """Calibration error of each class, given the probability stated for that class."""
        return tuple(
            weighted_norm(
                conditional_gaps(
                    (stated[k], mass, stated[k], true[k]) for mass, stated, true in self._atoms()
                ),
                norm,
            )
            for k in range(self.n_classes)
        )

    def lens_error(self, lens: Lens, norm: float = 1) -> Fraction | float:
        """Distance of the stated from the true vectors as seen through a lens of `finite.lenses`.

        ``(E sum_j |s_j - P(group j | s)|^p)^(1/p)`` with the stated probabilities s of the
        groups. With two groups and norm 1 that is twice the error of either group, because both
        sides of a mistake count.
        """
        return weighted_norm(lens_gaps(self._atoms(), lens), norm)

    def best_postprocessing(self) -> "FiniteClassifier":
        """Return the classifier that states the true vector instead: no map of it can be better.

        Atoms with the same truth become one, and ties go to the lowest class.
        """
        mass: dict[Vector, Fraction] = {}
        for m, _, true in self._atoms():
            mass[true] = mass.get(true, Fraction(0)) + m
        return FiniteClassifier(tuple(mass.values()), tuple(mass), tuple(mass), ties="lowest")

    def sample(self, n: int, rng: int | np.random.Generator | None = None) -> FakeSample:
        """Draw `n` predictions with their labels and true probabilities."""
        n, generator = as_count(n, "n"), data_generator(rng)
        atom = np.searchsorted(cumulative(self.mass), generator.random(n), side="right")
        upper = np.array([cumulative(row) for row in self.truth])
        label = (generator.random(n)[:, None] >= upper[atom]).sum(axis=1)
        said, true = (np.array(rows, dtype=np.float64) for rows in (self.confidence, self.truth))
        return FakeSample(y_true=label, y_prob=said[atom], true_prob=true[atom])

    def describe(self) -> str:
        """Say accuracy, confidence, the errors by notion, and what post-processing can win."""
        best = self.best_postprocessing()
        return (
            f"{spell(self.n_classes, 'class', 'classes')}, {spell(self.n_atoms, 'atom')}: "
            f"accuracy {self.accuracy}, mean confidence {self.mean_confidence}. Calibration "
            f"errors: expected {self.expected_error()}, largest class-wise "
            f"{max(self.class_wise_errors())}, strong {self.strong_error()}. The best "
            f"post-processing has accuracy {best.accuracy} and Brier score {best.brier} instead "
            f"of {self.brier}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        columns = {"mass": self.mass}
        for k in range(self.n_classes):
            columns[f"states {k}"] = tuple(row[k] for row in self.confidence)
        for k in range(self.n_classes):
            columns[f"true {k}"] = tuple(row[k] for row in self.truth)
        return {name: np.array([str(v) for v in column]) for name, column in columns.items()}
