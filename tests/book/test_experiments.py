"""The experiments behind the page "Measured", each once, in small."""

import numpy as np
import pytest

from book.experiments import (
    clustered_rows,
    debiased_pieces,
    interval_coverage as coverage,
    peeking,
    rejection_rates,
    whole_vectors,
)
from calibkit.fakes import LogitDistortion, SyntheticShape
from tests.paths import ROOT


@pytest.mark.long
def test_a_test_repeated_every_day_cries_wolf_and_the_monitor_finds_what_is_wrong() -> None:
    calm, wrong = (peeking.alarms(40, 5, shift=shift) for shift in (0, 0.4))
    share = {test: np.isfinite(rows).mean() for test, rows in calm.items()}
    assert share["monitor"] <= 0.05 < 0.25 < share["test, every day"] <= share["test, every row"]
    assert np.isfinite(wrong["monitor"]).all() and np.median(wrong["monitor"]) < 600


@pytest.mark.long
def test_after_an_alarm_offsets_are_held_and_slopes_are_refit() -> None:
    shift, slope = (peeking.repairs(10, 14, "uniform", *error) for error in ((0.5, 1), (0, 0.6)))
    assert shift["held"].mean() >= 0.9 and (shift["low"] > 0).all() and not shift["refit"].any()
    assert slope["refit"].all()


@pytest.mark.long
def test_on_the_same_streams_the_rival_is_later_and_forgets_no_row_before_a_late_error() -> None:
    pytest.importorskip("probcal.monitor")
    found = peeking.beside_the_rival(6, 14, "uniform", 0.5)
    assert np.median(found["ours"]) < np.median(found["theirs"]) < np.inf
    assert (found["ours, low"] < 0.5).all() and (found["ours, high"] > 0.5).all()
    assert not (found["theirs, high"] > 0.5).any()  # it ends below, or is empty
    found = peeking.beside_the_rival(6, 14, "uniform", 0.5, 0)  # from row 1 on theirs is right
    assert (found["theirs, high"] > 0.5).all() and (found["theirs, low"] < 0.5).all()
    assert (found["theirs, low"] > found["ours, low"]).mean() > 0.5


@pytest.mark.long
def test_the_adaptive_test_sees_what_ten_bins_cannot(monkeypatch) -> None:
    """Eight periods of a sine, 2000 predictions: 99 % against 28 % in the long simulation."""
    eight = "sine, 8 periods (0.10)"
    monkeypatch.setattr(rejection_rates, "TRUTHS", {eight: rejection_rates.TRUTHS[eight]})
    rates = rejection_rates.power(2000, models=3, labels=20, draws=199)
    wave = {name: rate[eight] for name, rate in rates.items()}
    assert wave["adaptive, Bonferroni"] > 0.9
    assert wave["Hosmer-Lemeshow, predictions"] < 0.6
    assert wave["kernel 0.1"] < 0.3


@pytest.mark.long
def test_last_lines_of_lessons_spare_perfect_tables_and_find_large_faults() -> None:
    """Standard errors of 20 files are at most 11 %: 93 % of stairs, 36 % by the maps alone."""
    stairs, perfect = SyntheticShape.with_error("stairs", 0.05), LogitDistortion()
    found = [rejection_rates.five_bins_hide(fake, 20_000, 20) for fake in (stairs, perfect)]
    assert found[0] > 0.6 > 0.2 >= found[1]
    alone, barred = rejection_rates.faults_found(perfect, 1_000, 20)
    assert alone > 0.1 >= barred
    assert min(rejection_rates.faults_found(LogitDistortion(slope=0.5), 1_000, 10)) > 0.7


@pytest.mark.slow
def test_intervals_by_cluster_hold_gain_and_difference() -> None:
    """100 sets: without what fits are flattered by, 90 % intervals hold 75 of the gains."""
    assert min(clustered_rows.intervals("repeated outcome, 100 x 10", 100).values()) > 0.8


@pytest.mark.slow
def test_reflected_intervals_hold_an_error_that_is_there_and_percentiles_do_not() -> None:
    """90 % intervals of 80 sets of 500 rows, give or take four standard errors."""
    found = coverage.coverage("over-confident", 500, ("w", 1), n_sets=80, n_draws=100, seed=1)
    assert found["reflected"] > 0.85 - 4 * np.sqrt(0.85 * 0.15 / 80)
    assert found["percentile"] < 0.6


@pytest.mark.slow
def test_true_errors_of_known_bins() -> None:
    """Uniform predictions: halves of [0, 1], by the integral of p - c(p)."""
    fake, grid = LogitDistortion(slope=0.5), (np.arange(200_000) + 0.5) / 200_000
    gap = grid - fake.true_map(grid)
    halves = [abs(gap[:100_000].mean()), abs(gap[100_000:].mean())]
    known, edges = coverage.known("over-confident"), np.array([0.0, 0.5, 1.0])
    assert known.error(edges, 1) == pytest.approx(np.mean(halves), abs=1e-3)
    assert known.error(edges, 2) == pytest.approx(np.sqrt(np.mean(np.square(halves))), abs=1e-3)
    assert coverage.known("calibrated").error(edges, 1) == 0


@pytest.mark.slow
def test_errors_of_whole_vectors_are_those_of_the_page() -> None:
    page = (ROOT / "book" / "measured.md").read_text("utf-8")
    for name, power in whole_vectors.POWERS.items():
        row = page.split(f"| 3 | 300 | {name} | ")[1].split("\n")[0]
        stored = [float(cell) for cell in row.split("|")[:3]]
        assert whole_vectors.errors(3, power, 300) == pytest.approx(stored, abs=0.0051)


@pytest.mark.long
def test_debiasing_pieces_helps_where_nothing_is_wrong() -> None:
    """One draw of the ten of the page."""
    plain, debiased = debiased_pieces.distances(0.0, n_seeds=1)[1, 4:]
    assert debiased < 0.85 * plain
