"""Several networks that differ by their seed only, and the mean of their probabilities."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from calibkit._progress import track
from calibkit._validation import as_count, as_generator
from calibkit.multiclass._scores import log_softmax
from calibkit.nets._train import FloatMatrix
from calibkit.nets.classifier import NetClassifier


class DeepEnsemble(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Train the same network several times, and average the probabilities.

    Parameters
    ----------
    member : NetClassifier or None
        The settings of every member, but for the seed; None: ``NetClassifier()``.
    members : int
        How many to train.
    rng : int, numpy.random.Generator or None
        Source of the seeds of the members.
    progress : bool
        Whether to show a progress bar over the members.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, in the order of the columns.
    members_ : list of NetClassifier
        The fitted members.

    Raises
    ------
    ValueError
        By ``fit``, for settings or data that are not valid.
    ImportError
        By ``fit``, where torch is not installed.

    Notes
    -----
    A mean of predictions is less sure than the predictions are. Over-confident members give a
    better calibrated ensemble, calibrated members one that is under-confident. So fit a
    temperature to the logits of the ensemble, after averaging.

    The log loss of the mean is never above the mean of the log losses of the members, for the
    logarithm is concave. Lakshminarayanan, Pritzel and Blundell (2017); Rahaman and Thiery
    (2021) for the order of averaging and scaling. Taught in lesson 10.

    Examples
    --------
    >>> from calibkit import nets
    >>> data = nets.digits()
    >>> member = nets.NetClassifier(hidden=(32,), epochs=4)
    >>> model = nets.DeepEnsemble(member, members=2).fit(data.train_x, data.train_y)
    >>> model.member_proba(data.test_x).shape
    (2, 797, 10)
    """

    classes_: NDArray[Any]
    members_: list[NetClassifier]

    def __init__(
        self,
        member: Any = None,
        members: int = 5,
        *,
        rng: int | np.random.Generator | None = 0,
        progress: bool = False,
    ):
        self.member = member
        self.members = members
        self.rng = rng
        self.progress = progress

    def fit(self, X: Any, y: Any, *, validation: tuple[Any, Any] | None = None) -> Self:
        """Train all members.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Class labels of any type.
        validation : (array-like, array-like) or None
            Passed on to every member.

        Returns
        -------
        self
        """
        member = NetClassifier() if self.member is None else self.member
        if not isinstance(member, NetClassifier):
            raise ValueError(f"member must be a NetClassifier, got {member!r}.")
        count = as_count(self.members, "members")
        # Distinct whole numbers: no two members are the same network.
        seeds = as_generator(self.rng).choice(2**31, size=count, replace=False, shuffle=False)
        fitted = []
        for seed in track(seeds.tolist(), count, show=self.progress, label="members"):
            net = clone(member).set_params(rng=seed)
            fitted.append(net.fit(X, y, validation=validation))
        self.members_, self.classes_ = fitted, fitted[0].classes_
        return self

    def member_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of each member, of shape (members, n, K)."""
        check_is_fitted(self, "members_")
        return np.stack([net.predict_proba(X) for net in self.members_])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the members' probabilities, of shape (n, K)."""
        return np.asarray(self.member_proba(X).mean(axis=0))

    def logits(self, X: Any) -> FloatMatrix:
        """Return the logarithm of the mean probabilities, float32 of shape (n, K).

        It is taken without forming the probabilities, so that small ones do not become 0.
        """
        check_is_fitted(self, "members_")
        log_prob = np.stack([log_softmax(net.logits(X)) for net in self.members_])
        top = log_prob.max(axis=0)
        mean: FloatMatrix = (top + np.log(np.exp(log_prob - top).mean(axis=0))).astype(np.float32)
        return mean

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the logits; of two classes that of the second, minus that of the first."""
        logits = self.logits(X)
        return np.asarray(logits[:, 1] - logits[:, 0]) if logits.shape[1] == 2 else logits

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the largest mean probability."""
        column = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[column])

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by the members."""
        check_is_fitted(self, "members_")
        return int(self.members_[0].n_features_in_)
