"""What every calibrator promises, whatever its family: one contract for all of them."""

import inspect
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibkit as ck
from calibkit import calibrators
from calibkit.calibrators import Calibrator
from tests.helpers import binary_data, coarse_binary

GRID = np.concatenate((np.linspace(0, 1, 101), [1e-300, 1e-17, 1e-9, 1 - 1e-9, np.nextafter(1, 0)]))


class Family(NamedTuple):
    """How to make one calibrator, and what its maps are like."""

    name: str
    options: dict[str, Any] = {}
    increasing: bool = False
    fewest: int = 1  # predictions that it needs

    def make(self) -> Calibrator:
        return getattr(calibrators, self.name)(**self.options)

    def __str__(self) -> str:
        return "-".join([self.name, *(f"{k}={v}" for k, v in self.options.items())])


# Settings of their own: quick ones where a choice by cross-validation would only cost time.
SETTINGS = [
    Family("PlattCalibrator"),
    Family("PlattCalibrator", {"smoothing": False}),
    Family("BetaCalibrator", {}, True),
    Family("IsotonicCalibrator", {}, True),
    Family("ScalingBinning", {"n_bins": 4}),
    Family("SlopeOneBinning"),
    Family("SlopeOneBinning", {"bins": ck.EqualMass(4)}),
    Family("HistogramBinning"),
    Family("HistogramBinning", {"bins": ck.EqualMass(4)}),
    Family("HistogramBinning", {"bins": ck.Distinct()}),
    Family("CrossValidatedBinning", {"max_bins": 8}, fewest=10),
    Family("CrossValidatedBinning", {"kind": "equal-width", "max_bins": 8}, fewest=10),
    Family("SweepBinning"),
    Family("PiecewiseLinear", {"n_pieces": 2}, fewest=4),
    Family("PiecewiseLinear", {"n_pieces": 2, "space": "logit"}, fewest=4),
    Family("PiecewiseLinear", {"max_pieces": 3, "cv": 3}, fewest=6),
    Family("PiecewiseLinear", {"n_pieces": 2, "outcome": "fold-ensemble", "cv": 3}, fewest=4),
]


def public(base: type[Any]) -> list[str]:
    """Return the names of the calibrators on `base` that the room offers."""
    items = {name: vars(calibrators)[name] for name in calibrators.__all__}
    return [n for n, i in items.items() if inspect.isclass(i) and issubclass(i, base) and i != base]


# A calibrator that is added to the room is tried as it comes.
_KNOWN = {family.name for family in SETTINGS}
FAMILIES = SETTINGS + [Family(name) for name in public(Calibrator) if name not in _KNOWN]


def each(families: list[Family] = FAMILIES) -> pytest.MarkDecorator:
    """Run a test once per calibrator; what chooses by folds takes long."""
    marked = [pytest.param(f, marks=[pytest.mark.slow] * ("cv" in f.options)) for f in families]
    return pytest.mark.parametrize("family", marked, ids=str)


