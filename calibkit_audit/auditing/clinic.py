"""Tables in the words of the clinic: mean and weak calibration, and net benefit."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibkit.chance.clusters import Clusters
from calibkit.decisions import decision_curve, decision_threshold
from calibkit.inputs import BinaryProblem, FloatVector
from calibkit_audit.auditing.comparison import Listing
from calibkit_audit.auditing.consequences import Consequences, prices_with_threshold
from calibkit_audit.auditing.evidence import Evidence, Seen
from calibkit_audit.auditing.remedy import interval_in_words
from calibkit_audit.auditing.repairs import Repairs
from calibkit_audit.auditing.rows import Rows, given_to
from calibkit_audit.clinic import weak

_QUANTITIES = {
    "O/E": weak.observed_expected_ratio,
    "calibration in the large": weak.calibration_in_the_large,
    "slope": weak.calibration_slope,
}
_COLUMNS = (
    "net_benefit",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "avoided",
)


def weak_calibration(
    problems: Mapping[str, BinaryProblem], clusters: Clusters | None, level: float
) -> Listing:
    """Return O/E, calibration in the large and slope of each model, with intervals."""
    rows, said = [], []
    for model, one in problems.items():
        parts, none = [], dict[str, list[str]]()
        for name, measure in _QUANTITIES.items():
            try:
                how: Any = {"level": level, "cluster": clusters, "sample_weight": one.weight}
                found = measure(one.label, one.prob, **how)
            except ValueError as error:  # no line fits best: said, not hidden
                rows.append((model, name, np.nan, np.nan, np.nan))
                none.setdefault(str(error).partition(";")[0], []).append(name)
                continue
            rows.append((model, name, found.value, found.low, found.high))
            parts.append(f"{name} {found.value:.3f} ({found.low:.3f} to {found.high:.3f})")
        parts += [f"no {' nor '.join(names)}, for {why}" for why, names in none.items()]
        said.append(f"{model}: {', '.join(parts)}")
    heads = ("model", "quantity", "value", "low", "high")
    text = f"Ideal are 1, 0 and 1 ({100 * level:g} % intervals). {'; '.join(said)}."
    return Listing.of(text, heads, rows)


def net_benefits(
    rows: Rows, probs: Mapping[str, FloatVector], costs: FloatVector | None, level: float
) -> Listing | None:
    """Return net benefits of P(y = 1) where the prices put the threshold; without odds None."""
    label = rows.label
    if costs is None or prices_with_threshold(costs) is None or label.min() == label.max():
        return None
    t, (first, *_) = decision_threshold(costs), probs
    if t in (0, 1):  # one mistake is free
        return None
    values, said = [], []
    how: dict[str, Any] = {"thresholds": [t], "level": level, "cluster": rows.clusters}
    how |= {"sample_weight": rows.weight}
    for name, prob in probs.items():
        found = decision_curve(label, prob, against=probs[first], **how)
        value, low, high, *more = (float(getattr(found, column)[0]) for column in _COLUMNS)
        values.append((name, value, low, high, *more))
        said.append(f"{name} {value:.4f} ({interval_in_words(level, low, high)})")
    text = f"right treatments per prediction, net of those in vain, from {t:.4g} on: "
    text += f"{'; '.join(said)}; treat all {float(found.treat_all[0]):.4f}, treat none 0."
    heads = ("model", "net benefit", "low", "high", f"above {first}", "above low", "above high")
    return Listing.of(text, (*heads, "treatments avoided"), values)


def in_its_words(
    rows: Rows, seen: Seen, evidence: Evidence, repairs: Repairs, consequences: Consequences
) -> dict[str, Any]:
    """Return weak calibration of the view in question, and net benefits at the given prices."""
    probs, level = {"as it is": rows.table[:, 1].astype(np.float64)}, seen.settings.level
    if repairs.repaired is not None:
        probs["repaired (held out)"] = given_to(np.ones(rows.n, dtype=np.intp), repairs.repaired)
    prices, problems = consequences.prices, {seen.focus_words: evidence.problem}
    return {
        "weak": weak_calibration(problems, rows.clusters, level),
        "benefit": net_benefits(rows, probs, prices, level),
    }
