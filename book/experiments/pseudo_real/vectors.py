"""Table 2 of Kängsepp, Valk and Kull (2022) with calibrators of many classes, on clones of vectors.

``python -m book.experiments.pseudo_real.vectors`` measures what is not stored, clone by clone
(ten minutes), and goes on where it stopped; ``python dev.py pseudo --tables`` writes the page.

A clone has the whole vectors of a network. Its truth is a map of vectors, fitted to the labels of
one half of the rows. Calibrators are fitted to 5000 rows with new labels, the other 5000 judge. The
true map of a question is the isotonic regression of the rows' true chances on what is said, as in
the source, where labels stand for the chances.
"""

import json
import warnings
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, rel_entr, softmax
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

from book.experiments.compared import Table, everything
from book.experiments.odir import LEAST, repairs
from book.experiments.pages import markdown
from book.experiments.pseudo_real.clones import CALIBRATORS, NONE, STEEPEST
from book.experiments.pseudo_real.columns import Column
from book.experiments.pseudo_real.result import of_truth
from book.experiments.pseudo_real.stored import DATA
from calibkit import expected_calibration_error
from calibkit.calibrators import (
    BetaCalibrator,
    DirichletCalibrator,
    IsotonicCalibrator,
    MulticlassCalibrator,
    OneVsRest,
)
from calibkit.inputs import CalibrationWarning, FloatMatrix, FloatVector, IntVector
from calibkit_course import data

FILE: Final = DATA / "pseudo_real_vectors.json"
FITTED: Final = 5_000
SEEDS: Final = (0, 1)
# Networks with the classes of the source: car, cat and dog; of a hundred classes it has none.
NETWORKS: Final[Mapping[str, tuple[int, ...]]] = {
    "cifar10-wideresnet": (1, 3, 5),
    "cifar10-lenet": (1, 3, 5),
    "cifar10-vgg16": (1, 3, 5),
    "cifar100-densenet": (),
}
TRUTHS: Final[Mapping[str, MulticlassCalibrator]] = {
    "Dirichlet": DirichletCalibrator("logits"),
    "beta": OneVsRest("logits", BetaCalibrator()),
    "isotonic": OneVsRest("logits", IsotonicCalibrator()),
}
MANY: Final = ("temperature", "vector", "ODIR", "auto")
ONE: Final = ("Platt", "beta", "isotonic", "PL3", "ScaleBin")
TRUTH: Final = "the truth itself"
TITLES: Final = {"ODIR": "matrix, ODIR", "auto": "structured matrix"}
SORTS: Final = {
    "Dirichlet": "a structured matrix",
    "beta": "beta maps, class by class",
    "isotonic": "isotonic maps, class by class",
}
SHORT: Final = dict(zip(NETWORKS, ("wide ResNet", "LeNet", "VGG16", "DenseNet"), strict=True))
HEADS: Final = (
    *("map, confidence", "map, one-vs-rest", "error left, confidence"),
    *("error left, one-vs-rest", "expected log loss above the truth's"),
)
WHAT: Final = ("map, confidence", "map, classes", "left, confidence", "left, classes", "log loss")


class VectorClone(NamedTuple):
    """Logarithms of a network's vectors, and the true vector of each."""

    scores: FloatMatrix
    true_prob: FloatMatrix


def slow(network: str) -> bool:
    """Tell whether a network has a hundred classes: then there is no ODIR, and one seed."""
    return not NETWORKS[network]


def halves(network: str) -> tuple[FloatMatrix, IntVector, NDArray[np.intp], NDArray[np.intp]]:
    """Return a network's scores and labels, and the rows of two halves: the first makes clones."""
    found = data.load(network, original=True)
    scores = np.log(np.maximum(found.y_prob.astype(np.float64), LEAST))
    order = np.random.default_rng(crc32(network.encode())).permutation(len(scores))
    one, other = np.array_split(order, 2)
    return scores, found.y_true, one, other


