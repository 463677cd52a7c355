"""Judges of lesson 13: decide with probabilities."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from calibkit.decisions import decision_threshold
from calibkit.fakes import ClassKnobs, KnobClassifier
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, same
from calibkit_course.learn.words import read_words
from calibkit_course.lesson13.wards import GameTruth, Ward

SAY = read_words("13").say

WARD = Ward(benefit=2, harm=6)
CLASSES, ACCURACY, SHARP = 5, 0.8, 3.0
# Single precision is precise enough, and so are four printed digits of a mean cost.
_SINGLE, _PRINTED = 1e-6, 6e-5


# --- 13.1 --------------------------------------------------------------------------------------


def judge_threshold(answer: Any) -> str | None:
    """Judge exercise 13.1: a function of stake and win."""
    function = answers.as_function(answer)
    for stake, win in ((6.0, 2.0), (1.0, 19.0), (9.0, 1.0), (3.0, 3.0)):
        shown = SAY["amounts"].format(stake=stake, win=win)
        found = answers.as_number(answers.call(function, stake, win, shown=shown))
        wanted = decision_threshold([[0, 0], [stake, -win]])
        if same(found, wanted, _SINGLE):
            continue
        slips = {"other side": 1 - wanted, "odds": stake / win, "per cent": 100 * wanted}
        if slip := answers.slip_of(found, slips, _SINGLE):
            return SAY[slip].format(call=shown)
        return SAY["threshold off"].format(call=shown, **answers.apart(found, wanted, 2))
    return None


# --- 13.2 --------------------------------------------------------------------------------------

# The last patient stands exactly at one of the thresholds that are tried.
_SICK = np.array([0, 0, 1, 1, 1, 0, 0, 1])
_SAID = np.array([0.01, 0.62, 0.02, 0.6, 0.3, 0.11, 0.03, 0.25])


def judge_cost(answer: Any) -> str | None:
    """Judge exercise 13.2: a function of labels, probabilities and two prices."""
    function = answers.as_function(answer)
    for vain, miss in ((1.0, 19.0), (2.0, 3.0), (1.0, 3.0)):
        shown = SAY["patients"].format(vain=vain, miss=miss)
        result = answers.call(function, _SICK, _SAID, vain, miss, shown=shown)
        found = answers.as_number(result, SAY["cost"])
        wanted = _bill(vain / (vain + miss) <= _SAID, vain, miss)
        if same(found, wanted, _PRINTED):
            continue
        if slip := answers.slip_of(found, _cost_slips(vain, miss), _PRINTED):
            return SAY[slip]
        return SAY["cost off"].format(call=shown, **answers.apart(found, wanted, 4))
    return None


def _bill(treated: NDArray[np.bool_], vain: float, miss: float) -> float:
    sick = _SICK == 1
    return float(np.mean(vain * (treated & ~sick) + miss * (~treated & sick)))


def _cost_slips(vain: float, miss: float) -> dict[str, float]:
    """Return what usual slips would give."""
    sick, threshold = _SICK == 1, vain / (vain + miss)
    treated = threshold <= _SAID
    return {
        "odds threshold": _bill(vain / miss <= _SAID, vain, miss),
        "above": _bill(threshold < _SAID, vain, miss),
        "half": _bill(_SAID >= 0.5, vain, miss),
        "total": len(_SAID) * _bill(treated, vain, miss),
        "all treated": float(np.mean(np.where(treated, vain, miss * sick))),
        "no misses": _bill(treated, vain, 0),
        "no treatments": _bill(treated, 0, miss),
        "swapped": _bill(treated, miss, vain),
        "upside down": _bill(miss / (vain + miss) <= _SAID, vain, miss),
        "promised": float(np.mean(np.where(treated, vain * (1 - _SAID), miss * _SAID))),
        "reversed": _bill(~treated, vain, miss),
        "rates": vain * treated[~sick].mean() + miss * (~treated)[sick].mean(),
    }


# --- 13.3 --------------------------------------------------------------------------------------

_ALLOWED = 0.01
_LARGEST = 1 - ACCURACY  # no model of this accuracy has a larger error


def _truth(error: float, direction: str = "over") -> GameTruth:
    knob = KnobClassifier.with_error(CLASSES, ACCURACY, error, direction, concentration=SHARP)
    return WARD.truth(knob)


@lru_cache(maxsize=1)
def _budgets() -> dict[str, float]:
    """Return the budget of 13.3, and what slips would give."""
    oracle = _truth(0.0).oracle

    def budget(most: float, direction: str = "over") -> float:
        return float(
            optimize.brentq(lambda e: _truth(e, direction).regret - most, 1e-9, 0.19, xtol=1e-12)
        )

    return {
        "oracle": oracle,
        "wanted": budget(_ALLOWED * oracle),
        "by bound": _ALLOWED * oracle / (2 + 6),  # regret <= (B + H) error
        "one cent": budget(_ALLOWED),
        "under": budget(_ALLOWED * oracle, "under"),
    }


def judge_budget(answer: Any) -> str | None:
    """Judge exercise 13.3: the largest error that loses at most 1 %."""
    found, known = answers.as_number(answer), _budgets()
    if same(found, known["wanted"], 5e-4):
        return None
    for slip in ("by bound", "one cent", "under"):
        if same(found, known[slip], 2e-4):
            return SAY[slip]
    if not 0 <= found <= _LARGEST + 1e-9:
        return SAY["percent" if found > 0 else "range"]
    share = 100 * _truth(min(found, _LARGEST)).regret / known["oracle"]
    words = SAY["too little" if found < known["wanted"] else "too much"]
    return words.format(**answers.apart(share, 100 * _ALLOWED, 2))


# --- 13.4 --------------------------------------------------------------------------------------

_RATIO = 1.5


def judge_pair(answer: Any) -> str | None:
    """Judge exercise 13.4: two classifiers with one error, and regrets apart."""
    pair = answers.as_list(answer, SAY["pair"], 2)
    for model in pair:
        if not isinstance(model, KnobClassifier | ClassKnobs):
            raise answers.wrong_kind(model, SAY["pair"])
    known = [model.truth() for model in pair]
    accuracy, error = [t.accuracy for t in known], [t.expected for t in known]
    if not all(same(a, ACCURACY, 1e-6) for a in accuracy):
        off = max(accuracy, key=lambda a: abs(a - ACCURACY))
        return SAY["accuracy"].format(**answers.apart(off, ACCURACY, 2))
    if not same(error[0], error[1], 1e-4):
        return SAY["errors"].format(**answers.apart(error[0], error[1], 4))
    if max(error) < 1e-9:
        return SAY["no error"]
    regrets = [WARD.truth(model).regret for model in pair]
    if max(regrets) < _RATIO * min(regrets) or max(regrets) < 1e-9:
        return SAY["regrets"].format(one=regrets[0], other=regrets[1])
    return None


# --- 13.5 --------------------------------------------------------------------------------------


def judge_abstention(answer: Any) -> str | None:
    """Judge exercise 13.5: the confidence from which on to answer."""
    function = answers.as_function(answer)
    for price, loss in ((1.0, 8.0), (0.5, 1.0), (0.3, 2.0), (3.0, 2.0)):
        shown = SAY["prices"].format(price=price, loss=loss)
        result = answers.call(function, price, loss, shown=shown)
        wanted = 1 - price / loss
        if price > loss and _is_lowest(result):
            continue  # "or less"
        found = answers.as_number(result)
        if price > loss:
            if found > 0:
                raise Almost(SAY["never pass"].format(call=shown))
            continue
        if same(found, wanted, _SINGLE):
            continue
        slips = {"share": price / loss, "no loss": 1 - price, "as treat": loss / (loss + price)}
        if slip := answers.slip_of(found, slips, _SINGLE):
            return SAY[slip].format(call=shown)
        return SAY["confidence off"].format(call=shown, **answers.apart(found, wanted, 3))
    return None


def _is_lowest(result: Any) -> bool:
    """Tell whether a result is minus infinity, in any precision."""
    try:
        return float(result) == -np.inf
    except (TypeError, ValueError):
        return False


JUDGES = {
    "13.1": judge_threshold,
    "13.2": judge_cost,
    "13.3": judge_budget,
    "13.4": judge_pair,
    "13.5": judge_abstention,
}
