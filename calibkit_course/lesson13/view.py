"""One state of the hospital, and one round of the calibration game. Lesson 13."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from calibkit.bins import EqualWidth
from calibkit.decisions import DecisionCurve, RegretCurve, decision_curve, regret_curve
from calibkit.fakes import LogitDistortion
from calibkit.inputs import FloatVector, as_positive
from calibkit.reliability import BinTable, reliability_table
from calibkit.results import Described, spell
from calibkit_course.lesson13.models import CLASSIFIERS, MODELS, belief_of
from calibkit_course.lesson13.rounds import GamePlay
from calibkit_course.lesson13.wards import Ward

PATIENTS, BENEFIT = 10, 2.0
N_BINS, N_CURVE, CURVE_SEED = 10, 4000, 13
IGNORE, TRUST, TRUTH = "ignore the model", "trust the machine", "know the truth"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Hospital(Described):
    """One state of the hospital."""

    table: BinTable  # what the model said in the rounds that were played
    plays: dict[str, GamePlay]  # by policy, on the same patients
    curve: RegretCurve  # what trusting loses for all ratios of costs, without a limit of beds
    game: Ward
    model: str

    def describe(self) -> str:
        """Say what the three policies won, and what limits them."""
        beds = PATIENTS if self.game.beds is None else self.game.beds
        room = "a bed for everybody" if beds == PATIENTS else spell(beds, "bed")
        won = {name: play.value for name, play in self.plays.items()}
        rounds = len(self.plays[TRUST].payoffs)
        return (
            f"In {spell(rounds, 'round')} of {PATIENTS} patients with {room}, "
            f"treating is worth it from {self.game.threshold:.2g} on. Trusting the {self.model} "
            f"machine won {won[TRUST]:.2f} per patient, knowing the truth won "
            f"{won[TRUTH]:.2f}, and ignoring the model won {won[IGNORE]:.2f}."
        )


def hospital_view(
    *,
    model: str = "over-confident",
    harm: float = 0.5,
    beds: int = 10,
    rounds: int = 500,
    week: int = 1,
) -> Hospital:
    """Play rounds of ten patients, and compare trusting a model with knowing the truth."""
    belief = belief_of(model)
    game = Ward(benefit=BENEFIT, harm=harm, size=PATIENTS, beds=beds)
    deal = game.deal(CLASSIFIERS[model], rounds, week)
    rate = CLASSIFIERS[model].accuracy

    def ignore(seen: FloatVector) -> FloatVector:
        return np.full(seen.shape, rate)

    policies: dict[str, Any] = {IGNORE: ignore, TRUST: belief, TRUTH: "oracle"}
    return Hospital(
        table=reliability_table(
            deal.outcome.ravel(), belief(deal.seen.ravel()), bins=EqualWidth(N_BINS)
        ),
        plays={name: game.play(policy, deal) for name, policy in policies.items()},
        curve=_curve(model),
        game=game,
        model=model,
    )


@lru_cache(maxsize=len(MODELS))
def _curve(model: str) -> RegretCurve:
    """Return the regret for all ratios of costs, on patients of its own."""
    deal = Ward().deal(CLASSIFIERS[model], N_CURVE, CURVE_SEED)
    assert deal.true is not None  # fake classifiers know the truth
    return regret_curve(belief_of(model)(deal.seen.ravel()), deal.true.ravel())


POPULATION, N_PATIENTS = LogitDistortion(scores=(0.6, 1.4)), 20_000  # as in the lesson
THRESHOLDS = np.arange(2, 99, 4) / 100


def boldness_view(*, times: float = 2) -> DecisionCurve:
    """Multiply the logits of true probabilities, and return the net benefit; times 1, theirs."""
    sample = POPULATION.sample(N_PATIENTS, CURVE_SEED)
    said = expit(as_positive(times, "times") * logit(sample.true_prob))
    return decision_curve(sample.y_true, said, thresholds=THRESHOLDS)


# --- the calibration game ------------------------------------------------------------------------

NAMES = tuple("ABCDEFGH")
WARD = Ward(benefit=2, harm=6)
# Patients of two rounds are on record before the first; a deal holds so many rounds after them.
WARM_UP, ROUNDS = 2, 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WardRound(Described):
    """One round of the calibration game: eight patients."""

    names: ClassVar = NAMES
    threshold: ClassVar = WARD.threshold  # probability from which on treating is worth it
    said: FloatVector  # confidence of the model in each diagnosis
    true: FloatVector  # its true probability
    gain: FloatVector  # what treating wins: 2 if the diagnosis was right, else -6
    trust: FloatVector  # what the two other players won
    oracle: FloatVector
    before: BinTable  # reliability of what the model said, without and with this round
    after: BinTable
    number: int  # of the round

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each diagnosis was right."""
        return self.gain > 0

    @property
    def perfect(self) -> tuple[bool, ...]:
        """Whom a player who knows the true probabilities treats."""
        return tuple((self.true >= self.threshold).tolist())

    def comment(self, panel: int) -> str:
        """Say what became of a patient, and what the true probability was."""
        what = "the diagnosis was right" if self.right[panel] else "the diagnosis was wrong"
        return (
            f"by the true {100 * self.true[panel]:.0f} % (said {100 * self.said[panel]:.0f} %); "
            f"{what}, treating wins {self.gain[panel]:+g}."
        )

    def alt(self, revealed: bool) -> str:
        """Say the confidences, and the record of past patients as numbers."""
        table = self.after if revealed else self.before
        used = np.flatnonzero(table.occupied)
        record = "; ".join(
            f"said about {100 * table.mean_prob[b]:.0f} %, right in {100 * table.frequency[b]:.0f} "
            f"% of {int(table.count[b])}"
            for b in used
        )
        outcome = [
            f" ({'right' if right else 'wrong'})" if revealed else "" for right in self.right
        ]
        shown = ", ".join(
            f"{name} {100 * said:.0f} %{end}"
            for name, said, end in zip(NAMES, self.said, outcome, strict=True)
        )
        return f"Confidences: {shown}. Past patients: {record}."

    def describe(self) -> str:
        """Say what the two other players won in this round."""
        return (
            f"Round {self.number}, {spell(len(NAMES), 'patient')}: trusting the machine won "
            f"{self.trust.sum():g}, knowing the truth {self.oracle.sum():g}."
        )


