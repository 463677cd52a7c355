"""Classifiers made to order, whose true calibration is known.

A method can only be trusted on real predictions if it was right on predictions whose truth is
known. These generators give both. Lesson 03 builds them; all later lessons use them.
"""

from calibkit.fakes._sample import FakeSample, FakeTruth, InfeasibleTarget
from calibkit.fakes.class_knobs import ClassKnobs
from calibkit.fakes.dirichlet import DirichletFake
from calibkit.fakes.knob import KnobClassifier
from calibkit.fakes.logit import LogitDistortion
from calibkit.fakes.lookalike import vgg16_lookalike
from calibkit.fakes.mixtures import DirichletMixture, expected_maximum
from calibkit.fakes.shapes import SyntheticShape
from calibkit.fakes.simplex import Distortion, Identity, LogLinear, Power, Temperature

__all__ = [
    "ClassKnobs",
    "DirichletFake",
    "DirichletMixture",
    "Distortion",
    "FakeSample",
    "FakeTruth",
    "Identity",
    "InfeasibleTarget",
    "KnobClassifier",
    "LogLinear",
    "LogitDistortion",
    "Power",
    "SyntheticShape",
    "Temperature",
    "expected_maximum",
    "vgg16_lookalike",
]
