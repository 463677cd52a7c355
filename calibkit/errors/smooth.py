"""Errors with a kernel in place of bins: of one event (SmoothECE), and of whole vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from calibkit.errors.family import view_of
from calibkit.inputs import (
    BinaryProblem,
    FloatMatrix,
    FloatVector,
    View,
    as_norm,
    as_positive,
    as_predictions,
    binary_problems,
)
from calibkit.results import Number, listed, spell

# The grid has 2048 cells, and more until a bandwidth is 16 of them wide, up to this number.
_CELLS, _PER_BANDWIDTH, _MOST_CELLS = 2048, 16, 2**17
_FINE = 2**14  # cells in which rows are counted first: most coarser grids follow from it
_SHOWN = 256  # cells of the curves
# A curve is shown where at least so many predictions count.
_LEAST_ROWS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SmoothECE(Number):
    """A smooth ECE, with the smoothed diagram that it is the area of.

    Parameters
    ----------
    value, view, n : float, str, int
        The error, in [0, 1]: the mean of `per_view`; which event or events; the predictions.
    per_view, bandwidth : ndarray of shape (V,)
        Error and standard deviation of the kernel of each view, of which there is one or, in the
        class-wise view, one per class.
    prob : ndarray of shape (257,)
        Where the curves are given, from 0 to 1.
    mean_prob, frequency, density : ndarray of shape (V, 257)
        Mean of the predictions and share of events near each point, by the kernel; NaN where less
        than half a prediction counts; and how densely predictions lie there, with integral 1. The
        integral of ``density |mean_prob - frequency|`` is the error.
    """

    name: ClassVar[str] = "smooth ECE"

    value: float
    view: str
    n: int
    per_view: FloatVector
    bandwidth: FloatVector
    prob: FloatVector
    mean_prob: FloatMatrix
    frequency: FloatMatrix
    density: FloatMatrix

    def describe(self) -> str:
        """Say the error, its view and the bandwidth."""
        low, high = float(self.bandwidth.min()), float(self.bandwidth.max())
        width = f"{low:.4f}" if low == high else f"{low:.4f} to {high:.4f}"
        return (
            f"Smooth ECE {self.value:.4f} ({self.view}, Gaussian kernel of bandwidth "
            f"{width}, {spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            "view": np.arange(len(self.per_view)),
            "bandwidth": self.bandwidth,
            "error": self.per_view,
        }


def smooth_ece(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bandwidth: float | None = None,
    positive: Any = None,
    sample_weight: Any = None,
) -> SmoothECE:
    """Smooth the residuals with a kernel as wide as the error that it leaves (smECE).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns. Over classes each
        class has its own bandwidth.
    bandwidth : float, optional
        Standard deviation of the kernel, above 0. By default that which equals the error.
    positive, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; what each row counts, at least 0.

    Returns
    -------
    SmoothECE
        The error, its bandwidth and the smoothed diagram.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Notes
    -----
    ``smECE_s = ∫ |(1/n) sum_i K_s(t, p_i) (p_i - y_i)| dt`` over [0, 1], where ``K_s`` is the
    Gaussian density with standard deviation s, reflected at 0 and 1 again and again, so that its
    mass stays 1. It falls as s grows; ``smECE`` is its value at the only s with ``smECE_s = s``.
    So no number of bins is chosen, and the error changes little where predictions change little:
    with the distance d to the nearest calibrated predictions, ``d / 2 <= smECE <= 2 sqrt(d)``.
    A calibrated model does not score 0: read the error beside its `null_level`.

    The reflected kernel is a sum of cosines whose shares fall like a Gaussian. Predictions are
    shared between neighbouring points of a grid, 16 of them per bandwidth or more, so that Fourier
    transforms do the work and time grows like n. From bandwidths of 0.00012 on this is the sum
    over all rows to a relative 0.001.

    The authors' program, relplot, halves the range of the bandwidth only ten times, cuts the kernel
    off at a distance of 1/2, counts predictions of 0 and 1 by half, and divides by the smoothed
    density. A small error changes by less than 0.001, or, with many predictions near 0 and 1, in
    the third digit; a large one may grow, from 0.33 to 0.39 in a test.
    Błasiok and Nakkiran (2023). Lesson 08.

    Examples
    --------
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 2
    >>> error = smooth_ece(y_true, y_prob)
    >>> round(error.value, 3), round(float(error.bandwidth[0]), 3)
    (0.23, 0.23)
    """
    if bandwidth is not None:
        bandwidth = as_positive(bandwidth, "bandwidth")
    problems = binary_problems(
        y_true, y_prob, view=view, positive=positive, sample_weight=sample_weight
    )
    smoothed = [_smoothed(problem, bandwidth) for problem in problems]
    columns = (np.array(column) for column in zip(*smoothed, strict=True))
    errors, widths, mean_prob, frequency, density = columns
    return SmoothECE(
        value=float(errors.mean()),
        view=view_of(problems),
        n=problems[0].n,
        per_view=errors,
        bandwidth=widths,
        prob=np.arange(_SHOWN + 1) / _SHOWN,
        mean_prob=mean_prob,
        frequency=frequency,
        density=density,
    )


def _smoothed(problem: BinaryProblem, bandwidth: float | None) -> list[Any]:
    """Return error, bandwidth, mean prediction, frequency and density of one view."""
    total = problem.n if problem.weight is None else float(problem.weight.sum())
    fine, cells, width = _shared(problem, _FINE) / total, 0, bandwidth
    while width is None or cells < _cells_for(width):
        cells = _CELLS if width is None else _cells_for(width)
        if cells >= len(fine[0]):
            fine = _shared(problem, cells) / total
        mass, of_prob, events = _coarser(fine, cells)
        waves = _waves(of_prob - events)
        width = _fixed_point(waves) if bandwidth is None else bandwidth
    # The curves of predictions without any error have a bandwidth all the same.
    seen, step = max(width, 1 / _MOST_CELLS), cells // _SHOWN
    if _cells_for(seen) > cells:
        mass, of_prob, events = _shared(problem, _cells_for(seen)) / total
        step = _cells_for(seen) // _SHOWN
    density, of_prob, events = (
        _at_points(_waves(one), seen)[::step] * step * _SHOWN for one in (mass, of_prob, events)
    )
    near = density * total * seen * np.sqrt(2 * np.pi) >= _LEAST_ROWS
    curves = [np.divide(c, density, np.full_like(c, np.nan), where=near) for c in (of_prob, events)]
    # A Fourier sum may miss 0 by 1e-17.
    return [_area(waves, width), width, *curves, np.maximum(density, 0.0)]


def _shared(problem: BinaryProblem, cells: int) -> FloatMatrix:
    """Share rows between the two grid points beside each, so that sums and centres stay.

    Returns the mass, the mass times the prediction and the events of each point. Rows are passed
    three times only, for both labels at once: with a million of them that is what takes time.
    """
    place, weight = problem.prob * float(cells), problem.weight
    left = np.minimum(place.astype(np.intp), cells - 1)
    right = place - left
    both = 2 * left + problem.label
    moved = right if weight is None else right * weight
    mass = np.bincount(both, weight, 2 * cells).reshape(cells, 2)
    of_right = np.bincount(both, moved, 2 * cells).reshape(cells, 2)
    bent = np.bincount(left, right * moved, cells)
    shared, row = np.zeros((3, cells + 1)), np.arange(cells)
    for points, part, slope in (
        (shared[:, :-1], mass - of_right, of_right.sum(axis=1) - bent),
        (shared[:, 1:], of_right, bent),
    ):
        each = part.sum(axis=1)
        points += each, (row * each + slope) / cells, part[:, 1]
    return shared


def _coarser(fine: FloatMatrix, cells: int) -> FloatMatrix:
    """Share the points of a fine grid between those of a coarser one: as if rows were shared."""
    parts = fine[:, :-1].reshape(len(fine), cells, -1)
    right = np.arange(parts.shape[2]) / parts.shape[2]
    coarse = np.zeros((len(fine), cells + 1))
    coarse[:, :-1] += parts @ (1 - right)
    coarse[:, 1:] += parts @ right
    coarse[:, -1] += fine[:, -1]
    return coarse


def _fixed_point(waves: FloatVector) -> float:
    """Return the bandwidth that equals its error, which falls as the bandwidth grows."""
    from scipy.optimize import brentq  # slow to import

    high = _area(waves, 0.0)
    if high == 0:
        return 0.0
    high *= 1 + 1e-9  # where the bandwidth changes nothing, this end too must lie on its side
    while _area(waves, high) > high:  # a kernel narrower than a cell overshoots beside it
        high *= 2
    return float(brentq(lambda s: _area(waves, s) - s, 0.0, high, xtol=1e-14))


def _cells_for(width: float) -> int:
    """Return how many cells a bandwidth needs, a power of 2."""
    wanted = _PER_BANDWIDTH / max(width, _PER_BANDWIDTH / _MOST_CELLS)
    return max(_CELLS, 1 << int(np.ceil(np.log2(wanted))))


def _waves(shared: FloatVector) -> FloatVector:
    """Return the sums of ``mass cos(k pi prob)`` for k = 0 ... the number of cells."""
    return np.asarray(np.fft.rfft(shared, 2 * (len(shared) - 1)).real)


def _at_points(waves: FloatVector, width: float) -> FloatVector:
    """Return the smoothed mass of each grid point; in units of a cell, so half at the ends."""
    decay = np.exp(-((np.pi * width * np.arange(len(waves))) ** 2) / 2)
    return np.asarray(2 * np.fft.irfft(decay * waves)[: len(waves)])


def _area(waves: FloatVector, width: float) -> float:
    """Return the integral of the absolute smoothed residuals."""
    size = np.abs(_at_points(waves, width))
    return float(size.sum() - (size[0] + size[-1]) / 2)


# Rows that are smoothed at once, and what stands for the logarithm's argument at 0.
_ROWS, _ZERO = 512, 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CanonicalError(Number):
    """A canonical calibration error: how far whole vectors lie from the truth.

    Parameters
    ----------
    value, norm, bandwidth : float
        The error, from 0 to 2 with norm 1; its norm; the width of the kernel.
    true_prob : ndarray of shape (n, K)
        The estimated chances of each row, from all other rows.
    n : int
        The predictions.
    """

    name: ClassVar[str] = "canonical calibration error"

    value: float
    norm: float
    bandwidth: float
    true_prob: FloatMatrix
    n: int

    def describe(self) -> str:
        """Say the error, its norm and the bandwidth."""
        return (
            f"Canonical calibration error {self.value:.4f} (whole vectors, norm {self.norm:g}, "
            f"Dirichlet kernel of bandwidth {self.bandwidth:.2g}, {spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return listed(self, ("value", "norm", "bandwidth", "n"), ("quantity", "value"))


def canonical_calibration_error(
    y_true: Any, y_prob: Any, *, norm: float = 1, bandwidth: float | None = None
) -> CanonicalError:
    """Estimate how far whole vectors lie from the truth, by a kernel on the simplex.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels ``0 .. K-1``.
    y_prob : array-like of shape (n, K)
        One column per class with rows that sum to 1; two rows or more.
    norm : float, default 1
        The p of the distance, finite and at least 1.
    bandwidth : float, optional
        Width h of the kernel, above 0. By default the most likely one: each prediction's density,
        from all others, is made as large as can be.

    Returns
    -------
    CanonicalError
        The error, the bandwidth and the estimated chances.

    Raises
    ------
    ValueError
        If labels, probabilities or options are not valid; the message names row and value.

    Notes
    -----
    ``((1/n) sum_i sum_k |r_k(p_i) - p_ik|^norm)^(1/norm)`` with
    ``r(p_i) = sum_{j != i} w_ij e(y_j) / sum_{j != i} w_ij``, where e(y) is 1 for the label and 0
    else, and ``w_ij`` the density at ``p_i`` of the Dirichlet distribution with parameters
    ``1 + p_j / h``, whose mode is ``p_j``. Popordanoska, Sayer and Blaschko (2022).

    Whole vectors have few neighbours: with three classes and 1,000 rows a calibrated model shows
    .12, with five .24. Read it beside `null_level` with the same `bandwidth`. Time grows like n².
    Lesson 12 asks why nobody reports it.

    Examples
    --------
    >>> from calibkit.fakes import DirichletFake, Power
    >>> draw = DirichletFake((1, 1, 1), Power(2)).sample(300, rng=0)
    >>> error = canonical_calibration_error(draw.y_true, draw.y_prob, bandwidth=.05)
    >>> true = np.abs(draw.true_prob - draw.y_prob).sum(axis=1).mean()
    >>> round(error.value, 2), round(float(true), 2)
    (0.25, 0.27)
    """
    label, given = as_predictions(y_true, y_prob)
    if given.ndim != 2 or len(given) < 2:
        raise ValueError(
            f"y_prob must have two rows or more and one column per class, got {given.shape}. Of "
            "P(y = 1) alone pass np.column_stack([1 - y_prob, y_prob])."
        )
    norm, prob = as_norm(norm), given.astype(np.float64)
    if bandwidth is None:

        def surprise(log: float) -> float:
            blocks = _dirichlet_kernel(prob, np.exp(log))
            return -float(sum((np.log(w.sum(axis=1)) + largest).sum() for w, largest in blocks))

        found = minimize_scalar(
            surprise, bounds=np.log([1e-4, 1]), method="bounded", options={"xatol": 0.05}
        )
        bandwidth = float(np.exp(found.x))
    bandwidth = as_positive(bandwidth, "bandwidth")
    hit = np.eye(prob.shape[1])[label]
    blocks = _dirichlet_kernel(prob, bandwidth)
    true_prob = np.vstack([w @ hit / w.sum(axis=1, keepdims=True) for w, _ in blocks])
    distance = np.abs(true_prob - prob) ** norm
    return CanonicalError(
        value=float(distance.sum(axis=1).mean() ** (1 / norm)),
        norm=norm,
        bandwidth=bandwidth,
        true_prob=true_prob,
        n=len(prob),
    )


def _dirichlet_kernel(
    prob: FloatMatrix, bandwidth: float
) -> Iterator[tuple[FloatMatrix, FloatVector]]:
    """Yield the densities at some rows around all others, over their largest, and its logarithm."""
    n_classes = prob.shape[1]
    power = prob / bandwidth
    scale = gammaln(1 / bandwidth + n_classes) - gammaln(1 + power).sum(axis=1)
    for start in range(0, len(prob), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(prob)))
        density = np.log(np.maximum(prob[rows], _ZERO)) @ power.T + scale  # 0 to the power 0 is 1
        density[rows - start, rows] = -np.inf
        largest = density.max(axis=1)
        yield np.exp(density - largest[:, np.newaxis]), largest
