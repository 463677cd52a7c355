"""Maps from the scores of many classes to calibrated probabilities. Lessons 10 and 12.

``fit(scores, y)`` on data that the model has not been trained on, then ``calibrate(scores)``. What
the scores are is declared, ``input="logits"`` or ``input="probabilities"``, and never guessed.

`TemperatureScaling` repairs boldness and keeps the class of the largest score, `VectorScaling` bias
per class as well, `MatrixScaling` and `DirichletCalibrator` confusions between classes. `OneVsRest`
repairs each class on its own, `Reduced` the confidence, `ClassWise` the confidence class by class;
`VennAbers` says how surely. The table in `calibkit.calibrators` says which to take.

The three linear maps have a penalty without tuning, ``penalty="auto"``. `undo_label_smoothing`
inverts a training loss, `Calibrated` joins a scikit-learn classifier and a calibrator fitted on
held-out folds.
"""

from calibkit.multiclass.base import MulticlassCalibrator
from calibkit.multiclass.inverses import undo_label_smoothing
from calibkit.multiclass.linear import DirichletCalibrator, MatrixScaling, VectorScaling
from calibkit.multiclass.meta import Calibrated
from calibkit.multiclass.temperature import TemperatureScaling
from calibkit.multiclass.venn_abers import VennAbers
from calibkit.multiclass.wrappers import ClassWise, OneVsRest, Reduced

__all__ = [
    "Calibrated",
    "ClassWise",
    "DirichletCalibrator",
    "MatrixScaling",
    "MulticlassCalibrator",
    "OneVsRest",
    "Reduced",
    "TemperatureScaling",
    "VectorScaling",
    "VennAbers",
    "undo_label_smoothing",
]
