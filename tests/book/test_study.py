"""The study: the same numbers in any order, restartable, and measures that measure the truth."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from book.experiments import synthetic as study
from book.experiments.synthetic import Cell, DataSet, EvolvedPieces, Grid, Measures, StudyResult
from calibkit.calibrators import HistogramBinning, PiecewiseLinear, PlattCalibrator, SlopeOneBinning
from calibkit.calibrators.base import Calibrator
from tests.helpers import each_case

SMALL = Grid(shapes=("square", "beta2"), errors=(0.0, 0.05), sizes=(200,), seeds=(0, 1))
UNSEEN = 20_000


class Mean(Calibrator):
    """The constant map at the mean label, made for these tests; counts its fits in a file."""

    family = "constant"

    def __init__(self, log: str = "") -> None:
        self.log = log

    def _fit(self, prob: NDArray[np.float64], label: NDArray[np.float64]) -> None:
        self.height_, self.n_parameters_ = float(label.mean()), 1
        if self.log:
            with Path(self.log).open("a", encoding="utf-8") as file:
                file.write("fit\n")

    def _curve(self, prob: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.full(prob.shape, self.height_)


def flattened(fitted: Any, prob: Any, label: Any) -> Calibrator:
    """Return a calibrator derived from a fitted one."""
    assert fitted.converged_
    return HistogramBinning(4).fit(prob, label)


FLAT = study.Derived("bins", flattened)
QUICK = {"bins": SlopeOneBinning(5), "Platt": PlattCalibrator(), "flat": FLAT}


@pytest.fixture
def fewer_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge maps on fewer predictions: quicker, and no less exact."""
    from book.experiments.synthetic import grid

    monkeypatch.setattr(grid, "UNSEEN", UNSEEN)
    for cached in (grid.unseen_rows, grid.unseen_truth):
        cached.cache_clear()
    yield
    for cached in (grid.unseen_rows, grid.unseen_truth):
        cached.cache_clear()


# --- measures ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("fewer_unseen")
def test_measures_of_a_constant_map_follow_from_its_height() -> None:
    data_set = DataSet("square", 0.05, 500, 1)
    row = study.measure(data_set, {"mean": Mean()}, ["mean"])["mean"]
    sample, unseen = data_set.sample(), data_set.unseen()
    height = sample.y_true.mean()
    judged = unseen.true_prob  # fewer than a million: every one counts
    assert row.map_error == pytest.approx(np.abs(height - judged).mean(), abs=1e-14)
    # Every event gets one prediction: what is left is the distance from the mean truth.
    assert row.after == pytest.approx(abs(height - judged.mean()), abs=1e-12)
    assert row.absolute == pytest.approx(np.abs(height - sample.y_prob).mean(), abs=1e-14)
    assert row.squared == pytest.approx(np.mean((height - sample.y_prob) ** 2), abs=1e-14)
    gap = sample.y_prob - sample.true_prob
    assert row.true_squared == pytest.approx(np.mean(gap**2), abs=1e-15)


def test_error_after_calibration_is_zero_for_the_truth_and_for_truths_merged() -> None:
    c = np.linspace(0, 1, 5001)
    assert study.error_after_calibration(c, c) == 0
    merged = np.where(c < 0.5, c[c < 0.5].mean(), c)
    assert study.error_after_calibration(merged, c) == pytest.approx(0, abs=1e-12)
    assert np.mean(np.abs(merged - c)) > 0.05


def test_error_after_calibration_of_an_injective_map_is_that_of_the_map() -> None:
    c = np.linspace(0, 1, 50_001)
    assert study.error_after_calibration(c**2, c) == pytest.approx(np.mean(np.abs(c**2 - c)), 1e-3)


@each_case("seed", range(20))
def test_error_after_calibration_never_exceeds_the_error_of_the_map(seed: int) -> None:
    rng = np.random.default_rng(seed)
    c = np.sort(rng.random(997))
    fitted = rng.choice(rng.random(rng.integers(1, 400)), 997)
    after = study.error_after_calibration(fitted, c)
    assert after <= np.mean(np.abs(fitted - c)) + 1e-12
    # No row order, and no splitting of equal predictions.
    order = rng.permutation(997)
    assert study.error_after_calibration(fitted[order], c[order]) == pytest.approx(after, abs=1e-12)


# --- running -----------------------------------------------------------------------------------


def run(grid: Grid = SMALL, evaluators: Any = None, **options: Any) -> StudyResult:
    return study.run_study(grid, evaluators or QUICK, progress=False, **options)


@pytest.mark.usefixtures("fewer_unseen")
def test_a_study_goes_on_where_it_stopped(tmp_path: Path) -> None:
    log = tmp_path / "log"
    evaluators = {"mean": Mean(str(log))}
    folder = tmp_path / "study"
    part = Grid(SMALL.shapes[:1], SMALL.errors, SMALL.sizes, SMALL.seeds)
    run(part, evaluators, folder=folder)
    assert fits(log) == len(part) == 4
    whole = run(SMALL, evaluators, folder=folder)
    assert fits(log) == len(SMALL) == 8
    assert run(SMALL, evaluators, folder=folder).cells() == whole.cells()
    assert fits(log) == 8
    more = run(SMALL, {**evaluators, "bins": SlopeOneBinning(3)}, folder=folder)
    assert fits(log) == 8
    assert more.n_cells == 16
    assert run(SMALL, evaluators, folder=folder).cells() == whole.cells()


