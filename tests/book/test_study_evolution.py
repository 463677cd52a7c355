"""PL_DE through the optional package pwlf."""

import numpy as np
import pytest

from book.experiments.synthetic import EvolvedPieces
from calibkit.fakes import SyntheticShape

SAMPLE = SyntheticShape.with_error("square", 0.05).sample(600, seed=0)


def test_one_piece_is_the_least_squares_line() -> None:
    pytest.importorskip("pwlf")
    fitted = EvolvedPieces(1).fit(SAMPLE.y_prob, SAMPLE.y_true)
    line = np.polynomial.Polynomial.fit(SAMPLE.y_prob, SAMPLE.y_true, 1)
    p = np.linspace(0, 1, 11)
    np.testing.assert_allclose(fitted.curve(p), line(p), atol=1e-10)
    assert fitted.calibrate(p).max() <= 1
