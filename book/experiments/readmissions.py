"""A hospital's table to learn on, and its truth: `python -m book.experiments.readmissions`.

Nobody's data: 3,000 discharges of two years are drawn from a world that is known. A patient is at
home for six weeks at least before the next stay. What brings a patient back are things that the
model sees (ward, age, days, laboratory) and one that it does not: the patient. Its risks are too
bold, and too low; and from July 2024 on, patients are sent home earlier, which adds 0.5 to the
logit of every readmission and which the model does not know.

`readmissions.csv` is what a hospital would hand over, with fields that somebody forgot to fill.
`readmissions_truth.csv` holds the chance that nature used, and what was to be expected of a stay by
all that the model sees; the lessons open it late.
"""

import csv
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from calibkit_course.data.files import SHIPPED

ROWS, SEED = 3_000, 20230101
FIRST, LAST, CHANGE = date(2023, 1, 1), date(2024, 12, 31), date(2024, 7, 1)
HARM = 0.5  # what the change adds to the logit
SPREAD = 0.9  # standard deviation of what a patient brings and no column holds
BOLD, LOW = 1.6, 0.35  # the stated logit is `BOLD` times the right one, plus `LOW`
WARDS = {"medicine": 0.0, "surgery": -0.45, "geriatrics": 0.35, "cardiology": 0.25}
NO_RISK, NO_OUTCOME = 14, 6  # fields that nobody filled
NOTES = (
    "home, family visits",
    "home alone",
    "nursing home, bed kept",
    "wound clean, stitches out on day 10",
    "asked for a later date",
    'calls it "the usual"',
    "letter sent to the practice",
    "",
)
COLUMNS = ("stay", "patient", "ward", "discharged", "age", "days", "note", "risk", "readmitted")
TRUTH = ("stay", "chance", "expected")


def make() -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows of both tables, in the order of the dates."""
    rng = np.random.default_rng(SEED)
    stays = drawn_stays(rng)
    patient, day = np.array(stays).T
    patients = patient.max() + 1
    born_before = np.clip(rng.normal(66, 15, patients), 18, 98)
    brings = rng.normal(0, SPREAD, patients)
    home_ward = rng.choice(len(WARDS), patients, p=[0.4, 0.25, 0.2, 0.15])
    ward = np.where(rng.random(ROWS) < 0.8, home_ward[patient], rng.integers(0, 4, ROWS))
    age = (born_before[patient] + day / 365).astype(int)
    days = 1 + rng.geometric(0.18, ROWS)
    laboratory = rng.normal(0, 0.7, ROWS)
    seen = -1.75 + np.array([*WARDS.values()])[ward] + 0.015 * (age - 66)
    seen += 0.35 * np.log(days / 5) + laboratory
    right = expected(seen)
    risk = np.round(expit(BOLD * logit(right) + LOW), 3)
    worse = HARM * (day >= (CHANGE - FIRST).days)
    chance = expit(seen + worse + brings[patient])
    came = rng.random(ROWS) < chance
    note = rng.choice(len(NOTES), ROWS)
    gone = rng.permutation(ROWS)[: NO_RISK + NO_OUTCOME]
    names, rows, truth = [*WARDS], [], []
    for k in range(ROWS):
        stated = "" if k in gone[:NO_RISK] else f"{risk[k]:.3f}"
        outcome = "" if k in gone[NO_RISK:] else "yes" if came[k] else "no"
        when = FIRST + timedelta(days=int(day[k]))
        shown = names[ward[k]], when.isoformat(), age[k], days[k], NOTES[note[k]]
        rows.append((f"S{k + 1:04}", f"P{patient[k] + 1:04}", *shown, stated, outcome))
    for k, both in enumerate(zip(chance, expected(seen + worse), strict=True)):
        truth.append((f"S{k + 1:04}", *(f"{value:.3f}" for value in both)))
    return rows, truth


def drawn_stays(rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return patient and day of every stay, by day; how often one comes depends on nothing."""
    span, patient = (LAST - FIRST).days + 1, 0
    stays: list[tuple[int, int]] = []
    while len(stays) < ROWS:
        day = int(rng.integers(0, span))
        for _ in range(min(rng.geometric(0.6), ROWS - len(stays))):
            stays.append((patient, day))
            day += 45 + int(rng.exponential(60))
            if day >= span:
                break
        patient += 1
    order = rng.permutation(patient)  # numbers of patients say nothing of their dates
    return sorted(((int(order[who]), day) for who, day in stays), key=lambda stay: stay[::-1])


def expected(seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance of a readmission by what the model sees: the mean over all patients."""
    node, weight = np.polynomial.hermite_e.hermegauss(40)
    values = expit(seen[:, np.newaxis] + SPREAD * node)
    return np.asarray(values @ weight / weight.sum())


def write(path: Path, head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Write one table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    table, truth = make()
    write(SHIPPED / "readmissions.csv", COLUMNS, table)
    write(SHIPPED / "readmissions_truth.csv", TRUTH, truth)
