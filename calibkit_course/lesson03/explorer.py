"""The fake-classifier factory: five dials, a diagram, and the plane of what is possible. Lesson 03.

Source: Panchenko (2021), sections 6 and 7 (fake classifiers, Lemma 1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit import plot
from calibkit.errors import CalibrationError, expected_calibration_error
from calibkit.fakes import FakeTruth, KnobClassifier
from calibkit.plot.look import AnyFigure
from calibkit.results import Result, spell
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson03 import figures

_WEDGE = {"over": "over", "under": "under", "pivot": "over"}
_BOUNDS = {
    "over": "1 - accuracy",
    "under": "accuracy - 1/K",
    "pivot": "1 - accuracy/K, without a direction",
}
_DIRECTIONS = {"over": "over-confident", "under": "under-confident", "pivot": "around the accuracy"}
_BINS = 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FactoryView(Result):
    """One fake classifier of the factory, and a sample of it."""

    fake: KnobClassifier
    truth: FakeTruth
    bound: float  # the largest error that the theorem allows for its direction
    sample_accuracy: float
    error: CalibrationError  # from the sample

    def describe(self) -> str:
        """Give accuracy, true error, bound, and the estimate beside its null level."""
        truth, error = self.truth, self.error
        return (
            f"The true accuracy is {truth.accuracy:.3f}, the mean confidence "
            f"{truth.mean_confidence:.3f}, the ECE {truth.expected:.3f}; the bound is "
            f"{self.bound:.3f} ({_BOUNDS[self.fake.direction]}). "
            f"{spell(error.n, 'prediction')} show the accuracy {self.sample_accuracy:.3f} and "
            f"the ECE {error.value:.3f} in {error.bins}; a calibrated "
            f"model with these predictions would show {error.null_mean:.3f} ± {error.null_sd:.3f}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return self.error.tables[0]._columns()


def fake_factory_view(
    *,
    n_classes: int = 10,
    accuracy: float = 0.8,
    share: float = 0.6,
    direction: str = "over",
    concentration: float = 2.0,
    n: int = 2000,
    seed: int = 3,
) -> FactoryView:
    """Make a fake classifier to order, and measure a sample of it."""
    fake = KnobClassifier(
        n_classes,
        accuracy,
        budget_share=share,
        direction=direction,
        concentration=concentration,
    )
    sample = fake.sample(n, seed)
    error = expected_calibration_error(sample.y_true, sample.y_prob, view="top-label", bins=_BINS)
    bounds = {"over": 1 - accuracy, "under": accuracy - 1 / n_classes}
    return FactoryView(
        fake=fake,
        truth=fake.truth(),
        bound=bounds.get(direction, 1 - accuracy / n_classes),
        sample_accuracy=float(np.mean(sample.y_prob.argmax(axis=1) == sample.y_true)),
        error=error,
    )


def _draw(view: FactoryView, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2, width_ratios=(3, 4))
    plot.reliability(
        view.error.tables[0],
        ax=axes[0],
        truth=view.fake.true_map,
        show={"means", "truth", "counts"},
        title=None if compact else "A sample and the true map",
        legend=False,
    )
    figures.same_counts([axes[0]])  # linear in all states, so that they compare
    figures.accuracy_error(
        {"fake": view.truth},
        n_classes=view.fake.n_classes,
        direction=_WEDGE[view.fake.direction],
        ax=axes[1],
        title=None if compact else "What is possible",
        legend=False,
    )
    # Not the first column of the figure, so the plane leaves it out.
    axes[1].set_ylabel("calibration error")
    if not compact:
        plot.legend(figure)


_CONTROLS = (
    Slider(
        name="n_classes",
        label="Classes",
        values=(2, 3, 5, 10, 20),
        default=10,
        book=(2, 10),
        unit="classes",
    ),
    Slider(
        name="accuracy",
        label="Accuracy",
        values=(0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98),
        default=0.8,
        book=(0.6, 0.8),
        form="{:.2f}",
    ),
    Slider(
        name="share",
        label="Share of the room",
        values=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
        default=0.6,
        book=(0.0, 0.6),
        form="{:.0%}",
    ),
    Choice(
        name="direction",
        label="Direction",
        values=tuple(_DIRECTIONS),
        default="over",
        book=tuple(_DIRECTIONS),
        texts=_DIRECTIONS,
    ),
    Slider(
        name="concentration",
        label="Concentration",
        values=(0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 50.0),
        default=2.0,
        book=(2.0, 20.0),
        form="{:g}",
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("over-confident", {}),
    ("concentration 20", {"concentration": 20.0}),
    ("under-confident", {"direction": "under"}),
    ("around the accuracy", {"direction": "pivot"}),
)


def fake_factory(**defaults: Any) -> Explorer[FactoryView]:
    """Return the explorer *fake-classifier factory*, where each dial moves one thing."""
    return Explorer(
        name="fake-factory",
        title="Fake-classifier factory",
        controls=_CONTROLS,
        view=fake_factory_view,
        draw=_draw,
        presets=_PRESETS,
        size=(7.4, 4.6),
        cell=(6.6, 3.2),
    ).starting_at(**defaults)
