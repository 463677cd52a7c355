"""The tables of `book/pseudo_real.md`, from the stored numbers."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from book.experiments.compared import Keep, at, everything
from book.experiments.pages import filled, markdown
from book.experiments.pseudo_real import debiased, printed, vectors
from book.experiments.pseudo_real.between import sizes_table, squares_of_maps
from book.experiments.pseudo_real.claims import claims
from book.experiments.pseudo_real.clones import TASKS, TRUTHS
from book.experiments.pseudo_real.columns import Column, written
from book.experiments.pseudo_real.decisions import decision_table
from book.experiments.pseudo_real.draw import FIGURES, directive, draw_all
from book.experiments.pseudo_real.evaluators import EVOLVED_SIZE
from book.experiments.pseudo_real.result import (
    distances,
    error_distance,
    foreign_ratio,
    is_foreign,
    map_distance,
    of_truth,
)
from book.experiments.pseudo_real.stored import CLONES, DATA
from book.experiments.pseudo_real.study import KINDS, TITLES, Study
from book.experiments.pseudo_real.targets import SCORES, TARGETS, draws_of, write_best
from calibkit.results import spell
from calibkit_course.lesson11 import best
from tools.virtual_environment import ROOT

PAGE = ROOT / "book" / "pseudo_real.md"
REFERENCE = "ES15"
NEARLY_ZERO = 0.0005
BY_NETWORK = ("ES15", "ES_CV", "PL^CE rule", "PL3^CE rule", "Platt", "beta", "isotonic", "KDE")
ASKED_HERE = (*SCORES, "EW15", "ES15", "PL^CE rule", "PL3^CE rule", "isotonic", "KDE")
DISTANCES = {"map": map_distance, "error": error_distance}


def maps_table(study: Study) -> str:
    """Return the first question's table."""
    maps = study.maps
    parts = {"all": everything} | {f"n = {n}": at(n) for n in study.sizes} | dict(KINDS)
    columns = [
        Column(title, maps.where(keep), source=(printed.MAPS, title))
        for title, keep in parts.items()
    ]
    wins = maps.where(everything).wins("network")
    networks = len({draw.network for draw in maps.draws})
    return written(columns, {f"best in, of {networks}": {k: str(v) for k, v in wins.items()}})


def raw_table(study: Study) -> str:
    """Return the distance of the map for networks that nobody calibrated."""
    parts = {f"n = {n}": at(n) for n in study.sizes} | dict(KINDS)
    return written(Column(name, study.raw_maps.where(keep)) for name, keep in parts.items())


def errors_table(study: Study) -> str:
    """Return the second question's table."""
    parts = {"all": everything} | dict(KINDS) | {f"n = {n}": at(n) for n in study.sizes}
    columns = [
        Column(title, study.errors.where(keep), source=(printed.ERRORS, title))
        for title, keep in parts.items()
    ]
    return written([*columns, debiased.column(study.rows)])


def ranks_table(study: Study) -> str:
    """Return the third question's table."""
    columns = [
        Column(f"Spearman, {kind}", study.ranks.where(keep), 1, 3, (printed.RANKS, kind))
        for kind, keep in KINDS.items()
    ]
    columns += [Column(f"Spearman, n = {n}", study.ranks.where(at(n)), 1, 3) for n in study.sizes]
    columns += [
        Column(f"picks the best, n = {n}", study.picks.where(at(n)), 1, 2) for n in study.sizes
    ]
    columns.append(Column("loss by the pick", study.regrets.where(everything)))
    return written(columns)


def truths_table(study: Study) -> str:
    """Return the rank correlations by family of the truth."""
    return written(Column(t, study.ranks.where(of_truth(t)), 1, 3) for t in TRUTHS)


def of_network(name: str) -> Keep:
    """Keep the draws of a network's clones."""
    return lambda draw: TASKS[draw.task].of_network == name


def networks_table(study: Study) -> str:
    """Return the distance of the map network by network: the first question's table, by rows."""
    maps = study.maps.where(everything).only(BY_NETWORK)
    rows = []
    for network in dict.fromkeys(TASKS[draw.task].of_network for draw in maps.draws):
        part = maps.where(of_network(network))
        means = {name: f"{1000 * part.mean(name):.2f}" for name in maps.names}
        means[part.best()] = f"**{means[part.best()]}**"
        rows.append([network, *means.values()])
    return markdown(["network", *(TITLES[name] for name in maps.names)], rows)


