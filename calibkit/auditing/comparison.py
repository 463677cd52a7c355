"""What a comparison of models gives back: differences with intervals, words, pages, figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.auditing import _paired as paired
from calibkit.auditing._html import comparison_page, draw_comparison
from calibkit.auditing.pages import as_markdown, comparison_dict, save
from calibkit.decisions import MurphyCurve
from calibkit.reliability import BinTable
from calibkit.results import Result, spell
from calibkit.types import FloatVector

# Every finding on which a pipeline can act; "not separated": no measure tells two models apart.
COMPARISON_CODES = (
    *(f"{word} {measure}" for word in ("better", "worse") for measure in paired.MEASURES),
    "not separated",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Listing(Result):
    """A table with a sentence: `sentence`, and `columns`, a mapping from names to arrays."""

    sentence: str
    columns: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, sentence: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> "Listing":
        """Return a table of rows."""
        columns = map(np.array, zip(*rows, strict=True))
        return cls(sentence=sentence, columns=dict(zip(heads, columns, strict=True)))

    def describe(self) -> str:
        """Return the sentence."""
        return self.sentence

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return self.columns


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Comparison(Result):
    """Differences between each model and the first one, on the same rows.

    Parameters
    ----------
    title, headline : str
        What was compared, and the findings in plain words.
    models : tuple of str
        Names; the first one is what the others are compared with.
    n, n_classes, view, level : int, int, str, float
        Rows, classes, the events of the calibration parts, content of each interval.
    model, measure, verdict : ndarray of str, shape (R,)
        A row per other model and measure; "better", "worse", "equal" or "not separated".
    first, value, difference, low, high : ndarray of shape (R,)
        The measure of the first model and of this one, the difference with its interval: NaN where
        an infinite log loss leaves none.
    calibration, groups : Listing, and Listing or None
        Each model's calibration error beside its null level; differences in each group.
    bins, curves, costs
        Reliability tables and Murphy curves by model (curves only for one event), table of costs.
    notes, versions
    """

    title: str
    headline: str
    models: tuple[str, ...]
    n: int
    n_classes: int
    view: str
    level: float
    model: NDArray[np.str_]
    measure: NDArray[np.str_]
    first: FloatVector
    value: FloatVector
    difference: FloatVector
    low: FloatVector
    high: FloatVector
    verdict: NDArray[np.str_]
    calibration: Listing
    groups: Listing | None
    bins: Mapping[str, BinTable]
    curves: Mapping[str, MurphyCurve]
    costs: FloatVector | None
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def codes(self) -> frozenset[str]:
        """Findings such as "worse log loss", for conditions in a pipeline."""
        pairs = zip(self.verdict.tolist(), self.measure.tolist(), strict=True)
        found = {f"{v} {m}" for v, m in pairs if v in ("better", "worse")}
        return frozenset(found or {"not separated"})

    @property
    def tables(self) -> dict[str, Result]:
        """The tables of the comparison, by name; groups only where they were given."""
        tables: dict[str, Result] = {"Differences": self, "Calibration": self.calibration}
        return tables if self.groups is None else tables | {"Groups": self.groups}

    def describe(self) -> str:
        """Say in plain words which model is better, and what cannot be separated."""
        return self.headline

    def text(self) -> str:
        """Return headline and differences for a terminal."""
        lines = [f"{self.title}: {spell(self.n, 'prediction')}, {self.n_classes} classes", ""]
        lines += [self.headline, ""]
        for row in zip(*self._columns().values(), strict=True):
            name, measure, first, value, change, low, high, verdict = row
            numbers = f"{first:.4f} -> {value:.4f}, difference {change:+.4f} "
            lines.append(f"{name}, {measure}: {numbers}({low:.4f} to {high:.4f}), {verdict}")
        lines += ["", self.calibration.describe()]
        return "\n".join(lines + ([] if self.groups is None else [self.groups.describe()]))

    figures, to_html, save = draw_comparison, comparison_page, save
    to_dict, to_markdown = comparison_dict, as_markdown

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("model", "measure", "first", "value", "difference", "low", "high", "verdict")
        return {name: getattr(self, name) for name in names}
