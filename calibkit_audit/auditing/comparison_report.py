"""What a comparison of models gives back: its table, its words, its codes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.decisions import MurphyCurve
from calibkit.inputs import FloatVector
from calibkit.reliability import BinTable
from calibkit.results import Result, spell
from calibkit_audit.auditing.differences import FEWEST, SCORES, Change, Changes
from calibkit_audit.auditing.html import draw_comparison, page
from calibkit_audit.auditing.pages import Listing, Report, as_columns, four_digits

# Each measure with its unit in words.
MEASURES = {
    "cost": "in cost",
    "log loss": "nats of log loss",
    "Brier score": "in Brier score",
    "miscalibration": "in miscalibration",
    "discrimination": "in discrimination",
}
_HEADS = ("model", "measure", *Change._fields)
# Every finding on which a pipeline can act; "not separated": no measure tells two models apart.
COMPARISON_CODES = (
    *(f"{word} {measure}" for word in ("better", "worse") for measure in MEASURES),
    "not separated",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Comparison(Report):
    """Differences between each model and the first one, on the same rows.

    Parameters
    ----------
    title, headline, light : str
        What was compared, the findings in plain words, and their light.
    models : tuple of str
        Names; the first one is what the others are compared with.
    n, n_classes, view, level : int, int, str, float
        Rows, classes, the events of the calibration parts, content of each interval.
    changes : mapping from (str, str) to Change
        By other model and measure: that of the `first` model, its own `value`, the `difference`
        with its interval from `low` to `high` (NaN where an infinite log loss leaves none), the
        `verdict` ("better", "worse", "equal" or "not separated"), and whether it holds where all
        measures and models are judged together (`joint`), as `codes` do.
    calibration, weak : Listing
        Each model's calibration error beside its null level; O/E, calibration in the large and
        slope.
    bins, curves, costs
        Reliability tables and Murphy curves by model (curves only for one event), table of costs.
    notes, versions
    """

    models: tuple[str, ...]
    level: float
    changes: Changes
    calibration: Listing
    weak: Listing
    bins: Mapping[str, BinTable]
    curves: Mapping[str, MurphyCurve]
    costs: FloatVector | None

    @property
    def codes(self) -> frozenset[str]:
        """Findings such as "worse log loss" that hold jointly, for conditions in a pipeline."""
        joint = [(one.verdict, measure) for (_, measure), one in self.changes.items() if one.joint]
        found = {f"{v} {m}" for v, m in joint if v in ("better", "worse")}
        return frozenset(found or {"not separated"})

    @property
    def tables(self) -> dict[str, Result]:
        """The tables of the comparison, by name."""
        tables = {"Differences": self, "Calibration": self.calibration}
        return tables | {"Weak calibration": self.weak}

    def describe(self) -> str:
        """Say in plain words which model is better, and what cannot be separated."""
        return self.headline

    def text(self) -> str:
        """Return headline and differences for a terminal."""
        lines = [f"{self.title}: {spell(self.n, 'prediction')}, {self.n_classes} classes", ""]
        lines += [self.headline, *([f"! {self.advice}"] if self.advice else []), ""]
        for (name, measure), one in self.changes.items():
            first, value, change, low, high, verdict, joint = one
            numbers = f"{four_digits(first)} -> {four_digits(value)}"
            if np.isfinite(change):
                ends = "no interval" if np.isnan(low) else f"{low:.4f} to {high:.4f}"
                numbers += f", difference {change:+.4f} ({ends})"
            else:
                numbers += " (infinite: it gave probability 0 to what happened)"
            alone = "" if joint else " (taken alone)"
            lines.append(f"{name}, {measure}: {numbers}, {verdict}{alone}")
        lines += ["", self.calibration.describe(), f"Weak calibration: {self.weak.describe()}"]
        return "\n".join([*lines, "", *self.origin] if self.command else lines)

    def to_dict(self) -> dict[str, Any]:
        """Return findings and numbers for JSON; NaN and infinity become None."""
        names = ("title", "headline", "n", "n_classes", "view", "level")
        found = {"models": list(self.models), "codes": sorted(self.codes)}
        return {name: getattr(self, name) for name in names} | found | Report.to_dict(self)

    def to_html(self) -> str:
        """Return one self-contained page, figures included."""
        return page(self)

    def figures(self) -> dict[str, Any]:
        """Return fresh figures by name; their alt texts come from `calibkit.plot.alt_text`."""
        return draw_comparison(self.bins, self.curves, self.costs)

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return as_columns(_HEADS, [(*key, *change) for key, change in self.changes.items()])


def comparison_fields(
    names: tuple[str, ...], found: Changes, level: float, p_values: FloatVector
) -> dict[str, Any]:
    """Return what a `Comparison` holds of the differences: with headline and light.

    A model whose own p-value says so is miscalibrated beyond chance, as often by mistake in any of
    them as the level says.
    """
    limit = (1 - level) / len(names)
    off = np.array(names)[np.asarray(p_values) <= limit].tolist()
    sentences = [_sentence(names[0], other, found, level) for other in names[1:]]
    told = any(one.verdict in ("better", "worse") for one in found.values())
    return {
        "models": names,
        "changes": found,
        "level": level,
        "headline": " ".join([*sentences, *_warning(names, off)]),
        "light": "caution" if told else "unknown",
    }


def _warning(names: tuple[str, ...], off: list[str]) -> list[str]:
    """Say which models are not to be believed, however they compare."""
    if len(off) == len(names):
        who = "Neither model" if len(names) == 2 else "None of the models"
        return [f"{who} may be taken at its word: each is off by more than chance."]
    return [f"{name} may not be taken at its word: it is off by more than chance." for name in off]


def _sentence(first: str, other: str, found: Changes, level: float) -> str:
    """Say what a manager wants to know of one model beside the first."""
    own = {measure: change for (model, measure), change in found.items() if model == other}
    telling = (
        key
        for key in SCORES
        if key in own and own[key].verdict != "equal" and np.isfinite(own[key].difference)
    )
    main = next(telling, "Brier score")
    row, unit, range_ = own[main], MEASURES[main], f"{100 * level:g} % interval"
    if row.verdict == "equal":
        text = f"{other} and {first} are equal {unit}."
    elif np.isnan(row.low):
        text = f"The data are too few to compare {other} with {first} {unit}: at least "
        text += f"{FEWEST} events, other rows, and rows that differ are needed"
        text += ", of a cost some better and some worse." if main == "cost" else "."
    elif row.verdict == "not separated":
        text = f"The data cannot separate {other} from {first} {unit}: the difference per "
        text += f"prediction is {row.difference:+.4f} ({range_} {row.low:+.4f} to {row.high:+.4f})."
    else:
        low, high = sorted((abs(row.low), abs(row.high)))
        text = f"{other} is {row.verdict} than {first}: by {abs(row.difference):.4f} {unit} per "
        text += f"prediction ({range_} {low:.4f} to {high:.4f})."
    if main != "cost" and "cost" in own:
        text += " Their decisions cost the same."
    losses = zip((first, other), own["log loss"][:2], strict=True)
    if infinite := " and ".join(name for name, loss in losses if np.isinf(loss)):
        text += f" {infinite} called impossible what happened: infinite log loss."
    calibrated, told = own["miscalibration"].verdict, own["discrimination"].verdict
    if calibrated == "not separated":
        text += " The data cannot separate their calibration."
    elif calibrated != "equal":
        text += f" {other} is {calibrated} calibrated."
    return text + (f" {other} tells cases apart {told}." if told in ("better", "worse") else "")
