"""The twin of a wide figure, which a telephone shows."""

import hashlib
import io
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from book._ext import narrow_twins as twins
from calibkit import plot
from calibkit.fakes import LogitDistortion
from calibkit.reliability import reliability_table
from calibkit_course.lesson06 import bin_tuner


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("L"))


def three_panels() -> Figure:
    sample = LogitDistortion(slope=0.6).sample(300, rng=1)
    table = reliability_table(sample.y_true, sample.y_prob)
    figure, axes = plt.subplots(1, 3, figsize=(10, 4), layout="constrained")
    for ax in axes:
        title = "A title that is wider than any telephone, and says so at length"
        plot.reliability(table, ax=ax, title=title)
    plot.legend(figure)
    figure.canvas.draw()
    return figure


@pytest.mark.long
def test_the_panels_of_a_twin_stand_below_each_other_and_nothing_is_cut_off(subtests) -> None:
    # Letters of 9.5 points, on the 342 pixels that a text has on a telephone.
    assert 9.5 / 72 * 342 / twins.WIDTH >= 11
    for figure in (three_panels(), bin_tuner().static()):
        with subtests.test(f"{len(figure.get_axes())} panels"):
            figure.canvas.draw()
            height, width = (twin := pixels(twins.twin(figure))).shape
            assert width == round(twins.WIDTH * 100 * twins.DENSITY) and height > 2.5 * width
            assert twin[:, [0, 1, -2, -1]].min() > 250


@pytest.mark.long
def test_a_figure_stays_as_it_is() -> None:
    figure = three_panels()
    before = np.asarray(figure.canvas.buffer_rgba()).copy()
    n_figures = len(plt.get_fignums())
    twins.twin(figure)
    figure.canvas.draw()
    assert np.array_equal(np.asarray(figure.canvas.buffer_rgba()), before)
    assert len(plt.get_fignums()) == n_figures


def test_only_a_wide_figure_has_a_twin_which_its_picture_names(tmp_path: Path) -> None:
    twins.keep(plt.subplots(figsize=(4, 3))[0], b"narrow", tmp_path)
    assert not list(tmp_path.iterdir())
    twins.keep(plt.subplots(figsize=(6, 3))[0], b"wide", tmp_path)
    assert [path.stem for path in tmp_path.iterdir()] == [hashlib.sha256(b"wide").hexdigest()]


def test_a_page_offers_the_twin_of_a_picture_but_not_of_a_card(tmp_path: Path) -> None:
    narrow_figures = pytest.importorskip("book._ext.narrow_figures")
    name = 64 * "a"
    (tmp_path / "_images").mkdir()
    (tmp_path / f"{name}.png").write_bytes(b"twin")
    (tmp_path / "pages").mkdir()
    image = f'src="../_images/{name}.png">'
    html = f'<img alt="x" {image}<img class="ck-hero" {image}'
    both = narrow_figures.with_twins(html, tmp_path / "pages", tmp_path)
    assert both.count("<picture>") == 1 and both.endswith(f'</picture><img class="ck-hero" {image}')
    assert f'srcset="../_images/{name}.png 1x"' in both  # the twin's density would stay
    assert (tmp_path / "_images" / f"{name}-narrow.png").read_bytes() == b"twin"
