"""The two small architectures, as lists of weights and a function that uses them."""

from collections.abc import Sequence
from typing import Any

from calibkit.nets._torch import need_torch

ARCHITECTURES = ("mlp", "cnn")
_KERNEL, _STRIDE = 5, 2


def shapes(architecture: str, n_inputs: int, hidden: Sequence[int], n_classes: int) -> list[Any]:
    """Return the shape of the weights of every layer; the last layer is dense.

    A dense layer is (outputs, inputs), a convolution (channels out, channels in, kernel).
    """
    if architecture == "mlp":
        sizes = [n_inputs, *hidden, n_classes]
        return [(out, inputs) for inputs, out in zip(sizes[:-1], sizes[1:], strict=True)]
    channels, length = [1, *hidden], n_inputs
    for _ in hidden:
        length = (length + _STRIDE - 1) // _STRIDE
    layers: list[Any] = [
        (out, inputs, _KERNEL) for inputs, out in zip(channels[:-1], channels[1:], strict=True)
    ]
    return [*layers, (n_classes, channels[-1] * length)]


def draw_weights(layers: Sequence[Any], generator: Any) -> list[Any]:
    """Draw weights and biases uniformly within 1 / sqrt(number of inputs), layer by layer."""
    torch = need_torch()
    weights = []
    for shape in layers:
        n_inputs = 1
        for size in shape[1:]:
            n_inputs *= size
        bound = n_inputs**-0.5
        for part in (shape, shape[:1]):
            weight = torch.empty(part, dtype=torch.float32, device="cpu")
            weights.append(weight.uniform_(-bound, bound, generator=generator))
    return weights


def forward(weights: Sequence[Any], x: Any) -> Any:
    """Return the logits of a batch of shape (n, d): layers with the positive part in between."""
    torch = need_torch()
    functional = torch.nn.functional
    if weights[0].ndim == 3:
        x = x[:, None, :]
    for weight, bias in zip(weights[0:-2:2], weights[1:-2:2], strict=True):
        if weight.ndim == 3:
            x = functional.conv1d(x, weight, bias, stride=_STRIDE, padding=_KERNEL // 2)
        else:
            x = functional.linear(x, weight, bias)
        x = torch.relu(x)
    return functional.linear(x.flatten(1), weights[-2], weights[-1])
