"""Judges of lesson 10: take a network's temperature."""

import math
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from calibkit.calibrators import TemperatureScaling
from calibkit.errors import expected_calibration_error
from calibkit.inputs import FloatVector
from calibkit.scores import log_loss
from calibkit_course.learn import answers
from calibkit_course.learn.answers import agree, apart, same
from calibkit_course.learn.words import read_words
from calibkit_course.lesson10 import nets, problems as problems
from calibkit_course.lesson10.problems import Pair
from calibkit_course.lesson10.smoothing import undo_label_smoothing

SAY = read_words("10").say

# --- 10.4: probabilities fed as logits ---------------------------------------------------------


def judge_diagnosis(answer: Any) -> str | None:
    """Judge exercise 10.4: which file was softmaxed twice, and its least log loss."""
    letter, number = answers.as_list(answer, SAY["diagnosis"], 2)
    name = answers.as_option(letter, problems.three_files(20), SAY["letters"])
    if name != problems.CULPRIT:
        return SAY["loud" if name == "A" else "fine"].format(name=name)
    return _floor_slip(answers.as_number(number))


def _floor_slip(found: float) -> str | None:
    wanted = float(np.log(1 + 9 / math.e))
    slips = {
        "floor of logits": 0.0,
        "uniform": float(np.log(10)),
        "two classes": float(np.log(1 + 1 / math.e)),
        "probability": float(math.e / (math.e + 9)),
        "in bits": wanted / float(np.log(2)),
        "in digits": wanted / float(np.log(10)),
    }
    if same(found, wanted, 2e-3):
        return None
    if slip := answers.slip_of(found, slips, 2e-3):
        return SAY[slip]
    reported = [value for losses in problems.losses_of_files().values() for value in losses]
    if any(same(found, value, 1e-3) for value in reported):
        return SAY["reported"]
    return SAY["floor off"].format(**apart(found, wanted, 4))


# --- 10.5: label smoothing ---------------------------------------------------------------------


@lru_cache(maxsize=1)
def _smoothed() -> dict[str, tuple[float, float, float]]:
    """Return T and both log losses on the test half, and what slips would give."""
    fit, test = problems.smoothed_model()
    scaling = TemperatureScaling("probabilities").fit(*fit)
    on_test = TemperatureScaling("probabilities").fit(*test)
    mistaken = TemperatureScaling("logits").fit(fit[0] + 1.0, fit[1])
    losses = [
        [
            log_loss(label, prob).value,
            log_loss(label, scaling.calibrate(prob)).value,
            log_loss(label, undo_label_smoothing(prob, amount=problems.AMOUNT)).value,
        ]
        for prob, label in (fit, test)
    ]
    (_, fit_scaled, fit_undone), (plain, scaled, undone) = losses
    return {
        "right": (scaling.temperature_, scaled, undone),
        "temperatures": (on_test.temperature_, mistaken.temperature_, plain),
        "fit": (0.0, fit_scaled, fit_undone),
    }


def judge_smoothing(answer: Any) -> str | None:
    """Judge exercise 10.5: the temperature of a smoothed model, and two log losses."""
    found = answers.as_numbers(answer, SAY["three"], 3)
    wanted, on_fit = _smoothed()["right"], _smoothed()["fit"]
    on_test, mistaken, plain = _smoothed()["temperatures"]
    if not same(found[0], wanted[0], 1e-3):
        if same(found[0], on_test, 1e-3):
            return SAY["fitted on test"]
        if same(found[0], mistaken, 1e-3):
            return SAY["as logits"]
        slip = "above one" if found[0] > 1 else "temperature off"
        return SAY[slip].format(**apart(found[0], wanted[0]))
    for place, slip in ((1, "second"), (2, "third")):
        if same(found[place], wanted[place], 5e-4):
            continue
        if same(found[place], on_fit[place], 5e-4):
            return SAY["fitting half"].format(place=place + 1)
        if place == 1 and same(found[place], plain, 5e-4):
            return SAY["not scaled"]
        return SAY[slip].format(**apart(found[place], wanted[place], 4))
    return None


# --- 10.2: the right split ---------------------------------------------------------------------


def judge_report(answer: Any) -> str | None:
    """Judge exercise 10.2: a function that fits T to the right split and reports another."""
    function = answers.as_function(answer)
    for case, seed in enumerate((106, 107), start=1):
        splits = problems.three_splits(seed)
        shown = SAY["splits"].format(case=case)
        result = answers.call(function, *splits.values(), shown=shown)
        found = answers.as_number(result)
        wanted = _loss_after(splits, "validation", "test")
        if not same(found, wanted, 1e-4):
            return _report_slip(found, splits, shown)
    return None


