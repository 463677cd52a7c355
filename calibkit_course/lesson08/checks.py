"""Checks and predictions of lesson 08: test calibration."""

from functools import lru_cache, partial
from typing import Any

import numpy as np

from calibkit.chance import null_level
from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit.inputs import FloatVector
from calibkit_course.learn import answers
from calibkit_course.learn.answers import same
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction
from calibkit_course.lesson08.checks_further import FURTHER

SAY = {
    # 8.1
    "a p": "a p-value, one number",
    "fair": "400 predictions of an honest model",
    "off": "2,000 predictions of a model that is far off",
    "sure": "40 predictions of 0 and 1, all right",
    "number": "this is a number of redraws. Divide, so that it becomes a share.",
    "better": "this counts the redraws that do better than the data. Count those at least as bad.",
    "plus one": "the data count as one of the redraws: add 1 above and below the line.",
    "as bad": "a redraw that does exactly as badly as the data counts, too: `>=`.",
    "unlike": "for an honest model the p-value comes out as {found}, not near {wanted}. Does row i "
    "of each redraw happen with probability `p[i]`, by a random number of its own?",
    "rounds": "on a model that is far off no redraw does as badly, so 199 of them give 1/200. "
    "Here it is {found}.",
    # 8.2
    "percent": "a share lies between 0 and 1, and this looks like one in per cent.",
    "models": "this is a number of models. Divide it by all that are rejected.",
    "level": "this is the share of the honest models that are rejected. Which share of the "
    "rejected models is honest?",
    "power": "this is the share of the over-confident models that are caught.",
    "others": "this is the share of the rejected models that are over-confident.",
    "all": "this is the share of all 100 models that are rejected. Of those, how many are honest?",
    "alike": "this takes as many honest models as others. There are 97 of the one and 3 of the "
    "other.",
    "all caught": "this takes all three as caught. The test catches a share `power` of them.",
    "counts": "this takes the two counts of the cell as they stand, as if there were as many "
    "honest models as others. Here 97 are honest and 3 are not.",
    "measured": "this takes the 12 of 200 honest models that chance gave above. The level promises "
    "5 %.",
    "share off": "{found} is not the share: divide the honest ones that are rejected by all that "
    "are rejected.",
}


# --- 8.1 ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _files() -> dict[str, tuple[Any, FloatVector]]:
    """Return outcomes and predictions of an honest model, of one far off, and of a sure one."""
    fair = LogitDistortion(scores=(2, 18)).sample(400, rng=861)
    off = LogitDistortion(slope=0.3).sample(2000, rng=862)
    sure = np.tile([0, 1], 20)
    return {
        "fair": (fair.y_true, fair.y_prob),
        "off": (off.y_true, off.y_prob),
        "sure": (sure, sure.astype(np.float64)),
    }


@lru_cache(maxsize=1)
def _fair_p() -> float:
    rows = _files()["fair"]
    return float(
        null_level(expected_calibration_error, *rows, bins=10, n_draws=2000, rng=86).p_value
    )


def _with(function: Any, rng: np.random.Generator, label: Any, prob: Any) -> Any:
    return function(label, prob, rng)


def judge_test(answer: Any) -> str | None:
    """Judge exercise 8.1: a function that redraws outcomes and returns a p-value."""
    function, found = answers.as_function(answer), {}
    for name, (label, prob) in _files().items():
        rng = np.random.default_rng(86)  # a learner's function may use it up
        result = answers.call(partial(_with, function, rng), label, prob, shown=SAY[name])
        found[name] = answers.as_number(result, SAY["a p"])
    if max(found.values()) > 1.5:
        return SAY["number"]
    if found["off"] > 0.9 and found["fair"] < 0.95:
        return SAY["better"]
    if not same(found["fair"], _fair_p(), 0.17):  # five standard deviations of 199 redraws
        return SAY["unlike"].format(**answers.apart(found["fair"], _fair_p(), 2))
    if found["off"] == 0 or found["sure"] > 1:
        return SAY["plus one"]
    if found["sure"] < 1:
        return SAY["as bad"]
    if not same(found["off"], 1 / 200, 0.005):
        return SAY["rounds"].format(found=f"{found['off']:.3f}")
    return None


# --- 8.2 ---------------------------------------------------------------------------------------

_CAUGHT = 101 / 200  # what the lesson prints


def judge_share(answer: Any) -> str | None:
    """Judge exercise 8.2: how many of the rejected models are honest."""
    found, honest, others = answers.as_number(answer), 97 * 0.05, 3 * _CAUGHT
    wanted = honest / (honest + others)
    if same(found, wanted, 0.005):
        return None
    slips = {
        "models": honest,
        "level": 0.05,
        "power": _CAUGHT,
        "others": 1 - wanted,
        "all": (honest + others) / 100,
        "counts": 12 / (12 + 101),
        "alike": 0.05 / (0.05 + _CAUGHT),
        "all caught": honest / (honest + 3),
        "measured": 1.2 * honest / (1.2 * honest + others),
    }
    slip = "percent" if same(found / 100, wanted, 0.005) else answers.slip_of(found, slips, 0.005)
    return SAY[slip or "share off"].format(**answers.apart(found, wanted, 2))


