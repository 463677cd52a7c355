"""The models of the hospital: one accuracy, four ways to speak of it. Lesson 13."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from calibkit.calibrators import BetaCalibrator
from calibkit.fakes import KnobClassifier
from calibkit.inputs import FloatVector, as_choice
from calibkit_course.lesson13.wards import Ward

_OVER = KnobClassifier(5, 0.8, budget_share=0.5, concentration=3)
_UNDER = KnobClassifier(5, 0.8, budget_share=0.3, direction="under", concentration=3)
CLASSIFIERS = {
    "calibrated": KnobClassifier(5, 0.8, concentration=3),
    "over-confident": _OVER,
    "under-confident": _UNDER,
    "recalibrated": _OVER,
}
MODELS = tuple(CLASSIFIERS)
# Earlier patients from whom the repair of the over-confident model is learned.
N_EARLIER, _SEED = 400, 1313


def belief_of(model: str) -> Callable[[FloatVector], FloatVector]:
    """Return what a model makes of the raw confidence: a repaired one, or the same."""
    as_choice(model, "model", MODELS)
    return _repair() if model == "recalibrated" else np.asarray


@lru_cache(maxsize=1)
def _repair() -> Callable[[FloatVector], FloatVector]:
    """Return a beta map that was fitted to earlier patients of the over-confident model."""
    deal = Ward().deal(CLASSIFIERS["recalibrated"], N_EARLIER, _SEED)
    fitted = BetaCalibrator().fit(deal.seen.ravel(), deal.outcome.ravel())

    def repair(confidence: FloatVector) -> FloatVector:
        flat = np.asarray(confidence).ravel()
        return np.asarray(fitted.calibrate(flat)).reshape(np.shape(confidence))

    return repair
