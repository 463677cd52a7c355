"""Beside the six answers: rows that hang together, and an error that changes over time.

Several rows may be about one case; no rule finds that in labels and predictions alone, so the
headline says it until it is answered. Of a table's other columns those are named in whose values
rows agree: `rows_that_agree`. Where each row has a mirror image, 1 - p with the other
outcome, one side is kept: `keep_one_side`.

Over time one line in logits is fitted to all rows, and the labels are asked whether it holds all
along: `time_finding`. Level and slope of some blocks, from a moment on or in a stretch, are
compared with those of all; the law comes from redraws of the labels. Blocks hold equal variance;
rows of one time stay together.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from scipy.linalg import block_diag

from calibkit.calibrators import PlattCalibrator
from calibkit.chance.null import p_value_of
from calibkit.inputs import FloatMatrix, FloatVector, logit, refuse_other_order, unwrapped
from calibkit_audit.auditing.evidence import POWER, problem_of
from calibkit_audit.auditing.pages import Answer, Listing
from calibkit_audit.auditing.redraws import ViewTest, cells_of_equal_variance
from calibkit_audit.auditing.rows import AuditRows
from calibkit_audit.auditing.settings import FINDINGS, AuditSettings
from calibkit_audit.clusters import FEW, robust_sd
from calibkit_audit.dependent_rows import DependentRows
from calibkit_audit.incoming import is_blank, one_per_row

_DIFFERENT = 8  # log odds: fewer may be mirrored by chance


def keep_one_side(rows: AuditRows) -> tuple[AuditRows, tuple[Answer, ...]]:
    """Return one of each two rows that mirror each other, and what is to be said of it.

    Only where all rows of two classes do, within their cluster: as many rows said p when the event
    happened as said 1 - p when it did not. The side is chosen by the prediction alone.
    """
    if not rows.binary or rows.top or rows.weight is not None:
        return rows, ()
    p, event = rows.prob, rows.label == 1
    own = special.logit(rows.own).round(6)
    cluster = np.zeros(rows.n) if rows.clusters is None else rows.clusters.code
    sides = [np.column_stack([cluster, own])[event == which] for which in (True, False)]
    sides = [side[np.lexsort(side.T)] for side in sides]
    if not np.array_equal(*sides) or len(np.unique(own)) < _DIFFERENT:
        return rows, ()
    kept = rows.take(p.round(6) > 0.5)  # both sides of one half say nothing
    text = (
        "Each row has a mirror image: 1 - p, and the other outcome, as where both sides of a match "
        f"are listed. Both say the same: {kept.n:,} of {rows.n:,} rows are kept, those that say "
        "more than one half."
    )
    return kept, (Answer("dependence", "one side kept", "caution", text, {"rows": float(kept.n)}),)


_AGREE = 5.0  # standard deviations beyond which rows that share a value agree


def rows_that_agree(
    rows: AuditRows, view: int, others: Mapping[str, Any] | None
) -> tuple[Answer, ...]:
    """Return the columns in whose values residuals agree: the sum of the products of all pairs.

    It is divided by its standard deviation for these residuals with signs drawn at random, which
    holds where few rows are uncertain, too.
    """
    if not others or rows.clusters is not None or rows.independent:
        return ()
    problem, found = problem_of(rows, view), dict[str, float]()
    residual = problem.label - problem.prob
    # Without a common gap, to which a row adds by its variance, a sure row by what it was off by.
    variance = problem.prob * (1 - problem.prob)
    variance = np.where(variance == 0, residual**2, variance)
    residual = residual - variance * residual.sum() / max(variance.sum(), 1e-300)
    for name, values in others.items():
        given = unwrapped(values, name)
        if given.ndim != 1 or len(given) <= rows.position.max():
            raise ValueError(f"others {name!r} has shape {given.shape}; it needs a value per row.")
        group = _numbered(given)[rows.position]
        r, v = (
            np.bincount(group, x) ** 2 - np.bincount(group, x**2) for x in (residual, residual**2)
        )
        z = float(r.sum() / np.sqrt(max(2 * v.sum(), 1e-9)))
        if z > _AGREE and group.max() >= FEW:
            found[name] = z
    if not found:
        return ()
    text = (
        f"Rows that share {' or '.join(map(repr, found))} agree more than chance has it. If it "
        "says what case a row is about (a patient, a match, a question), name it by cluster= "
        "(command line: --cluster): what was found may else be no more than that."
    )
    return (Answer("dependence", "rows agree", "caution", text, found),)


def _numbered(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each row's value; a missing one is like no other."""
    if values.dtype.kind in "biufM":
        return np.unique(values, return_inverse=True, equal_nan=False)[1]
    number = dict[Any, int]()
    words = (object() if is_blank(value) else str(value) for value in values.tolist())
    return np.array([number.setdefault(word, len(number)) for word in words])


