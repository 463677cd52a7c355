"""Decide with probabilities: what decisions that trust them cost, and what miscalibration loses.

Lesson 13, which also plays three games that show what calibration is worth.
"""

from calibkit.decisions.abstaining import Abstention, abstention
from calibkit.decisions.benefit import DecisionCurve, NetBenefit, decision_curve, net_benefit
from calibkit.decisions.costs import (
    PolicyCost,
    best_actions,
    decision_threshold,
    expected_costs,
    policy_cost,
)
from calibkit.decisions.murphy import MurphyCurve, murphy_curve
from calibkit.decisions.regret import RegretCurve, regret_bound, regret_curve

__all__ = [
    "Abstention",
    "DecisionCurve",
    "MurphyCurve",
    "NetBenefit",
    "PolicyCost",
    "RegretCurve",
    "abstention",
    "best_actions",
    "decision_curve",
    "decision_threshold",
    "expected_costs",
    "murphy_curve",
    "net_benefit",
    "policy_cost",
    "regret_bound",
    "regret_curve",
]
