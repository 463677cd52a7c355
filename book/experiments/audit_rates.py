"""How often the audit accuses right models, and finds wrong ones.

``python -m book.experiments.audit_rates`` audits 300 calibrated sets in each of eight designs, then
100 sets with each of six faults (a quarter of an hour).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, logit

from book.experiments.clustered_rows import chosen, unequal
from calibkit_audit import AuditReport, AuditSettings, audit

SETTINGS = AuditSettings(n_draws=499, n_resamples=50, repairs=())
Rng = np.random.Generator
Rows = tuple[Any, Any, dict[str, Any]]  # labels, predictions, and what the audit is told
NOT_ALIGNED = {"not aligned", "no discrimination", "upside down"}


def drawn(rng: Rng, stated: Any, by: Any = 0.0, slope: float = 1.0, **told: Any) -> Rows:
    """Draw labels whose logits are so many times those that are stated, and higher by so much."""
    true = expit(slope * logit(stated) + by)
    return (rng.random(len(stated)) < true) * 1, stated, {"independent": True} | told


def classes(rng: Rng) -> Rows:
    """Draw four classes, one of them rare."""
    stated = rng.dirichlet([4, 2, 1, 0.3], 1000)
    above = rng.random((1000, 1)) > stated.cumsum(axis=1)[:, :-1]
    return above.sum(axis=1), stated, {"independent": True}


def persistence(rng: Rng) -> Rows:
    """Draw days in their order: four of five are as the day before was."""
    change = rng.random(1000) < 0.2
    days = np.cumsum(change) % 2
    return days[1:], np.where(days[:-1] == 1, 0.8, 0.2), {"time": np.arange(999)}


def clusters(rng: Rng) -> Rows:
    """Draw a hundred clusters of unequal size, which are named."""
    rows = unequal(rng)
    return rows.y_true, rows.y_prob, rows.named


def weights(rng: Rng) -> Rows:
    """Draw rows that are chosen by their label, with weights."""
    rows = chosen(rng, lambda _, label, luck: 0.02 * (1 + 2 * label) * luck)
    return rows.y_true, rows.y_prob, rows.named


DESIGNS: dict[str, Callable[[Rng], Rows]] = {
    "uniform, 1,000 rows": lambda rng: drawn(rng, rng.random(1000)),
    "60 rows": lambda rng: drawn(rng, rng.random(60)),
    "rare events (0.5 %), 4,000 rows": lambda rng: drawn(rng, rng.beta(1, 199, 4000)),
    "one digit, 1,000 rows": lambda rng: drawn(rng, rng.integers(1, 10, 1000) / 10),
    "four classes, 1,000 rows": classes,
    "persistence over 999 days": persistence,
    "100 clusters, named": clusters,
    "500 rows with weights": weights,
}


def beta(rng: Rng, n: int) -> Any:
    """Draw predictions."""
    return rng.beta(1.2, 1.5, n)


def segment(rng: Rng) -> Rows:
    """Draw rows of which one in ten belongs to a group whose logits are too low by 0.7."""
    ward = (np.arange(3000) % 10 == 0) * 1
    return drawn(rng, beta(rng, 3000), 0.7 * ward, groups=ward)


def stretch(rng: Rng) -> Rows:
    """Draw events that come less often, by 0.2, where 0.4 to 0.6 is stated."""
    stated = beta(rng, 1000)
    true = stated - 0.2 * (abs(stated - 0.5) < 0.1)
    return (rng.random(1000) < true) * 1, stated, {"independent": True}


def step(rng: Rng) -> Rows:
    """Draw rows whose logits are too low by 0.7 in the last quarter of the time."""
    part = np.arange(3000) / 3000
    return drawn(rng, beta(rng, 3000), 0.7 * (part >= 0.75), time=part)


def says(*codes: str) -> Callable[[AuditReport], bool]:
    """Tell whether a report has all of these codes."""
    return lambda report: report.codes.issuperset(codes)


FAULTS: dict[str, tuple[Callable[[Rng], Rows], Callable[[AuditReport], bool]]] = {
    "too bold (true logits 0.7 times those stated), 1,000 rows": (
        lambda rng: drawn(rng, beta(rng, 1000), slope=0.7),
        says("miscalibrated", "over-confident"),
    ),
    "too careful (1.4 times), 1,000 rows": (
        lambda rng: drawn(rng, beta(rng, 1000), slope=1.4),
        says("miscalibrated", "under-confident"),
    ),
    "too high by 0.4 in logits, 1,000 rows": (
        lambda rng: drawn(rng, beta(rng, 1000), -0.4),
        says("miscalibrated", "over-forecast"),
    ),
    "0.2 too high between 0.4 and 0.6, 1,000 rows": (stretch, says("miscalibrated")),
    "a group of 300 in 3,000 rows too low by 0.7, groups given": (
        segment,
        lambda report: report.groups is not None and report.groups.p_value[0] <= 0.01,
    ),
    "too low by 0.7 in the last quarter of 3,000 rows, times given": (step, says("error changes")),
}


def audited(make: Callable[[Rng], Rows], *seed: int) -> AuditReport:
    """Audit one set."""
    y_true, y_prob, told = make(np.random.default_rng([1129, *seed]))
    return audit(y_true, y_prob, settings=SETTINGS, rng=seed[-1], **told)


def main(sets: int = 300) -> None:
    """Print both tables."""
    for number, (name, make) in enumerate(DESIGNS.items()):
        codes = [audited(make, number, seed).codes for seed in range(sets)]
        accused = sum("miscalibrated" in one for one in codes)
        apart = sum(bool(NOT_ALIGNED & one) for one in codes)
        print(f"| {name} | {accused} | {apart} |", flush=True)
    for number, (name, (make, found)) in enumerate(FAULTS.items(), start=len(DESIGNS)):
        reports = [audited(make, number, seed) for seed in range(sets // 3)]
        print(f"| {name} | {sum(map(found, reports))} |", flush=True)


if __name__ == "__main__":
    main()
