"""Maps made of bins: one shift per bin, one height per bin, or the mean of a smooth map."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import betaln, softmax
from sklearn.base import clone

from calibkit.bins import Binning, Distinct, EqualMass, EqualWidth, FixedEdges, as_bins, assign
from calibkit.calibrators.base import Calibrator, Weights, drawn_apart
from calibkit.calibrators.logistic import PlattCalibrator
from calibkit.inputs import EPS, FloatVector, IntVector, as_choice, as_count
from calibkit.reliability import reliability_table


@dataclass(eq=False, repr=False)
class BinnedCalibrator(Calibrator):
    """What the maps with bins share: a bin table, and a straight piece in each bin."""

    bins: Any = 15

    @property
    def weighted(self) -> bool:  # type: ignore[override]
        """Whether any weights are taken: no weight moves these edges."""
        return isinstance(as_bins(self.bins), EqualWidth | FixedEdges | Distinct)

    def _fit(self, prob: FloatVector, label: FloatVector, weight: Weights = None) -> None:
        self._fit_bins(as_bins(self.bins), prob, label, weight)

    def _fit_bins(
        self, binning: Binning, prob: FloatVector, label: FloatVector, weight: Weights
    ) -> None:
        self.table_ = reliability_table(label, prob, bins=binning, sample_weight=weight)
        self.edges_ = self.table_.edges
        self.n_parameters_ = int(self.table_.occupied.sum())
        self._make()

    def _make(self) -> None:
        raise NotImplementedError

    def _values(self, prob: FloatVector, index: IntVector) -> FloatVector:
        raise NotImplementedError

    def _curve(self, prob: FloatVector) -> FloatVector:
        # The binning that filled the table also reads it: membership and evaluation agree.
        return self._values(prob, self.table_.assign(prob))

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the ends of the map in each bin, with NaN between bins."""
        self._check_fitted()
        index = np.arange(len(self.edges_) - 1)
        left, right = self.edges_[:-1], self.edges_[1:]
        return drawn_apart(left, right, (self._values(left, index), self._values(right, index)))


class SlopeOneBinning(BinnedCalibrator):
    """Bins with slanted tops: in each bin, add to the prediction what it lacks on average.

    Its mean distance from the diagonal **is** the expected calibration error of these bins.

    Parameters
    ----------
    bins : int, Binning or edges
        A number of equal-width bins, or a binning such as ``EqualMass(15)``.

    Attributes
    ----------
    shift_ : ndarray of shape (B,)
        Frequency minus mean prediction of each bin; 0 where the bin is empty.
    table_, edges_ : BinTable, ndarray of shape (B + 1,)
        Count, mean prediction and frequency of each bin; its edges, ``[a, b)``.

    Notes
    -----
    ``g(p) = p + f_b - m_b`` for p in bin b, with frequency ``f_b`` and mean prediction ``m_b``: the
    smallest Brier score of all maps with slope 1 in each bin; in an empty bin the identity. Cut to
    [0, 1] it may say exactly 0 or 1. So
    ``g(p_i) - p_i`` is constant in a bin, and for every a > 0
    ``(1/n) sum_i |g(p_i) - p_i|^a = sum_b (n_b / n) |m_b - f_b|^a`` (Kängsepp, Valk and Kull, 2022,
    Theorem 2). Taught in lesson 05.

    Examples
    --------
    >>> p, y = [.1, .3, .4, .6, .7, .9], [0, 1, 0, 1, 1, 1]
    >>> SlopeOneBinning(2).fit(p, y).curve(p).round(4).tolist()
    [0.1667, 0.3667, 0.4667, 0.8667, 0.9667, 1.1667]
    """

    family: ClassVar[str] = "slope-1 bins"
    can_say_zero: ClassVar[bool] = True

    def _make(self) -> None:
        table = self.table_
        self.shift_ = np.where(table.occupied, table.frequency - table.mean_prob, 0.0)

    def _values(self, prob: FloatVector, index: IntVector) -> FloatVector:
        return np.asarray(prob + self.shift_[index])


