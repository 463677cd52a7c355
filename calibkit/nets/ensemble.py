"""Several networks that differ by their seed only, and the mean of their probabilities."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from calibkit._progress import track
from calibkit._validation import as_count, as_generator
from calibkit.nets._train import FloatMatrix
from calibkit.nets.classifier import LogitClassifier, NetClassifier


class DeepEnsemble(LogitClassifier):
    """Train the same network several times, and average the probabilities.

    Parameters
    ----------
    member : NetClassifier or None
        The settings of every member, but for the seed; None: ``NetClassifier()``.
    members : int
        How many to train.
    rng, progress
        As in `NetClassifier`: the source of the seeds, and whether to show a progress bar.

    Attributes
    ----------
    classes_, members_ : ndarray of shape (K,), list of NetClassifier
        The labels, in the order of the columns; the fitted members.

    Raises
    ------
    ValueError, ImportError
        By ``fit``, as in `NetClassifier`.

    Notes
    -----
    A mean of predictions is less sure than the predictions are: calibrated members give an
    ensemble that is under-confident. So fit a temperature to its logits, after averaging. Its log
    loss is never above the mean of those of the members, for the logarithm is concave. Taught in
    lesson 10. Lakshminarayanan, Pritzel and Blundell (2017); Rahaman and Thiery (2021).

    Examples
    --------
    >>> from calibkit import nets
    >>> data = nets.digits()
    >>> member = nets.NetClassifier(hidden=(32,), epochs=4)
    >>> model = nets.DeepEnsemble(member, members=2).fit(data.train_x, data.train_y)
    >>> model.member_proba(data.test_x).shape
    (2, 797, 10)
    """

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
        """Train all members, each as `NetClassifier.fit` says."""
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
        log_prob = special.log_softmax(
            [net.logits(X).astype(np.float64) for net in self.members_], axis=2
        )
        mean = special.logsumexp(log_prob, axis=0) - np.log(len(log_prob))
        return np.asarray(mean, dtype=np.float32)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by the members."""
        check_is_fitted(self, "members_")
        return int(self.members_[0].n_features_in_)
