"""How large would it be by chance? Null levels, consistency bands, bootstrap intervals.

A calibrated model does not score 0, and a diagram of a perfect model does not lie on the
diagonal. Here are the three tools that put a measured number into proportion:

`null_level`
    redraws the labels from the predictions themselves, so that the model is calibrated by
    construction, and measures again. Works for *any* measure.
`consistency_band`
    the same for a reliability diagram: where the frequencies of a calibrated model would lie.
`bootstrap_interval`
    redraws the rows: how uncertain the measured value is.

Sources: Bröcker and Smith (2007), source 001 section 3.3, source 003 section 4. Lesson 04.
"""

from calibkit.significance.bootstrap import BootstrapInterval, bootstrap_interval
from calibkit.significance.null import (
    ConsistencyBand,
    NullLevel,
    consistency_band,
    null_level,
)

__all__ = [
    "BootstrapInterval",
    "ConsistencyBand",
    "NullLevel",
    "bootstrap_interval",
    "consistency_band",
    "null_level",
]
