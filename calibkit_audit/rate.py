"""The rate that people would find, from a judge whose verdicts they have checked in part.

A judge (a language model, a nurse, a cheap test) scores all rows; people label some. The mean of
the judge is not the rate that people would find. What corrects it is a calibration:

- *map*: a map from the judge's scores to people's labels, fitted in folds, whose mean over all rows
  is corrected by its mean error where people have looked (Zrnic and Candès, 2024);
- *prediction-powered*: the same with the scores as they are (Angelopoulos and others, 2023);
- *people alone*: the same with no scores at all;
- *two error rates*: verdicts and labels of 0 and 1, corrected by how often the judge is wrong
  either way (Rogan and Gladen, 1978; interval of Lang and Reiczigel, 2014).

Lesson 15.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.calibrators import PlattCalibrator
from calibkit.inputs import FloatVector, IntVector, as_generator, as_level, quiet, unwrapped
from calibkit.results import Result, spell
from calibkit_audit.clusters import Clusters, cluster_folds, clusters_of, student
from calibkit_audit.saving import finite

_FEWEST = 20  # labels, below which nothing is estimated
_WANTED = 0.02
_FOLDS = 5  # in which the map is fitted
_WIDTH = 88  # of a line in a terminal
_CHOSEN = "Rows with a label have other scores than all rows"
_APART = 3.0  # z beyond which rows with labels are said to differ from the others
HONEST = ("map", "prediction-powered", "people alone")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RateEstimate(Result):
    """The rate that people would find in all rows, by several methods.

    Parameters
    ----------
    method : ndarray of shape (m,)
        Names; the judge's own mean comes last.
    rate, low, high : ndarray of shape (m,)
        Estimates in [0, 1] and their intervals; NaN where a method does not apply.
    level : float
        Nominal content of each interval.
    recommended : int
        Place of the recommended method.
    n, labelled : int
        Number of rows, and of rows with a label.
    needed : int
        Labels needed, of as many rows, for an interval of 0.02 on either side; 0 where no number
        of labels would do.
    notes : tuple of str
        What to know of the rows before the rate is used.
    """

    method: NDArray[np.str_]
    rate: FloatVector
    low: FloatVector
    high: FloatVector
    level: float
    recommended: int
    n: int
    labelled: int
    needed: int
    notes: tuple[str, ...]

    def describe(self) -> str:
        """Say it to the person who decides, in numbers of a hundred."""
        place = self.recommended
        rate, low, high = (100 * one[place] for one in (self.rate, self.low, self.high))
        more = f"about {self.needed:,} labels would give 2 of 100 on either side"
        if not self.needed:
            more = "for 2 of 100 on either side more rows are needed, not only more labels"
        text = (
            f"Of 100 rows the judge's scores expect {100 * self.rate[-1]:.0f} to pass; people "
            f"would pass {rate:.0f} ({low:.0f} to {high:.0f}, {100 * self.level:g} % interval), "
            f"by the method {self.method[place]!s}, the narrowest of those that hold for any judge "
            f"where chance chose the rows to label: {spell(self.n, 'row')}, {self.labelled:,} with "
            f"a label; {more}."
        )
        first = [note for note in self.notes if note.startswith(_CHOSEN)]
        return " ".join([*first, text, *self.notes[len(first) :]])

    def text(self) -> str:
        """Return the sentence, and a line for each method."""
        lines = [
            f"  {name:<20}{rate:.3f}  ({low:.3f} to {high:.3f})"
            if rate == rate
            else f"  {name:<20}needs verdicts of 0 and 1, independent rows, and both labels"
            for name, rate, low, high in zip(*self._columns().values(), strict=True)
        ]
        return "\n".join([*lines, "", fill(self.describe(), _WIDTH)])

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the sentence as JSON can hold them; NaN is None."""
        numbers = {name: np.array(getattr(self, name)).tolist() for name in self.__slots__}
        return {"sentence": self.describe()} | {k: finite(v) for k, v in numbers.items()}

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in ("method", "rate", "low", "high")}


