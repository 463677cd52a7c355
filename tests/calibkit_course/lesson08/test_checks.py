"""Answers to the exercises of lesson 08, wrong and right, and the numbers that it states."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import isotonic_regression

import calibkit as ck
from calibkit import hypothesis_tests
from calibkit.bins import Pava, PavaBC
from calibkit.inputs import FloatVector
from calibkit_course import data, open_lesson
from calibkit_course.lesson08.checks import LABELS
from tests.paths import lesson_text

PREDICTIONS = open_lesson("08", keep=False).predictions

# --- 8.3 ---------------------------------------------------------------------------------------

exact = hypothesis_tests.binomial_p_values


def scipy_p(hits: int, count: int, probs: Any) -> list[float]:
    return [stats.binomtest(hits, count, q).pvalue for q in probs]


def without_tolerance(hits: int, count: int, probs: Any) -> FloatVector:
    """Forget that two equal outcomes may differ in the last digit."""
    mass = stats.binom.pmf(np.arange(count + 1)[:, None], count, np.asarray(probs))
    mass[count - hits] *= 1 + 1e-12
    return np.where(mass <= mass[hits], mass, 0).sum(axis=0)


def by_law(of: Callable[[Any, int, int], Any]) -> Callable[..., Any]:
    return lambda hits, count, probs: of(stats.binom(count, probs), hits, count)


def normal(hits: int, count: int, probs: FloatVector) -> FloatVector:
    z = (hits - count * probs) / np.sqrt(count * probs * (1 - probs))
    return np.asarray(2 * stats.norm.sf(np.abs(z)))


# --- 8.4 ---------------------------------------------------------------------------------------

THIRDS = [0, 1 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 1]

# --- 8.5 ---------------------------------------------------------------------------------------


def loop(bounds: Any, n_min: int, n_max: int) -> bool:
    return all(n_min <= stop - start <= n_max for start, stop in pairwise(bounds))


def sized(rule: Callable[[FloatVector, int, int], Any]) -> Callable[..., Any]:
    return lambda bounds, n_min, n_max: bool(rule(np.diff(bounds), n_min, n_max))


# --- 8.1 ---------------------------------------------------------------------------------------


def ten_bins(y: Any, p: FloatVector) -> float:
    return ck.expected_calibration_error(np.asarray(y, int), p, bins=10).value


def redrawn(
    share: Callable[..., Any] = lambda draws, own: (1 + np.sum(draws >= own)) / 200,
    draw: Callable[..., Any] = lambda y, p, rng: rng.random(len(p)) < p,
    rounds: int = 199,
) -> Callable[..., Any]:
    """Return a test by redraws, right but for what is given."""

    def answer(y: Any, p: FloatVector, rng: np.random.Generator) -> Any:
        draws = np.array([ten_bins(draw(y, p, rng), p) for _ in range(rounds)])
        return share(draws, ten_bins(y, p))

    return answer


WRONG: dict[str, list[tuple[Any, str]]] = {
    "8.1": [
        (redrawn(lambda draws, own: np.sum(draws >= own)), "a number of redraws"),
        (redrawn(lambda draws, own: np.mean(draws < own)), "do better than the data"),
        (redrawn(lambda draws, own: np.mean(draws >= own)), "count as one of the redraws"),
        (redrawn(lambda draws, own: (1 + np.sum(draws > own)) / 200), "exactly as badly"),
        (redrawn(draw=lambda y, p, rng: rng.random(len(p)) < 0.5), "of its own"),
        (redrawn(draw=lambda y, p, rng: rng.permutation(y)), "not by shuffling the outcomes"),
        (redrawn(lambda draws, own: (1 + np.sum(draws >= own)) / 20, rounds=19), "give 1/200"),
        (redrawn(lambda draws, own: np.mean([1, *(draws >= own)]), rounds=99), "Here it is 0.010"),
        (lambda y, p, rng: redrawn()(y, p, np.random.default_rng(0)), "`rng` is not used"),
    ],
    "8.2": [
        (0.05, "share of the *rejected*"),
        (0.59, "that are caught"),
        (0.267, "models that are over-confident"),
        (0.0662, "all 100 models"),
        (0.0781, "as many honest models as others"),
        (0.618, "all three as caught"),
        (0.7668, "the 12 of 200"),
        (73.3, "per cent"),
        (4.85, "a number of models"),
        (0.0923, "as they stand"),
        (0.4, "0.40 is not the share"),
    ],
    "8.3": [
        (by_law(lambda law, k, n: np.minimum(1, 2 * np.minimum(law.cdf(k), law.sf(k - 1)))),
         "another test"),
        (by_law(lambda law, k, n: law.cdf(k)), "only outcomes up to 3"),
        (by_law(lambda law, k, n: law.sf(k - 1)), "only outcomes from 3 on"),
        (by_law(lambda law, k, n: np.minimum(law.cdf(k), law.sf(k - 1))), "one tail"),
        (by_law(lambda law, k, n: law.pmf(k)), "alone"),
        (lambda k, n, p: exact(k, n, p) - stats.binom.pmf(k, n, p), "count the observed"),
        (normal, "normal approximation"),
        (without_tolerance, "exactly as likely as 3"),
        (lambda k, n, p: np.ones(len(p)), "has the p-value"),
        (lambda k, n, p: exact(k, n, p)[:, None], "a table of one column"),
    ],
    "8.4": [
        (LABELS, "these are the labels"),
        ([0.5] * 8, "pools everything"),
        ([0, 0.5, 0.5, 0, 1, 1, 0, 1], "falls from place 3"),
        ([0.25] * 4 + [0.75] * 4, "Places 1 to 4 need not be one block"),
        ([0, 0.4, 0.4, 0.4, 2 / 3, 2 / 3, 2 / 3, 1], "places 2 to 4"),
        ([1, 3, 3, 1], "the sizes of the blocks"),
    ],
    "8.5": [
        (sized(lambda s, low, high: (low < s).all() and (s < high).all()), "both ends"),
        (sized(lambda s, low, high: (s <= high).all()), "smaller than allowed"),
        (sized(lambda s, low, high: (s >= low).all()), "larger than allowed"),
        (sized(lambda s, low, high: (low <= s[:-1]).all() and (s <= high).all()), "[0, 5, 11, 14]"),
        (lambda b, low, high: bool((np.asarray(b[1:]) <= high).all()), "the differences of the"),
    ],
    "8.6": [
        (lambda n: 10, "still rejected"),
        (lambda n: PavaBC(), "with n = 8,000"),
        (lambda n: n, "hardly sees"),
        (lambda n: 40, "predictions your rule takes no more than 40 bins"),
        (lambda n: round(20 * np.log(n)), "Let the number grow with n"),
        (lambda n: n / 50 + 0.5, "not a whole number"),
        (lambda n: "many", "a number of bins"),
    ],
    "8.7": [
        (141, "the last dip"),
        (150, "the last dip"),
        (116, "one-sided"),
        (130, "normal approximation"),
        (137, "normal approximation"),
        (30, "with 30 rows the power is below"),
        (-5, "below 80 %"),
        (152, "from a smaller number than 152 on"),
        (None, "it should be a number"),
    ],
}  # fmt: skip

RIGHT: dict[str, list[Any]] = {
    "8.1": [redrawn(), redrawn(lambda draws, own: np.mean([1, *(draws >= own)]), rounds=250)],
    "8.2": [4.85 / 6.62, 0.73, np.float32(0.733)],
    "8.3": [lambda k, n, p: np.round(scipy_p(k, n, p), 4), scipy_p, exact],
    "8.4": [THIRDS, [0, 0.333, 0.333, 0.333, 0.667, 0.667, 0.667, 1]],
    "8.5": [
        lambda b, low, high: np.bool_(loop(b, low, high)),
        loop,
        sized(lambda s, low, high: low <= s.min() and s.max() <= high),
    ],
    "8.6": [
        lambda n: Pava(),
        lambda n: ck.EqualMass(round(n**0.5)),
        lambda n: n // 50,
        lambda n: round(3 * n ** (1 / 3)),
    ],
    "8.7": [151, np.int64(151), 151.0],
}


def tce(y_true: Any, y_prob: Any, **options: Any) -> hypothesis_tests.TestBasedError:
    return hypothesis_tests.test_based_calibration_error(y_true, y_prob, **options)


def test_the_fit_by_hand_is_isotonic_regression() -> None:
    assert pytest.approx(isotonic_regression(np.array(LABELS, dtype=float)).x) == THIRDS


def test_a_bin_of_so_many_rows_has_its_power_for_good() -> None:
    """By scipy's own test, around the end of the saw and at the bins of 50 of the prose."""
    powers = {}
    for n in (50, 140, 141, 150, *range(151, 160)):
        p_value = np.array([stats.binomtest(k, n, 0.8).pvalue for k in range(n + 1)])
        powers[n] = stats.binom.pmf(np.arange(n + 1), n, 0.7)[p_value <= 0.05].sum()
    assert powers[140] < 0.8 <= powers[141] and powers[150] < 0.8
    assert min(powers[n] for n in range(151, 160)) >= 0.8
    assert powers[50] == pytest.approx(0.43, abs=0.005)


