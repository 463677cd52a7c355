"""Classifiers with finitely many outputs, where every notion of calibration is a fraction.

How far can a classifier be calibrated in one sense and miscalibrated in another? Here the answer
is exact. `example` has the small classifiers that tell the notions apart, `FiniteClassifier`
takes your own. Panchenko (2021), sections 1 and 2; tables of the slides of Galdran and Riera.
Lessons 02 and 12.
"""

from calibkit_course.finite.classifier import FiniteClassifier
from calibkit_course.finite.examples import example, examples
from calibkit_course.finite.lenses import every_class, top_classes

__all__ = ["FiniteClassifier", "every_class", "example", "examples", "top_classes"]
