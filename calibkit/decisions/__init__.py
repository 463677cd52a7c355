"""Decide with probabilities: costs, regret, and three games that show what calibration is worth.

A probability is good for something if decisions that trust it are good. This room computes what
they cost, what miscalibration loses, and how much accuracy would make up for it. Lesson 13.
"""

from calibkit.decisions._games import Deal, Game, GamePlay, GameTruth
from calibkit.decisions.abstaining import Abstention, abstention
from calibkit.decisions.capacity import Capacity
from calibkit.decisions.clinic import Clinic
from calibkit.decisions.costs import (
    PolicyCost,
    best_actions,
    decision_threshold,
    expected_costs,
    policy_cost,
)
from calibkit.decisions.murphy import MurphyCurve, murphy_curve
from calibkit.decisions.predictions import PolicyValues, play_predictions
from calibkit.decisions.regret import (
    RegretCurve,
    TrustRegret,
    regret_bound,
    regret_curve,
    trust_regret,
)
from calibkit.decisions.requirements import RequirementSweep, least_accuracy, requirement_sweep
from calibkit.decisions.ward import Ward

__all__ = [
    "Abstention",
    "Capacity",
    "Clinic",
    "Deal",
    "Game",
    "GamePlay",
    "GameTruth",
    "MurphyCurve",
    "PolicyCost",
    "PolicyValues",
    "RegretCurve",
    "RequirementSweep",
    "TrustRegret",
    "Ward",
    "abstention",
    "best_actions",
    "decision_threshold",
    "expected_costs",
    "least_accuracy",
    "murphy_curve",
    "play_predictions",
    "policy_cost",
    "regret_bound",
    "regret_curve",
    "requirement_sweep",
    "trust_regret",
]
