"""Repairs of three real networks: what is a whole matrix of weights worth, and what is ODIR.

``python -m book.experiments.odir`` measures again (ten minutes; needs the folder of real
predictions, see CONTRIBUTING) and stores what ``book/repairs.md`` shows.

ODIR (Kull and others 2019) is ``lambda / (K (K - 1)) sum_{i != j} W_ij^2 + mu / K sum_j b_j^2``
beside the mean log loss, here with lambda = mu of the least held-out log loss in three folds.
"""

import json
import os
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from book.experiments.pages import markdown
from calibkit import (
    class_wise_calibration_error,
    consistency_band,
    expected_calibration_error,
    plot,
    reliability_table,
)
from calibkit.calibrators import DirichletCalibrator, TemperatureScaling, VectorScaling
from calibkit.inputs import CalibrationWarning, View
from tools.virtual_environment import ROOT

DATA = ROOT / "book" / "_data" / "odir.json"
IMAGE = ROOT / "book" / "_static" / "repairs_four_panels.png"
# Files, rows that fit the repairs, and draws of these; all other rows judge.
NETWORKS = {
    "LeNet, 10 classes": ("lenet-5-cifar-10", (1_000, 5_000), 10),
    "wide ResNet, 10 classes": ("wideresnet-16-4-cifar-10", (1_000, 5_000), 10),
    "DenseNet, 100 classes": ("densenet-bc-100-cifar-100", (5_000,), 3),
}
LEAST = 1e-12  # single precision says 0 of some classes
STRENGTHS = {10: (1e-2, 1e-1, 1, 10, 100, 1_000), 100: (100, 1_000, 10_000, 100_000)}
NAMES = ("none", "temperature", "vector", "no penalty", "ODIR", "auto")
Losses = dict[str, list[dict[str, float]]]


def odir(k: int, strength: float) -> dict[str, list[float]]:
    """Return the penalties of one strength, for a search over a grid."""
    return {"penalty": [strength / (k * (k - 1))], "bias_penalty": [strength / k]}


def repairs(k: int) -> dict[str, Any]:
    """Return the repairs of a network with `k` classes."""
    dirichlet = DirichletCalibrator("logits")
    grid = [odir(k, strength) for strength in STRENGTHS[k]]
    found = {
        "temperature": TemperatureScaling("logits"),
        "vector": VectorScaling("logits"),
        "no penalty": DirichletCalibrator("logits", penalty=0),
        "ODIR": GridSearchCV(dirichlet, grid, scoring="neg_log_loss", cv=3),
        "auto": dirichlet,
    }
    if k == 100:  # classes can be separated: without a penalty there is no optimum
        del found["no penalty"]
    return found


def losses(prob: NDArray[Any], label: NDArray[Any], n: int, seed: int) -> dict[str, float]:
    """Fit the repairs to `n` rows, and return their mean log loss in all other rows, in nats."""
    scores = np.log(np.maximum(prob.astype(np.float64), LEAST))
    order = np.random.default_rng([seed, n]).permutation(len(label))
    fit, judge = order[:n], order[n:]

    def loss(found: NDArray[Any]) -> float:
        with np.errstate(divide="ignore"):  # infinite where 0 was said of what happened
            return round(-float(np.log(found[np.arange(len(judge)), label[judge]]).mean()), 5)

    said = np.exp(scores[judge])
    found = {"none": loss(said / said.sum(axis=1, keepdims=True))}
    for name, recipe in repairs(prob.shape[1]).items():
        found[name] = loss(clone(recipe).fit(scores[fit], label[fit]).predict_proba(scores[judge]))
    return found


def measure(folder: Path) -> Losses:
    """Return the losses by network and size, draw by draw."""
    found: Losses = {}
    for name, (file, sizes, draws) in NETWORKS.items():
        stored = np.load(folder / f"{file}.npz")
        prob, label = stored["predictions"], stored["ground_truth"]
        for n in sizes:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)
                found[f"{name}|{n}"] = [losses(prob, label, n, seed) for seed in range(draws)]
    return found


def stored() -> Losses:
    """Return what `measure` has found."""
    found: Losses = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def table(found: Losses) -> str:
    """Return the table of the page: thousandths, the best of a row in bold."""
    rows = []
    for key, draws in found.items():
        names = [name for name in NAMES if name in draws[0]]
        values = 1000 * np.array([[draw[name] for name in names] for draw in draws])
        means = [f"{mean:.0f}".replace("inf", "∞") for mean in values.mean(axis=0)]
        gaps = values - values[:, [values.mean(axis=0).argmin()]]
        with np.errstate(invalid="ignore"):
            tied = gaps.mean(axis=0) <= 2 * gaps.std(axis=0, ddof=1) / len(draws) ** 0.5
        cells = {
            n: f"**{m}**" if best else m for n, m, best in zip(names, means, tied, strict=True)
        }
        rows.append([*key.split("|"), *(cells.get(name, "–") for name in NAMES)])
    return markdown(["network", "rows", *NAMES], rows)


def four_panels(prob: NDArray[Any], label: NDArray[Any]) -> Figure:
    """Draw Figure 3 of the review with a wide ResNet: half its rows fit, the other half is shown.

    Shown class by class is the class that temperature scaling leaves with the largest error.
    """
    scores = np.log(np.maximum(prob.astype(np.float64), LEAST))
    order = np.random.default_rng(0).permutation(len(label))
    fit, judge = np.array_split(order, 2)
    raw = np.exp(scores[judge])
    said = {"as trained": raw / raw.sum(axis=1, keepdims=True)}
    for name, recipe in (("temperature", TemperatureScaling), ("Dirichlet", DirichletCalibrator)):
        said[name] = recipe("logits").fit(scores[fit], label[fit]).calibrate(scores[judge])
    errors = class_wise_calibration_error(label[judge], said["temperature"]).per_view
    worst = int(errors.argmax())
    panels: tuple[tuple[str, View, str], ...] = (
        ("as trained", "top-label", "(a) as trained"),
        ("temperature", "top-label", "(b) after temperature"),
        ("temperature", worst, f"(c) class {worst}, temperature"),
        ("Dirichlet", worst, f"(d) class {worst}, Dirichlet"),
    )
    with plot.style():
        figure, axes = plt.subplots(2, 2, figsize=(7.2, 7.2), layout="constrained")
        for ax, (name, view, title) in zip(axes.flat, panels, strict=True):
            rows = label[judge], said[name]
            table = reliability_table(*rows, view=view, bins=15)
            band = consistency_band(*rows, view=view, bins=15, rng=0)
            error = float(expected_calibration_error(*rows, view=view, bins=15))
            plot.reliability(table, ax, band=band, title=f"{title}: ECE {error:.3f}", legend=False)
    return figure


if __name__ == "__main__":
    content = json.dumps(measure(Path(os.environ["CALIBKIT_DATA"]))).replace("}, ", "},\n")
    DATA.write_text(content + "\n", encoding="utf-8")
    print(table(stored()))
    file = np.load(Path(os.environ["CALIBKIT_DATA"]) / "wideresnet-16-4-cifar-10.npz")
    drawn = four_panels(file["predictions"], file["ground_truth"])
    drawn.savefig(IMAGE, dpi=100, metadata={"Software": None})
