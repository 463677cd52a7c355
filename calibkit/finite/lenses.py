"""Lenses: what part of a probability vector somebody looks at.

A lens merges the classes into groups and forgets which class of a group it was. It maps the
probability vector to one group per class, so the groups may depend on what was predicted. Every
notion of calibration here is "calibrated through some lens": strongly (`every_class`), in its
confidence (`top_label`), for one class (`one_class`), for the m most likely classes together
(`top_classes`), or for super-classes such as "animal or vehicle" (`merged_classes`).
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from calibkit.finite._exact import Vector
from calibkit.validation import as_count

Lens = Callable[[Vector], Sequence[Hashable]]


def every_class(confidence: Vector) -> Sequence[Hashable]:
    """Lens that merges nothing."""
    return range(len(confidence))


def top_label(confidence: Vector) -> Sequence[Hashable]:
    """Lens that keeps the predicted class (of equals the lowest) and merges the others."""
    return top_classes(1)(confidence)


def one_class(k: int) -> Lens:
    """Return the lens that keeps class `k` and merges the others."""
    as_count(k, "k", minimum=0)

    def lens(confidence: Vector) -> Sequence[Hashable]:
        if k >= len(confidence):
            raise ValueError(f"There is no class {k} among {len(confidence)} classes.")
        return [place == k for place in range(len(confidence))]

    return lens


def top_classes(m: int) -> Lens:
    """Return the lens "is the label among the `m` most likely classes?"; the lowest wins a tie."""
    as_count(m, "m")

    def lens(confidence: Vector) -> Sequence[Hashable]:
        ranked = sorted(range(len(confidence)), key=lambda k: (-confidence[k], k))
        return [k in ranked[:m] for k in range(len(confidence))]

    return lens


def merged_classes(groups: Sequence[Any]) -> Lens:
    """Return the lens of fixed super-classes, given as one group per class."""
    fixed = list(groups)
    return lambda confidence: fixed