# --- what the lesson asks ----------------------------------------------------------------------
TITLE = "Test calibration"
SECOND = "8.3 8.4 8.5 8.6 8.7 8d 8e 8f"  # what the second notebook asks

CHECKS = {
    "8.1": Check(
        task="Write the test",
        variable="p_value",
        judge=judge_test,
        hints=(
            "One redraw is `rng.random(len(p)) < p`: row i happens with probability `p[i]`. Its "
            "ECE is `ece(rng.random(len(p)) < p, p)`.",
            "Put 199 of them into an array `draws`. Add 1 to `np.sum(draws >= ece(y, p))`, and "
            "divide by 200.",
        ),
        praise="with another measure in place of the ECE, this tests that one.",
    ),
    "8.2": Check(
        task="Count the wrongly accused",
        variable="my_share",
        judge=judge_share,
        hints=(
            "Of 97 honest models the test rejects 5 %, and of the three others the share `power`. "
            "Both are averages, and need not be whole numbers.",
            "Divide the honest ones that are rejected by all that are rejected.",
        ),
        praise="three in four of the accused are honest, because nearly all suppliers are. Ask how "
        "common a fault is before you believe a test of it.",
        tolerance=0.005,
    ),
} | FURTHER

PREDICTIONS = {
    "8a": Prediction(
        question="An over-confident model is wrong by five points on average. How many of 200 "
        "data sets, 500 predictions each, does a test at the 5 % level catch?",
        options=("nearly all", "about 150", "about 100", "about 50"),
        outcome="about 100",
        why="The test promises to blame 10 of 200 honest data sets, and blamed 12. About the "
        "others it promises nothing: it caught 101, and the rest look like chance.",
        tells=(r"get away|about half of the over-confident|\b101\b",),
    ),
    "8b": Drawing(
        question="A perfect model with 500 predictions, spread evenly from 0 to 1, has a TCE of "
        "9 % in ten bins. Draw its TCE with 1,000 to 10,000 predictions.",
        x=tuple(range(1, 11)),
        axes=("thousand predictions", "TCE"),
        why="Each prediction is compared with the frequency of its bin. Even a true one differs "
        "from it, for the bin is wide. More data show this, and it is no miscalibration.",
        tells=(
            r"more data makes? |grows with the data|TCE[^.]{0,40}(grows|rises)",
            r"\b4[56](\.\d)? ?%|nearly (a )?half of (them|its predictions)",
        ),
    ),
    "8c": Prediction(
        question="An honest model, 1,000 stays of 100 patients who tend to come back. A 5 % test "
        "takes stays as independent. How many of 200 such data sets are accused?",
        options=("about 120", "about 10", "about 50"),
        outcome="about 50",
        why="The ten stays of a patient share their luck, so they tell no more than three or four "
        "that do not. Taken patient by patient, 9 are accused.",
        tells=(r"five times as often|repeats? (is|are) accused|patients? repeat",),
    ),
    "8d": Prediction(
        question="You test a perfect model in ten bins, and lower α from 5 % to 1 %. Its TCE…",
        options=("falls to a fifth", "falls by less", "stays"),
        outcome="falls by less",
        why="If the TCE were a rate of false alarms, it would fall to a fifth. But most rejections "
        "here are no alarms of chance: those predictions really differ from the mean chance of "
        "their bin.",
        tells=(r"is not α|no rate of false alarms|falls by less than",),
    ),
    "8e": Prediction(
        question="The MLB forecasts, 15,747 games, have a TCE of 13.7 % at α = 5 %. What would a "
        "calibrated model with these predictions show on average?",
        options=("about 1 %", "about 5 %", "about 11 %"),
        outcome="about 11 %",
        why="It shows 11.4 %, so the 13.7 % are no evidence. With 15,747 games the test is sharp, "
        "and the predictions of a bin differ among themselves.",
        tells=(r"MLB[^.]{0,60}(no evidence|not rejected|calibrated)|11\.4 %",),
    ),
    "8f": Prediction(
        question="All logits are shifted, and the predictions lie evenly about 1/2. "
        "Spiegelhalter's test…",
        options=("nearly always sees it", "sees it half the time", "hardly ever sees it"),
        outcome="hardly ever sees it",
        why="It looks at the Brier score alone. Compared with what the predictions promise, a "
        "shift makes that score worse on one side of 1/2 and better on the other. The two cancel.",
        tells=(r"no test sees everything|Spiegelhalter[^.]{0,80}(blind|not see|misses|hardly)",),
    ),
}
