"""The judge of exercise 3.1: a fake classifier of one's own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit_course.learn import answers
from calibkit_course.learn.words import read_words

SAY = read_words("03").say

# Of 4,000 predictions of a kind, chance moves a share by 0.03 once in a thousand times.
_KINDS, _PER_KIND, _SLACK, _SHARES = np.array([0.2, 0.6, 0.9, 1.0]), 4000, 0.03, (0.25, 0.5)


def judge_machine(answer: Any) -> str | None:
    """Judge exercise 3.1: a function that draws who is right, and says something else."""
    function = answers.as_function(answer)
    first = _SHARES[0]
    for t in _SHARES:
        right, said = _made(function, t, seed=3)
        if problem := _pair_problem(right, said, t):
            return problem if t == first else SAY["fixed t"].format(first=first, t=t)
    again, other = (_made(function, first, seed)[0] for seed in (3, 4))
    if not np.array_equal(again, _made(function, first, seed=3)[0]):
        return SAY["seed"]
    return SAY["own seed"] if np.array_equal(again, other) else None


def _made(function: Any, t: float, seed: int) -> list[NDArray[np.float64]]:
    q = np.tile(_KINDS, _PER_KIND)

    def seeded(q: NDArray[np.float64], t: float) -> Any:
        return function(q, t, np.random.default_rng(seed))

    made = answers.call(seeded, q, t, shown=SAY["call"].format(t=t, n=len(q)))
    pair = answers.as_list(made, SAY["pair"])
    if len(pair) != 2:
        raise answers.wrong_kind(made, SAY["pair"])
    return [answers.as_numbers(part, SAY["pair"], len(q)) for part in pair]


def _pair_problem(right: NDArray[np.float64], said: NDArray[np.float64], t: float) -> str | None:
    if not np.isin(right, (0, 1)).all():
        if np.isin(said, (0, 1)).all():
            return SAY["swapped"]
        return SAY["binary"].format(found=right[~np.isin(right, (0, 1))][0])
    wanted, found = (1 - t) * _KINDS + t, said[: len(_KINDS)]
    if not answers.agree(said, np.tile(wanted, _PER_KIND), 1e-6):
        patterns = {"truth": _KINDS, "turned": t * _KINDS + 1 - t}
        if slip := answers.slip_of(found, patterns, 1e-6):
            return SAY[slip]
        return _furthest("said", found, wanted, t)
    shares = right.reshape(_PER_KIND, -1).mean(axis=0)
    if answers.agree(shares, _KINDS, _SLACK):
        return None
    patterns = {"from said": wanted, "opposite": 1 - _KINDS, "certain": _KINDS > 0.5}
    if slip := answers.slip_of(shares, patterns, _SLACK):
        return SAY[slip]
    if np.isin(shares, (0, 1)).all():
        return SAY["one draw"]
    return _furthest("share", shares, _KINDS, t)


def _furthest(key: str, found: NDArray[np.float64], wanted: NDArray[np.float64], t: float) -> str:
    i = int(np.abs(found - wanted).argmax())
    return SAY[key].format(q=_KINDS[i], t=t, **answers.apart(found[i], wanted[i]))