_MOST_BLOCKS, _VARIANCE = 20, 10.0  # blocks, and the variance sum p (1 - p) that each should hold
# How times are written: as numbers, or as dates.
_ISO, _DAY_FIRST = "ISO", "%d/%m/%Y"
_FORMS = ("", _ISO, "%d.%m.%Y", _DAY_FIRST, "%m/%d/%Y")
_AS_ISO = "Write dates as 2024-12-31 or 2024-12-31T23:59 (ISO 8601), or pass numbers."


def parse_times(time: Any, n: int) -> tuple[FloatVector, NDArray[np.str_]]:
    """Return times as numbers, and as they were given: numbers, dates, or texts of either."""
    array, given = one_per_row(time, "time", n, "say when it was")
    if array.dtype.kind == "M":
        texts = np.datetime_as_string(array.astype("datetime64[us]")).tolist()
        given = [text.removesuffix("T00:00:00.000000") for text in texts]
    texts = [str(value).strip() for value in given]
    known, best = dict.fromkeys(texts), dict[str, float]()
    for form in _FORMS:
        read = {text: seconds for text in known if np.isfinite(seconds := _as_number(text, form))}
        if len(best) == len(known) == len(read):
            raise ValueError(f"time[0] = {texts[0]!r}: day or month first? {_AS_ISO}")
        best = max(best, read, key=len)
        if len(best) == len(known) and form != _DAY_FIRST:
            break
    for row, text in enumerate(texts):
        if text not in best:
            kind = f"neither a number nor a date{', as others are' if best else ''}"
            raise ValueError(f"time[{row}] = {text!r} is {kind} (rows from 0). {_AS_ISO}")
    if len(set(best.values())) == 1:
        raise ValueError(f"time is {texts[0]!r} in all rows: there is nothing to compare.")
    return np.array([best[text] for text in texts]), np.array(texts)


def add_time(rows: AuditRows, y_true: Any, time: Any) -> AuditRows:
    """Return rows that know when they were predicted, in their own order."""
    if time is None:
        return rows
    if rows.weight is not None:
        raise ValueError("the test of time= has no weights: leave out time, or sample_weight.")
    refuse_other_order(y_true=y_true, time=time)
    number, text = parse_times(time, rows.n)
    return replace(rows, time=number[rows.position], date=text[rows.position])


def _as_number(text: str, form: str) -> float:
    """Return a number, or seconds since 1970; a date without a zone counts as one of Greenwich."""
    try:
        if not form:
            return float(text)
        day, space, clock = text.partition(" ")
        if form != _ISO:
            day = datetime.strptime(day, form).date().isoformat()
        moment = datetime.fromisoformat(day + space + clock)
    except ValueError:
        return float("nan")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def time_finding(
    rows: AuditRows, first: ViewTest, settings: AuditSettings, rng: np.random.Generator
) -> tuple[Listing | None, tuple[Answer, ...]]:
    """Return the blocks of time, and whether they share one error in the first view."""
    if rows.time is None:
        return None, ()
    problem, design = problem_of(rows, first.view), first.design
    prob, label = problem.prob.astype(np.float64), problem.label
    # Blocks of equal variance, whole times, none of them empty; a sure row promises no variance.
    variance = prob * (1 - prob) / design
    wanted = int(np.clip(variance.sum() / _VARIANCE, 2, _MOST_BLOCKS))
    cells = cells_of_equal_variance(rows.time, variance, wanted)
    block: NDArray[Any] = np.unique(cells, return_inverse=True)[1]
    columns = _blocks(rows, prob, label, block)
    left = np.flatnonzero(variance > 0)
    p_value, smallest = 1.0, np.inf
    if len(left) and np.ptp(block[left]):
        part = np.unique(block[left], return_inverse=True)[1]
        curve, levers, looks, odds = _changes(prob[left], label[left], part)
        clusters = rows.clusters and rows.clusters.take(left)
        model = DependentRows(label=label[left], prob=curve, clusters=clusters)

        def sums(y: NDArray[Any]) -> FloatVector:
            return np.hstack([np.bincount(part, (y - curve) * lever) for lever in levers])

        drawn = np.array([sums(y) for y, _ in model.redraws(settings.n_draws, rng)]) @ looks
        spread = sd = np.ones(len(odds))
        if clusters is not None:  # a sandwich knows dependence of every kind
            spread = np.sqrt((drawn**2).mean(axis=0))
            each = ((label[left] - curve) * lever for lever in levers)
            scores = [sparse.coo_array((one, (clusters.code, part))).toarray() for one in each]
            sd = robust_sd(spread, np.hstack(scores) @ looks)
        found, own = drawn / spread, sums(label[left]) @ looks / sd
        evidence = special.logsumexp(found**2 / 2, axis=1, b=odds)
        p_value = p_value_of(float(special.logsumexp(own**2 / 2, b=odds)), evidence)
        limit = float(np.quantile(evidence, 1 - settings.alpha)) - np.log(odds.max())
        z = np.sqrt(2 * max(limit, 0.0)) + special.ndtri(POWER)
        smallest = z * np.sqrt(curve @ (1 - curve) * design) / len(left)
    changed, enough = p_value <= settings.alpha, smallest <= settings.detectable
    sentence = _change_in_words(columns, p_value, smallest, changed)
    numbers = {"p_value": p_value, "smallest": smallest, "blocks": float(len(columns["gap"]))}
    light = "bad" if changed else "good" if enough else "unknown"
    table = Listing(sentence=sentence, columns=columns)
    verdict = FINDINGS["time"][0 if changed else 1]
    return table, (Answer("time", verdict, light, sentence, numbers),)