def estimate_rate(
    judge: Any,
    labels: Any,
    *,
    cluster: Any = None,
    chance: Any = None,
    level: float = 0.95,
    rng: int | np.random.Generator | None = 0,
) -> RateEstimate:
    """Estimate the mean label of all rows from a judge's scores and a few labels of people.

    With scores s, labels y where L = 1, and a map m: ``mean m(s) + mean_{L=1} (y - m(s))``.

    Parameters
    ----------
    judge : array-like of shape (n,)
        Scores in [0, 1]: verdicts, or probabilities that a row passes.
    labels : array-like of shape (n,)
        What people say, NaN or None where nobody has looked: 0 and 1, or shares of several raters.
    cluster : array-like of shape (n,), optional
        Which rows belong together (answers to one question); only clusters are then independent.
    chance : array-like of shape (n,), optional
        The probability in (0, 1] with which each row was chosen for a label; needed where the
        choice looked at the score.
    level : float
        Nominal content of each interval.
    rng : int, numpy.random.Generator or None
        Draws the folds.

    Returns
    -------
    RateEstimate

    Raises
    ------
    ValueError
        If scores, labels or chances are not valid (with the row), or labels are fewer than 20.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> passed = rng.random(5000) < 0.7
    >>> verdict = np.where(passed, 0.95, 0.6) > rng.random(5000)
    >>> labels = np.where(np.arange(5000) >= 4800, passed, np.nan)
    >>> found = estimate_rate(verdict.astype(float), labels)
    >>> f"judge {found.rate[-1]:.2f}, people {found.low[0]:.2f} to {found.high[0]:.2f}"
    'judge 0.85, people 0.64 to 0.76'
    """
    as_level(level, "level")
    rows = _checked_rows(judge, labels, cluster, chance)
    score, label, known, _, groups = rows
    n, mean = len(score), float(score.mean())
    scores = _mapped(rows, as_generator(rng)), score, 0 * score
    means = [_corrected(values, rows, level) for values in scores]
    found = [(one.rate, one.rate - one.half, one.rate + one.half) for one in means]
    verdicts = np.isin(np.append(score, label[known]), (0, 1)).all()
    plain = bool(verdicts) and cluster is None and chance is None
    found.append(two_error_rates(score, label, level) if plain else (np.nan,) * 3)
    z = special.ndtri((1 + level) / 2)
    own = z * float(groups.sums(score - mean).std()) * np.sqrt(groups.count) / n
    rate, low, high = np.clip(np.transpose([*found, (mean, mean - own, mean + own)]), 0, 1)
    place = int(np.argmin([one.half for one in means]))
    return RateEstimate(
        method=np.array([*HONEST, "two error rates", "judge"]),
        rate=rate,
        low=low,
        high=high,
        level=level,
        recommended=place,
        n=n,
        labelled=len(known),
        needed=means[place].needed,
        notes=_notes(rows),
    )


class _Rows(NamedTuple):
    score: FloatVector
    label: FloatVector  # NaN where nobody has looked
    known: IntVector  # places of rows with a label
    weight: FloatVector
    groups: Clusters


class _Corrected(NamedTuple):
    """A mean of scores over all rows, corrected where labels are known."""

    rate: float
    half: float  # of Student's interval
    needed: int  # labels for an interval of 0.02 on either side; 0: no number would do


def _corrected(values: FloatVector, rows: _Rows, level: float) -> _Corrected:
    """Correct the mean of (n,) values; a label counts as its weight says (Hájek)."""
    _, label, known, weight, groups = rows
    n, share = len(values), weight[known] / weight[known].sum()
    error = label[known] - values[known]
    mean, off = float(values.mean()), float(share @ error)
    both = np.zeros((n, 2))
    both[:, 0] = (values - mean) / n
    both[known, 1] = share * (error - off)
    sums, count, units = groups.sums(both), groups.count, len(np.unique(groups.code[known]))
    cover = sums.T @ sums * count / (count - 1)
    # As if two more labels had met an error, one of each sign: none in 25 is no proof.
    seldom = 2 * float(np.square(share).sum()) / len(known)
    # What stays however many labels there are, and what falls with their number.
    of_scores, of_labels = cover[0, 0] + 2 * cover[0, 1], cover[1, 1] + seldom
    half = float(student(max(of_scores + of_labels, 0.0), units - 1, level))
    left = (_WANTED / special.ndtri((1 + level) / 2)) ** 2 - max(of_scores, 0.0)
    needed = np.ceil(len(known) * of_labels / left) if left > 0 else np.inf
    return _Corrected(mean + off, half, int(needed) if needed <= n else 0)


def _mapped(rows: _Rows, rng: np.random.Generator) -> FloatVector:
    """Return Platt's map of the scores, each row by a fit that has not seen its cluster."""
    score, label, known, weight, groups = rows
    fold, count = cluster_folds(groups.code, _FOLDS, rng)
    mapped = np.empty(len(score))
    for one in range(count):
        kept, out = known[fold[known] != one], fold == one
        y, s, w = label[kept], score[kept], weight[kept]
        mapped[out] = np.average(y, weights=w)
        if 0 < y.sum() < len(y) and np.ptp(s) > 0:
            # A share of 0.7 is 0.7 of a row that passes and 0.3 of one that does not.
            parts = np.r_[w * y, w * (1 - y)]
            outcomes = np.repeat([1, 0], len(y))
            with quiet():
                fitted = PlattCalibrator().fit(np.r_[s, s], outcomes, sample_weight=parts)
                mapped[out] = fitted.calibrate(score[out])
    return mapped


