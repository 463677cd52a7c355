"""Who wins a contest of calibration: whoever states the truth, or a liar? For the page "Measured".

``python -m book.experiments.honest_contest`` prints the table of the page in half a minute.
"""

from collections.abc import Callable

import numpy as np

from book.experiments.pages import markdown
from calibkit.errors import averaged_two_bin_error, expected_calibration_error
from calibkit.inputs import FloatVector
from calibkit.scores import brier_score

FORECASTERS: dict[str, Callable[[FloatVector], FloatVector]] = {
    "says the truth": lambda c: c,
    "says 0.33 or 0.67": lambda c: np.where(c < 0.5, 0.33, 0.67),
    "says 0.5": lambda c: np.full_like(c, 0.5),
}


def contest(n: int = 300, n_draws: int = 3000, seed: int = 0) -> dict[str, tuple[float, ...]]:
    """Return mean ECE, ATB, null level of the ATB and Brier score by forecaster.

    The true chances are drawn from Beta(2, 2), anew in each draw.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, list[list[float]]] = {name: [] for name in FORECASTERS}
    for _ in range(n_draws):
        chance = rng.beta(2, 2, n)
        label = (rng.random(n) < chance).astype(int)
        for name, states in FORECASTERS.items():
            said = states(chance)
            two = averaged_two_bin_error(label, said)
            ece = expected_calibration_error(label, said).value
            brier = brier_score(label, said).value
            found[name].append([ece, two.value, two.null_mean, brier])
    return {name: tuple(np.mean(rows, axis=0)) for name, rows in found.items()}


if __name__ == "__main__":
    rows = [
        [name, f"{ece:.3f}", f"{1e4 * two:.1f}", f"{1e4 * null:.1f}", f"{brier:.3f}"]
        for name, (ece, two, null, brier) in contest().items()
    ]
    print(markdown(["forecaster", "ECE", "ATB · 10⁴", "its null level · 10⁴", "Brier score"], rows))
