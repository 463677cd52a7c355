"""The protocols of Li's report: against other ways to compute, known truths, stored numbers."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

import calibkit as ck
from book.experiments import verified
from book.experiments.verified import Population, estimators, figures, maps
from calibkit.calibrators import HistogramBinning, PlattCalibrator, ScalingBinning
from calibkit.errors.debiased import debiased_square
from calibkit.fakes import KnobClassifier
from calibkit_course import data
from calibkit_course.lesson11 import binned, draw_binned_errors, vgg16_lookalike

FAKE = Population.of_fake(vgg16_lookalike(), n=3000, rng=0)


# --- populations ---------------------------------------------------------------------------------


def test_rows_are_their_own_truth(subtests: pytest.Subtests) -> None:
    rows = Population.of_rows([2, 0, 1], np.eye(3), name="three rows")
    assert (rows.n, rows.known, rows.name) == (3, False, "three rows")
    for seed in range(3):
        with subtests.test(seed=seed):
            assert rows.labels(seed).tolist() == [2, 0, 1]


# --- figure 1 ------------------------------------------------------------------------------------

# Split 0 of an independent program with scikit-learn's Platt scaling, for 2, 4, .. 512 bins.
SPLIT = {
    "plain 1": "0.0060045 0.0060045 0.0115227 0.0142084 0.0150183 0.0164080 0.0198889",
    "plain 2": "0.0061012 0.0063331 0.0155181 0.0256710 0.0285710 0.0318554 0.0358142",
    "squared": "2.28252e-5 1.59299e-5 1.96227e-4 5.74112e-4 6.47266e-4 6.75997e-4 6.02134e-4",
}


def test_one_split_of_the_real_network(subtests: pytest.Subtests) -> None:
    if not data.available("cifar10-vgg16", original=True):
        pytest.skip("cifar_probs.dat is not in CALIBKIT_DATA")
    rows = data.load("cifar10-vgg16", original=True)
    population = Population.of_rows(rows.y_true, rows.y_prob)
    order = np.random.default_rng(0).permutation(10_000)
    numbers, sizes = (2, 4, 8, 16, 32, 64, 128), (1000, 1000, 8000)
    found = binned.one_split(population, population.labels(), order, numbers, sizes)
    for row, wanted, allowed in zip(found, SPLIT.values(), (4e-5, 4e-5, 2e-6), strict=False):
        with subtests.test(allowed=allowed):
            np.testing.assert_allclose(row, np.array(wanted.split(), float), rtol=0, atol=allowed)
    assert np.isnan(found[3:]).all()


def test_the_debiased_error_is_that_of_the_bins() -> None:
    """Over splits, the debiased square less the true one is 0 within four standard errors."""
    fake = KnobClassifier.with_error(4, 0.7, 0.1)
    population = Population.of_fake(fake, n=2000, rng=3)
    rng, differences = np.random.default_rng(4), []
    for _ in range(60):
        found = binned.one_split(
            population, population.labels(rng), rng.permutation(2000), (20,), (400, 600, 1000)
        )
        differences.append(found[2, 0] - found[4, 0] ** 2)
    error = np.std(differences) / np.sqrt(60)
    assert abs(np.mean(differences)) < 4 * error and np.mean(differences) < 1e-3


# --- figures 5, 6 and 8 --------------------------------------------------------------------------


def by_distinct_outputs(output: Any, chance: Any) -> tuple[float, float]:
    """Compute squared error and Brier score row by row."""
    true = np.array([chance[output == value].mean() for value in output])
    brier = chance * (1 - output) ** 2 + (1 - chance) * output**2
    return float(np.mean((output - true) ** 2)), float(brier.mean())


@pytest.mark.parametrize("n_bins", [2, 10, 40])
@pytest.mark.parametrize("method", ["histogram", "Platt"])
def test_measured_as_the_calibrators_of_the_package(method: str, n_bins: int) -> None:
    rng = np.random.default_rng(7)
    said, chance = rng.random(700), rng.random(700)
    rows = rng.integers(0, 700, size=300)
    happened = (rng.random(300) < chance[rows]).astype(int)
    model: Any = HistogramBinning(ck.EqualMass(n_bins))
    if method == "Platt":
        model = ScalingBinning(n_bins, PlattCalibrator(smoothing=False))
    output = model.fit(said[rows], happened).calibrate(said)
    found = maps.measured_maps(method, said, chance, (rows, happened), [n_bins])
    assert found[0] == pytest.approx(by_distinct_outputs(output, chance), abs=1e-12)


@pytest.mark.parametrize("view", ["top-label", "class-wise"])
def test_scaling_binning_needs_fewer_rows_per_bin(view: str) -> None:
    study = verified.compare_calibrators(
        FAKE, view=view, n_bins=(10, 80), n_calibration=600, n_trials=8, rng=2
    )
    histogram, platt = study.of("histogram"), study.of("Platt")
    gap = 4 * np.hypot(*study.standard_error[:, 1])
    assert histogram[1] - platt[1] > gap and histogram[1] > 3 * histogram[0]


def test_all_scalers() -> None:
    study = verified.compare_calibrators(
        FAKE,
        methods=("Platt", "temperature", "Dirichlet"),
        n_bins=(10,),
        n_calibration=800,
        n_trials=3,
        rng=2,
    )
    # The look-alike is over-confident by .04: its own squared error is above 15e-4.
    assert (study.squared < 8e-4).all() and len(set(study.squared.ravel().tolist())) == 3


# --- figures 9 to 11 -----------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["top-label", "class-wise"])
def test_estimates_are_those_of_a_bin_table(view: str) -> None:
    label = FAKE.labels(0)
    fitted = estimators.fitted_maps(FAKE, label, 12, view)
    _, index = estimators.measured_on(fitted, FAKE, view)
    generator = np.random.default_rng(0)
    bins, happened = estimators.RowSamples(FAKE, index, view, 150).draw(generator)
    wanted = []
    for e, model in enumerate(fitted):
        event, output = happened[:, e].astype(int), model.value_[bins[:, e]]
        table = ck.reliability_table(event, output, bins=ck.Distinct())
        wanted.append((float((table.weight * table.gap**2).sum()), debiased_square(table)))
    found = estimators.estimates_of(fitted, bins, happened)
    assert found == pytest.approx(tuple(np.mean(wanted, axis=0)), abs=1e-12)


@pytest.mark.parametrize("view", ["top-label", "class-wise"])
def test_the_debiased_estimate_is_right_on_average(view: str) -> None:
    study = verified.compare_estimators(
        FAKE, n_bins=20, view=view, sizes=(400, 800), n_calibration=1000, n_samples=150, rng=5
    )
    error = np.sqrt(study.debiased_mse / 150)
    # Bins with one sampled row count nothing, which makes a small difference.
    assert (np.abs(study.debiased_mean - study.truth) < 4 * error).all()
    assert (study.plain_mean - study.truth > 4 * error).all()
    assert (study.cut_mse <= study.debiased_mse).all()


FEW_ROWS = verified.Population.of_fake(vgg16_lookalike(), n=1200, rng=0)
SPLITS: dict[str, Any] = {"n_bins": (2, 8, 32), "sizes": (300, 300, 500), "n_splits": 4, "rng": 0}
BINS = verified.binned_errors(FEW_ROWS, **SPLITS)
CALIBRATORS = verified.compare_calibrators(
    FEW_ROWS, n_bins=(5, 20), n_calibration=300, n_trials=4, rng=0
)


def line(ax: Axes, gid: str) -> Any:
    """Return the x and y of a line."""
    (found,) = [one for one in ax.get_lines() if one.get_gid() == gid]
    return found.get_data()


def test_lines_of_the_binned_errors(subtests: pytest.Subtests) -> None:
    ax = draw_binned_errors(BINS)
    for gid, values in (
        ("plain", BINS.plain_2),
        ("debiased", BINS.debiased_2),
        ("truth", BINS.true_2),
    ):
        with subtests.test(gid=gid):
            x, y = line(ax, gid)
            np.testing.assert_array_equal(x, BINS.n_bins)
            np.testing.assert_array_equal(y, values)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2", "8", "32"]


def test_lines_of_the_calibrators(subtests: pytest.Subtests) -> None:
    ax = figures.calibrator_errors(CALIBRATORS)
    for m in range(2):
        with subtests.test(m=m):
            x, y = line(ax, f"method-{m}")
            np.testing.assert_array_equal(x, CALIBRATORS.n_bins)
            np.testing.assert_allclose(y, 1e4 * CALIBRATORS.squared[m])
    against = figures.calibrator_errors(CALIBRATORS, against="brier")
    np.testing.assert_array_equal(line(against, "method-1")[0], CALIBRATORS.brier[1])
    with pytest.raises(ValueError, match='against must be "bins" or "brier"'):
        figures.calibrator_errors(CALIBRATORS, against="accuracy")
