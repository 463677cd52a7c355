"""What the course draws: the words of each picture, and where each of its elements stands.

`python -m tests.calibkit_course.test_drawings` stores all of it anew; look at what has changed.
"""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import Collection, PathCollection, QuadMesh
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.quiver import Quiver
from matplotlib.text import Annotation, Text

import calibkit as ck
from calibkit import plot
from calibkit.bins import EqualMass, FixedEdges, Pava
from calibkit.calibrators import PiecewiseLinear, PlattCalibrator, SlopeOneBinning
from calibkit.decisions import regret_curve
from calibkit.fakes import DirichletFake, KnobClassifier, LogitDistortion, Power
from calibkit.fit_on_test import compare_evaluators
from calibkit.hypothesis_tests import test_based_calibration_error
from calibkit_course import (
    finite,
    lesson01,
    lesson05,
    lesson06,
    lesson07,
    lesson10,
    lesson11,
    lesson13,
    simplex,
)
from calibkit_course.lesson01 import figures as figures01
from calibkit_course.lesson02 import figures as figures02
from calibkit_course.lesson03 import figures as figures03
from calibkit_course.lesson06 import Replicates, figures as figures06
from calibkit_course.lesson08 import figures as figures08
from calibkit_course.lesson08.diagram import draw_test_based
from calibkit_course.lesson09 import figures as figures09
from calibkit_course.lesson12 import figures as figures12
from calibkit_course.lesson13 import Ward, figures as figures13, play_predictions, requirement_sweep
from tests.calibkit_course.test_every_explorer import EXPLORERS
from tests.drawn import assert_manners, assert_nothing_is_cut_off

STORED = Path(__file__).with_name("drawings.json")
BOLD = LogitDistortion(slope=0.5)
SAMPLE, RARE = BOLD.sample(600, 8), LogitDistortion(scores=(0.6, 20)).sample(400, 8)
FIVE = FixedEdges([0, 0.2, 0.4, 0.6, 0.8, 1])
MACHINE = KnobClassifier(5, 0.8, budget_share=0.75, concentration=3)
GRID = np.linspace(0.6, 0.9, 7)


def rejections(sample, **options):
    return test_based_calibration_error(sample.y_true, sample.y_prob, n_draws=0, **options)


def six_and_pava():
    return {str(bins): rejections(SAMPLE, bins=bins) for bins in (EqualMass(6), Pava())}


def maps():
    kinds = {"slope-1": SlopeOneBinning(10), "Platt": PlattCalibrator()}
    return compare_evaluators(SAMPLE.y_true, SAMPLE.y_prob, evaluators=kinds)


def fitted(model):
    return model.fit(SAMPLE.y_prob, SAMPLE.y_true)


def estimates(*values, name="plain"):
    return Replicates(name=name, values=np.array(values), truth=0.15)


def banded(ends=None, table=None, **truth):
    band = ck.consistency_band(RARE.y_true, RARE.y_prob, bins=EqualMass(8), n_draws=50, rng=9)
    return lambda ax: figures09.rare_events(table or band.table, ax, band=band, ends=ends, **truth)


def three(*values):
    """Return three measures: the first is within chance up to 0.02, the second up to 0.1."""
    low, high = np.array([0.0, 0.001, 0.0]), np.array([0.02, 0.1, 0.0])
    return SimpleNamespace(names="ABC", values=np.array(values), null_low=low, null_high=high)


def won():
    sample, named = MACHINE.sample(500, 3), {n: n for n in ("trust", "certain", "clairvoyant")}
    options: Any = {"game": Ward(1, 9), "policies": named, "n_resamples": 50, "rng": 3}
    return play_predictions(sample.y_true, sample.y_prob, **options)


def swept():
    return requirement_sweep(Ward(), accuracies=GRID, errors=GRID - 0.6, concentration=3)


def folded():
    return fitted(PiecewiseLinear("logit", 2, outcome="fold-ensemble", cv=3))


