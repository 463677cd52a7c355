"""Classifiers made to order, whose true calibration is known.

A method can only be trusted on real predictions if it was right on predictions whose truth is
known. These generators give both. Lesson 03 builds them; all later lessons use them.
"""

from calibkit.fakes._sample import FakeSample, FakeTruth, InfeasibleTarget
from calibkit.fakes.class_knobs import ClassKnobs
from calibkit.fakes.dirichlet import DirichletFake
from calibkit.fakes.gaussian import GaussianDiscriminant, GaussianSample
from calibkit.fakes.knob import KnobClassifier
from calibkit.fakes.log_linear import LogLinear
from calibkit.fakes.logit import LogitDistortion
from calibkit.fakes.lookalike import vgg16_lookalike
from calibkit.fakes.mixtures import DirichletMixture, expected_maximum
from calibkit.fakes.sample_files import SAMPLE_FILES, SampleFile, mended_file, sample_file
from calibkit.fakes.shapes import SyntheticShape
from calibkit.fakes.simplex import (
    Distortion,
    Identity,
    MaxComponent,
    Power,
    RestrictedPower,
    Temperature,
)
from calibkit.fakes.verbal import VerbalModel

__all__ = [
    "ClassKnobs",
    "DirichletFake",
    "DirichletMixture",
    "Distortion",
    "FakeSample",
    "FakeTruth",
    "GaussianDiscriminant",
    "GaussianSample",
    "Identity",
    "InfeasibleTarget",
    "KnobClassifier",
    "LogLinear",
    "LogitDistortion",
    "MaxComponent",
    "Power",
    "RestrictedPower",
    "SAMPLE_FILES",
    "SampleFile",
    "SyntheticShape",
    "Temperature",
    "VerbalModel",
    "expected_maximum",
    "mended_file",
    "sample_file",
    "vgg16_lookalike",
]
