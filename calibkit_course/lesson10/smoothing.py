"""Undo what label smoothing did to the probabilities: nothing is fitted."""

from typing import Any

import numpy as np

from calibkit.inputs import FloatMatrix, as_number, as_probabilities

_ROUNDING = 1e-6  # a network only comes close to the optimum of its loss


def undo_label_smoothing(y_prob: Any, *, amount: float) -> FloatMatrix:
    """Turn the optimum of label smoothing back into the probabilities behind it.

    Parameters
    ----------
    y_prob : array-like of shape (n,) or (n, K)
        Predictions of a model trained with smoothed labels; (n,) are those of class 1 of two.
    amount : float
        The share ``a`` of the label that was spread over all classes, 0 <= a < 1.

    Returns
    -------
    ndarray of the shape of `y_prob`

    Raises
    ------
    ValueError
        Also if a prediction lies more than 1e-6 below the floor ``a / K``. No optimum does.

    Notes
    -----
    Training on ``(1 - a) onehot + a / K`` has the optimum ``p = (1 - a) r + a / K`` for true
    probabilities r. So ``r = (p - a / K) / (1 - a)``. A network that overfits is not at the
    optimum: what is left is for temperature scaling. The hands-on session of Galdran and Riera;
    lesson 10.

    Examples
    --------
    >>> undo_label_smoothing([[0.68, 0.20, 0.12]], amount=0.1).round(3).tolist()
    [[0.719, 0.185, 0.096]]
    """
    prob = as_probabilities(y_prob).astype(np.float64)
    words = "a finite number from 0 to below 1, e.g. 0.1"
    share = as_number(amount, "amount", words, lambda a: 0 <= a < 1)
    k = prob.shape[1] if prob.ndim == 2 else 2
    floor = share / k
    outside = (prob < floor - _ROUNDING) | (prob > 1 - (k - 1) * floor + _ROUNDING)
    if outside.any():
        place = tuple(int(i) for i in np.argwhere(outside)[0])
        raise ValueError(
            f"y_prob[{', '.join(map(str, place))}] = {prob[place]:.6g} lies outside [{floor:.6g}, "
            f"{1 - (k - 1) * floor:.6g}], which smoothed labels with amount={share:g} do not "
            "leave. The model is not at the optimum of that loss; use TemperatureScaling."
        )
    return np.asarray(np.clip((prob - floor) / (1 - share), 0.0, 1.0))
