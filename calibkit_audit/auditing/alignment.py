"""Do labels and predictions belong together? Compared with labels dealt out at random.

The statistic is the mean probability of what happened; its mean and variance over all orders of
the labels have closed forms. If predictions are right, its mean is that of ``sum_k p_k^2``.

- At least 3.5 standard deviations above random order: aligned.
- Other columns fit the labels clearly better than their own: not aligned.
- Below 2.5, where right predictions would reach 5 and hardly ever do so badly: no discrimination.
  Labels of other rows look like this, and so do predictions that tell nothing apart; the audit
  cannot know which. If the labels then fit the row before or after, rows are shifted.
- Else nothing can be said.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

from calibkit.inputs import IntVector
from calibkit_audit.auditing.pages import Answer
from calibkit_audit.auditing.rows import AuditRows, probability_of, spread_confidence
from calibkit_audit.clusters import pseudo_values, robust_sd

# One chance in 4 000 that shuffled labels reach it.
CLEAR = 3.5
# Right predictions should fit so well before it says much that these do not; and how badly.
_EXPECTED, _NO_FIT, _HARDLY_EVER = 5.0, 2.5, -3.5
_LEAST = 1e-3  # so that a single impossible row does not decide
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
    majority: float  # that of always naming the commonest class; NaN where classes are not known


def alignment_of(rows: AuditRows, rng: np.random.Generator) -> Alignment:
    """Compare the predictions with labels in random order, other columns and shifted rows."""
    if rows.answers is not None:
        aligned = alignment_of(spread_confidence(rows, rng), rng)
        return replace(aligned, accuracy=float(rows.weigh(rows.label).mean()))
    table, label = rows.table, rows.label
    count, met = np.bincount(label, minlength=table.shape[1]), np.bincount(label, rows.weight)
    mean, sd = _random_order(rows, count)
    own = float(rows.own.mean())
    promise = float(np.einsum("ik,ik->", table, table) / rows.n - (table.mean(axis=0) ** 2).sum())
    expected = _ratio(promise, sd)
    z = _ratio(own - mean, sd)
    # Confidence that is far too high is no inverted column.
    better = None if rows.top else _better_order(rows, sd, promise)
    verdict, cause = "alignment unclear", ""
    if better is not None:
        verdict, cause = "not aligned", _name(better)
    elif z >= CLEAR:
        verdict = "aligned"
    elif z <= -CLEAR:
        verdict = cause = "upside down"
    elif z < _NO_FIT and expected >= _EXPECTED and _beside_right(rows) < _HARDLY_EVER:
        verdict = cause = "no discrimination"
        if _shifted(rows, mean, sd):
            verdict, cause = "not aligned", "rows shifted"
    return Alignment(
        verdict=verdict,
        cause=cause,
        order=() if better is None else tuple(better.tolist()),
        z=z,
        expected_z=expected,
        accuracy=float(rows.weigh(label if rows.top else table.argmax(axis=1) == label).mean()),
        majority=np.nan if rows.top else float(met.max() / met.sum()),
    )


def _random_order(rows: AuditRows, count: IntVector) -> tuple[float, float]:
    """Return mean and standard deviation of the statistic over all orders of the labels."""
    table, n = rows.table, rows.n
    share = count / n
    by_row, by_class = table @ share, table.mean(axis=0)
    overall = float(share @ by_class)
    apart = table - by_row[:, np.newaxis] - by_class + overall
    sd = np.sqrt(np.square(apart).sum(axis=0) @ count / max(n - 1, 1))
    if rows.clusters is not None:
        sd = robust_sd(sd, rows.clusters.sums(probability_of(rows.label, apart)))
    return overall, float(sd) / n


def _beside_right(rows: AuditRows) -> float:
    """Return the mean log probability in standard deviations from what right predictions show.

    Logs tell right from shuffled better than probabilities, whose few largest decide alone.
    """
    score = np.log(np.maximum(rows.table, _LEAST))
    # Centred columns: how many events there were of each class says nothing about their order.
    score -= score.mean(axis=0)
    mean = np.einsum("ik,ik->i", rows.table, score)
    variance = np.einsum("ik,ik,ik->i", rows.table, score, score) - mean**2
    surplus = score[np.arange(rows.n), rows.label] - mean
    return _ratio(float(surplus.sum()), float(np.sqrt(max(variance.sum(), 0.0))))


def _ratio(difference: float, sd: float) -> float:
    return difference / sd if sd > 1e-12 else 0.0


def _better_order(rows: AuditRows, sd: float, promise: float) -> IntVector | None:
    """Return which column belongs to each label, if that is clearly not its own one.

    Columns are also compared about their means: one that is too high on average is no other one.
    """
    table, label, clusters = rows.table, rows.label, rows.clusters
    n, k = table.shape
    centred = table - np.average(table, axis=0, weights=rows.weight)
    weight = 1.0 if rows.weight is None else rows.weight
    met = np.stack([np.bincount(label, weight * column, k) for column in centred.T], axis=1)
    _, order = optimize.linear_sum_assignment(-met)
    if (order == np.arange(k)).all() or sd <= 1e-12 or promise <= 0:
        return None
    surplus = float(probability_of(order[label], centred).mean())
    # The best of K! orders looks good by chance; the bound grows with their number.
    least = CLEAR + float(np.sqrt(2 * special.gammaln(k + 1)))
    for one in (table, centred):
        gain = rows.weigh(probability_of(order[label], one) - probability_of(label, one))
        spread = float(gain.std()) / np.sqrt(n)
        if clusters is not None:
            pseudo = pseudo_values(gain[np.newaxis], clusters)
            spread = float(pseudo.std()) / np.sqrt(clusters.count)
        if _ratio(float(gain.mean()), spread) <= least:
            return None
    return np.asarray(order) if surplus > max(least * sd, _PART * promise) else None


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
    "inverted": "The probabilities look inverted: 1 - p fits the labels.",
    "swapped": "Columns look swapped.",
    "off by one class": "The labels look off by one class.",
    "rows shifted": "The labels fit the neighbouring row, not their own: the rows look shifted by "
    "one (or predictions repeat the last outcome, and that tells nothing).",
    "upside down": "The ranking is upside down: the more probable something is called, the rarer "
    "it is.",
    "no discrimination": "Either labels belong to other rows (shuffled, or of another file), or "
    "the predictions tell nothing apart: then the base rate alone says as much.",
}
LIGHTS = {"aligned": "good", "not aligned": "bad", "alignment unclear": "unknown"}


def alignment_answer(found: Alignment, rows: AuditRows) -> Answer:
    """Answer question 1: whether labels and predictions belong together."""
    way = "hardly better" if found.z >= 0 else "no better"
    if abs(found.z) >= CLEAR:
        way = "better" if found.z > 0 else "worse"
    fit = f"fit the labels {way} than a random order would: {found.z:.1f} standard deviations"
    right = f"a right file of this kind shows about {found.expected_z:.1f}"
    if found.verdict == "aligned":
        text = f"Yes. The predictions {fit}."
    elif found.verdict == "not aligned":
        text = f"No. {CAUSES[found.cause]}{_order_in_words(found, rows)}"
    elif found.verdict == "alignment unclear":
        text = f"Unclear. The predictions {fit}; {right}, and {CLEAR} would be clear."
    else:
        text = f"{CAUSES[found.cause]} They {fit}; {right}."
    named = "The predicted class" if rows.top else "Naming the likeliest class"
    text += f" {named} has accuracy {found.accuracy:.3f}"
    if not np.isnan(found.majority):
        text += f", always naming the commonest {found.majority:.3f}"
    text += "."
    numbers = {name: getattr(found, name) for name in ("z", "expected_z", "accuracy", "majority")}
    return Answer("alignment", found.verdict, LIGHTS.get(found.verdict, "caution"), text, numbers)


def _order_in_words(found: Alignment, rows: AuditRows) -> str:
    if not found.order or found.cause == "inverted":
        return ""
    moved = [(k, c) for k, c in enumerate(found.order) if k != c]
    names = rows.class_names
    pairs = "; ".join(f"label {names[k]} fits column {names[c]}" for k, c in moved[:4])
    more = f"; and {len(moved) - 4} more" if len(moved) > 4 else ""
    return f" Best match: {pairs}{more}."
