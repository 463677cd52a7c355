"""Lenses: what part of a probability vector somebody looks at.

A lens merges the classes into groups and forgets which class of a group it was. It maps the
probability vector to one group per class, so the groups may depend on what was predicted. Every
notion of calibration here is "calibrated through some lens": strongly (`every_class`), in its
confidence (``top_classes(1)``), for the m most likely classes together (`top_classes`). Any
function is a lens: ``lambda stated: "aab"`` merges the first two of three classes.
"""

from collections.abc import Callable, Hashable, Sequence

from calibkit.inputs import as_count
from calibkit_course.finite._exact import Vector

Lens = Callable[[Vector], Sequence[Hashable]]


def every_class(confidence: Vector) -> Sequence[Hashable]:
    """Lens that merges nothing."""
    return range(len(confidence))


def top_classes(m: int) -> Lens:
    """Return the lens "is the label among the `m` most likely classes?"; the lowest wins a tie."""
    as_count(m, "m")

    def lens(confidence: Vector) -> Sequence[Hashable]:
        ranked = sorted(range(len(confidence)), key=lambda k: (-confidence[k], k))
        return [k in ranked[:m] for k in range(len(confidence))]

    return lens
