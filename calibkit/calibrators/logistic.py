"""Platt and beta calibration."""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from calibkit.calibrators.base import Calibrator, Weights
from calibkit.calibrators.newton import LogisticFit, fit_logistic
from calibkit.inputs import EPS, FloatVector, as_flag, expit, least_prediction, logit, warn


def _by_label(
    prob: FloatVector, label: FloatVector, weight: Weights
) -> tuple[FloatVector, FloatVector, Weights]:
    """Bring the predictions into the one order that does not depend on the order of the rows."""
    order = np.lexsort((prob, label) if weight is None else (weight, prob, label))
    return prob[order], label[order], None if weight is None else weight[order]


def _smoothed(label: FloatVector, weight: Weights) -> FloatVector:
    weight = np.ones_like(label) if weight is None else weight
    ones = (weight * label).sum()
    return np.asarray(np.where(label == 1, (ones + 1) / (ones + 2), 1 / (weight.sum() - ones + 2)))


def _start(target: FloatVector, weight: Weights) -> float:
    return float(logit(np.average(target, weights=weight)))


def _warn_of_no_optimum(name: str, remedy: str) -> None:
    warn(
        f"{name}: predictions and labels can be separated, so the log loss has no finite "
        f"optimum. The fitted map is (nearly) a step, and converged_ is False. {remedy}"
    )


@dataclass(eq=False, repr=False)
class PlattCalibrator(Calibrator):
    """Logistic calibration: ``logit c(p) = slope * logit(p) + intercept``, fitted by log loss.

    Parameters
    ----------
    smoothing : bool
        Fit to Platt's smoothed targets, ``(N1 + 1) / (N1 + 2)`` for label 1 and ``1 / (N0 + 2)``
        for label 0, instead of 1 and 0. Then the optimum is always finite.
    pull : bool
        Pull predictions first to where an estimate from n rows can be, from ``1 / (n + 2)`` to
        ``1 - 1 / (n + 2)``: one that is sure and wrong then does not turn the whole line.

    Attributes
    ----------
    slope_, intercept_ : float
        A slope below 1 pulls predictions towards the middle (they were over-confident); a negative
        slope says that the ranking is upside down.
    n_parameters_, converged_, n_iter_
        2, or 1 if all predictions are equal (slope 1); False without finite optimum; Newton steps.

    Notes
    -----
    Platt (1999) fitted the line to scores of a support vector machine. For probabilities the score
    is the logit; 0 counts as 1e-16, or as the smallest prediction above it that was fitted to, if
    that is less, and 1 as 1 - 1e-16. With slope 1 / T and no intercept it is temperature scaling.
    Without smoothing, labels that a threshold separates (also: labels of one class) have no finite
    optimum: a `CalibrationWarning` says so, and the map is close to a step. Kängsepp, Valk and Kull
    (2022), section 5; Kumar, Liang and Ma (2019), section 4. Taught in lessons 05, 07 and 11.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 5000))
    >>> model = PlattCalibrator().fit(p, u < expit(0.5 * logit(p) + 0.3))
    >>> round(model.slope_, 2), round(model.intercept_, 2)
    (0.53, 0.26)
    """

    family: ClassVar[str] = "Platt"
    weighted: ClassVar[bool] = True
    loss_name: ClassVar[str] = "log loss"

    smoothing: bool = True
    pull: bool = False

    def _fit(self, prob: FloatVector, label: FloatVector, weight: Weights = None) -> None:
        as_flag(self.smoothing, "smoothing")
        prob, label, weight = _by_label(prob, label, weight)
        rows = len(prob) if weight is None else float(weight.sum())
        least = 1 / (rows + 2) if as_flag(self.pull, "pull") else least_prediction(prob)
        self._ends = least, 1 - least
        x, target = self._logits(prob), _smoothed(label, weight) if self.smoothing else label
        self.n_parameters_ = min(len(np.unique(x)), 2)
        if self.n_parameters_ == 1:  # what is wrong with one logit is a shift, not a slope
            self.slope_, self.intercept_ = 1.0, _start(target, weight) - float(x[0])
            self.converged_ = finite = bool(0 < target.mean() < 1)
        else:
            features = np.vstack([x, np.ones_like(x)])
            starts = [[0.0, _start(target, weight)], [1.0, 0.0]]
            fit = fit_logistic(features, target, starts, weight)
            self.slope_, self.intercept_ = (float(value) for value in fit.theta)
            self.converged_, self.n_iter_, finite = fit.converged, fit.n_iter, fit.finite
        if not finite:
            _warn_of_no_optimum("Platt calibration", "Use smoothing=True, or more data.")

    def _logits(self, prob: FloatVector) -> FloatVector:
        return logit(np.clip(prob, *self._ends), self._ends[0])

    def _curve(self, prob: FloatVector) -> FloatVector:
        return expit(self.slope_ * self._logits(prob) + self.intercept_)


