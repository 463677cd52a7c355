"""Do labels and predictions belong together? Compared with labels dealt out at random.

The statistic is the mean probability of what happened; its mean and variance over all orders of
the labels have closed forms. If predictions are right, its mean is that of ``sum_k p_k^2``.

Verdicts in per mille, of calibrated data and of the same data with shuffled labels (seeded sets,
their numbers in brackets). Right predictions are called "not aligned" in at most about 1 of 1000:

===================  =====  =============  =======  =============  =======
scores               n      not aligned    unclear  shuffled: not  unclear
                            (calibrated)            aligned
===================  =====  =============  =======  =============  =======
Beta(1, 49)          500    0.5 (2000)     639      3 (300)        993
Beta(1, 49)          2000   0.8 (6000)     26       987 (300)      13
Beta(1, 49)          5000   0 (2000)       0        1000 (100)     0
Beta(0.3, 10)        500    0.8 (4000)     42       950 (300)      47
Beta(2, 8)           300    0.7 (3000)     50       725 (200)      275
Beta(0.3, 0.3)       100    0 (3000)       0        1000 (200)     0
===================  =====  =============  =======  =============  =======

Ten events in 500 rows can show neither: most verdicts are then unclear.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

from calibkit.inputs import FloatVector, IntVector
from calibkit_audit.auditing.pages import Answer
from calibkit_audit.auditing.redraws import Drawer
from calibkit_audit.auditing.rows import AuditRows, spread_confidence
from calibkit_audit.clusters import pseudo_values
from calibkit_audit.dependent_rows import Dependence

# One chance in 4 000 that shuffled labels reach it.
CLEAR = 3.5
# So large the statistic should be if the predictions were right, before its absence says much.
_EXPECTED = 5.0
# Labels are called shuffled only if right predictions would hardly ever do so badly: with few
# events the statistic varies much. It is drawn for moderate data until the answer is plain, and
# normal for large data, and where even the normal law leaves no doubt.
_HARDLY_EVER = 0.001
_FIT_DRAWS, _FIT_ENOUGH = 4000, 10
_LEAST = 1e-3  # so that a single impossible row does not decide
_LARGE, _NO_DOUBT = 50_000, 1e-9
# A better order of the columns must explain this part of what the predictions promise.
_PART = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """What the comparison with random order says."""

    verdict: str
    cause: str  # a key of `words.CAUSES`, or empty
    order: tuple[int, ...]  # if classes are swapped: label k goes with this column
    z: float  # the statistic in standard deviations of random order
    expected_z: float  # what right predictions show
    accuracy: float
    majority: float  # accuracy of always naming the commonest class


def alignment_of(rows: AuditRows, rng: np.random.Generator) -> Alignment:
    """Compare the predictions with labels in random order, other columns and shifted rows."""
    if rows.answers is not None:
        aligned = alignment_of(spread_confidence(rows, rng), rng)
        return replace(aligned, accuracy=float(rows.weigh(rows.label).mean()))
    table, label = rows.table, rows.label
    count, met = np.bincount(label, minlength=table.shape[1]), np.bincount(label, rows.weight)
    mean, sd = _random_order(table, count)
    own = float(rows.own.mean())
    promise = float(np.einsum("ik,ik->", table, table) / rows.n - (table.mean(axis=0) ** 2).sum())
    expected = _ratio(promise, sd)
    z = _ratio(own - mean, sd)
    # Confidence that is far too high is no inverted column.
    better = None if rows.top else _better_order(rows, (mean, sd, promise))
    verdict, cause = "not aligned", ""
    if better is not None:
        cause = _name(better)
    elif z >= CLEAR:
        verdict = "aligned"
    elif _shifted(rows, mean, sd):
        cause = "rows shifted"
    elif expected >= _EXPECTED and _share_as_bad(rows, rng) < _HARDLY_EVER:
        cause = "shuffled"
    else:
        verdict = "alignment unclear"
    return Alignment(
        verdict=verdict,
        cause=cause,
        order=() if better is None else tuple(better.tolist()),
        z=z,
        expected_z=expected,
        accuracy=float(rows.weigh(table.argmax(axis=1) == label).mean()),
        majority=float(met.max() / met.sum()),
    )


def _random_order(table: FloatVector, count: IntVector) -> tuple[float, float]:
    """Return mean and standard deviation of the statistic over all orders of the labels."""
    n = len(table)
    share = count / n
    by_row, by_class = table @ share, table.mean(axis=0)
    overall = float(share @ by_class)
    apart = table - by_row[:, np.newaxis] - by_class + overall
    variance = float(np.square(apart).sum(axis=0) @ count) / max(n - 1, 1)
    return overall, float(np.sqrt(variance)) / n


def _share_as_bad(rows: AuditRows, rng: np.random.Generator) -> float:
    """Return how often right predictions would fit their labels as badly as these, by mean log.

    Logs tell right from shuffled better than probabilities, whose few largest decide alone.
    """
    table, n, place = rows.table, rows.n, np.arange(rows.n)
    score = np.log(np.maximum(table, _LEAST))
    # Centred columns: how many events there were of each class says nothing about their order.
    centred = score - score.mean(axis=0)
    surplus = float(centred[place, rows.label].mean())
    mean = np.einsum("ik,ik->i", table, centred)
    variance = np.einsum("ik,ik,ik->i", table, centred, centred) - mean**2
    sd = float(np.sqrt(np.maximum(variance, 0.0).sum())) / n
    law = float(special.ndtr(_ratio(surplus - float(mean.mean()), sd)))
    drawer: Drawer | Dependence
    if rows.clusters is not None:
        drawer = Dependence(table, rows.label, rows.clusters, rng)
    elif n > _LARGE or law < _NO_DOUBT:
        return law
    else:
        drawer = Drawer(table)
    as_bad = 0
    for draw in range(1, _FIT_DRAWS + 1):
        as_bad += float(centred[place, drawer.draw(rng)].mean()) <= surplus
        if (
            as_bad == _FIT_ENOUGH
        ):  # Besag and Clifford (1991): a share found this way is not too small
            return as_bad / draw
    return (as_bad + 1) / (_FIT_DRAWS + 1)


def _ratio(difference: float, sd: float) -> float:
    return difference / sd if sd > 1e-12 else 0.0


def _better_order(rows: AuditRows, scale: tuple[float, float, float]) -> IntVector | None:
    """Return which column belongs to each label, if that is clearly not its own one."""
    table, label, clusters = rows.table, rows.label, rows.clusters
    n, k = table.shape
    mean, sd, promise = scale
    weight = 1.0 if rows.weight is None else rows.weight
    met = np.stack([np.bincount(label, weight * column, k) for column in table.T], axis=1)
    _, order = optimize.linear_sum_assignment(-met)
    if (order == np.arange(k)).all() or sd <= 1e-12 or promise <= 0:
        return None
    chosen = table[np.arange(n), order[label]]
    surplus = float(chosen.mean()) - mean
    # The best of K! orders looks good by chance; the bound grows with their number.
    least = CLEAR + float(np.sqrt(2 * special.gammaln(k + 1)))
    gain = rows.weigh(chosen - table[np.arange(n), label])
    spread = float(gain.std()) / np.sqrt(n)
    if clusters is not None:
        pseudo = pseudo_values(gain[np.newaxis], clusters)
        spread = float(pseudo.std()) / np.sqrt(clusters.count)
    clear = _ratio(float(gain.mean()), spread) > least
    if clear and surplus / sd > least and surplus > _PART * promise:
        return np.asarray(order)
    return None


def _name(order: IntVector) -> str:
    k = len(order)
    if k == 2:
        return "inverted"
    steps = set(((order - np.arange(k)) % k).tolist())
    return "off by one class" if steps in ({1}, {k - 1}) else "swapped"


def _shifted(rows: AuditRows, mean: float, sd: float) -> bool:
    """Tell whether labels fit the row before or after: only here the order of rows matters."""
    if rows.n < 3 or sd <= 1e-12:
        return False
    back = np.argsort(rows.position)
    table, label, place = rows.table[back], rows.label[back], np.arange(rows.n)
    fits = [float(table[place, np.roll(label, step)].mean()) for step in (1, -1)]
    return _ratio(max(fits) - mean, sd) > CLEAR + 1.5


CAUSES = {
    "shuffled": "The labels look shuffled, or belong to other rows or another file.",
    "inverted": "The probabilities look inverted: 1 - p fits the labels.",
    "swapped": "Columns look swapped.",
    "off by one class": "The labels look off by one class.",
    "rows shifted": "The labels fit the neighbouring row: the rows look shifted by one.",
}


def alignment_answer(found: Alignment, rows: AuditRows) -> Answer:
    """Answer question 1: whether labels and predictions belong together."""
    if found.verdict == "aligned":
        light = "good"
        text = f"Yes. Labels in random order would not do: the predictions fit {found.z:.0f} "
        text += "standard deviations better."
    elif found.verdict == "not aligned":
        light, text = "bad", f"No. {CAUSES[found.cause]}{_order_in_words(found, rows)}"
    else:
        light = "unknown"
        text = f"Unclear. The predictions fit {found.z:.1f} standard deviations better than labels "
        text += f"in random order; right ones would show about {found.expected_z:.1f}, and {CLEAR} "
        text += "would be clear."
    text += f" Accuracy {found.accuracy:.3f}; always naming the commonest class gives "
    text += f"{found.majority:.3f}."
    numbers = {name: getattr(found, name) for name in ("z", "expected_z", "accuracy", "majority")}
    return Answer("alignment", found.verdict, light, text, numbers)


def _order_in_words(found: Alignment, rows: AuditRows) -> str:
    if found.cause in ("shuffled", "rows shifted"):
        text = f" They fit no better than labels in random order ({found.z:.1f} standard deviations"
        return f"{text}, expected {found.expected_z:.0f})."
    moved = [(k, c) for k, c in enumerate(found.order) if k != c]
    if not moved or found.cause == "inverted":
        return ""
    names = rows.class_names
    pairs = "; ".join(f"label {names[k]} fits column {names[c]}" for k, c in moved[:4])
    more = f"; and {len(moved) - 4} more" if len(moved) > 4 else ""
    return f" Best match: {pairs}{more}."
