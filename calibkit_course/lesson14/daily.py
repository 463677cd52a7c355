"""Twenty models, judged every evening by a test for one look and by a monitor. Lesson 14."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from calibkit.inputs import FloatMatrix, as_count, as_finite
from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit.results import Described
from calibkit_audit import Monitor
from calibkit_course.explore import Explorer, Preset, Slider

MODELS, DAYS, ROWS = SHAPE = (20, 100, 20)
LIMITS = {"test": 1.96, "monitor": 20.0}  # at the 5 % level


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evenings(Described):
    """What a test (z) and a monitor (evidence) said of each model, a row, on each evening."""

    said: dict[str, FloatMatrix]

    @property
    def accused(self) -> dict[str, int]:
        """How many models each of the two has ever accused."""
        return {k: int((said > LIMITS[k]).any(axis=1).sum()) for k, said in self.said.items()}

    def describe(self) -> str:
        """Say how many models were accused."""
        days, (test, monitor) = self.said["test"].shape[1], self.accused.values()
        return f"Of {MODELS} models, by evening {days}: test accuses {test}, monitor {monitor}."


@lru_cache(maxsize=8)
def _all_days(shift: float) -> dict[str, FloatMatrix]:
    rng = np.random.default_rng(14)
    truth = rng.random((MODELS, DAYS * ROWS))
    label, prob = rng.random(truth.shape) < truth, special.expit(special.logit(truth) - shift)
    z = (label - prob).cumsum(axis=1) / np.sqrt((prob * (1 - prob)).cumsum(axis=1))
    evidence = np.empty((MODELS, DAYS))
    for model, rows in enumerate(zip(label.reshape(SHAPE), prob.reshape(SHAPE), strict=True)):
        monitor = Monitor()
        evidence[model] = [monitor.update(y, p).e_value for y, p in zip(*rows, strict=True)]
    return {"test": np.abs(z[:, ROWS - 1 :: ROWS]), "monitor": evidence}


def look_every_day_view(*, days: int = 1, shift: float = 0.0) -> Evenings:
    """Judge models whose logits are said too low by `shift`, on the first evenings."""
    seen, found = slice(as_count(days, "days")), _all_days(as_finite(shift, "shift"))
    return Evenings(said={name: said[:, seen] for name, said in found.items()})


def _draw(view: Evenings, figure: AnyFigure, compact: bool) -> None:
    ends = {"test": ("standard deviations", 0, 5), "monitor": ("evidence", 0.05, 1000)}
    for ax, (name, paths) in zip(figure.subplots(1, 2), view.said.items(), strict=True):
        word, low, high = ends[name]
        with look.drawing(ax, (0, 0)):
            over = paths > LIMITS[name]
            for path in paths:
                color = look.OVER if (path > LIMITS[name]).any() else look.GREY
                ax.plot(np.arange(len(path)) + 1, path, ".-", ms=2, lw=0.8, color=color)
            rows = np.flatnonzero(over.any(axis=1))
            first = over[rows].argmax(axis=1)
            ax.plot(first + 1, paths[rows, first], "X", ms=8, mec="white", color=look.OVER,
                    label="accused for the first time", gid="accused")  # fmt: skip
            ax.axhline(LIMITS[name], color=look.INK, ls="--", label="limit of the 5 % level")
            ax.set(xlim=(0, DAYS + 2), ylim=(low, high), ylabel=f"{name}: {word}",
                   xlabel=f"evening ({view.accused[name]} of {MODELS} accused)")  # fmt: skip
    ax.set_yscale("log")
    look.remember(figure.get_axes()[0], [view.describe()])


_DAYS = Slider(name="days", label="Evenings", values=(*range(1, 10), *range(10, 101, 5)), default=1,
               book=(1, 2, 3, 5, 10, 20, 30, 40, 60, 80, 100))  # fmt: skip
_SHIFT = Slider(name="shift", label="Logits too low by", values=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
                default=0.0, book=(0.0, 0.3), form="{:g}")  # fmt: skip
_PRESETS: tuple[Preset, ...] = (("One evening", {}), ("100 evenings", {"days": 100}),
            ("10, logits too low by 0.3", {"days": 10, "shift": 0.3}),
            ("100, too low by 0.3", {"days": 100, "shift": 0.3}))  # fmt: skip


def look_every_day(**defaults: Any) -> Explorer[Evenings]:
    """Return the explorer of twenty models that are judged every evening."""
    shown: dict[str, Any] = {"presets": _PRESETS, "size": (8.0, 3.6), "cell": (5.2, 2.7)}
    explorer = Explorer(name="look-every-day", title="Look every day", controls=(_DAYS, _SHIFT),
                        view=look_every_day_view, draw=_draw, play="days", **shown)  # fmt: skip
    return explorer.starting_at(**defaults)
