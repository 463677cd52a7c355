"""One fake classifier in bins, with its error and its band; and chance at work. Lesson 04."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calibkit.bins import EqualMass, EqualWidth
from calibkit.chance import ConsistencyBand, consistency_band
from calibkit.errors import null_moments
from calibkit.fakes import FakeSample, LogitDistortion
from calibkit.inputs import FloatVector, as_choice, as_number
from calibkit.reliability import BinTable, reliability_table
from calibkit.results import Described, spell

MODELS = {
    "calibrated": LogitDistortion(),
    "over-confident": LogitDistortion(slope=0.5),
    "under-confident": LogitDistortion(slope=2.0),
}
RULES = {"width": EqualWidth, "mass": EqualMass}
ELEMENTS = {
    "gaps": frozenset({"bars", "means", "gaps", "counts"}),
    "filling": frozenset({"filling", "means", "counts"}),
    "band": frozenset({"means", "band", "counts"}),
    "truth": frozenset({"bars", "means", "truth", "counts"}),
}
SELLERS = {  # what each seller's model does, how many predictions, and the seed of the test
    "left": (LogitDistortion(), 300, 46),
    "right": (LogitDistortion(slope=0.7), 10_000, 4),
}
MOST_REDRAWS = 500


def sellers() -> list[FakeSample]:
    """Return the predictions of the left and of the right seller, with their outcomes."""
    return [model.sample(n, rng=seed) for model, n, seed in SELLERS.values()]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DiagramView(Described):
    """One state of the diagram lab: what it shows, and the elements to draw."""

    band: ConsistencyBand  # with the table
    model: LogitDistortion
    elements: frozenset[str]

    @property
    def table(self) -> BinTable:
        """The predictions in bins."""
        return self.band.table

    def describe(self) -> str:
        """Give the error beside its null level, and count the bins outside the band."""
        outside, (mean, sd) = int(np.sum(self.band.outside)), null_moments(self.table)
        used = int(self.table.occupied.sum())
        lie = "lies" if 1 in (outside, used) else "lie"
        return (
            f"The ECE is {mean_gap(self.table):.3f} from {spell(self.table.n, 'prediction')} in "
            f"{self.table.bins}; a calibrated model with these predictions would show "
            f"{mean:.3f} ± {sd:.3f}. {outside} of {spell(used, 'bin')} "
            f"{lie} outside the {100 * self.band.level:g} % band."
        )


def diagram_lab_view(
    *,
    n: int = 300,
    n_bins: int = 15,
    rule: str = "width",
    model: str = "calibrated",
    show: str = "gaps",
    seed: int = 4,
) -> DiagramView:
    """Draw predictions from a fake classifier and put them into bins."""
    elements = ELEMENTS[as_choice(show, "show", ELEMENTS)]
    fake = MODELS[as_choice(model, "model", MODELS)]
    bins = RULES[as_choice(rule, "rule", RULES)](n_bins)
    sample = fake.sample(n, seed)
    band = consistency_band(sample.y_true, sample.y_prob, bins=bins, rng=seed)
    return DiagramView(band=band, model=fake, elements=elements)


def mean_gap(table: BinTable) -> float:
    """Return the expected calibration error of a table."""
    return float(np.nansum(table.weight * np.abs(table.gap)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChanceAtWork(Described):
    """A seller's diagram, and what a perfect model shows with the same predictions, so far."""

    seller: str
    table: BinTable  # of the outcomes drawn last; before the first redraw, of the seller's own
    value: float  # the seller's ECE
    draws: FloatVector  # the ECE of each redraw

    def describe(self) -> str:
        """Give the seller's error, and how many redraws are as large."""
        said = (
            f"The {self.seller} seller's diagram has an ECE of {self.value:.3f}, from "
            f"{spell(self.table.n, 'prediction')}."
        )
        if not len(self.draws):
            return f"{said} How much of it is chance, redraws will tell."
        return (
            f"{said} Drawn anew as if the model were perfect, "
            f"{spell(len(self.draws), 'set of outcomes', 'sets of outcomes')} gave "
            f"{self.draws.mean():.3f} on average; {int(np.sum(self.draws >= self.value)):,} of "
            f"{len(self.draws):,} gave as much as the seller's."
        )


def chance_at_work_view(*, redraws: int = 0, seller: str = "left") -> ChanceAtWork:
    """Redraw the outcomes of a seller's predictions, each with the probability that was stated."""
    as_choice(seller, "seller", SELLERS)
    as_number(redraws, "redraws", f"a whole number up to {MOST_REDRAWS}", _is_number_of_redraws)
    tables, errors = _redrawn(seller)
    return ChanceAtWork(
        seller=seller, table=tables[redraws], value=errors[0], draws=errors[1 : redraws + 1]
    )


def _is_number_of_redraws(value: float) -> bool:
    return 0 <= value <= MOST_REDRAWS and value == int(value)


@lru_cache(maxsize=len(SELLERS))
def _redrawn(seller: str) -> tuple[list[BinTable], FloatVector]:
    """Return the seller's table and those of all redraws, with the error of each."""
    model, n, seed = SELLERS[seller]
    sample, rng = model.sample(n, rng=seed), np.random.default_rng(seed)
    prob = sample.y_prob
    outcomes = [sample.y_true, *(rng.random(n) < prob for _ in range(MOST_REDRAWS))]
    tables = [reliability_table(y, prob, bins=15) for y in outcomes]
    return tables, np.array([mean_gap(table) for table in tables])
