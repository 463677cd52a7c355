"""The page on one's own calibration: its tables, and the learner that stands in for a reader."""

from pathlib import Path

import numpy as np
import pytest

from book.experiments import your_calibration as experiment
from calibkit_course import my_forecasts


def test_the_stand_in_is_the_learner_of_the_experiment(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CALIBKIT_WORKBOOK", str(tmp_path))
    shown, rng = my_forecasts(), np.random.default_rng(experiment.STAND_IN_SEED)
    again = experiment.learner(2.0, experiment.STAND_IN_LENGTH, rng)
    assert shown.stand_in and shown.n == experiment.STAND_IN_LENGTH
    assert np.array_equal(again.right, shown.right)
    assert np.array_equal(again.sure, shown.sure)


@pytest.mark.long
def test_the_tables_of_the_page_are_what_the_experiment_prints(root: Path) -> None:
    page = (root / "book" / "your_calibration.md").read_text(encoding="utf-8")
    assert all(table in page for table in experiment.tables())
