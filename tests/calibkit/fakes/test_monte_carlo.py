"""Every closed form against simulation, 250,000 rows per classifier.

Each quantity is estimated without bins by a mean over rows that uses labels, e.g.
``E |Z - a(Z)| = E (Z - A) sign(Z - a(Z))`` with A = 1 where the predicted class was right. So a
wrong closed form, wrong labels, or a wrong `true_prob` all show. A difference of 4.5 standard
errors in one of 170 comparisons has probability 0.001; the seeds are fixed.
"""

import numpy as np
import pytest

from calibkit.fakes import ClassKnobs, DirichletFake, FakeSample, KnobClassifier, Power

pytestmark = pytest.mark.long

ROWS, FAR = 250_000, 4.5
KNOBS = [
    KnobClassifier(2, 0.75, budget_share=0.4, concentration=2),
    KnobClassifier(2, 0.8, budget_share=0.7, direction="pivot", concentration=1),
    KnobClassifier(3, 0.6, budget_share=0.5, direction="under"),
    KnobClassifier(3, 0.7, budget_share=0.6, direction="pivot", concentration=3),
    KnobClassifier(10, 0.9, budget_share=0.5),
    KnobClassifier(10, 0.5, concentration=1),
    KnobClassifier(100, 0.7, budget_share=0.3, direction="under"),
    # Extremes: nearly all 1/K or 1; nearly one confidence; nearly guessing; the whole budget.
    KnobClassifier(3, 0.7, budget_share=0.9, direction="under", concentration=0.01),
    KnobClassifier(10, 0.9, budget_share=0.5, concentration=1e5),
    KnobClassifier(2, 0.5005, budget_share=0.99, concentration=10),
    KnobClassifier(3, 0.6, budget_share=1.0),
]
FAKES = [
    *KNOBS,
    ClassKnobs.with_directions(0.8, ("over", "under"), (0.4, 0.3)),
    ClassKnobs.with_directions(0.7, ("under", "over"), (0.9, 0.2), concentration=20),
    ClassKnobs.with_directions(0.65, ("over", "under", "pivot"), (0.6, 0.5, 0.4), concentration=2),
    DirichletFake((2.0, 0.7), Power(2.0)),
    DirichletFake((0.8, 1.5), Power((0.5, 1.5)), "confidence-is-base"),
    DirichletFake((0.3,) * 10, Power(0.5)),
    DirichletFake((0.2, 0.3, 3.0), Power(0.5), "confidence-is-base"),
    DirichletFake((0.4, 1.0, 2.5)),
]
each_fake = pytest.mark.parametrize("fake", FAKES, ids=lambda fake: fake.describe()[:60])


def per_row(fake, sample: FakeSample) -> dict[str, np.ndarray]:
    """Return, per quantity, one number per row whose mean estimates it without bias."""
    said, true = sample.y_prob, sample.true_prob
    rows, k = np.arange(len(said)), said.shape[1]
    top = said.argmax(axis=1)
    z, a = said[rows, top], true[rows, top]
    correct = (top == sample.y_true).astype(float)
    sign = np.sign(said - true)
    chance = said[rows, sample.y_true]
    strong = (said * sign).sum(axis=1) - sign[rows, sample.y_true]
    with np.errstate(divide="ignore"):
        log_loss = -np.log(chance)
    found = {
        "accuracy": correct,
        "mean_confidence": z,
        "label_conditional": (z - correct) * np.sign(z - a),
        "strong": strong,
        "brier": (said**2).sum(axis=1) - 2 * chance + 1,
        "top_label_brier": (z - correct) ** 2,
        "log_loss": log_loss,
    }
    pooled = fake.true_map(z) if isinstance(fake, ClassKnobs) else a
    found |= {"expected": (z - correct) * np.sign(z - pooled), "class_wise": strong / k}
    # The norm 2 of all the budget is a limit that no sample shows.
    if getattr(fake, "budget_share", 0) < 1:
        found["root_mean_square"] = (z - correct) * (z - a)
    return found


@each_fake
def test_closed_forms(fake) -> None:
    truth, compared = fake.truth(), 0
    for name, values in per_row(fake, fake.sample(ROWS, rng=FAKES.index(fake))).items():
        exact = getattr(truth, name) ** (2 if name == "root_mean_square" else 1)
        if np.isfinite(exact):
            allowed = FAR * values.std() / np.sqrt(ROWS) + 1e-9
            assert values.mean() == pytest.approx(exact, abs=allowed), name
            compared += 1
    assert compared >= 1
