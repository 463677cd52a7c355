"""Venn-Abers: two isotonic fits per point, in each of its forms, and its guarantee."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calibkit.calibrators import VennAbers
from tests.helpers import binary_data, class_data, quiet, some

Y, P = class_data(400, 3)
P5 = class_data(200, 5, seed=3)[1]


def two_fits(p, y, new):
    """Return the fits to the data and one more point, with label 0 and with label 1: slow."""
    return [
        IsotonicRegression().fit(np.append(p, new), np.append(y, label)).predict([new])[0]
        for label in (0, 1)
    ]


def interval(p, y, new):
    return np.column_stack(VennAbers("probabilities").fit(p, y).interval(new))


def problem(seed):
    """Return predictions, labels, and new predictions; every other one has many ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    p = rng.random(n) if seed % 2 else rng.integers(0, 6, n) / 5
    y = (rng.random(n) < [p, 0.5, 1 - p][seed % 3]).astype(int)
    return p, y, np.concatenate([p, rng.random(10), [0.0, 1.0]])


# --- intervals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", some(range(24), 8))
def test_against_two_isotonic_fits_per_point(seed):
    p, y, new = problem(seed)
    expected = [two_fits(p, y, one) for one in new]
    np.testing.assert_allclose(interval(p, y, new), expected, atol=1e-12)


def test_by_hand():
    """Labels 0, 1, 0 in order: a new point after the second."""
    model = VennAbers("probabilities").fit([0.2, 0.4, 0.8], [0, 1, 0])
    lower, upper = model.interval([0.5])
    assert lower[0] == pytest.approx(1 / 3, abs=1e-15)  # pools 1, 0 (new), 0
    assert upper[0] == pytest.approx(2 / 3, abs=1e-15)  # pools 1, 1 (new), 0
    assert model.calibrate([0.5])[0] == pytest.approx(0.5, abs=1e-15)
    assert model.width([0.5])[0] == pytest.approx(1 / 3, abs=1e-15)


def test_merging_minimises_the_largest_regret():
    """The regrets of log loss under both labels are equal at the merged probability."""
    model = VennAbers("probabilities").fit(*binary_data(50)[::-1])
    new = np.linspace(0.01, 0.99, 9)
    (lower, upper), prob = model.interval(new), model.calibrate(new)
    np.testing.assert_allclose(np.log(upper / prob), np.log((1 - lower) / (1 - prob)))


def test_only_the_order_of_one_score_matters():
    y, p = binary_data(200)
    z = 7 * p - 2
    expected = VennAbers("probabilities").fit(p, y).interval(p)
    np.testing.assert_array_equal(VennAbers("logits").fit(z, y).interval(z), expected)


# --- many classes -------------------------------------------------------------------------------


def test_one_vs_rest():
    model = VennAbers("probabilities").fit(P, Y)
    lower, upper = model.interval(P)
    for c in range(3):
        expected = interval(P[:, c], (Y == c).astype(int), P[:, c])  # noqa: SIM300
        np.testing.assert_array_equal(np.column_stack([lower[:, c], upper[:, c]]), expected)
    each = upper / (1 - lower + upper)
    np.testing.assert_allclose(
        model.calibrate(P), each / each.sum(axis=1, keepdims=True), atol=1e-15
    )
    np.testing.assert_array_equal(model.width(P), upper - lower)


def test_against_the_package():
    with quiet():
        package = pytest.importorskip("venn_abers.venn_abers")
        y, p = class_data(500, 5, seed=2)
        prob, _ = package.predict_proba_prefitted_va(p, y, P5, va_tpe="one_vs_rest")
    model = VennAbers("probabilities").fit(p, y)
    np.testing.assert_allclose(model.calibrate(P5), prob, atol=1e-12)


def test_two_columns_are_one_event():
    y, p = binary_data(300)
    table = np.column_stack([1 - p, p])
    expected = VennAbers("probabilities").fit(p, y).calibrate(p)
    model = VennAbers("probabilities").fit(table, y)
    np.testing.assert_allclose(model.calibrate(table)[:, 1], expected, atol=1e-12)


def test_whole_numbers_of_any_size_are_weights():
    model = VennAbers("probabilities").fit(P, Y, sample_weight=[1e20] * len(Y))
    assert np.allclose(model.width(P), 0, atol=1e-12)  # what one more label would change


def test_intervals_check_their_input():
    with pytest.raises(ValueError, match="not fitted"):
        VennAbers("probabilities").interval(P)
    model = VennAbers("probabilities").fit(P, Y)
    for call in (model.interval, model.width):
        with pytest.raises(ValueError, match=r"was fitted to \(n, 3\)"):
            call(P[:, :2] / P[:, :2].sum(axis=1, keepdims=True))
