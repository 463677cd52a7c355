"""The protocols of Li's report: other ways to compute, other programs, what its page says."""

import re
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from book.experiments.verified import (
    Population,
    __main__ as page,
    estimators,
    figures,
    maps,
    others,
)
from calibkit.calibrators import HistogramBinning, PlattCalibrator, ScalingBinning
from calibkit.errors.debiased import debiased_square
from calibkit_course import data
from calibkit_course.lesson11 import binned, draw_binned_errors, vgg16_lookalike
from tests.helpers import some

STUDIES = page.load()
REAL, FAKE = STUDIES["real"], STUDIES["fake"]
ROWS = Population.of_fake(vgg16_lookalike(), n=3000, rng=0)


# --- against other ways to compute ---------------------------------------------------------------


@pytest.mark.parametrize("n_bins", [2, 10, 40])
@pytest.mark.parametrize("method", ["histogram", "Platt"])
def test_measured_as_the_calibrators_of_the_package(method: str, n_bins: int) -> None:
    """Squared error and Brier score, by distinct outputs and row by row."""
    rng = np.random.default_rng(7)
    said, chance = rng.random(700), rng.random(700)
    rows = rng.integers(0, 700, size=300)
    happened = (rng.random(300) < chance[rows]).astype(int)
    model: Any = HistogramBinning(ck.EqualMass(n_bins))
    if method == "Platt":
        model = ScalingBinning(n_bins, PlattCalibrator(smoothing=False))
    output = model.fit(said[rows], happened).calibrate(said)
    true = np.array([chance[output == value].mean() for value in output])
    brier = chance * (1 - output) ** 2 + (1 - chance) * output**2
    found = maps.measured_maps(method, said, chance, (rows, happened), [n_bins])
    assert found[0] == pytest.approx((np.mean((output - true) ** 2), brier.mean()), abs=1e-12)


def test_all_scalers_repair_the_look_alike() -> None:
    """It is over-confident by .04: its own squared error is above 15e-4."""
    names, small = ("Platt", "temperature", "Dirichlet"), {"n_calibration": 800, "n_trials": 3}
    study = maps.compare_calibrators(ROWS, methods=names, n_bins=(10,), rng=2, **small)
    assert (study.squared < 8e-4).all() and len(set(study.squared.ravel().tolist())) == 3


@pytest.mark.parametrize("view", ["top-label", "class-wise"])
def test_estimates_are_those_of_a_bin_table(view: str) -> None:
    fitted = estimators.fitted_maps(ROWS, ROWS.labels(0), 12, view)
    _, index = estimators.measured_on(fitted, ROWS, view)
    generator = np.random.default_rng(0)
    bins, happened = estimators.RowSamples(ROWS, index, view, 150).draw(generator)
    wanted = []
    for e, model in enumerate(fitted):
        event, output = happened[:, e].astype(int), model.value_[bins[:, e]]
        table = ck.reliability_table(event, output, bins=ck.Distinct())
        wanted.append((float((table.weight * table.gap**2).sum()), debiased_square(table)))
    found = estimators.estimates_of(fitted, bins, happened)
    assert found == pytest.approx(tuple(np.mean(wanted, axis=0)), abs=1e-12)


def test_figures_show_what_was_measured() -> None:
    study, plain = FAKE["bins"], FAKE["top"]
    drawn = {
        "debiased": (draw_binned_errors(study), study.n_bins, study.debiased_2),
        "truth": (draw_binned_errors(study), study.n_bins, study.true_2),
        "method-1": (figures.calibrator_errors(plain), plain.n_bins, 1e4 * plain.squared[1]),
        "method-0": (
            figures.calibrator_errors(plain, against="brier"),
            plain.brier[0],
            1e4 * plain.squared[0],
        ),
    }
    for gid, (ax, x, y) in drawn.items():
        (line,) = [one for one in ax.get_lines() if one.get_gid() == gid]
        np.testing.assert_allclose(line.get_data(), (x, y))


# --- other programs, and what is computed again --------------------------------------------------

# Split 0 of an independent program with scikit-learn's Platt scaling, for 2, 4, .. 512 bins.
SPLIT = {
    "plain 1": "0.0060045 0.0060045 0.0115227 0.0142084 0.0150183 0.0164080 0.0198889",
    "plain 2": "0.0061012 0.0063331 0.0155181 0.0256710 0.0285710 0.0318554 0.0358142",
    "squared": "2.28252e-5 1.59299e-5 1.96227e-4 5.74112e-4 6.47266e-4 6.75997e-4 6.02134e-4",
}


