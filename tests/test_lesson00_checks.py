"""Lesson 00: what its check refuses and accepts."""

from fractions import Fraction
from typing import Any

import numpy as np

WRONG: dict[str, list[tuple[Any, str]]] = {
    "0.1": [
        (6, "counts the throws"),
        (16.7, "percentage"),
        (5 / 36, "the sum 6"),
        (30 / 36, "all other sums"),
        (0.2, "6 of the 36"),
        ("a sixth", "text"),
        ([1 / 6], "a list of 1"),
    ],
}
RIGHT: dict[str, list[Any]] = {
    "0.1": [Fraction(1, 6), 0.1667, np.float32(1 / 6), np.array(1 / 6), "1/6"],
}
