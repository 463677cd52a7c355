"""Continuous piecewise-linear calibration maps: PL in probability space, PL3 in logit space.

A map with K pieces has K - 1 inner knots and K + 1 heights, all of them free: 2K parameters. The
number of pieces is chosen by cross-validation. Kängsepp, Valk and Kull (2022), section 5, fit them
by a small network in up to 80 minutes; here a batch of Gauss-Newton fits takes about a second for
the whole search, and gives the same answer each time.

Where to look: `model.py` has the estimator; `_search.py` the fits and the cross-validation;
`_starts.py` where knots start; `_optimise.py` the steps; `_formulas.py` losses and derivatives.
Lesson 07.
"""

from calibkit.piecewise.model import PiecewiseLinear

__all__ = ["PiecewiseLinear"]
