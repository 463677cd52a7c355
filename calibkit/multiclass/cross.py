"""Venn-Abers with every row used twice: to train the classifier, and to calibrate it."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from calibkit.multiclass._venn import merged
from calibkit.multiclass.meta import OnFolds, ask
from calibkit.multiclass.venn_abers import VennAbers
from calibkit.multiclass.wrappers import normalised

FloatMatrix = NDArray[np.float64]


class CrossVennAbers(OnFolds):
    """A scikit-learn classifier with Venn-Abers calibration on every fold.

    A copy of the classifier is trained on all folds but one, and `VennAbers` is fitted to that
    one. The intervals ``[p0, p1]`` of the folds are joined by their geometric means G,
    ``G(p1) / (G(1 - p0) + G(p1))``.

    Parameters
    ----------
    estimator : classifier or None
        Any scikit-learn classifier with ``predict_proba``; None: `LogisticRegression`.
    cv, rng
        As in `Calibrated`; not ``"prefit"``.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, in the order of the columns.
    estimators_, calibrators_ : list of classifier, list of VennAbers
        The trained copy and the calibrator of each fold.

    Raises
    ------
    ValueError
        By ``fit``, as in `Calibrated`, and if the training data of a fold lack a class.

    Notes
    -----
    Classes are calibrated one against the others, and rows are divided by their sum. The
    guarantee of `VennAbers` holds for each fold, not for what is joined. Taught in lesson 11.
    Vovk, Petej and Fedorova (2015) section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CrossVennAbers(GaussianNB()).fit(X, y)
    >>> lower, upper = model.interval(X[:1])
    >>> bool((lower <= upper).all()), model.predict_proba(X[:1]).shape
    (True, (1, 3))
    """

    estimators_: list[Any]
    calibrators_: list[VennAbers]

    def __init__(self, estimator: Any = None, cv: Any = 5, rng: Any = 0):
        self.estimator = estimator
        self.cv = cv
        self.rng = rng

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a classifier and a calibrator per fold; labels are of any type."""
        X, labels = self._checked(X, y)
        self.classes_ = np.unique(labels)
        folds = self._folds(labels)
        code = self._coded(labels)
        self.estimators_, self.calibrators_ = [], []
        for number, (train, held_out) in enumerate(folds.split(X, labels)):
            if len(np.unique(code[train])) < len(self.classes_):
                raise ValueError(
                    f"Fold {number}: its training rows lack a class. Use stratified folds, or "
                    "fewer of them."
                )
            one = clone(self._inner()).fit(_safe_indexing(X, train), labels[train])
            scores = ask(one, _safe_indexing(X, held_out), "predict_proba")
            self.estimators_.append(one)
            self.calibrators_.append(VennAbers("probabilities").fit(scores, code[held_out]))
        return self

    def _fitted(self) -> Any:
        return self.estimators_[0]

    def _ends(self, X: Any) -> tuple[FloatMatrix, FloatMatrix]:
        """Return lower and upper ends, of shape (folds, n, K)."""
        check_is_fitted(self)
        ends = [
            calibrator.interval(ask(one, X, "predict_proba"))
            for one, calibrator in zip(self.estimators_, self.calibrators_, strict=True)
        ]
        lower, upper = zip(*ends, strict=True)
        return np.stack(lower), np.stack(upper)

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Return the probabilities that the intervals of all folds are joined to, (n, K)."""
        lower, upper = self._ends(X)
        rest = np.exp(np.log(1 - lower).mean(axis=0))
        return normalised(merged(1 - rest, np.exp(np.log(upper).mean(axis=0))))

    def interval(self, X: Any) -> tuple[FloatMatrix, FloatMatrix]:
        """Return the means over folds of the lower and the upper ends, each (n, K)."""
        lower, upper = self._ends(X)
        return np.asarray(lower.mean(axis=0)), np.asarray(upper.mean(axis=0))

    def width(self, X: Any) -> FloatMatrix:
        """Return the mean width of the intervals over folds, (n, K)."""
        lower, upper = self.interval(X)
        return np.asarray(upper - lower)