def clone_of(network: str, truth: str) -> VectorClone:
    """Return the clone whose true map belongs to a family."""
    scores, label, one, _ = halves(network)
    fitted = clone(TRUTHS[truth]).fit(scores[one], label[one])
    return VectorClone(scores, fitted.calibrate(scores))


def drawn(prob: FloatMatrix, rng: np.random.Generator) -> IntVector:
    """Draw a label for each row."""
    sums = np.cumsum(prob, axis=1)
    return np.asarray((sums < rng.random((len(prob), 1)) * sums[:, -1:]).sum(axis=1))


def isotonic(chance: FloatVector, said: FloatVector) -> FloatVector:
    """Return the isotonic regression of chances on what is said."""
    order = np.argsort(said, kind="stable")
    found = np.empty(len(said))
    found[order] = IsotonicRegression(out_of_bounds="clip").fit_transform(
        said[order], chance[order]
    )
    return found


def worths(network: str, truth: str, seed: int) -> dict[str, list[float | None]]:
    """Return the five numbers of each calibrator, fitted to one draw of rows and labels."""
    scores, chance = clone_of(network, truth)
    rng = np.random.default_rng([crc32(f"{network} {truth}".encode()), seed])
    fit, judge = np.split(rng.permutation(len(scores)), [FITTED])
    label = drawn(chance[fit], rng)
    said = {NONE: softmax(scores, axis=1)[judge], TRUTH: chance[judge]}
    recipes = repairs(scores.shape[1])
    for name in MANY:
        if name != "ODIR" or not slow(network):
            fitted = clone(recipes[name]).fit(scores[fit], label)
            said[name] = fitted.predict_proba(scores[judge])
    # Each question: what is asked of a vector, by the column of each row.
    answer = scores.argmax(axis=1)
    questions = [answer, *(np.full(len(scores), k) for k in NETWORKS[network])]
    off: dict[str, list[tuple[float, float]]] = {name: [] for name in (*said, *ONE)}
    for column in questions:
        rows = np.arange(len(scores))
        raw = softmax(scores, axis=1)[rows, column]
        raw = expit(np.clip(logit(raw), -STEEPEST, STEEPEST))
        event = chance[rows, column]
        true_map = isotonic(event, raw)[judge]
        found = {name: prob[rows[:FITTED], column[judge]] for name, prob in said.items()}
        for name in ONE:
            recipe = clone(CALIBRATORS[name]).fit(raw[fit], (label == column[fit]).astype(np.int64))
            found[name] = recipe.calibrate(raw[judge])
        for name, prob in found.items():
            left = np.abs(prob - isotonic(event[judge], prob)).mean()
            off[name].append((float(np.abs(prob - true_map).mean()), float(left)))
    result: dict[str, list[float | None]] = {}
    for name, values in off.items():
        (first, *rest) = values
        classes = np.mean(rest, axis=0).tolist() if rest else [None, None]
        loss = None
        if name in said:
            loss = float(rel_entr(chance[judge], said[name]).sum(axis=1).mean())
        numbers = [first[0], classes[0], first[1], classes[1], loss]
        result[name] = [None if x is None else round(x, 6) for x in numbers]
    return result


def likeness(network: str) -> dict[str, list[float]]:
    """Return accuracy and ECE of the half that makes no clone, and of these rows of each clone."""
    scores, label, _, other = halves(network)
    prob = softmax(scores, axis=1)[other]
    labels = {"network": label[other]}
    for truth in TRUTHS:
        rng = np.random.default_rng(crc32(f"{network} {truth} likeness".encode()))
        labels[truth] = drawn(clone_of(network, truth).true_prob[other], rng)
    return {
        name: [
            float(np.mean(prob.argmax(axis=1) == y)),
            float(expected_calibration_error(y, prob, view="top-label", bins=15)),
        ]
        for name, y in labels.items()
    }


