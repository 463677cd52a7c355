"""Checks and predictions of lesson 06: choose the number of bins."""

from functools import lru_cache
from typing import Any

import numpy as np

from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit_course.learn import answers
from calibkit_course.learn.answers import same
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction, Rubric
from calibkit_course.lesson06.checks_further import FURTHER

SAY = {
    "images": "a number of images, larger than 0",
    "one": "this is for the ECE of one program. Take the standard deviation of the difference.",
    "factor": "four times as many images only halve the standard deviation. Square the factor.",
    "bare": "this is the square of the factor. Multiply it by the 1,000 images of the cell.",
    "gap": "with {n:,.0f} images each the standard deviation is the gap, 0.002. Ask for half.",
    "both": "this counts the images of both programs. Give the number for each of them.",
    "level": "this takes the null level itself. The standard deviation stands behind the ±.",
    "stray": "with {n:,.0f} images each, the standard deviation is {stray:.5f}, not 0.001.",
}


@lru_cache(maxsize=1)
def _program() -> tuple[float, float]:
    """Return the mean ECE of a perfect program with 1,000 images, and how far it strays."""
    network = LogitDistortion(scores=(9.5, 0.5))
    samples = [network.sample(1000, rng=seed) for seed in range(50)]
    found = [expected_calibration_error(s.y_true, s.y_prob).null_moments for s in samples]
    level, stray = np.mean(found, axis=0)
    return float(level), float(stray)


def judge_images(answer: Any) -> str | None:
    """Judge exercise 6.1: images for each program until the difference strays by 0.001."""
    found = answers.as_number(answer, SAY["images"])
    if found <= 0:
        raise answers.wrong_kind(answer, SAY["images"])
    level, one = _program()
    two = 2**0.5 * one
    squares = {"one": one**2, "gap": two**2 / 4, "both": 2 * two**2, "level": level**2}
    slips = {"factor": 1e6 * two, "bare": 1e6 * two**2}
    slips |= {name: 1e9 * square for name, square in squares.items()}
    if same(np.log(found), np.log(1e9 * two**2), np.log(1.1)):
        return None
    names = {name: np.log(number) for name, number in slips.items()}
    slip = answers.slip_of(np.log(found), names, 0.04) or "stray"
    return SAY[slip].format(n=found, stray=two * (1000 / found) ** 0.5)


TITLE = "Choose the number of bins"
SECOND = "6.3 6.4 6.5 6.6 6.7 6d 6e"  # what the second notebook asks

CHECKS = {
    "6.1": Check(
        task="Find how many images it takes",
        variable="my_images",
        judge=judge_images,
        hints=(
            "How many times 0.001 is the standard deviation with 1,000 images? "
            "Remember that four times as many images only halve it.",
            "It must shrink to 0.001 / 0.0056 of what it is. Square the inverse of that.",
        ),
        praise="between perfect programs, with so many, chance seldom makes a gap of 0.002.",
    ),
    "6.2": Check(
        task="Review a comparison",
        variable="my_review",
        rubric=Rubric(
            points=(
                "It names the sample size, 1,000 images, and says that chance matters with it.",
                "It puts the gap of 0.002 beside what chance does: the spread of such differences, "
                "a null level, an interval or a test.",
                "Its verdict is that the numbers do not show which program is better calibrated. "
                "It does not say that the two are equal.",
                "It says what to ask for, such as both programs on the same images and on "
                "many more of them, with an interval for the difference.",
            ),
            model="On 1,000 images each, most pairs of perfect programs differ by more than 0.002, "
            "so the two numbers do not show which program is better calibrated. I ask for both "
            "programs on the same images and on many more, with an interval for the difference.",
        ),
        hints=(
            "Put the gap of 0.002 beside what the cell has printed.",
            '"Not shown" is another verdict than "equal". Which comparison would vary less?',
        ),
    ),
    **FURTHER,
}

PREDICTIONS = {
    "6a": Drawing(
        question="In 10 bins, 1,000 predictions of a perfect model have a mean ECE of 0.03. Draw "
        "its mean ECE over the number of bins.",
        x=tuple(range(10, 101, 10)),
        axes=("bins", "mean ECE"),
        top=0.3,
        why="In 100 bins instead of 10, each bin has a tenth of the predictions, so its frequency "
        "has √10 times the standard deviation. The ECE is a mean of such gaps.",
        tells=(r"pays for every bin|threefold|three times|√10|√\(?bins|root of bins",),
    ),
    "6b": Prediction(
        question="A model errs, and with endless data its ECE in three bins is 0.050. What is "
        "it in four bins?",
        options=("more", "the same", "less"),
        outcome="less",
        why="Four bins do not split three. Where the model says too much at one end of a bin and "
        "too little at the other, the two cancel inside it. They never add anything.",
        tells=(r"do(es)? not split|4 bins: |opposite sign cancel",),
    ),
    "6c": Prediction(
        question="Two perfect programs are right on 95 % of the images, and each is tried on 1,000 "
        "of its own. In how many of a hundred such pairs do their ECEs lie at least 0.002 apart?",
        options=("about 40", "about 95", "about 70"),
        outcome="about 70",
        why="Each of the two numbers has a standard deviation of 0.004, so their difference has "
        "0.0056. That is nearly three times the gap.",
        tells=(r"seven in ten|most (perfect )?pairs|\b72 %|0\.0056",),
    ),
    "6d": Prediction(
        question=(
            "You choose bins by cross-validation instead of 15. What comes closer to the truth, "
            "by more than chance explains?"
        ),
        options=("the map", "the ECE", "both", "neither"),
        outcome="the map",
        why="Cross-validation asks which map predicts held-out outcomes best, and it finds a "
        "better map. The gain of the ECE is smaller than its own standard error.",
        tells=(r"better map[^.]{0,60}(number|ECE)|smaller than its (own )?standard error",),
    ),
    "6e": Prediction(
        question=(
            "There are 1,000 data sets of a perfect model. How many debiased squares are negative?"
        ),
        options=("none", "about half", "nearly all"),
        outcome="about half",
        why="The truth is 0, and the estimates scatter around it. An estimate without bias must "
        "fall below as well as above. Setting these to 0 would bring bias back.",
        tells=(
            r"leave negative|negative[^.]{0,40}half|half[^.]{0,40}negative|scatter around (it|0)",
        ),
    ),
}
