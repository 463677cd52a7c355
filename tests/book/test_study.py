"""The study: the same numbers in any order, restartable, and measures that measure the truth."""

import json
import os
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from book.experiments import synthetic as study
from book.experiments.synthetic import (
    Cell,
    DataSet,
    Grid,
    Measures,
    StudyResult,
    _store,
    gallery,
    page,
)
from calibkit import progress
from calibkit.calibrators import FlatBinning, IsotonicCalibrator, PlattCalibrator, SlopeOneBinning
from calibkit.calibrators.base import Calibrator
from calibkit.fakes import SyntheticShape
from calibkit.fit_on_test import compare_evaluators, fit_on_test, standard_evaluators
from calibkit.piecewise import PiecewiseLinear

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
    return FlatBinning(4).fit(prob, label)


QUICK = {
    "bins": SlopeOneBinning(5),
    "Platt": PlattCalibrator(),
    "flat": study.Derived("bins", flattened),
}


@pytest.fixture
def fewer_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge maps on fewer predictions: quicker, and no less exact."""
    from book.experiments.synthetic import grid

    monkeypatch.setattr(grid, "UNSEEN", UNSEEN)
    for cached in (grid._unseen, grid._unseen_truth):
        cached.cache_clear()
    yield
    for cached in (grid._unseen, grid._unseen_truth):
        cached.cache_clear()


def numbers(result: StudyResult) -> dict[Cell, Measures]:
    """Return the cells without the seconds; no map is None, which equals itself."""
    rows = {cell: row._replace(seconds=0.0) for cell, row in result.cells().items()}
    return {c: Measures(*(None if x != x else x for x in row)) for c, row in rows.items()}


# --- the grid ----------------------------------------------------------------------------------


def test_the_full_grid_is_that_of_the_source() -> None:
    grid = Grid()
    keys = [data_set.key for data_set in grid]
    assert len(grid) == len(keys) == len(set(keys)) == 1575 and grid.sizes == (1000, 3000, 10_000)
    assert grid.errors == tuple(i / 200 for i in range(21))


@pytest.mark.slow
def test_unseen_predictions_are_a_million_of_the_same_classifier() -> None:
    data_set = DataSet("beta1", 0.05, 100, 0)
    unseen = data_set.unseen()
    assert len(unseen.prob) == 1_000_000 and np.all(np.diff(unseen.prob) >= 0)
    assert not unseen.prob.flags.writeable
    expected = SyntheticShape.with_error("beta1", 0.05).sample(1_000_000, 0)
    np.testing.assert_array_equal(unseen.prob, expected.y_prob)
    np.testing.assert_array_equal(unseen.true_prob, expected.true_prob)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"shapes": ("circle",)}, 'must be "square"'),
        ({"errors": (0.5,)}, "impossible"),
        ({"sizes": (0,)}, "n must be"),
        ({"seeds": (-1,)}, "seed must be"),
        ({"seeds": ()}, "seeds must be a tuple of different values"),
        ({"sizes": (10, 10)}, "sizes must be a tuple of different values"),
        ({"errors": [0.01]}, "errors must be a tuple"),
    ],
)
def test_impossible_grids_are_refused(axes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Grid(**axes)


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
    assert row.true_absolute == pytest.approx(np.abs(gap).mean(), abs=1e-15)
    assert row.true_squared == pytest.approx(np.mean(gap**2), abs=1e-15) and row.choice == 1


@pytest.mark.usefixtures("fewer_unseen")
def test_bins_are_read_debiased_and_other_families_as_they_are(subtests: pytest.Subtests) -> None:
    data_set = DataSet("stairs", 0.06, 400, 2)
    evaluators = {"bins": SlopeOneBinning(8), "isotonic": IsotonicCalibrator()}
    rows = study.measure(data_set, evaluators, evaluators)
    sample = data_set.sample()
    for name, evaluator in evaluators.items():
        with subtests.test(name=name, evaluator=evaluator):
            fitted = fit_on_test(sample.y_true, sample.y_prob, evaluator=evaluator)
            wanted = fitted.debiased if name == "bins" else fitted.value
            assert rows[name].absolute == pytest.approx(wanted, abs=1e-15)
    plain = fit_on_test(sample.y_true, sample.y_prob, evaluator=evaluators["bins"])
    assert rows["bins"].absolute != pytest.approx(plain.value, abs=1e-6)
    assert rows["bins"].choice == 8


@pytest.mark.slow
@pytest.mark.parametrize(
    "evaluator",
    [PlattCalibrator(), PiecewiseLinear("probability", 6), PiecewiseLinear("logit", 6)],
    ids=["Platt", "PL", "PL3"],
)
def test_every_tenth_prediction_is_enough_without_jumps(evaluator: Calibrator) -> None:
    data_set = DataSet("stairs", 0.1, 1000, 4)
    row = study.measure(data_set, {"it": evaluator}, ["it"])["it"]
    sample, unseen = data_set.sample(), data_set.unseen()
    fitted = evaluator.fit(sample.y_prob, sample.y_true).curve(unseen.prob)
    everywhere = float(np.mean(np.abs(fitted - unseen.true_prob)))
    assert row.map_error == pytest.approx(everywhere, abs=1e-6)


def test_error_after_calibration_is_zero_for_the_truth_and_for_truths_merged() -> None:
    c = np.linspace(0, 1, 5001)
    assert study.error_after_calibration(c, c) == 0
    merged = np.where(c < 0.5, c[c < 0.5].mean(), c)
    assert study.error_after_calibration(merged, c) == pytest.approx(0, abs=1e-12)
    assert np.mean(np.abs(merged - c)) > 0.05


def test_error_after_calibration_of_an_injective_map_is_that_of_the_map() -> None:
    c = np.linspace(0, 1, 50_001)
    assert study.error_after_calibration(c**2, c) == pytest.approx(np.mean(np.abs(c**2 - c)), 1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_error_after_calibration_never_exceeds_the_error_of_the_map(seed: int) -> None:
    rng = np.random.default_rng(seed)
    c = np.sort(rng.random(997))
    fitted = rng.choice(rng.random(rng.integers(1, 400)), 997)
    after = study.error_after_calibration(fitted, c)
    assert after <= np.mean(np.abs(fitted - c)) + 1e-12
    # No row order, and no splitting of equal predictions.
    order = rng.permutation(997)
    assert study.error_after_calibration(fitted[order], c[order]) == pytest.approx(after, abs=1e-12)
    if len(np.unique(fitted)) == 1:
        assert after == pytest.approx(abs(np.mean(fitted - c)), abs=1e-12)


# --- running -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("fewer_unseen")
def test_threads_change_no_number() -> None:
    one = run(n_jobs=1)
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert numbers(run()) == numbers(one)


def run(grid: Grid = SMALL, evaluators: Any = None, **options: Any) -> StudyResult:
    return study.run_study(grid, evaluators or QUICK, progress=False, **options)


@pytest.mark.usefixtures("fewer_unseen")
def test_the_order_of_the_grid_changes_no_number() -> None:
    backwards = Grid(SMALL.shapes[::-1], SMALL.errors[::-1], SMALL.sizes, SMALL.seeds[::-1])
    assert numbers(run(backwards)) == numbers(run())
    alone = Grid(("beta2",), (0.05,), (200,), (1,))
    part = numbers(run(alone, {"Platt": PlattCalibrator()}))
    assert part.items() <= numbers(run()).items()


@pytest.mark.slow
@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.long)])
def test_dask_gives_the_same_numbers(processes: bool) -> None:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    grid = Grid(("square",), (0.05,), (1000,), (0, 1))
    with (
        distributed.LocalCluster(processes=processes, **options) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        remote = run(grid, study.bin_evaluators())
    assert numbers(remote) == numbers(run(grid, study.bin_evaluators()))


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


@pytest.mark.usefixtures("fewer_unseen")
@pytest.mark.parametrize("damage", ["cut", "empty", "altered", "renamed", "other format", "list"])
def test_damaged_files_are_computed_again(tmp_path: Path, damage: str) -> None:
    log, folder = tmp_path / "log", tmp_path / "study"
    evaluators = {"mean": Mean(str(log))}
    whole = run(evaluators=evaluators, folder=folder)
    files = sorted(folder.iterdir())
    text = files[0].read_text(encoding="utf-8")
    other = files[1].read_text(encoding="utf-8")
    first = json.loads(text)["rows"]["mean"]["values"][0]
    broken = {
        "cut": text[: len(text) // 2],
        "empty": "",
        "altered": text.replace(repr(first), repr(first + 1)),
        "renamed": other,
        "other format": text.replace('"format": 1', '"format": 0'),
        "list": "[1, 2]",
    }[damage]
    assert broken != text
    files[0].write_text(broken, encoding="utf-8")
    again = run(evaluators=evaluators, folder=folder)
    assert fits(log) == len(SMALL) + 1
    assert numbers(again) == numbers(whole)
    assert _store.read(folder, files[0].stem)


@pytest.mark.usefixtures("fewer_unseen")
def test_a_changed_evaluator_is_measured_again(tmp_path: Path) -> None:
    five = run(evaluators={"bins": SlopeOneBinning(5)}, folder=tmp_path)
    six = run(evaluators={"bins": SlopeOneBinning(6)}, folder=tmp_path)
    assert set(five.choice) == {5}
    assert set(six.choice) == {6}


def test_a_file_is_whole_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _store.write(tmp_path, "key", {"a": {"spec": "s", "values": [1]}})
    before = _store.read(tmp_path, "key")

    def power_cut(handle: int) -> None:
        raise OSError("power cut")

    monkeypatch.setattr(os, "fsync", power_cut)
    with pytest.raises(OSError, match="power cut"):
        _store.write(tmp_path, "key", {"b": {"spec": "t", "values": [2]}})
    assert [path.name for path in tmp_path.iterdir()] == ["key.json"]
    assert _store.read(tmp_path, "key") == before


@pytest.mark.usefixtures("fewer_unseen")
def test_evaluators_are_not_changed() -> None:
    evaluators = {"bins": SlopeOneBinning(5)}
    run(evaluators=evaluators)
    assert not hasattr(evaluators["bins"], "converged_")


@pytest.mark.parametrize(
    ("evaluators", "message"),
    [
        ({"flat": study.Derived("bins", flattened)}, "derived from 'bins'"),
        ({"PL": PiecewiseLinear(rng=None)}, "order of execution"),
        ({"PL": PiecewiseLinear(rng=np.random.default_rng(0))}, "order of execution"),
    ],
)
def test_impossible_evaluators_are_refused(evaluators: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(evaluators=evaluators)
    with pytest.raises(ValueError, match="at least one evaluator"):
        study.run_study(SMALL, {})


def test_specifications_say_everything_that_matters() -> None:
    evaluators = study.default_evaluators()
    texts = [study.specification(name, evaluators) for name in evaluators]
    assert len(set(texts)) == len(texts)
    assert "KFold(n_splits=10, random_state=1, shuffle=True)" in texts[2]


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


# --- progress ----------------------------------------------------------------------------------


def test_progress_with_tqdm_and_without_any(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    assert list(progress.track([1, 2], 2, show=True, label="study")) == [1, 2]
    assert "study" in capsys.readouterr().err
    assert list(progress.track([1, 2], 2, show=False, label="study")) == [1, 2]
    assert capsys.readouterr().err == ""


# --- tables ------------------------------------------------------------------------------------


def made_up(rng: np.random.Generator) -> StudyResult:
    grid = Grid(shapes=("square", "stairs"), sizes=(1000, 3000), seeds=(0, 1))
    cells = {}
    for data_set in grid:
        for name in ("a", "b"):
            key = (data_set.shape, data_set.error, data_set.n, data_set.seed, name)
            cells[Cell(*key)] = Measures(*rng.random(6), choice=int(rng.integers(9)), seconds=0.0)
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


def test_rank_table_knows_no_rank_of_constants() -> None:
    cells = {
        Cell("square", error, 100, 0, "a"): Measures(0, 0, 0.1, 0, error, 0, 1, 0)
        for error in (0.0, 0.05)
    }
    table = StudyResult.of(cells).rank_table()
    assert np.isnan(table.draws.values).all() and table.evaluators == ()


def test_a_part_of_a_study_has_the_same_numbers() -> None:
    result = made_up(np.random.default_rng(6))
    part = result.select(n=1000, evaluator=["b"], error=(0.0, 0.035))
    assert part.n_cells == 2 * 2 * 2 and part.cells().items() <= result.cells().items()
    with pytest.raises(ValueError, match="no coordinate 'size'"):
        result.select(size=1000)
    with pytest.raises(ValueError, match="no cell"):
        result.select(n=7)


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


def test_shapes_share_their_draws_so_they_are_averaged_first() -> None:
    table = made_up(np.random.default_rng(8)).map_error_table()
    pooled = table.pooled()
    assert len(pooled.draws) == 4
    both = np.mean([table.of(shape).column("a") for shape in table.shapes], axis=0)
    np.testing.assert_allclose(pooled.column("a"), both, atol=1e-15)


def test_an_evaluator_of_some_strengths_is_compared_on_those() -> None:
    cells = made_up(np.random.default_rng(9)).cells()
    few = {cell: row for cell, row in cells.items() if cell.evaluator == "a" or cell.error > 0.09}
    result = StudyResult.of(few)
    assert result.strengths_of("b") == (0.095, 0.1)
    assert result.map_error_table().evaluators == ("a",)
    part = result.only("b").map_error_table()
    assert part.evaluators == ("a", "b") and part.n_data_sets == 8
    assert "168 data sets of 2 shapes: 184 cells" in result.describe()


def test_results_read_well() -> None:
    result = made_up(np.random.default_rng(5))
    assert StudyResult.of(result.cells()).cells() == result.cells()
    assert "168 data sets of 2 shapes: 336 cells" in result.describe()
    table = result.map_error_table()
    assert "2 shapes and 2 evaluators, each from 84 data sets" in table.describe()
    assert list(table.to_frame().columns) == ["shape", "a", "b"]
    assert "<table>" in table._repr_html_()
    np.testing.assert_array_equal(table.column("a"), table.values[:, 0])
    with pytest.raises(ValueError, match="no evaluator 'c'"):
        table.column("c")
    with pytest.raises(ValueError, match="at least one cell"):
        StudyResult.of({})
    with pytest.raises(ValueError, match="read-only"):
        result.map_error[0] = 1.0


def test_the_gallery_shows_who_can_express_the_stairs() -> None:
    """What the text under the figure says, of two evaluators that are quick to fit."""
    chosen = {
        k: v for k, v in standard_evaluators().items() if k in ("15 equal-mass bins", "Platt")
    }
    off = {}
    for shape in ("square", "stairs"):
        fake = SyntheticShape.with_error(shape, gallery.ERROR)
        data = fake.sample(gallery.ROWS, gallery.SEED)
        found = compare_evaluators(
            data.y_true, data.y_prob, evaluators=chosen, truth=data.true_prob
        )
        off[shape] = dict(zip(found.names, found.map_error, strict=True))
    assert off["square"]["Platt"] < off["square"]["15 equal-mass bins"] / 2
    assert off["stairs"]["Platt"] > 1.2 * off["stairs"]["15 equal-mass bins"]
    words = gallery.directives()["gallery"]
    assert "square: PL3" in words and "stairs: bins by cross-validation" in words
    assert words in page.PAGE.read_text(encoding="utf-8")
