"""Maps from the scores of many classes to calibrated probabilities. Lessons 10 and 12.

``fit(scores, y)`` on data that the model has not been trained on, then ``calibrate(scores)``. What
the scores are is declared, ``input="logits"`` or ``input="probabilities"``, and never guessed.

=======================  =================  ==================  =============================
class                    parameters         keeps the argmax?   what it repairs
=======================  =================  ==================  =============================
`TemperatureScaling`     1                  yes                 boldness
`VectorScaling`          2K - 1             no                  boldness and bias per class
`MatrixScaling`          K^2 - 1            no                  confusions between classes too
`DirichletCalibrator`    K^2 - 1            no                  the same, of log-probabilities
`OneVsRest`              K maps             no                  each class on its own
`Reduced`                one map            no                  the confidence
`ClassWise`              up to K + 1 maps   no                  the confidence, class by class
`VennAbers`              K intervals        no                  each class, and says how surely
=======================  =================  ==================  =============================

The three linear maps have a penalty without tuning, ``penalty="auto"``. `undo_label_smoothing` and
`undo_focal_loss` invert a training loss, `StructuredMatrixScaling` is other authors' program,
`Calibrated` joins a scikit-learn classifier and a calibrator fitted on held-out folds,
`CrossVennAbers` a calibrator per fold.
"""

from calibkit.multiclass._base import MulticlassCalibrator
from calibkit.multiclass.inverses import undo_focal_loss, undo_label_smoothing
from calibkit.multiclass.linear import DirichletCalibrator, MatrixScaling, VectorScaling
from calibkit.multiclass.meta import Calibrated, CrossVennAbers
from calibkit.multiclass.structured import StructuredMatrixScaling
from calibkit.multiclass.temperature import TemperatureScaling
from calibkit.multiclass.venn_abers import VennAbers
from calibkit.multiclass.wrappers import ClassWise, OneVsRest, Reduced

__all__ = [
    "Calibrated",
    "ClassWise",
    "CrossVennAbers",
    "DirichletCalibrator",
    "MatrixScaling",
    "MulticlassCalibrator",
    "OneVsRest",
    "Reduced",
    "StructuredMatrixScaling",
    "TemperatureScaling",
    "VennAbers",
    "VectorScaling",
    "undo_focal_loss",
    "undo_label_smoothing",
]
