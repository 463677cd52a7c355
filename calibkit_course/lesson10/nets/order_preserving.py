"""Maps that change every distance between the logits of a row, and never their order."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.optimize import minimize

from calibkit.calibrators import MulticlassCalibrator, TemperatureScaling
from calibkit.inputs import FloatArray, FloatMatrix, as_count, as_positive, data_generator, warn
from calibkit_course.lesson10.nets._torch import need_torch, on_processor, one_thread

_MOST_STEPS = 1000
# softplus(_ONE) = 1: a network that returns 0 changes nothing.
_ONE = float(np.log(np.expm1(1.0)))


class OrderPreserving(MulticlassCalibrator):
    """Stretch each gap between neighbouring logits by a factor that a small network chooses.

    The logits of a row are divided by the best temperature and sorted. A network with one hidden
    layer gives a positive factor for each gap from the row's log-probabilities; the new logits are
    sums of the new gaps, put back in their places. Needs torch.

    Parameters
    ----------
    input : {"logits", "probabilities"}
    hidden, rng : int, int or numpy.random.Generator or None
        Size of the hidden layer, and what draws its initial weights.
    spread : float or None
        Standard deviation of a normal prior of the weights around their start, where the map is
        temperature scaling. None: ``1 / sqrt(K)``.

    Attributes
    ----------
    temperature_, scale_ : float
        The temperature at the start; root mean square of the log-probabilities, by which they are
        divided.
    weights_ : tuple of ndarray
        Weights and biases: (K, hidden), (hidden,), (hidden, K - 1), (K - 1,).
    objective_, gradient_norm_, n_parameters_ : float, float, int
        Mean log loss plus penalty at the solution, its largest absolute slope there; weights,
        biases and temperature.

    Notes
    -----
    With sorted logits ``z_1 >= ... >= z_K`` the new ones are
    ``f_k - f_{k+1} = (z_k - z_{k+1}) m_k / T``, with ``m_k = softplus(b + net_k)``. Ties stay ties,
    and every class keeps its rank, so accuracy and all top-k accuracies stay. The objective is not
    convex: the minimum found depends on `rng`, a little. It can never be above that of temperature
    scaling. Rahimi, Shaban, Cheng, Hartley and Boots (2020), Theorem 1 and section 3; Kängsepp,
    Valk and Kull (2022), section C.4 (IOP-OI: the
    network sees the sorted row, so renaming the classes renames the result).
    """

    family: ClassVar[str] = "intra order-preserving"

    def __init__(
        self,
        input: str,
        *,
        hidden: int = 8,
        spread: float | None = None,
        rng: int | np.random.Generator | None = 0,
    ):
        self.input = input
        self.hidden = hidden
        self.spread = spread
        self.rng = rng

    def _fit(self, logits: FloatArray, label: NDArray[np.intp]) -> None:
        k, size = logits.shape[1], as_count(self.hidden, "hidden")
        spread = k**-0.5 if self.spread is None else as_positive(self.spread, "spread")
        table, order = _sorted(logits)
        ordered = np.take_along_axis(table, order, axis=1)
        rank = (order == label[:, np.newaxis]).argmax(axis=1)
        # Sums over rows in one fixed order: that of the rows given does not matter.
        rows = np.lexsort((rank, *ordered.T))
        start = TemperatureScaling("logits")
        start._fit(ordered[rows], rank[rows])
        self.temperature_ = start.temperature_
        seen, gaps, _ = self._features(logits[rows])
        self.scale_ = float(np.sqrt(np.mean(seen**2)))
        rng = data_generator(self.rng)
        weights = (
            rng.normal(size=(k, size)) / np.sqrt(k),
            np.zeros(size),
            np.zeros((size, k - 1)),
            np.full(k - 1, _ONE),
        )
        problem = _Problem(seen / self.scale_, gaps, rank[rows], weights, spread)
        self.n_parameters_ = 1 + problem.start.size
        self._solve(problem)

    def _solve(self, problem: "_Problem") -> None:
        with one_thread() as torch, torch.enable_grad():
            found = minimize(
                problem,
                problem.start,
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": _MOST_STEPS, "ftol": 1e-12, "gtol": 1e-7},
            )
        self.weights_ = tuple(problem.split(found.x))
        self.objective_, self.n_iter_ = float(found.fun), int(found.nit)
        self.gradient_norm_ = float(np.abs(found.jac).max())
        self.converged_ = bool(found.success)
        if not self.converged_:
            warn(
                f"OrderPreserving stopped after {self.n_iter_} steps before it was at a minimum "
                f"(slope {self.gradient_norm_:.1e}). Use a smaller spread, or more data."
            )

    def _features(self, logits: FloatArray) -> tuple[FloatMatrix, FloatMatrix, NDArray[np.intp]]:
        """Return what the network sees, the gaps of the sorted row, and the order of classes."""
        table, order = _sorted(logits)
        table /= self.temperature_
        ordered = np.take_along_axis(table, order, axis=1)
        return special.log_softmax(ordered, axis=1), ordered[:, :-1] - ordered[:, 1:], order

    def _calibrate(self, logits: FloatArray) -> FloatMatrix:
        seen, gaps, order = self._features(logits)
        with one_thread() as torch, torch.no_grad():
            weights = [on_processor(weight) for weight in self.weights_]
            ordered = _below_top(weights, on_processor(seen / self.scale_), on_processor(gaps))
        result = np.empty_like(seen)
        np.put_along_axis(result, order, special.softmax(ordered.numpy(), axis=1), axis=1)
        return result


def _sorted(logits: FloatArray) -> tuple[FloatMatrix, NDArray[np.intp]]:
    table = logits.astype(np.float64)
    table -= table.max(axis=1, keepdims=True)
    return table, np.argsort(-table, axis=1, kind="stable")


class _Problem:
    def __init__(
        self,
        seen: FloatMatrix,
        gaps: FloatMatrix,
        rank: NDArray[np.intp],
        weights: tuple[FloatMatrix, ...],
        spread: float,
    ):
        self.seen, self.gaps = on_processor(seen), on_processor(gaps)
        self.rank = on_processor(rank)
        self.shapes = [weight.shape for weight in weights]
        self.ends = np.cumsum([weight.size for weight in weights])[:-1].tolist()
        self.start = np.concatenate([weight.ravel() for weight in weights])
        self.centre = on_processor(self.start)
        # Minus the logarithm of the prior, per row.
        self.penalty = 0.5 / (spread**2 * len(seen))

    def split(self, vector: Any) -> list[Any]:
        cut = np.split if isinstance(vector, np.ndarray) else need_torch().tensor_split
        parts = cut(vector, self.ends)
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def __call__(self, vector: FloatMatrix) -> tuple[float, FloatMatrix]:
        torch = need_torch()
        point = on_processor(vector).requires_grad_()
        log_prob = _below_top(self.split(point), self.seen, self.gaps).log_softmax(1)
        loss = -log_prob.gather(1, self.rank[:, None]).mean()
        loss = loss + self.penalty * ((point - self.centre) ** 2).sum()
        (slope,) = torch.autograd.grad(loss, point)
        return float(loss.detach()), slope.numpy()


def _below_top(weights: list[Any], seen: Any, gaps: Any) -> Any:
    """Return new logits of sorted rows, summed from the largest, 0: the first step is kept."""
    torch = need_torch()
    first, first_bias, second, second_bias = weights
    factor = torch.tanh(seen @ first + first_bias) @ second + second_bias
    steps = (gaps * torch.nn.functional.softplus(factor)).cumsum(1)
    return -torch.nn.functional.pad(steps, (1, 0))
