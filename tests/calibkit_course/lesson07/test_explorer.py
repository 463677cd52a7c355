"""Two patients against their definitions; maps of straight pieces by what their artists hold."""

import numpy as np
import pytest

from calibkit.calibrators import SlopeOneBinning
from calibkit_course import lesson07
from calibkit_course.lesson07.view import FAKE, PATIENTS


def test_numbers_are_those_of_their_definitions():
    view = lesson07.two_patients_view(drawn=4, n=300, n_bins=5)
    sample = FAKE.sample(300, 3)
    bins = SlopeOneBinning(5).fit(sample.y_prob, sample.y_true)
    np.testing.assert_allclose(view.means[0], bins.curve(PATIENTS), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_an_edge_lies_between_the_patients_and_no_knot_jumps():
    """What Play shows: on the bins their order turns around, on the pieces it never does."""
    views = [lesson07.two_patients_view(drawn=k) for k in range(1, 13)]
    bins, pieces = (np.diff([view.means[k] for view in views])[:, 0] for k in (0, 1))
    assert 2 <= np.sum(bins < 0) <= 10 and np.abs(bins).max() > 0.1
    assert np.all((pieces > 0) & (pieces < 0.03))
