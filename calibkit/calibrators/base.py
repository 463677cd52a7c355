"""What every calibrator can do: fit a map, repair predictions, and answer as scikit-learn asks.

`Calibrator` is the base of maps of one probability, `MulticlassCalibrator` (`calibkit.calibrators`)
that of maps of many classes; `AnyCalibrator` is what both share. A calibrator of your own is a
subclass with ``_fit`` and ``_curve``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from calibkit.inputs import FloatVector, as_labels, as_predictions, as_probability_array, as_weights
from calibkit.inputs.containers import refuse_other_order

Weights = FloatVector | None

_MOST_REPEATED = 20_000_000  # rows that whole-number weights may stand for


class AnyCalibrator(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose features are scores, and a transformer that makes them probabilities.

    Attributes
    ----------
    can_say_zero : bool
        Whether the map may say exactly 0 or 1, so that one surprise makes the log loss infinite
        (in double precision any map may round to 1).
    weighted : bool
        Whether `fit` takes weights of any size, and not only whole numbers.
    family, loss_name : str
        What kind of map it is, and what its fit minimises.
    """

    can_say_zero: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    family: ClassVar[str] = ""
    loss_name: ClassVar[str]

    classes_: NDArray[np.intp]
    n_features_in_: int
    n_parameters_: int | None
    converged_: bool
    n_iter_: int

    calibrate: Callable[..., FloatVector]
    _first: ClassVar[str]  # what `fit` is given first

    def transform(self, X: Any) -> FloatVector:
        """Return the calibrated probabilities as `calibrate` does, as a step of a pipeline.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, K)
            Predictions or scores, as in `fit`.

        Returns
        -------
        ndarray of the shape of `X`
        """
        return self.calibrate(X)

    def predict_proba(self, X: Any) -> FloatVector:
        """Return a calibrated probability per class.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, K)
            Predictions or scores, as in `fit`.

        Returns
        -------
        ndarray of shape (n, K)
            One column per class; of one event those of "no" and "yes", (n, 2).
        """
        prob = self.calibrate(X)
        return np.column_stack([1 - prob, prob]) if prob.ndim == 1 else prob

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class of the largest calibrated probability.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, K)
            Predictions or scores, as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
        """
        place = self.predict_proba(X).argmax(axis=1)  # the first to say that it is not fitted
        return np.asarray(self.classes_[place])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the Brier score with its sign turned, so that larger is better, from -2 to 0.

        Of one event ``-mean (q - y)^2``, of K classes ``-mean sum_k (q_k - 1[y = k])^2``: proper,
        and finite also where a map says 0. Accuracy would not see calibration.

        Parameters
        ----------
        X, y : array-like of shape (n,) or (n, K), array-like of shape (n,)
            Predictions or scores, and labels, as in `fit`.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, finite and from 0 on.

        Returns
        -------
        float
        """
        refuse_other_order(X=X, y=y, sample_weight=sample_weight)
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
            bad = (count != weight).argmax()
            raise ValueError(
                f"{type(self).__name__} as it is set takes whole numbers as weights, how often a "
                f"row counts, in all at most {_MOST_REPEATED:,}; "
                f"sample_weight[{np.flatnonzero(use)[bad]}] = {weight[bad]:g}, and the sum is "
                f"{weight.sum():g}. "
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


class Calibrator(AnyCalibrator):
    """A family of maps from predictions to probabilities, and a way to fit one of them.

    Subclasses implement ``_fit`` and ``_curve``; checks of the input are here.

    Attributes
    ----------
    can_say_zero, classes_, n_features_in_
        Whether the map may say exactly 0 or 1; the labels 0 and 1; 1.
    n_parameters_ : int or None
        Number of free parameters of the fitted map; None for non-parametric families.
    converged_, n_iter_ : bool, int
        Whether the fit reached its optimum; steps of the optimiser, 0 where the fit is a formula.
    """

    loss_name: ClassVar[str] = "Brier"
    _first = "p"

    def fit(self, p: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit the map to predictions and what happened.

        Parameters
        ----------
        p : array-like of shape (n,)
            Predicted probabilities of the event.
        y : array-like of shape (n,)
            Labels, 1 where the event happened and 0 elsewhere.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, finite and from 0 on: 2 is the row twice, 0 is no row.
            Families without a weighted fit take whole numbers.

        Returns
        -------
        self : Calibrator

        Raises
        ------
        ValueError
            If the input or an option is not valid (the message names row and value, or what would
            be right), or there are too few rows for the family.
        """
        label, prob = as_predictions(y, p, sample_weight=sample_weight)
        refuse_columns(prob)
        rows = self._weighed(prob.astype(np.float64), label.astype(np.float64), sample_weight)
        with self._learning():
            self._fit(*rows)
            self.classes_, self.n_features_in_ = np.arange(2), 1
        return self

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        # Where `weighted` says so, it takes weights as well.
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        tags.classifier_tags.multi_class = False
        return tags

    def curve(self, p: Any) -> FloatVector:
        """Return the fitted map as it is; it may leave [0, 1]. An evaluator measures this map.

        Parameters
        ----------
        p : array-like of shape (n,)
            Predicted probabilities of the event.

        Returns
        -------
        ndarray of shape (n,)
        """
        self._check_fitted()
        return self._curve(as_column(p))

    def _curve(self, prob: FloatVector) -> FloatVector:
        raise NotImplementedError

    def calibrate(self, p: Any) -> FloatVector:
        """Return the calibrated probabilities: the map cut to [0, 1].

        Parameters
        ----------
        p : array-like of shape (n,)
            Predicted probabilities of the event.

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.clip(self.curve(p), 0.0, 1.0)

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the map as points to draw, x and y, with NaN between separate pieces."""
        x = np.linspace(0, 1, 501)
        return x, self.curve(x)


def as_column(p: Any) -> FloatVector:
    """Check predictions of one event."""
    prob = as_probability_array(p)
    refuse_columns(prob)
    return np.asarray(prob, dtype=np.float64)


def refuse_columns(prob: NDArray[Any]) -> None:
    """Check that there is one probability per row: a table has several events to choose from."""
    if prob.ndim > 1:
        raise ValueError(
            f"p must be one-dimensional, the probability of one event, got shape {prob.shape}. "
            "Take one column, p[:, 1], or choose a view first, e.g. "
            "calibkit.binary_problem(y, p, view='top-label')."
        )


def drawn_apart(
    left: FloatVector, right: FloatVector, heights: tuple[FloatVector, FloatVector]
) -> tuple[FloatVector, FloatVector]:
    """Return straight pieces as one line to draw: the two ends of each, NaN between them."""
    gap = np.full(len(left), np.nan)
    x, y = (np.column_stack([*ends, gap]).ravel()[:-1] for ends in ((left, right), heights))
    return x, y
