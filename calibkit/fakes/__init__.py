"""Classifiers made to order, whose true calibration is known.

A method can only be trusted on real predictions if it was right on predictions whose truth is
known. These generators give both.
"""

from calibkit.fakes.binary import LogitDistortion, SyntheticShape
from calibkit.fakes.class_knobs import ClassKnobs
from calibkit.fakes.dirichlet import DirichletFake, Power
from calibkit.fakes.knob import KnobClassifier
from calibkit.fakes.sample import FakeSample, FakeTruth, InfeasibleTarget

__all__ = [
    "ClassKnobs",
    "DirichletFake",
    "FakeSample",
    "FakeTruth",
    "InfeasibleTarget",
    "KnobClassifier",
    "LogitDistortion",
    "Power",
    "SyntheticShape",
]