def repairs_table(study: Study) -> str:
    """Return what each calibrator is worth, by the three targets; the lowest in bold."""
    kinds = {kind: study.repairs("map").where(keep) for kind, keep in KINDS.items()}
    tables = {f"map, {kind}": part for kind, part in kinds.items()}
    tables |= {title: study.repairs(name).where(everything) for name, title in TARGETS.items()}
    del tables[TARGETS["map"]]
    loss = tables.pop(TARGETS["log_loss"])
    above = loss.values - loss.values.min(axis=1, keepdims=True)
    tables["expected log loss above the best"] = replace(loss, values=above)
    columns = [Column(title, table, 1000, 2) for title, table in tables.items()]
    names = sorted(columns[0].table.names, key=columns[0].table.mean)
    return markdown(["calibrator", *tables], [[n, *(c.cell(n) for c in columns)] for n in names])


def best_table(study: Study) -> str:
    """Return how often scores and evaluators pick the best calibrator, by three targets."""
    columns = [
        Column(f"{title}, n = {n}", study.best_by(target, ASKED_HERE).where(at(n)), 1, 2)
        for target, title in TARGETS.items()
        for n in (study.sizes[0], study.sizes[-1])
    ]
    rows = [[TITLES.get(n, n), *(c.cell(n) for c in columns)] for n in ASKED_HERE]
    return markdown(["asked", *(c.title for c in columns)], rows)


def biases_table(study: Study) -> str:
    """Return how far the estimates lie above the true errors, in the mean."""
    parts = {f"n = {n}": study.biases.where(at(n)) for n in study.sizes}
    names = [n for n in TITLES if all(n in part.names for part in parts.values())]
    rows = [
        [
            TITLES[n],
            *(
                f"{1000 * part.mean(n):+.2f} ± {1000 * part.standard_error(n):.2f}"
                for part in parts.values()
            ),
        ]
        for n in names
    ]
    return markdown(["evaluator", *parts], rows)


def squares_table(study: Study) -> str:
    """Return the distance of the squared error, which the kernel error estimates too."""
    return written(
        Column(title, study.squares.where(keep), 1000, 3)
        for title, keep in ({"all": everything} | dict(KINDS)).items()
    )


def evolved_table(study: Study) -> str:
    """Return what differential evolution could be run on: few of the smallest samples."""
    names, part = ("ES15", "PL^CE", "PL^CE 10", "PL^MSE", "PL_DE"), study.measured_by("PL_DE")
    maps, errors, ranks = (table.only(names) for table in (part.maps, part.errors, part.ranks))
    source = (printed.MAPS, f"n = {EVOLVED_SIZE}")
    columns = [Column("map", maps, source=source), Column("error", errors)]
    return written([*columns, Column("Spearman", ranks, 1, 3)])


def foreign_table(study: Study) -> str:
    """Return the distance of the map by family of the truth; in brackets an evaluator's own."""
    maps = study.maps.where(everything)
    parts = {truth: maps.where(of_truth(truth)) for truth in TRUTHS}
    leaders = {
        truth: part.only(n for n in part.names if is_foreign(n, truth)).leaders()
        for truth, part in parts.items()
    }
    rows = []
    for name in (name for name in TITLES if name in maps.names):
        cells = []
        for truth, part in parts.items():
            text = f"{1000 * part.mean(name):.2f}"
            text = f"**{text}**" if name in leaders[truth] else text
            cells.append(text if is_foreign(name, truth) else f"({text})")
        ratio, error = foreign_ratio(maps, name, REFERENCE)
        rows.append([TITLES[name], *cells, f"{ratio:.2f} ± {ratio * error:.2f}"])
    return markdown(["evaluator", *TRUTHS, "against 15 bins"], rows)


def clones_table(folder: Path = DATA) -> str:
    """Return how like their networks the clones are."""
    content = json.loads((folder / CLONES).read_text(encoding="utf-8"))
    rows = []
    for task, found in content.items():
        cells = [TASKS[task].title]
        for what in ("ones", "error"):
            network = found["network"][what]
            clones = [part[what] for name, part in found.items() if name != "network"]
            cells += [f"{network:.3f}", f"{min(clones):.3f} to {max(clones):.3f}"]
        rows.append(cells)
    return markdown(["question", "ones", "clones: ones", "ECE", "clones: ECE"], rows)


