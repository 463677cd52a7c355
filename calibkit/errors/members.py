"""The named members of the family: each one fixes bins, norm, weights or view."""

from typing import Any, Unpack

import numpy as np

from calibkit.bins import Bins, EqualMass
from calibkit.errors.family import FIFTEEN, CalibrationError, calibration_error
from calibkit.inputs import RowOptions, View, as_count


def adaptive_calibration_error(
    y_true: Any, y_prob: Any, *, view: View = None, bins: int = 15, **rows: Unpack[RowOptions]
) -> CalibrationError:
    """Mean gap over equal-mass bins: every bin holds the same number of predictions.

    ``sum_b (n_b / n) |m_b - f_b|`` over `EqualMass` bins, fewer where there are ties (Matsubara
    et al. 2023, section 2). Not the *average* error, also called ACE. Lesson 08.

    Parameters
    ----------
    y_true, y_prob, view
        As in `calibration_error`.
    bins : int
        Number of equal-mass bins.
    **rows
        `positive` and `sample_weight`, as there.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(adaptive_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)), 4)
    0.2
    """
    fixed: Any = {"norm": 1, "weights": "mass", "name": "adaptive calibration error"}
    equal = EqualMass(as_count(bins, "bins"))
    return calibration_error(y_true, y_prob, view=view, bins=equal, **fixed, **rows)


def average_calibration_error(
    y_true: Any, y_prob: Any, *, view: View = None, bins: Bins = 15, **rows: Unpack[RowOptions]
) -> CalibrationError:
    """Mean gap with all used bins alike, however few predictions they hold.

    ``(1/M) sum_b |m_b - f_b|`` over the M occupied bins. Some libraries call this ACE. Thinly
    filled bins count as much as full ones, which makes it noisy. Lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, bins
        As in `calibration_error`.
    **rows
        `positive` and `sample_weight`, as there.

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
    fixed: Any = {"norm": 1, "weights": "equal"}
    return calibration_error(y_true, y_prob, view=view, bins=bins, **fixed, **rows)


def maximum_calibration_error(
    y_true: Any, y_prob: Any, *, view: View = None, bins: Bins = 15, **rows: Unpack[RowOptions]
) -> CalibrationError:
    """Largest gap of any bin (MCE): norm infinity.

    ``max_b |m_b - f_b|`` (Naeini et al. 2015; Matsubara et al. 2023, section 4). One thin bin
    decides it, so it is the noisiest of all. The *marginal* error is another one. Lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, bins
        As in `calibration_error`.
    **rows
        `positive` and `sample_weight`, as there.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(maximum_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)), 4)
    0.25
    """
    fixed: Any = {"norm": np.inf, "weights": "mass"}
    return calibration_error(y_true, y_prob, view=view, bins=bins, **fixed, **rows)


def root_mean_square_calibration_error(
    y_true: Any, y_prob: Any, *, view: View = None, bins: Bins = 15, **rows: Unpack[RowOptions]
) -> CalibrationError:
    """Root of the weighted mean squared gap: norm 2, equal-width bins.

    ``(sum_b (n_b / n) (m_b - f_b)^2)^(1/2)``. Some papers report it without the root. Never
    smaller than the expected error of the same bins (Jensen). Lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, bins
        As in `calibration_error`.
    **rows
        `positive` and `sample_weight`, as there.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(root_mean_square_calibration_error([0, 1, 1], [.4, .8, .9], bins=2).value, 4)
    0.2614
    """
    fixed: Any = {"norm": 2, "weights": "mass"}
    return calibration_error(y_true, y_prob, view=view, bins=bins, **fixed, **rows)


def class_wise_calibration_error(
    y_true: Any, y_prob: Any, *, bins: Bins = 15, **rows: Unpack[RowOptions]
) -> CalibrationError:
    """Mean over classes of the expected calibration error of each class, in ``per_view``.

    ``(1/K) sum_k ECE_k`` with the view "class k" for each k (Panchenko 2021, section 2.1); also
    called static calibration error. Some authors sum instead of averaging. Lesson 12.

    Parameters
    ----------
    y_true, y_prob, bins
        As in `calibration_error`.
    **rows
        `positive` and `sample_weight`, as there.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> class_wise_calibration_error([0, 1], [[.8, .2], [.3, .7]]).per_view.round(3).tolist()
    [0.25, 0.25]
    """
    fixed: Any = {"view": "class-wise", "norm": 1, "weights": "mass"}
    name = "class-wise calibration error"
    return calibration_error(y_true, y_prob, bins=bins, name=name, **fixed, **rows)


def marginal_calibration_error(
    y_true: Any, y_prob: Any, *, norm: float = 2, bins: Bins = FIFTEEN, **rows: Unpack[RowOptions]
) -> CalibrationError:
    """Marginal calibration error of Kumar et al. (2019): an l_p norm over classes and bins.

    ``(sum_k (1/K) sum_b (n_kb / n) |m_kb - f_kb|^p)^(1/p)``: equation 3 of Li's report on them,
    with equal weights. For p = 1 it is the class-wise error of the same bins. Lesson 12.

    Parameters
    ----------
    y_true, y_prob
        As in `calibration_error`.
    norm, bins : float, int, Binning or edges
        The p, from 1 on or ``numpy.inf``; by default 2 and 15 equal-mass bins, as in the source.
    **rows
        `positive` and `sample_weight`, as in `calibration_error`.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(marginal_calibration_error([0, 1], [[.8, .2], [.3, .7]], bins=2)), 4)
    0.255
    """
    fixed: Any = {"view": "class-wise", "weights": "mass", "name": "marginal calibration error"}
    return calibration_error(y_true, y_prob, norm=norm, bins=bins, **fixed, **rows)


def top_label_calibration_error(
    y_true: Any, y_prob: Any, *, norm: float = 2, bins: Bins = FIFTEEN, **rows: Unpack[RowOptions]
) -> CalibrationError:
    """Top-label calibration error of Kumar et al. (2019): an l_p norm of the confidence gaps.

    ``(sum_b (n_b / n) |m_b - f_b|^p)^(1/p)`` for the confidence in the predicted class
    (equation 2 of Li's report on them). Not the *test-based* error, also called TCE. Lesson 12.

    Parameters
    ----------
    y_true, y_prob
        As in `calibration_error`.
    norm, bins : float, int, Binning or edges
        The p, from 1 on or ``numpy.inf``; by default 2 and 15 equal-mass bins, as in the source.
    **rows
        `positive` and `sample_weight`, as in `calibration_error`.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(top_label_calibration_error([0, 1], [[.8, .2], [.3, .7]], bins=1)), 4)
    0.25
    """
    fixed: Any = {"view": "top-label", "weights": "mass", "name": "top-label calibration error"}
    return calibration_error(y_true, y_prob, norm=norm, bins=bins, **fixed, **rows)