def two_error_rates(
    verdict: FloatVector, label: FloatVector, level: float
) -> tuple[float, float, float]:
    """Return Rogan and Gladen's rate with Lang and Reiczigel's interval; NaN where undefined.

    Verdicts and labels are 0 and 1 (NaN: no label); the rows with each label are taken as given.
    """
    fail, hit = verdict[label == 0], verdict[label == 1]
    if not len(fail) or not len(hit):
        return np.nan, np.nan, np.nan
    return corrected_by_rates(
        (verdict.mean(), len(verdict)), (1 - fail.mean(), len(fail)), (hit.mean(), len(hit)), level
    )


def corrected_by_rates(
    passed: tuple[float, int],
    specificity: tuple[float, int],
    sensitivity: tuple[float, int],
    level: float,
) -> tuple[float, float, float]:
    """Return rate and interval from three shares, each with the number of rows behind it.

    >>> rate, low, high = corrected_by_rates((0.4, 1000), (0.7, 200), (0.9, 200), 0.95)
    >>> f"{rate:.4f} {low:.4f} {high:.4f}"
    '0.1667 0.0564 0.2627'
    """
    z = special.ndtri((1 + level) / 2)
    (p, n), (q0, m0), (q1, m1) = passed, specificity, sensitivity
    if q0 + q1 <= 1:  # no better than a coin
        return np.nan, np.nan, np.nan
    rate = (p + q0 - 1) / (q0 + q1 - 1)
    p, n = (n * p + z**2 / 2) / (n + z**2), n + z**2
    q0, q1, m0, m1 = (m0 * q0 + 1) / (m0 + 2), (m1 * q1 + 1) / (m1 + 2), m0 + 2, m1 + 2
    middle = (p + q0 - 1) / (q0 + q1 - 1)
    of_0, of_1 = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    variance = p * (1 - p) / n + (1 - middle) ** 2 * of_0 + middle**2 * of_1
    middle += 2 * z**2 * (middle * of_1 - (1 - middle) * of_0)
    half = z * float(np.sqrt(variance)) / (q0 + q1 - 1)
    return rate, middle - half, middle + half


def _checked_rows(judge: Any, labels: Any, cluster: Any, chance: Any) -> _Rows:
    score, label = _numbers(judge, "judge"), _numbers(labels, "labels", missing=True)
    n, known = len(score), np.flatnonzero(~np.isnan(label))
    chances = np.ones(n) if chance is None else _numbers(chance, "chance")
    if not n == len(label) == len(chances):
        counts = f"judge has {n:,} rows, labels {len(label):,}"
        raise ValueError(f"{counts} and chance {len(chances):,}; they need one per row.")
    if len(known) < _FEWEST:
        raise ValueError(f"{spell(len(known), 'row')} with a label; at least {_FEWEST} are needed.")
    if not chances.all():
        row = int(chances.argmin())
        needed = "each row needs a probability, above 0, of being chosen for a label"
        raise ValueError(f"chance[{row}] is 0: {needed}.")
    groups = Clusters(np.arange(n), n) if cluster is None else clusters_of(cluster, n)
    return _Rows(score, label, known, 1 / chances, groups)


def _numbers(values: Any, name: str, *, missing: bool = False) -> FloatVector:
    """Return values in [0, 1], or NaN where some may be missing."""
    try:
        array = np.array(unwrapped(values, name), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers in [0, 1]; write 1 for pass and 0.") from None
    if array.ndim != 1 or not len(array):
        raise ValueError(f"{name} has shape {array.shape}; it needs one number per row.")
    good = ((array >= 0) & (array <= 1)) | (np.isnan(array) & missing)
    if not good.all():
        row = int(good.argmin())
        raise ValueError(
            f"{name}[{row}] = {array[row]:g} is not in [0, 1]. Divide counts by the number of "
            "raters, and scores by the largest possible one; labels alone may be missing."
        )
    return array


def _notes(rows: _Rows) -> tuple[str, ...]:
    notes, label, seen = [], rows.label[rows.known], rows.score[rows.known]
    share = rows.weight[rows.known] / rows.weight[rows.known].sum()
    mean, of_all = float(share @ seen), float(rows.score.mean())
    sd = float(np.sqrt(np.square(share) @ (seen - mean) ** 2))
    if abs(mean - of_all) > _APART * sd > 0 and len(seen) < len(rows.score):
        notes.append(
            f"{_CHOSEN} (mean {mean:.2f} against {of_all:.2f}). Where they were chosen by "
            "score, this estimate is wrong: give chance= (command line: --chance)."
        )
    if (label == seen).all():
        notes.append("The judge errs on no row with a label, which is no proof that it never does.")
    if np.ptp(label) == 0:
        notes.append(f"All labels are {label[0]:g}: how the judge treats others is not known.")
    return tuple(notes)
