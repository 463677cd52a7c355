"""The figures of Li's report: what they draw and say."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from book.experiments import verified
from book.experiments.verified import figures
from calibkit_course.lesson11 import draw_binned_errors, vgg16_lookalike

FAKE = verified.Population.of_fake(vgg16_lookalike(), n=1200, rng=0)
SPLITS: dict[str, Any] = {"n_bins": (2, 8, 32), "sizes": (300, 300, 500), "n_splits": 4, "rng": 0}
BINS = verified.binned_errors(FAKE, **SPLITS)
CALIBRATORS = verified.compare_calibrators(
    FAKE, n_bins=(5, 20), n_calibration=300, n_trials=4, rng=0
)


def line(ax: Axes, gid: str) -> Any:
    """Return the x and y of a line."""
    (found,) = [one for one in ax.get_lines() if one.get_gid() == gid]
    return found.get_data()


def test_lines_of_the_binned_errors(subtests: pytest.Subtests) -> None:
    ax = draw_binned_errors(BINS)
    for gid, values in (
        ("plain", BINS.plain_2),
        ("debiased", BINS.debiased_2),
        ("truth", BINS.true_2),
    ):
        with subtests.test(gid=gid):
            x, y = line(ax, gid)
            np.testing.assert_array_equal(x, BINS.n_bins)
            np.testing.assert_array_equal(y, values)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2", "8", "32"]


def test_lines_of_the_calibrators(subtests: pytest.Subtests) -> None:
    ax = figures.calibrator_errors(CALIBRATORS)
    for m in range(2):
        with subtests.test(m=m):
            x, y = line(ax, f"method-{m}")
            np.testing.assert_array_equal(x, CALIBRATORS.n_bins)
            np.testing.assert_allclose(y, 1e4 * CALIBRATORS.squared[m])
    against = figures.calibrator_errors(CALIBRATORS, against="brier")
    np.testing.assert_array_equal(line(against, "method-1")[0], CALIBRATORS.brier[1])
    with pytest.raises(ValueError, match='against must be "bins" or "brier"'):
        figures.calibrator_errors(CALIBRATORS, against="accuracy")
