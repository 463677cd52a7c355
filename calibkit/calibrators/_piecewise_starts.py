"""Where to put the knots before the fit: equal mass, and two greedy choices.

The loss has many local minima in the knots, so the start decides. The greedy choice works on the
quadratic model of the loss around a first fit: a weighted regression on hinges
``max(x - knot, 0)``. From the products of about 50 candidate hinges the *sweep operator* says at
once how much each would gain. Knots are added one at a time; after each, every knot may move.
"""

import numpy as np
from numpy.typing import NDArray

from calibkit.calibrators._piecewise_formulas import Grid, Maps
from calibkit.calibrators._piecewise_optimise import Family, fit_maps
from calibkit.inputs import FloatMatrix, FloatVector, IntVector

_BY_RANK, _BY_WIDTH = 36, 16  # candidates for knots
_NEARBY = np.array([-24, -12, -6, -3, -1, 0, 1, 3, 6, 12, 24])
_SKIPPED = 0.01  # share of the predictions at each end without equally distant candidates
_LINE_STEPS, _PILOT_PIECES, _PILOT_STEPS = 10, 6, 5
# A hinge whose share outside the span of the others is smaller than this brings nothing new.
_NEW = 1e-9


def equal_mass(grid: Grid, ends: tuple[float, float], n_pieces: int) -> FloatMatrix:
    """Return knots with the same number of predictions between them, shape (1, K + 1)."""
    inner = np.interp(np.arange(1, n_pieces) / n_pieces, grid.rank, grid.x)
    return np.concatenate(([ends[0]], inner, [ends[1]]))[np.newaxis]


class Starts:
    """Starting maps for any number of pieces, from a first rough fit of each problem."""

    def __init__(self, grid: Grid, ends: tuple[float, float], family: Family, most: int) -> None:
        self.grid, self.ends = grid, ends
        line = np.array([ends])
        heights = np.repeat(family.comfortable(line), grid.n_problems, axis=0)
        self.pilot = self._fit(line, heights, family, _LINE_STEPS)
        if most > 1:
            knots = equal_mass(grid, ends, _PILOT_PIECES)
            heights = self._at(self.pilot, np.repeat(knots, grid.n_problems, axis=0))
            self.pilot = self._fit(knots, heights, family, _PILOT_STEPS)
            self.greedy = self._greedy(family, most)

    def _fit(self, knots: FloatMatrix, heights: FloatMatrix, family: Family, steps: int) -> Maps:
        knots = np.repeat(knots, self.grid.n_problems, axis=0)
        start = Maps(knots, heights, np.arange(self.grid.n_problems))
        return fit_maps(self.grid, start, family, most_steps=steps).maps

    def _greedy(self, family: Family, most: int) -> list[list[FloatMatrix]]:
        """Return inner knots by two regressions: entry k of each list has shape (F, k).

        The quadratic model trusts predictions near 0 and 1 most; the other weighs all alike.
        """
        candidates, grid = self._candidates(), self.grid
        both = (self._regression(self.pilot, family), (grid.hits + grid.misses, grid.hits))
        return [
            [candidates[rows] for rows in choose_hinges(grid.x, candidates, *products, most - 1)]
            for products in both
        ]

    def _regression(self, maps: Maps, family: Family) -> tuple[FloatMatrix, FloatMatrix]:
        grid = self.grid
        height = self._at(maps, np.broadcast_to(grid.x, grid.hits.shape)).ravel()
        hits, misses = grid.hits.ravel(), grid.misses.ravel()
        slope = family.loss(height, hits, misses)[1]
        # Weights as the fit expects them: those of the labels drawn would favour the labels drawn.
        share, total = family.as_prob(height), hits + misses
        curve = family.loss(height, total * share, total * (1 - share))[2]
        response = curve * height - slope
        return curve.reshape(grid.hits.shape), response.reshape(grid.hits.shape)

    def _candidates(self) -> FloatVector:
        grid = self.grid
        by_rank = np.interp(np.linspace(0, 1, _BY_RANK + 2)[1:-1], grid.rank, grid.x)
        low, high = np.interp((_SKIPPED, 1 - _SKIPPED), grid.rank, grid.x)
        return np.union1d(by_rank, np.linspace(low, high, _BY_WIDTH))

    def around(self, maps: Maps, family: Family) -> Maps:
        """Return greedy knots around a fit, on a finer grid, as one more start for each problem.

        Loss has a kink wherever a knot passes a prediction, and many small valleys.
        """
        n_pieces = maps.knots.shape[1] - 1
        weight, response = self._regression(maps, family)
        knots = maps.knots.copy()
        for row, inner in enumerate(maps.knots[:, 1:-1]):
            place = np.searchsorted(self.grid.x, inner)[:, np.newaxis] + _NEARBY
            near = self.grid.x[np.clip(place, 1, len(self.grid.x) - 2).ravel()]
            candidates = np.union1d(self._candidates(), near)
            one = weight[row : row + 1], response[row : row + 1]
            chosen = choose_hinges(self.grid.x, candidates, *one, n_pieces - 1)
            if len(chosen) == n_pieces:
                knots[row, 1:-1] = candidates[chosen[-1][0]]
        return Maps(knots, self._at(maps, knots), maps.problem)

    @staticmethod
    def _at(maps: Maps, x: FloatMatrix) -> FloatMatrix:
        return np.stack([np.interp(*row) for row in zip(x, maps.knots, maps.heights, strict=True)])

    def maps(self, n_pieces: int) -> Maps:
        """Return the starts with this many pieces: all problems of the grid, once per rule."""
        n_problems = self.grid.n_problems
        tables = [np.repeat(equal_mass(self.grid, self.ends, n_pieces), n_problems, axis=0)]
        if 1 < n_pieces <= len(self.greedy[0]):
            low, high = (np.full((n_problems, 1), end) for end in self.ends)
            inner = (rule[n_pieces - 1] for rule in self.greedy)
            tables += [np.concatenate([low, knots, high], axis=1) for knots in inner]
        problem = np.tile(np.arange(n_problems), len(tables))
        knots = np.concatenate(tables)
        pilot = Maps(self.pilot.knots[problem], self.pilot.heights[problem], problem)
        return Maps(knots, self._at(pilot, knots), problem)


