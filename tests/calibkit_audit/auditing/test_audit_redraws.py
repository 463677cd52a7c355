"""The joint test of an audit: the same sums as a naive computation, and a level that holds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from calibkit import cox_test
from calibkit_audit.auditing.alignment import alignment_answer
from calibkit_audit.auditing.evidence import power_of
from calibkit_audit.auditing.redraws import TOP, JointTest, joint_test
from calibkit_audit.auditing.rows import rows_of
from calibkit_audit.auditing.settings import AuditSettings
from calibkit_audit.clusters import cluster_folds, clusters_of
from calibkit_audit.dependent_rows import DependentRows, undecided
from tests.audit_cases import make, repeated, walk


def run(table: Any, label: Any, views: Any, seed: int = 0, n_draws: int = 199) -> JointTest:
    """Test with a seed."""
    return joint_test(table, label, views, n_draws=n_draws, rng=np.random.default_rng(seed))


def strength(label: Any, prob: Any) -> float:
    """Return -ln p of the louder of Cox's test and of the bins, step by step."""
    z = [cox_test(label, prob, part=part).statistic for part in ("intercept", "slope")]
    variance = prob * (1 - prob)
    n_cells = 2 ** int(np.log2(max(1.0, min(variance.sum() / 4, len(prob) ** 0.4))))
    before = [variance[prob < p].sum() + variance[prob == p].sum() / 2 for p in prob]
    cell = np.minimum((np.array(before) / variance.sum() * n_cells).astype(int), n_cells - 1)
    clearest, looks = -np.inf, 0
    while True:
        residual, spread = (
            np.array([part[cell == one].sum() for one in np.unique(cell)])
            for part in (label - prob, variance)
        )
        square, df = (residual**2 / spread).sum(), len(residual)
        # Wilson and Hilferty: the cube root of chi-squared is nearly normal.
        cube = (np.cbrt(square / df) - 1 + 2 / (9 * df)) / np.sqrt(2 / (9 * df))
        clearest, looks = max(clearest, cube), looks + 1
        if n_cells >> (looks - 1) == 1:
            break
        cell = cell // 2
    return max(float(np.square(z).sum()) / 2, -stats.norm.logsf(clearest) - np.log(looks))


def test_the_p_value_is_that_of_a_computation_step_by_step() -> None:
    case = make("over-forecast", 2, 90, 3)
    table = np.column_stack([1 - case.y_prob, case.y_prob])
    order = np.argsort(table[np.arange(90), case.y_true], kind="stable")
    table, label = table[order], case.y_true[order]
    redraws = DependentRows(label=label, prob=table).redraws(199, np.random.default_rng(0))
    drawn = [strength(one, table[:, 1]) for one, _ in redraws]
    beyond = np.sum(np.array(drawn) >= strength(label, table[:, 1]) - 1e-9)
    assert run(table, label, (1,)).p_value == pytest.approx((1 + beyond) / 200)


def test_alignment_is_measured_in_deviations_of_all_orders() -> None:
    rng = np.random.default_rng(0)
    table, label = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    drawn = [table[np.arange(60), rng.permutation(label)].mean() for _ in range(20_000)]
    z = (table[np.arange(60), label].mean() - np.mean(drawn)) / np.std(drawn)
    assert alignment_answer(rows_of(label, table), rng).numbers["z"] == pytest.approx(z, abs=0.05)


def test_cox_is_that_of_the_package() -> None:
    case = make("over-confident", 2, 400, 3)
    table = np.column_stack([1 - case.y_prob, case.y_prob])
    view = run(table, case.y_true, (1,)).views[0]
    level = cox_test(case.y_true, case.y_prob, part="intercept").statistic
    slope = cox_test(case.y_true, case.y_prob, part="slope").statistic
    assert view.z_level == pytest.approx(level, abs=1e-9)
    assert view.z_slope == pytest.approx(slope, abs=1e-9)
    assert view.gap == pytest.approx(case.y_prob.mean() - case.y_true.mean())


def near_the_limit(seed: int) -> tuple[Any, Any]:
    """Draw 300 predictions that are all a little too high; some seeds lie near the limit."""
    rng = np.random.default_rng(seed)
    prob = rng.random(300)
    return (rng.random(300) < prob - 0.05).astype(np.int64), prob


@pytest.mark.long
def test_redraws_go_on_until_the_side_is_settled() -> None:
    """The chance of a wrong side is bounded over all looks: for p = 0.01 itself, once in 1000."""
    counts = {100: 0, 1000: 10, 10_000: 170}
    assert [undecided(k, n, [0.01]) for n, k in counts.items()] == [True, True, False]
    assert undecided(170, 10_000, [0.01, 0.016]) and not undecided(0, 10_000, [0.01, 0.02])
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(1000):
        beyond = np.cumsum(rng.binomial(100, 0.01, 100))
        wrong += not all(undecided(int(k), 100 * (i + 1), [0.01]) for i, k in enumerate(beyond))
    assert wrong <= 6  # a bound of 1 in 1000: more than 6 would have a chance of 1 in 10 000


