"""What the cells of lesson 03 print: a table, and what a sample shows."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from calibkit.errors import expected_calibration_error
from calibkit.fakes import FakeSample
from calibkit.reliability import BinTable, reliability_table


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], digits: int = 3) -> None:
    """Print rows below their heads; numbers after the first column have `digits` decimals."""
    texts = [[f"{row[0]}", *(_text(entry, digits) for entry in row[1:])] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    for line in (heads, *texts):
        rest = (f"{text:>{width}}" for text, width in zip(line[1:], widths[1:], strict=True))
        print(f"{line[0]:<{widths[0]}}", *rest, sep="   ")


def _text(entry: Any, digits: int) -> str:
    return f"{entry:.{digits}f}" if isinstance(entry, float) else str(entry)


def measured(sample: FakeSample) -> tuple[float, float]:
    """Return accuracy and ECE (top-label, 15 bins) of a sample."""
    right = np.mean(sample.y_prob.argmax(axis=1) == sample.y_true)
    error = expected_calibration_error(sample.y_true, sample.y_prob, view="top-label")
    return float(right), error.value


def by_predicted(sample: FakeSample) -> dict[str, BinTable]:
    """Return the top-label table of each predicted class, and that of all predictions."""
    predicted = sample.y_prob.argmax(axis=1)
    rows = {f"class {k}": predicted == k for k in range(sample.y_prob.shape[1])}
    rows["both"] = predicted >= 0
    return {
        name: reliability_table(sample.y_true[one], sample.y_prob[one], view="top-label")
        for name, one in rows.items()
    }