def choose_hinges(
    x: FloatVector, candidates: FloatVector, weight: FloatMatrix, response: FloatMatrix, most: int
) -> list[IntVector]:
    """Choose 0, 1, ..., `most` hinges by weighted least squares, for F problems.

    `weight` and `response` (weights times values) have shape (F, m), entry k of the result (F, k):
    numbers of candidates, increasing; fewer entries where there are too few candidates.
    """
    system = _products(x, candidates, weight, response)
    straight = np.zeros(len(weight), dtype=np.intp)
    system = _sweep(_sweep(system, straight), straight + 1)  # a constant and a line are always in
    chosen = np.zeros((len(weight), 0), dtype=np.intp)
    found = [chosen]
    for _ in range(min(most, len(candidates))):
        new = _best(system, chosen)
        system, chosen = _sweep(system, new + 2), np.column_stack([chosen, new])
        for place in range(chosen.shape[1] if chosen.shape[1] > 1 else 0):  # exchange each once
            system = _sweep(system, chosen[:, place] + 2, back=True)
            chosen[:, place] = _best(system, np.delete(chosen, place, axis=1))
            system = _sweep(system, chosen[:, place] + 2)
        found.append(np.sort(chosen, axis=1))
    return found


def _products(
    x: FloatVector, candidates: FloatVector, weight: FloatMatrix, response: FloatMatrix
) -> NDArray[np.float64]:
    """Return all products of the hinges and the response, scaled to a unit diagonal."""
    hinges = np.maximum(x - candidates[:, np.newaxis], 0)
    hinges = np.stack([np.ones_like(x), x - x.mean(), *hinges])
    size = len(hinges)
    system = np.zeros((len(weight), size + 1, size + 1))
    for row, (w, r) in enumerate(zip(weight, response, strict=True)):
        products = (hinges * w) @ hinges.T
        scale = 1 / np.sqrt(np.maximum(np.diag(products), 1e-300))
        system[row, :size, :size] = products * scale * scale[:, np.newaxis]
        system[row, :size, size] = system[row, size, :size] = (hinges @ r) * scale
    return system


def _best(system: NDArray[np.float64], taken: IntVector) -> IntVector:
    """Return for each problem the candidate that lowers the sum of squares most."""
    left = np.einsum("fii->fi", system)[:, 2:-1]
    gain = np.where(left > _NEW, system[:, 2:-1, -1] ** 2 / np.maximum(left, _NEW), -1.0)
    np.put_along_axis(gain, taken, -2.0, axis=1)
    return np.asarray(gain.argmax(axis=1))


def _sweep(
    system: NDArray[np.float64], pivot: IntVector, *, back: bool = False
) -> NDArray[np.float64]:
    each = np.arange(len(system))
    column, row = system[each, :, pivot], system[each, pivot, :]
    centre = system[each, pivot, pivot][:, np.newaxis]
    # A candidate inside the span of the others cannot be brought in: leave it in peace.
    centre = np.where(np.abs(centre) > 1e-14, centre, np.inf)
    sign = -1.0 if back else 1.0
    out = system - column[:, :, np.newaxis] * (row / centre)[:, np.newaxis, :]
    out[each, pivot, :] = sign * row / centre
    out[each, :, pivot] = sign * column / centre
    out[each, pivot, pivot] = -1 / centre[:, 0]
    return out
