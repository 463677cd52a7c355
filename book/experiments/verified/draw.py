"""The figures of `book/verified.md`, drawn from stored results."""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.experiments.verified import EstimatorComparison, figures
from calibkit import plot
from calibkit_course.lesson11 import draw_binned_errors
from tools.virtual_environment import ROOT

IMAGES = ROOT / "book" / "_static"
POPULATIONS = {"real": "VGG16 on CIFAR-10", "fake": "look-alike"}
Studies = dict[str, dict[str, Any]]

CAPTIONS = {
    "figure-1": "Plain and debiased error of a Platt-scaled network, by number of bins.",
    "figure-5": "Predicted label: squared error by number of bins, and against the Brier score.",
    "figure-6": "Mean over classes of the squared error, by number of bins.",
    "figure-8": "Scaling-binning with four scalers: squared error by number of bins.",
    "figure-9": "Predicted label: distance of two estimates from the truth, by number of rows.",
    "figure-10": "All classes: distance of two estimates from the truth, by number of rows.",
    "figure-11": "Distances from the truth in samples of 2000 rows; upright lines are medians.",
}

Panel = Callable[[Any, Axes], Axes]


def _panel(draw: Callable[..., Axes], **options: Any) -> Panel:
    def panel(study: Any, ax: Axes) -> Axes:
        return draw(study, ax, legend=False, **options)

    return panel


# Per figure: one panel per protocol, in the columns of the two populations.
FIGURES: dict[str, list[tuple[str, Panel]]] = {
    "figure-1": [("bins", _panel(draw_binned_errors))],
    "figure-5": [
        ("top", _panel(figures.calibrator_errors)),
        ("top", _panel(figures.calibrator_errors, against="brier")),
    ],
    "figure-6": [("classes", _panel(figures.calibrator_errors))],
    "figure-8": [("scalers", _panel(figures.calibrator_errors))],
    "figure-9": [
        ("top-15", _panel(figures.estimator_errors)),
        ("top-100", _panel(figures.estimator_errors)),
    ],
    "figure-10": [
        ("classes-15", _panel(figures.estimator_errors)),
        ("classes-100", _panel(figures.estimator_errors)),
    ],
    "figure-11": [
        ("top-15", _panel(figures.estimator_deviations)),
        ("top-100", _panel(figures.estimator_deviations)),
    ],
}


def draw(name: str, studies: Studies) -> tuple[Figure, str]:
    """Return a figure and what it shows, in words."""
    panels = FIGURES[name]
    with plot.style():
        figure, axes = plt.subplots(
            len(panels),
            2,
            figsize=(7.6, 3.0 * len(panels) + 0.5),
            squeeze=False,
            layout="constrained",
            sharex="row" if name in ("figure-9", "figure-10") else "none",
        )
        for r, (protocol, panel) in enumerate(panels):
            for ax, (which, title) in zip(axes[r], POPULATIONS.items(), strict=True):
                study = studies[which][protocol]
                bins = f", {study.n_bins} bins" if isinstance(study, EstimatorComparison) else ""
                panel(study, ax)
                ax.set_title(f"{title}{bins}")
                if name == "figure-5" and r == 0:  # the rows have different axes
                    ax.set_xlabel("number of bins", fontsize=ax.yaxis.label.get_fontsize())
        plot.legend(figure)
    return figure, plot.alt_text(figure)


def image(name: str) -> str:
    """Return the file name of a figure."""
    return f"verified_{name}.png"


def draw_all(studies: Studies) -> None:
    """Write all figures; the words that describe a figure are stored inside it."""
    for name in FIGURES:
        figure, words = draw(name, studies)
        path = IMAGES / image(name)
        figure.savefig(path, dpi=100, metadata={"Description": words, "Software": None})
        plt.close(figure)
        print(f"{path.name}: {path.stat().st_size // 1000} kB")


def directive(name: str, studies: Studies) -> str:
    """Return a figure as Markdown, with what it shows in words."""
    figure, words = draw(name, studies)
    plt.close(figure)
    number = name.removeprefix("figure-")
    return (
        f"```{{figure}} _static/{image(name)}\n:name: verified-{number}\n"
        f":alt: {words}\n:width: 100%\n\n{CAPTIONS[name]}\n```"
    )
