"""The judge of exercise 3.1: labels drawn from true probabilities."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit_course.learn import answers

SAY = {
    "labels": "one label per row",
    "call": "`draw_labels(true_prob, rng)` with {n:,} rows of {k} classes",
    "whole": "labels are whole numbers; here {found:g} comes out.",
    "from one": "these labels run from 1 to {k}. Count classes from 0, as columns do.",
    "range": "label {found:g} is no class. With {k} columns the classes are 0 to {last}.",
    "argmax": "this is always the most probable class. Then nobody would ever be wrong.",
    "seed": "the same seed gives other labels each time. Take all chance from `rng`.",
    "few seeds": "some seeds give the same labels. Pass `rng` on as it is, and make no other from it.",
    "dependent": "labels of different rows hang together. Draw an independent random number for each "
    "row, and keep the numbers in the order in which they come.",
    "own seed": "another seed gives the same labels. Draw with the `rng` that is passed.",
    "one draw": "all rows share one random number. Draw one per row.",
    "average": "all rows follow the same probabilities. Each row has its own.",
    "never": "a class with probability 0 was drawn. Compare with the running sums once more.",
    "shares": "rows ({row}) get label {k} in {found} of the cases, it should be {wanted}.",
}

# With 16,000 rows of a kind, chance moves a share by 0.004 at most; a bias of 0.03 shows.
_PER_KIND, _SLACK, _SEEDS, _FEW, _MANY_SEEDS = 8000, 0.018, (3, 4), 40, 12
_KINDS = (((0.7, 0.2, 0.1), (0.1, 0.3, 0.6), (0.0, 1.0, 0.0)), ((0.2, 0.8), (0.9, 0.1)))


def judge_labels(answer: Any) -> str | None:
    """Judge exercise 3.1: a function that draws one label per row of probabilities."""
    function = answers.as_function(answer)
    for kinds in _KINDS:
        table = np.tile(np.array(kinds), (_PER_KIND, 1))
        labels = [_draw(function, table, seed) for seed in _SEEDS]
        few = table[: _FEW * len(kinds)]
        again = [_draw(function, few, seed) for seed in (*_SEEDS, *_SEEDS)]
        if problem := _label_problem(np.concatenate(labels), np.tile(table, (2, 1)), kinds):
            return problem
        if not np.array_equal(again[:2], again[2:]):
            return SAY["seed"]
        if np.array_equal(again[0], again[1]):
            return SAY["own seed"]
        if len({_draw(function, few, seed).tobytes() for seed in range(_MANY_SEEDS)}) < _MANY_SEEDS:
            return SAY["few seeds"]
        if any(_hang_together(drawn, table, kinds) for drawn in labels):
            return SAY["dependent"]
    return None


def _hang_together(
    labels: NDArray[np.float64], table: NDArray[np.float64], kinds: Sequence[Sequence[float]]
) -> bool:
    """Tell whether rows next to each other, of two kinds or of one, have related labels.

    Chance moves these correlations of 16,000 rows or more by less than 0.01.
    """
    off = labels - table @ np.arange(table.shape[1])
    lags = (1, len(kinds))
    return any(abs(np.mean(off[:-lag] * off[lag:])) > 0.05 * np.mean(off**2) for lag in lags)


def _draw(function: Any, table: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    n, k = table.shape

    def seeded(true_prob: NDArray[np.float64]) -> Any:
        return function(true_prob, np.random.default_rng(seed))

    result = answers.call(seeded, table, shown=SAY["call"].format(n=n, k=k))
    return answers.as_numbers(result, SAY["labels"], n)


def _label_problem(
    labels: NDArray[np.float64], table: NDArray[np.float64], kinds: Sequence[Sequence[float]]
) -> str | None:
    k = table.shape[1]
    if not np.array_equal(labels, np.round(labels)):
        return SAY["whole"].format(found=labels[labels != np.round(labels)][0])
    strange = labels[(labels < 0) | (labels >= k)]
    if len(strange):
        key = "from one" if labels.min() == 1 and labels.max() == k else "range"
        return SAY[key].format(k=k, last=k - 1, found=strange[0])
    if np.array_equal(labels, table.argmax(axis=1)):
        return SAY["argmax"]
    return _share_problem(labels.astype(int), kinds)


def _share_problem(labels: NDArray[np.intp], kinds: Sequence[Sequence[float]]) -> str | None:
    by_kind = np.array([labels[i :: len(kinds)] for i in range(len(kinds))])
    shares = np.array([np.bincount(part, minlength=len(kinds[0])) for part in by_kind])
    shares = shares / by_kind.shape[1]
    firsts, seconds = np.split(by_kind, 2, axis=1)
    if all(len(np.unique(part)) == 1 for half in (firsts, seconds) for part in half):
        return SAY["one draw"]
    if np.abs(shares - shares.mean(axis=0)).max() < _SLACK:
        return SAY["average"]
    if np.any((shares > 0) & (np.array(kinds) == 0)):
        return SAY["never"]
    for found, wanted in zip(shares, kinds, strict=True):
        k = int(np.abs(found - wanted).argmax())
        if abs(found[k] - wanted[k]) > _SLACK:
            row = ", ".join(f"{p:g}" for p in wanted)
            return SAY["shares"].format(row=row, k=k, **answers.apart(found[k], wanted[k]))
    return None
