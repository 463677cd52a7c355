"""A classifier with its calibrator: fitted together, on data kept apart or on folds."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, check_cv, cross_val_predict
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter, indexable

from calibkit.calibrators import Calibrator
from calibkit.calibrators.base import AnyCalibrator, Weights
from calibkit.inputs import FloatMatrix, as_count, as_generator, as_weights
from calibkit.multiclass.temperature import TemperatureScaling


class Calibrated(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier whose probabilities are calibrated on held-out data.

    Each fold is predicted by a copy of the classifier that has not seen it, and the calibrator is
    fitted to all these predictions. The classifier itself is then fitted to all data.

    Parameters
    ----------
    estimator : scikit-learn classifier, or None for `LogisticRegression`
    calibrator : MulticlassCalibrator, Calibrator or None
        None: ``TemperatureScaling("probabilities")``. It sees ``predict_proba`` or, for
        ``input="logits"``, ``decision_function``; one of one dimension that of the second of two
        classes.
    cv : int, scikit-learn splitter or "prefit"
        Number of stratified folds, a splitter (or its splits) that holds out every row once, or
        ``"prefit"``: the estimator is fitted, and the data given to ``fit`` are held-out data.
    rng : int, numpy.random.Generator or None
        Shuffles the rows into folds where `cv` is a number. Folds go by the position of rows.

    Attributes
    ----------
    classes_, estimator_, calibrator_
        The labels, in the order of the columns; the classifier, fitted to all data (for
        ``"prefit"`` the one given), and the calibrator.

    Raises
    ------
    ValueError
        By ``fit``, for data that are not valid, a class with fewer rows than folds, or a calibrator
        that does not suit the classifier.

    Notes
    -----
    A calibrator fitted to the data that the classifier was trained on learns how well the
    classifier remembers. Platt (1999) section 2.1 for the folds; Niculescu-Mizil and Caruana
    (2005). Lesson 10 teaches the maps that it wraps.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> round(Calibrated(GaussianNB()).fit(*load_iris(return_X_y=True)).calibrator_.temperature_, 1)
    1.6
    """

    classes_: NDArray[Any]
    estimator_: Any
    calibrator_: AnyCalibrator

    def __init__(self, estimator: Any = None, calibrator: Any = None, cv: Any = 5, rng: Any = 0):
        self.estimator = estimator
        self.calibrator = calibrator
        self.cv = cv
        self.rng = rng

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit classifier and calibrator.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            What the classifier sees.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, for both; with ``"prefit"`` for the calibrator only. Folds
            divide rows: one of weight 2 is in one fold, where two equal rows may be in two.

        Returns
        -------
        self : Calibrated
        """
        X, labels, weight = self._checked(X, y, sample_weight)
        estimator, calibrator = self._inner(), self.calibrator
        if calibrator is None:
            calibrator = TemperatureScaling("probabilities")
        elif not isinstance(calibrator, AnyCalibrator):
            raise ValueError(
                "calibrator must be one of calibkit.multiclass or calibkit.calibrators, got "
                f"{calibrator!r}."
            )
        method = _method(calibrator)
        if isinstance(self.cv, str):
            if self.cv != "prefit":
                raise ValueError(
                    f'cv must be a number of folds, a splitter or "prefit", got {self.cv!r}.'
                )
            check_is_fitted(estimator)
            self.estimator_, self.classes_ = estimator, np.asarray(estimator.classes_)
            scores = _ask(self.estimator_, X, method)
        else:
            self.classes_ = np.unique(labels)
            rows = {} if weight is None else {"sample_weight": weight}
            folds = {"cv": self._folds(labels), "method": method, "params": rows}
            scores = cross_val_predict(estimator, X, labels, **folds)
            self.estimator_ = clone(estimator).fit(X, labels, **rows)
        events = self._view(scores), self._coded(labels)
        self.calibrator_ = clone(calibrator).fit(*events, sample_weight=weight)
        self._take_features_of(self.estimator_)
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[Any], Weights]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: pass the labels.")
        X, y = indexable(X, y)
        if len(y) == 0:
            raise ValueError("X and y are empty; at least two rows of each class are needed.")
        check_classification_targets(y)
        labels = column_or_1d(y, warn=True)
        if sample_weight is None:
            return X, labels, None
        weight = as_weights(sample_weight, len(labels))
        if not (self.cv == "prefit" or has_fit_parameter(self._inner(), "sample_weight")):
            raise ValueError(
                f"{type(self._inner()).__name__}.fit takes no sample_weight, so rows cannot count "
                "differently where it learns. Leave sample_weight out, or fit the classifier first "
                'and use Calibrated with cv="prefit", where the weights are for the calibrator.'
            )
        return X, labels, weight

    def _inner(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _folds(self, labels: NDArray[Any]) -> Any:
        classes, count = np.unique(labels, return_counts=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has only one class, {classes[0]}; a classifier needs at least two."
            )
        if np.iterable(self.cv) or hasattr(self.cv, "split"):
            return check_cv(self.cv)
        n_folds = as_count(self.cv, "cv", minimum=2)
        if count.min() < n_folds:
            raise ValueError(
                f"cv={n_folds} folds need at least {n_folds} rows of each class, but class "
                f"{classes[count.argmin()]} has {count.min()}. Use fewer folds."
            )
        seed = int(as_generator(self.rng).integers(2**31))
        return StratifiedKFold(n_folds, shuffle=True, random_state=seed)

    def _coded(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        place = {label: k for k, label in enumerate(self.classes_.tolist())}
        for row, label in enumerate(labels.tolist()):
            if label not in place:
                raise ValueError(f"y[{row}] = {label} is a class that the estimator has not seen.")
        return np.array([place[label] for label in labels.tolist()], dtype=np.intp)

    def _take_features_of(self, fitted: Any) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags  # only versions that ask for tags have it

        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._inner()).input_tags.sparse
        one_event = isinstance(getattr(self, "calibrator", None), Calibrator)
        tags.classifier_tags.multi_class = not one_event
        return tags

    def _view(self, scores: NDArray[Any]) -> NDArray[Any]:
        columns = scores.shape[1] if scores.ndim == 2 else 2
        if columns != len(self.classes_) or self._of_pairs():
            raise ValueError(
                f"{type(self.estimator_).__name__} gives {columns} scores for "
                f"{len(self.classes_)} classes: those of pairs of classes are no logits. Ask for "
                'one score per class, e.g. decision_function_shape="ovr".'
            )
        if not isinstance(self.calibrator, Calibrator):
            return scores
        name = type(self.calibrator).__name__
        if len(self.classes_) != 2:
            raise ValueError(
                f"{name} calibrates the probability of one event, but there are "
                f'{len(self.classes_)} classes. Use OneVsRest("probabilities", {name}()). Only '
                "binary classification is supported. The type of the target is multiclass."
            )
        return scores[:, 1]

    def _of_pairs(self) -> bool:
        """Tell whether scores belong to pairs of classes; three classes have three pairs."""
        pairs = getattr(self.estimator_, "decision_function_shape", "") == "ovo"
        return pairs and len(self.classes_) > 2 and _method(self.calibrator) != "predict_proba"

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Return calibrated probabilities of rows as in `fit`, of shape (n, K)."""
        check_is_fitted(self)
        scores = _ask(self.estimator_, X, _method(self.calibrator_))
        return self.calibrator_.predict_proba(self._view(scores))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the largest calibrated probability."""
        prob = self.predict_proba(X)
        return np.asarray(self.classes_[prob.argmax(axis=1)])


def _method(calibrator: AnyCalibrator | None) -> str:
    return "decision_function" if getattr(calibrator, "input", "") == "logits" else "predict_proba"


def _ask(estimator: Any, X: Any, method: str) -> NDArray[Any]:
    answer = getattr(estimator, method, None)
    if answer is None:
        raise ValueError(
            f"{type(estimator).__name__} has no {method}, which the calibrator's input asks for."
        )
    return np.asarray(answer(X))
