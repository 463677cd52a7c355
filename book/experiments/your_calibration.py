"""How often the page "Your calibration" is wrong about simulated learners, and its stand-in.

``python -m book.experiments.your_calibration`` prints the table of the page in half a minute;
``--stand-in`` writes the forecasts of the stand-in anew.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibkit_course.learn import Forecasts, table
from calibkit_course.learn.calibration import at_temperature, gap_interval, temperature
from calibkit_course.learn.forecasts import STAND_IN
from calibkit_course.lesson01 import true_or_false

# (statement, is it true), as the page asks them
STATEMENTS = tuple(zip(true_or_false.STATEMENTS, map(bool, true_or_false.TRUTH), strict=True))
LEARNERS = {"over-confident": 2.0, "well calibrated": 1.0, "under-confident": 0.5}
LENGTHS = (10, 30, 75)
LEVELS = np.array([0.34, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])  # what people say
STAND_IN_SEED, STAND_IN_LENGTH = 11, 40


def learner(needs: float, n: int, rng: np.random.Generator) -> Forecasts:
    """Return the first n forecasts of a learner whose confidence needs this temperature.

    The course is one of fifteen lessons with five guesses each, of two, three or four options.
    """
    name = np.array([f"{number}{letter}" for number in range(15) for letter in "abcde"])[:n]
    options = np.tile([3, 2, 3, 3, 4], 15)[:n]
    sure = rng.choice(LEVELS, size=n)
    while (low := sure < 1 / options).any():
        sure[low] = rng.choice(LEVELS, size=low.sum())
    blank = np.zeros(n, dtype=np.int64)
    own = Forecasts(name=name, options=options, sure=sure, right=blank)
    return replace(own, right=(rng.random(n) < at_temperature(own, needs)).astype(np.int64))


def told(own: Forecasts, lengths: Sequence[int]) -> NDArray[np.str_]:
    """Return what the page says after so many forecasts: "over", "under" or "open"."""
    last = np.array(lengths) - 1
    low, high = gap_interval(own.sure.cumsum()[last], own.right.cumsum()[last], last + 1)
    return np.select([low > 0, high < 0], ["over", "under"], "open")


def rates(kind: str, n_learners: int, seed: int = 1) -> list[tuple[str, ...]]:
    """Return a line per number of forecasts: the learner, what is said how often, what is wrong.

    A claim is wrong if it names a side on which the learner is not. The last line is about a
    learner who looks after every lesson, and at least once is told so.
    """
    rng, deserved = np.random.default_rng(seed), kind.partition("-")[0]
    found = [learner(LEARNERS[kind], 75, rng) for _ in range(n_learners)]
    lines: list[tuple[str, ...]] = []
    for n in LENGTHS:
        said = np.array([told(own, [n])[0] for own in found])
        share = [(said == word).mean() for word in ("over", "under", "open")]
        wrong = ((said != deserved) & (said != "open")).mean()
        lines.append((kind, f"{n}", *(f"{100 * one:.0f}" for one in (*share, wrong))))
    ends = np.unique(found[0].lesson, return_counts=True)[1].cumsum()
    claims = [set(told(own, list(ends)).tolist()) - {"open"} for own in found]
    share = [np.mean([word in said for said in claims]) for word in ("over", "under")]
    wrong = np.mean([bool(said - {deserved}) for said in claims])
    last = (*(f"{100 * one:.0f}" for one in share), "", f"{100 * wrong:.0f}")
    return [*lines, (kind, "any", *last)]


def temperatures(kind: str, n_learners: int, seed: int = 1) -> list[tuple[str, ...]]:
    """Return a line per number of forecasts: how often the interval of T misses the true one."""
    rng, true = np.random.default_rng(seed), LEARNERS[kind]
    lines: list[tuple[str, ...]] = []
    for n in LENGTHS:
        found = [temperature(learner(true, n, rng)) for _ in range(n_learners)]
        missed = np.mean([not one.low <= true <= one.high for one in found])
        sees = np.mean([not one.low <= 1 <= one.high for one in found])
        lines.append((kind, f"{n}", f"{100 * missed:.0f}", f"{100 * sees:.0f}"))
    return lines


def tables(n_learners: int = 4000) -> tuple[str, str]:
    """Return both tables of the page."""
    heads = ("learner", "n", "over", "under", "open", "wrong")
    first = table(heads, [line for kind in LEARNERS for line in rates(kind, n_learners)])
    lines = [line for kind in LEARNERS for line in temperatures(kind, n_learners // 4)]
    return first, table(("learner", "n", "T missed", "T = 1 excluded"), lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stand-in", action="store_true")
    parser.add_argument("--learners", type=int, default=4000)
    chosen = parser.parse_args()
    if chosen.stand_in:
        seeded = np.random.default_rng(STAND_IN_SEED)
        learner(LEARNERS["over-confident"], STAND_IN_LENGTH, seeded).to_csv(STAND_IN)
    else:
        print(*tables(chosen.learners), sep="\n")
