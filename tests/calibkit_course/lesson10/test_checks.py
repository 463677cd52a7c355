"""Answers to the exercises of lesson 10, wrong and right, and the numbers that it states."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from calibkit.calibrators import TemperatureScaling
from calibkit.errors import expected_calibration_error
from calibkit.scores import brier_score, log_loss
from calibkit_course import lesson10, open_lesson
from calibkit_course.lesson10 import checks, problems, runs
from calibkit_course.lesson10.checks import temperature as packaged
from calibkit_course.lesson10.smoothing import undo_label_smoothing

# --- 10.3 --------------------------------------------------------------------------------------


def stepping(*parts: str, returns: str = "before", cost: str = "logits") -> Callable[..., Any]:
    """Return a training step made of some of its parts, in the order given."""

    def step(network: Any, optimiser: Any, images: Any, labels: Any) -> Any:
        from torch.nn.functional import cross_entropy

        def cost_now() -> Any:
            logits = network(images)
            if cost == "softmax":
                return cross_entropy(logits.softmax(1), labels)
            value = cross_entropy(logits, labels, reduction="sum" if cost == "sum" else "mean")
            return -value if cost == "minus" else value

        loss = cost_now()
        for part in parts:
            {"zero": optimiser.zero_grad, "backward": loss.backward, "step": optimiser.step}[part]()
        values = {"before": loss.item(), "after": cost_now(), "tensor": loss, "nothing": None}
        return values[returns]

    return step


def on_half(network: Any, optimiser: Any, images: Any, labels: Any) -> Any:
    return stepping(*WHOLE)(network, optimiser, images[:25], labels[:25])


def in_autocast(network: Any, optimiser: Any, images: Any, labels: Any) -> Any:
    import torch

    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(network(images), labels)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss


WHOLE = ("zero", "backward", "step")
WRONG_STEPS: list[tuple[Any, str]] = [
    (stepping("backward", "step"), "adds to the slopes of the batch before"),
    (stepping("zero", "backward"), "The optimiser makes the step"),
    (stepping("zero", "step"), "`loss.backward()` makes the slopes"),
    (stepping("backward", "zero", "step"), "`zero_grad` comes before it"),
    (stepping(*WHOLE, cost="softmax"), "softmax once more"),
    (stepping(*WHOLE, cost="sum"), "their mean is wanted"),
    (stepping(*WHOLE, cost="minus"), "the loss climbs"),
    (stepping(*WHOLE, "step"), "others than those of one step"),
    (on_half, "a part of the batch"),
    (stepping(*WHOLE, returns="after"), "the mean loss of the batch before the step is"),
    (stepping(*WHOLE, returns="nothing"), "returns nothing"),
    (lambda network, images: 0.0, "raised"),
    (0.3, "a function"),
]
RIGHT_STEPS = [
    stepping(*WHOLE),
    stepping("backward", "step", "zero"),
    stepping(*WHOLE, returns="tensor"),
    in_autocast,
]

# --- 10.1 and 10.6 -----------------------------------------------------------------------------


def mean_loss(logits: Any, y: Any, temperature: float) -> float:
    rows = np.arange(len(y))
    return float(-log_softmax(np.asarray(logits) / temperature, axis=1)[rows, y].mean())


def search(loss: Callable[[float], float], low: float = 0.05, high: float = 20.0) -> float:
    return float(minimize_scalar(loss, bounds=(low, high), method="bounded").x)


def bounded(logits: Any, y: Any, low: float = 0.05, high: float = 20.0) -> float:
    return search(lambda temperature: mean_loss(logits, y, temperature), low, high)


def own_column(log_prob: Any, y: Any) -> float:
    return float(-log_prob[np.arange(len(y)), y].mean())


def in_the_inverse(logits: Any, y: Any) -> float:
    return 1 / search(lambda slope: mean_loss(logits, y, 1 / slope))


def by_plain_exp(logits: Any, y: Any) -> float:
    def loss(temperature: float) -> float:
        with np.errstate(all="ignore"):
            powers = np.exp(logits / temperature)
            prob = powers / powers.sum(axis=1, keepdims=True)
            return float(-np.log(prob[np.arange(len(y)), y]).mean())

    return search(loss)


def of_lowest_ece(logits: Any, y: Any) -> float:
    def error(t: float) -> float:
        prob = softmax(logits / t, axis=1)
        return expected_calibration_error(y, prob, view="top-label").value

    return float(min(np.linspace(0.3, 5, 300), key=error))


def not_a_number(logits: Any, y: Any) -> float:
    return float("nan") if logits.max() > 700 else packaged(logits, y)


def few_steps(logits: Any, y: Any) -> float:
    """Take fifty short steps of gradient descent from 1.5: a published recipe in spirit."""
    temperature = 1.5
    for _ in range(50):
        slope = (
            mean_loss(logits, y, temperature + 1e-5) - mean_loss(logits, y, temperature)
        ) / 1e-5
        temperature -= 0.01 * slope
    return temperature


def with_torch(logits: Any, y: Any, **options: Any) -> float:
    import torch

    scores, label = torch.tensor(logits), torch.tensor(y)
    log_t = torch.zeros(1, dtype=scores.dtype, requires_grad=True)
    optimiser = torch.optim.LBFGS([log_t], line_search_fn="strong_wolfe", **options)

    def closure() -> Any:
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(scores / log_t.exp(), label)
        loss.backward()
        return loss

    optimiser.step(closure)
    return float(log_t.exp().item())


def half_precision(logits: Any, y: Any) -> float:
    """As torch's bfloat16, which keeps the first half of the bits; without waiting for torch."""
    bits = np.asarray(logits, dtype=np.float32).view(np.uint32) + 0x8000 & 0xFFFF0000
    return packaged(bits.view(np.float32).astype(np.float64), y)