def trained():
    """Return five epochs of a training: what it measured in each."""
    columns = {
        "train_loss": (2.2, 1.0, 0.5, 0.2, 0.1),
        "log_loss": (2.0, 1.2, 1.1, 1.3, 1.6),
        "refined_log_loss": (1.9, 1.2, 1.05, 0.95, 1.0),
        "accuracy": (0.2, 0.4, 0.6, 0.6, 0.6),
    }
    return SimpleNamespace(epoch=np.arange(1, 6), **columns)


def six_rows():
    """Return the table of confidences: 0.5 once, 0.8 three times, 0.9 twice."""
    rows = [[8, 1, 1], [9, 0.5, 0.5], [9, 0.5, 0.5], [2, 3, 5], [1, 8, 1], [1, 8, 1]]
    return ck.reliability_table([0, 0, 1, 2, 1, 0], np.array(rows) / 10, view="top-label", bins=10)


def mistakes():
    images = np.random.default_rng(0).random((8, 28, 28))
    prob = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]] * 2)
    return lesson10.gallery(images, np.array([0, 0, 1, 1, 1, 1, 0, 0]), prob)


EVERYTHING = {"filling", "knots", "members", "truth"}


def six_atoms():
    six = finite.example("six atoms")
    return (np.array(rows, dtype=float) for rows in (six.confidence, six.truth))


SPREAD = np.r_[np.linspace(0.1, 0.3, 40), np.linspace(0.17, 0.23, 60)]
ENDS = ([0.0, 0.2, 0.5], [0.3, 0.4, 1.0])
CLOUD = DirichletFake((1, 1, 1), Power(2)).sample(1000, 0)
CURVE = regret_curve([0.2, 0.7, 0.9], [0.3, 0.6, 0.5])
# What takes Axes, or makes a figure of its own.
ON_AXES: dict[str, Any] = {
    "score parts": lambda ax: figures02.score_parts(
        ck.brier_decomposition(SAMPLE.y_true, SAMPLE.y_prob, bins=3), ax
    ),
    "accuracy and error": lambda ax: figures03.accuracy_error(
        {"left": (0.3, 0.05), "right": MACHINE.truth()}, n_classes=1000, direction="under", ax=ax
    ),
    "maps": lambda ax: lesson05.compare_maps(maps(), ax, truth=BOLD.true_map),
    "maps, logit": lambda ax: lesson05.compare_maps(maps(), ax, scale="logit"),
    "days": lambda ax: figures01.forecaster(lesson01.forecaster_view(days=30), ax),
    "bin drift": lambda ax: figures06.bin_drift(lesson06.bin_tuner_view(n=100), ax),
    "replicates": lambda ax: figures06.replicates(
        [estimates(0.1, 0.2, 0.3, 0.3), estimates(-0.1, 0.1, 0.2, 0.3, name="debiased")], ax
    ),
    "equal replicates": lambda ax: figures06.replicates([estimates(0.2, 0.2, 0.2)], ax),
    "pieces": lambda ax: lesson07.draw_map(
        fitted(PiecewiseLinear(n_pieces=3)), ax, truth=BOLD.true_map, show=EVERYTHING
    ),
    "pieces, logit": lambda ax: lesson07.draw_map(
        fitted(PiecewiseLinear(n_pieces=3)), ax, scale="logit"
    ),
    "folds": lambda ax: lesson07.draw_map(folded(), ax, show=EVERYTHING),
    "folds, logit": lambda ax: lesson07.draw_map(folded(), ax, show=EVERYTHING, scale="logit"),
    "bins": lambda ax: lesson07.draw_map(fitted(SlopeOneBinning(5)), ax, show=EVERYTHING),
    "tested": lambda ax: draw_test_based(rejections(SAMPLE, bins=EqualMass(16)), ax),
    "tested, many": lambda ax: draw_test_based(rejections(SAMPLE, bins=EqualMass(17)), ax),
    "tested, rare": lambda ax: draw_test_based(rejections(RARE, bins=FIVE), ax),
    "tested, dense": lambda ax: draw_test_based(
        test_based_calibration_error(np.arange(100) % 5 == 0, SPREAD, bins=EqualMass(1), n_draws=0),
        ax,
    ),
    "tested, one value": lambda ax: draw_test_based(
        test_based_calibration_error([0, 1], [0.3, 0.3], bins=EqualMass(1), n_draws=0), ax
    ),
    "rare events": banded(),
    "rare events, ends": banded((0.02, 0.3), truth=lambda p: 2 * p),
    "rare events, none": lambda ax: figures09.rare_events(
        ck.reliability_table([0, 0], [0.0, 0.0], bins=2), ax
    ),
    "measures": lambda ax: figures09.measures(three(0.01, 0.5, 0.0), ax),
    "measures, far": lambda ax: figures09.measures(three(1e-7, 0.5, 20.0), ax),
    "epochs": lambda ax: lesson10.over_epochs(trained(), ax),
    "epochs, accuracy": lambda ax: lesson10.over_epochs(trained(), ax, quantity="accuracy"),
    "confidences": lambda ax: lesson10.confidences(six_rows(), ax),
    "Venn-Abers": lambda ax: lesson11.draw_venn_abers(
        [0.1, 0.5, 0.9], ENDS, ax, truth=[0.2, 0.5, 0.8]
    ),
    "stated and true": lambda ax: figures12.stated_and_true(*six_atoms(), ax),
    "stated and true, many": lambda ax: figures12.stated_and_true(
        CLOUD.y_prob, CLOUD.true_prob, ax
    ),
    "simplex": lambda ax: simplex.draw(finite.example("three atoms"), ax=ax),
    "simplex, many": lambda ax: simplex.draw(CLOUD, ax=ax),
    "simplex, plain": lambda ax: simplex.draw(np.eye(3), ax=ax, classes="abc", title="T"),
    "won": lambda ax: figures13.game_scores(won(), ax),
    "asked": lambda ax: figures13.patients(lesson13.ward_round_view(), ax, revealed=False),
    "told": lambda ax: figures13.patients(lesson13.ward_round_view(), ax),
    "regret": lambda ax: figures13.draw_regret(CURVE, ax, mark=0.4),
}
FIGURES: dict[str, Any] = {
    "binnings": lambda: figures08.compare_bins(six_and_pava(), truth=BOLD.true_map)[0].figure,
    "mistakes": mistakes,
    "requirements": lambda: figures13.requirements(swept(), utilities=[0.5, 9.0]).figure,
}


