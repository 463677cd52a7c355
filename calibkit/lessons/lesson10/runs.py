"""The network behind the thermostat, trained once per session. Lesson 10."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

EPOCHS = 60
_ROWS = 1500
_SEED = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Followed:
    """Logits of held-out rows after each epoch of a training."""

    logits: NDArray[np.float32]  # after epoch 1 to E: (E, n, K)
    labels: NDArray[np.int64]  # 0 .. K-1


@lru_cache(maxsize=1)
def followed_network() -> Followed:
    """Train a small network on 1,500 signals and follow it on 2,000 others.

    It takes some seconds, and is kept in memory.
    """
    from calibkit import nets

    data = nets.mnist1d()
    net = nets.NetClassifier(epochs=EPOCHS, keep_logits=True, rng=_SEED)
    net.fit(
        data.train_x[:_ROWS],
        data.train_y[:_ROWS],
        validation=(data.validation_x, data.validation_y),
    )
    history = net.history_
    assert history.logits is not None and history.labels is not None  # asked for above
    return Followed(logits=history.logits, labels=history.labels)
