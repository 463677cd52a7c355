"""A small network as a scikit-learn classifier with logits, and the mean of several."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from calibkit._progress import track
from calibkit._validation import as_count, as_generator
from calibkit.nets._checks import as_features, as_validation, coded, recipe_of
from calibkit.nets._train import FloatMatrix, Rows, predict_logits, train
from calibkit.nets.history import TrainingHistory


class _LogitClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the logits; of two classes that of the second, minus that of the first."""
        logits = self.logits(X)
        return np.asarray(logits[:, 1] - logits[:, 0]) if logits.shape[1] == 2 else logits

    def predict(self, X: Any) -> NDArray[Any]:
        column = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[column])


class NetClassifier(_LogitClassifier):
    """A small neural network for features of shape (n, d), trained by Adam.

    Parameters
    ----------
    architecture : {"mlp", "cnn"}
        ``"mlp"``: dense layers. ``"cnn"``: convolutions of width 5 and stride 2 along the d
        features, which are taken as one signal, then a dense layer. Both with ReLU in between.
    loss, strength : {"cross-entropy", "label-smoothing", "focal", "mixup"}, float or None
        0 is cross-entropy, None the usual value. Label smoothing: the share ``a`` of the label that
        is spread (0.1). Focal loss: the exponent ``gamma``, 0 or at least 1 (3). MixUp: both
        parameters of the Beta distribution of the mixing weight (0.4).
    hidden : sequence of int or None
        Sizes of the hidden layers, or channels; None: (256, 256), or (64, 64, 64).
    weight_decay : float
        Decoupled weight decay, in units of the learning rate; 0.3 is much.
    epochs, batch_size, learning_rate : int, int, float or None
        Passes through the data, all made also where an earlier epoch is kept; rows per step; step
        size of Adam, None: 0.001, for ``"cnn"`` 0.003.
    stop : {"last", "loss", "refined"}
        Whose weights to keep: those of the last epoch, of the epoch with the least validation log
        loss, or of the one with the least validation log loss after temperature scaling.
    keep_logits, progress : bool
        Whether the history stores the validation logits of every epoch; whether to show progress.
    rng : int, numpy.random.Generator or None
        Source of initial weights, of the order of rows and of mixing weights.

    Attributes
    ----------
    classes_, n_features_in_ : ndarray of shape (K,), int
        The labels, in the order of the columns; number of features d.
    history_, weights_ : TrainingHistory, list of ndarray of float32
        What happened in every epoch; weights and biases of the layers in turn.

    Raises
    ------
    ValueError, ImportError
        By ``fit``, for settings or data that are not valid, for a rule `stop` without the
        validation data that it needs, and where torch is not installed.

    Notes
    -----
    Bring the features to a spread of about 1 first. Computation is in single precision with one
    thread, and the same seed gives the same weights on the same machine, bit by bit; torch's number
    of threads and global generator stay as they were. Another order of the rows is another network.
    A network with more weights than rows ends up right about its training data and far too sure
    about others: fit temperature scaling to ``logits(X)`` of held-out data. Guo, Pleiss, Sun and
    Weinberger (2017); the hands-on session of Galdran and Riera. Taught in lesson 10.

    Examples
    --------
    >>> from calibkit import nets
    >>> data = nets.digits()
    >>> net = nets.NetClassifier(hidden=(32,), epochs=30).fit(data.train_x, data.train_y)
    >>> bool(net.score(data.test_x, data.test_y) > 0.85)
    True
    """

    history_: TrainingHistory
    weights_: list[FloatMatrix]
    n_features_in_: int

    def __init__(
        self,
        architecture: str = "mlp",
        *,
        loss: str = "cross-entropy",
        strength: float | None = None,
        hidden: Sequence[int] | None = None,
        weight_decay: float = 0.0,
        epochs: int = 60,
        batch_size: int = 100,
        learning_rate: float | None = None,
        stop: str = "last",
        keep_logits: bool = False,
        rng: int | np.random.Generator | None = 0,
        progress: bool = False,
    ):
        self.architecture = architecture
        self.loss = loss
        self.strength = strength
        self.hidden = hidden
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.stop = stop
        self.keep_logits = keep_logits
        self.rng = rng
        self.progress = progress

    def fit(self, X: Any, y: Any, *, validation: tuple[Any, Any] | None = None) -> Self:
        """Train the network; labels are of any type.

        `validation`: features and labels kept apart, to follow the training and to choose the
        epoch. What is chosen there must be judged on yet other data.
        """
        x = as_features(self, X, reset=True)
        self.classes_, label = coded(x, y)
        recipe = recipe_of(self, x.shape[1], len(self.classes_))
        held_out = as_validation(self, validation)
        rng = as_generator(self.rng)
        self.weights_, self.history_ = train(recipe, Rows(x=x, label=label), held_out, rng)
        return self

    def logits(self, X: Any) -> FloatMatrix:
        """Return the unnormalised log-probabilities, float32 of shape (n, K)."""
        check_is_fitted(self, "weights_")
        return predict_logits(self.weights_, as_features(self, X, reset=False))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the softmax of the logits, of shape (n, K)."""
        return np.asarray(special.softmax(self.logits(X).astype(np.float64), axis=1))


class DeepEnsemble(_LogitClassifier):
    """Train the same network several times, and average the probabilities.

    Parameters
    ----------
    member, members : NetClassifier or None, int
        The settings of every member, but for the seed; None: ``NetClassifier()``. How many to
        train.
    rng, progress
        As in `NetClassifier`; `rng` is the source of the seeds.

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
    under-confident ensemble, so fit a temperature to its logits, after averaging. Its log loss is
    never above the mean of the members', for the logarithm is concave. Lakshminarayanan, Pritzel
    and Blundell (2017); Rahaman and Thiery (2021). Taught in lesson 10.

    Examples
    --------
    >>> from calibkit import nets
    >>> data, member = nets.digits(), nets.NetClassifier(hidden=(32,), epochs=4)
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
        """Return the logarithm of the mean probabilities, float32 (n, K), also of small ones."""
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
