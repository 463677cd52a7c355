"""The judge of exercise 3.1: a fake classifier of one's own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit_course.learn import answers

SAY = {
    "pair": "two arrays, `right` and `said`",
    "call": "`make_fake(q, {t:g}, rng)` with {n:,} chances",
    "swapped": "the arrays stand the other way round: first `right`, then `said`.",
    "binary": "`right` holds 0 and 1, but here {found:g} is in it.",
    "truth": "it says its true chance, so it is calibrated. What it says is `(1 - t) * q + t`.",
    "turned": "the share works the other way round: with t = 0 it should say `q`.",
    "fixed": "this is right for t = {first:g}, but not for t = {t:g}. Does it use its argument?",
    "said": "where q is {q:g} and t is {t:g}, it should say {wanted}, but it says {found}.",
    "from said": "it is right as often as it says. Draw from `q`, the truth, and not from `said`.",
    "opposite": "it is right where it should be wrong. A random number is below q with chance q.",
    "certain": "it is right exactly where q exceeds a half. Draw: 0.6 is right in 60 % of cases.",
    "one draw": "all predictions share one random number. Draw one for each.",
    "share": "where q is {q:g}, it should be right in {wanted} of the cases, but it is in {found}.",
    "seed": "the same seed gives other outcomes each time. Take all chance from `rng`.",
    "own seed": "another seed gives the same outcomes. Draw with the `rng` that is passed.",
}

# Of 4,000 predictions of a kind, chance moves a share by 0.03 once in a thousand times.
_KINDS, _PER_KIND, _SLACK, _SHARES = np.array([0.2, 0.6, 0.9, 1.0]), 4000, 0.03, (0.25, 0.5)


def judge_machine(answer: Any) -> str | None:
    """Judge exercise 3.1: a function that draws who is right, and says something else."""
    function = answers.as_function(answer)
    first = _SHARES[0]
    for t in _SHARES:
        right, said = _made(function, t, seed=3)
        if problem := _pair_problem(right, said, t):
            return problem if t == first else SAY["fixed"].format(first=first, t=t)
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
