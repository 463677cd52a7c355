"""Small networks, to see over-confidence arise and to repair it. Lesson 10.

The only room that uses torch, on first use: ``pip install "calibkit[nets]"``. Computed with one
thread and its own generators, the same seed gives the same numbers. Networks are trained on the
first part of a `Split`, calibrated on the second and judged on the third.
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