def ward_round_view(*, draw: int = 1, model: str = "over-confident", week: int = 1) -> WardRound:
    """Deal one round of eight patients, with the record of all patients before them."""
    if draw < 1:
        raise ValueError(f"draw={draw} must be at least 1: rounds are counted from 1 on.")
    block, place = divmod(draw - 1, ROUNDS)
    patients = _dealt(model, week, block)
    first = (WARM_UP + place) * len(NAMES)
    now = slice(first, first + len(NAMES))
    return WardRound(
        **{name: column[now] for name, column in patients.items()},
        before=_record(patients, first),
        after=_record(patients, first + len(NAMES)),
        number=draw,
    )


def _record(patients: dict[str, FloatVector], stop: int) -> BinTable:
    right = (patients["gain"][:stop] > 0).astype(np.int64)
    return reliability_table(right, patients["said"][:stop], bins=EqualWidth(N_BINS))


@lru_cache(maxsize=8)
def _dealt(model: str, week: int, block: int) -> dict[str, FloatVector]:
    """Return all patients of one deal: what the model said, the truth, and what treating won."""
    belief = belief_of(model)
    rng = np.random.default_rng([13, week, block])
    deal = WARD.deal(CLASSIFIERS[model], (WARM_UP + ROUNDS) * len(NAMES), rng)
    assert deal.true is not None  # fake classifiers know the truth
    said = belief(deal.seen)
    everybody = np.ones(deal.seen.shape, dtype=np.int64)
    return {
        "said": said.ravel(),
        "true": deal.true.ravel(),
        "gain": WARD.payoff(everybody, deal),
        "trust": WARD.payoff(WARD.decide(said, deal), deal),
        "oracle": WARD.payoff(WARD.decide(deal.true, deal), deal),
    }