def drawn_by(name):
    plt.close("all")
    if name in ON_AXES or name in FIGURES:
        return FIGURES[name]() if name in FIGURES else ON_AXES[name](None).figure
    explorer, _, title = name.partition(": ")
    made, figure = EXPLORERS[explorer](), plt.figure(layout="constrained")
    made.draw(made.view(**made.state(**dict(made.presets)[title])), figure, False)
    return figure


def points_of(artist):
    """Return where an artist stands, row by row; what has colours or sizes, these."""
    if isinstance(artist, QuadMesh | AxesImage):
        return artist.get_array().reshape(-1, 1)
    if isinstance(artist, Quiver):
        return np.column_stack([artist.XY, artist.U, artist.V])
    if isinstance(artist, PathCollection):
        place = artist.get_offsets()
        return np.column_stack([place, np.broadcast_to(artist.get_sizes(), len(place))])
    if isinstance(artist, Collection):
        return np.concatenate([np.empty((0, 2)), *(path.vertices for path in artist.get_paths())])
    if isinstance(artist, Line2D):
        return artist.get_xydata()
    if isinstance(artist, Text):
        return [artist.xy if isinstance(artist, Annotation) else artist.get_position()]
    return artist.get_patch_transform().transform_path(artist.get_path()).vertices


def in_short(columns):
    return [float(f"{number:.5g}") for number in columns]


def shown(figure):
    """Return words, texts, limits, and of each element number, mean and deviation of its points."""
    named: dict[str, list[Any]] = {}
    for artist in figure.findobj(lambda artist: bool(artist.get_gid())):
        named.setdefault(artist.get_gid(), []).append(points_of(artist))
    joined = {gid: np.ma.filled(np.ma.concatenate(parts), np.nan) for gid, parts in named.items()}
    rows = {gid: np.nan_to_num(at, nan=-9, posinf=-8) for gid, at in joined.items() if len(at)}
    axes = [part for ax in figure.axes for part in (ax, *ax.child_axes)]
    ticks = [[*ax.get_xticklabels(), *ax.get_yticklabels()] for ax in axes]
    texts = [[ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts] for ax in axes]
    return {
        "words": plot.alt_text(figure),
        "texts": [text.get_text() for each in ticks + texts for text in each],
        "labels": [label for ax in axes for label in ax.get_legend_handles_labels()[1]],
        "size": in_short(figure.get_size_inches()),
        "frame": in_short(end for ax in axes for end in (*ax.get_xlim(), *ax.get_ylim())),
        "elements": {
            gid: in_short([len(at), *at.mean(axis=0), *at.std(axis=0)])
            for gid, at in sorted(rows.items())
        },
    }


