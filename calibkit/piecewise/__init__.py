"""Continuous piecewise-linear calibration maps: PL in probability space, PL3 in logit space.

K pieces have K - 1 inner knots and K + 1 heights, all free: 2K parameters; K is chosen by
cross-validation. Kängsepp, Valk and Kull (2022), section 5, fit them by a small network in up to 80
minutes; here a batch of Gauss-Newton fits takes about a second for the whole search, and gives the
same answer each time.

`model` has the estimator; `_search` fits and cross-validation; `_starts` where knots start;
`_optimise` the steps; `_formulas` losses and derivatives. Lesson 07.
"""

from calibkit.piecewise.model import PiecewiseLinear

__all__ = ["PiecewiseLinear"]
