"""Explorers: figures with controls, for JupyterLab and for pages without a kernel.

An explorer is declared: its controls, a pure function ``*_view(**values)`` that returns a result,
and a function that draws it. Two shells show it. In JupyterLab ipywidgets reach any state. Where
the environment variable ``CALIBKIT_BOOK`` is 1, the states of a smaller grid are rendered
beforehand, and ``explorer.js`` (beside this file) switches them.

Import it explicitly, ``from calibkit import explore``: it needs matplotlib, and ipywidgets for
the live form.
"""

from calibkit.explore._controls import Check, Choice, Slider
from calibkit.explore._explorer import Explorer
from calibkit.explore._quiz import Quiz
from calibkit.explore.lesson01 import ForecastRecord, forecaster, forecaster_view
from calibkit.explore.lesson02 import Virtues, distort_me, distort_me_view
from calibkit.explore.lesson03 import FactoryView, fake_factory, fake_factory_view
from calibkit.explore.lesson04 import DiagramView, diagram_lab, diagram_lab_view
from calibkit.explore.lesson04_game import (
    PerfectGame,
    which_is_perfect,
    which_is_perfect_view,
)
from calibkit.explore.lesson05 import TwoFamilies, two_families, two_families_view
from calibkit.explore.lesson06 import BinTuner, bin_tuner, bin_tuner_view
from calibkit.explore.lesson06_replicates import Replicates
from calibkit.explore.lesson07 import KnotsView, knots, knots_view
from calibkit.explore.lesson08 import Hunt, outlier_hunter, outlier_hunter_view
from calibkit.explore.lesson09 import PrevalenceView, prevalence_dial, prevalence_dial_view
from calibkit.explore.lesson10 import Thermostat, thermostat, thermostat_view
from calibkit.explore.lesson11 import RaceView, calibrator_race, calibrator_race_view
from calibkit.explore.lesson12 import LensView, simplex_lens, simplex_lens_view
from calibkit.explore.lesson13 import Hospital, hospital, hospital_view
from calibkit.explore.lesson13_game import WardGame, WardRound, ward_round_view, ward_rounds
from calibkit.explore.lesson14 import (
    AuditBoard,
    BoardExplorer,
    audit_board,
    audit_board_view,
    board_of,
)

__all__ = [
    "AuditBoard",
    "BinTuner",
    "BoardExplorer",
    "Check",
    "Choice",
    "DiagramView",
    "Explorer",
    "FactoryView",
    "ForecastRecord",
    "Hospital",
    "Hunt",
    "KnotsView",
    "LensView",
    "PerfectGame",
    "PrevalenceView",
    "Quiz",
    "RaceView",
    "Replicates",
    "Slider",
    "Thermostat",
    "TwoFamilies",
    "Virtues",
    "WardGame",
    "WardRound",
    "audit_board",
    "audit_board_view",
    "bin_tuner",
    "bin_tuner_view",
    "calibrator_race",
    "calibrator_race_view",
    "board_of",
    "diagram_lab",
    "diagram_lab_view",
    "distort_me",
    "distort_me_view",
    "fake_factory",
    "fake_factory_view",
    "forecaster",
    "forecaster_view",
    "hospital",
    "hospital_view",
    "knots",
    "knots_view",
    "outlier_hunter",
    "outlier_hunter_view",
    "prevalence_dial",
    "prevalence_dial_view",
    "simplex_lens",
    "simplex_lens_view",
    "thermostat",
    "thermostat_view",
    "two_families",
    "two_families_view",
    "ward_round_view",
    "ward_rounds",
    "which_is_perfect",
    "which_is_perfect_view",
]
