"""Clusters: what is refused, closed forms, and redraws that keep rows together."""

import numpy as np
import pytest
from scipy import special, stats

import calibkit as ck
from calibkit_audit import audit, compare
from calibkit_audit.clusters import Clusters, clusters_of, mean_interval
from calibkit_audit.dependent_rows import Dependence, DependentRows, consistency_band
from tests.helpers import binary_data

ECE = ck.expected_calibration_error
BAD = {
    "missing": (["a", None, "a", "b"], r"cluster\[1\] is missing"),
    "nan": ([1.0, 1.0, np.nan, 2.0], r"cluster\[2\] is missing"),
    "infinite": ([0.0, 0.0, np.inf, 1.0], r"cluster\[2\] = inf names nothing"),
    "empty": (["a", "a", "b", " "], r"cluster\[3\] is missing"),
    "mixed": (["a", "a", 3, 3], r"cluster\[2\] = 3 is of another kind than cluster\[0\] = 'a'"),
    "a date": (
        [np.datetime64("2024-01-01").item(), 1, 1, 2],
        r"cluster\[1\] = 1 is of another kind",
    ),
    "one": (["a"] * 4, "one name, 'a', in all rows"),
    "all": (["a", "b", "c", "d"], "each of 4 rows differently: leave it out"),
    "short": (["a", "b"], r"shape \(2,\); it needs one value for each of 4 rows"),
}


def test_what_says_nothing_of_clusters_is_refused(subtests: pytest.Subtests) -> None:
    y, p = [0, 1, 1, 0], [0.2, 0.7, 0.6, 0.4]
    for case, (cluster, message) in BAD.items():
        for call in (
            lambda c: clusters_of(c, 4),
            lambda c: audit(y, p, cluster=c),
            lambda c: compare(y, {"a": p, "b": p}, cluster=c),
        ):
            with subtests.test(case=case), pytest.raises(ValueError, match=message):
                call(cluster)


def test_sums_and_resamples_are_those_of_whole_clusters() -> None:
    rng = np.random.default_rng(0)
    clusters = clusters_of(rng.permutation(np.repeat(list("dbca"), [1, 2, 3, 5])), 11)
    values = rng.normal(size=(11, 2))
    for code in range(4):
        mine = values[clusters.code == code].sum(axis=0)
        assert clusters.sums(values)[code] == pytest.approx(mine)
    drawn = clusters.resample(rng)
    for code in range(4):
        times = np.bincount(drawn, minlength=11)[clusters.code == code]
        assert len(set(times.tolist())) == 1
    left = clusters.take(clusters.code != 2)
    assert left.count == 3 and sorted(set(left.code.tolist())) == [0, 1, 2]


def test_the_interval_of_equal_clusters_is_that_of_their_means() -> None:
    values = np.random.default_rng(0).normal(size=(2, 60))
    clusters = Clusters(np.repeat(np.arange(12), 5), 12)
    means = values.reshape(2, 12, 5).mean(axis=2)
    for units, given in ((means, clusters), (values, None)):
        ends = [stats.t.interval(0.9, len(m) - 1, m.mean(), stats.sem(m)) for m in units]
        assert np.transpose(mean_interval(values, 0.9, given)) == pytest.approx(np.array(ends))


@pytest.mark.parametrize("truth", [0.0, 0.3, 0.9])
def test_redraws_keep_probabilities_and_bring_the_correlation_back(truth: float) -> None:
    rng, prob = np.random.default_rng(3), np.tile([0.05, 0.3, 0.5, 0.9], 400)
    clusters = Clusters(np.repeat(np.arange(400), 4), 400)
    shared = rng.standard_normal(400)[clusters.code]
    normal = np.sqrt(truth) * shared + np.sqrt(1 - truth) * rng.standard_normal(1600)
    chance = Dependence(prob, (special.ndtr(normal) < prob) * 1, clusters, rng)
    assert chance.correlation == pytest.approx(truth, abs=0.12)
    drawn = np.stack(list(chance.redraws(300, rng))).reshape(-1, 4)
    assert drawn.mean(axis=0) == pytest.approx(prob[:4], abs=0.01)


def test_redraws_know_patients_and_doctors() -> None:
    rng, prob = np.random.default_rng(5), np.tile([0.1, 0.3, 0.5, 0.8], 1500)
    patient, doctor = rng.integers(0, 300, 6000), rng.integers(0, 100, 6000)
    shared = np.sqrt(0.3) * rng.standard_normal(300)[patient]
    shared += np.sqrt(0.2) * rng.standard_normal(100)[doctor]
    label = (special.ndtr(shared + np.sqrt(0.5) * rng.standard_normal(6000)) < prob) * 1
    clusters = clusters_of([patient, doctor], 6000, several=True)
    chance = Dependence(prob, label, clusters, rng)
    assert chance.correlation == pytest.approx([0.2, 0.3], abs=0.08)
    drawn = np.stack(list(chance.redraws(60, rng)))
    assert drawn.reshape(-1, 4).mean(axis=0) == pytest.approx(prob[:4], abs=0.015)
    for way in (clusters, *clusters.beside):
        scatter = [np.square(way.sums(one - prob)).sum() for one in (label, *drawn)]
        assert scatter[0] == pytest.approx(np.mean(scatter[1:]), rel=0.2)


@pytest.mark.long
def test_rows_that_say_nothing_new_change_no_level() -> None:
    """Every row ten times, named: the same answers as of single rows, but for the draws."""
    y, p = binary_data(300, seed=4)
    cluster, again = np.repeat(np.arange(300), 10), (np.repeat(y, 10), np.repeat(p, 10))
    groups = clusters_of(cluster, 3000)
    rows = DependentRows(label=again[0], prob=again[1], clusters=groups)
    for measure in (ECE, ck.log_loss):
        nulls = (
            ck.null_level(measure, y, p, rng=0, n_draws=400),
            rows.null_level(measure, rng=0, n_draws=400),
        )
        assert nulls[1].mean == pytest.approx(nulls[0].mean, rel=0.12)
        assert nulls[1].sd == pytest.approx(nulls[0].sd, rel=0.25)
        ends = (
            ck.bootstrap_interval(measure, y, p, rng=0),
            rows.bootstrap_interval(measure, level=0.9, n_draws=1000, rng=0),
        )
        widths = [one.high - one.low for one in ends]
        assert widths[1] == pytest.approx(widths[0], rel=0.2)
    bands = [
        consistency_band(
            ck.binary_problem(*data), rng=0, bins=5, level=0.9, n_draws=1000, clusters=names
        )
        for data, names in (((y, p), None), (again, groups))
    ]
    reach = [(band.upper - band.lower)[band.table.occupied] for band in bands]
    assert reach[1] == pytest.approx(reach[0], rel=0.3)
