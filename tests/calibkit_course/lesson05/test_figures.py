"""Maps side by side, tested by what their artists hold."""

import numpy as np
import pytest

from calibkit import plot
from calibkit.calibrators import FlatBinning, IsotonicCalibrator, PlattCalibrator, SlopeOneBinning
from calibkit.fakes import SyntheticShape
from calibkit.fit_on_test import compare_evaluators, fit_on_test
from calibkit_course.lesson05 import compare_maps
from tests.drawn import one

SHAPE = SyntheticShape("beta2")
FAMILIES = {
    "slope-1": SlopeOneBinning(10),
    "flat": FlatBinning(10),
    "isotonic": IsotonicCalibrator(),
    "Platt": PlattCalibrator(),
}


@pytest.fixture(scope="module")
def results():
    sample = SHAPE.sample(600, seed=2)
    return {
        name: fit_on_test(sample.y_true, sample.y_prob, evaluator=evaluator)
        for name, evaluator in FAMILIES.items()
    }


class TestCompareMaps:
    def test_one_line_per_family_in_its_own_code(self, results):
        ax = compare_maps(results, truth=SHAPE.true_map)
        lines = [one(ax, f"map {name}") for name in results]
        codes = {(line.get_color(), str(line._dash_pattern)) for line in lines}  # noqa: SLF001
        assert len(codes) == len(results)
        styles = [str(line._dash_pattern) for line in lines]  # noqa: SLF001
        assert len(set(styles)) == len(results)
        assert one(ax, "truth")
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert f"Platt: {results['Platt'].value:.3f}" in labels

    @pytest.mark.parametrize("scale", ["linear", "logit"])
    def test_a_comparison_is_drawn_like_a_mapping(self, scale):
        sample = SHAPE.sample(300, seed=4)
        families = {"5 bins": SlopeOneBinning(5), "Platt": PlattCalibrator()}
        both = compare_evaluators(sample.y_true, sample.y_prob, evaluators=families)
        ax = compare_maps(both, scale=scale)
        twin = compare_maps({name: both[name] for name in families}, scale=scale)
        for name in families:
            left, right = (one(a, f"map {name}").get_xydata() for a in (ax, twin))
            assert np.array_equal(left, right, equal_nan=True)
        assert f"5 bins {both['5 bins'].value:.3f}" in plot.alt_text(ax)

    def test_too_many_and_none_are_refused(self, results):
        with pytest.raises(ValueError, match="0 maps"):
            compare_maps({})
        with pytest.raises(ValueError, match="9 maps.*1 to 8"):
            compare_maps({str(k): results["Platt"] for k in range(9)})