def _report_slip(found: float, splits: dict[str, Pair], case: str) -> str:
    logits, label = splits["test"]
    if same(found, log_loss(label, softmax(logits, axis=1)).value, 1e-4):
        return SAY["no scaling"]
    pooled = splits | {"pooled": _pool(splits["train"], splits["validation"])}
    for slip in ("test", "train", "pooled"):
        if same(found, _loss_after(pooled, slip, "test"), 1e-4):
            return SAY[slip]
    for split in ("train", "validation"):
        if same(found, _loss_after(splits, "validation", split), 1e-4):
            return SAY["reported on"].format(split=split)
    wanted = _loss_after(splits, "validation", "test")
    return SAY["report off"].format(case=case, **apart(found, wanted, 4))


def _pool(one: Pair, other: Pair) -> Pair:
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


def _loss_after(splits: dict[str, Pair], fitted_to: str, reported_on: str) -> float:
    logits, label = splits[reported_on]
    prob = softmax(logits / temperature(*splits[fitted_to]), axis=1)
    return log_loss(label, prob).value


# --- 10.3: the training step -------------------------------------------------------------------


_HALF = 3e-3  # what half precision may change of a weight, or of a loss


def judge_step(answer: Any) -> str | None:
    """Judge exercise 10.3: a function that trains a network on one batch."""
    function = answers.as_function(answer)
    if find_spec("torch") is None:
        raise answers.WrongKind(SAY["no torch"])
    (weights, losses, slopes), right = _stepped(function), _stepped(nets.training_step)
    if np.array_equal(weights, _stepped(lambda *_: 0.0)[0]):
        return SAY["no step" if slopes else "no backward"]
    for slip in ("not zeroed", "softmaxed twice", "summed", "upwards", "part"):
        if agree(weights, _stepped(_slipping(slip))[0], 1e-4):
            return SAY[slip]
    # In half precision (autocast) the weights move nearly as they should.
    if not agree(weights, right[0], _HALF):
        return SAY["other weights"]
    tolerance = 1e-4 if agree(weights, right[0], 1e-4) else _HALF
    for found, wanted in zip(losses, right[1], strict=True):
        if not same(found, wanted, tolerance):
            return SAY["other loss"].format(**apart(found, wanted))
    return None


def _stepped(step: Callable[..., Any]) -> tuple[FloatVector, list[float], bool]:
    """Return the weights after two batches, the losses returned, and whether slopes are left."""
    import torch

    network = nets.image_network((2, 2), 4, rng=3)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.5)
    losses = []
    for x, y in problems.batches():
        batch = (torch.tensor(part, device="cpu") for part in (x, y))
        result = answers.call(partial(step, network, optimiser, *batch), shown=SAY["one batch"])
        losses.append(answers.as_number(result, SAY["its loss"]))
    parts = list(network.parameters())
    weights = np.concatenate([part.detach().numpy().ravel() for part in parts])
    return weights, losses, any(part.grad is not None and bool(part.grad.any()) for part in parts)


