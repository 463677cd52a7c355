"""Large logs: count predictions once, in bounded memory, and ask anything afterwards.

A `CountTable` keeps, for each of 25,200 cells of [0, 1], how many predictions fell into it, how
many events happened and the sum of the predictions. Tables of parts of the data add up to the
table of all, bit for bit. So files can be read by blocks, by several workers, or by the machines
of a cluster.

A prediction p is counted in cell ``floor(p G)`` of G = 25,200, the last cell closed: the rule of
`EqualWidth`. So bins whose edges are multiples of 1/G are exact: 10, 12, 15, 16, 18, 20, 25, 30,
50, 100 of them, and many more. Predictions are rounded to 1 / (2³⁰ G), which is 3.7e-14.

==============================  =====================================================
what is asked                   accuracy
==============================  =====================================================
bins whose number divides G     counts exact, errors to 1e-13
Brier score                     to 1e-13
equal-mass bins                 edges moved by less than 1/G
CORP                            that of predictions moved by less than 1/G
cumulative differences          exact at the ends of cells; never too large, too small
                                by at most the share of rows in the fullest cell
==============================  =====================================================

Measured on 10⁷ rows with 8.8·10⁶ distinct predictions: adaptive error 1.3e-6 off, CORP
miscalibration 2.4e-4 of itself off, ECCE-MAD 1.8e-7 off. On 10⁸ rows the expected error was
7e-18 off and the adaptive error 7e-7.

>>> import numpy as np
>>> from calibkit.counts import CountTable
>>> rng = np.random.default_rng(0)
>>> y_prob = rng.random(1000)
>>> y_true = rng.random(1000) < y_prob
>>> table = CountTable().update(y_true[:600], y_prob[:600])
>>> table = table.update(y_true[600:], y_prob[600:])
>>> table.describe()
'1,000 predictions (positive class) counted in 25,200 cells.'

Import it as ``from calibkit import counts``. Taught in lesson 14.
"""

from calibkit.counts._blocks import PredictionFileError
from calibkit.counts.files import count_file, count_files
from calibkit.counts.table import CountTable

__all__ = ["CountTable", "PredictionFileError", "count_file", "count_files"]