def test_one_split_of_the_real_network(subtests: pytest.Subtests) -> None:
    if not data.available(page.REAL, original=True):
        pytest.skip("cifar_probs.dat is not in CALIBKIT_DATA")
    population = page.population("real")
    order = np.random.default_rng(0).permutation(10_000)
    numbers, sizes = (2, 4, 8, 16, 32, 64, 128), (1000, 1000, 8000)
    found = binned.one_split(population, population.labels(), order, numbers, sizes)
    for row, wanted, allowed in zip(found, SPLIT.values(), (4e-5, 4e-5, 2e-6), strict=False):
        with subtests.test(allowed=allowed):
            np.testing.assert_allclose(row, np.array(wanted.split(), float), rtol=0, atol=allowed)
    assert np.isnan(found[3:]).all()


# Squared errors times 10 000 of another program with the same protocols, for 10, 50, 100 bins, and
# its standard errors. Its Platt scaling is scikit-learn's, its trials are others.
ELSEWHERE = {
    ("top", "histogram"): ((4.40, 14.94, 20.96), (0.45, 0.93, 0.9)),
    ("top", "Platt"): ((6.33, 11.55, 13.39), (0.41, 0.53, 0.5)),
    ("classes", "histogram"): ((1.29, 3.87, 5.69), (0.08, 0.18, 0.2)),
    ("classes", "Platt"): ((1.29, 3.14, 3.91), (0.08, 0.12, 0.12)),
    ("scalers", "Platt"): ((5.88, 10.85, 12.62), (0.54, 0.63, 0.6)),
    ("scalers", "temperature"): ((10.15, 13.32, 15.42), (0.56, 0.59, 0.6)),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_another_program_found_the_same(case: tuple[str, str]) -> None:
    study = REAL[case[0]]
    places = [study.n_bins.tolist().index(number) for number in (10, 50, 100)]
    ours = 1e4 * study.of(case[1])[places]
    error = 1e4 * study.standard_error[study.methods.index(case[1])][places]
    theirs, other = map(np.array, ELSEWHERE[case])
    assert (np.abs(ours - theirs) < 4 * np.hypot(error, other)).all()


AGAIN = [("fake", name) for name in ("bins", "top", "classes", "top-15", "classes-15")]
AGAIN += [("real", "bins"), ("real", "top"), ("others", "3: LeNet, CIFAR-10")]
AGAIN += [("others", "4: ResNeXt, ImageNet, 5,000 rows")]


@pytest.mark.long
@pytest.mark.parametrize("case", some(AGAIN), ids=" ".join)
def test_what_is_stored_is_what_the_code_computes(case: tuple[str, str], subtests) -> None:
    """The last digit may differ between machines."""
    which, name = case
    network, protocol = others.STUDIES.get(name, ("", page.PROTOCOLS.get(name)))
    needed = others.POPULATIONS.get(network, page.REAL)
    if which != "fake" and not data.available(needed, original=True):
        pytest.skip(f"{needed} is not in CALIBKIT_DATA")
    if network:
        ours, stored = others.numbers(protocol(others.population(network))), others.stored()[name]
    else:
        ours, stored = (
            page.packed(protocol(page.population(which))),
            page.packed(STUDIES[which][name]),
        )
    for key, value in stored.items():
        with subtests.test(key):
            if isinstance(value, str) or key == "methods":
                assert ours[key] == value
            else:
                again, kept = np.array(ours[key], float), np.array(value, float)
                np.testing.assert_allclose(again, kept, rtol=1e-4, atol=1e-5 if network else 0)


# --- what the page says --------------------------------------------------------------------------


def test_each_figure_has_one_verdict() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    verdicts = re.findall(r"^\*\*(Confirmed[^.]*|Not confirmed)\.\*\*", text, re.M)
    table = re.findall(r"^\| (\d+) \| .* \| ([\w ]+) \|$", text, re.M)
    assert [int(number) for number, _ in table] == [*range(1, 12)]
    assert [verdict for _, verdict in table] == [verdict.lower() for verdict in verdicts]


def worse(study: Any, name: str, other: str, factor: float = 1) -> Any:
    """Tell for each number of bins whether one map has a larger error than another."""
    return study.of(name) > factor * study.of(other)


def test_what_the_page_says_of_the_stored_figures() -> None:
    """Figures 1, 5, 6, 8, 9 to 11, each by the sentence under it."""
    bins, top, classes, scalers = (FAKE[k] for k in ("bins", "top", "classes", "scalers"))
    np.testing.assert_allclose(bins.debiased_2, bins.true_2, rtol=0.09)
    assert bins.true_2[-1] < 1.03 * bins.true_2[4] and bins.plain_2[-1] > 4 * bins.continuous_2
    assert worse(top, "histogram", "Platt").all() and worse(scalers, "temperature", "Platt").all()
    for study in (REAL["top"], REAL["classes"], classes):
        assert worse(study, "histogram", "Platt")[study.n_bins >= 40].all()
    assert worse(REAL["scalers"], "Dirichlet, no penalty", "temperature", 2).all()
    for studies in (REAL, FAKE):
        for name in ("top-15", "top-100", "classes-15", "classes-100"):
            study = studies[name]
            assert (study.cut_mse < study.plain_mse).all()
            # Bins with one sampled row count nothing, which makes a small difference.
            error = np.sqrt(study.debiased_mse / study.n_samples)
            assert (np.abs(study.debiased_mean - study.truth) < 4 * error).all(), name
    medians = REAL["top-15"].median_deviations
    assert medians[0] < medians[1] < 1.2 * medians[0]


OTHERS = {
    words: {key: np.array(value) for key, value in one.items()}
    for words, one in others.stored().items()
}


def test_figures_2_and_3_other_networks_grow_for_the_same_two_reasons(subtests) -> None:
    for words in ("2: ResNeXt, ImageNet", "2: EfficientNet, ImageNet"):
        plain, debiased = (OTHERS[words][f"{k}_2"] for k in ("plain", "debiased"))
        with subtests.test(words=words):
            assert plain[0] < 0.0055 and plain[-1] > 0.05
            assert np.ptp(debiased[3:]) < 0.1 * debiased[3:].mean()
    for words in ("3: wide ResNet, CIFAR-10", "3: LeNet, CIFAR-10"):
        plain, debiased = (OTHERS[words][f"{k}_2"] for k in ("plain", "debiased"))
        with subtests.test(words=words):
            assert 4 < plain[-1] / plain[0] < 6 and (np.diff(plain) > 0).all()
            assert debiased[4:].max() < debiased[:4].max()
    assert max(debiased) < 0.0191


def test_figure_4_the_late_rise_comes_sooner_with_fewer_rows(subtests: pytest.Subtests) -> None:
    for name, (_, measured) in others.MEASURED.items():
        with subtests.test(name=name, measured=measured):
            rising = [OTHERS[f"4: {name}, {rows:,} rows"] for rows in measured]
            common = min(len(one["n_bins"]) for one in rising)
            plain = np.array([one["plain_2"][4:common] for one in rising])
            assert (np.diff(plain, axis=0) > 0).all()
            for one, rows in zip(rising, measured, strict=True):
                level = one["debiased_2"][(one["n_bins"] >= 16) & (10 * one["n_bins"] <= rows)]
                assert np.ptp(level) < 0.25 * level.mean()
    few, many = (OTHERS[f"4: ResNeXt, ImageNet, {rows} rows"] for rows in ("5,000", "25,000"))
    passed = [one["n_bins"][one["plain_2"] > 0.09][0] for one in (many, few)]
    assert passed == [2048, 512]


def test_figure_7_scaling_binning_is_ahead_and_debiasing_takes_away(subtests) -> None:
    sevens = [one for words, one in OTHERS.items() if words.startswith("7: ")]
    assert len(sevens) == 4
    for one in sevens:
        histogram, platt = one["squared"]
        assert (histogram - platt > 2 * np.hypot(*one["standard_error"])).all()
    pairs = [(one["bins"].plain_2, one["bins"].debiased_2) for one in (REAL, FAKE)]
    pairs += [(one["plain_2"], one["debiased_2"]) for one in OTHERS.values() if "plain_2" in one]
    assert len(pairs) == 13 and all((plain > debiased).all() for plain, debiased in pairs)


def test_so_many_rows_do_bring_the_square_to_within_half_of_itself(subtests) -> None:
    """The formula behind Theorems 5.3 and 5.4, with labels drawn for bins of equal mass."""
    n_bins, error = 64, 0.05
    share = (1 - np.sqrt(1 - 0.4)) / 2  # its labels have variance 0.1
    rng = np.random.default_rng(0)
    for debiased in (False, True):
        n = page.rows_needed(n_bins, error, debiased=debiased)
        each = round(n / n_bins)
        mean = rng.binomial(each, share, (4000, n_bins)) / each
        square = (mean - share - error) ** 2
        if debiased:
            square = square - mean * (1 - mean) / (each - 1)
        off = square.mean(axis=1) / error**2 - 1
        with subtests.test(debiased=debiased):
            assert np.sqrt(np.mean(off**2)) == pytest.approx(0.5, abs=0.05)
    more = [page.rows_needed(1024, 0.02, debiased=d) / page.rows_needed(256, 0.02, debiased=d)
            for d in (False, True)]  # fmt: skip
    assert 3.8 < more[0] < 4 and 1.7 < more[1] < 2
