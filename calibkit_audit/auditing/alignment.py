"""Do labels and predictions belong together? Compared with labels dealt out at random.

The statistic is the mean probability of what happened; its mean and variance over all orders of
the labels have closed forms. If predictions are right, its mean is that of ``sum_k p_k^2``.

- At least 3.5 standard deviations above random order: aligned.
- Other columns fit the labels clearly better than their own: not aligned.
- Below 2.5, where right predictions would reach 5 and hardly ever do so badly: no discrimination.
  Labels of other rows look like this, and so do predictions that tell nothing apart; the audit
  cannot know which.
- Else nothing can be said.
"""

import numpy as np
from scipy import optimize, special

from calibkit.inputs import IntVector
from calibkit_audit.auditing.pages import Answer
from calibkit_audit.auditing.rows import AuditRows, probability_of, spread_confidence
from calibkit_audit.clusters import moments

# One chance in 4 000 that shuffled labels reach it.
CLEAR = 3.5
# Right predictions should fit so well before it says much that these do not; and how badly.
_EXPECTED, _NO_FIT, _HARDLY_EVER = 5.0, 2.5, -3.5
_LEAST = 1e-3  # so that a single impossible row does not decide
# A better order of the columns must explain this part of what the predictions promise.
_PART = 0.3


CAUSES = {
    "upside down": "The ranking is upside down: the more probable something is called, the rarer "
    "it is.",
    "no discrimination": "Either labels belong to other rows (shuffled, shifted, or of another "
    "file), or the predictions tell nothing apart: then the base rate alone says as much.",
}
LIGHTS = {"aligned": "good", "not aligned": "bad", "alignment unclear": "unknown"}


def alignment_answer(rows: AuditRows, rng: np.random.Generator) -> Answer:
    """Answer question 1: compare with labels in random order, and with other columns.

    `z` is the statistic in standard deviations of random order, `expected_z` what right
    predictions show, `majority` the accuracy of always naming the commonest class.
    """
    whole = rows if rows.answers is None else spread_confidence(rows, rng)
    table, label = whole.table, whole.label
    count, met = np.bincount(label, minlength=table.shape[1]), np.bincount(label, whole.weight)
    mean, sd = _random_order(whole, count)
    promise = float(np.einsum("ik,ik->", table, table) / whole.n - (table.mean(axis=0) ** 2).sum())
    expected, z = _ratio(promise, sd), _ratio(float(whole.own.mean()) - mean, sd)
    # Confidence that is far too high is no inverted column.
    better = None if whole.top else _better_order(whole, sd, promise)
    way = "hardly better" if z >= 0 else "no better"
    if abs(z) >= CLEAR:
        way = "better" if z > 0 else "worse"
    fit = f"fit the labels {way} than a random order would: {z:.1f} standard deviations"
    right = f"a right file of this kind shows about {expected:.1f}"
    if better is not None:
        verdict, text = "not aligned", f"No. {_order_in_words(better, rows)}"
    elif z >= CLEAR:
        verdict, text = "aligned", f"Yes. The predictions {fit}."
    elif z <= -CLEAR or (
        z < _NO_FIT and expected >= _EXPECTED and _beside_right(whole) < _HARDLY_EVER
    ):
        verdict = "upside down" if z <= -CLEAR else "no discrimination"
        text = f"{CAUSES[verdict]} They {fit}; {right}."
    else:
        verdict = "alignment unclear"
        text = f"Unclear. The predictions {fit}; {right}, and {CLEAR} would be clear."
    named = "The predicted class" if rows.top else "Naming the likeliest class"
    hits = rows.label if rows.top else table.argmax(axis=1) == label
    accuracy = float(rows.weigh(hits).mean())
    majority = np.nan if whole.top else float(met.max() / met.sum())
    text += f" {named} has accuracy {accuracy:.3f}"
    text += "." if whole.top else f", always naming the commonest {majority:.3f}."
    numbers = {"z": z, "expected_z": expected, "accuracy": accuracy, "majority": majority}
    return Answer("alignment", verdict, LIGHTS.get(verdict, "caution"), text, numbers)


def _random_order(rows: AuditRows, count: IntVector) -> tuple[float, float]:
    """Return mean and standard deviation of the statistic over all orders of the labels."""
    table, n = rows.table, rows.n
    share = count / n
    by_row, by_class = table @ share, table.mean(axis=0)
    overall = float(share @ by_class)
    apart = table - by_row[:, np.newaxis] - by_class + overall
    sd = np.sqrt(np.square(apart).sum(axis=0) @ count / max(n - 1, 1))
    if rows.clusters is not None:  # the sandwich of C clusters alone would end z at sqrt(C)
        own = probability_of(rows.label, apart)[np.newaxis]
        (mean,), ((variance,),), df = moments(own, rows.clusters)
        z = -special.ndtri(special.stdtr(df, -abs(_ratio(mean, np.sqrt(variance)))))
        sd = max(sd, n * abs(_ratio(mean, z)))
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
    k = table.shape[1]
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
        (mean_gain,), variance, _ = moments(gain[np.newaxis], clusters)
        if _ratio(float(mean_gain), float(np.sqrt(variance[0, 0]))) <= least:
            return None
    return np.asarray(order) if surplus > max(least * sd, _PART * promise) else None


def _order_in_words(order: IntVector, rows: AuditRows) -> str:
    """Say which column belongs to which label."""
    k, names = len(order), rows.class_names
    if k == 2:
        return "The probabilities look inverted: 1 - p fits the labels."
    steps = set(((order - np.arange(k)) % k).tolist())
    text = "Columns look swapped."
    if steps in ({1}, {k - 1}):
        text = "The labels look off by one class."
    moved = [(k, c) for k, c in enumerate(order.tolist()) if k != c]
    pairs = "; ".join(f"label {names[k]} fits column {names[c]}" for k, c in moved[:4])
    more = f"; and {len(moved) - 4} more" if len(moved) > 4 else ""
    return f"{text} Best match: {pairs}{more}."
