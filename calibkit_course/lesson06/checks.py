"""Judges of lesson 06: choose the number of bins."""

from functools import lru_cache
from typing import Any

import numpy as np

from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit_course.learn import answers
from calibkit_course.learn.answers import same
from calibkit_course.learn.words import read_words
from calibkit_course.lesson06 import checks_further

SAY = read_words("06").say


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


JUDGES = {"6.1": judge_images, **checks_further.JUDGES}
