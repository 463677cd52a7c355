"""The named members of the family: each one fixes bins, norm, weights or view."""

from typing import Any, Unpack

import numpy as np

from calibkit.bins import Bins, EqualMass
from calibkit.errors.family import CalibrationError, calibration_error, check_options
from calibkit.inputs import Rows, View, shows_rows
from calibkit.wrong_names import unknown_option

FIFTEEN = EqualMass(15)


def member(y_true: Any, y_prob: Any, rows: Rows, **fixed: Any) -> CalibrationError:
    """Return a member of the family, with what it fixes; a misspelt option is answered."""
    own = Rows.__annotations__.keys()
    if not rows.keys() <= own:
        raise unknown_option([name for name in rows if name not in own], own)
    return calibration_error(y_true, y_prob, **fixed, **rows)


@shows_rows
def expected_calibration_error(
    y_true: Any, y_prob: Any, *, view: View = None, bins: Bins = 15, **rows: Unpack[Rows]
) -> CalibrationError:
    """Mean gap between prediction and frequency (ECE): norm 1, equal-width bins.

    ``sum_b (n_b / n) |m_b - f_b|``. With ``view="top-label"`` it is what the literature on
    networks calls ECE or confidence calibration error (Kängsepp et al. 2022, section 3.2). A
    calibrated model does not score 0: see `null_moments`. Taught in lesson 04.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`.
    positive, predicted, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; the predicted class, whose confidence it
        is (see `calibkit.binary_problem`); what each row counts, at least 0.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(expected_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)), 4)
    0.2
    """
    return member(y_true, y_prob, rows, view=view, bins=bins)


@shows_rows
def adaptive_calibration_error(
    y_true: Any, y_prob: Any, *, view: View = None, n_bins: int = 15, **rows: Unpack[Rows]
) -> CalibrationError:
    """Mean gap over equal-mass bins: every bin holds the same number of predictions.

    ``sum_b (n_b / n) |m_b - f_b|`` over `EqualMass` bins, fewer where there are ties (Matsubara
    et al. 2023, section 2). Not the *average* error, also called ACE. Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    n_bins : int
        Number of equal-mass bins.
    positive, predicted, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; the predicted class, whose confidence it
        is (see `calibkit.binary_problem`); what each row counts, at least 0.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(adaptive_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], n_bins=2)), 4)
    0.2
    """
    return member(
        y_true, y_prob, rows, view=view, bins=EqualMass(n_bins), name="adaptive calibration error"
    )


@shows_rows
def average_calibration_error(
    y_true: Any, y_prob: Any, *, view: View = None, bins: Bins = 15, **rows: Unpack[Rows]
) -> CalibrationError:
    """Unweighted mean gap over the bins in use, however few predictions they hold.

    ``(1/M) sum_b |m_b - f_b|`` over the M occupied bins. Some libraries call this ACE. Thinly
    filled bins count as much as full ones, which makes it noisy. Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`.
    positive, predicted, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; the predicted class, whose confidence it
        is (see `calibkit.binary_problem`); what each row counts, at least 0.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(average_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)), 4)
    0.2
    """
    return member(y_true, y_prob, rows, view=view, bins=bins, weights="equal")


@shows_rows
def maximum_calibration_error(
    y_true: Any, y_prob: Any, *, view: View = None, bins: Bins = 15, **rows: Unpack[Rows]
) -> CalibrationError:
    """Largest gap of any bin (often MCE): norm infinity.

    ``max_b |m_b - f_b|`` (Panchenko 2021, section 3). One thin bin decides it, so it is the
    noisiest of all. Not to be confused with the *marginal* error. Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`.
    positive, predicted, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; the predicted class, whose confidence it
        is (see `calibkit.binary_problem`); what each row counts, at least 0.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(maximum_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)), 4)
    0.25
    """
    return member(y_true, y_prob, rows, view=view, bins=bins, norm=np.inf)


@shows_rows
def root_mean_square_calibration_error(
    y_true: Any, y_prob: Any, *, view: View = None, bins: Bins = 15, **rows: Unpack[Rows]
) -> CalibrationError:
    """Root of the weighted mean squared gap: norm 2, equal-width bins.

    ``(sum_b (n_b / n) (m_b - f_b)^2)^(1/2)``. Some papers report it without the root. Never
    smaller than the expected error of the same bins (Jensen). Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`.
    positive, predicted, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; the predicted class, whose confidence it
        is (see `calibkit.binary_problem`); what each row counts, at least 0.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(root_mean_square_calibration_error([0, 1, 1], [.4, .8, .9], bins=2).value, 4)
    0.2614
    """
    return member(y_true, y_prob, rows, view=view, bins=bins, norm=2)


@shows_rows
def lp_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    norm: float,
    view: View = None,
    bins: Bins = 15,
    **rows: Unpack[Rows],
) -> CalibrationError:
    """Weighted l_p norm of the gaps, for any p from 1 to infinity.

    ``(sum_b (n_b / n) |m_b - f_b|^p)^(1/p)`` (Kumar et al. 2019, section 2). Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    norm : float
        The p: any number from 1 on, or ``numpy.inf``.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`.
    positive, predicted, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; the predicted class, whose confidence it
        is (see `calibkit.binary_problem`); what each row counts, at least 0.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(lp_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], norm=3, bins=2)), 4)
    0.2118
    """
    check_options(norm)  # before the name is made of it
    return member(
        y_true, y_prob, rows, view=view, bins=bins, norm=norm, name=f"l{norm:g} calibration error"
    )


@shows_rows
def top_label_calibration_error(
    y_true: Any, y_prob: Any, *, norm: float = 2, bins: Bins = FIFTEEN, **rows: Unpack[Rows]
) -> CalibrationError:
    """Top-label calibration error of Kumar et al. (2019): an l_p norm of the confidence gaps.

    ``(sum_b (n_b / n) |m_b - f_b|^p)^(1/p)`` for the confidence in the predicted class (their
    equation 2). Not the *test-based* error, also called TCE. Taught in lesson 12.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    norm, bins : float, int or Binning
        The p, from 1 on or ``numpy.inf``; by default 2 and 15 equal-mass bins, as in the source.
    positive, predicted, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; the predicted class, whose confidence it
        is (see `calibkit.binary_problem`); what each row counts, at least 0.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(top_label_calibration_error([0, 1], [[.8, .2], [.3, .7]], bins=1)), 4)
    0.25
    """
    name = "top-label calibration error"
    return member(y_true, y_prob, rows, view="top-label", bins=bins, norm=norm, name=name)
