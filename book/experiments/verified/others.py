"""Figures 2, 3, 4, 5, 7 and 9 of Li's report, on networks that stand in for the source's.

The source's networks are VGG16 on ImageNet, ResNet18 and DenseNet121 on CIFAR-10; their outputs
are not public. Others of the same kind are: see `POPULATIONS`. Of the networks on ImageNet only
the confidence is known, and whether it was right.
"""

import json
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from book.experiments.pages import markdown
from book.experiments.verified import binned_errors, compare_calibrators, compare_estimators
from calibkit_course import data
from calibkit_course.lesson11.population import Population
from tools.virtual_environment import ROOT

STORED = ROOT / "book" / "_data" / "verified_others.json"
POPULATIONS = {
    "ResNeXt, ImageNet": "imagenet-resnext101",
    "EfficientNet, ImageNet": "imagenet-efficientnet",
    "wide ResNet, CIFAR-10": "cifar10-wideresnet",
    "LeNet, CIFAR-10": "cifar10-lenet",
    "VGG16, CIFAR-10": "cifar10-vgg16",
}
IMAGENET, CIFAR = (20_000, 5_000), (1_000, 1_000)
# The confidence is the largest of so many columns, which share what is left.
_COLUMNS = 64
UP_TO_4096 = tuple(2**k for k in range(1, 13))
MEASURED = {  # rows that measure the error, in figure 4
    "ResNeXt, ImageNet": (IMAGENET, (25_000, 10_000, 5_000)),
    "VGG16, CIFAR-10": (CIFAR, (8_000, 4_000, 2_000, 1_000)),
}
_calibrators = partial(compare_calibrators, n_bins=(10, 40, 70, 100), n_trials=30, rng=0)
_binned = partial(binned_errors, n_splits=20, rng=0)

# What is computed: by figure and words, the population and the protocol.
STUDIES: dict[str, tuple[str, Callable[[Population], Any]]] = {
    **{
        f"2: {name}": (name, partial(_binned, sizes=(*IMAGENET, 25_000)))
        for name in ("ResNeXt, ImageNet", "EfficientNet, ImageNet")
    },
    **{
        f"3: {name}": (name, partial(_binned, sizes=(*CIFAR, 8_000)))
        for name in ("wide ResNet, CIFAR-10", "LeNet, CIFAR-10")
    },
    **{
        f"4: {name}, {rows:,} rows": (
            name,
            partial(
                _binned,
                sizes=(*first, rows),
                n_bins=[b for b in UP_TO_4096 if b <= min(rows // 2, first[1])],
            ),
        )
        for name, (first, measured) in MEASURED.items()
        for rows in measured
    },
    **{
        f"7: {name}, {view}": (name, partial(_calibrators, view=view))
        for name in ("wide ResNet, CIFAR-10", "LeNet, CIFAR-10")
        for view in ("top-label", "class-wise")
    },
    "5: ResNeXt, ImageNet": ("ResNeXt, ImageNet", _calibrators),
    **{
        f"9: ResNeXt, ImageNet, {bins} bins": (
            "ResNeXt, ImageNet",
            partial(compare_estimators, n_bins=bins, n_samples=200, rng=0),
        )
        for bins in (15, 100)
    },
}


@cache
def population(name: str) -> Population:
    """Return the predictions of a network; the file itself is the population."""
    rows = data.load(POPULATIONS[name], original=True)
    if rows.y_prob.ndim == 2:
        return Population.of_rows(rows.y_true, rows.y_prob, name=name)
    rest = (1 - rows.y_prob) / (_COLUMNS - 1)
    prob = np.repeat(rest[:, np.newaxis], _COLUMNS, axis=1).astype(np.float64)
    prob[:, 0] = rows.y_prob
    return Population.of_rows(1 - rows.y_true, prob, name=name)


def compute() -> dict[str, dict[str, Any]]:
    """Run what can be run with the networks that are here; return the numbers to be stored."""
    found = {}
    for words, (name, protocol) in STUDIES.items():
        if not data.available(POPULATIONS[name], original=True):
            print(f"{words}: left out, {POPULATIONS[name]} is not here")
            continue
        found[words] = numbers(protocol(population(name)))
        print(f"{words}: done", flush=True)
    return found


def numbers(study: Any) -> dict[str, Any]:
    """Return what the tables need, to six digits."""
    names = [
        "n_bins",
        "plain_1",
        "plain_2",
        "debiased_2",
        "squared",
        "standard_error",
        "brier",
        "sizes",
        "truth",
        "plain_mean",
        "debiased_mean",
        "plain_mse",
        "cut_mse",
    ]
    kept = {name: getattr(study, name) for name in names if hasattr(study, name)}
    rounded = {name: np.char.mod("%.6g", np.asarray(value)) for name, value in kept.items()}
    return {name: value.astype(np.float64).tolist() for name, value in rounded.items()}


def stored() -> dict[str, dict[str, Any]]:
    """Return the stored numbers."""
    found: dict[str, dict[str, Any]] = json.loads(STORED.read_text(encoding="utf-8"))
    return found


def table(figure: int) -> str:
    """Return the table of a figure: errors by number of bins, plain and debiased."""
    found = {k: v for k, v in stored().items() if k.startswith(f"{figure}: ")}
    bins = max((one["n_bins"] for one in found.values()), key=len)
    rows = []
    for words, one in found.items():
        kinds = {"plain": "plain_2", "debiased": "debiased_2"}
        for kind, key in (kinds | ({} if figure == 4 else {"plain, norm 1": "plain_1"})).items():
            cells = [f"{value:.4f}" for value in one[key]]
            cells += ["–"] * (len(bins) - len(cells))
            rows.append([f"{words.partition(': ')[2]}, {kind}", *cells])
    return markdown(["bins", *(f"{int(number)}" for number in bins)], rows)


def table_7(figure: int = 7) -> str:
    """Return squared errors times 10 000 of both calibrators, with standard errors."""
    rows = []
    for words, one in stored().items():
        if words.startswith(f"{figure}: "):
            for m, method in enumerate(("histogram", "Platt")):
                pairs = zip(one["squared"][m], one["standard_error"][m], strict=True)
                cells = [f"{1e4 * value:.1f} ± {1e4 * error:.1f}" for value, error in pairs]
                rows.append([f"{words[3:]}, {method}", *cells])
                if figure == 5:
                    scores = [f"{value:.4f}" for value in one["brier"][m]]
                    rows.append([f"{words[3:]}, {method}: Brier score", *scores])
    return markdown(["bins", "10", "40", "70", "100"], rows)


def table_9() -> str:
    """Return truth and mean estimates times 10 000 at both ends of the sizes."""
    rows = []
    for words, one in stored().items():
        for s in (0, -1) if words.startswith("9: ") else ():
            values = one["truth"], one["plain_mean"][s], one["debiased_mean"][s]
            ratio = one["plain_mse"][s] / one["cut_mse"][s]
            case = f"{words[3:]}, {int(one['sizes'][s]):,} rows"
            rows.append([case, *(f"{1e4 * value:.2f}" for value in values), f"{ratio:.2f}"])
    heads = ["case", "truth", "plain", "debiased", "plain MSE / debiased MSE"]
    return markdown(heads, rows)


def blocks() -> dict[str, str]:
    """Return the generated tables, by name."""
    tables = {f"table-{figure}": table(figure) for figure in (2, 3, 4)}
    return tables | {"table-5cd": table_7(5), "table-7": table_7(), "table-9cd": table_9()}