# Two of four states of each explorer.
STATES = [f"{name}: {one().presets[k][0]}" for name, one in EXPLORERS.items() for k in (0, 3)]
NAMES = [*ON_AXES, *FIGURES, *STATES]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_shows_what_is_stored(name):
    stored, found = json.loads(STORED.read_text(encoding="utf-8"))[name], shown(drawn_by(name))
    for key in ("words", "texts", "labels"):
        assert found[key] == stored[key]
    assert found["frame"] == pytest.approx(stored["frame"], rel=1e-3, abs=1e-9)
    assert found["elements"].keys() == stored["elements"].keys()
    for gid, numbers in stored["elements"].items():
        assert found["elements"][gid] == pytest.approx(numbers, rel=1e-3, abs=1e-6), gid


def plane(point=(0.5, 0.1), n_classes=3, direction="over"):
    return figures03.accuracy_error({"p": point}, n_classes=n_classes, direction=direction)


PLAIN, EYE, TWO = estimates(0.1, 0.2), np.eye(3), ck.reliability_table([0, 1], [0.1, 0.9], bins=2)


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        *((lambda p=p: plane(p), "'p' must be a pair") for p in (0.5, (0.5,), (0.5, "x"), None)),
        *((lambda p=p: plane(p), r"must lie in \[0, 1\]") for p in ((1.2, 0.1), (np.nan, 0.1))),
        *((lambda k=k: plane(n_classes=k), "n_classes must be .* at least 2") for k in (1, 2.5)),
        (lambda: plane(direction="up"), 'direction must be .*"under", got'),
        (
            lambda: figures06.replicates([PLAIN, replace(PLAIN, truth=0.2)]),
            "same truth, got 2 with the truths",
        ),
        *((lambda n=n: figures06.replicates(n * [PLAIN]), f"1 to 3 .* got {n}") for n in (0, 4)),
        (lambda: lesson07.draw_map(fitted(SlopeOneBinning(5)), show={"bars"}), "element 'bars'"),
        (
            lambda: lesson07.draw_map(fitted(SlopeOneBinning(5)), scale="log"),
            'scale must be "linear" or "logit"',
        ),
        (
            lambda: draw_test_based(
                test_based_calibration_error([0, 1, 2], EYE, view="class-wise", n_draws=0)
            ),
            "3 tables, one per class",
        ),
        (lambda: figures09.rare_events(TWO, ends=(0.5, 0.1)), "0 < low < high"),
        (lambda: banded(table=TWO)(None), "belongs to other bins"),
        *(
            (lambda p=p: lesson11.draw_venn_abers(p, ENDS), "prob must rise")
            for p in ([0.1, 0.5], [0.5, 0.1, 0.9])
        ),
        (lambda: simplex.draw(np.eye(4)), r"needs three classes.*\(4, 4\)"),
        (lambda: simplex.draw(EYE, truth=EYE[:2]), "truth has shape"),
        (lambda: simplex.draw(EYE, classes="ab"), "must name 3 classes, got 2"),
    ],
)
def test_what_cannot_be_drawn_is_named_and_leaves_no_figure(draw, words):
    with pytest.raises(ValueError, match=words):
        draw()
    assert not plt.get_fignums()


@pytest.mark.slow
def test_manners(subtests):
    assert_manners(subtests, ON_AXES)
    for draw in FIGURES.values():
        assert_nothing_is_cut_off(draw().axes[0])


if __name__ == "__main__":
    plt.switch_backend("agg")
    lines = [json.dumps({name: shown(drawn_by(name))}, ensure_ascii=False)[1:-1] for name in NAMES]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
