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
BOTH = (REAL, FAKE)


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


def test_results_survive_storage(subtests: pytest.Subtests) -> None:
    for studies in BOTH:
        for study in studies.values():
            with subtests.test(studies=studies):
                again = page.unpacked(page.packed(study))
                assert again.describe() == study.describe()
    assert page.STORED.stat().st_size < 150_000


def test_each_figure_has_one_verdict() -> None:
    verdicts = re.findall(r"^\*\*(Confirmed[^.]*|Not confirmed)\.\*\*", text(), re.M)
    table = re.findall(r"^\| (\d+) \| .* \| ([\w ]+) \|$", text(), re.M)
    assert [int(number) for number, _ in table] == [*range(1, 12)]
    assert [verdict for _, verdict in table] == [verdict.lower() for verdict in verdicts]


# --- what the page says --------------------------------------------------------------------------


def test_figure_1_growth_has_two_causes(subtests: pytest.Subtests) -> None:
    for study in (REAL["bins"], FAKE["bins"]):
        with subtests.test(study=study):
            assert (np.diff(study.plain_2) > 0).all()
            at_32 = study.n_bins.tolist().index(32)
            assert study.debiased_2[at_32] > 1.4 * study.debiased_2[0]
            assert (study.debiased_2[at_32:] < 1.02 * study.debiased_2[at_32]).all()
    fake = FAKE["bins"]
    assert fake.true_2[-1] < 1.03 * fake.true_2[4] and fake.plain_2[-1] > 4 * fake.continuous_2
    np.testing.assert_allclose(fake.debiased_2, fake.true_2, rtol=0.09)


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
            assert 5.5 < plain[-1] / plain[0] < 6.6 and (np.diff(plain) > 0).all()
            assert debiased[4:].max() < debiased[:4].max()
    assert max(found["3: LeNet, CIFAR-10"]["debiased_2"]) < 0.0191


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
            np.testing.assert_allclose(ours[key], values, rtol=1e-4, atol=1e-9)


def test_a_known_confidence_becomes_the_largest_column() -> None:
    if not data.available("imagenet-resnext101", original=True):
        pytest.skip("resnext101_32x8d.csv is not in CALIBKIT_DATA")
    rows = data.load("imagenet-resnext101", original=True)
    made = others.population("ResNeXt, ImageNet")
    np.testing.assert_array_equal(made.y_prob.argmax(axis=1), 0)
    np.testing.assert_array_equal(made.true_prob[:, 0], rows.y_true)


def test_figure_5_scaling_binning_wins_where_bins_are_thin(subtests: pytest.Subtests) -> None:
    real, fake = REAL["top"], FAKE["top"]
    assert (fake.of("Platt") < fake.of("histogram")).all()
    many = real.n_bins >= 40
    assert (real.of("Platt")[many] < real.of("histogram")[many]).all()
    assert real.of("Platt")[0] > real.of("histogram")[0]
    for study in (real, fake):
        with subtests.test(study=study):
            histogram, platt = study.brier
            assert platt[-1] < platt[0]
            assert histogram[-1] > histogram[0]


def test_figure_6_the_same_for_all_classes(subtests: pytest.Subtests) -> None:
    real, fake = REAL["classes"], FAKE["classes"]
    assert abs(np.diff(real.squared[:, 0])[0]) < np.hypot(*real.standard_error[:, 0])
    for study in (real, fake):
        with subtests.test(study=study):
            many = study.n_bins >= 40
            assert (study.of("Platt")[many] < study.of("histogram")[many]).all()


def test_figure_8_a_penalty_saves_dirichlet(subtests: pytest.Subtests) -> None:
    real, fake = REAL["scalers"], FAKE["scalers"]
    for study in (real, fake):
        with subtests.test(study=study):
            assert (study.of("Platt") < study.of("temperature")).all()
    assert (real.of("Dirichlet, no penalty") > 2 * real.of("temperature")).all()
    assert real.of("temperature")[0] > 1.5 * real.of("Platt")[0]
    np.testing.assert_allclose(real.of("Dirichlet"), real.of("temperature"), rtol=0.12)
    assert (fake.of("Dirichlet") <= 1.05 * fake.of("Platt")).all()


def test_figures_9_and_10_the_debiased_estimate_is_closer(subtests: pytest.Subtests) -> None:
    for studies in BOTH:
        for name in ("top-15", "top-100", "classes-15", "classes-100"):
            with subtests.test(studies=studies, name=name):
                study = studies[name]
                assert (study.cut_mse < study.plain_mse).all()
                error = np.sqrt(study.debiased_mse / study.n_samples)
                # At 100 bins some bins have one sampled row, which counts nothing.
                assert (np.abs(study.debiased_mean - study.truth) < 4.5 * error).all()
    ratio = REAL["top-100"].plain_mse / REAL["top-100"].cut_mse
    assert 3 < ratio.min() < ratio.max() < 7.1
    ratio = REAL["top-15"].plain_mse / REAL["top-15"].cut_mse
    assert 1 < ratio.min() < ratio.max() < 1.4


def test_figure_11_the_median_can_be_worse(subtests: pytest.Subtests) -> None:
    plain, debiased = REAL["top-15"].median_deviations
    assert plain < debiased < 1.2 * plain
    for study in (REAL["top-100"], FAKE["top-15"], FAKE["top-100"]):
        with subtests.test(study=study):
            plain, debiased = study.median_deviations
            assert debiased < 0.4 * plain


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


@pytest.mark.slow
def test_what_is_computed_is_stored(monkeypatch, tmp_path, capsys) -> None:
    copy, stored = tmp_path / "verified.md", tmp_path / "verified.json"
    copy.write_text(text(), encoding="utf-8")
    stored.write_text(page.STORED.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", copy)
    monkeypatch.setattr(page, "STORED", stored)
    monkeypatch.setattr(page, "PROTOCOLS", {name: lambda rows, n=name: FAKE[n] for name in FAKE})
    monkeypatch.setattr(page, "draw_all", lambda studies: None)
    page.main(["--fake"])
    assert copy.read_text(encoding="utf-8") == text()
    assert capsys.readouterr().out.count("fake, ") == len(FAKE)


def test_on_imagenet_scaling_binning_and_debiasing_win() -> None:
    """Panels c and d of figures 5 and 9, on a network that stands in."""
    found = others.stored()
    one = {k: np.array(v) for k, v in found["5: ResNeXt, ImageNet"].items()}
    (histogram, platt), error = one["squared"], one["standard_error"].max(axis=0)
    assert abs(histogram - platt)[0] < 2 * error[0]
    assert (histogram - platt > 4 * error)[1:].all()
    assert np.diff(one["brier"][0]).min() > 0 > np.diff(one["brier"][1]).max()
    ratios = {}
    for bins in (15, 100):
        part = found[f"9: ResNeXt, ImageNet, {bins} bins"]
        ratios[bins] = np.divide(part["plain_mse"], part["cut_mse"])
    assert ratios[15][0] == pytest.approx(3, abs=0.05) and ratios[15][-1] < 1.7
    assert ratios[100][0] == pytest.approx(29, abs=0.5) and ratios[100][-1] > 13.9


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
