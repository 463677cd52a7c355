"""The test-based calibration error: the share of the predictions that the labels contradict."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._result import read_only
from calibkit._validation import as_array, as_count, as_generator
from calibkit.bins import Binning, PavaBC, as_bins
from calibkit.significance._binned import draw_classes
from calibkit.significance._groups import Groups, group, hits_of
from calibkit.significance.verdicts import Rule, TestBasedError, ViewVerdict, rule_of
from calibkit.views import View, binary_problems

FloatVector = NDArray[np.float64]

# Redraws are tested together, about so many predictions at a time.
_BLOCK = 400_000


def test_based_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View | None = None,
    bins: Binning | int | None = None,
    alpha: float = 0.05,
    test: str = "binomial",
    null_draws: int = 100,
    rng: int | np.random.Generator | None = None,
) -> TestBasedError:
    """Share of the predictions that differ significantly from the frequency of their bin.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"} or int, optional
        Which event; needed when `y_prob` has columns. Class-wise is the mean over classes.
    bins : int or Binning, optional
        `PavaBC` by default; an int means equal-width bins.
    alpha : float
        Level of each single test, in (0, 1).
    test : {"binomial", "mid-p", "t", "t-as-published"}
        The exact test, its mid-p form, or a t-test with and without its square root.
    null_draws : int
        Number of label redraws for the null level; 0 leaves it out.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws. They do not change the value.

    Returns
    -------
    TestBasedError
        ``float(result)`` is the share in [0, 1]; the source prints per cent.

    Raises
    ------
    ValueError
        If labels, probabilities or options are not valid; the message names row and value.

    See Also
    --------
    null_level : the same redraws for any measure; pass ``null_draws=0`` there.

    Notes
    -----
    ``(1/n) sum_b sum_{i in b} R(k_b, n_b, p_i)``: R is 1 if the test of "the events of bin b
    have probability p_i" rejects, that is if its p-value is at most alpha (source 002,
    Definition 2). Every prediction of a bin is tested with the same labels.

    The value of a calibrated model is *not* alpha, and does not stay where it is. Predictions
    inside a bin differ, the labels tell only their mean, and the test grows sharper with n.
    Calibrated uniform predictions, mean of 40 samples (10 for n = 100,000), in per cent, with a
    standard error of 1 at n = 300 and below .5 from n = 30,000 on:

    =========================  =======  ========  ==========  ===========
    bins                       n = 300  n = 3000  n = 30,000  n = 100,000
    =========================  =======  ========  ==========  ===========
    `PavaBC`, default sizes    7.2      11.9      35.4        58.7
    `EqualMass` with 10 bins   7.3      27.8      71.3        84.3
    `Pava`                     6.3      5.6       6.9         6.9
    =========================  =======  ========  ==========  ===========

    So read the value beside its null level, for which labels are redrawn from the predictions
    and the bins found anew. A second remedy is bins that shrink as n grows, as those of `Pava` do.
    Taught in lesson 08.

    Examples
    --------
    >>> from calibkit import significance
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 2
    >>> error = significance.test_based_calibration_error(y_true, y_prob, rng=0)
    >>> round(error.value, 3), round(error.null_mean, 3)
    (0.84, 0.048)
    """
    draws, generator = as_count(null_draws, "null_draws", minimum=0), as_generator(rng)
    rule = rule_of(test, alpha)
    binning = PavaBC() if bins is None else as_bins(bins)
    problems = binary_problems(y_true, y_prob, view=view)
    groups = tuple(group(problem, binning) for problem in problems)
    verdicts = tuple(_verdict(part, rule) for part in groups)
    if len(groups) == 1:
        null = _null_values(groups[0], rule, draws, generator)
    else:
        null = _null_of_classes(groups, rule, as_array(y_prob, "y_prob"), draws, generator)
    several = len(problems) > 1
    return TestBasedError(
        value=float(np.mean([verdict.value for verdict in verdicts])),
        view=f"class-wise, {len(problems)} classes" if several else problems[0].view,
        test=test,
        alpha=float(alpha),
        verdicts=verdicts,
        null_values=read_only(null),
    )


# pytest would take a function of this name for a test wherever it is imported.
vars(test_based_calibration_error)["__test__"] = False


def _verdict(part: Groups, rule: Rule) -> ViewVerdict:
    label = part.label
    bounds = part.cut(label)
    counts = np.diff(bounds)
    rejected = rule.rejections(hits_of(label, bounds), bounds, part.prob)
    return ViewVerdict(
        table=part.table(label, bounds),
        prob=read_only(part.as_given(part.prob)),
        bin=read_only(part.as_given(np.repeat(np.arange(len(counts)), counts))),
        rejected=read_only(part.as_given(rejected)),
    )


def rejected_shares(part: Groups, rule: Rule, labels: NDArray[Any]) -> FloatVector:
    """Return the rejected share for each row of labels, of shape (draws, n) in sorted order."""
    n, hits, bounds = len(part.prob), [], [np.zeros(1, dtype=np.int64)]
    for draw, label in enumerate(labels):
        cut = part.cut(label)
        hits.append(hits_of(label, cut))
        bounds.append(cut[1:] + draw * n)
    prob = np.tile(part.prob, len(labels))
    rejected = rule.rejections(np.concatenate(hits), np.concatenate(bounds), prob)
    return np.asarray(rejected.reshape(len(labels), n).mean(axis=1))


def _blocks(draws: int, n: int) -> list[int]:
    size = max(1, _BLOCK // n)
    return [min(size, draws - start) for start in range(0, draws, size)]


def _null_values(
    part: Groups, rule: Rule, draws: int, generator: np.random.Generator
) -> FloatVector:
    # Drawn in sorted order, so that the order of the rows does not matter here either.
    n = len(part.prob)
    values = [
        rejected_shares(part, rule, (generator.random((size, n)) < part.prob).astype(np.int64))
        for size in _blocks(draws, n)
    ]
    return np.concatenate([np.empty(0), *values])


def _null_of_classes(
    groups: tuple[Groups, ...],
    rule: Rule,
    table: NDArray[Any],
    draws: int,
    generator: np.random.Generator,
) -> FloatVector:
    """Redraw one class per row, which all class-wise problems share."""
    rows = np.lexsort(table.T)  # sorted, so that the order of the rows does not matter
    place = np.empty_like(rows)
    place[rows] = np.arange(len(rows))
    values = [np.empty(0)]
    for size in _blocks(draws, len(table)):
        drawn = draw_classes(table[rows], size, generator)
        shares = [
            rejected_shares(part, rule, (drawn[:, place[part.order]] == k).astype(np.int64))
            for k, part in enumerate(groups)
        ]
        values.append(np.mean(shares, axis=0))
    return np.concatenate(values)