def test_the_outcome_of_8a_is_what_the_lesson_prints() -> None:
    stored = lesson_text("08", ".ipynb")
    (caught,) = re.findall(r"over-confident: (\d+) of 200 data sets rejected", stored)
    assert PREDICTIONS["8a"].outcome == f"about {round(int(caught), -1)}"
    assert int(caught) == 118 and "perfect: 12 of 200" in stored  # as exercise 8.2 says


ROW = re.compile(
    r"^\| (MLB|NBA|World Cup) \| ([\d,]+) \| ([\d.]+) % \| ([\d.]+) % \| (0\.\d+) \| ([^|]+) \|",
    re.M,
)
FILES = {"MLB": ("mlb", None), "NBA": ("nba", None), "World Cup": ("world_cup", 0)}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_table_of_the_lesson_is_what_the_files_give(name: str) -> None:
    text = lesson_text("08")
    games, *stated, of_bins = {row[0]: row[1:] for row in ROW.findall(text)}[name]
    key, view = FILES[name]
    game = data.load(key)
    assert len(game.y_true) == int(games.replace(",", ""))
    error = tce(game.y_true, game.y_prob, view=view, n_draws=200, rng=8)
    shares = [f"{100 * share:.1f}" for share in (error.value, error.null_mean)]
    assert stated == [*shares, f"{error.p_value:.3f}"]
    p_value = hypothesis_tests.hosmer_lemeshow(game.y_true, game.y_prob, view=view).p_value
    if of_bins.startswith("below"):
        assert p_value < 1e-20
    else:
        assert f"{p_value:.2f}" == of_bins


@pytest.mark.long
@pytest.mark.parametrize(("mean", "patients"), [(0.2, 10), (0.01, 100)])
def test_the_coin_accuses_too_often_of_few_patients_and_of_rare_events(
    mean: float, patients: int
) -> None:
    """The core's own lines, on 600 honest data sets: 30 false alarms are promised, ± 5."""
    names: dict[str, Any] = {"np": np}
    for lines in (r"def ece.*?len\(p\)\n", r"def p_value_by.*?/ 200\n"):
        exec(re.findall(lines, lesson_text("08"), re.DOTALL)[0], names)
    rng, who, accused = np.random.default_rng(0), np.repeat(np.arange(patients), 10), 0
    for _ in range(600):
        p = rng.beta(2, 2 / mean - 2, size=len(who))
        luck = rng.normal(size=patients)[who] + rng.normal(size=len(who))
        y = stats.norm.cdf(luck / np.sqrt(2)) < p
        accused += names["p_value_by"](who, y, p, rng) <= 0.05
    assert accused > 40
    assert "with ten patients, or one event in a hundred, it accuses too often" in lesson_text("08")
