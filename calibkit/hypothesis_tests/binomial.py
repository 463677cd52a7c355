"""Shares of events: exact two-sided tests of their probability, as scipy decides, and intervals.

In long sorted bins most predictions need no p-value of their own: see `_clear`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special
from scipy.stats import binom

from calibkit.inputs import BoolVector, FloatVector, IntArray, IntVector, as_level

# scipy counts an outcome as no more likely than the observed one up to this relative error.
_TOLERANCE = 1 + 1e-7
# A bound must clear the level by this share of it, far above the error of the functions.
_MARGIN = 1e-9
# A stretch of predictions is cut into so many parts; one of up to twice as many is tested whole.
_PARTS = 4
# Where the other tail starts is known to about one outcome: look so near first, then further.
_NEAR = (0, 1, -1, 3, -3, 12, -12)


def binomial_p_values(hits: Any, count: Any, prob: Any) -> FloatVector:
    """Two-sided p-values of "the events have this probability", by likelihood.

    ``p = sum of P(j) over all outcomes j with P(j) <= P(k)``, where P is the binomial
    distribution (N, prob): the method of minimum likelihood. It equals
    ``scipy.stats.binomtest(k, N, prob).pvalue`` to the last bit, p-values below 1e-300 apart.
    The set of probabilities that are not rejected need not be an interval. The test rejects less
    often than its level says, because outcomes are whole numbers. Matsubara and others
    (2023), section 2.3. Taught in lesson 08.

    Parameters
    ----------
    hits, count, prob : array-like
        k events of N >= 1 trials, and probabilities under test in [0, 1]; they broadcast.

    Returns
    -------
    ndarray
        The p-values, in the shape of the input.

    Raises
    ------
    ValueError
        If an entry is no whole number or no probability, or has more events than trials.

    Examples
    --------
    >>> binomial_p_values(3, 15, [.1, .2, .5]).round(4).tolist()
    [0.1841, 1.0, 0.0352]
    """
    k, n, prob = np.broadcast_arrays(*as_trials(hits, count), prob)
    p = prob.ravel().astype(np.float64)
    bad = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if len(bad):
        raise ValueError(f"prob[{bad[0]}] = {p[bad[0]]} is not a probability in [0, 1].")
    return _p_values(k.ravel(), n.ravel(), p).reshape(prob.shape)


def as_trials(hits: Any, count: Any) -> tuple[IntArray, IntArray]:
    """Check numbers of events and of the trials that they happened in."""
    k, n = np.broadcast_arrays(hits, count)
    for name, values in (("hits", k), ("count", n)):
        bad = np.flatnonzero(~(values == np.rint(values)))
        if len(bad):
            raise ValueError(f"{name}[{bad[0]}] = {values.flat[bad[0]]} is not a whole number.")
    bad = np.flatnonzero(~((n >= 1) & (k >= 0) & (k <= n)))
    if len(bad):
        raise ValueError(
            f"{k.flat[bad[0]]} events in {n.flat[bad[0]]} trials (entry {bad[0]}): there must be "
            "at least one trial, and from 0 to all of them are events."
        )
    return k.astype(np.int64), n.astype(np.int64)


def wilson_interval(
    hits: Any, count: Any, *, level: float = 0.95
) -> tuple[FloatVector, FloatVector]:
    """Interval for the probability of an event that happened in some of several trials.

    It holds the probabilities p with ``|k/N - p| <= z sqrt(p (1 - p) / N)``: those that a normal
    test with their own spread does not reject. It stays in [0, 1], has a width also for 0 or N
    events, and is close to its level on average. Wilson (1927). Lesson 01 draws it.

    Parameters
    ----------
    hits, count : array-like of int
        k events of N >= 1 trials; they broadcast.
    level : float
        Probability content, in (0, 1).

    Returns
    -------
    low, high : ndarray
        The ends, in the shape of the input.

    Raises
    ------
    ValueError
        If an entry is no whole number, has no trial, or more events than trials.

    Examples
    --------
    >>> low, high = wilson_interval([31, 0], 50)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.482, 0.0], [0.741, 0.071])
    """
    k, n = as_trials(hits, count)
    z2 = float(special.ndtri((1 + as_level(level)) / 2)) ** 2
    share = k / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    # Without events the lower end is 0, which rounding may miss; the upper end is alike.
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


class _Tails(NamedTuple):
    """Both parts of a p-value, and where the part across from k begins."""

    own: FloatVector
    across: FloatVector
    other: IntVector

    @property
    def p_value(self) -> FloatVector:
        return np.minimum(1.0, self.own + self.across)


def _tails(k: IntVector, n: IntVector, p: FloatVector, *, below: bool) -> _Tails:
    """Return the parts of the p-value for observations below (or above) the mean ``n p``."""
    likely = binom.pmf(k, n, p)
    other = _other_tail(k, n, p, likely * _TOLERANCE, below=below)
    own, across = _own(k, n, p, below=below), _own(other, n, p, below=not below)
    return _Tails(own, across, other)


def _own(k: IntVector, n: IntVector, p: FloatVector, *, below: bool) -> FloatVector:
    """Return the probability of k and all outcomes further out: below it, or above."""
    tail = binom.cdf(k, n, p) if below else binom.sf(k - 1, n, p)
    return np.asarray(tail)


def _p_values(k: IntVector, n: IntVector, p: FloatVector) -> FloatVector:
    value = np.ones(len(p))
    for below in (True, False):
        rows = np.flatnonzero(k < p * n if below else k > p * n)
        if len(rows):
            value[rows] = _tails(k[rows], n[rows], p[rows], below=below).p_value
    return value


def _other_tail(
    k: IntVector, n: IntVector, p: FloatVector, limit: FloatVector, *, below: bool
) -> IntVector:
    """Return the outcome nearest to the mean, across it, as unlikely as k; n + 1 or -1 if none."""
    step = 1 if below else -1
    # Outcomes are counted from the mean outward: `inner` is too likely, `outer` is not.
    start = np.ceil(p * n) if below else np.floor(p * n)
    inner = start.astype(np.int64) - step
    outer = n + 1 if below else np.full(len(n), -1, dtype=np.int64)
    # Equally likely outcomes lie opposite to each other, but for the skewness (Edgeworth).
    skew = ((k - p * n) ** 2 / np.maximum(p * (1 - p) * n, 1) - 3) * (1 - 2 * p) / 3
    opposite = np.floor(2 * p * n - k + skew).astype(np.int64)

    def narrow(rows: IntVector, trial: IntVector) -> None:
        rare = binom.pmf(trial, n[rows], p[rows]) <= limit[rows]
        outer[rows[rare]] = trial[rare]
        inner[rows[~rare]] = trial[~rare]

    for shift in _NEAR:
        trial = opposite + shift
        rows = np.flatnonzero(((trial - inner) * step > 0) & ((outer - trial) * step > 0))
        narrow(rows, trial[rows])
    while len(rows := np.flatnonzero(np.abs(outer - inner) > 1)):
        narrow(rows, (inner[rows] + outer[rows]) // 2)
    return outer


class BinomialTest(NamedTuple):
    """The exact test as a rule that rejects predictions at a level."""

    alpha: float

    def rejections(self, hits: IntVector, bounds: IntVector, prob: FloatVector) -> BoolVector:
        """Test predictions ``bounds[b] : bounds[b + 1]``, in order, against ``hits[b]`` events."""
        k, n = hits, np.diff(bounds).astype(np.int64)
        rejected = np.zeros(len(prob), dtype=bool)
        above = _first(prob, bounds, lambda p, of: p * n[of] >= k[of])  # p < k / n up to here
        below = _first(prob, bounds, lambda p, of: p * n[of] > k[of])  # p > k / n from here
        self._search(rejected, (k, n, prob), bounds[:-1], above, below=False)
        self._search(rejected, (k, n, prob), below, bounds[1:], below=True)
        return rejected

    def acceptance(self, hits: IntVector, counts: IntVector) -> tuple[FloatVector, FloatVector]:
        """Return the lowest and the highest probability that each bin accepts, accurate to 1e-9.

        A gap or an island of the acceptance set that is narrower than 1/256 of its distance from
        the frequency may be overlooked.
        """
        k, n = hits.astype(np.int64), counts.astype(np.int64)
        # Beyond these ends the tail that holds k is so improbable that nothing is accepted.
        remote = self.alpha * 1e-6
        with np.errstate(invalid="ignore"):  # no end where no events, or only events, occurred
            low = np.where(k == 0, 0.0, special.betaincinv(k, n - k + 1, remote))
            high = np.where(k == n, 1.0, special.betainccinv(k + 1, n - k, remote))
        return self._outermost(k, n, low), self._outermost(k, n, high)

    def _outermost(self, k: IntVector, n: IntVector, end: FloatVector) -> FloatVector:
        """Return the accepted probability nearest to `end`, on the way from k / n."""
        frequency = k / n
        share = np.linspace(0, 1, 257)
        grid = frequency[:, np.newaxis] + (end - frequency)[:, np.newaxis] * share
        fits = self._accepts(np.repeat(k, 257), np.repeat(n, 257), grid.ravel())
        fits = fits.reshape(grid.shape)
        last = 256 - np.argmax(fits[:, ::-1], axis=1)
        rows = np.arange(len(k))
        inside, outside = grid[rows, last], grid[rows, np.minimum(last + 1, 256)]
        for _ in range(25):  # from 1/256 of the way to below 1e-9
            middle = (inside + outside) / 2
            accepted = self._accepts(k, n, middle)
            inside = np.where(accepted, middle, inside)
            outside = np.where(accepted, outside, middle)
        return np.asarray(inside, dtype=np.float64)

    def _accepts(self, k: IntVector, n: IntVector, p: FloatVector) -> BoolVector:
        return np.asarray(_p_values(k, n, np.clip(p, 0, 1)) > self.alpha)

    def _search(
        self,
        rejected: BoolVector,
        data: tuple[IntVector, IntVector, FloatVector],
        start: IntVector,
        stop: IntVector,
        *,
        below: bool,
    ) -> None:
        """Decide the stretches [start, stop) of predictions, one per bin, on one side of k / n."""
        k, n, p = data
        of = np.flatnonzero(stop > start)  # the bin of each stretch
        start, stop = start[of], stop[of]
        while len(start):
            short = stop - start <= 2 * _PARTS
            rows, owner = _ranges(start[short], stop[short]), np.repeat(of, (stop - start) * short)
            tails = _tails(k[owner], n[owner], p[rows], below=below)
            rejected[rows] = tails.p_value <= self.alpha
            start, stop, of = start[~short], stop[~short], of[~short]
            # Both ends of each stretch are among its knots.
            share = np.arange(_PARTS + 1) * (stop - 1 - start)[:, np.newaxis] // _PARTS
            knots = start[:, np.newaxis] + share
            if knots.size == 0:
                return
            at, owner = knots.ravel(), np.repeat(of, _PARTS + 1)
            tails = _tails(k[owner], n[owner], p[at], below=below)
            rejected[at] = tails.p_value <= self.alpha
            left, right = knots[:, :-1].ravel(), knots[:, 1:].ravel()
            out, accepted = self._clear(tails, n[owner], p[at], below=below)
            rejected[_ranges(left[out] + 1, right[out])] = True
            unclear = ~out & ~accepted & (right - left > 1)
            start, stop, of = left[unclear] + 1, right[unclear], np.repeat(of, _PARTS)[unclear]

    def _clear(
        self, tails: _Tails, n: IntVector, p: FloatVector, *, below: bool
    ) -> tuple[BoolVector, BoolVector]:
        """Tell between which neighbouring knots of a stretch all is rejected, and all accepted.

        Take p above k/n; the other side mirrors it. The p-value is ``P(X <= k) + P(X >= i)``, where
        i is the first outcome above the mean that is no more likely than k. The first part falls in
        p. The ratio of the probabilities of i and k rises in p, so that i never falls; and for a
        fixed i the second part rises in p. Hence between two knots ``p' < p''``, with i' and i''::

            P(X <= k | p'') + P(X >= i'' | p')  <=  p-value  <=  P(X <= k | p') + P(X >= i' | p'')
        """
        place = np.arange(len(p)).reshape(-1, _PARTS + 1)
        left, right = place[:, :-1].ravel(), place[:, 1:].ravel()
        near, far = (left, right) if below else (right, left)  # seen from k / n

        def bound(knot: IntVector, other_knot: IntVector) -> FloatVector:
            across = _own(tails.other[knot], n[knot], p[other_knot], below=not below)
            return tails.own[knot] + across

        # The bounds hold at the knots as well, so they can only help where these are decided alike.
        rejected = tails.p_value <= self.alpha
        out, accepted = rejected[near] & rejected[far], ~rejected[near] & ~rejected[far]
        out[out] = bound(near[out], far[out]) <= self.alpha * (1 - _MARGIN)
        accepted[accepted] = bound(far[accepted], near[accepted]) > self.alpha * (1 + _MARGIN)
        return out, accepted


def _first(
    prob: FloatVector, bounds: IntVector, passed: Callable[[FloatVector, IntVector], BoolVector]
) -> IntVector:
    """Return the first place of each bin whose prediction has passed a point, by halving."""
    low, high = bounds[:-1].copy(), bounds[1:].copy()
    while len(of := np.flatnonzero(low < high)):
        middle = (low[of] + high[of]) // 2
        done = passed(prob[middle], of)
        high[of[done]] = middle[done]
        low[of[~done]] = middle[~done] + 1
    return low


def _ranges(start: IntVector, stop: IntVector) -> IntVector:
    """Return all whole numbers of the ranges [start, stop), one after the other."""
    size = stop - start
    offset = np.repeat(start - np.cumsum(size) + size, size)
    return np.asarray(np.arange(int(size.sum())) + offset)
