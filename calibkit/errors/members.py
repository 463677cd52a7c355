"""The named members of the family: each one fixes bins, norm, weights or view."""

from typing import Any

import numpy as np

from calibkit.bins import Bins, EqualMass
from calibkit.errors.family import FIFTEEN, CalibrationError, calibration_error
from calibkit.inputs import View, as_count


def adaptive_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: int = 15,
    positive: Any = None,
    sample_weight: Any = None,
) -> CalibrationError:
    """Mean gap over equal-mass bins: every bin holds the same number of predictions.

    ``sum_b (n_b / n) |m_b - f_b|`` over `EqualMass` bins, fewer where there are ties (Matsubara
    et al. 2023, section 2). Not the *average* error, also called ACE. Lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, positive, sample_weight
        As in `calibration_error`.
    bins : int
        Number of equal-mass bins.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(adaptive_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)), 4)
    0.2
    """
    equal, name = EqualMass(as_count(bins, "bins")), "adaptive calibration error"
    return calibration_error(
        y_true,
        y_prob,
        view=view,
        bins=equal,
        name=name,
        positive=positive,
        sample_weight=sample_weight,
    )


def average_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = 15,
    positive: Any = None,
    sample_weight: Any = None,
) -> CalibrationError:
    """Mean gap with all used bins alike, however few predictions they hold.

    ``(1/M) sum_b |m_b - f_b|`` over the M occupied bins. Some libraries call this ACE. Thinly
    filled bins count as much as full ones, which makes it noisy. Lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, bins, positive, sample_weight
        As in `calibration_error`.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> y_true, y_prob = [0, 1, 1, 1, 1], [.1, .8, .8, .9, .9]
    >>> round(float(average_calibration_error(y_true, y_prob, bins=2)), 4)
    0.125
    """
    return calibration_error(
        y_true,
        y_prob,
        view=view,
        bins=bins,
        weights="equal",
        positive=positive,
        sample_weight=sample_weight,
    )


def maximum_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = 15,
    positive: Any = None,
    sample_weight: Any = None,
) -> CalibrationError:
    """Largest gap of any bin (MCE): norm infinity.

    ``max_b |m_b - f_b|`` (Naeini et al. 2015; Matsubara et al. 2023, section 4). One thin bin
    decides it, so it is the noisiest of all. The *marginal* error is another one. Lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, bins, positive, sample_weight
        As in `calibration_error`.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(maximum_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)), 4)
    0.25
    """
    return calibration_error(
        y_true,
        y_prob,
        view=view,
        bins=bins,
        norm=np.inf,
        positive=positive,
        sample_weight=sample_weight,
    )


def root_mean_square_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = 15,
    positive: Any = None,
    sample_weight: Any = None,
) -> CalibrationError:
    """Root of the weighted mean squared gap: norm 2, equal-width bins.

    ``(sum_b (n_b / n) (m_b - f_b)^2)^(1/2)``. Some papers report it without the root. Never
    smaller than the expected error of the same bins (Jensen). Lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, bins, positive, sample_weight
        As in `calibration_error`.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(root_mean_square_calibration_error([0, 1, 1], [.4, .8, .9], bins=2).value, 4)
    0.2614
    """
    return calibration_error(
        y_true, y_prob, view=view, bins=bins, norm=2, positive=positive, sample_weight=sample_weight
    )


def class_wise_calibration_error(
    y_true: Any, y_prob: Any, *, bins: Bins = 15, positive: Any = None, sample_weight: Any = None
) -> CalibrationError:
    """Mean over classes of the expected calibration error of each class, in ``per_view``.

    ``(1/K) sum_k ECE_k`` with the view "class k" for each k (Panchenko 2021, section 2.1); also
    called static calibration error. Some authors sum instead of averaging. Lesson 12.

    Parameters
    ----------
    y_true, y_prob, bins, positive, sample_weight
        As in `calibration_error`.

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
    return calibration_error(
        y_true,
        y_prob,
        view="class-wise",
        bins=bins,
        name=name,
        positive=positive,
        sample_weight=sample_weight,
    )


def marginal_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    norm: float = 2,
    bins: Bins = FIFTEEN,
    positive: Any = None,
    sample_weight: Any = None,
) -> CalibrationError:
    """Marginal calibration error of Kumar et al. (2019): an l_p norm over classes and bins.

    ``(sum_k (1/K) sum_b (n_kb / n) |m_kb - f_kb|^p)^(1/p)``: equation 3 of Li's report on them,
    with equal weights. For p = 1 it is the class-wise error of the same bins. Lesson 12.

    Parameters
    ----------
    y_true, y_prob, positive, sample_weight
        As in `calibration_error`.
    norm, bins : float, int, Binning or edges
        The p, from 1 on or ``numpy.inf``; by default 2 and 15 equal-mass bins, as in the source.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(marginal_calibration_error([0, 1], [[.8, .2], [.3, .7]], bins=2)), 4)
    0.255
    """
    fixed: Any = {"view": "class-wise", "name": "marginal calibration error"}
    return calibration_error(
        y_true,
        y_prob,
        norm=norm,
        bins=bins,
        **fixed,
        positive=positive,
        sample_weight=sample_weight,
    )


def top_label_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    norm: float = 2,
    bins: Bins = FIFTEEN,
    positive: Any = None,
    sample_weight: Any = None,
) -> CalibrationError:
    """Top-label calibration error of Kumar et al. (2019): an l_p norm of the confidence gaps.

    ``(sum_b (n_b / n) |m_b - f_b|^p)^(1/p)`` for the confidence in the predicted class
    (equation 2 of Li's report on them). Not the *test-based* error, also called TCE. Lesson 12.

    Parameters
    ----------
    y_true, y_prob, positive, sample_weight
        As in `calibration_error`.
    norm, bins : float, int, Binning or edges
        The p, from 1 on or ``numpy.inf``; by default 2 and 15 equal-mass bins, as in the source.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(top_label_calibration_error([0, 1], [[.8, .2], [.3, .7]], bins=1)), 4)
    0.25
    """
    fixed: Any = {"view": "top-label", "name": "top-label calibration error"}
    return calibration_error(
        y_true,
        y_prob,
        norm=norm,
        bins=bins,
        **fixed,
        positive=positive,
        sample_weight=sample_weight,
    )
