"""The page on Li's report: up to date, its claims true of the stored numbers, a part recomputed."""

import re
from typing import Any

import numpy as np
import pytest
from PIL import Image

from book.experiments.verified import __main__ as page, draw as figures, others
from calibkit_course import data
from tests.helpers import some

STUDIES = page.load()
REAL, FAKE = STUDIES["real"], STUDIES["fake"]


def text() -> str:
    return page.PAGE.read_text(encoding="utf-8")


# --- the page ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_page_is_up_to_date_and_needs_its_places() -> None:
    parts = page.blocks(STUDIES)
    assert page.filled(text(), parts) == text(), "run: python -m book.experiments.verified.__main__"
    with pytest.raises(ValueError, match="has no place for figure-1"):
        page.filled("", parts)


@pytest.mark.parametrize("name", figures.FIGURES)
def test_the_figures_are_up_to_date(name: str) -> None:
    path = figures.IMAGES / figures.image(name)
    with Image.open(path) as stored:
        assert f":alt: {stored.text['Description']}\n" in text(), (
            "run: python -m book.experiments.verified.__main__"
        )
    assert path.stat().st_size < 150_000


def test_each_figure_has_one_verdict() -> None:
    verdicts = re.findall(r"^\*\*(Confirmed[^.]*|Not confirmed)\.\*\*", text(), re.M)
    table = re.findall(r"^\| (\d+) \| .* \| ([\w ]+) \|$", text(), re.M)
    assert [int(number) for number, _ in table] == [*range(1, 12)]
    assert [verdict for _, verdict in table] == [verdict.lower() for verdict in verdicts]


# --- what the page says --------------------------------------------------------------------------


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
            assert (studies[name].cut_mse < studies[name].plain_mse).all()
    medians = REAL["top-15"].median_deviations
    assert medians[0] < medians[1] < 1.2 * medians[0]


def test_figures_2_and_3_other_networks_grow_for_the_same_two_reasons(subtests) -> None:
    found = others.stored()
    for words in ("2: ResNeXt, ImageNet", "2: EfficientNet, ImageNet"):
        with subtests.test(words=words):
            plain, debiased = (np.array(found[words][f"{k}_2"]) for k in ("plain", "debiased"))
            assert plain[0] < 0.0055 and plain[-1] > 0.05
            assert np.ptp(debiased[3:]) < 0.1 * debiased[3:].mean()
    for words in ("3: wide ResNet, CIFAR-10", "3: LeNet, CIFAR-10"):
        with subtests.test(words=words):
            plain, debiased = (np.array(found[words][f"{k}_2"]) for k in ("plain", "debiased"))
            assert 4 < plain[-1] / plain[0] < 6 and (np.diff(plain) > 0).all()
            assert debiased[4:].max() < debiased[:4].max()
    assert max(found["3: LeNet, CIFAR-10"]["debiased_2"]) < 0.0191


def test_plain_and_debiased_are_one_kind_of_average() -> None:
    """On each split debiasing takes away, so it must in the table, too."""
    pairs = [(one["bins"].plain_2, one["bins"].debiased_2) for one in (REAL, FAKE)]
    pairs += [
        (one["plain_2"], one["debiased_2"])
        for one in others.stored().values()
        if "debiased_2" in one
    ]
    assert len(pairs) == 13 and all((np.array(p) > np.array(d)).all() for p, d in pairs)


def test_figure_4_the_late_rise_comes_sooner_with_fewer_rows(subtests: pytest.Subtests) -> None:
    found = others.stored()
    for name, (_, measured) in others.MEASURED.items():
        with subtests.test(name=name, measured=measured):
            rising = [found[f"4: {name}, {rows:,} rows"] for rows in measured]
            common = min(len(one["n_bins"]) for one in rising)
            plain = np.array([one["plain_2"][4:common] for one in rising])
            assert (np.diff(plain, axis=0) > 0).all()
            for one, rows in zip(rising, measured, strict=True):
                enough = (np.array(one["n_bins"]) >= 16) & (10 * np.array(one["n_bins"]) <= rows)
                level = np.array(one["debiased_2"])[enough]
                assert np.ptp(level) < 0.25 * level.mean()
    passed = []
    for rows in (25_000, 5_000):
        one = found[f"4: ResNeXt, ImageNet, {rows:,} rows"]
        errors = zip(one["n_bins"], one["plain_2"], strict=True)
        passed.append(next(b for b, e in errors if e > 0.09))
    assert passed == [2048, 512]


def test_figure_7_scaling_binning_is_ahead_on_other_networks(subtests: pytest.Subtests) -> None:
    found = {words: one for words, one in others.stored().items() if words.startswith("7: ")}
    assert len(found) == 4
    for one in found.values():
        with subtests.test(one=one):
            histogram, platt = np.array(one["squared"])
            error = np.hypot(*np.array(one["standard_error"]))
            assert (histogram - platt > 2 * error).all()


@pytest.mark.long
@pytest.mark.parametrize("words", ["3: LeNet, CIFAR-10", "4: ResNeXt, ImageNet, 5,000 rows"])
def test_other_networks_give_the_stored_numbers(words: str, subtests: pytest.Subtests) -> None:
    name, protocol = others.STUDIES[words]
    if not data.available(others.POPULATIONS[name], original=True):
        pytest.skip(f"{others.POPULATIONS[name]} is not in CALIBKIT_DATA")
    ours = others.numbers(protocol(others.population(name)))
    for key, values in others.stored()[words].items():
        with subtests.test(key=key):
            np.testing.assert_allclose(ours[key], values, rtol=1e-4, atol=1e-5)  # four digits


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


# --- recomputed ----------------------------------------------------------------------------------


def assert_same(ours: dict[str, Any], stored: dict[str, Any]) -> None:
    """Compare packed results; the last of six digits may differ between machines."""
    assert list(ours) == list(stored)
    for name, value in ours.items():
        if isinstance(value, str) or value is None or name == "methods":
            assert value == stored[name]
        else:
            np.testing.assert_allclose(
                np.array(value, dtype=float), np.array(stored[name], dtype=float), rtol=1e-4
            )


@pytest.mark.long
@pytest.mark.parametrize("name", some(["bins", "top", "classes", "top-15", "classes-15"]))
def test_the_look_alike_gives_the_stored_numbers(name: str) -> None:
    study = page.PROTOCOLS[name](page.population("fake"))
    assert_same(page.packed(study), page.packed(FAKE[name]))


@pytest.mark.long
@pytest.mark.parametrize("name", ["bins", "top"])
def test_the_real_predictions_give_the_stored_numbers(name: str) -> None:
    if not data.available(page.REAL, original=True):
        pytest.skip("cifar_probs.dat is not in CALIBKIT_DATA")
    study = page.PROTOCOLS[name](page.population("real"))
    assert_same(page.packed(study), page.packed(REAL[name]))


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
