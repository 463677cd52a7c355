"""Both virtues of a forecaster whose numbers are renamed. Lesson 02."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score, roc_curve

from calibkit.chance import NullLevel, null_level
from calibkit.fakes import LogitDistortion
from calibkit.inputs import FloatVector, as_choice, as_number
from calibkit.reliability import BinTable, reliability_table
from calibkit.results import Described
from calibkit.scores import CorpDecomposition, corp_decomposition, log_loss, miscalibration

STARTS = {"calibrated": LogitDistortion(), "over-confident": LogitDistortion(slope=0.5)}
_BINS, _DRAWS = 10, 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Virtues(Described):
    """Both virtues of a forecaster after ``expit(logit(p) / temperature + bias)``."""

    false_alarms: FloatVector  # the ROC curve, one point per threshold
    hits: FloatVector
    at_half: tuple[float, float]  # false alarms and hits of the threshold 0.5
    area: float  # under the curve
    accuracy: float  # of the threshold 0.5
    log_loss: float  # in nats
    table: BinTable
    parts: CorpDecomposition
    null: NullLevel

    def describe(self) -> str:
        """Give what stays, what moves, and the level that chance explains."""
        parts = self.parts
        return (
            f"The area under the ROC curve is {self.area:.3f}, the accuracy {self.accuracy:.3f}, "
            f"the log loss {self.log_loss:.4f} nats. "
            f"The Brier score is {parts.score:.4f} = miscalibration "
            f"{parts.miscalibration:.4f} - discrimination {parts.discrimination:.4f} + "
            f"uncertainty {parts.uncertainty:.4f}. A calibrated model with these predictions "
            f"would show the miscalibration {self.null.mean:.4f} ± {self.null.sd:.4f}."
        )


def distort_me_view(
    *,
    temperature: float = 1.0,
    bias: float = 0.0,
    start: str = "calibrated",
    n: int = 3000,
    seed: int = 22,
) -> Virtues:
    """Rename the predictions of a fake classifier, and measure both virtues."""
    temperature = as_number(
        temperature, "temperature", "a positive number", lambda value: 0 < value < np.inf
    )
    bias = as_number(bias, "bias", "a finite number")
    sample = STARTS[as_choice(start, "start", STARTS)].sample(n, seed)
    # The order is fixed before the renaming: rounding cannot merge two predictions.
    false_alarms, hits, _ = roc_curve(sample.y_true, sample.y_prob)
    prob = expit(logit(sample.y_prob) / temperature + bias)
    named, event = prob > 0.5, sample.y_true == 1
    return Virtues(
        false_alarms=false_alarms,
        hits=hits,
        at_half=(float(named[~event].mean()), float(named[event].mean())),
        area=float(roc_auc_score(sample.y_true, sample.y_prob)),
        accuracy=float((named == event).mean()),
        log_loss=log_loss(sample.y_true, prob).value,
        table=reliability_table(sample.y_true, prob, bins=_BINS),
        parts=corp_decomposition(sample.y_true, prob),
        null=null_level(miscalibration, sample.y_true, prob, n_draws=_DRAWS, rng=seed),
    )
