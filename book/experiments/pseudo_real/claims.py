"""What Kängsepp et al. conclude from their own networks, and how it fares on our clones."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from book.experiments import compared
from book.experiments.compared import Finding, Table, at, everything, versus
from book.experiments.pages import markdown
from book.experiments.pseudo_real.study import KINDS, TITLES, Study

# The evaluators among which the source looks for the best, with its ensembles of ten maps.
COMPETITORS = ("ES15", "ES_sweep", "ES_CV", "PL3^CE 10", "PL^CE 10", "Platt", "beta", "isotonic")


class Claim(NamedTuple):
    """A sentence of the source, and what we ask of our numbers."""

    text: str
    ask: Callable[[Study], Finding]


def first(table: Table, name: str, factor: float = 1000, digits: int = 2) -> Finding:
    """Ask whether an evaluator is the best of the source's."""
    return compared.first(table, name, COMPETITORS, TITLES.__getitem__, factor, digits)


def scaled(table: Table, name: str = "Platt", factor: float = 0.8) -> Table:
    """Return a table with one column multiplied: what is to be beaten by so much."""
    values = table.values.copy()
    values[:, table.names.index(name)] *= factor
    return replace(table, values=values)


def _kind(table: Table, kind: str) -> Table:
    return table.where(KINDS[kind])


CLAIMS: Mapping[str, Claim] = {
    "map": Claim(
        "Near calibration, PL has the map closest to the truth.",
        lambda s: first(s.maps.where(everything), "PL^CE 10"),
    ),
    "few": Claim(
        "Its map is closer than that of PL3, with 1000 predictions (three starts).",
        lambda s: versus(s.maps.where(at(1000)), "PL^CE", "PL3^CE"),
    ),
    "many": Claim(
        "And with 10 000.", lambda s: versus(s.maps.where(at(10_000)), "PL^CE", "PL3^CE")
    ),
    "repair": Claim(
        "As calibrators, PL3 errs more than 20 % less than Platt (four fifths of it stand here).",
        lambda s: versus(scaled(s.repairs("map").where(everything)), "PL3", "Platt"),
    ),
    "raw": Claim(
        "Far from calibration, PL3 has.", lambda s: first(s.raw_maps.where(everything), "PL3^CE 10")
    ),
    "bins": Claim(
        "Of the bins, those by cross-validation have a closer map than fifteen.",
        lambda s: versus(s.maps.where(everything), "ES_CV", "ES15"),
    ),
    "width": Claim(
        "Equal mass is better than equal width.",
        lambda s: versus(s.maps.where(everything), "ES15", "EW15"),
    ),
    "loss": Claim(
        "PL should be fitted by log loss, not by the Brier score.",
        lambda s: versus(s.maps.having("PL^MSE"), "PL^CE 10", "PL^MSE"),
    ),
    "loss3": Claim(
        "So should PL3.", lambda s: versus(s.maps.having("PL3^MSE"), "PL3^CE 10", "PL3^MSE")
    ),
    "kde": Claim(
        "The map by kernel densities is far off.",
        lambda s: versus(s.maps.where(everything), "ES15", "KDE"),
    ),
    "error": Claim(
        "Fifteen equal-mass bins have the closest error, one-vs-rest.",
        lambda s: first(_kind(s.errors, "one-vs-rest"), "ES15"),
    ),
    "error-top": Claim(
        "Beta calibration has, for the confidence.",
        lambda s: first(_kind(s.errors, "confidence"), "beta"),
    ),
    "rank": Claim(
        "Isotonic regression ranks calibrators best, one-vs-rest.",
        lambda s: first(_kind(s.ranks, "one-vs-rest"), "isotonic", 1, 3),
    ),
    "rank-top": Claim(
        "And for the confidence.", lambda s: first(_kind(s.ranks, "confidence"), "isotonic", 1, 3)
    ),
    "platt": Claim(
        "Platt's map ranks calibrators worse than fifteen bins.",
        lambda s: versus(s.ranks.where(everything), "ES15", "Platt", 1, 3),
    ),
}


def claims(study: Study) -> str:
    """Return the table of claims."""
    rows = [[claim.text, *claim.ask(study)] for claim in CLAIMS.values()]
    return markdown(["the source", "our clones", "verdict"], rows, ["our clones", "verdict"])
