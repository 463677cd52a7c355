"""PL_DE through the optional package pwlf."""

import sys

import numpy as np
import pytest

from book.experiments.synthetic import EvolvedPieces
from calibkit.fakes import SyntheticShape

SAMPLE = SyntheticShape.with_error("square", 0.05).sample(600, seed=0)


def test_without_the_package_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pwlf", None)
    with pytest.raises(ImportError, match="pip install pwlf"):
        EvolvedPieces(2).fit(SAMPLE.y_prob, SAMPLE.y_true)


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


@pytest.mark.slow
def test_the_number_of_pieces_is_chosen_by_the_rule() -> None:
    pytest.importorskip("pwlf")
    model = EvolvedPieces(cv=3, population=5)
    fitted = model.fit(SAMPLE.y_prob[::10], SAMPLE.y_true[::10])
    assert len(fitted.scores_) == 3  # 60 predictions, 20 for each piece
    within = fitted.scores_ <= 1.001 * fitted.scores_.min()
    assert fitted.n_pieces_ == 1 + int(np.argmax(within))
