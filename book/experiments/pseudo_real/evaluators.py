"""The evaluators of the pseudo-real study: those of the synthetic one, and all others."""

from typing import ClassVar

import numpy as np
from scipy.special import logit

from book.experiments.pseudo_real.kernel import KernelDensityCalibrator
from book.experiments.pseudo_real.spline import SplineCalibrator
from book.experiments.synthetic import (
    Derived,
    Direct,
    bin_evaluators,
    ensemble_by_rule,
    first_start,
    fold_ensemble,
    kernel_error,
    smooth_evaluators,
)
from calibkit.calibrators import SlopeOneBinning
from calibkit.calibrators.base import Calibrator
from calibkit.inputs import FloatVector

# Small samples of one seed and some questions only are searched by differential evolution.
EVOLVED_SIZE, EVOLVED_SEED = 1_000, 0
SEARCHED = (
    *("densenet-top", "wideresnet-top", "lenet-top", "efficientnet-top", "resnext-top"),
    *("wideresnet-cat", "wideresnet-dog", "lenet-car", "lenet-cat"),
)
# Predictions of exactly 0 or 1 have no logit.
STEEPEST = 36.0


class OrderPreservingMap(Calibrator):
    """Intra order-preserving map of two classes, in the order-invariant form; needs torch.

    ``logit c(p) = z m(|z|)`` with ``z = logit p`` and a small positive network m: a map that is
    symmetric about one half, where it stays.
    """

    family: ClassVar[str] = "intra order-preserving"
    loss_name: ClassVar[str] = "log loss"

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        from calibkit_course.lesson10.nets import OrderPreserving

        self.network_ = OrderPreserving("logits").fit(_two_logits(prob), label.astype(np.int64))
        self.n_parameters_ = self.network_.n_parameters_
        self.converged_, self.n_iter_ = self.network_.converged_, self.network_.n_iter_

    def _curve(self, prob: FloatVector) -> FloatVector:
        fitted: FloatVector = self.network_.calibrate(_two_logits(prob))[:, 1]
        return fitted


def _two_logits(prob: FloatVector) -> FloatVector:
    z = np.zeros((len(prob), 2))
    with np.errstate(divide="ignore"):
        z[:, 1] = np.clip(logit(prob), -STEEPEST, STEEPEST)
    return z


def all_evaluators() -> dict[str, Calibrator | Derived | Direct]:
    """Return all evaluators that run on every data set, in the order of the tables."""
    return {
        "EW15": SlopeOneBinning(15),
        **bin_evaluators(),
        "PL^CE": fold_ensemble("probability"),
        "PL^CE rule": Derived("PL^CE", ensemble_by_rule),
        "PL^CE 10": Derived("PL^CE", first_start),
        "PL^MSE": fold_ensemble("probability", "brier"),
        "PL3^CE": fold_ensemble("logit"),
        "PL3^CE rule": Derived("PL3^CE", ensemble_by_rule),
        "PL3^CE 10": Derived("PL3^CE", first_start),
        "PL3^MSE": fold_ensemble("logit", "brier"),
        **smooth_evaluators(),
        "spline": SplineCalibrator(),
        "KDE": KernelDensityCalibrator(),
        "IOP": OrderPreservingMap(),
        "KCE": Direct(kernel_error),
    }
