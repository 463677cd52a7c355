"""A fake that looks like a well-known network, for figures that need the truth as well."""

from functools import cache

import numpy as np
from scipy import optimize

from calibkit.fakes.knob import KnobClassifier

N_CLASSES = 10
ACCURACY = 0.936
MEAN_CONFIDENCE = 0.9756
# Share of predictions in the last of 15 equal-width bins on [0, 1].
LAST_BIN_MASS = 0.917
LAST_BIN_START = 14 / 15
LARGEST_CONCENTRATION = 1_000.0


@cache
def vgg16_lookalike() -> KnobClassifier:
    """Build the knob classifier that resembles VGG16 on CIFAR-10.

    Notes
    -----
    Three numbers of section 3 of Kumar, Liang and Ma (2019) are matched: accuracy .936, mean
    confidence .9756, and 91.7 % of the predictions in the last of 15 bins. Two concentrations do:
    about 0.14 and 9.5. With the small one, 64 % of the predictions round to exactly 1, so the large
    one is taken. The likeness has limits: in the last bin the network's mean confidence is .997,
    here .982. Lessons 03, 06 and 11.

    Examples
    --------
    >>> round(vgg16_lookalike().truth().expected, 4)
    0.0396
    """

    def fake(concentration: float) -> KnobClassifier:
        return KnobClassifier.with_error(
            N_CLASSES, ACCURACY, MEAN_CONFIDENCE - ACCURACY, concentration=concentration
        )

    def excess(log_concentration: float) -> float:
        tried = fake(float(np.exp(log_concentration)))
        return 1 - float(tried.law.cdf(tried.true_map(LAST_BIN_START))) - LAST_BIN_MASS

    # The mass falls, then rises with the concentration; the root beyond the minimum is wanted.
    end = float(np.log(LARGEST_CONCENTRATION))
    lowest = optimize.minimize_scalar(excess, bounds=(-5, end), method="bounded").x
    return fake(float(np.exp(optimize.brentq(excess, lowest, end, xtol=1e-14))))
