"""How many rows a bin must hold before its binomial test sees an error (section 3.2)."""

import numpy as np
from scipy.stats import binom

from book.experiments.pages import markdown

LEVEL, WANTED = 0.05, 0.8
STATED = {  # and what is true
    0.5: (0.55, 0.6, 0.7),
    0.2: (0.25, 0.3, 0.4),
    0.05: (0.075, 0.1, 0.2),
    0.01: (0.02, 0.03, 0.05),
}


def power(n_rows: int, stated: float, true: float) -> float:
    """Return how often the events of a bin with the true probability reject the stated one."""
    events = np.arange(n_rows + 1)
    chance = binom.pmf(events, n_rows, stated)
    order = np.argsort(chance)
    rising = chance[order]
    upto = np.searchsorted(rising, rising * (1 + 1e-7), side="right")  # all that are as unlikely
    rejected = np.cumsum(rising)[upto - 1] <= LEVEL
    return float(binom.pmf(events[order], n_rows, true) @ rejected)


def rows_needed(stated: float, true: float) -> int:
    """Return the smallest bin from which on none of up to a fifth more rows has too little power.

    Events are whole numbers, so power rises in a saw: the first bin that has it is luck.
    """
    n_rows = since = 2
    while n_rows < 1.2 * since:
        if power(n_rows, stated, true) < WANTED:
            since = n_rows + 1
        n_rows += 1
    return since


def power_table() -> str:
    """Return the rows that a bin needs, by what is stated and what is true."""
    lines = [
        [f"{stated:g}", *(f"{true:g}: {rows_needed(stated, true):,} rows" for true in truths)]
        for stated, truths in STATED.items()
    ]
    return markdown(["stated", "a small error", "a middling one", "a large one"], lines)