def _slipping(slip: str) -> Callable[..., float]:
    def step(network: Any, optimiser: Any, images: Any, labels: Any) -> float:
        if slip == "part":
            images, labels = images[: len(labels) // 2], labels[: len(labels) // 2]
        log_p = network(images).log_softmax(1)
        log_p = log_p.exp().log_softmax(1) if slip == "softmaxed twice" else log_p
        loss = -log_p.gather(1, labels[:, None])
        loss = loss.sum() if slip == "summed" else loss.mean()
        if slip != "not zeroed":
            optimiser.zero_grad()
        (-loss if slip == "upwards" else loss).backward()
        optimiser.step()
        return float(loss.detach())

    return step


# --- 10.1 and 10.6: temperatures ---------------------------------------------------------------

_STEP = 0.02  # whoever moved less has stopped at the edge of the search
_ENDS = (0.05, 20.0)  # of the search that the exercise asks for
_UNKNOWN = ("grid", "coarse", "ece", "halted", "bound")  # a guess about how it was searched
_NEAR = 0.06  # of the optimum, as the points of a grid are


def judge_temperature(answer: Any) -> str | None:
    """Judge exercise 10.1: a function that fits a temperature, to three digits."""
    return _judge_fits(answer, lambda wanted: 0.505 * 10 ** (np.floor(np.log10(wanted)) - 2))


def judge_torch(answer: Any) -> str | None:
    """Judge exercise 10.6: the same with an optimiser that may stop early."""
    return _judge_fits(answer, lambda wanted: 1e-2)


def _judge_fits(answer: Any, tolerance: Callable[[float], float]) -> str | None:
    function = answers.as_function(answer)
    for name, (logits, label) in problems.fitting_cases().items():
        result = answers.call(function, logits, label, shown=SAY[name])
        if _is_nan(result):
            return SAY["not a number"].format(case=SAY[name])
        found = answers.as_number(result, SAY["one number"])
        wanted = temperature(logits, label)
        if not same(found, wanted, max(1e-3, tolerance(wanted))):
            slip = _temperature_slip(found, logits, label, SAY[name])
            slip = "constant" if slip in _UNKNOWN and _is_constant(function, found) else slip
            return SAY[slip].format(case=SAY[name], **apart(found, wanted, 4))
    return None


def _is_constant(function: Callable[..., Any], found: float) -> bool:
    """Say whether a function returns one number for all logits."""
    try:
        cases = problems.fitting_cases().values()
        return all(answers.call(function, *pair, shown="") == found for pair in cases)
    except Exception:  # what it raises elsewhere
        return False


def _is_nan(result: Any) -> bool:
    try:
        return bool(np.isnan(float(result)))
    except Exception:  # not even a number, which is said elsewhere
        return False


def temperature(logits: FloatVector, label: NDArray[np.intp]) -> float:
    """Return the T of least log loss, as the package fits it."""
    return TemperatureScaling("logits").fit(logits, label).temperature_


def _temperature_slip(found: float, logits: FloatVector, label: NDArray[np.intp], case: str) -> str:
    wanted = temperature(logits, label)
    slips = {
        "softmaxed": temperature(softmax(logits, axis=1) + 1.0, label),
        "inverse": 1 / wanted,
        "logarithm": float(np.log(wanted)),
        "brier": _brier_temperature(logits, label),
        "loss": log_loss(label, softmax(logits / wanted, axis=1)).value,
    }
    nearest = min(slips, key=lambda slip: abs(slips[slip] - found))
    if same(found, slips[nearest], 2e-3):
        return nearest
    if found <= 0:
        return "negative"
    if found in (1.0, 1.5):
        return "unmoved"
    if any(same(found, end, 1e-3 * end) for end in _ENDS):
        return "edge"
    if abs(found - wanted) < _NEAR and same(found, round(found, 2), 1e-9):
        return "grid"
    rough = temperature(_half(logits), label)
    as_rough = abs(found - rough) < 0.02 * rough and not same(rough, wanted, 0.01)
    if as_rough or (found == _half(np.array(found)) and same(found, wanted, 0.01 * wanted)):
        return "coarse"
    if case == SAY["lifted"]:
        return "overflow"
    if _lowest_ece(found, logits, label):
        return "ece"
    start = 1.0 if wanted < 1 else 1.5
    moved = min(abs(found - 1), abs(found - start)) > _STEP
    between = min(start, wanted) < found < max(start, wanted)
    return "halted" if moved and between else "bound"


def _lowest_ece(found: float, logits: FloatVector, label: NDArray[np.intp]) -> bool:
    """Say whether no T of a grid has an ECE much below that of `found`."""

    def ece(temperature: float) -> float:
        prob = softmax(logits / temperature, axis=1)
        return expected_calibration_error(label, prob, view="top-label").value

    return ece(found) <= 1.1 * min(map(ece, np.geomspace(*_ENDS, 150)))


def _half(logits: FloatVector) -> FloatVector:
    """Round to bfloat16, which keeps the upper half of a single-precision number."""
    bits = logits.astype(np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x8000)) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32).astype(np.float64)


def _brier_temperature(logits: FloatVector, label: NDArray[np.intp]) -> float:
    happened = np.eye(logits.shape[1])[label]

    def score(temperature: float) -> float:
        said = softmax(logits / temperature, axis=1)
        return float(((said - happened) ** 2).sum(axis=1).mean())

    return float(minimize_scalar(score, bounds=(0.05, 20), method="bounded").x)


JUDGES = {
    "10.1": judge_temperature,
    "10.2": judge_report,
    "10.3": judge_step,
    "10.4": judge_diagnosis,
    "10.5": judge_smoothing,
    "10.6": judge_torch,
}
