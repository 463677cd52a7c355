"""The first exercise of the course, and the pictures that ask it.

Two diagrams are equally bad. One model is wrong, the other is perfect and only short of data. The
landing page shows both and draws the perfect one again and again: its forecasts stay, outcomes are
drawn from them, as `calibkit.null_level` does. `python -m book.experiments.front_door`, run inside
`.venv`, writes README's figure, in which the words that describe it are stored.
"""

import io
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from calibkit import consistency_band, expected_calibration_error, plot, reliability_table
from calibkit.fakes import FakeSample, LogitDistortion
from tools.virtual_environment import ROOT

PATH = ROOT / "book" / "_static" / "readme_figure.png"
QUESTION = "Which of these two models is miscalibrated?"
SEED, BINS, DRAWS = 5, 10, 200
COLOURS, FLAT, NEAR = 20, 8, (6, 40)  # of a stored picture; of its areas; how near both kinds are
OTHERS = 20  # seeds that are tried beside this one


def models(seed: int) -> tuple[FakeSample, FakeSample]:
    """Return the forecasts of a perfect and of an over-confident model."""
    perfect, wrong = LogitDistortion(slope=1.0), LogitDistortion(slope=0.55)
    return perfect.sample(150, seed), wrong.sample(3000, seed)


PERFECT, WRONG = models(SEED)
CASES = {"Model A": PERFECT, "Model B": WRONG}
SIZE = (8.0, 4.2)  # inches; cards of links are 1200 pixels wide and 630 high


def error(y_true: Any, y_prob: Any) -> float:
    """Return the calibration error of both diagrams."""
    return expected_calibration_error(y_true, y_prob, bins=BINS).value


def diagram(sample: FakeSample) -> dict[str, Any]:
    """Return one diagram: across, up, and what chance allows, in thousandths; and its error."""
    data = (sample.y_true, sample.y_prob)
    band = consistency_band(*data, bins=BINS, simultaneous=True, rng=SEED)
    points = {"across": band.table.mean_prob, "up": band.table.frequency}
    ends = {"lower": band.lower, "upper": band.upper}
    found = {name: thousandths(values) for name, values in (points | ends).items()}
    return found | {"error": round(error(*data), 6), "n": sample.y_true.size}


def thousandths(values: Any) -> list[int]:
    """Return shares as whole numbers, to be short on a page."""
    return [int(value) for value in np.rint(1000 * values)]


def exercise() -> dict[str, Any]:
    """Return both diagrams, and as many draws of the perfect model as the page can show."""
    rng, draws = np.random.default_rng(SEED), []
    for _ in range(DRAWS):
        y_true = rng.random(PERFECT.y_prob.size) < PERFECT.y_prob
        table = reliability_table(y_true, PERFECT.y_prob, bins=BINS)
        draws.append([round(error(y_true, PERFECT.y_prob), 5), *thousandths(table.frequency)])
    return {
        "perfect": diagram(PERFECT),
        "wrong": diagram(WRONG),
        "draws": draws,
        "elsewhere": elsewhere(),
    }


def elsewhere() -> list[int]:
    """Return in how many of a hundred draws other perfect models look worse: least and most."""
    shares = []
    for seed in range(OTHERS):
        rng, (perfect, wrong) = np.random.default_rng(seed), models(seed)
        limit, y_prob = error(wrong.y_true, wrong.y_prob), perfect.y_prob
        draws = [error(rng.random(y_prob.size) < y_prob, y_prob) for _ in range(DRAWS)]
        shares.append(round(100 * float(np.mean(np.array(draws) > limit))))
    return [min(shares), max(shares)]


def draw() -> tuple[Figure, str]:
    """Return the figure that asks, and the answer in words."""
    words = []
    with plot.style():
        figure, axes = plt.subplots(1, 2, figsize=SIZE, layout="compressed")
        layout: Any = figure.get_layout_engine()
        layout.set(rect=(0.01, 0.05, 0.98, 0.91))  # room for words below
        figure.suptitle(QUESTION, fontsize=16)
        for ax, (name, sample) in zip(axes, CASES.items(), strict=True):
            data = (sample.y_true, sample.y_prob)
            band = consistency_band(*data, bins=BINS, simultaneous=True, rng=SEED)
            title = f"{name}: {sample.y_true.size:,} forecasts"
            plot.reliability(band.table, ax=ax, legend=False, show=["means"], title=title)
            ax.plot(band.table.mean_prob, band.table.frequency, color=plot.look.INK)
            words.append(
                f"{name}: expected calibration error {error(*data):.3f}; "
                f"{int(band.outside.sum())} of {BINS} bins lie outside the band."
            )
    return figure, " ".join(words)


def png(image: Image.Image, words: str = "") -> bytes:
    """Return an image as a small file, in which words may be stored.

    Of its colours stay the most frequent, each some way from those before it: the usual methods
    average colours by area, and make a thin vermilion line grey.
    """
    packed = np.asarray(image.convert("RGB")) @ np.array([1 << 16, 1 << 8, 1])
    codes, place, count = np.unique(packed, return_inverse=True, return_counts=True)
    colours = np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1)
    main = colours[[count.argmax()]]
    for colour in colours[np.argsort(-count)]:
        near = NEAR[len(main) > FLAT]
        if len(main) < COLOURS and np.linalg.norm(main - colour, axis=1).min() > near:
            main = np.vstack([main, colour])
    nearest = np.linalg.norm(colours[:, None] - main, axis=2).argmin(axis=1)
    few = Image.fromarray(nearest[place].reshape(packed.shape).astype(np.uint8))
    few.putpalette(main.astype(np.uint8).ravel().tolist())
    info, out = PngInfo(), io.BytesIO()
    if words:
        info.add_text("Description", words)
    few.save(out, "PNG", optimize=True, pnginfo=info)
    return out.getvalue()


def main(path: Path = PATH) -> None:
    """Draw the figure and write it with its description."""
    figure, words = draw()
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=110)
    plt.close(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png(Image.open(drawn).convert("RGB"), words))
    print(f"{path.relative_to(ROOT)}, {path.stat().st_size // 1000} kB\n{words}")


if __name__ == "__main__":
    main()
