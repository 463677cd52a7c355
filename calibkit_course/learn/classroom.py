"""The calibration of a class: all forecasts pooled, and each student's own gap."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.inputs import FloatVector
from calibkit.results import Result, spell
from calibkit_course.learn import messages
from calibkit_course.learn.calibration import BINS, gap_interval
from calibkit_course.learn.forecasts import Forecasts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClassCalibration(Result):
    """What a class's forecasts say.

    Parameters
    ----------
    pooled : Forecasts
        Those of all students, each student's together.
    student : ndarray of shape (S,)
        Names of the students.
    n, each, low, high : ndarray of shape (S,)
        Number of forecasts of each student, mean confidence minus share right, and the ends of
        its 95 % interval.
    gap, half : float
        That of all forecasts, and half the width of its 95 % interval; NaN for a single student.
    """

    pooled: Forecasts
    student: NDArray[np.str_]
    n: NDArray[np.int64]
    each: FloatVector
    low: FloatVector
    high: FloatVector
    gap: float
    half: float

    def describe(self) -> str:
        """Say the pooled gap with its interval, and how many students it is about."""
        words = {"n": spell(self.pooled.n, "forecast"), "gap": f"{100 * self.gap:+.0f}"}
        words["students"] = spell(len(self.student), "student")
        ends = (self.gap - self.half, self.gap + self.half)
        low, high = (f"{100 * end:+.0f}" for end in ends)
        form = messages.CLASS_ONE if np.isnan(self.half) else messages.CLASS_GAP
        over, under = int((self.low > 0).sum()), int((self.high < 0).sum())
        return form.format(**words, low=low, high=high, over=over, under=under)

    def draw(self) -> "Figure":
        """Draw the pooled reliability diagram, and beside it the gap of each student."""
        from matplotlib.figure import Figure

        from calibkit import plot
        from calibkit.plot import look

        own, place = self.pooled, np.arange(len(self.student))
        figure = Figure(figsize=(10, max(4.6, 1.2 + 0.25 * len(place))), layout="constrained")
        left, right = figure.subplots(1, 2)
        show, across, up = {"means", "gaps", "counts"}, messages.OWN_SURE, messages.OWN_RIGHT
        plot.reliability_diagram(
            own.right, own.sure, bins=BINS, show=show, ax=left, title=messages.CLASS_POOLED
        )
        left.child_axes[-1].set_xlabel(across)
        left.set_ylabel(up)
        labels = (messages.CLASS_AXIS, "")
        with look.drawing(right, (5, 4), words=labels, title=messages.CLASS_STUDENTS, grid="x"):
            right.hlines(place, self.low, self.high, gid="interval", **look.stroke(look.BAND, 4))
            look.points(right, self.each, place, gid="gap")
            right.axvline(0, **look.stroke(look.INK, 1, "--"))
            names = zip(self.student.tolist(), self.n.tolist(), strict=True)
            right.set_yticks(place, [f"{name[:24]} ({n})" for name, n in names], parse_math=False)
            right.invert_yaxis()
        return figure

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("student", "n", "each", "low", "high")
        return {name: getattr(self, name) for name in names}


def class_calibration(by_student: Mapping[str, Forecasts]) -> ClassCalibration:
    """Pool the forecasts of a class, and say what each student's own tell.

    Forecasts of one student are alike, and so are those about one question, for a hard one misleads
    many. So the variance of the pooled gap is taken from the sums of ``sure - right - gap`` in each
    cluster: that by student, plus that by question, minus that of single rows (Cameron, Gelbach and
    Miller 2011), with Student's law for few clusters.

    Parameters
    ----------
    by_student : mapping
        The forecasts of each student, at least one each.

    Raises
    ------
    ValueError
        If there are none.
    """
    if not by_student or not all(own.n for own in by_student.values()):
        raise ValueError(messages.NO_FORECASTS)
    parts = ("name", "options", "sure", "right")
    all_of = [np.concatenate([getattr(own, p) for own in by_student.values()]) for p in parts]
    name, options, sure, right = all_of
    pooled = Forecasts(name=name, options=options, sure=sure, right=right)
    n = np.array([own.n for own in by_student.values()])
    said, hits = (
        np.array([part.sum() for part in np.split(all_rows, n.cumsum()[:-1])])
        for all_rows in (sure, right)
    )
    low, high = gap_interval(said, hits, n)
    residual = pooled.sure - pooled.right
    clusters = (np.repeat(np.arange(len(n)), n), np.unique(pooled.name, return_inverse=True)[1])
    return ClassCalibration(
        pooled=pooled,
        student=np.array(list(by_student), dtype=np.str_),
        n=n,
        each=(said - hits) / n,
        low=low,
        high=high,
        gap=float(residual.mean()),
        half=_half_width(residual, *clusters),
    )


def _half_width(residual: FloatVector, *clusters: NDArray[np.intp]) -> float:
    """Return half of the 95 % interval of a mean whose rows come in clusters of two kinds."""
    rest = residual - residual.mean()
    sums = [np.bincount(cluster, rest) for cluster in clusters]
    few = min(map(len, sums))
    if few < 2:
        return float("nan")
    student, question = (len(one) / (len(one) - 1) * (one**2).sum() for one in sums)
    both = student + question - (rest**2).sum()  # what is in both sums counts once
    error = np.sqrt(max(student, question, both)) / len(residual)
    return float(special.stdtrit(few - 1, 0.975) * error)