def fits(log: Path) -> int:
    return len(log.read_text(encoding="utf-8").splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("space", ["probability", "logit"])
def test_the_refit_equals_a_search_with_the_rule(space: str) -> None:
    sample = DataSet("stairs", 0.1, 1000, 0).sample()
    p, y = sample.y_prob, sample.y_true
    ensemble = PiecewiseLinear(space, outcome="fold-ensemble", tolerance=0.0).fit(p, y)
    derived = study.refit_by_rule(ensemble, p, y)
    searched = PiecewiseLinear(space, tolerance=0.001).fit(p, y)
    assert ensemble.n_pieces_ >= derived.n_pieces_ == searched.n_pieces_
    np.testing.assert_array_equal(derived.curve(p), searched.curve(p))
    assert len(ensemble.members_) == 10 * 3  # folds times starts
    averaged = study.ensemble_by_rule(ensemble, p, y)
    by_rule = PiecewiseLinear(space, outcome="fold-ensemble", tolerance=0.001).fit(p, y)
    np.testing.assert_array_equal(averaged.curve(p), by_rule.curve(p))


def test_one_evolved_piece_is_the_least_squares_line() -> None:
    pytest.importorskip("pwlf")
    sample = DataSet("square", 0.05, 600, 0).sample()
    fitted = EvolvedPieces(1).fit(sample.y_prob, sample.y_true)
    line = np.polynomial.Polynomial.fit(sample.y_prob, sample.y_true, 1)
    p = np.linspace(0, 1, 11)
    np.testing.assert_allclose(fitted.curve(p), line(p), atol=1e-10)
    assert fitted.calibrate(p).max() <= 1


# --- tables ------------------------------------------------------------------------------------


def made_up(rng: np.random.Generator) -> StudyResult:
    grid = Grid(shapes=("square", "stairs"), sizes=(1000, 3000), seeds=(0, 1))
    cells = {}
    for data_set in grid:
        for name in ("a", "b"):
            key = (data_set.shape, data_set.error, data_set.n, data_set.seed, name)
            cells[Cell(*key)] = Measures(*rng.random(6), int(rng.integers(9)), 0.0, 0.0)
    return StudyResult.of(cells)


def test_tables_are_means_over_cells(subtests: pytest.Subtests) -> None:
    result = made_up(np.random.default_rng(3))
    frame = result.to_frame()
    tables = {
        "map_error": (result.map_error_table(), frame.map_error),
        "after": (result.after_table(), frame.after),
        "absolute": (result.absolute_table(), (frame.absolute - frame.true_absolute).abs()),
        "squared": (result.squared_table(), (frame.squared - frame.true_squared).abs()),
        "choice": (result.choice_table(), frame.choice),
        "seconds": (result.seconds_table(), frame.seconds),
    }
    for table, column in tables.values():
        with subtests.test(column=column):
            wanted = column.groupby([frame["shape"], frame["evaluator"]]).mean()
            assert table.n_data_sets == 84
            for i, shape in enumerate(table.shapes):
                for j, name in enumerate(table.evaluators):
                    assert table.values[i, j] == pytest.approx(wanted[shape, name], abs=1e-12)


def test_rank_table_is_spearman_over_derivates_averaged_over_draws(subtests) -> None:
    result = made_up(np.random.default_rng(4))
    frame = result.to_frame()
    table = result.rank_table()
    for i, shape in enumerate(table.shapes):
        for j, name in enumerate(table.evaluators):
            with subtests.test(i=i, shape=shape, j=j):
                part = frame[(frame["shape"] == shape) & (frame["evaluator"] == name)]
                wanted = [
                    stats.spearmanr(group.absolute, group.true_absolute).statistic
                    for _, group in part.groupby(["n", "seed"])
                ]
                assert len(wanted) == 4
                assert table.values[i, j] == pytest.approx(np.mean(wanted), abs=1e-12)


def test_errors_are_those_of_draws_within_sizes() -> None:
    result = made_up(np.random.default_rng(7))
    table, frame = result.map_error_table(), result.to_frame()
    frame = frame[(frame["shape"] == "stairs") & (frame.evaluator == "b")]
    draws = frame.groupby(["n", "seed"]).map_error.mean().unstack()  # two sizes, two seeds
    wanted = np.sqrt(np.mean(draws.var(axis=1, ddof=1) / 2) / 2)
    part = table.of("stairs")
    assert part.standard_error("b") == pytest.approx(wanted)
    assert part.spread("b") == pytest.approx(np.sqrt(np.mean(draws.var(axis=1, ddof=1))))
    assert np.isnan(result.select(seed=0).map_error_table().of("stairs").standard_error("b"))
