"""Exact values of games on knob classifiers, by the beta distribution of the true confidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._result import Result, listed
from calibkit.fakes import ClassKnobs, KnobClassifier


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GameTruth(Result):
    """Exact values of a game per patient, without any simulation.

    Parameters
    ----------
    oracle : float
        Value of acting on the true probabilities.
    trust : float
        Value of acting on what the model says.
    certain : float
        Value of taking every answer of the model for certain.
    error : float
        Mean distance of said and true confidence: the calibration error within each class.
    bound : float
        The most that a model with this error can lose in this game.
    cutoff : float
        Trusting treats from this score on: the threshold, or stake times confidence.
    acted : float
        Share of patients whom trusting treats.
    game, model : str
        In words.
    """

    oracle: float
    trust: float
    certain: float
    error: float
    bound: float
    cutoff: float
    acted: float
    game: str
    model: str

    @property
    def regret(self) -> float:
        """What trusting loses against the oracle."""
        return self.oracle - self.trust

    def describe(self) -> str:
        """Say what trusting is worth, and what it loses."""
        return (
            f"Trusting is worth {self.trust:.4f} per patient, {self.regret:.4f} less than knowing "
            f"the truth (at most {self.bound:.4f} less). {self.game} {self.model}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("oracle", "trust", "regret", "bound", "certain", "error", "cutoff", "acted")
        return listed(self, names, ("quantity", "value"))


def knob_parts(classifier: Any) -> list[tuple[float, KnobClassifier]]:
    """Return a classifier as weighted knob classifiers, or say that it has no closed form."""
    if isinstance(classifier, KnobClassifier):
        return [(1.0, classifier)]
    if isinstance(classifier, ClassKnobs):
        return list(zip(classifier.weights.tolist(), classifier.knobs, strict=True))
    raise ValueError(
        f"exact values exist for KnobClassifier and ClassKnobs, not for "
        f"{type(classifier).__name__}; use simulate."
    )


def true_cut(knob: KnobClassifier, confidence: float) -> float:
    """Return the true confidence from which on the model reports at least `confidence`."""
    low = 1 / knob.n_classes
    moved = confidence - knob.budget_share * knob.anchor
    if knob.budget_share == 1:  # one value is reported for all
        return low if moved <= 0 else 1.0
    return float(np.clip(moved / (1 - knob.budget_share), low, 1))


def treated(knob: KnobClassifier, cut: float) -> tuple[float, float]:
    """Return the shares of patients, and of right ones among all, with ``Q >= cut``."""
    return 1 - float(knob.cdf(cut)), knob.accuracy - float(knob.partial_mean(cut))


def said_of(classifier: Any) -> str:
    """Return the classifier's sentence with a capital letter."""
    said = str(classifier.describe())
    return said[:1].upper() + said[1:]
