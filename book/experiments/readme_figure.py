"""Draw the figure of README: `python -m book.experiments.readme_figure`, run inside `.venv`.

Two diagrams that look alike bad. One model is wrong, the other is perfect and only short of data.
The words that describe the figure are stored inside the PNG; a test compares them with a new
drawing.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from calibkit import (
    consistency_band,
    expected_calibration_error,
    null_level,
    plot,
    reliability_table,
)
from calibkit.fakes import LogitDistortion
from tools.virtual_environment import ROOT

PATH = ROOT / "book" / "_static" / "readme_figure.png"
SEED = 5
BINS = 10
CASES = {
    "Over-confident, 3000 forecasts": (LogitDistortion(slope=0.55), 3000),
    "Perfect, only 150 forecasts": (LogitDistortion(slope=1.0), 150),
}


def draw() -> tuple[Figure, str]:
    """Return the figure and what it shows, in words."""
    words = []
    with plot.style():
        figure, axes = plt.subplots(1, 2, figsize=(7.8, 5.0), layout="constrained")
        for ax, (title, (fake, n)) in zip(axes, CASES.items(), strict=True):
            sample = fake.sample(n, SEED)
            data = (sample.y_true, sample.y_prob)
            band = consistency_band(*data, bins=BINS, simultaneous=True, rng=SEED)
            error = expected_calibration_error(*data, bins=BINS).value
            null = null_level(expected_calibration_error, *data, bins=BINS, rng=SEED).mean
            plot.reliability(
                reliability_table(*data, bins=BINS),
                ax=ax,
                band=band,
                truth=fake.true_map,
                title=f"{title}\nerror {error:.3f}, by chance alone {null:.3f}",
            )
            words.append(
                f"{title}: expected calibration error {error:.3f}, by chance alone {null:.3f}; "
                f"{int(band.outside.sum())} of {BINS} bins lie outside the band."
            )
        plot.legend(figure)
    return figure, " ".join(words)


def main(path: Path = PATH) -> None:
    """Draw the figure and write it with its description."""
    figure, words = draw()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Description": words, "Software": None})
    plt.close(figure)
    print(f"{path.relative_to(ROOT)}, {path.stat().st_size // 1000} kB\n{words}")


if __name__ == "__main__":
    main()
