"""Small networks on images, to see over-confidence arise and to repair it.

The only folder that uses torch, on first use: ``pip install "calibkit[nets]"``. Computed with one
thread and with generators of its own, the same seed gives the same numbers on one machine.
Networks learn from the first part of a `Split`, are calibrated on the second and judged on the
third.
"""

from calibkit_course.lesson10.nets.history import TrainingHistory
from calibkit_course.lesson10.nets.images import Split, mnist_digits
from calibkit_course.lesson10.nets.order_preserving import OrderPreserving
from calibkit_course.lesson10.nets.training import (
    image_network,
    logits_of,
    train_network,
    training_step,
)
