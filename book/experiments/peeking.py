"""Look every day: how often a calibrated model is accused, and how late a wrong one is found.

``python -m book.experiments.peeking`` measures both for `calibkit_audit.Monitor`, beside
the test of the mean gap that was made for one look (a quarter of an hour; ``--streams 100`` is a
quick look). The tables in the Notes of `Monitor` were made by this file, with its seeds.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.inputs import FloatVector
from calibkit_audit import Monitor

ROWS, DAY = 10_000, 100
LIMIT = 1.959964  # of the fixed-n test, at the 5 % level
SHIFTS = (0.1, 0.2, 0.3, 0.4, 0.5)
Alarms = dict[str, FloatVector]

SCORES: dict[str, Callable[[np.random.Generator], FloatVector]] = {
    "uniform": lambda rng: rng.random(ROWS),
    "sharp": lambda rng: rng.beta(0.3, 0.3, ROWS),
    "rare": lambda rng: rng.beta(1.0, 49.0, ROWS),
}


def first_row(found: NDArray[np.bool_], rows: NDArray[np.intp]) -> float:
    """Return the first of these rows where something was found; infinity if it never was."""
    return float(rows[found.argmax()]) if found.any() else np.inf


def stream(
    rng: np.random.Generator, scores: str, shift: float = 0, begins: int = 0, copies: int = 1
) -> dict[str, float]:
    """Return the row of the first alarm of each test, in one stream.

    From row `begins` on true logits are `shift` higher than said. Each row is written down
    `copies` times; there are `ROWS` in all.
    """
    prob = SCORES[scores](rng)
    truth = special.expit(special.logit(prob) + np.where(np.arange(ROWS) < begins, 0, shift))
    label = rng.random(ROWS) < truth
    prob, label = (np.repeat(part[: ROWS // copies], copies) for part in (prob, label))
    monitor, alarm = Monitor(), None
    for start in range(0, ROWS, 1000):
        part = slice(start, start + 1000)
        alarm = alarm or monitor.update(label[part], prob[part]).alarm
        if alarm:
            break
    z = np.abs((label - prob).cumsum()) / np.sqrt((prob * (1 - prob)).cumsum())
    rows, days = np.arange(1, ROWS + 1), np.arange(DAY, ROWS + 1, DAY)
    return {
        "monitor": float(alarm or np.inf),
        "test, every row": first_row(z[DAY:] > LIMIT, rows[DAY:]),
        "test, every day": first_row(z[days - 1] > LIMIT, days),
        "test, at the end": ROWS if z[-1] > LIMIT else np.inf,
    }


def alarms(streams: int, seed: int, scores: str = "uniform", **options: Any) -> Alarms:
    """Return the first alarms of many streams, by test."""
    found = [stream(np.random.default_rng([seed, i]), scores, **options) for i in range(streams)]
    return {name: np.array([one[name] for one in found]) for name in found[0]}


def share(rows: FloatVector) -> str:
    """Say in how many of 100 streams there was an alarm."""
    return f"{100 * np.isfinite(rows).mean():5.1f} %"


def main(arguments: list[str] | None = None) -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--streams", type=int, default=2000, help="streams of calibrated rows")
    streams = parser.parse_args(arguments).streams
    print(f"accused, of {streams} calibrated streams of {ROWS:,} rows")
    cases: dict[str, dict[str, float]] = {name: {} for name in SCORES}
    for number, name in enumerate([*cases, "uniform, each row five times"]):
        copies = {"copies": 5} if number == len(cases) else {}
        found = alarms(streams, number, name.partition(",")[0], **copies)
        print(f"{name:30}", {test: share(rows) for test, rows in found.items()}, flush=True)
    print("median row of the alarm after the change, and share of streams that have one")
    for begins in (0, ROWS // 2):
        for shift in SHIFTS:
            found = alarms(streams // 4, 9, shift=shift, begins=begins)
            early = {test: (rows <= begins).mean() for test, rows in found.items()}
            for test, rows in found.items():
                late = rows[rows > begins]
                print(
                    f"from row {begins:5}, shift {shift}: {test:18}"
                    f"{np.median(late) - begins:8.0f} {share(late)}, too early {early[test]:.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
