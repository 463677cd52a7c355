"""The papers' experiments: evaluators compared on data whose truth is known.

An evaluator is a calibrator fitted to a test set, and read for the distance between its map and
the diagonal. Which evaluator is closest to the truth? The protocol of Kängsepp, Valk and Kull
(2022) answers on data made to order, by four numbers:

- the distance of the fitted map from the true one, on predictions that nobody has seen;
- the distance of the estimated calibration error from the true one;
- the rank correlation of the two, over classifiers of different quality;
- the calibration error that is left when the map is applied.

`run_study` measures a grid of cells. It runs on any backend of joblib, goes on where it stopped,
and gives the same numbers however many workers share the work. The page "Study" of the book
prints the source's Tables 24 to 27 beside ours.

>>> from book.experiments import synthetic as study
>>> grid = study.Grid(shapes=("square",), errors=(0.0, 0.05), sizes=(1000,), seeds=(0,))
>>> result = study.run_study(grid, study.bin_evaluators(), progress=False)
>>> result.map_error_table().evaluators
('ES15', 'ES_sweep', 'ES_CV')

The experiments of Li's report run on a `Population`, whose truth is known or is a whole file:
`binned_errors` (what bins hide), `compare_calibrators` (histogram binning against
scaling-binning) and `compare_estimators` (plain against debiased). They are in the module
``verified``; the page "Verified" of the book prints the source's figures beside ours.

Kängsepp, Valk and Kull (2022), section 4. Taught in lessons
06 and 11.
"""

from book.experiments.synthetic.evaluators import (
    Derived,
    Direct,
    bin_evaluators,
    default_evaluators,
    ensemble_by_rule,
    first_start,
    fold_ensemble,
    kernel_error,
    more_bins,
    piecewise_evaluators,
    refit_by_rule,
    smooth_evaluators,
    specification,
)
from book.experiments.synthetic.evolution import EVOLVED, EvolvedPieces
from book.experiments.synthetic.grid import Cell, DataSet, Grid, Unseen
from book.experiments.synthetic.measures import Measures, error_after_calibration, measure
from book.experiments.synthetic.published import PUBLISHED
from book.experiments.synthetic.result import StudyResult, StudyTable
from book.experiments.synthetic.runner import measure_all, run_study
from book.experiments.verified import (
    BinnedErrors,
    CalibratorComparison,
    EstimatorComparison,
    Population,
    binned_errors,
    compare_calibrators,
    compare_estimators,
)

__all__ = [
    "EVOLVED",
    "PUBLISHED",
    "BinnedErrors",
    "CalibratorComparison",
    "Cell",
    "DataSet",
    "Derived",
    "Direct",
    "EstimatorComparison",
    "EvolvedPieces",
    "Grid",
    "Measures",
    "Population",
    "StudyResult",
    "StudyTable",
    "Unseen",
    "bin_evaluators",
    "binned_errors",
    "compare_calibrators",
    "compare_estimators",
    "default_evaluators",
    "ensemble_by_rule",
    "error_after_calibration",
    "first_start",
    "fold_ensemble",
    "kernel_error",
    "measure",
    "measure_all",
    "more_bins",
    "piecewise_evaluators",
    "refit_by_rule",
    "run_study",
    "smooth_evaluators",
    "specification",
]
