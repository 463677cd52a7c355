"""Small networks on images, to see over-confidence arise and to repair it. Lesson 10.

The only room that uses torch, on first use: ``pip install "calibkit[nets]"``. Computed with one
thread and with generators of its own, the same seed gives the same numbers on one machine.
Networks learn from the first part of a `Split`, are calibrated on the second and judged on the
third.
"""

from calibkit.nets.history import TrainingHistory
from calibkit.nets.images import Split, mnist_digits
from calibkit.nets.order_preserving import OrderPreserving
from calibkit.nets.training import image_network, logits_of, train_network, training_step

__all__ = [
    "OrderPreserving",
    "Split",
    "TrainingHistory",
    "image_network",
    "logits_of",
    "mnist_digits",
    "train_network",
    "training_step",
]
