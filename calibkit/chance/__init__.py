"""How large would it be by chance? Null levels, consistency bands, bootstrap intervals.

A calibrated model does not score 0, and its diagram does not lie on the diagonal. `null_level`
(any measure) and `consistency_band` redraw the labels from the predictions, `bootstrap_interval`
redraws the rows. Sources: Bröcker and Smith (2007); Panchenko (2021), section 3.3; Li's
reproduction of Kumar, Liang and Ma (2019), sections 2 and 4.
"""

from calibkit.chance.bootstrap import BootstrapInterval, bootstrap_interval
from calibkit.chance.null import ConsistencyBand, NullLevel, consistency_band, null_level

__all__ = [
    "BootstrapInterval",
    "ConsistencyBand",
    "NullLevel",
    "bootstrap_interval",
    "consistency_band",
    "null_level",
]
