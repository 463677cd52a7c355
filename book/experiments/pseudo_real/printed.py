"""What the program of Kängsepp et al. prints for its own networks: its Tables 3 and 4."""

from collections.abc import Mapping
from typing import Final

Columns = Mapping[str, tuple[float, ...]]

# Evaluators in the order of the rows; PL and PL3 average one map per fold, as our "10" rows do.
EVALUATORS: Final = (
    "ES15",
    "ES_sweep",
    "ES_CV",
    "PL3^CE 10",
    "PL^CE 10",
    "PL_DE",
    "Platt",
    "beta",
    "isotonic",
)

# Table 3, times 1000: distance of the map, behind six calibrators.
MAPS: Final[Columns] = {
    "all": (9.47, 8.62, 8.52, 7.27, 6.27, 7.97, 8.39, 7.60, 9.20),
    "n = 1000": (13.34, 11.44, 11.49, 10.23, 8.02, 11.09, 10.88, 9.63, 12.99),
    "n = 3000": (8.46, 7.64, 8.19, 6.64, 6.22, 7.35, 7.44, 6.80, 8.65),
    "n = 10000": (6.61, 6.77, 5.88, 4.93, 4.59, 5.49, 6.85, 6.38, 5.97),
    "confidence": (14.19, 10.96, 12.35, 10.72, 9.91, 10.96, 11.71, 10.84, 14.34),
}

# Table 4: distance of the error, times 1000, and Spearman's correlation over six calibrators.
ERRORS: Final[Columns] = {
    "one-vs-rest": (2.30, 3.24, 3.66, 2.59, 2.87, 2.99, 3.63, 2.90, 3.80),
    "confidence": (4.54, 5.14, 6.37, 4.73, 5.24, 4.68, 5.83, 4.39, 7.20),
}
RANKS: Final[Columns] = {
    "one-vs-rest": (0.457, 0.195, 0.443, 0.360, 0.513, 0.381, 0.010, 0.128, 0.552),
    "confidence": (0.624, 0.434, 0.563, 0.406, 0.510, 0.568, 0.018, 0.511, 0.657),
}


def printed(table: Columns, column: str, name: str) -> float | None:
    """Return a printed number, if there is one."""
    if column not in table or name not in EVALUATORS:
        return None
    return table[column][EVALUATORS.index(name)]