def _changes(
    prob: FloatVector, label: NDArray[Any], block: NDArray[Any]
) -> tuple[FloatVector, list[FloatVector], FloatMatrix, FloatVector]:
    """Return one curve for all times, two levers, z of sums of blocks by both, and its weight.

    Each z compares blocks that follow each other with all, in level (three quarters of the weight)
    or slope; two thirds go to steps, one third to all stretches (Andrews and Ploberger, 1994).
    """
    several = label.min() < label.max()
    curve = PlattCalibrator().fit(prob, label).calibrate(prob) if several else prob
    curve = np.clip(curve, 1e-12, 1 - 1e-12)
    weight, logits, place = curve * (1 - curve), logit(prob), np.arange(block.max() + 1)
    first, after = np.triu_indices(len(place) + 1, 1)
    part = after - first < len(place)  # not all of the time
    first, after = first[part], after[part]
    inside = (first <= place[:, np.newaxis]) & (place[:, np.newaxis] < after)
    levers, looks = [np.ones(len(prob)), logits - weight @ logits / weight.sum()], []
    for lever in levers:
        share = np.bincount(block, weight * lever**2)
        total, share = share.sum(), share @ inside / max(share.sum(), 1e-300)
        looks.append((inside - share) / np.sqrt(np.maximum(total * share * (1 - share), 1e-12)))
    steps = after == len(place)
    odds = np.where(steps, 2 / steps.sum(), 0) + 1 / len(steps)
    return curve, levers, block_diag(*looks), np.append(3 * odds, odds) / 12


def _blocks(
    rows: AuditRows, prob: FloatVector, label: NDArray[Any], block: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return what each block of time says, over all of its rows."""
    text = np.asarray(rows.date)[np.lexsort((np.asarray(rows.time), block))]
    count = np.bincount(block)
    ends = np.cumsum(count)
    said, happened = (np.bincount(block, values) / count for values in (prob, label))
    spans = {"first": text[ends - count], "last": text[ends - 1], "count": count}
    return spans | {"mean_prob": said, "frequency": happened, "gap": said - happened}


def _change_in_words(
    columns: Mapping[str, NDArray[Any]], p_value: float, smallest: float, changed: bool
) -> str:
    """Say whether the error changes, what first and last block show, and what would be found."""
    first, last, gap = (columns[name] for name in ("first", "last", "gap"))
    test = f"{len(gap)} blocks of time; test of a step, a stretch and a slope, p = {p_value:.3g}"
    shown = "The error changes" if changed else "No change of the error is shown"
    so = ": one repair for all times cannot be right" if changed else ""
    more = f"a step of {2 * smallest:.3f} at half time would be found in nine files of ten"
    if not np.isfinite(smallest):
        more = "so few uncertain rows can show none"
    return (
        f"{shown} over time ({test}){so}. Mean prediction minus frequency is {gap[0]:+.3f} in the "
        f"first block ({first[0]} to {last[0]}) and {gap[-1]:+.3f} in the last ({first[-1]} to "
        f"{last[-1]}); between {gap.min():+.3f} and {gap.max():+.3f}: {more}."
    )
