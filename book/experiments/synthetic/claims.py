"""What Kängsepp et al. conclude in their Appendix F, and how it fares on the synthetic data."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from book.experiments.compared import Finding, Table, versus
from book.experiments.pages import markdown
from book.experiments.synthetic.result import StudyResult, StudyTable

# Among these the source looks for the best. PL and PL3 are our ensembles, which measured all data.
COMPETITORS = ("ES15", "ES_sweep", "ES_CV", "PL3^CE", "PL^CE", "Platt", "beta", "isotonic")
SMOOTH = ("square", "sqrt", "beta1", "beta2")


class Tables:
    """The tables that claims are asked of, over the five shapes or one of them."""

    def __init__(self, result: StudyResult) -> None:
        self.result = result

    def on(self, name: str) -> "Tables":
        """Return the tables of the draws that an evaluator has measured."""
        return Tables(self.result.only(name))

    @cached_property
    def map_of(self) -> StudyTable:
        """Distance of the map."""
        return self.result.map_error_table()

    @cached_property
    def maps(self) -> Table:
        """Distance of the map, over the shapes."""
        return self.map_of.pooled()

    @cached_property
    def errors(self) -> Table:
        """Distance of the error, over the shapes."""
        return self.result.absolute_table().pooled()

    @cached_property
    def squares(self) -> Table:
        """Distance of the squared error, over the shapes."""
        return self.result.squared_table().pooled()

    @cached_property
    def ranks(self) -> Table:
        """Rank correlation, over the shapes."""
        return self.result.rank_table().pooled()


class Claim(NamedTuple):
    """A sentence of the source, and what we ask of our numbers."""

    text: str
    ask: Callable[[Tables], Finding]


def _smooth_shapes(tables: Tables) -> Finding:
    """Ask whether Platt's or the beta map leads on each shape that its family nearly holds."""
    found = {s: tables.map_of.of(s).only(COMPETITORS).leaders() for s in SMOOTH}
    kept = [shape for shape, leaders in found.items() if {"Platt", "beta"} & set(leaders)]
    ours = f"one of them is among the best on {len(kept)} of {len(SMOOTH)} shapes"
    return Finding(ours, "confirmed" if len(kept) == len(SMOOTH) else "not confirmed")


CLAIMS: Mapping[str, Claim] = {
    "smooth": Claim(
        "Platt and beta calibration are very good where their family comes near (all but stairs).",
        _smooth_shapes,
    ),
    "stairs": Claim(
        "On stairs they fail: Platt's map is behind fifteen bins.",
        lambda t: versus(t.map_of.of("stairs"), "ES15", "Platt"),
    ),
    "stairs-beta": Claim(
        "So is that of beta calibration.", lambda t: versus(t.map_of.of("stairs"), "ES15", "beta")
    ),
    "pieces": Claim(
        "For a good map on all shapes, take pieces: PL is ahead of the best bins.",
        lambda t: versus(t.maps, "PL^CE", "ES_CV"),
    ),
    "width": Claim(
        "Equal mass gives a closer map than equal width.", lambda t: versus(t.maps, "ES15", "EW15")
    ),
    "width-cv": Claim(
        "Also where cross-validation chooses the number.",
        lambda t: versus(t.maps, "ES_CV", "EW_CV"),
    ),
    "sweep": Claim(
        "Bins by cross-validation have a closer map than those by sweep.",
        lambda t: versus(t.maps, "ES_CV", "ES_sweep"),
    ),
    "rule": Claim(
        "The 0.1 % rule improves the map of bins.", lambda t: versus(t.maps, "ES_CV", "ES_CV best")
    ),
    "rule-pl": Claim("And that of PL.", lambda t: versus(t.maps, "PL^CE rule", "PL^CE")),
    "loss": Claim(
        "Log loss gives PL a closer map than the Brier score.",
        lambda t: versus(t.on("PL^MSE").maps, "PL^CE", "PL^MSE"),
    ),
    "loss3": Claim("And PL3.", lambda t: versus(t.on("PL3^MSE").maps, "PL3^CE", "PL3^MSE")),
    "evolved": Claim(
        "By differential evolution PL is mostly behind PL by log loss.",
        lambda t: versus(t.on("PL_DE").maps, "PL^CE", "PL_DE"),
    ),
    "width-error": Claim(
        "Equal mass gives a closer error than equal width.",
        lambda t: versus(t.errors, "ES15", "EW15"),
    ),
    "sweep-error": Claim(
        "For the error, the sweep is ahead of cross-validation.",
        lambda t: versus(t.errors, "ES_sweep", "ES_CV"),
    ),
    "sweep-squared": Claim(
        "For the squared error, cross-validation is ahead of the sweep.",
        lambda t: versus(t.squares, "ES_CV", "ES_sweep"),
    ),
    "evolved-error": Claim(
        "The closest error is that of differential evolution; it is ahead of PL.",
        lambda t: versus(t.on("PL_DE").errors, "PL_DE", "PL^CE"),
    ),
    "kernel": Claim(
        "The kernel calibration error is behind all others for the squared error.",
        lambda t: versus(t.squares, "Platt", "KCE"),
    ),
    "rank": Claim(
        "All rank well; on stairs Platt's map does not, against fifteen bins.",
        lambda t: versus(t.result.rank_table().of("stairs"), "ES15", "Platt", 1, 4),
    ),
}


def claims(result: StudyResult) -> str:
    """Return the table of claims."""
    tables = Tables(result)
    rows = [[claim.text, *claim.ask(tables)] for claim in CLAIMS.values()]
    return markdown(["the source", "our numbers", "verdict"], rows, ["our numbers", "verdict"])
