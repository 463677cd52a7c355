"""Partitions of [0, 1]: where the edges are and into which bin a prediction falls.

One rule holds in every function: bins are closed on the left and open on the right, ``[a, b)``,
and the last one is closed, so that 0 and 1 always have a home. Lessons 04 and 06.
"""

from calibkit.bins.edges import (
    Assigned as Assigned,
    Binning,
    Bins as Bins,
    Distinct,
    Edges1D as Edges1D,
    EqualMass,
    EqualWidth,
    FixedEdges,
    as_bins,
    assign,
    run_ends as run_ends,
)
from calibkit.bins.pava import Pava, PavaBC, isotonic_blocks as isotonic_blocks

__all__ = [
    "Binning",
    "Distinct",
    "EqualMass",
    "EqualWidth",
    "FixedEdges",
    "Pava",
    "PavaBC",
    "as_bins",
    "assign",
]
