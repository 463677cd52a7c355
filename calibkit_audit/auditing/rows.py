"""The rows of an audit: checked, in an order of their own, so that theirs cannot matter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.calibrators.multiclass import as_scores
from calibkit.inputs import (
    FloatMatrix,
    FloatVector,
    IntVector,
    as_labels,
    as_predictions,
    as_weights,
    labels_as_events,
    refuse_other_columns,
    refuse_other_order,
    unwrapped,
)
from calibkit_audit.clusters import Clusters, clusters_of
from calibkit_audit.incoming import AS_PROBABILITIES, column_names, kish, one_per_row
from calibkit_audit.saving import printable
from calibkit_audit.segments import features_of

# Rows that agree in the label, the largest probability, its class and so many columns are equal
# for all purposes; sorting by every column of a thousand would take seconds.
_SORTED_COLUMNS = 16
_BY_ROW = ("label", "table", "logits", "group", "position", "answers", "time", "date", "weight")
EVENT = "positive class"  # y = 1, where nobody has given it a name
_SPREAD = 20_000_000  # numbers in a table that answers are spread out to


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditRows:
    """Labels and predictions, sorted by their own values."""

    label: IntVector
    table: FloatVector  # probabilities, one column per class, also of two
    logits: FloatVector | None  # where logits were given
    group: IntVector | None  # number of the group of each row, (n, F), in each of F columns
    groups: tuple[tuple[str, ...], ...]  # names of the groups of each column
    clusters: Clusters | None  # which rows belong together; None: all are independent
    position: IntVector  # where each row stood in the input
    class_names: tuple[str, ...]
    top: bool = False  # `label` is whether the predicted class was right, `prob` the confidence
    answers: IntVector | None = None  # then true and predicted class, (n, 2), where they are known
    time: FloatVector | None = None  # when each row was predicted, as a number
    date: NDArray[np.str_] | None = None  # and as it was given
    weight: FloatVector | None = None  # what each row stands for; None: all for the same
    independent: bool = False  # it was said that no two rows are about the same case
    event: str = EVENT  # what y = 1 is called

    def __post_init__(self) -> None:
        if self.independent and self.clusters is not None:
            raise ValueError("rows with a cluster are not independent: leave out cluster, or that.")

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.label)

    def take(self, chosen: Any) -> "AuditRows":
        """Return some rows, by place or mask, in this order."""
        parts = {name: getattr(self, name) for name in _BY_ROW}
        taken = {name: part[chosen] for name, part in parts.items() if part is not None}
        return replace(self, clusters=self.clusters and self.clusters.take(chosen), **taken)

    def with_prob(self, prob: FloatVector) -> "AuditRows":
        """Return the rows with other probabilities, in an order that depends on these alone."""
        return _in_order(replace(self, table=table_of_classes(prob, logits=False), logits=None))

    def weigh(self, values: NDArray[Any]) -> FloatVector:
        """Return (..., n) values whose plain mean and scatter over rows are those by weight.

        ``m + w (v - m) / mean(w)`` with the weighted mean m: the linear form of a ratio estimator
        (Särndal, Swensson and Wretman, 1992, section 5.5), so that any interval for a mean serves.
        """
        if self.weight is None:
            return values
        mean = np.average(values, axis=-1, weights=self.weight)[..., np.newaxis]
        with np.errstate(invalid="ignore"):
            linear = mean + self.weight / self.weight.mean() * (values - mean)
        return np.where(np.isfinite(mean), linear, values)

    def mean(self, values: NDArray[Any], where: Any = slice(None)) -> float:
        """Return the mean by weight of (n,) values, over some rows."""
        weight = None if self.weight is None else self.weight[where]
        return float(np.average(values[where], weights=weight))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.table.shape[1])

    @property
    def binary(self) -> bool:
        """Whether there are two classes, given in one column or two."""
        return self.n_classes == 2

    @property
    def prob(self) -> FloatVector:
        """Of two classes P(y = 1), (n,); of more, `table`."""
        return np.ascontiguousarray(self.table[:, 1]) if self.binary else self.table

    @property
    def own(self) -> FloatVector:
        """Probability that each row gave to what happened."""
        return probability_of(self.label, self.table)

    def log_odds(self, column: IntVector | int) -> FloatVector:
        """Return the log odds of a class, or of one per row; -1 is the predicted class.

        They come from logits where these were given, and are infinite where a 0 was said.
        """
        if np.ndim(column) == 0 and column == -1:
            column = 1 if self.top else self.table.argmax(axis=1)
        with np.errstate(divide="ignore"):
            scores = np.log(self.table) if self.logits is None else self.logits
        if scores.ndim == 1:
            return np.where(column == 1, scores, -scores)
        rest, place = scores.copy(), np.arange(self.n)
        rest[place, column] = -np.inf
        return np.asarray(scores[place, column] - special.logsumexp(rest, axis=1))


def probability_of(label: IntVector, prob: FloatVector) -> FloatVector:
    """Return the probability that each row gave to a class, of P(y = 1) or one column per class."""
    if prob.ndim == 1:
        return np.where(label == 1, prob, 1 - prob)
    return np.asarray(prob[np.arange(len(label)), label])


def losses(own: FloatVector) -> FloatVector:
    """Return the log loss of rows that gave this to what happened; infinite where it is 0."""
    with np.errstate(divide="ignore"):  # ln 0 is infinite, and said to be
        return np.asarray(0.0 - np.log(own))


def rows_of(
    y_true: Any,
    y_prob: Any,
    *,
    logits: Any = None,
    groups: Any = None,
    cluster: Any = None,
    class_names: Sequence[str] | None = None,
    positive: Any = None,
    predicted: Any = None,
    sample_weight: Any = None,
    independent: bool = False,
    event: str | None = None,
) -> AuditRows:
    """Check the input of an audit and put it into canonical order.

    Two columns become one: a problem of two classes is the same however it is written down.
    """
    by_row = {"y_true": y_true, "y_prob": y_prob, "logits": logits, "predicted": predicted}
    refuse_other_order(**by_row, groups=groups, cluster=cluster, sample_weight=sample_weight)
    refuse_other_columns(y_prob if logits is None else logits, "the table", class_names)
    answers = None
    if positive is not None:
        y_true = labels_as_events(y_true, positive)
        event = event or f"y = {positive}"
    elif predicted is not None and predicted is not True:
        answers, class_names = answers_of(y_true, predicted, class_names)
        y_true = answers[:, 0] == answers[:, 1]
    elif class_names is not None and predicted is None:
        y_true = class_numbers(y_true, class_names)
    scores, columns = _read_scores(y_true, y_prob, logits)
    n = len(scores["label"])
    if predicted is not None and (columns > 1 or logits is not None or positive is not None):
        beside = "no logits, no columns for classes, no positive label"
        raise ValueError(f"predicted= goes with one column of confidences: {beside}.")
    if answers is not None:
        _refuse_one_class(answers, scores["table"][:, 1])
    codes, names = _groups(groups, n)
    k = max(columns, 2) if answers is None else len(class_names or ())
    rows = AuditRows(
        **scores,
        group=codes,
        groups=names,
        clusters=None if cluster is None else clusters_of(cluster, n, several=True),
        position=np.arange(n),
        class_names=_class_names(class_names, k),
        top=predicted is not None,
        answers=answers,
        weight=None if sample_weight is None else as_weights(sample_weight, n),
        independent=independent,
        event=printable(event or EVENT),
    )
    return _in_order(rows)


def answers_of(
    y_true: Any, predicted: Any, class_names: Sequence[str] | None
) -> tuple[IntVector, Sequence[Any]]:
    """Return the numbers (n, 2) of true and predicted classes, and the names of all classes.

    Classes are the same as equal values are: 4 and "4" are two classes.
    """
    n = len(y_true)
    true, guesses = (
        one_per_row(labels, name, n, "name the class")[1]
        for name, labels in (("y_true", y_true), ("predicted", predicted))
    )
    try:
        shared = set(true) & set(guesses)
    except TypeError as error:
        raise ValueError(f"a label cannot be a list or an array ({error}).") from None
    if not shared:
        raise ValueError(
            "No predicted class is among the true ones: they begin with "
            f"{guesses[0]!r} and {true[0]!r}. Recode one of them: 4 and '4' are two classes."
        )
    if class_names is None:
        classes = sorted({*true, *guesses}, key=str)
        place = {name: k for k, name in enumerate(classes)}
        numbers = [[place[one] for one in labels] for labels in (true, guesses)]
        return np.transpose(numbers), classes
    shape = np.broadcast_to(np.float64(), (n, len(class_names)))
    codes = [as_labels(class_numbers(one, class_names), shape) for one in (true, guesses)]
    return np.column_stack(codes).astype(np.intp), tuple(class_names)


def _refuse_one_class(answers: IntVector, confidence: FloatVector) -> None:
    """Refuse P(y = 1) in the place of confidences: of two classes one then always has the less."""
    if answers.max() > 1 or not (confidence < 0.5).any() or np.ptp(answers[:, 1]) == 0:
        return
    one, other = (confidence[answers[:, 1] == k] for k in (0, 1))
    if one.max() <= other.min() or other.max() <= one.min():
        raise ValueError(
            f"{(confidence < 0.5).sum():,} of {len(confidence):,} confidences are below 0.5, all "
            "lower ones in one predicted class: they look like the probability of one class. Leave "
            "predicted= out; if they were stated so, pass predicted=True."
        )


def drop_weightless(rows: AuditRows) -> AuditRows:
    """Leave out rows of weight 0 and scale the others by `kish`; equal weights are none."""
    if rows.weight is None:
        return rows
    rows = _in_order(rows.take(rows.weight > 0))
    weight = kish(np.asarray(rows.weight))
    clusters = rows.clusters
    if clusters is not None:
        ways = [one.code for one in (clusters, *clusters.beside)]
        clusters = clusters_of(ways, rows.n, several=True)
    return replace(rows, weight=weight if np.ptp(weight) > 1e-12 else None, clusters=clusters)


def class_numbers(labels: Any, class_names: Sequence[str]) -> Any:
    """Return the numbers of classes that are named; labels that are no words stay as they are."""
    words = unwrapped(labels, "y_true").tolist()
    if not isinstance(words, list) or not any(isinstance(word, str) for word in words):
        return labels
    place = {str(name): k for k, name in enumerate(class_names)}
    for row, word in enumerate(words):
        if word not in place:
            raise ValueError(
                f"y_true[{row}] = {word!r} is none of class_names, {tuple(place)!r}. Spell it "
                "alike, name its class, or drop the row."
            )
    return np.array([place[word] for word in words], dtype=np.intp)


def spread_confidence(rows: AuditRows, rng: np.random.Generator) -> AuditRows:
    """Return answers as predictions of all classes: what is left of confidence, shared alike."""
    k = len(rows.class_names)
    if rows.n * k > _SPREAD:
        rows = rows.take(np.sort(rng.choice(rows.n, max(_SPREAD // k, 1), replace=False)))
    true, predicted = np.asarray(rows.answers).T
    table = np.repeat(((1 - rows.prob) / max(k - 1, 1))[:, np.newaxis], max(k, 2), axis=1)
    table[np.arange(rows.n), predicted] = rows.prob
    return replace(rows, label=true, table=table, answers=None, top=False)


def _read_scores(y_true: Any, y_prob: Any, logits: Any) -> tuple[dict[str, Any], int]:
    """Return labels, probabilities and logits; number of columns that were given."""
    if (y_prob is None) == (logits is None):
        named = "both" if y_prob is not None else "neither"
        raise ValueError(f"pass either y_prob or logits=, got {named}; calibkit does not guess.")
    if logits is None:
        label, given = as_predictions(y_true, y_prob)
        scores, kept = given.astype(np.float64), None
    else:
        given = as_scores(logits, "logits", AS_PROBABILITIES)
        label, scores = as_labels(y_true, given), given.astype(np.float64)
        scores = kept = scores[:, 1] - scores[:, 0] if given[:1].size == 2 else scores
    table = table_of_classes(scores, logits=kept is not None)
    return {"label": label.astype(np.intp), "table": table, "logits": kept}, given[:1].size


def table_of_classes(scores: FloatVector, *, logits: bool) -> FloatMatrix:
    """Return one column of probabilities per class, of (n,) or (n, K) probabilities or logits."""
    if not logits:
        return scores if scores.ndim == 2 else np.column_stack([1 - scores, scores])
    if scores.ndim == 2:
        table = special.softmax(scores, axis=1)
    else:
        table = np.column_stack([special.expit(-scores), special.expit(scores)])
    return np.asarray(np.maximum(table, np.nextafter(0, 1)))  # no finite logit says 0


def _groups(groups: Any, n: int) -> tuple[IntVector | None, tuple[tuple[str, ...], ...]]:
    if groups is None:
        return None, ()
    if isinstance(groups, Mapping) or column_names(groups) is not None:
        parts = features_of(groups, n)
        return np.column_stack([code for code, _ in parts]), tuple(names for _, names in parts)
    array, _ = one_per_row(groups, "groups", n, "name the group (e.g. 'unknown')")
    text = np.array([printable(str(value)) for value in array.tolist()])
    names, codes = np.unique(text, return_inverse=True)
    if len(names) == n > 1:
        raise ValueError(
            f"groups names each of {n:,} rows differently: one row alone can show nothing. Join "
            "them, e.g. numbers to ranges and days to months."
        )
    return codes.astype(np.intp)[:, np.newaxis], (tuple(names.tolist()),)


def _in_order(rows: AuditRows) -> AuditRows:
    """Return the rows in an order that depends on their values only."""
    if rows.clusters is not None:
        rows = replace(rows, clusters=_by_content(rows.clusters, rows))
    label, table, logits = rows.label, rows.table, rows.logits
    names = rows.clusters and rows.clusters.code, rows.weight
    keys: list[Any] = [] if rows.group is None else list(rows.group.T)
    keys += [name for name in names if name is not None]
    if rows.binary:
        keys += [label, *([] if logits is None else [logits]), table[:, 1]]
    else:
        table = table if logits is None else logits
        keys += [table[:, k] for k in range(min(table.shape[1], _SORTED_COLUMNS))]
        keys += [label, table.argmax(axis=1), table.max(axis=1)]
    return rows.take(np.lexsort(keys))


def _by_content(clusters: Clusters, rows: AuditRows) -> Clusters:
    """Return clusters in an order of their rows: how they are called moves no draw."""
    mixed = np.exp(rows.own) * np.sqrt(2 + rows.label)  # other rows have another sum of these
    parts = np.column_stack([mixed, rows.label, rows.own, rows.own**2])
    order = np.lexsort([*clusters.sums(parts).round(9).T, clusters.size])
    beside = tuple(_by_content(one, rows) for one in clusters.beside)
    return Clusters(np.argsort(order)[clusters.code], clusters.count, beside)


def _class_names(names: Sequence[Any] | None, n_classes: int) -> tuple[str, ...]:
    if names is None:
        return tuple(str(k) for k in range(n_classes))
    if isinstance(names, str) or len(names) != n_classes:
        raise ValueError(f"class_names must be {n_classes} names, one per class, got {names!r}.")
    return tuple(printable(str(name)) for name in names)


def cluster_notes(rows: AuditRows) -> tuple[str, ...]:
    """Return what is to be noted of clusters, and of weights."""
    notes: tuple[str, ...] = ()
    if rows.weight is not None:
        worth = f"{rows.n:,} rows are worth {rows.weight.sum():,.0f} of equal weight (Kish)"
        notes = (f"Weights: what a row stands for; {worth}. In redraws they follow the label.",)
    if rows.clusters is not None:
        size = rows.clusters.size
        notes += (
            f"Clusters: {rows.clusters.count:,}, with {size.min():,} to {size.max():,} rows. "
            "Labels are redrawn so that the rows of a cluster agree as much as they do in the "
            "data; folds hold whole clusters; intervals of gains and costs are Student's, from "
            "what the mean would be without each cluster.",
        )
        if rows.clusters.beside:
            notes += (
                "Several columns say what belongs together: redraws know all of them; folds, "
                "sandwiches and intervals those clusters that tell least, and may be too short.",
            )
    return notes
