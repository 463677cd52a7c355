"""Look every day: how often a calibrated model is accused, and how late a wrong one is found.

``python -m book.experiments.peeking`` measures both for `calibkit_audit.Monitor`, beside
the test of the mean gap that was made for one look (a quarter of an hour; ``--streams 100`` is a
quick look). ``--rival`` puts the monitor of the library probcal beside ours on the same streams,
``--repair`` tries what `Monitor` says after an alarm; eight minutes each.
"""

import argparse
import importlib
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.inputs import FloatVector
from calibkit_audit import Monitor

ROWS, DAY = 10_000, 100
WATCHED, BEGINS = 4_000, 1_000  # rows beside a rival, and those before an error begins
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


def batches(
    rng: np.random.Generator,
    scores: str,
    shift: float,
    slope: float,
    rows: int,
    size: int,
    begins: int = BEGINS,
) -> Iterator[tuple[NDArray[np.bool_], FloatVector]]:
    """Yield labels and predictions; from row `begins` on their logits are other than said."""
    prob = SCORES[scores](rng)[:rows]
    said = special.logit(prob)
    truth = np.where(np.arange(rows) < begins, said, shift + slope * said)
    label = rng.random(rows) < special.expit(truth)
    yield from ((label[k : k + size], prob[k : k + size]) for k in range(0, rows, size))


def beside_the_rival(
    streams: int, seed: int, scores: str, shift: float, begins: int = BEGINS
) -> Alarms:
    """Return the row of the day of each first alarm, and the interval of the offset at the end."""
    theirs = importlib.import_module("probcal.monitor").CalibrationMonitor
    found: dict[str, list[Any]] = {}
    for i in range(streams):
        rng = np.random.default_rng([seed, i])
        watching, rows = {"ours": Monitor(), "theirs": theirs()}, 0
        first = dict.fromkeys(watching, np.inf)
        for label, prob in batches(rng, scores, shift, 1.0, WATCHED, DAY, begins):
            rows += len(label)
            last = {name: one.update(label.astype(float), prob) for name, one in watching.items()}
            for name, one in last.items():
                first[name] = min(first[name], rows if one.alarm else np.inf)
        ours, other = last["ours"], last["theirs"].delta_ci or (np.nan, np.nan)
        for name, ends in (("ours", (ours.offset_low, ours.offset_high)), ("theirs", other)):
            found.setdefault(name, []).append(first[name])
            found.setdefault(f"{name}, low", []).append(ends[0])
            found.setdefault(f"{name}, high", []).append(ends[1])
    return {name: np.array(values) for name, values in found.items()}


def repairs(streams: int, seed: int, scores: str, shift: float, slope: float) -> Alarms:
    """Return what `Monitor` says of the offset after an alarm that came after the error.

    For each stream: does each of the intervals at twenty looks hold the shift, the last interval,
    and is no offset left.
    """
    found = []
    for i in range(streams):
        monitor, held = Monitor(), True
        for part in batches(np.random.default_rng([seed, i]), scores, shift, slope, ROWS, 500):
            seen = monitor.update(*part)
            if seen.alarm:
                held &= seen.offset_low <= shift <= seen.offset_high
        if seen.alarm and seen.alarm > BEGINS:
            refit = np.isnan(seen.offset)
            found.append((held, seen.offset_low, seen.offset_high, refit, ROWS - seen.alarm))
    return dict(zip(("held", "low", "high", "refit", "rows"), np.transpose(found), strict=True))


def share(rows: FloatVector) -> str:
    """Say in how many of 100 streams there was an alarm."""
    return f"{100 * np.isfinite(rows).mean():5.1f} %"


def main(arguments: list[str] | None = None) -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--streams", type=int, default=2000, help="streams of calibrated rows")
    for name in ("--rival", "--repair"):
        parser.add_argument(name, action="store_true", help="that table alone")
    options = parser.parse_args(arguments)
    if options.rival or options.repair:
        (print_rival if options.rival else print_repairs)()
    else:
        print_peeking(options.streams)


def print_rival() -> None:
    """Print level and delay of both monitors, and how often their intervals hold the offset."""
    for scores in ("uniform", "rare"):
        found = beside_the_rival(200, 11, scores, 0)
        accused = {name: share(found[name]) for name in ("ours", "theirs")}
        print(f"calibrated, {scores}:", accused, flush=True)
    for begins, shift in product((BEGINS, 0), (0.3, 0.5)):
        found = beside_the_rival(100, 12, "uniform", shift, begins)
        for name in ("ours", "theirs"):
            rows, low, high = (found[name + end] for end in ("", ", low", ", high"))
            late = rows > begins
            held = ((low <= shift) & (shift <= high))[late & np.isfinite(rows)]
            print(
                f"from row {begins}, shift {shift}, {name}: found {share(rows[late])}, "
                f"too early {(~late).sum()}, median delay {np.median(rows[late]) - begins:.0f}, "
                f"at the end the interval holds the shift in {100 * held.mean():.0f} %, is empty "
                f"in {100 * np.isnan(low[late]).mean():.0f} %, "
                f"half of it {np.nanmedian(high - low) / 2:.2f}",
                flush=True,
            )


def print_repairs() -> None:
    """Print how often the offset is held at all looks, and what is said at the last."""
    for scores, shift, slope in (
        ("uniform", 0.3, 1.0),
        ("uniform", 0.5, 1.0),
        ("rare", 0.5, 1.0),
        ("uniform", 0.0, 0.8),
        ("uniform", 0.3, 0.8),
        ("uniform", 0.0, 0.6),
    ):
        found = repairs(200, 13, scores, shift, slope)
        width = np.nanmedian(found["high"] - found["low"]) / 2 if slope == 1 else np.nan
        known = (found["low"] > 0) | (found["high"] < 0)
        held = f"held {100 * found['held'].mean():.1f} %, " if slope == 1 else ""
        print(
            f"{scores}, shift {shift}, slope {slope}: {len(known)} streams, {held}"
            f"move {100 * known.mean():.1f} %, refit {100 * found['refit'].mean():.1f} %, "
            f"± {width:.2f}, {np.median(found['rows']):.0f} rows",
            flush=True,
        )


def print_peeking(streams: int) -> None:
    """Print how often the calibrated are accused, and how late an error is found."""
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