def single_precision(logits: Any, y: Any) -> float:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return with_torch(shifted.astype(np.float32), y, max_iter=100)


WRONG_FITS: list[tuple[Any, str]] = [
    (lambda z, y: 1 / packaged(z, y), "this is 1/T"),
    (lambda z, y: np.log(packaged(z, y)), "logarithm of T"),
    (lambda z, y: -packaged(z, y), "turn the ranking round"),
    (lambda z, y: 1.5, "where the search began"),
    (few_steps, "halted"),
    *((lambda z, y, t=t: t, "the same for all other logits") for t in (2.81, 3.03452)),
    (lambda z, y: bounded(z, y, 1.0, 20.0), "both sides of 1"),
    (lambda z, y: search(lambda t: brier_score(y, softmax(z / t, axis=1)).value), "Brier"),
    (by_plain_exp, "overflows"),
    (of_lowest_ece, "where the ECE is about lowest"),
    (lambda z, y: 19.99999, "minus sign"),
    (lambda z, y: search(lambda t: -log_softmax(z / t, axis=1)[:, y].mean()), "takes all labels"),
    (lambda z, y: search(lambda t: own_column(log_softmax(z / t), y)), "over the classes"),
    (not_a_number, "not a number"),
    (lambda z, y: softmax(z, axis=1), "should be one temperature"),
    (lambda z, y: packaged(softmax(z, axis=1) + 1, y), "softmax was applied twice"),
    (lambda z, y: round(packaged(z, y) + 0.02, 2), "search between its points"),
    (lambda z, y: mean_loss(z, y, packaged(z, y)), "Return the T"),
]

# --- 10.4 --------------------------------------------------------------------------------------

FLOOR = float(np.log(1 + 9 / np.e))

# --- 10.5 --------------------------------------------------------------------------------------

(P_FIT, Y_FIT), (P_TEST, Y_TEST) = problems.smoothed_model()
SCALING = TemperatureScaling("probabilities").fit(P_FIT, Y_FIT)
T = SCALING.temperature_
SCALED = log_loss(Y_TEST, SCALING.calibrate(P_TEST)).value
UNDONE = log_loss(Y_TEST, undo_label_smoothing(P_TEST, amount=0.1)).value

# --- 10.2 --------------------------------------------------------------------------------------


TRAIN, VALIDATION, TEST = range(3)


def reporting(fit_to: list[int], judge: int) -> Callable[..., float]:
    """Fit T to some of the three splits and report one."""

    def report(*splits: Any) -> float:
        logits, label = (np.concatenate([splits[i][k] for i in fit_to]) for k in (0, 1))
        return mean_loss(*splits[judge], packaged(logits, label))

    return report


