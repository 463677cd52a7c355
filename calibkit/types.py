"""Names for the kinds of arrays and seeds that functions take and return.

They say what an array holds, never how many dimensions it has: a "vector" or "matrix" tells the
reader which shape is meant, and the type checker sees the element type alone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]
FloatArray = NDArray[np.floating[Any]]  # of any precision, as users pass it
IntArray = NDArray[np.integer[Any]]
IntVector = NDArray[np.intp]  # counts and places
BoolVector = NDArray[np.bool_]
Rng = int | np.random.Generator | None  # a seed, a generator, or fresh entropy
