"""The named members of the family that look at every class."""

from typing import Any, Unpack

from calibkit.bins import Bins
from calibkit.errors.family import CalibrationError
from calibkit.errors.named import FIFTEEN, member
from calibkit.inputs import Rows, shows_rows


@shows_rows
def class_wise_calibration_error(
    y_true: Any, y_prob: Any, *, bins: Bins = 15, class_weights: Any = None, **rows: Unpack[Rows]
) -> CalibrationError:
    """Mean over classes of the expected calibration error of each class, which is in ``per_view``.

    ``(1/K) sum_k ECE_k`` with the view "class k" for each k (Panchenko 2021, section 3); also
    called static calibration error. Some authors sum instead of averaging. Taught in lesson 12.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`.
    class_weights : array-like of shape (K,), optional
        How much each class matters, at least 0; by default all alike.
    positive, predicted, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; refused, as a predicted class with its
        confidence has no other classes; what each row counts, at least 0.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> class_wise_calibration_error([0, 1], [[.8, .2], [.3, .7]]).per_view.round(3).tolist()
    [0.25, 0.25]
    """
    name = "class-wise calibration error"
    return member(
        y_true, y_prob, rows, view="class-wise", bins=bins, class_weights=class_weights, name=name
    )


@shows_rows
def marginal_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    norm: float = 2,
    bins: Bins = FIFTEEN,
    class_weights: Any = None,
    **rows: Unpack[Rows],
) -> CalibrationError:
    """Marginal calibration error of Kumar et al. (2019): an l_p norm over classes and bins.

    ``(sum_k v_k sum_b (n_kb / n) |m_kb - f_kb|^p)^(1/p)`` with ``v_k = 1/K`` (their equation 3),
    unless `class_weights` say how much each class matters. For p = 1 it is the class-wise error of
    the same bins. Taught in lesson 12.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    norm, bins : float, int or Binning
        The p, from 1 on or ``numpy.inf``; by default 2 and 15 equal-mass bins, as in the source.
    class_weights : array-like of shape (K,), optional
        How much each class matters, at least 0; by default all alike.
    positive, predicted, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; refused, as a predicted class with its
        confidence has no other classes; what each row counts, at least 0.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(marginal_calibration_error([0, 1], [[.8, .2], [.3, .7]], bins=2)), 4)
    0.255
    """
    fixed = {"view": "class-wise", "name": "marginal calibration error"}
    return member(y_true, y_prob, rows, bins=bins, norm=norm, class_weights=class_weights, **fixed)
