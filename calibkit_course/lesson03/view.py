"""A fake classifier made to order, and a sample of it. Lesson 03.

Source: Panchenko (2021), section 6 (fake classifiers).
"""

from dataclasses import dataclass

import numpy as np

from calibkit.errors import CalibrationError, expected_calibration_error
from calibkit.fakes import FakeTruth, KnobClassifier
from calibkit.results import Described, spell

_BINS = 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FactoryView(Described):
    """One fake classifier of the factory, and a sample of it."""

    fake: KnobClassifier
    truth: FakeTruth
    sample_accuracy: float
    error: CalibrationError  # from the sample

    @property
    def reported(self) -> float:
        """What a program says that compares mean confidence and accuracy."""
        return abs(self.truth.mean_confidence - self.truth.accuracy)

    def describe(self) -> str:
        """Give accuracy, true error and report, and the estimate beside its null level."""
        truth, error, fake = self.truth, self.error, self.fake
        moved = "what is said" if fake.budget_share else "nothing"
        return (
            f"A share of {100 * fake.budget_share:.0f} % moves {moved} towards "
            f"{fake.anchor:.2f}. The true accuracy is {truth.accuracy:.3f}, the mean confidence "
            f"{truth.mean_confidence:.3f}, the ECE {truth.expected:.3f}. "
            f"The bank's program reports {self.reported:.3f}. "
            f"{spell(error.n, 'prediction')} show the accuracy {self.sample_accuracy:.3f} and "
            f"the ECE {error.value:.3f} in {error.bins}; a calibrated "
            f"model with these predictions would show {error.null_mean:.3f} ± {error.null_sd:.3f}."
        )


def fake_factory_view(
    *,
    n_classes: int = 10,
    accuracy: float = 0.8,
    share: float = 0.0,
    direction: str = "pivot",
    concentration: float = 2.0,
    n: int = 2000,
    seed: int = 3,
) -> FactoryView:
    """Make a fake classifier to order, and measure a sample of it."""
    fake = KnobClassifier(
        n_classes, accuracy, budget_share=share, direction=direction, concentration=concentration
    )
    sample = fake.sample(n, seed)
    error = expected_calibration_error(sample.y_true, sample.y_prob, view="top-label", bins=_BINS)
    return FactoryView(
        fake=fake,
        truth=fake.truth(),
        sample_accuracy=float(np.mean(sample.y_prob.argmax(axis=1) == sample.y_true)),
        error=error,
    )
