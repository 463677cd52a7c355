"""Answers to the exercises of lesson 04: wrong ones with the hint they must get, and right ones."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.calibration import calibration_curve

import calibkit as ck
from calibkit_course import data, lesson04
from calibkit_course.lesson04.checks import judge_band
from calibkit_course.lesson04.view import sellers
from tests.paths import lesson_text

# --- 4.1 ---------------------------------------------------------------------------------------


def loops(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    """Compute the table without numpy's help, from the definition."""
    bins: list[list[tuple[float, float]]] = [[] for _ in range(n_bins)]
    for y, p in zip(y_true, y_prob, strict=True):
        bins[min(int(p * n_bins), n_bins - 1)].append((y, p))
    mean = [sum(p for _, p in rows) / len(rows) if rows else float("nan") for rows in bins]
    share = [sum(y for y, _ in rows) / len(rows) if rows else float("nan") for rows in bins]
    return [len(rows) for rows in bins], mean, share


def from_package(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    table = ck.reliability_table(y_true, y_prob, bins=n_bins)
    return np.array([table.count, table.mean_prob, table.frequency])


def changed(edit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a bin table that an edit spoils."""

    def answer(y_true: Any, y_prob: Any, n_bins: int) -> Any:
        return edit(*from_package(y_true, y_prob, n_bins), n_bins)

    return answer


def by_index(rule: Callable[[Any, int], Any]) -> Callable[..., Any]:
    """Return a bin table by the number of each prediction's bin; an empty bin is 0 / 0."""

    def answer(y_true: Any, y_prob: Any, n_bins: int) -> Any:
        index = rule(y_prob, n_bins)
        count = np.bincount(index, minlength=n_bins)
        sums = (np.bincount(index, values, n_bins) for values in (y_prob, y_true))
        return count, *(each / count for each in sums)

    return answer


def near_edges(y_prob: Any, n_bins: int) -> Any:
    """Put 0.3 into the third of ten bins, as `linspace` does."""
    return np.clip(np.digitize(y_prob, np.linspace(0, 1, n_bins + 1)) - 1, 0, n_bins - 1)


def lose_one(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    kept = y_prob < 1
    return from_package(y_true[kept], y_prob[kept], n_bins)


def always(n_bins: int) -> Callable[..., Any]:
    """Return a function that ignores its argument `n_bins`."""
    return lambda y_true, y_prob, _: from_package(y_true, y_prob, n_bins)


def by_index_without_minlength(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    index = np.minimum((y_prob * n_bins).astype(int), n_bins - 1)
    count = np.bincount(index)
    return count, np.bincount(index, y_prob) / count, np.bincount(index, y_true) / count


def by_scikit_learn(y_true: Any, y_prob: Any, n_bins: int) -> Any:
    count = np.bincount(np.minimum((y_prob * n_bins).astype(int), n_bins - 1), minlength=n_bins)
    return count, *calibration_curve(y_true, y_prob, n_bins=n_bins)[::-1]


# --- 4.2 ---------------------------------------------------------------------------------------

LEFT, _ = sellers()
ece = ck.expected_calibration_error


def ece_of(y: Any, p: Any, n_bins: int = 15) -> float:
    index = np.minimum((p * n_bins).astype(int), n_bins - 1)
    return float(np.abs(np.bincount(index, weights=p - y)).sum() / len(p))


def null_of(draw: Callable[[np.random.Generator, Any], Any], seed: int = 1) -> tuple[float, float]:
    """Return mean and p-value of a thousand ECEs of outcomes drawn in one way."""
    rng, p = np.random.default_rng(seed), LEFT.y_prob
    redrawn = np.array([ece_of(draw(rng, p), p) for _ in range(1000)])
    as_large = redrawn >= ece_of(LEFT.y_true, p)
    return float(redrawn.mean()), float((1 + as_large.sum()) / 1001)


# --- 4.4 ---------------------------------------------------------------------------------------

PROB = np.random.default_rng(43).choice([0.02, 0.48, 0.52, 0.98], size=2000)
INDEX = (2 * PROB).astype(int)
SIZE = np.bincount(INDEX)
MEANS = (np.bincount(INDEX, PROB) / SIZE)[INDEX]


def redraw(prob: NDArray[np.float64], seed: int = 1) -> NDArray[np.float64]:
    """Return the frequencies of the two bins, one row per round."""
    happened = np.random.default_rng(seed).random((1000, len(prob))) < prob
    return np.stack([happened[:, b == INDEX].mean(axis=1) for b in range(2)], axis=1)


def band(low: float = 0.05, high: float = 0.95, **options: Any) -> NDArray[np.float64]:
    return np.quantile(redraw(PROB, **options), [low, high], axis=0)


def of_predictions() -> NDArray[np.float64]:
    rows = [np.quantile(PROB[b == INDEX], [0.05, 0.95]) for b in range(2)]
    return np.transpose(rows)


def by_formula() -> list[list[float]]:
    """Return the band from the variances, without any redrawing."""
    mean = np.bincount(INDEX, PROB) / SIZE
    sd = np.sqrt(np.bincount(INDEX, PROB * (1 - PROB))) / SIZE
    return [list(mean + z * sd) for z in stats.norm.ppf([0.05, 0.95])]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_own_probabilities_and_those_of_the_bins_can_be_told_apart(seed: int) -> None:
    """No honest redraw is refused; with means or centres none is accepted."""
    assert judge_band(band(seed=seed)) is None
    for prob in (MEANS, np.where(INDEX, 0.75, 0.25)):
        assert judge_band(np.quantile(redraw(prob, seed), [0.05, 0.95], axis=0)) is not None


WRONG: dict[str, list[tuple[Any, str]]] = {
    "4.1": [
        (by_index(lambda p, n: (p * n).astype(int)), "must not open its own bin"),
        (changed(lambda c, m, f, n: (c, np.nan_to_num(m), f)), "an empty bin has no mean"),
        (changed(lambda c, m, f, n: (c, m, np.nan_to_num(f))), "an empty bin has no frequency"),
        (changed(lambda c, m, f, n: (np.where(c, c, np.nan), m, f)), "the count 0, not `nan`"),
        (changed(lambda c, m, f, n: (c, (np.arange(n) + 0.5) / n, f)), "the centre of each bin"),
        (changed(lambda c, m, f, n: (c, f, m)), "changed places"),
        (changed(lambda c, m, f, n: (m, f, c)), "the count comes first"),
        (changed(lambda c, m, f, n: (c, m * c, f)), "The division is missing"),
        (changed(lambda c, m, f, n: (c, m, f * c / c.sum())), "not by the number of all"),
        (changed(lambda c, m, f, n: (c, m, 1 - f)), "the frequency of bin"),
        (changed(lambda c, m, f, n: (c, f - m)), "three arrays"),
        (changed(lambda c, m, f, n: (c, "mean", f)), "not an array of numbers"),
        (lose_one, "p = 1.0 is in no bin"),
        (by_index(near_edges), "`np.linspace` has the edge"),
        (by_index_without_minlength, "needs `minlength=n_bins`"),
        (by_scikit_learn, "scikit-learn drops them"),
        (always(10), "`count` has 10 bins instead of 5. Use the argument `n_bins`"),
        (changed(lambda c, m, f, n: (c / c.sum(), m, f)), "these are shares"),
        (changed(lambda c, m, f, n: (c[::-1], m[::-1], f[::-1])), "in reverse order"),
        (changed(lambda c, m, f, n: (c * np.nan_to_num(f), m, f)), "the events in each bin"),
        (
            changed(lambda c, m, f, n: (c, m + 2e-6, f)),
            "should be 0.106667, but here it is 0.106669",
        ),
        (
            by_index(lambda p, n: np.maximum(np.ceil(p * n).astype(int) - 1, 0)),
            "belongs to the bin above",
        ),
    ],
    "4.2": [
        (null_of(lambda rng, p: rng.random(300) < p)[::-1], "null level comes first"),
        (null_of(lambda rng, p: rng.random(300) > p), "happens with the chance p"),
        (null_of(lambda rng, p: rng.permutation(LEFT.y_true)), "his own p"),
        (null_of(lambda rng, p: rng.random() < p), "not one for all"),
        (null_of(lambda rng, p: LEFT.y_true), "the seller's own ECE"),
        ((0.0705, 0.71), "share of smaller errors"),
        ((0.0705, 287), "Divide 1 + the count"),
        ((0.07051234, np.float32(0.287)), "one of 1,001"),
        ((0.0705, 0.5), "should be about 0.29, but here it is 0.50"),
        ((0.0144, 0.29), "the null level should be about"),
        ((0.104, 0.95), "drawn again"),
    ],
    "4.4": [
        (band(0.025, 0.975), "as wide as a 90 % band"),
        (band(0.25, 0.75), "only"),
        (band()[::-1], "upper ends stand in the first row"),
        (band().T, "Put lower ends into row one"),
        (band() * SIZE, "Divide by the number of forecasts"),
        (of_predictions(), "quantiles of the predictions"),
        (np.quantile(redraw(MEANS), [0.05, 0.95], axis=0), "with its own p"),
        (np.quantile(redraw(np.where(INDEX, 0.75, 0.25)), [0.05, 0.95], axis=0), "its own p"),
        (np.array([[0.2, np.nan], [0.3, np.nan]]), "2 of these ends are not numbers"),
        (band()[0], "two rows of two numbers"),
        ([["a"] * 2] * 2, "two rows of two numbers"),
    ],
    "4.3": [("A reliability diagram.", "words"), (899, "text")],
}

RIGHT: dict[str, list[Any]] = {
    "4.1": [loops, from_package, by_index(lambda p, n: np.minimum((p * n).astype(int), n - 1))],
    "4.2": [
        *(null_of(lambda rng, p: rng.random(300) < p, seed) for seed in range(20)),
        (ck.null_level(ece, LEFT.y_true, LEFT.y_prob, rng=4).mean, 0.3),
        *((0.070, p) for p in (0.279, 0.284, 0.286)),  # as the page prints them
    ],
    "4.4": [band(), band(seed=2).tolist(), by_formula(), np.float32(band())],
    "4.3": ["Confidence across, accuracy up, 899 predictions: far below the band, over-confident."],
}


# --- the explorer --------------------------------------------------------------------------------


def test_one_bin_lies_in_the_singular() -> None:
    assert "0 of 1 bin lies outside" in lesson04.diagram_lab_view(n_bins=1).describe()


class TestGameView:
    def test_each_draw_has_something_to_find_and_something_to_refuse(self):
        counts = [sum(lesson04.which_is_perfect_view(draw=d).perfect) for d in range(1, 41)]
        assert set(counts) == {1, 2, 3, 4}

    def test_the_words_for_the_blind_give_the_gaps_but_not_the_answer(self):
        game = lesson04.which_is_perfect_view(draw=2)
        asked, revealed = game.alt(False), game.alt(True)
        assert not any(kind in asked for kind in ("perfect", "confident", "ECE"))
        gaps = [f"{-100 * gap:+.0f}" for gap in game.errors[0].tables[0].gap]
        assert f" A: {' '.join(gaps).replace('+nan', 'empty')}. B: " in asked
        assert all(game.kind(panel) in revealed for panel in range(6))


def test_two_models_see_the_same_digits_and_naive_bayes_is_the_surer_one():
    """The numbers of the lesson's figure."""
    models, label = lesson04.digits()
    assert len(label) == 899
    stated = {"naive Bayes": (0.821, 0.990), "logistic regression": (0.966, 0.950)}
    for name, wanted in stated.items():
        right = models[name].argmax(axis=1) == label
        found = right.mean(), models[name].max(axis=1).mean()
        assert found == pytest.approx(wanted, abs=0.002), name


ROW = re.compile(
    r"^\| (MLB|NBA|World Cup) \| ([\d,]+) \| (0\.\d+) \| (0\.\d+) \| (0\.\d+) \|", re.M
)
FILES = {"MLB": ("mlb", None), "NBA": ("nba", None), "World Cup": ("world_cup", 0)}


def verdict(name: str, **options: int) -> ck.chance.NullLevel:
    """Return the error of one file beside its null level, as the lesson computes it."""
    key, view = FILES[name]
    game = data.load(key)
    chosen = {"view": view, "bins": 10, "rng": 4} | options
    return ck.null_level(ck.expected_calibration_error, game.y_true, game.y_prob, **chosen)


@pytest.mark.parametrize("name", FILES)
def test_the_table_of_the_lesson_is_what_the_files_give(name: str) -> None:
    rows = {r[0]: r[1:] for r in ROW.findall(lesson_text("04"))}
    games, error, median, p_value = rows[name]
    found = verdict(name)
    assert len(data.load(FILES[name][0]).y_true) == int(games.replace(",", ""))
    stated = [f"{number:.3f}" for number in (found.value, found.median, found.p_value)]
    assert stated == [error, median, p_value]


@pytest.mark.parametrize(("view", "error"), [("top-label", 0.074), ("class-wise", 0.070)])
def test_other_views_of_the_world_cup_agree(view: str, error: float) -> None:
    game = data.load("world_cup")
    options = {"view": view, "bins": 10, "rng": 4}
    found = ck.null_level(ck.calibration_error, game.y_true, game.y_prob, **options)
    assert found.value == pytest.approx(error, abs=0.0005) and found.p_value > 0.05


def test_nba_forecasts_are_too_high_on_average() -> None:
    game = data.load("nba")
    assert f"{game.y_prob.mean():.3f} {game.y_true.mean():.3f}" == "0.619 0.572"
