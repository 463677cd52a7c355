"""Small networks, to see over-confidence arise and to repair it.

This is the only room that uses torch, and it imports torch on first use: ``pip install
"calibkit[nets]"``. Everything is computed with one thread and with generators of its own, so
the same seed gives the same numbers, and nothing of the caller's is changed.

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

from calibkit.nets.classifier import NetClassifier
from calibkit.nets.datasets import Split, digits, mnist1d, mnist_digits
from calibkit.nets.ensemble import DeepEnsemble
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
