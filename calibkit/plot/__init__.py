"""Figures: one drawing function per kind of result.

Each function takes a result, draws on `ax` or on a fresh figure, and returns the Axes. None of
them computes a statistic, shows a window or changes ``rcParams``. Colours come from a palette
that is safe for colour-blind readers, and line style or hatch says the same a second time.

Import it explicitly, ``from calibkit import plot``: it needs matplotlib.
"""

from calibkit.plot._audit import audit_gaps, audit_groups, audit_repairs
from calibkit.plot._audit_board import audit_board
from calibkit.plot._bin_choice import bin_choice, bin_drift
from calibkit.plot._corp import corp
from calibkit.plot._cumulative import cumulative_differences
from calibkit.plot._decisions import game_scores, murphy, regret
from calibkit.plot._fit_on_test import compare_maps, fit_on_test
from calibkit.plot._forecaster import forecaster
from calibkit.plot._intervals import intervals, venn_abers
from calibkit.plot._measures import measures
from calibkit.plot._null import null_level
from calibkit.plot._patients import patients
from calibkit.plot._piece_choice import piece_choice
from calibkit.plot._piecewise import piecewise
from calibkit.plot._plane import accuracy_error
from calibkit.plot._race import learning_curves, race_maps
from calibkit.plot._rare import rare_events
from calibkit.plot._reliability import reliability
from calibkit.plot._replicates import replicates
from calibkit.plot._requirements import requirements
from calibkit.plot._simplex import simplex
from calibkit.plot._simplex_lens import stated_and_true
from calibkit.plot._style import alt_text, legend, style
from calibkit.plot._tested import test_based
from calibkit.plot._tested_bins import compare_bins
from calibkit.plot._thermostat import class_chances, cooling
from calibkit.plot._training import training
from calibkit.plot._verified import (
    binned_errors,
    calibrator_errors,
    estimator_deviations,
    estimator_errors,
)
from calibkit.plot._virtues import roc, score_parts

__all__ = [
    "accuracy_error",
    "alt_text",
    "audit_board",
    "audit_gaps",
    "audit_groups",
    "audit_repairs",
    "bin_choice",
    "bin_drift",
    "binned_errors",
    "calibrator_errors",
    "class_chances",
    "compare_bins",
    "compare_maps",
    "cooling",
    "corp",
    "cumulative_differences",
    "estimator_deviations",
    "estimator_errors",
    "fit_on_test",
    "forecaster",
    "game_scores",
    "intervals",
    "learning_curves",
    "legend",
    "measures",
    "murphy",
    "null_level",
    "patients",
    "piece_choice",
    "piecewise",
    "race_maps",
    "rare_events",
    "regret",
    "reliability",
    "replicates",
    "requirements",
    "roc",
    "score_parts",
    "simplex",
    "stated_and_true",
    "style",
    "test_based",
    "training",
    "venn_abers",
]
