"""Figure 1 of Matsubara and others: abalones by gradient boosting, in both kinds of diagram.

``python -m book.experiments.tce.figure_1`` draws it for the page; it needs scikit-lego.
"""

import matplotlib.pyplot as plt

from book.experiments.tce import real
from calibkit import expected_calibration_error, plot, reliability_table
from calibkit.bins import PavaBC
from calibkit.hypothesis_tests import TestBasedError, test_based_calibration_error
from calibkit_course.lesson08 import draw_test_based
from tools.virtual_environment import ROOT

IMAGE = ROOT / "book" / "_static" / "tce_figure-1.png"


def errors() -> tuple[TestBasedError, float]:
    """Return the test-based error of the figure's model, and its ECE in ten bins."""
    label, prob = real.predictions("abalone", "GB")
    tested = test_based_calibration_error(label, prob, bins=PavaBC(), n_draws=0)
    return tested, float(expected_calibration_error(label, prob, bins=10))


def main() -> None:
    """Write the image."""
    label, prob = real.predictions("abalone", "GB")
    with plot.style():
        figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.8), layout="constrained")
        draw_test_based(errors()[0], axes[0], title="test-based")
        table = reliability_table(label, prob, bins=10)
        plot.reliability(table, ax=axes[1], show={"bars", "means", "gaps", "counts"}, legend=False)
        axes[1].set_title("ten bins of equal width")
    figure.savefig(IMAGE, dpi=100, metadata={"Software": None})
    print(plot.alt_text(figure))


if __name__ == "__main__":
    main()