def by_hand(train: Any, validation: Any, test: Any) -> float:
    return mean_loss(*test, bounded(*validation))


def unscaled(train: Any, validation: Any, test: Any) -> float:
    return mean_loss(*test, 1.0)


WRONG: dict[str, list[tuple[Any, str]]] = {
    "10.1": [*WRONG_FITS, (half_precision, "half precision")],
    "10.6": WRONG_FITS,
    "10.4": [
        (("A", FLOOR), "a temperature repairs them"),
        (("C", FLOOR), "Look for the file"),
        (("B", 0.0), "no such floor"),
        (("B", np.log(10)), "ten equal probabilities"),
        (("B", np.log(10) + 3e-3), "Your number is 2.3056"),
        (("B", np.log(1 + 1 / np.e)), "two classes"),
        (("B", np.e / (np.e + 9)), "minus its logarithm"),
        (("B", np.log2(1 + 9 / np.e)), "in bits"),
        (("B", np.log10(1 + 9 / np.e)), "base 10"),
        (("B", problems.losses_of_files()["A"][2]), "stands in the table"),
        (("B", 1.3), "e / (e + 9)"),
        (("D", FLOOR), "`A`, `B`, `C`"),
        (("B", "high"), "a number"),
    ],
    "10.5": [
        ((1 / T, SCALED, UNDONE), "is above 1"),
        ((packaged(P_FIT + 1, Y_FIT), SCALED, UNDONE), "as logits"),
        ((packaged(np.log(P_TEST), Y_TEST), SCALED, UNDONE), "fitted to the test half"),
        ((0.7, SCALED, UNDONE), "T is 0.847"),
        ((T, log_loss(Y_TEST, P_TEST).value, UNDONE), "without any scaling"),
        ((T, log_loss(Y_FIT, SCALING.calibrate(P_FIT)).value, UNDONE), "fitting half"),
        ((T, UNDONE, SCALED), "the log loss 1.3201"),
        ((T, SCALED, SCALED), "undoing gives"),
    ],
    "10.2": [
        (reporting([TEST], TEST), "which then judges it"),
        (reporting([TRAIN], TEST), "by heart"),
        (reporting([TRAIN, VALIDATION], TEST), "no place in the fit"),
        (reporting([VALIDATION], VALIDATION), "validation split. Report the test"),
        (reporting([VALIDATION], TRAIN), "train split. Report the test"),
        (unscaled, "before scaling"),
        (lambda *splits: 0.5, "an honest report says"),
    ],
}  # fmt: skip

RIGHT: dict[str, list[Any]] = {
    "10.1": [bounded, in_the_inverse, packaged, lambda z, y: float(f"{packaged(z, y):.3g}")],
    "10.6": [packaged, bounded],
    "10.4": [("B", FLOOR), ["b", 1.461], ("B", -np.log(softmax([1.0] + 9 * [0.0])[0]))],
    "10.5": [(T, SCALED, UNDONE), [0.847, 1.320, 1.3104]],
    "10.2": [reporting([VALIDATION], TEST), by_hand],
}
# Without torch there is no training step, and no row of it.
WRONG["10.3"] = WRONG_STEPS if find_spec("torch") else WRONG_STEPS[-1:]
RIGHT["10.3"] = RIGHT_STEPS if find_spec("torch") else []
if find_spec("torch"):
    RIGHT["10.6"] += [lambda z, y: with_torch(z, y, max_iter=100), single_precision]


# --- what the lesson says ----------------------------------------------------------------------


def test_a_second_softmax_cannot_be_scaled_away() -> None:
    """Exercise 10.4: the others end at one log loss, the culprit above it and above its floor."""
    losses = problems.losses_of_files()
    assert losses["A"][2] == pytest.approx(losses["C"][2], abs=1e-9)
    assert losses["B"][2] > losses["A"][2] + 0.1
    assert losses["B"][1] > FLOOR and losses["C"][1] < losses["B"][1] < losses["A"][1]
    for letter, (scores, y) in problems.three_files().items():
        t, at_one, at_best = losses[letter]
        assert mean_loss(scores, y, 1.0) == pytest.approx(at_one, abs=1e-9)
        assert mean_loss(scores, y, t) == pytest.approx(at_best, abs=1e-9)
        assert bounded(scores, y, 0.02, 20) == pytest.approx(t, abs=2e-3)


