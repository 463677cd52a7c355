"""How often a change over time is found, and seen where there is none.

``python -m book.experiments.time_changes`` audits independent rows with their times, calibrated but
for what each line says (two minutes).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

from calibkit_audit import AuditSettings, audit

SETTINGS = AuditSettings(n_draws=399, n_resamples=50, repairs=())
WORLDS: tuple[tuple[str, int, int, Callable[[Any, Any], Any]], ...] = (
    ("no change", 100, 300, lambda x, part: x),
    ("no change", 1_000, 300, lambda x, part: x),
    ("a step of 0.5 in the last quarter", 3_000, 100, lambda x, part: x + 0.5 * (part >= 0.75)),
    ("from 0.6 too low to 0.6 too high, straight", 100, 100, lambda x, part: x + 0.6 - 1.2 * part),
    ("the same", 1_000, 100, lambda x, part: x + 0.6 - 1.2 * part),
    (
        "0.5 higher in the middle third",
        3_000,
        100,
        lambda x, part: x + (abs(part - 0.5) < 1 / 6) / 2,
    ),
    ("timid, then bold", 3_000, 100, lambda x, part: x * np.where(part < 0.5, 0.6, 1.4)),
)


def main() -> None:
    """Print the share of sets about which the audit says that the error changes."""
    for number, (words, n, sets, true) in enumerate(WORLDS):
        found = 0
        for seed in range(sets):
            rng = np.random.default_rng([31, number, seed])
            stated = rng.normal(0, 1.5, n)
            label = rng.random(n) < expit(true(stated, np.arange(n) / n))
            report = audit(
                label,
                expit(stated),
                time=np.arange(n),
                independent=True,
                settings=SETTINGS,
                rng=seed,
            )
            found += "error changes" in report.codes
        print(f"{words}, {n:,} rows: {found} of {sets}", flush=True)


if __name__ == "__main__":
    main()
