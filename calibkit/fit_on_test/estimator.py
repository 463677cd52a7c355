"""Any scikit-learn estimator as a calibrator of one prediction."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from calibkit.calibrators import Calibrator
from calibkit.inputs import FloatVector


@dataclass(eq=False, repr=False)
class EstimatorCalibrator(Calibrator):
    """Use an estimator with ``fit`` and ``predict`` or ``predict_proba`` as a calibrator.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Takes predictions of shape (n, 1) and labels 0 and 1. It is cloned and never changed.

    Attributes
    ----------
    estimator_, converged_ : estimator, bool
        The fitted clone; always True: an estimator that has doubts warns by itself.

    Notes
    -----
    ``predict_proba`` is used where it exists, else ``predict``. If only one label occurs and the
    estimator has learned one class, the map is constant. Where it returns no finite number,
    ``curve`` is a ValueError. Lesson 05 teaches fits on test data.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> model = EstimatorCalibrator(DecisionTreeRegressor(max_leaf_nodes=2))
    >>> model.fit([.1, .2, .6, .9], [0, 0, 1, 1]).calibrate([.3, .7]).tolist()
    [0.0, 1.0]
    """

    loss_name: ClassVar[str] = "its own"
    can_say_zero: ClassVar[bool] = True  # for all that is known

    estimator: Any

    @property
    def family(self) -> str:  # type: ignore[override]
        """Name of the estimator's class."""
        return type(self.estimator).__name__

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        check_estimator(self.estimator)
        self.estimator_ = clone(self.estimator).fit(prob[:, np.newaxis], label.astype(np.int64))
        steps = np.ravel(getattr(self.estimator_, "n_iter_", None) or 0)
        self.n_parameters_, self.n_iter_ = None, int(np.max(steps))

    def _curve(self, prob: FloatVector) -> FloatVector:
        value = np.asarray(self._predict(prob[:, np.newaxis]), dtype=np.float64)
        if value.shape != prob.shape or not np.isfinite(value).all():
            bad = int(np.argmin(np.isfinite(value))) if value.shape == prob.shape else 0
            raise ValueError(
                f"{self.family} returned no finite number for the prediction {prob[bad]:g}. It "
                "must return one probability for each prediction in [0, 1]."
            )
        return value

    def _predict(self, column: FloatVector) -> Any:
        if not hasattr(self.estimator_, "predict_proba"):
            return np.ravel(self.estimator_.predict(column))
        table = np.asarray(self.estimator_.predict_proba(column))
        places = np.flatnonzero(np.asarray(self.estimator_.classes_) == 1)
        return table[:, places[0]] if len(places) else np.zeros(len(table))


def check_estimator(estimator: Any) -> None:
    """Check that something can be cloned, fitted, and asked for predictions."""
    can = hasattr(estimator, "predict") or hasattr(estimator, "predict_proba")
    if isinstance(estimator, type) or not (can and hasattr(estimator, "fit")):
        raise ValueError(
            "An evaluator is a calibrator such as PlattCalibrator(), or an estimator with fit and "
            f"predict or predict_proba, got {estimator!r}."
        )


def as_calibrator(evaluator: Any) -> Calibrator:
    """Return a fresh, unfitted calibrator made of whatever can serve as one."""
    if isinstance(evaluator, Calibrator):
        copy: Calibrator = clone(evaluator)
        return copy
    check_estimator(evaluator)
    return EstimatorCalibrator(evaluator)
