"""Beside the six answers: rows that agree, and an error that changes over time.

Rows that agree are looked for where no clusters are named, conditional on predictions; residuals
are those of the isotonic curve, so that a smooth miscalibration makes no rows agree.

- Ties: outcomes of rows with the same prediction (six decimals of its logit) agree, by at least a
  fifth of what full agreement would be.
- Mirrors: to each row with p and an event belongs one with 1 - p and none, as where both sides of
  each match are listed.
- Order: residuals agree with the next row in file order, or with the next ten. A file sorted by
  label is left out; means of large ties, and of predicted classes, are subtracted.

What looks large by the normal law is compared with redraws of the labels from that curve.

Over time the labels are asked whether one line in logits, fitted to all rows, holds in every block:
Rao's score test of a level and a slope per block with 2 (B - 1) degrees of freedom. With clusters
its law comes from labels redrawn by cluster. Blocks hold equal variance; rows of one time stay
together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.calibrators import PlattCalibrator
from calibkit.chance.null import p_value_of
from calibkit.inputs import FloatVector, IntVector, logit, refuse_other_order
from calibkit.scores import corp_decomposition
from calibkit_audit.auditing.evidence import POWER, problem_of
from calibkit_audit.auditing.pages import Answer, Listing
from calibkit_audit.auditing.redraws import ViewTest, cells_of_equal_variance
from calibkit_audit.auditing.rows import AuditRows
from calibkit_audit.auditing.settings import FINDINGS, AuditSettings
from calibkit_audit.dependent_rows import Dependence
from calibkit_audit.incoming import one_per_row

_FEWEST, _MOST = 50, 100_000  # rows that are looked at
_LAGS = (1, 10)
_CLEAR, _SHARE = 3.5, 0.2
_LARGE_TIE = 30
_DIFFERENT = 8  # log odds: fewer may be mirrored by chance
_PAIR_DRAWS = 999  # of which none may reach the data
_REQUEST = (
    "Are they the same case? Name the column that says which rows belong together: cluster= "
    "(command: --cluster)."
)


def findings_of(
    rows: AuditRows, first: ViewTest, settings: AuditSettings, rng: np.random.Generator
) -> tuple[Listing | None, tuple[Answer, ...]]:
    """Return the blocks of time, where times were given, and what is to be said of the rows."""
    times, change = time_finding(rows, first.view, first.design, settings, rng) or (None, None)
    in_order = change is None or change.light == "good"
    agree = dependence_finding(rows, rng, in_order=in_order)
    return times, tuple(one for one in (agree, change) if one is not None)


def dependence_finding(
    rows: AuditRows, rng: np.random.Generator, *, in_order: bool = True
) -> Answer | None:
    """Return what is to be said where rows agree more than independent ones would.

    `in_order`: also with their neighbours, which an error that changes over time explains.
    """
    if rows.clusters is not None or rows.n < _FEWEST:
        return None
    back = np.argsort(rows.position)[:_MOST]
    leader = np.zeros(len(back), dtype=np.intp)
    prob, event = rows.prob[back], rows.label[back]
    if prob.ndim == 2:
        leader, prob = prob.argmax(axis=1), prob.max(axis=1)
        event = (event == leader).astype(np.intp)
    if event.min() == event.max():
        return None
    curve = corp_decomposition(event, prob).recalibrate(prob)
    score = special.logit(prob).round(6)
    _, tie = np.unique(np.column_stack([leader, score]), axis=0, return_inverse=True)
    tie = tie.ravel()
    variance = curve * (1 - curve)
    ties = _agreement(event - curve, variance, tie)
    agree = ties[0] > _CLEAR and ties[1] > _SHARE
    if agree and _no_redraw_reaches(lambda r: _agreement(r, variance, tie)[0], ties[0], curve, rng):
        text = "Rows with the same prediction have the same outcome more often than independent "
        return _finding(f"{text}rows would (z = {ties[0]:.1f}).", z=ties[0])
    if rows.prob.ndim == 1 and _have_mirrors(np.where(event, score, -score), event):
        return _finding("Each row has a mirror image: 1 - p, and the other outcome.")
    if not in_order or _in_runs(rows.label[back]) or _in_runs(event):
        return None
    residual = _subtract_means(_subtract_means(event - curve, leader, 1), tie, _LARGE_TIE)
    z = _neighbours(residual, curve)
    if z > _CLEAR and _no_redraw_reaches(lambda r: _neighbours(r, curve), z, curve, rng):
        text = f"Neighbouring rows agree more than independent rows would (z = {z:.1f})."
        return _finding(text, " If the error changes along the file: time= (--time).", z=float(z))
    return None


def _have_mirrors(happened: FloatVector, event: IntVector) -> bool:
    """Tell whether the log odds of what happened are the same with and without event."""
    one, none = (np.sort(happened[event == which]) for which in (1, 0))
    return len(np.unique(one)) >= _DIFFERENT and np.array_equal(one, none)


def qualify_headline(headline: str, light: str, found: Sequence[Answer]) -> tuple[str, str]:
    """Return headline and light, told that they may be chance, or an average over time."""
    codes = {one.verdict for one in found}
    if "rows agree" in codes:
        then = "this may be chance" if light in ("bad", "caution") else "more would be missed"
        headline += f" But rows look dependent, and then {then}."
        light = "caution" if light == "good" else light
    if "error changes" not in codes:
        return headline, light
    return f"The error changes over time. On average: {headline[0].lower()}{headline[1:]}", "bad"


def _finding(text: str, more: str = "", **numbers: float) -> Answer:
    said = f"{text} {_REQUEST}{more} Tests and intervals here take every row as new."
    return Answer("dependence", FINDINGS["dependence"][0], "caution", said, numbers)


def _agreement(residual: FloatVector, variance: FloatVector, tie: IntVector) -> tuple[float, float]:
    """Return z of the products of pairs within ties, and their share of full agreement."""
    size = np.bincount(tie)
    weight = np.where(size > 1, 1.0 / np.maximum(size - 1, 1), 0.0)

    def pairs(values: FloatVector) -> FloatVector:
        both = np.bincount(tie, values) ** 2 - np.bincount(tie, values**2)
        return np.asarray(both / 2)

    found = float(weight @ pairs(residual))
    spread = float(np.sqrt(weight**2 @ pairs(variance)))
    full = float(weight @ pairs(np.sqrt(variance)))
    return (found / spread, found / full) if spread > 0 else (0.0, 0.0)


def _neighbours(residual: FloatVector, curve: FloatVector) -> float:
    """Return the larger z of products of residuals up to one, and up to ten rows apart."""
    variance, found, spread, z = curve * (1 - curve), 0.0, 0.0, 0.0
    for lag in range(1, max(_LAGS) + 1):
        found += float(residual[lag:] @ residual[:-lag])
        spread += float(variance[lag:] @ variance[:-lag])
        if lag in _LAGS and spread > 0:
            z = max(z, found / np.sqrt(spread))
    return z


def _no_redraw_reaches(
    statistic: Callable[[FloatVector], float],
    value: float,
    curve: FloatVector,
    rng: np.random.Generator,
) -> bool:
    """Tell whether no redraw of the labels reaches a value."""
    drawn = ((rng.random(len(curve)) < curve) - curve for _ in range(_PAIR_DRAWS))
    return all(statistic(residual) < value for residual in drawn)


def _subtract_means(residual: FloatVector, key: IntVector, least: int) -> FloatVector:
    """Subtract the means of groups of at least so many rows."""
    size = np.bincount(key)
    mean = np.bincount(key, residual) / np.maximum(size, 1)
    return np.asarray(residual - np.where(size >= least, mean, 0.0)[key])


def _in_runs(label: NDArray[np.integer]) -> bool:
    """Tell whether labels come in at most two runs each."""
    return int((np.diff(label) != 0).sum()) + 1 <= 2 * len(np.unique(label))


_MOST_BLOCKS, _VARIANCE = 10, 20.0  # blocks, and the variance sum p (1 - p) that each should hold


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
    known, best, form = dict.fromkeys(texts), dict[str, float](), ""
    for other in _FORMS:
        read = {text: seconds for text in known if np.isfinite(seconds := _as_number(text, other))}
        if len(read) > len(best):
            best, form = read, other
        elif form == _DAY_FIRST and len(read) == len(known):
            raise ValueError(f"time[0] = {texts[0]!r}: day or month first? {_AS_ISO}")
        if len(best) == len(known) and form != _DAY_FIRST:
            break
    for row, text in enumerate(texts):
        if text not in best:
            kind = "no date" if form else "no number" if best else "neither number nor date"
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
    rows: AuditRows, view: int, design: float, settings: AuditSettings, rng: np.random.Generator
) -> tuple[Listing, Answer] | None:
    """Test whether all blocks of time share one error in the first view."""
    if rows.time is None:
        return None
    left = np.flatnonzero(rows.possible)
    problem = problem_of(rows, view)
    prob, label = problem.prob[left].astype(np.float64), problem.label[left].astype(np.float64)
    number, text = rows.time[left], np.asarray(rows.date)[left]
    variance = prob * (1 - prob) / design
    wanted = int(np.clip(variance.sum() / _VARIANCE, 2, _MOST_BLOCKS))
    # Blocks of equal variance, whole times, none of them empty.
    cells = cells_of_equal_variance(number, variance, wanted)
    block = np.unique(cells, return_inverse=True)[1]
    size = int(block.max()) + 1
    several = label.min() < label.max()
    curve = PlattCalibrator().fit(prob, label).calibrate(prob) if several else prob
    curve = np.clip(curve, 1e-12, 1 - 1e-12)
    test = _Homogeneity(prob, curve, block)
    value = test.statistic(label)
    p_value = float(special.chdtrc(test.df, value)) if test.df else 1.0
    if rows.clusters is not None and test.df:
        chance = Dependence(curve, problem.label[left], rows.clusters.take(left), rng)
        drawn = [test.statistic(chance.draw(rng)) for _ in range(settings.n_draws)]
        p_value = p_value_of(value, np.array(drawn))
    order, count = np.lexsort((number, block)), np.bincount(block)
    ends, df = np.cumsum(count), max(test.df, 1)
    reach = special.chndtrinc(special.chdtri(df, settings.alpha), df, 1 - POWER)
    columns = {
        "first": text[order][ends - count],
        "last": text[order][ends - 1],
        "count": count,
        "mean_prob": np.bincount(block, prob, size) / count,
        "frequency": np.bincount(block, label, size) / count,
    }
    columns["gap"] = columns["mean_prob"] - columns["frequency"]
    smallest = float(np.sqrt(reach * (prob * (1 - prob)).mean() * design / len(prob)))
    changed = p_value <= settings.alpha
    sentence = _change_in_words(columns, p_value, smallest, changed)
    numbers = {"p_value": p_value, "smallest": smallest, "blocks": float(size)}
    verdict, light = FINDINGS["time"][0 if changed else 1], "bad" if changed else "good"
    table = Listing(sentence=sentence, columns=columns)
    return table, Answer("time", verdict, light, sentence, numbers)


def _change_in_words(
    columns: Mapping[str, NDArray[Any]], p_value: float, smallest: float, changed: bool
) -> str:
    """Say whether the error changes, and what the rows could have shown."""
    first, last, gap = (columns[name] for name in ("first", "last", "gap"))
    blocks = f"{len(gap)} blocks of time, {first[0]} to {last[-1]}"
    test = f"score test of level and slope per block, p = {p_value:.3g}"
    power = f"a swing of ±{smallest:.3f} would be found in nine files of ten"
    if not changed:
        return f"No change of the error over time is shown ({blocks}; {test}); {power}."
    low, high = int(gap.argmin()), int(gap.argmax())
    return (
        f"The error changes over time ({blocks}; {test}). Mean prediction minus frequency goes "
        f"from {gap[low]:+.3f} (from {first[low]} on) to {gap[high]:+.3f} (from "
        f"{first[high]} on). One repair for all times cannot be right; {power}."
    )


class _Homogeneity:
    """Rao's test that one line in logits holds in every block."""

    def __init__(self, prob: FloatVector, curve: FloatVector, block: IntVector) -> None:
        logits, weight = logit(prob), curve * (1 - curve)
        lever = logits - weight @ logits / weight.sum()
        spread = np.sqrt(weight @ lever**2 / weight.sum())
        parts = [np.ones(len(prob))] + ([lever / spread] if spread > 1e-9 else [])
        self.features, self.curve, self.block = np.array(parts), curve, block
        size = int(block.max()) + 1
        cover = [
            [np.bincount(block, a * b * weight, size) for a in self.features] for b in self.features
        ]
        self.cover = np.moveaxis(np.array(cover), -1, 0)
        self.inverse = np.linalg.pinv(self.cover, 1e-9, hermitian=True)
        self.common = np.linalg.pinv(self.cover.sum(axis=0), 1e-9, True)
        ranks = np.linalg.matrix_rank(self.cover, tol=1e-9, hermitian=True)
        self.df = int(ranks.sum()) - len(parts)

    def statistic(self, label: Any) -> float:
        """Return the statistic of labels; what all blocks share is taken out."""
        residual, size = label - self.curve, len(self.cover)
        score = np.stack([np.bincount(self.block, f * residual, size) for f in self.features], 1)
        score = score - self.cover @ (self.common @ score.sum(axis=0))
        return float(np.einsum("bi,bij,bj->", score, self.inverse, score))
