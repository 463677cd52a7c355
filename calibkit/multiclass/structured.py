"""Structured matrix scaling, by the program of its authors."""

import warnings
from typing import Any, ClassVar

import numpy as np

from calibkit.multiclass._softmax_fit import Features, Problem
from calibkit.multiclass.wrappers import Wrapper
from calibkit.types import FloatArray, FloatMatrix, IntVector
from calibkit.validation import CalibrationWarning

# Norm of the gradient that counts as the end: that program stops early, in single precision.
_ACCEPTED = 1e-2


class StructuredMatrixScaling(Wrapper):
    """Structured matrix scaling: temperature first, then a matrix held close to it.

    A thin wrapper around ``SMSCalibrator`` of the package probmetrics, with its default settings:
    ``pip install "calibkit[maps]"``. calibkit adds its checks and a measured gradient.

    Parameters
    ----------
    input : {"logits", "probabilities"}, of logits the softmax is passed on

    Attributes
    ----------
    model_ : probmetrics.calibrators.SMSCalibrator
        The fitted object of the other package.
    gradient_norm_, converged_ : float, bool
        Norm of the gradient of its objective at its solution, measured by calibkit, and whether it
        is below 0.01; otherwise a `CalibrationWarning` says so.
    n_parameters_ : int
        ``K^2 + K``: temperature, matrix and intercepts, less one constant per row.

    Notes
    -----
    The penalty of the matrix off the diagonal is ``K (K - 1) / n``; of the diagonal and the
    intercepts ``K / n``. `MatrixScaling` with ``penalty="auto"`` follows the same rule, in double
    precision and without another package. Here probabilities are cut to single precision, rows are
    divided by their sum, and the temperature comes from a mixture with the uniform prediction. So
    results agree to about 1e-3 only when rows are put in another order. Berta, Holzmüller, Jordan
    and Bach (2026). Lesson 12 names it beside its rivals.

    Examples
    --------
    >>> StructuredMatrixScaling("probabilities").preserves_argmax
    False
    """

    family: ClassVar[str] = "structured matrix"
    can_say_zero = weighted = False

    def __init__(self, input: str):
        self.input = input

    def _prepared(self, scores: FloatArray) -> FloatMatrix:
        prob = super()._prepared(scores)
        total = 1.0 if self.input == "logits" else prob.sum(axis=1, keepdims=True)
        return np.asarray(prob / total)

    def _fit(self, prob: FloatArray, label: IntVector, weight: Any = None) -> None:
        self.model_ = _program().fit(prob, label.astype(np.int64))
        k = prob.shape[1]
        self.n_parameters_ = k * k + k
        self.gradient_norm_ = _gradient_norm(self.model_, prob, label)
        self.converged_ = bool(self.gradient_norm_ <= _ACCEPTED)
        if not self.converged_:
            warnings.warn(
                f"Structured matrix scaling: probmetrics stopped at a gradient of "
                f'{self.gradient_norm_:.1e}. Compare with MatrixScaling(penalty="auto").',
                CalibrationWarning,
                stacklevel=3,
            )

    def _calibrate(self, prob: FloatArray) -> FloatMatrix:
        answer = np.asarray(self.model_.predict_proba(prob), dtype=np.float64)
        return np.asarray(answer / answer.sum(axis=1, keepdims=True))


def _program() -> Any:
    try:
        from probmetrics.calibrators import SMSCalibrator
    except ImportError as error:
        raise ImportError(
            f"StructuredMatrixScaling needs the packages probmetrics and numba ({error}): "
            'pip install "calibkit[maps]". MatrixScaling(penalty="auto") needs nothing else.'
        ) from error
    return SMSCalibrator()


def _gradient_norm(model: Any, prob: FloatArray, label: IntVector) -> float:
    n, k = prob.shape
    x = np.asarray(model._get_logits(model.ts_.predict_proba(prob), append_bias=False))
    weight = np.full((k, k + 1), k * (k - 1) / n)
    weight[np.arange(k), np.arange(k)] = weight[:, k] = k / n
    problem = Problem(Features(x.astype(np.float64), True), label, weight, np.eye(k, k + 1))
    at = problem.at(np.asarray(model.W_, dtype=np.float64))
    return float(np.linalg.norm(problem.slopes(at).gradient))