def fitted(family: Family, y: Any, p: Any) -> Calibrator:
    """Fit, whatever the data; that the fit found no finite optimum is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ck.CalibrationWarning)
        return family.make().fit(p, y)


@each()
class TestEstimator:
    def test_fit_returns_self_and_reports(self, family):
        y, p = binary_data(200)
        model = family.make()
        before = repr(model.get_params())
        assert model.fit(p, y) is model and isinstance(model.converged_, bool)
        assert isinstance(model.n_iter_, int) and model.n_iter_ >= 0
        assert model.n_parameters_ is None or model.n_parameters_ >= 1
        assert model.family and model.loss_name and repr(model.get_params()) == before

    def test_fitting_twice_forgets_the_first_time(self, family):
        y, p = binary_data(200)
        model = family.make().fit(*binary_data(80, seed=3)[::-1]).fit(p, y)
        assert np.array_equal(model.curve(GRID), family.make().fit(p, y).curve(GRID))

    def test_options_are_checked_at_fit(self, family, subtests):
        for name in family.make().get_params(deep=False):
            with subtests.test(name=name):
                if name == "rng":
                    continue
                model = family.make().set_params(**{name: "nonsense"})
                with pytest.raises(ValueError, match=".{20}"):
                    model.fit([0.2, 0.4, 0.6, 0.8] * 5, [0, 1, 0, 1] * 5)


@each()
class TestInputAndOutput:
    def test_shape_and_arguments_are_kept(self, family):
        y, p = binary_data(200)
        copies = y.copy(), p.copy()
        p.setflags(write=False)
        y.setflags(write=False)
        model = family.make().fit(p, y)
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
        assert np.array_equal(p, copies[1])
        assert np.array_equal(y, copies[0])

    def test_values_are_probabilities(self, family):
        y, p = binary_data(200)
        model = family.make().fit(p, y)
        out, curve = model.calibrate(GRID), model.curve(GRID)
        assert np.isfinite(curve).all()
        assert ((out >= 0) & (out <= 1)).all()
        least = getattr(model, "least_", 0.0)  # some stay away from 0 and 1
        assert np.array_equal(out, np.clip(curve, least, 1 - least))

    def test_containers_give_the_same_numbers(self, family, subtests):
        y, p = coarse_binary(120, 64)  # multiples of 1/64: float32 holds them exactly
        want = fitted(family, y, p).calibrate(p)
        for prob, label in self.containers(p, y):
            with subtests.test(container=type(prob).__name__):
                model = fitted(family, label, prob)
                assert np.array_equal(model.calibrate(prob), want)

    @staticmethod
    def containers(p: Any, y: Any) -> list[tuple[Any, Any]]:
        pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
        index = np.arange(len(p))[::-1]
        return [
            (p.tolist(), y.tolist()),
            (p.astype(np.float32), y.astype(bool)),
            (pd.Series(p, index=index), pd.Series(y, index=index)),
            (pl.Series(p), pl.Series(y)),
        ]

    def test_row_order_does_not_matter(self, family):
        order = np.random.default_rng(5).permutation(300)
        for y, p in (binary_data(300), coarse_binary(300, 12)):
            one, other = fitted(family, y, p), fitted(family, y[order], p[order])
            assert np.abs(one.curve(GRID) - other.curve(GRID)).max() <= 1e-12

    def test_the_polyline_is_the_map(self, family):
        y, p = binary_data(300)
        model = family.make().fit(p, y)
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

    def test_global_state_is_left_alone(self, family):
        y, p = binary_data(100)
        np.random.seed(0)  # noqa: NPY002  # the global state is what must not move
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        filters, errors = list(warnings.filters), np.geterr()
        family.make().fit(p, y).calibrate(p)
        assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
        assert filters == warnings.filters
        assert errors == np.geterr()


n = 60
_, some = binary_data(n, seed=2)
alternating = np.arange(n) % 2
HARD: dict[str, tuple[Any, Any]] = {
    "one prediction, label 1": ([1], [0.3]),
    "one prediction, label 0": ([0], [0.3]),
    "one prediction of 0, label 1": ([1], [0.0]),
    "one prediction of 1, label 0": ([0], [1.0]),
    "two predictions": ([1, 0], [0.2, 0.7]),
    "three predictions": ([1, 0, 1], [0.2, 0.7, 0.9]),
    "all labels 1": (np.ones(n, int), some),
    "all labels 0": (np.zeros(n, int), some),
    "constant": (alternating, np.full(n, 0.3)),
    "constant 1/2": (alternating, np.full(n, 0.5)),
    "constant 0": (alternating, np.zeros(n)),
    "constant 1": (alternating, np.ones(n)),
    "constant 0, all labels 1": (np.ones(n, int), np.zeros(n)),
    "only 0 and 1": (alternating, (np.arange(n) // 2) % 2 / 1.0),
    "0 and 1, perfect": (alternating, alternating.astype(float)),
    "0 and 1, all wrong": (alternating, 1.0 - alternating),
    "0 and 1 among others": (alternating, np.concatenate([[0, 0, 1, 1], some[4:]])),
    "duplicates everywhere": (alternating, np.repeat([0.1, 0.4, 0.8], n // 3)),
    "two values": (alternating, np.repeat([0.2, 0.9], n // 2)),
    "separated": (np.sort(alternating), np.sort(some)),
    "separated, upside down": (np.sort(alternating)[::-1], np.sort(some)),
    "nearly separated": (np.sort(alternating), np.concatenate([np.sort(some)[1:], [0.0]])),
    "very small": (alternating, some * 1e-200),
    "very near 1": (alternating, 1 - 2.0**-53 * np.arange(n)),
    "neighbouring floats": (alternating, 0.5 + 2.0**-52 * np.arange(n)),
}


@pytest.mark.long
@each()
def test_hard_data_give_a_sane_map_or_a_clear_error(family, subtests):
    for name, case in HARD.items():
        with subtests.test(name):
            check_hard(family, *(np.asarray(part) for part in case))


def check_hard(family: Family, y: Any, p: Any) -> None:
    if len(p) < family.fewest:
        with pytest.raises(ValueError, match="at least|more predictions|[Ff]ewer"):
            fitted(family, y, p)
        return
    model = fitted(family, y, p)
    check_sane(family, model)
    order = np.random.default_rng(1).permutation(len(p))
    other = fitted(family, y[order], p[order])
    assert np.abs(model.curve(GRID) - other.curve(GRID)).max() <= 1e-12


def check_sane(family: Family, model: Calibrator) -> None:
    out = model.calibrate(GRID)
    assert np.isfinite(model.curve(GRID)).all()
    assert ((out >= 0) & (out <= 1)).all()
    assert isinstance(model.converged_, bool)
    if family.increasing:
        assert (np.diff(model.calibrate(np.sort(GRID))) >= -1e-12).all()


rows = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    min_size=10,
    max_size=40,
)


@pytest.mark.long
@each([f for f in FAMILIES if f.options.get("max_pieces") is None])
@settings(max_examples=12)
@given(table=rows)
def test_any_data_give_a_sane_map(family, table):
    y, p = np.array([row[0] for row in table]), np.array([row[1] for row in table])
    check_sane(family, fitted(family, y, p))