@pytest.mark.slow
def test_a_check_of_a_step_says_that_torch_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    said = repr(open_lesson("10", keep=False).check("10.3", stepping(*WHOLE)))
    assert "Run `python dev.py torch`" in " ".join(said.split())


def test_size_decay_and_ensembles_show_in_the_temperature() -> None:
    """And so does batch norm, with and without noise."""
    for rows in lesson10.five_seeds().values():
        hot, ece = (
            {n: np.mean(row[key]) for n, row in rows.items()} for key in ("temperature", "ece")
        )
        assert hot["smaller network"] < hot["cross-entropy"] < hot["larger network"]
        cooler = ("batch norm", "weight decay 0.3", "ensemble of 5")
        assert max(hot[name] for name in cooler) < hot["cross-entropy"]
        assert max(ece[name] for name in cooler) < ece["cross-entropy"]


def test_the_table_of_five_seeds_says_what_the_lesson_says() -> None:
    noisy, clean = lesson10.five_seeds().values()
    for rows in (noisy, clean):
        ece = {name: np.mean(row["ece"]) for name, row in rows.items()}
        assert min(ece, key=lambda name: ece[name]) == "focal loss 3"
        assert max(ece, key=lambda name: ece[name]) == "label smoothing 0.1"
        assert np.mean(rows["label smoothing 0.1"]["temperature"]) < 1
    verdicts = [{name: row["verdict"] for name, row in rows.items()} for rows in (noisy, clean)]
    both = dict.fromkeys(("label smoothing 0.1", "mixup 0.4", "batch norm"), "not separated")
    worse = {"focal loss 3": "higher", "smaller network": "higher", "larger network": "lower"}
    assert (both | worse | {"weight decay 0.3": "not separated"}).items() <= verdicts[0].items()
    assert dict.fromkeys(both, "lower").items() <= verdicts[1].items()


@pytest.mark.long
def test_the_stored_training_is_what_the_package_trains() -> None:
    """Computers differ in the last digits, and a training makes them larger: coarse bounds."""
    pytest.importorskip("torch")
    pytest.importorskip("mlxtend")
    fresh, stored = runs.train(), runs.stored()
    np.testing.assert_array_equal(fresh.history.labels, stored.history.labels)
    for name in ("accuracy", "log_loss", "calibration_error", "refined_log_loss"):
        one, other = getattr(fresh.history, name), getattr(stored.history, name)
        np.testing.assert_allclose(one[[0, 11, 39]], other[[0, 11, 39]], atol=0.12, err_msg=name)
    assert fresh.history.temperature[39] == pytest.approx(stored.history.temperature[39], rel=0.15)
    same = np.mean(fresh.test.argmax(axis=1) == stored.test.argmax(axis=1))
    assert same > 0.85
    assert stored.kept.shape == fresh.kept.shape and stored.train.shape == fresh.train.shape


def test_the_stored_logits_belong_to_the_stored_history() -> None:
    run = runs.stored()
    for place, epoch in enumerate(runs.KEPT):
        loss = mean_loss(run.kept[place], run.history.labels, 1.0)
        assert loss == pytest.approx(run.history.log_loss[epoch - 1], abs=0.005)
        assert run.at(epoch).sum(axis=1) == pytest.approx(np.ones(1500))
    np.testing.assert_array_equal(run.validation, run.kept[-1])


def test_without_torch_the_stored_outputs_are_read_and_said_so(monkeypatch, capsys) -> None:
    monkeypatch.setattr(runs, "find_spec", lambda name: None)
    assert lesson10.follow(...) is runs.stored()
    assert "torch is missing. These are the stored outputs" in capsys.readouterr().out


def test_the_step_of_the_learner_trains(monkeypatch, capsys) -> None:
    monkeypatch.setattr(runs, "find_spec", lambda name: True)
    monkeypatch.setattr(runs, "train", lambda step=None: step)
    assert lesson10.follow(...) is None
    assert "still a blank: the one of the package trains" in capsys.readouterr().out
    assert lesson10.follow(mean_loss) is mean_loss and not capsys.readouterr().out