@pytest.mark.long
def test_no_seed_and_no_name_of_the_event_turns_the_verdict(subtests: pytest.Subtests) -> None:
    limits = (0.01, 0.02)
    for case in (11, 18, 102):  # p-values of 0.0145 to 0.015; 999 redraws would show 0.007 to 0.023
        y, p = near_the_limit(case)
        with subtests.test(case=str(case)):
            draw = {"views": (1,), "n_draws": 999, "limits": limits}
            table = np.column_stack([1 - p, p])
            found = [joint_test(table, y, rng=np.random.default_rng(s), **draw) for s in range(3)]
            assert {0.01 < one.p_value <= 0.02 for one in found} == {True}
            assert max(one.n_draws for one in found) > 5000
            renamed = joint_test(table[:, ::-1], 1 - y, rng=np.random.default_rng(0), **draw)
            assert (renamed.p_value, renamed.n_draws) == (found[0].p_value, found[0].n_draws)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 7])
def test_labels_are_drawn_with_their_probabilities(k: int) -> None:
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(k), 5)
    table[0] = np.eye(k)[1]  # certain: class 0 must never be drawn here
    label = np.array([1, 0, 1, 1, 0])  # which labels were observed does not matter
    rows = DependentRows(label=label, prob=table)
    drawn = np.stack([again for again, _ in rows.redraws(20_000, rng)])
    share = np.stack([(drawn == c).mean(axis=0) for c in range(k)], axis=1)
    assert np.abs(share - table).max() < 0.015  # more than four standard errors
    assert (drawn[:, 0] == 1).all()


def test_the_size_needed_follows_the_formula() -> None:
    case = make("calibrated", 2, 500, 4)
    table = np.column_stack([1 - case.y_prob, case.y_prob])
    view = run(table, case.y_true, (1,)).views[0]
    power = power_of(view, AuditSettings(alpha=0.05, level=0.95, detectable=0.05))
    variance = float((case.y_prob * (1 - case.y_prob)).mean())
    reach = power.smallest / np.sqrt(variance / 500)  # level and slope at half of the level
    assert stats.ncx2.sf(stats.chi2.isf(0.025, 2), 2, reach**2) == pytest.approx(0.9)
    assert power.needed == int(np.ceil((reach / 0.05) ** 2 * variance))
    assert power.needed_precise == int(np.ceil((1.959964 / 0.01) ** 2 * variance))
    four = power_of(replace(view, design=4.0), AuditSettings())  # like a quarter of the rows
    assert four.smallest == pytest.approx(2 * power_of(view, AuditSettings()).smallest)
    rare = replace(view, n=150_000, variance=2e-5)  # ten surprises take half a million rows
    found = power_of(rare, AuditSettings())
    assert (found.needed, found.needed_precise, found.enough) == (500_000, 500_000, False)
    assert power_of(replace(rare, design=4.0), AuditSettings()).needed == 2_000_000
    assert power_of(replace(rare, variance=0.0), AuditSettings()).needed == np.inf


@pytest.mark.long
@pytest.mark.parametrize("draw", [walk, repeated])
def test_clusters_hold_the_level(draw: Any) -> None:
    """Without their names nearly all of these calibrated sets are called miscalibrated."""
    alarms = []
    for seed in range(12):
        label, prob, cluster = draw(np.random.default_rng([3, seed]))
        options = {"n_draws": 199, "rng": np.random.default_rng(seed)}
        table = np.column_stack([1 - prob, prob]) if prob.ndim == 1 else prob
        left = table[np.arange(len(table)), label] > 0
        clusters = clusters_of(cluster, len(table)).take(left)
        views = [1] if prob.ndim == 1 else [TOP, 0, 1]
        both = [
            joint_test(table[left], label[left], views, clusters=c, **options)
            for c in (None, clusters)
        ]
        alarms.append([test.p_value <= 0.01 for test in both])
        assert both[1].views[0].design > 3 and both[0].views[0].design == 1
    by_row, by_cluster = np.sum(alarms, axis=0)
    assert by_row >= 8 and by_cluster <= 1


def test_folds_hold_whole_clusters_of_nearly_equal_size() -> None:
    cluster = np.repeat(np.arange(40), np.random.default_rng(0).integers(1, 30, 40))
    fold, number = cluster_folds(cluster, 5, np.random.default_rng(0))
    assert number == 5 and all(len(set(fold[cluster == c])) == 1 for c in range(40))
    size = np.bincount(fold)
    assert size.max() - size.min() <= 5
    assert cluster_folds(np.repeat([0, 1], 3), 5, np.random.default_rng(0))[1] == 2
