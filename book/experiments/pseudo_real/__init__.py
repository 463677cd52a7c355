"""The pseudo-real study: evaluators compared on clones of real networks, whose truth is known.

The main experiment of Kängsepp, Valk and Kull (2022), sections 6 and 7. Its data are not public,
but networks' predictions are: `clones` draws from them data with a calibration map of our choice,
`evaluators` lists who competes, `result` answers three questions (how close is the map, how close
the error, are calibrators ranked rightly), `page` writes ``book/pseudo_real.md``.

>>> from book.experiments import pseudo_real
>>> pseudo_real.PseudoSet("made", "beta", "none", 1000, 0).sample().n
1000
"""

from book.experiments.pseudo_real.clones import (
    CALIBRATORS,
    MADE,
    NONE,
    TASKS,
    TRUTHS,
    PseudoGrid,
    PseudoSet,
    clone_of,
    likeness,
    missing,
)
from book.experiments.pseudo_real.evaluators import (
    EVOLVED_SEED,
    EVOLVED_SIZE,
    SEARCHED,
    all_evaluators,
)
from book.experiments.synthetic import EVOLVED

__all__ = [
    "CALIBRATORS",
    "EVOLVED",
    "EVOLVED_SEED",
    "EVOLVED_SIZE",
    "MADE",
    "NONE",
    "SEARCHED",
    "TASKS",
    "TRUTHS",
    "PseudoGrid",
    "PseudoSet",
    "all_evaluators",
    "clone_of",
    "likeness",
    "missing",
]
