"""Decide with probabilities: what decisions that trust them cost, and what miscalibration loses."""

from calibkit.decisions.costs import PolicyCost, best_actions, decision_threshold, policy_cost
from calibkit.decisions.murphy import DecisionCurve, MurphyCurve, decision_curve, murphy_curve
from calibkit.decisions.regret import RegretCurve, Saving, largest_saving, regret_curve

__all__ = [
    "DecisionCurve",
    "MurphyCurve",
    "PolicyCost",
    "RegretCurve",
    "Saving",
    "best_actions",
    "decision_curve",
    "decision_threshold",
    "largest_saving",
    "murphy_curve",
    "policy_cost",
    "regret_curve",
]