class HistogramBinning(BinnedCalibrator):
    """Histogram binning, bins with flat tops: each prediction becomes the frequency of its bin.

    Parameters
    ----------
    bins : int, Binning or edges
        As in `SlopeOneBinning`.

    Attributes
    ----------
    height_ : ndarray of shape (B,)
        Frequency of each bin; NaN where the bin is empty. Others as in `SlopeOneBinning`.

    Notes
    -----
    ``g(p) = f_b`` for p in bin b: the smallest Brier score and log loss of all maps that are
    constant in each bin; in an empty bin the identity. A bin in which an event always or never
    happened says exactly 1 or 0. As an evaluator it reports at least the
    expected calibration error of the same bins,
    ``(1/n) sum_i |f_b - p_i| >= sum_b (n_b / n) |f_b - m_b|`` (Jensen): it also counts how far the
    predictions of a bin are apart. ``HistogramBinning(Pava())`` is isotonic regression without the
    slopes between blocks. Zadrozny and Elkan (2001); Kängsepp, Valk and Kull (2022), section 4.4.
    Taught in lesson 05.

    Examples
    --------
    >>> p, y = [.1, .3, .4, .6, .7, .9], [0, 1, 0, 1, 1, 1]
    >>> HistogramBinning(2).fit(p, y).calibrate([.2, .8]).round(4).tolist()
    [0.3333, 1.0]
    """

    family: ClassVar[str] = "flat bins"
    can_say_zero: ClassVar[bool] = True

    def _make(self) -> None:
        self.height_ = self.table_.frequency

    def _values(self, prob: FloatVector, index: IntVector) -> FloatVector:
        height = self.height_[index]
        return np.asarray(np.where(np.isnan(height), prob, height))


class ChosenBinning(SlopeOneBinning):
    """Slope-1 bins whose number is found from the data: by folds, or by the sweep."""

    kind: str = "equal-mass"
    rule: str

    def _binning(self, n_bins: int) -> EqualMass | EqualWidth:
        return EqualMass(n_bins, self.rule) if self.kind == "equal-mass" else EqualWidth(n_bins)

    weighted = False

    def _fit(self, prob: FloatVector, label: FloatVector, weight: Weights = None) -> None:
        as_choice(self.kind, "kind", ("equal-mass", "equal-width"))
        as_choice(self.rule, "rule", ("midpoint", "first"))
        # Positions among sorted rows carry no row order.
        order = np.lexsort((label, prob))
        self.n_bins_ = self._choose(prob[order], label[order])
        self._fit_bins(self._binning(self.n_bins_), prob, label, weight)

    def _choose(self, prob: FloatVector, label: FloatVector) -> int:
        raise NotImplementedError


class SweepBinning(ChosenBinning):
    """Slope-1 bins, as many as keep the frequencies in rising order: the monotone sweep.

    Parameters
    ----------
    rule : {"midpoint", "first"}
        Where the edges of the equal-mass bins are: see `calibkit.EqualMass`.

    Attributes
    ----------
    n_bins_ : int
        Chosen number of bins (ties can make fewer of it). Others as in `SlopeOneBinning`.

    Notes
    -----
    B = 1, 2, 3, … while no frequency is below that of the (not empty) bin before it; the last such
    B is chosen, so all smaller numbers are in order, too. The choice depends on labels and ranks
    only (equal mass): any increasing distortion of the predictions has the same number of bins.
    Like `SlopeOneBinning` it may say exactly 0 or 1.
    Roelofs et al. (2022); Kängsepp, Valk and Kull (2022), appendix C.3. Taught in lesson 06.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 1000))
    >>> SweepBinning().fit(p, u < p**2).n_bins_
    13
    """

    family: ClassVar[str] = "slope-1 bins, number by the sweep"

    def __init__(self, rule: str = "midpoint"):
        self.rule = rule

    def _choose(self, prob: FloatVector, label: FloatVector) -> int:
        most = len(prob)
        events = np.concatenate(([0], np.cumsum(label.astype(np.intp))))
        # If even single predictions are in order, every number of bins is.
        if _rising(events, np.flatnonzero(prob[1:] != prob[:-1]) + 1):
            return most
        for n_bins in range(2, most + 1):
            inner = self._binning(n_bins).edges(prob)[1:-1]
            if not _rising(events, np.searchsorted(prob, inner)):
                return n_bins - 1
        return most