class BetaCalibrator(Calibrator):
    """Beta calibration: ``logit c(p) = a ln(p) - b ln(1 - p) + c``, a, b >= 0, fitted by log loss.

    On logit axes Platt's line with a slope of its own at either end: a near 0 and b near 1.

    Attributes
    ----------
    a_, b_, intercept_ : float
    n_parameters_, converged_, n_iter_
        3, fewer for fewer distinct predictions; False without finite optimum; Newton steps of all
        trials.

    Notes
    -----
    a, b >= 0 keep the map increasing. Where the free optimum breaks this, all edges of the allowed
    region are tried, and the best kept. The authors' program leaves out one term, fits again and
    does not look again; its second fit can be decreasing. Its maps with a = b are `PlattCalibrator`
    (and, without c, temperature scaling). Two distinct predictions cannot tell a from b, so a = b;
    one leaves a = b = 1 and shifts the logit. Labels that can be separated have no finite optimum;
    a `CalibrationWarning` says so. ln is limited as in `PlattCalibrator`. Kull, Silva Filho and
    Flach (2017). Taught in lessons 07 and 11.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 5000))
    >>> model = BetaCalibrator().fit(p, u < p**2)
    >>> model.calibrate([0.2, 0.5, 0.8]).round(2).tolist()
    [0.04, 0.25, 0.65]
    """

    family: ClassVar[str] = "beta"
    weighted: ClassVar[bool] = True
    loss_name: ClassVar[str] = "log loss"

    def _fit(self, prob: FloatVector, label: FloatVector, weight: Weights = None) -> None:
        prob, label, weight = _by_label(prob, label, weight)
        self._least = least_prediction(prob)
        ln_p, ln_q = self._logarithms(prob)
        self.n_parameters_ = min(len(np.unique(prob)), 3)
        rows = {1: [], 2: [ln_p - ln_q], 3: [ln_p, -ln_q]}[self.n_parameters_]
        trials: list[tuple[LogisticFit, FloatVector]] = []
        # All slopes free; then with some of them 0. Without a slope below 0 the first is it.
        for kept in sorted(product([True, False], repeat=len(rows)), key=sum, reverse=True):
            free = [row for row, keep in zip(rows, kept, strict=True) if keep]
            features = np.vstack([*free, np.ones_like(prob)])
            starts = [[0.0] * sum(kept) + [_start(label, weight)], [1.0] * sum(kept) + [0.0]]
            fit = fit_logistic(features, label, starts, weight)
            self.n_iter_ += fit.n_iter
            slopes = np.zeros(len(rows))
            slopes[list(kept)] = fit.theta[:-1]
            if (slopes >= 0).all():
                trials.append((fit, slopes))
                if all(kept):
                    break
        fit, slopes = min(trials, key=lambda trial: trial[0].loss)
        self.intercept_ = float(fit.theta[-1])
        if not rows:  # one prediction, and a = b = 1: what is left is the shift
            slopes, self.intercept_ = np.ones(1), self.intercept_ - float(ln_p[0] - ln_q[0])
        self.a_, self.b_ = float(slopes[0]), float(slopes[-1])
        self.converged_ = fit.converged
        if not fit.finite:
            _warn_of_no_optimum("beta calibration", "Use PlattCalibrator(), or more data.")

    def _logarithms(self, prob: FloatVector) -> tuple[FloatVector, FloatVector]:
        return np.log(np.maximum(prob, self._least)), np.log(np.maximum(1 - prob, EPS))

    def _curve(self, prob: FloatVector) -> FloatVector:
        ln_p, ln_q = self._logarithms(prob)
        return expit(self.a_ * ln_p - self.b_ * ln_q + self.intercept_)
