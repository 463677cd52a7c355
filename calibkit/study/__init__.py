"""The papers' experiments: evaluators compared on data whose truth is known.

An evaluator is a calibrator fitted to a test set, and read for the distance between its map and
the diagonal. Which evaluator is closest to the truth? The protocol of source 000 answers on data
made to order, by four numbers:

- the distance of the fitted map from the true one, on predictions that nobody has seen;
- the distance of the estimated calibration error from the true one;
- the rank correlation of the two, over classifiers of different quality;
- the calibration error that is left when the map is applied.

`run_study` measures a grid of cells. It runs on any backend of joblib, goes on where it stopped,
and gives the same numbers however many workers share the work. The page "Study" of the book
prints the source's Tables 24 to 27 beside ours.

>>> from calibkit import study
>>> grid = study.Grid(shapes=("square",), errors=(0.0, 0.05), sizes=(1000,), seeds=(0,))
>>> result = study.run_study(grid, study.bin_evaluators(), progress=False)
>>> result.map_error_table().evaluators
('ES15', 'ES_sweep', 'ES_CV')

Import it as ``from calibkit import study``. Source 000 section 4. Taught in lesson 06.
"""

from calibkit.study.evaluators import (
    Derived,
    bin_evaluators,
    default_evaluators,
    ensemble_by_rule,
    piecewise_evaluators,
    refit_by_rule,
    smooth_evaluators,
    specification,
)
from calibkit.study.evolution import EvolvedPieces
from calibkit.study.grid import Cell, DataSet, Grid, Unseen
from calibkit.study.measures import Measures, error_after_calibration, measure
from calibkit.study.published import PUBLISHED
from calibkit.study.result import StudyResult, StudyTable
from calibkit.study.runner import run_study

__all__ = [
    "PUBLISHED",
    "Cell",
    "DataSet",
    "Derived",
    "EvolvedPieces",
    "Grid",
    "Measures",
    "StudyResult",
    "StudyTable",
    "Unseen",
    "bin_evaluators",
    "default_evaluators",
    "error_after_calibration",
    "measure",
    "piecewise_evaluators",
    "ensemble_by_rule",
    "refit_by_rule",
    "run_study",
    "smooth_evaluators",
    "specification",
]
