"""The protocols of Li's report: what binned errors hide, which calibrators and estimators serve.

Each protocol runs on a `Population`: rows of predictions with the true probabilities behind their
labels. For a fake classifier these are known. For a file of real predictions the file itself is
the population, as in the source: its labels are the truth, and samples are drawn from its rows.

- `binned_errors`: figure 1, the measured error of a continuous map for more and more bins;
- `compare_calibrators`: figures 5, 6 and 8, calibrators fitted to 1000 rows;
- `compare_estimators`: figures 9, 10 and 11, the plain and the debiased estimate of one error.

The page "Verified" of the book prints all of them. Li's report. Taught in lesson 11.

>>> from calibkit_course.lesson11 import vgg16_lookalike
>>> population = Population.of_fake(vgg16_lookalike(), n=4000, rng=0)
>>> study = binned_errors(population, sizes=(500, 500, 3000), n_splits=5, rng=0)
>>> study.n_bins[:4].tolist()
[2, 4, 8, 16]
"""

from book.experiments.verified.estimators import EstimatorComparison, compare_estimators
from book.experiments.verified.maps import CalibratorComparison, compare_calibrators
from calibkit_course.lesson11.binned import BinnedErrors, binned_errors
from calibkit_course.lesson11.population import Population

__all__ = [
    "BinnedErrors",
    "CalibratorComparison",
    "EstimatorComparison",
    "Population",
    "binned_errors",
    "compare_calibrators",
    "compare_estimators",
]
