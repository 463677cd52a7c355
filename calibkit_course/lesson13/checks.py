"""Checks and predictions of lesson 13: decide with probabilities."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from calibkit.decisions import decision_threshold
from calibkit.fakes import ClassKnobs, KnobClassifier
from calibkit_course.learn import Check, Drawing, Prediction, answers
from calibkit_course.learn.answers import Almost, same
from calibkit_course.lesson13.wards import GameTruth, Ward

SAY = {
    # 13.1
    "amounts": "stake {stake:g} and win {win:g}",
    "other side": "for {call} this is the win over the sum. A larger stake must raise it.",
    "odds": "for {call} this is stake / win, the odds. A probability is divided by their sum.",
    "per cent": "for {call} this is in per cent. A probability lies between 0 and 1.",
    "threshold off": "for {call} the threshold is {wanted}, not {found}.",
    # 13.2
    "patients": "eight patients and the prices {vain:g} and {miss:g}",
    "cost": "a number, the mean cost per patient",
    "above": "this treats those above the threshold. Whoever stands exactly at it is treated too.",
    "half": "this treats from 0.5 on. At these prices, treating is worth it from `threshold` on.",
    "total": "this is the sum over all patients. Give the mean.",
    "all treated": "this charges right treatments too. Only those in vain cost something.",
    "no misses": "the missed patients are not paid for. Each is a false negative.",
    "no treatments": "treatments in vain are not paid for. Each is a false positive.",
    "upside down": "the threshold is the wrong way round: a dear miss must lower it. What acting "
    "in vain costs is the numerator.",
    "swapped": "the two prices are swapped: a treatment in vain is a false positive.",
    "promised": "this is what the model promises. Pay by the outcomes instead.",
    "reversed": "this treats those below the threshold. They are the ones to leave alone.",
    "cost off": "for {call} the mean cost is {wanted}, not {found}.",
    # 13.3
    "percent": "an ECE lies between 0 and 0.2 here. Is this in per cent?",
    "range": "an ECE lies between 0 and 0.2 here.",
    "by bound": "this is what the bound promises any model. Compute the regret of these models.",
    "one cent": "this keeps the regret below 0.01. The task asks for 1 % of the oracle's value.",
    "under": "this is the budget of under-confident models. Take the direction `over`.",
    "too little": "this is safe: the regret is {found} % of the oracle's value, and {wanted} % is "
    "allowed. More error is allowed.",
    "too much": "the regret is {found} % of the oracle's value. Only {wanted} % is allowed.",
    # 13.4
    "pair": "two fake classifiers, each a `KnobClassifier` or `ClassKnobs`",
    "accuracy": "one model has the accuracy {found}. Both must have {wanted}.",
    "errors": "the errors are {found} and {wanted}. They must be equal.",
    "no error": "both are calibrated, so both lose nothing. Give them an error.",
    "regrets": "regrets of {one:.3g} and {other:.3g}: one must be at least 1.5 times the other.",
    # 13.5
    "prices": "price {price:g} and loss {loss:g}",
    "share": "for {call} this is price / loss, the chance of a mistake. Confidence is 1 minus it.",
    "no loss": "for {call} this is one minus the price. That is right only if a mistake costs 1.",
    "as treat": "for {call} this is loss / (loss + price). Here a right answer wins nothing.",
    "confidence off": "for {call} answer from {wanted} on, not from {found}.",
    "never pass": "for {call} passing costs more than a mistake. Always answer: give 0 or less.",
}

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
_SAID = np.array([0.01, 0.62, 0.02, 0.9, 0.3, 0.11, 0.03, 0.25])


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


# --- what the lesson asks ----------------------------------------------------------------------

TITLE = "Decide with probabilities"
SECOND = "13.3 13.4 13.5 13e 13f"  # what the second notebook asks

CHECKS = {
    "13.1": Check(
        task="Price a bet",
        variable="my_threshold",
        judge=judge_threshold,
        hints=(
            "At the threshold the bet wins nothing on average: p times the win is (1 - p) times "
            "the stake.",
            "Solve for p. What a wrong bet loses is the numerator, and the sum of both is the "
            "denominator.",
        ),
        praise="only the ratio of stake and win counts. The model has no say in it.",
    ),
    "13.2": Check(
        task="Compute what a model costs",
        variable="my_cost",
        judge=judge_cost,
        hints=(
            "Exercise 13.1 gives the threshold, and `y_prob >= threshold` those who are treated.",
            "In vain: `treated & (y_true == 0)`. Missed: `~treated & (y_true == 1)`. Multiply each "
            "by its price, add, and take the mean.",
        ),
        praise="the bill needs outcomes, costs and a threshold. Accuracy appears nowhere.",
    ),
    "13.3": Check(
        task="Find the error budget",
        variable="my_budget",
        judge=judge_budget,
        hints=(
            "`Ward().truth(model)` knows `oracle` and `regret`. Try errors from 0 up to 0.2.",
            "`scipy.optimize.brentq` finds where regret minus 1 % of the oracle's value is 0.",
        ),
        praise="that is about 26 times the error that the bound allows. The bound holds for every "
        "model, this budget for one kind of model in one ward.",
        tolerance=0.0005,
    ),
    "13.4": Check(
        task="Build two models with one error",
        variable="my_pair",
        judge=judge_pair,
        hints=(
            "`KnobClassifier.with_error(5, 0.8, error, direction)` sets the error exactly.",
            "Which direction makes the ward treat too many, and which too few? They cost "
            "differently.",
        ),
        praise="the ECE adds up distances. The ward pays only for those that cross its threshold.",
    ),
    "13.5": Check(
        task="Know when to pass",
        variable="answer_from",
        judge=judge_abstention,
        hints=(
            "Answering with confidence z costs (1 - z) times the loss, on average.",
            "Answer where this is at most the price, and solve for z.",
        ),
        praise="the dearer a mistake, the surer the model must be. It helps only if it is as sure "
        "as it says.",
    ),
}

PREDICTIONS = {
    "13a": Prediction(
        question="Treating everybody costs 0.70 per patient, and the over-confident model promises "
        "0.38. What will it cost in truth?",
        options=("about 0.4", "about 0.55", "about 0.7", "about 0.9"),
        outcome="about 0.9",
        why="It says 1 % where the truth is 10 %. So it leaves patients alone whom it would pay "
        "to treat, and one missed patient costs as much as 19 treatments in vain.",
        tells=(r"can cost more than|over-confident[^.]{0,80}(costs more|worse than)|0\.87",),
    ),
    "13b": Prediction(
        question="Now both mistakes cost 1. Which of the three models is the cheapest?",
        options=("calibrated", "over-confident", "under-confident", "all cost the same"),
        outcome="all cost the same",
        why="Where both mistakes cost the same the threshold is 1/2, as for the accuracy. All "
        "three put the same patients on the same side of it, so they decide alike.",
        tells=(r"cost the same|same side of|decide alike",),
    ),
    "13c": Drawing(
        question="At 0.1 the over-confident model has a regret of 0.015. Draw its regret over the "
        "threshold.",
        x=tuple(tenths / 10 for tenths in range(1, 10)),
        axes=("threshold", "regret"),
        top=0.02,
        why="Doubled logits cross no threshold of one half, so there nobody is on the wrong side. "
        "Away from it some are, and more of them at the low end, where most patients are.",
        tells=(r"regret[^.]{0,40}(falls|is 0 at|vanish)", r"two hills|cross no threshold"),
    ),
    "13e": Prediction(
        question="The model is over-confident, and each of 10 patients has a bed. Now take three "
        "beds away. What trusting it wins per patient…",
        options=("falls", "stays", "rises"),
        outcome="rises",
        why="Over-confidence treats too many. With seven beds only the most confident are treated, "
        "and the ranking of the model is right. Scarcity repairs what confidence spoiled.",
        tells=(r"scarcity|beds[^.]{0,60}(repair|helps?\b)",),
    ),
    "13f": Prediction(
        question="The ward wants a value of 1.0 per patient. The model has an ECE of 0.1 instead "
        "of 0. How many points of accuracy must make up for it?",
        outcome=3.7,
        unit="points",
        why="A calibrated model needs an accuracy of 0.838, one with an ECE of 0.1 needs 0.875.",
        tells=(r"\b3\.7\b|0\.838|0\.875",),
    ),
    "13d": Prediction(
        question="A disease that 5 % have, and a model with halved logits. At how many of 25 "
        "thresholds is it worth less than no model?",
        options=("none", "about 9", "about 18", "all 25"),
        outcome="about 9",
        why="Halved logits lie nearer to one half, and that is far too much for a rare disease. It "
        "treats many who are healthy, where treating none is better.",
        tells=(r"timid[^.]{0,80}(never|wastes)|\b9 of 25",),
    ),
}