def computed(study: Study) -> str:
    """Say what the stored numbers are made of."""
    draws = {(d.task, d.truth, d.n, d.seed) for d in study.rows}
    cells = sum(len(rows) for rows in study.rows.values())
    sizes: dict[str, list[str]] = {}
    for n in study.sizes:
        seeds = spell(len(study.seeds_of(n)), "seed")
        sizes.setdefault(seeds, []).append(str(n))
    parts = "; ".join(f"{seeds} of {' and '.join(ns)} predictions" for seeds, ns in sizes.items())
    return (
        f"Stored are {len(study.rows)} data sets ({parts}), from {len(draws)} "
        f"draws of rows and labels: {cells} cells. {constant(study)}"
    )


def constant(study: Study) -> str:
    """Say how often an evaluator finds all calibrators equally good."""
    found = [
        np.ptp([study.rows[d][name].absolute for d in sets]) == 0
        for sets in draws_of(study.rows).values()
        for name in study.rows[sets[0]]
        if name != "KCE" and all(name in study.rows[d] for d in sets)
    ]
    return (
        f"In {sum(found)} of {len(found)} rankings an evaluator reports the same error for all "
        "calibrators of a draw."
    )


def zeros(study: Study) -> str:
    """Say how often PL reports nearly no error, and what the truth was there."""
    parts = []
    for n in study.sizes:
        rows = [r["PL^CE"] for d, r in study.rows.items() if d.n == n and "PL^CE" in r]
        few = [row.true_absolute for row in rows if row.absolute < NEARLY_ZERO]
        mean = f", where the true error is {np.mean(few):.4f} in the mean" if few else ""
        parts.append(f"with {n} predictions in {len(few)} of {len(rows)} data sets{mean}")
    return f"PL reports an error below {NEARLY_ZERO:g} {'; '.join(parts)}."


def seeds_table(study: Study) -> str:
    """Return between what numbers the means of single seeds lie: what the draw alone changes."""
    draws = {what: distances(study.rows, of) for what, of in DISTANCES.items()}
    sizes = [n for n in study.sizes if len(study.seeds_of(n)) > 1]
    parts = {f"{what}, n = {n}": t.where(at(n)) for what, t in draws.items() for n in sizes}
    rows = []
    for name in TITLES:
        if all(name in part.names for part in parts.values()):
            spans = [part.span(name, "seed") for part in parts.values()]
            rows.append([TITLES[name], *(f"{1000 * a:.1f} to {1000 * b:.1f}" for a, b in spans)])
    return markdown(["evaluator", *parts], rows)


def blocks(study: Study, folder: Path = DATA) -> dict[str, str]:
    """Return the generated parts of the page, by name."""
    return {
        "computed": computed(study),
        "seeds": seeds_table(study),
        "clones": clones_table(folder),
        "maps": maps_table(study),
        "between": sizes_table(study),
        "map-squares": squares_of_maps(study),
        "raw": raw_table(study),
        "errors": errors_table(study),
        "debiased": f"{debiased.gains(study.rows)}\n\n{debiased.zeros()}",
        "networks": networks_table(study),
        "repairs": repairs_table(study),
        "vector-clones": vectors.likeness_words(),
        "vectors": vectors.repairs_table(),
        "vector-losses": vectors.losses_words(),
        "hundred": vectors.hundred_table(),
        "biases": biases_table(study),
        "zeros": zeros(study),
        "ranks": ranks_table(study),
        "rank-truths": truths_table(study),
        "best": best_table(study),
        "foreign": foreign_table(study),
        "squares": squares_table(study),
        "evolved": evolved_table(study),
        "claims": claims(study),
        "decisions": decision_table(study),
        **{name: directive(name, study) for name in FIGURES},
    }


def rewrite() -> None:
    """Draw the figures and bring the page up to date."""
    study = Study.load()
    draw_all(study)
    write_best(study.rows, study.worths, best.FILE)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks(study)), encoding="utf-8")
