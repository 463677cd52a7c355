"""Small networks, to see over-confidence arise and to repair it.

This is the only room that uses torch, on first use: ``pip install "calibkit[nets]"``. Computed
with one thread and its own generators, the same seed gives the same numbers.

==========================  ==================================================================
`NetClassifier`             a network with dense layers or convolutions, four losses, weight
                            decay, three rules for when to stop; ``logits(X)``
`TrainingHistory`           accuracy, log loss, calibration error and temperature per epoch
`DeepEnsemble`              the mean of several networks
`OrderPreserving`           a calibrator: a network changes distances, never the ranks
`mnist1d`, `mnist_digits`,  data sets that need no download, each a `Split` in three parts
`digits`
==========================  ==================================================================

Networks are trained on the first part of a `Split`, calibrated on the second and judged on the
third. Lesson 10.
"""

from calibkit.nets.classifier import DeepEnsemble, NetClassifier
from calibkit.nets.datasets import Split, digits, mnist1d, mnist_digits
from calibkit.nets.history import TrainingHistory
from calibkit.nets.order_preserving import OrderPreserving

__all__ = [
    "DeepEnsemble",
    "NetClassifier",
    "OrderPreserving",
    "Split",
    "TrainingHistory",
    "digits",
    "mnist1d",
    "mnist_digits",
]
