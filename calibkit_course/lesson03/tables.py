"""What the cells of lesson 03 print: a table, and what a sample shows."""

import numpy as np

from calibkit.errors import expected_calibration_error
from calibkit.fakes import FakeSample
from calibkit.reliability import BinTable, reliability_table


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
