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


def test_the_search_is_seeded_and_does_not_depend_on_row_order() -> None:
    pytest.importorskip("pwlf")
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first = EvolvedPieces(3, population=5).fit(SAMPLE.y_prob, SAMPLE.y_true)
    again = EvolvedPieces(3, population=5).fit(SAMPLE.y_prob[::-1], SAMPLE.y_true[::-1])
    np.testing.assert_array_equal(first.knots_, again.knots_)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert first.n_parameters_ == 6
