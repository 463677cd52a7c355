"""What every calibrator of one event promises, whatever its family: one contract for all."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from calibkit.calibrators import (
    BetaCalibrator,
    CrossValidatedBinning,
    IsotonicCalibrator,
    PiecewiseLinear,
)
from tests.calibkit.families import HARD, ONE_EVENT, each, fitted
from tests.helpers import binary_data, coarse_binary

GRID = np.concatenate((np.linspace(0, 1, 101), [1e-300, 1e-17, 1e-9, 1 - 1e-9, np.nextafter(1, 0)]))
Y, P = binary_data(200)


def fewest(model: Any) -> int:
    """Return how many predictions a calibrator needs."""
    pieces = 2 * (model.n_pieces or model.max_pieces) if isinstance(model, PiecewiseLinear) else 1
    return 10 if isinstance(model, CrossValidatedBinning) else pieces


@each(ONE_EVENT)
def test_fit_returns_self_reports_and_forgets_the_first_time(model):
    before = repr(model.get_params())
    again = clone(model).fit(*binary_data(80, seed=3)[::-1])
    assert again.fit(P, Y) is again and isinstance(again.converged_, bool)
    assert isinstance(again.n_iter_, int) and again.n_iter_ >= 0
    assert again.n_parameters_ is None or again.n_parameters_ >= 1
    assert again.family and again.loss_name and repr(again.get_params()) == before
    assert np.array_equal(again.curve(GRID), clone(model).fit(P, Y).curve(GRID))


@each(ONE_EVENT)
def test_options_are_checked_at_fit(model):
    for name in model.get_params(deep=False).keys() - {"rng"}:
        with pytest.raises(ValueError, match=".{20}"):
            clone(model).set_params(**{name: "nonsense"}).fit([0.2, 0.4, 0.6, 0.8] * 5, [0, 1] * 10)


@each(ONE_EVENT)
def test_values_are_probabilities_and_arguments_are_kept(model):
    y, p = Y.copy(), P.copy()
    p.setflags(write=False)
    y.setflags(write=False)
    model = clone(model).fit(p, y)
    for at in (p, p[:1]):
        out = model.calibrate(at)
        assert out.shape == np.shape(at) and out.dtype == np.float64
    # Two columns are a classifier's: the map of P(y = 1) must not go over both.
    table = np.column_stack([1 - p, p])
    for call in (model.calibrate, lambda table: model.fit(table, y)):
        with pytest.raises(ValueError, match=r"one-dimensional.*\(200, 2\).*p\[:, 1\]"):
            call(table)
    for at in ([np.nan], [1.1], [], ["a"]):
        with pytest.raises(ValueError, match=r"y_prob"):
            model.calibrate(at)
    assert np.array_equal(p, P) and np.array_equal(y, Y)
    out, curve = model.calibrate(GRID), model.curve(GRID)
    assert np.isfinite(curve).all() and ((out >= 0) & (out <= 1)).all()
    least = getattr(model, "least_", 0.0)  # some stay away from 0 and 1
    assert np.array_equal(out, np.clip(curve, least, 1 - least))


@each(ONE_EVENT)
def test_containers_and_the_order_of_rows_do_not_matter(model):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    y, p = coarse_binary(120, 64)  # multiples of 1/64: float32 holds them exactly
    want = fitted(model, p, y)
    index = np.arange(120)[::-1]
    for prob, label in (
        (p.tolist(), y.tolist()),
        (p.astype(np.float32), y.astype(bool)),
        (pd.Series(p, index=index), pd.Series(y, index=index)),
        (pl.Series(p), pl.Series(y)),
    ):
        assert np.array_equal(fitted(model, prob, label).calibrate(prob), want.calibrate(p))
    order = np.random.default_rng(5).permutation(120)
    for label, prob in ((y, p), (Y[:120], P[:120])):
        one = fitted(model, prob, label)
        other = fitted(model, prob[order], label[order])
        assert np.abs(one.curve(GRID) - other.curve(GRID)).max() <= 1e-12


@each(ONE_EVENT)
def test_the_polyline_is_the_map(model):
    y, p = binary_data(300)
    model = clone(model).fit(p, y)
    x, height = model.polyline()
    assert x.shape == height.shape
    there = ~np.isnan(height)
    assert np.array_equal(np.isnan(x[~there]), np.isnan(height[~there]))
    assert np.nanmin(x) == 0 and np.nanmax(x) == 1 and (np.diff(x[there]) >= 0).all()
    # Inside a drawn stretch; where a jump begins and ends is a matter of the left-closed bin.
    inner = there[:-1] & there[1:] & (np.diff(x) > 1e-9)
    middle = (x[:-1] + x[1:])[inner] / 2
    drawn = (height[:-1] + height[1:])[inner] / 2
    assert np.abs(model.curve(middle) - drawn).max() < 5e-3


@pytest.mark.long
@pytest.mark.parametrize(("y", "p"), HARD.values(), ids=HARD)
@each(ONE_EVENT)
def test_hard_data_give_a_sane_map_or_a_clear_error(model, y, p):
    y, p = np.asarray(y), np.asarray(p)
    if len(p) < fewest(model):
        with pytest.raises(ValueError, match="at least|more predictions|[Ff]ewer"):
            fitted(model, p, y)
        return
    found = fitted(model, p, y)
    check_sane(found)
    order = np.random.default_rng(1).permutation(len(p))
    other = fitted(model, p[order], y[order])
    assert np.abs(found.curve(GRID) - other.curve(GRID)).max() <= 1e-12


def check_sane(model: Any) -> None:
    out = model.calibrate(GRID)
    assert np.isfinite(model.curve(GRID)).all()
    assert ((out >= 0) & (out <= 1)).all()
    assert isinstance(model.converged_, bool)
    if isinstance(model, BetaCalibrator | IsotonicCalibrator):
        assert (np.diff(model.calibrate(np.sort(GRID))) >= -1e-12).all()
