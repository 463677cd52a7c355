"""One state of the outlier hunter: what is rejected of a fake classifier. Lesson 08."""

from dataclasses import dataclass

import numpy as np

from calibkit.bins import Binning, EqualMass, Pava, PavaBC
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import TestBasedError, test_based_calibration_error
from calibkit.inputs import as_choice, as_count
from calibkit.results import Described

MODELS = {"calibrated": LogitDistortion(), "over-confident": LogitDistortion(slope=0.7)}
RULES = ("mass", "root", "pava", "pava-bc")
# Smallest and largest size of a block of PAVA-BC, as n divided by these numbers.
SIZES = {"small": (40, 10), "source": (20, 5), "large": (10, 2)}
_DRAWS = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Hunt(Described):
    """One state of the outlier hunter: what was rejected of which fake classifier."""

    error: TestBasedError
    model: str

    def describe(self) -> str:
        """Say the rejected share beside its null level, and what the model is."""
        error = self.error
        return (
            f"The TCE is {100 * error.value:.1f} % ({int(error.rejected.sum()):,} of {error.n:,} "
            f"predictions are rejected) in {int(error.table.occupied.sum())} bins at the level "
            f"{100 * error.alpha:g} %; a calibrated model with these predictions would show "
            f"{100 * error.null_mean:.1f} ± {100 * error.null_sd:.1f} % (p = "
            f"{error.p_value:.2f}). This model is {self.model}."
        )


def outlier_hunter_view(
    *,
    n: int = 500,
    model: str = "calibrated",
    rule: str = "mass",
    alpha: float = 0.05,
    sizes: str = "source",
    seed: int = 65,  # a typical draw: near the mean of many in all four states of the lesson
) -> Hunt:
    """Draw predictions from a fake classifier, and test each against its bin."""
    as_choice(model, "model", MODELS)
    as_choice(rule, "rule", RULES)
    as_choice(sizes, "sizes", SIZES)
    n = as_count(n, "n", minimum=SIZES["small"][0])
    sample = MODELS[model].sample(n, seed)
    error = test_based_calibration_error(
        sample.y_true,
        sample.y_prob,
        bins=_binning(n, rule, sizes),
        alpha=alpha,
        n_draws=_DRAWS,
        rng=seed,
    )
    return Hunt(error=error, model=model)


def _binning(n: int, rule: str, sizes: str) -> Binning:
    smallest, largest = SIZES[sizes]
    rules: dict[str, Binning] = {
        "mass": EqualMass(10),
        "root": EqualMass(round(float(np.sqrt(n)))),
        "pava": Pava(),
        "pava-bc": PavaBC(n_min=n // smallest, n_max=n // largest),
    }
    return rules[rule]
