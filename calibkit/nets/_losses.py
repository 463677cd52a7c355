"""Losses that change what a network's probabilities mean, as functions of logits and targets."""

from typing import Any

from calibkit.nets._torch import need_torch

# The usual strength of each loss, and the value that it must stay below.
LOSSES = {
    "cross-entropy": (0.0, float("inf")),
    "label-smoothing": (0.1, 1.0),
    "focal": (3.0, float("inf")),
    "mixup": (0.4, float("inf")),
}


def one_hot(label: Any, n_classes: int) -> Any:
    """Return targets of shape (n, K): 1 in the column of the label."""
    torch = need_torch()
    return torch.nn.functional.one_hot(label, n_classes).to(torch.float32)


def smooth(target: Any, share: float) -> Any:
    """Spread a share of each label over all classes, ``(1 - a) target + a / K``."""
    return (1 - share) * target + share / target.shape[1]


def mix(x: Any, target: Any, weight: float, order: Any) -> tuple[Any, Any]:
    """Return ``weight`` times each row plus the rest of another row; of targets the same."""
    return (
        weight * x + (1 - weight) * x[order],
        weight * target + (1 - weight) * target[order],
    )


def cross_entropy(logits: Any, target: Any) -> Any:
    """Return the mean of ``-sum_k target_k ln p_k``."""
    return -(target * logits.log_softmax(1)).sum(1).mean()


def focal(logits: Any, target: Any, gamma: float) -> Any:
    """Return the mean of ``-sum_k target_k (1 - p_k)^gamma ln p_k``."""
    log_p = logits.log_softmax(1)
    rest = -need_torch().expm1(log_p)
    return -(target * rest**gamma * log_p).sum(1).mean()