def stored() -> dict[str, Any]:
    """Return what has been measured: of clones by network, of calibrators by network|truth|seed."""
    if not FILE.exists():
        return {"clones": {}, "found": {}}
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def measure() -> None:
    """Measure and store what is not stored, clone by clone."""
    content = stored()
    for seed in SEEDS:
        for network in NETWORKS:
            for truth in TRUTHS:
                if f"{network}|{truth}|{seed}" in content["found"] or (seed and slow(network)):
                    continue
                if network not in content["clones"]:
                    content["clones"][network] = likeness(network)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", CalibrationWarning)
                    found = worths(network, truth, seed)
                content["found"][f"{network}|{truth}|{seed}"] = found
                text = json.dumps(content).replace("}, ", "},\n").replace('], "', '],\n"')
                FILE.write_text(text + "\n", encoding="utf-8")
                print(network, truth, seed, flush=True)


class Draw(NamedTuple):
    """What one fit belongs to."""

    network: str
    truth: str
    seed: int | str


def tables(networks: Collection[str]) -> dict[str, Table]:
    """Return each of the five numbers on the clones of some networks, means over seeds."""
    found = stored()["found"]
    keys = {key: Draw(*key.split("|")) for key in found}
    kept = {key: draw for key, draw in keys.items() if draw.network in networks}
    names = tuple(found[next(iter(kept))])
    result = {}
    for place, what in enumerate(WHAT):
        values = np.array([[found[key][n][place] for n in names] for key in kept], dtype=float)
        one = Table(
            tuple(kept.values()), names, values, clusters=(("network", "truth"), ("network",))
        )
        result[what] = one.averaged(seed="all").where(everything)
    return result


def repairs_table() -> str:
    """Return Table 2 on the networks of ten classes."""
    parts = tables([name for name in NETWORKS if not slow(name)])
    columns = {
        what: Column(what, table.only(name for name in table.names if name != TRUTH))
        for what, table in parts.items()
    }
    rows = [
        [TITLES.get(name, name), *(column.cell(name) for column in columns.values())]
        for name in (NONE, *MANY, *ONE)
    ]
    rows.append([TRUTH, *(f"{1000 * table.mean(TRUTH):.2f}" for table in parts.values())])
    return markdown(["calibrator", *HEADS], rows)


def losses_words() -> str:
    """Say who is ahead by log loss, by family of the truth."""
    table = tables([name for name in NETWORKS if not slow(name)])["log loss"]
    parts = []
    for truth in TRUTHS:
        mean = table.where(of_truth(truth)).mean
        told = ", ".join(f"{TITLES.get(n, n)} {1000 * mean(n):.1f}" for n in MANY)
        parts.append(f"- truth of {SORTS[truth]}: {told}")
    return "\n".join(parts)


def hundred_table() -> str:
    """Return the same on the network of a hundred classes: the confidence, and log loss."""
    parts = tables([name for name in NETWORKS if slow(name)])
    parts = {what: parts[what] for what in WHAT if "classes" not in what}
    rows = [
        [
            TITLES.get(name, name),
            *(f"{1000 * t.mean(name):.1f}" if name in t.names else "–" for t in parts.values()),
        ]
        for name in (NONE, *MANY, *ONE, TRUTH)
        if name != "ODIR"
    ]
    return markdown(["calibrator", *(HEADS[WHAT.index(what)] for what in parts)], rows)


def likeness_words() -> str:
    """Say how like their networks the clones are."""
    parts = []
    for network, found in stored()["clones"].items():
        real = found.pop("network")
        spans = [
            f"{mine:.3f} ({min(column):.3f} to {max(column):.3f})"
            for mine, column in zip(real, zip(*found.values(), strict=True), strict=True)
        ]
        parts.append(f"{SHORT[network]} {spans[0]} and {spans[1]}")
    return f"{'; '.join(parts)}."


if __name__ == "__main__":
    measure()
