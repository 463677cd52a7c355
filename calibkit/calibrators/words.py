"""What every calibrator answers in scikit-learn's words, and how it takes weights."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from calibkit.types import FloatVector
from calibkit.validation import as_labels, as_weights

Weights = FloatVector | None

_MOST_REPEATED = 20_000_000  # rows that whole-number weights may stand for


class Answers(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """A classifier whose features are scores, and a transformer that makes them probabilities."""

    # Whether maps of this form may say exactly 0 or 1, so that one surprise makes the log loss
    # infinite (in double precision any form may round to 1); whether `fit` takes all weights.
    can_say_zero: ClassVar[bool] = False
    weighted: ClassVar[bool] = False

    classes_: NDArray[np.intp]
    n_features_in_: int
    n_parameters_: int | None
    converged_: bool
    n_iter_: int

    calibrate: Callable[..., FloatVector]
    _first: ClassVar[str]  # what `fit` is given first

    def transform(self, X: Any) -> FloatVector:
        """Return the calibrated probabilities as `calibrate` does, as a step of a pipeline."""
        return self.calibrate(X)

    def predict_proba(self, X: Any) -> FloatVector:
        """Return a probability per class, (n, K): of one event those of "no" and "yes", (n, 2)."""
        prob = self.calibrate(X)
        return np.column_stack([1 - prob, prob]) if prob.ndim == 1 else prob

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class of the largest calibrated probability, (n,)."""
        place = self.predict_proba(X).argmax(axis=1)  # the first to say that it is not fitted
        return np.asarray(self.classes_[place])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the Brier score with its sign turned, so that larger is better, from -2 to 0.

        Of one event ``-mean (q - y)^2``, of K classes ``-mean sum_k (q_k - 1[y = k])^2``: proper,
        and finite also where a map says 0. Accuracy would not see calibration.
        """
        prob = self.calibrate(X)
        label = as_labels(y, prob)
        hit = label if prob.ndim == 1 else label[:, np.newaxis] == np.arange(prob.shape[1])
        squares = np.square(prob - hit).reshape(len(prob), -1).sum(axis=1)
        weight = None if sample_weight is None else as_weights(sample_weight, len(prob))
        return -float(np.average(squares, weights=weight))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` makes."""
        self._check_fitted()
        if self.n_features_in_ == 1:
            return np.array(["calibrated"], dtype=object)
        names = [f"class_{c}" for c in self.classes_]
        return np.array(getattr(self, "feature_names_in_", names), dtype=object)

    def _check_fitted(self) -> None:
        if not hasattr(self, "converged_"):
            raise NotFittedError(
                f"{type(self).__name__} is not fitted yet; call fit({self._first}, y) first."
            )

    def _weighed(
        self, rows: NDArray[Any], label: NDArray[Any], sample_weight: Any
    ) -> tuple[NDArray[Any], ...]:
        """Return what ``_fit`` is given: scores, labels, and weights where it takes them."""
        if sample_weight is None:
            return rows, label
        weight = as_weights(sample_weight, len(label))
        use = weight > 0
        rows, label, weight = rows[use], label[use], weight[use]
        if self.weighted:
            return rows, label, weight
        count = weight.astype(np.intp)
        if (count != weight).any() or weight.sum() > _MOST_REPEATED:
            row = int(np.flatnonzero(use)[(count != weight).argmax()])
            raise ValueError(
                f"{type(self).__name__} as it is set takes whole numbers as weights, how often a "
                f"row counts, in all at most {_MOST_REPEATED:,}; sample_weight[{row}] = "
                f"{float(np.asarray(sample_weight)[row]):g}, and the sum is {weight.sum():g}. "
                "PlattCalibrator, IsotonicCalibrator and TemperatureScaling take any weights."
            )
        return rows.repeat(count, axis=0), label.repeat(count)

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """Leave nothing of a fit that failed, so that the calibrator says it is not fitted."""
        self.converged_, self.n_iter_ = True, 0
        try:
            yield
        except BaseException:
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
            raise