class BayesianBinning(Calibrator):
    """Bayesian binning into quantiles (BBQ): histograms of many sizes, each by its evidence.

    Attributes
    ----------
    n_bins_, evidence_ : ndarray of shape (M,)
        Numbers of equal-mass bins that were tried, and the weight of each; they sum to 1.
    edges_, height_ : lists of M ndarrays of shape (B + 1,) and (B,)
        The edges of each histogram, and what its bins say.
    n_parameters_ : None
        An average of histograms has no number of its own.

    Notes
    -----
    All B from ``n^(1/3) / 10`` to ``10 n^(1/3)``, at most n, are tried. A bin with n_b rows and
    m_b events has the chance of a beta distribution, ``a_b = 2 q_b / B`` and
    ``b_b = 2 (1 - q_b) / B`` with its middle q_b, before it sees labels; so it says
    ``(a_b + m_b) / (2 / B + n_b)``, and the evidence of B bins is
    ``prod_b Beta(a_b + m_b, b_b + n_b - m_b) / Beta(a_b, b_b)``. It never says exactly 0 or 1.
    Naeini, Cooper and Hauskrecht (2015).

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 600))
    >>> map_ = BayesianBinning().fit(p, u < p**2)
    >>> int(map_.n_bins_[map_.evidence_.argmax()]), map_.calibrate([.3, .9]).round(2).tolist()
    (6, [0.07, 0.88])
    """

    family: ClassVar[str] = "Bayesian bins"
    loss_name: ClassVar[str] = "evidence"

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        n = len(prob)
        root = float(np.cbrt(n).round(9))  # of a cube the whole number
        fewest, most = max(1, int(root / 10)), min(n, int(10 * root))
        tables = [
            reliability_table(label, prob, bins=EqualMass(n_bins))
            for n_bins in range(fewest, most + 1)
        ]
        self.edges_ = [table.edges for table in tables]
        self.n_bins_ = np.array([table.n_bins for table in tables])
        self.height_, evidence = [], []
        for table in tables:
            strength = 2 / table.n_bins
            middle = np.clip(table.centre, EPS, 1 - EPS)  # a bin at 1 may be narrower than a float
            yes, no = strength * middle, strength * (1 - middle)
            events = np.rint(table.count * np.where(table.occupied, table.frequency, 0))
            self.height_.append((yes + events) / (strength + table.count))
            others = table.count - events
            evidence.append(float((betaln(yes + events, no + others) - betaln(yes, no)).sum()))
        self.evidence_ = softmax(evidence)
        self.n_parameters_, self.converged_, self.n_iter_ = None, True, len(tables)

    def _curve(self, prob: FloatVector) -> FloatVector:
        histograms = zip(self.evidence_, self.height_, self.edges_, strict=True)
        return np.asarray(sum(w * height[assign(prob, edges)] for w, height, edges in histograms))

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the steps between the edges of all histograms, with NaN between them."""
        self._check_fitted()
        edges = np.unique(np.concatenate(self.edges_))
        level = self._curve(edges[:-1])
        return drawn_apart(edges[:-1], edges[1:], (level, level))


def _rising(events: IntVector, cuts: IntVector) -> bool:
    bounds = np.concatenate(([0], cuts, [len(events) - 1]))
    count, hits = np.diff(bounds), np.diff(events[bounds])
    used = count > 0
    # A quotient of whole numbers is rounded correctly, so equal frequencies compare equal.
    return bool((np.diff(hits[used] / count[used]) >= 0).all())


# Steps are looked for on a grid, and found by halving.
_GRID, _HALVINGS = 2001, 60


@dataclass(eq=False, repr=False)
class ScalingBinning(Calibrator):
    """Scaling-binning calibration: the mean of a fitted map in equal-mass bins.

    Three steps: fit a *scaler*; put equal-mass edges on its outputs; output the mean of the
    **scaled predictions** of the bin, not the frequency of the labels as histogram binning does.

    Parameters
    ----------
    n_bins, scaler : int, Calibrator or None
        Equal-mass bins, in which ties stay together; the map to clone, None: `PlattCalibrator`.

    Attributes
    ----------
    scaler_, edges_ : Calibrator, ndarray of shape (B + 1,)
        The fitted scaler, and the edges of the bins of its outputs.
    value_, count_ : ndarray of shape (B,)
        Output of each bin, and the number of predictions from which it was averaged.
    n_parameters_, converged_, n_iter_
        Those of the scaler: the bins do not look at labels.

    Notes
    -----
    The output takes finitely many values, so its calibration error can be measured without bias
    from binning; and it needs fewer labels than a histogram, about ``B + 1 / e^2`` against
    ``B + B / e^2`` for an error of e (up to constants and logarithms). All data serve all steps, as
    in the authors' program; their theory gives each step a third of its own. Kumar, Liang and Ma
    (2019), section 4. Lesson 11 teaches the bins that it smooths.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 600))
    >>> ScalingBinning(n_bins=4).fit(p, u < p**2).value_.round(2).tolist()
    [0.03, 0.17, 0.4, 0.8]
    """

    family: ClassVar[str] = "scaling-binning"
    loss_name: ClassVar[str] = "log loss"

    @property
    def can_say_zero(self) -> bool:  # type: ignore[override]
        """Whether the scaler may say exactly 0 or 1."""
        return self.scaler is not None and bool(self.scaler.can_say_zero)

    n_bins: int = 10
    scaler: Calibrator | None = None

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        bins = EqualMass(as_count(self.n_bins, "n_bins"))
        if not isinstance(self.scaler, Calibrator | None):
            raise ValueError(f"scaler must be a Calibrator or None, got {self.scaler!r}.")
        scaler = PlattCalibrator() if self.scaler is None else clone(self.scaler)
        self.scaler_ = scaler.fit(prob, label)
        scaled = np.sort(scaler.calibrate(prob))  # sums do not depend on the order of the rows
        self.edges_ = bins.edges(scaled)
        index = assign(scaled, self.edges_)
        self.count_ = np.bincount(index)
        self.value_ = np.bincount(index, scaled) / self.count_
        self.n_parameters_ = scaler.n_parameters_
        self.converged_, self.n_iter_ = scaler.converged_, scaler.n_iter_

    def _bin_of(self, prob: FloatVector) -> IntVector:
        return assign(self.scaler_.calibrate(prob), self.edges_)

    def _curve(self, prob: FloatVector) -> FloatVector:
        return self.value_[self._bin_of(prob)]

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the steps, with NaN between them."""
        self._check_fitted()
        grid = np.linspace(0, 1, _GRID)
        index = self._bin_of(grid)
        jump = np.flatnonzero(np.diff(index))
        low, high = grid[jump], grid[jump + 1]
        for _ in range(_HALVINGS if len(jump) else 0):
            middle = (low + high) / 2
            stays = self._bin_of(middle) == index[jump]
            low, high = np.where(stays, middle, low), np.where(stays, high, middle)
        start, end = np.concatenate(([0.0], high)), np.concatenate((high, [1.0]))
        level = self.value_[np.concatenate((index[jump], index[-1:]))]
        return drawn_apart(start, end, (level, level))
