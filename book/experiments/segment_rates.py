"""How often a segment is accused: `python -m book.experiments.segment_rates`.

Calibrated rows in six designs, then one segment of a tenth of the rows that is off.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, logit

from calibkit_audit.clusters import clusters_of
from calibkit_audit.dependent_rows import DependentRows
from calibkit_audit.segments import SegmentTable, features_of, segment_table

SETS, DRAWS = 200, 199
Rows = tuple[Any, Any, dict[str, Any], Any]


def drawn(rng: np.random.Generator, n: int, chance: Any, *, patients: int = 0) -> Rows:
    """Return labels, predictions, three features, and clusters where rows share a patient."""
    features = {
        "ward": rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1]),
        "age": rng.normal(60, 15, n),
        "sex": rng.choice(["f", "m"], n),
    }
    if not patients:
        return rng.random(n) < chance, chance, features, None
    who = rng.integers(0, patients, n)
    own = chance * np.ones(n)
    brings = rng.normal(0, 1, patients)[who]
    node, weight = np.polynomial.hermite_e.hermegauss(40)
    stated = expit(logit(own)[:, np.newaxis] + node) @ weight / weight.sum()
    return rng.random(n) < expit(logit(own) + brings), stated, features, who


DESIGNS: dict[str, Callable[[np.random.Generator], Rows]] = {
    "even, 1,000 rows": lambda rng: drawn(rng, 1000, rng.random(1000)),
    "300 rows": lambda rng: drawn(rng, 300, rng.random(300)),
    "sharp": lambda rng: drawn(rng, 1000, rng.beta(0.3, 0.3, 1000)),
    "rare": lambda rng: drawn(rng, 2000, rng.beta(1, 19, 2000)),
    "one digit": lambda rng: drawn(rng, 1000, rng.integers(1, 10, 1000) / 10),
    "patients named": lambda rng: drawn(rng, 1000, rng.beta(2, 3, 1000), patients=250),
}


def off(rng: np.random.Generator, by: float) -> Rows:
    """Return 3,000 rows, where those of ward C (a tenth) are off by so much in logits."""
    _, stated, features, _ = drawn(rng, 3000, rng.beta(2, 3, 3000))
    chance = expit(logit(stated) + by * (features["ward"] == "C"))
    return rng.random(3000) < chance, stated, features, None


def worst(rows: Rows, seed: int) -> SegmentTable:
    """Return the segments as an audit with these groups has them."""
    y, p, features, who = rows
    clusters = None if who is None else clusters_of(who, len(p))
    data, rng = DependentRows(label=y, prob=p, clusters=clusters), np.random.default_rng(seed)
    parts = features_of(features, len(p))
    return segment_table(data, "y = 1", parts, DRAWS, rng, alpha=0.01, detectable=0.1)


def main() -> None:
    """Print both tables."""
    for number, (name, design) in enumerate(DESIGNS.items()):
        smallest = []
        for seed in range(SETS):
            found = worst(design(np.random.default_rng([number, seed])), seed)
            smallest.append(found.p_value[0])
        at = [100 * float(np.mean(np.array(smallest) <= level)) for level in (0.01, 0.05)]
        print(f"| {name} | {at[0]:.1f} | {at[1]:.1f} |", flush=True)
    for by in (0.4, 0.6, 0.8):
        hits = []
        for seed in range(SETS // 4):
            found = worst(off(np.random.default_rng([99, seed]), by), seed)
            hits.append(found.p_value[0] <= 0.01 and "ward C" in found.segment[0])
        print(f"off by {by} logits: found and named in {100 * np.mean(hits):.0f} %", flush=True)


if __name__ == "__main__":
    main()
