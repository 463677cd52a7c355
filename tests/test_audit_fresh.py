"""Verdicts on data that the audit was not built with: other shapes, other seeds, true levels.

The cases of `audit_cases` were looked at while the method was chosen. These were drawn
afterwards, once; the numbers in the notes of `audit` are theirs (3 000, 240 and 120 of them).
"""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit, softmax

from calibkit.auditing import AuditReport, AuditSettings, audit

QUICK = AuditSettings(n_resamples=50, repairs=[])
VALUES = (0.02, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99)
SHAPES = ("uniform", "sharp", "rare", "ties", "K=3", "K=10")
BLURRED = ("medium", "K=3", "K=10", "uniform")  # shapes in which a distortion can be seen
SHUFFLED = ("medium", "K=3", "K=10", "uniform", "sharp", "rare")
KINDS = ("over-confident", "under-confident", "over-forecast", "under-forecast")


def true_probabilities(shape: str, n: int, rng: np.random.Generator) -> Any:
    if shape == "uniform":
        return rng.random(n)
    if shape == "sharp":
        return expit(rng.normal(0.5, 4, n))
    if shape == "rare":
        return expit(rng.normal(-3.6, 1, n))
    if shape == "ties":
        return rng.choice(VALUES, n)
    if shape == "medium":
        return expit(rng.normal(rng.uniform(-1, 1), rng.uniform(1, 2.5), n))
    if shape == "K=3":
        return rng.dirichlet([0.5, 1, 2], n)
    return softmax(1.5 * rng.gumbel(size=(n, 10)) + rng.normal(0, 0.7, 10), axis=1)


def start(seed: int, i: int, shape: str) -> tuple[Any, Any, np.random.Generator]:
    """Draw probabilities, and labels that follow them."""
    rng = np.random.default_rng([seed, i])
    n = int(np.exp(rng.uniform(np.log(500), np.log(5000))))
    p = true_probabilities(shape, n, rng)
    if p.ndim == 1:
        return p, (rng.random(n) < p).astype(int), rng
    return p, np.array([rng.choice(p.shape[1], p=row / row.sum()) for row in p]), rng


def calibrated(i: int) -> AuditReport:
    p, y, _ = start(20261121, i, SHAPES[i % 6])
    return audit(y, p, settings=QUICK, rng=i)


def distorted(i: int) -> tuple[str, AuditReport]:
    kind = KINDS[i % 4]
    p, y, rng = start(20261122, i, BLURRED[(i // 4) % 4])
    slope, shift = 1.0, 0.0
    if kind.endswith("confident"):
        slope = rng.uniform(1.6, 2.5) if kind == "over-confident" else 1 / rng.uniform(1.6, 2.5)
    else:
        shift = rng.uniform(0.5, 1.0) * (1 if kind == "over-forecast" else -1)
    if p.ndim == 1:
        said = expit(slope * logit(np.clip(p, 1e-9, 1 - 1e-9)) + shift)
        return kind, audit(y, said, settings=QUICK, rng=i)
    scores = slope * np.log(np.maximum(p, 1e-12))
    scores[:, 0] += shift
    view = 0 if shift else None
    return kind, audit(y, softmax(scores, axis=1), view=view, settings=QUICK, rng=i)


def shuffled(i: int) -> AuditReport:
    p, y, rng = start(20261123, i, SHUFFLED[i % 6])
    return audit(rng.permutation(y), p, settings=QUICK, rng=i)


def check(n_calibrated: int, n_distorted: int, n_shuffled: int) -> None:
    fair = [calibrated(i) for i in range(n_calibrated)]
    p_values = np.array([report.evidence.test.p_value for report in fair])
    for alpha in (0.02, 0.05):  # the level is what it is said to be, within three standard errors
        slack = 3 * np.sqrt(alpha * (1 - alpha) / n_calibrated)
        assert np.mean(p_values <= alpha) <= alpha + slack
    verdicts = [report.verdicts for report in fair]
    assert np.mean([said["calibration"] == "no evidence" for said in verdicts]) >= 0.93
    assert np.mean([said["alignment"] == "not aligned" for said in verdicts]) <= 0.01
    wrong = [distorted(i) for i in range(n_distorted)]
    found = [(kind, r) for kind, r in wrong if r.verdicts["calibration"] == "miscalibrated"]
    assert len(found) >= 0.95 * len(wrong)
    assert np.mean([kind == r.verdicts["direction"] for kind, r in found]) >= 0.95
    dealt = [shuffled(i).verdicts["alignment"] for i in range(n_shuffled)]
    assert "aligned" not in dealt
    assert dealt.count("not aligned") >= 0.95 * n_shuffled


def test_verdicts_on_a_few_fresh_cases() -> None:
    check(12, 8, 6)


@pytest.mark.slow
def test_verdicts_on_fresh_cases() -> None:
    check(150, 64, 30)
