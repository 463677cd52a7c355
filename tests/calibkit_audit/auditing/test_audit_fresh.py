"""Verdicts on data that the audit was not built with: other shapes, other seeds, true levels.

The cases of `audit_cases` were looked at while the method was chosen. These were drawn
afterwards, once; the numbers in the notes of `audit` are theirs. Rows that gave 0 to what
happened are a finding of their own, and the level is that of the test on the others.

Per cent of calibrated sets that the test calls miscalibrated at the levels 1 % and 5 %, of sets
found after logits were stretched by 1.5 (at 1 %), and of calibrated sets about which verdict and
null level of the ECE (at 5 %) disagree. "Votes" are shares of 100, with many 0 and 1; "hard zeros"
are votes whose 0 and 1 stand for half a vote, and are contradicted.

===================  =======  =====  =====  =====  =====  ==========
predictions          uniform  sharp  rare   ties   votes  hard zeros
===================  =======  =====  =====  =====  =====  ==========
100 rows, 1 %        1.0      1.5    1.2    1.2    0.2    0.5
100 rows, 5 %        6.2      5.5    5.5    5.2    4.8    3.2
100 rows, found      30       31     42     38     28     30
100 rows, disagree   6.8      4.0    3.0    4.0    4.8    6.0
1,000 rows, 1 %      1.0      0.7    0.7    0.3    2.3    0.0
1,000 rows, 5 %      6.7      3.3    2.3    4.0    5.0    3.3
1,000 rows, found    100      100    100    100    99.7   99.7
1,000, disagree      5.3      6.7    5.0    5.7    5.0    (3.0)
10,000 rows, 1 %     0        2      0      1      0      3
10,000 rows, 5 %     1        8      6      4      5      7
100,000 rows, 1 %    0        0      0      3      0      0
===================  =======  =====  =====  =====  =====  ==========

There were 400, 300, 100 and 30 sets; standard errors at 1 % are 0.5, 0.6, 1.0 and 1.8. The
number in brackets is of the sets on which the level was chosen.
"""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit, softmax

from calibkit import expected_calibration_error, null_level
from calibkit_audit.auditing import AuditReport, AuditSettings, audit
from calibkit_audit.auditing.redraws import joint_test
from calibkit_audit.auditing.rows import rows_of

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


def votes(n: int, rng: np.random.Generator, hard: bool) -> tuple[Any, Any]:
    """Shares of 100 votes, with many 0 and 1; where `hard`, these stand for half a vote."""
    said = rng.binomial(100, rng.beta(0.3, 0.3, n)) / 100
    true = np.clip(said, 0.005, 0.995) if hard else said
    return said, (rng.random(n) < true).astype(int)


def set_of(shape: str, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    if shape in ("votes", "hard zeros"):
        return votes(n, rng, shape == "hard zeros")
    said = true_probabilities(shape, n, rng)
    return said, (rng.random(n) < said).astype(int)


def p_value_of(said: Any, y: Any, i: int) -> float:
    """Return the p-value of the rows that are not sure, without all else in a report."""
    rows = rows_of(y, said)
    draws: Any = {"n_draws": 299, "rng": np.random.default_rng(i)}
    return joint_test(rows.table, rows.label, (1,), **draws).others


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
    # One in fifty is borderline or worse; three standard errors, too.
    least = 0.98 - 3 * np.sqrt(0.98 * 0.02 / n_calibrated)
    assert np.mean([said["calibration"] == "no evidence" for said in verdicts]) >= least
    assert np.mean([said["alignment"] == "not aligned" for said in verdicts]) <= 0.01
    wrong = [distorted(i) for i in range(n_distorted)]
    found = [(kind, r) for kind, r in wrong if r.verdicts["calibration"] == "miscalibrated"]
    assert len(found) >= 0.95 * len(wrong)
    assert np.mean([kind == r.verdicts["direction"] for kind, r in found]) >= 0.95
    dealt = [shuffled(i).verdicts["alignment"] for i in range(n_shuffled)]
    assert "aligned" not in dealt
    assert dealt.count("no discrimination") >= 0.95 * n_shuffled


ROWS = ("uniform", "sharp", "rare", "ties", "votes", "hard zeros")


@pytest.mark.long
@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("n", [100, 1000])
def test_the_verdict_keeps_its_level_and_finds(shape: str, n: int) -> None:
    """At 5 %, so that few sets can tell: more than 14 of 100 have a chance of 1 in 5000."""
    alarms = found = 0
    for i in range(100):
        said, y = set_of(shape, n, np.random.default_rng([20261124, n, i]))
        alarms += p_value_of(said, y, i) <= 0.05
        if n == 1000 and i < 20:  # the same labels, after logits were stretched by 1.5
            inside = (said > 0) & (said < 1)
            far = np.where(inside, expit(1.5 * logit(np.clip(said, 1e-9, 1 - 1e-9))), said)
            found += p_value_of(far, y, i) <= 0.01
    assert alarms <= 14
    assert n < 1000 or found >= 17


@pytest.mark.long
@pytest.mark.parametrize("shape", ROWS)
def test_verdict_and_null_level_rarely_disagree(shape: str) -> None:
    """Both are about calibrated models here: they disagree where one of them errs."""
    apart = 0
    for i in range(40):
        said, y = set_of(shape, 400, np.random.default_rng([20261126, i]))
        null = null_level(expected_calibration_error, y, said, bins=15, n_draws=99, rng=i)
        apart += (p_value_of(said, y, i) <= 0.01) != (null.p_value <= 0.05)
    assert apart <= 9  # errors of 6 in 100: more have a chance of 1 in 3000


@pytest.mark.long
def test_verdicts_on_fresh_cases() -> None:
    check(40, 24, 12)
