"""Do rows say something new? Looked for where no clusters are named, conditional on predictions.

Residuals are those of the isotonic curve, so that a smooth miscalibration makes no rows agree.

- Ties: outcomes of rows with the same prediction (six decimals of its logit) agree, by at least a
  fifth of what full agreement would be: a tree's leaf that is off by .1 makes its rows agree by a
  twentieth.
- Mirrors: to each row with p and an event belongs one with 1 - p and none, as where both sides of
  each match are listed: the log odds of what happened are then the same with and without event.
- Order: residuals agree with the next row in file order, or with the next ten. A file sorted by
  label says nothing by its order, for its residuals must agree; it is left out (at most two runs
  per label). In a file sorted by prediction or by predicted class they need not: means of large
  ties, and of predicted classes, are subtracted.

What looks large by the normal law is compared with redraws of the labels from that curve.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.corp import corp_decomposition
from calibkit.inputs import FloatVector, IntVector
from calibkit_audit.auditing.pages import Answer
from calibkit_audit.auditing.rows import AuditRows
from calibkit_audit.auditing.settings import FINDINGS

_FEWEST, _MOST = 50, 100_000  # rows that are looked at
_LAGS = (1, 10)
_CLEAR, _SHARE = 3.5, 0.2
_LARGE_TIE = 30
_DIFFERENT = 8  # log odds: fewer may be mirrored by chance
_DRAWS = 999  # of which none may reach the data
_REQUEST = (
    "Are they the same case? Name the column that says which rows belong together: cluster= "
    "(command: --cluster)."
)


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
    drawn = ((rng.random(len(curve)) < curve) - curve for _ in range(_DRAWS))
    return all(statistic(residual) < value for residual in drawn)


def _subtract_means(residual: FloatVector, key: IntVector, least: int) -> FloatVector:
    """Subtract the means of groups of at least so many rows."""
    size = np.bincount(key)
    mean = np.bincount(key, residual) / np.maximum(size, 1)
    return np.asarray(residual - np.where(size >= least, mean, 0.0)[key])


def _in_runs(label: NDArray[np.integer]) -> bool:
    """Tell whether labels come in at most two runs each."""
    return int((np.diff(label) != 0).sum()) + 1 <= 2 * len(np.unique(label))
