"""The small classifiers that tell the notions of calibration apart."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

from calibkit_course.finite._exact import Vector, as_vector
from calibkit_course.finite.classifier import FiniteClassifier

Atoms = list[tuple[Vector, Vector]]


def _vector(text: str) -> Vector:
    return as_vector(text.split(), text)


def _rotations(stated: str, true: str) -> Atoms:
    """Turn the classes round: class 0 becomes 1, 1 becomes 2, and so on."""
    c, r = _vector(stated), _vector(true)
    return [(c[-k:] + c[:-k], r[-k:] + r[:-k]) for k in range(len(c))]


def _permutations(stated: str, shift: str) -> Atoms:
    """Permute the classes; even permutations add `shift` to the truth, odd ones subtract it."""
    c, d = _vector(stated), [Fraction(part) for part in shift.split()]
    atoms = []
    for order in permutations(range(len(c))):
        inversions = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
        sign = -1 if inversions % 2 else 1
        atoms.append((tuple(c[k] for k in order), tuple(c[k] + sign * d[k] for k in order)))
    return atoms


def _listed(*atoms: str) -> Atoms:
    halves = (atom.split("->") for atom in atoms)
    return [(_vector(stated), _vector(true)) for stated, true in halves]


_EXAMPLES: dict[str, tuple[str, Callable[[], Atoms]]] = {
    "three atoms": (
        "class-wise and confidence-calibrated, and yet every prediction names a class that "
        "another one beats",
        lambda: _rotations(".4 .3 .3", ".4 0 .6"),
    ),
    "three atoms, right winner": (
        "class-wise and confidence-calibrated with the right predictions, but not strongly",
        lambda: _rotations(".6 .2 .2", ".6 0 .4"),
    ),
    "two atoms, four classes": (
        "the same trick with the fewest atoms; three classes need three",
        lambda: _listed(".3 .3 .4 0 -> .6 0 .4 0", ".3 .3 0 .4 -> 0 .6 0 .4"),
    ),
    "four atoms": (
        "class-wise and confidence-calibrated without any symmetry between the classes",
        lambda: _listed(
            ".1 .1 .8 -> .2 0 .8",
            ".1 .3 .6 -> 0 .4 .6",
            ".3 .1 .6 -> .2 .2 .6",
            ".3 .3 .4 -> .4 .2 .4",
        ),
    ),
    "six atoms": (
        "the predicted class is right as often as stated, but the others are not",
        lambda: _permutations(".6 .3 .1", "0 .1 -.1"),
    ),
    "six atoms, top label off": (
        "class-wise and confidence-calibrated on average, over atoms that are all off",
        lambda: _permutations(".6 .3 .1", ".1 -.1 0"),
    ),
    "six atoms, wrong winner": (
        "the same with a larger shift: half of the predictions name the wrong class",
        lambda: _permutations(".5 .4 .1", ".3 -.3 0"),
    ),
    "class-wise only": (
        "calibrated for every class, but not in its confidence",
        lambda: (
            _rotations(".4 .3 .3", ".32 .34 .34")
            + _rotations(".5 .4 .1", ".5 .48 .02")
            + _rotations(".6 .3 .1", ".6 .22 .18")
        ),
    ),
    "confidence only": (
        "two classes: calibrated in its confidence, but for neither class",
        lambda: _listed(".8 .2 -> .9 .1", ".2 .8 -> .3 .7"),
    ),
    "slides": (
        "nine rows of the slides, strongly calibrated",
        lambda: _rotations("2/3 1/3 0", "2/3 1/3 0"),
    ),
    "slides, one label changed": (
        "the same nine rows with another last label: confidence- but not class-wise calibrated",
        lambda: _listed(
            "2/3 1/3 0 -> 2/3 1/3 0", "0 2/3 1/3 -> 0 2/3 1/3", "1/3 0 2/3 -> 0 1/3 2/3"
        ),
    ),
}


def examples() -> dict[str, str]:
    """Return the names of the examples, each with what it shows."""
    return {name: meaning for name, (meaning, _) in _EXAMPLES.items()}


def example(name: str) -> FiniteClassifier:
    """Return one of the small classifiers that tell the notions of calibration apart.

    Six permutations as in Vaicenavicius et al. (2019); the slides are those of Galdran and
    Riera; the others are our own. With three classes, a classifier that is calibrated for every
    class but not strongly has at least three atoms; with four classes two are enough. Taught in
    lessons 02 and 12.

    Parameters
    ----------
    name : str
        A name out of `examples`.

    Examples
    --------
    >>> fake = example("three atoms")
    >>> print(fake.expected_error(), *fake.class_wise_errors(), fake.strong_error())
    0 0 0 0 3/5
    """
    if name not in _EXAMPLES:
        raise ValueError(f"There is no example {name!r}; choose one of: {'; '.join(_EXAMPLES)}.")
    stated, true = zip(*_EXAMPLES[name][1](), strict=True)
    return FiniteClassifier((Fraction(1, len(stated)),) * len(stated), stated, true)
