"""The hospital: who is treated, what it wins, and for which costs calibration pays. Lesson 13."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit import plot
from calibkit.bins import EqualWidth
from calibkit.decisions import RegretCurve, regret_curve
from calibkit.plot.look import AnyFigure
from calibkit.reliability import BinTable, reliability_table
from calibkit.results import Result, spell
from calibkit.types import FloatVector
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson13 import figures
from calibkit_course.lesson13.models import CLASSIFIERS, MODELS, belief_of
from calibkit_course.lesson13.rounds import GamePlay
from calibkit_course.lesson13.wards import Ward

PATIENTS, BENEFIT = 10, 2.0
N_BINS, N_CURVE, CURVE_SEED = 10, 4000, 13
IGNORE, TRUST, TRUTH = "ignore the model", "trust the machine", "know the truth"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Hospital(Result):
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

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "policy": np.array(list(self.plays)),
            "won per patient": np.array([play.value for play in self.plays.values()]),
            "treated": np.array([play.acted for play in self.plays.values()]),
        }


def hospital_view(
    *,
    model: str = "over-confident",
    harm: float = 6,
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


def _draw(hospital: Hospital, figure: AnyFigure, compact: bool) -> None:
    rows = "AB" if compact else "AB;AC"
    panels = figure.subplot_mosaic(rows, width_ratios=[1.0, 0.9 if compact else 1.15])
    plot.reliability(hospital.table, ax=panels["A"], show={"bars", "means", "gaps"})
    figures.game_scores(hospital.plays, panels["B"])
    if not compact:
        plot.regret({"regret": hospital.curve}, panels["C"], marks=[hospital.game.threshold])
        panels["C"].set(ylim=(0, 0.11), ylabel="regret")
        panels["B"].set_xlabel("won per patient")
        plot.legend(figure)


_CONTROLS = (
    Choice(name="model", label="Model", values=MODELS, default="over-confident", book=MODELS),
    Slider(
        name="harm",
        label="Harm of a wrong treatment",
        values=(0.5, 1, 2, 4, 6, 10, 18),
        default=6,
        book=(2, 6, 18),
        form="{:g}",
    ),
    Slider(
        name="beds",
        label="Beds for 10 patients",
        values=(1, 2, 4, 6, 8, 10),
        default=10,
        book=(4, 10),
        unit="beds",
    ),
    Slider(
        name="rounds",
        label="Rounds",
        values=(2, 5, 20, 100, 500),
        default=500,
        book=(5, 500),
        unit="rounds",
    ),
    Slider(name="week", label="Week", values=tuple(range(1, 13)), default=1),
)
_PRESETS: tuple[Preset, ...] = (
    ("Over-confident, harm 6", {}),
    ("Over-confident, harm 2", {"harm": 2}),
    ("Over-confident, harm 6, 4 beds", {"beds": 4}),
    ("Recalibrated, harm 6", {"model": "recalibrated"}),
)


def hospital(**defaults: Any) -> Explorer[Hospital]:
    """Return the hospital: what trusting a model wins, by its honesty, the costs and the beds."""
    return Explorer(
        name="hospital",
        title="Hospital",
        controls=_CONTROLS,
        view=hospital_view,
        draw=_draw,
        presets=_PRESETS,
        size=(8.4, 4.6),
        cell=(5.0, 2.7),
    ).starting_at(**defaults)
