"""The CORP diagram, tested by what its artists hold."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibkit import plot
from calibkit.fakes import LogitDistortion
from calibkit.scores import corp_decomposition
from tests.drawn import drawn, find


@pytest.fixture(scope="module")
def sample():
    return LogitDistortion(slope=0.5).sample(400, 3)


@pytest.fixture(scope="module")
def parts(sample):
    return corp_decomposition(sample.y_true, sample.y_prob)


@pytest.fixture(scope="module")
def few():
    return corp_decomposition([0, 1, 0, 1, 1, 1], [0.2, 0.2, 0.3, 0.7, 0.7, 0.9])


class TestGeometry:
    def test_few_predictions_are_points_over_sticks_and_many_are_not(self, few):
        ax, value = plot.corp(few), few.prediction
        points = drawn(ax, "predictions")
        tops = -0.2 + 0.15 * few.prediction_count / 2
        sticks = np.column_stack([value - 0.009, np.full(4, -0.2), value + 0.009, tops])
        assert np.allclose(drawn(ax, "counts"), sticks)
        assert np.allclose(points, [[0.2, 1 / 3], [0.3, 1 / 3], [0.7, 1], [0.9, 1]])
        for n in (40, 41):
            parts = corp_decomposition(np.arange(n) % 2, np.linspace(0.1, 0.9, n))
            assert bool(find(plot.corp(parts), "predictions")) == (n == 40)
            assert len(drawn(plot.corp(parts), "counts")) == 40

    def test_the_parts_are_printed(self, few):
        names, numbers = (text.get_text() for text in find(plot.corp(few), "parts"))
        assert names.split("\n") == [
            "Brier score", "= miscalibration", "− discrimination", "+ uncertainty",
        ]  # fmt: skip
        assert numbers.split("\n") == ["0.1600", "0.0489", "0.1111", "0.2222"]

    def test_log_loss_says_so(self):
        parts = corp_decomposition([0, 1, 0, 1], [0.2, 0.3, 0.4, 0.9], score="log")
        assert find(plot.corp(parts), "parts")[0].get_text().startswith("log loss\n")

    @pytest.mark.parametrize(("shift", "low"), [(-1.5, False), (0.0, False), (1.5, True)])
    def test_the_parts_do_not_hide_the_curve(self, shift, low, subtests):
        sample = LogitDistortion(shift=shift).sample(800, 0)
        parts = corp_decomposition(sample.y_true, sample.y_prob)
        ax = plot.corp(parts, legend=False)
        ax.figure.canvas.draw()
        across = np.linspace(0, 1, 500)
        curve = ax.transData.transform(np.column_stack([across, parts.recalibrate(across)]))
        assert len(find(ax, "parts")) == 2
        for text in find(ax, "parts"):
            with subtests.test(text.get_text()):
                box = text.get_window_extent()
                assert not any(box.contains(*point) for point in curve)
                assert (box.y0 < ax.transData.transform((0, 0.5))[1]) == low
                assert box.y0 >= ax.transData.transform((0, 0))[1]


class TestPage:
    def test_small_panels_go_without_numbers(self, parts):
        _, axes = plt.subplots(1, 3, layout="constrained", figsize=(8, 3.6))
        assert not find(plot.corp(parts, ax=axes[0]), "parts")

    def test_an_infinite_loss_is_printed(self):
        parts = corp_decomposition([1, 0, 1], [0, 0.5, 0.7], score="log")
        assert "inf" in find(plot.corp(parts), "parts")[1].get_text()
