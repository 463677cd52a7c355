"""Classifiers with finitely many outputs, where every notion of calibration is a fraction.

How far can a classifier be calibrated in one sense and miscalibrated in another? With finitely
many outputs the answer is exact, without bins, samples or rounding. `example` has the small
classifiers that tell the notions apart, `FiniteClassifier` takes your own.

Panchenko (2021), sections 1 and 2 (notions of calibration); the tutorial of Galdran and Riera
(the tables of the slides).
Lesson 02 shows one of them, lesson 12 builds them.
"""

from calibkit.finite.classifier import FiniteClassifier
from calibkit.finite.examples import example, examples
from calibkit.finite.lenses import every_class, merged_classes, one_class, top_classes, top_label

__all__ = [
    "FiniteClassifier",
    "every_class",
    "example",
    "examples",
    "merged_classes",
    "one_class",
    "top_classes",
    "top_label",
]
