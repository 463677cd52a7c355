"""How often intervals of a judged rate hold it: `python -m book.experiments.judged_rates`.

Six worlds of 4,000 rows, 200 of which have a label of people (in the last one about as many, chosen
by score); the true rate is known.
"""

from typing import Any

import numpy as np
from scipy.special import expit, logit

from calibkit_audit import estimate_rate

ROWS, LABELLED, SETS = 4_000, 200, 1_000
SPREAD = 1.5  # of what answers to one question share, in logits


def answers(world: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return scores, labels of some rows, and the true rate."""
    chance, truth = rng.beta(2, 1, ROWS), 2 / 3
    share: Any = 1.0
    raters = 1
    question = np.repeat(np.arange(ROWS // 5), 5)
    if world == "verdicts, rare failure":
        chance, truth = np.full(ROWS, 0.95), 0.95
    if world == "five answers per question":
        chance = expit(1 + rng.normal(0, SPREAD, ROWS // 5)[question])
        node, weight = np.polynomial.hermite_e.hermegauss(60)
        truth = float(expit(1 + SPREAD * node) @ weight / weight.sum())
    if world == "three raters":
        raters = 3
    label = rng.binomial(raters, chance) / raters
    score = expit(1.6 * logit(chance) + 1)
    if world == "verdicts, rare failure":
        score = (rng.random(ROWS) < np.where(label == 1, 0.99, 0.3)).astype(float)
    if world == "verdicts":
        score = (rng.random(ROWS) < np.where(label == 1, 0.95, 0.5)).astype(float)
    if world == "labels chosen by score":
        share = 0.02 + 0.15 * (1 - score)
    known = rng.permutation(ROWS) < LABELLED
    given: dict[str, Any] = {"judge": score, "truth": truth}
    if world == "five answers per question":
        known = np.isin(question, rng.permutation(ROWS // 5)[: LABELLED // 5])
        given["cluster"] = question
    if world == "labels chosen by score":
        known = rng.random(ROWS) < share
        given["chance"] = share
    return given | {"labels": np.where(known, label, np.nan)}


WORLDS = (
    "scores",
    "verdicts",
    "verdicts, rare failure",
    "three raters",
    "five answers per question",
    "labels chosen by score",
)


def main() -> None:
    """Print the rows of the table: coverage in per cent, and mean half width in hundredths."""
    for number, world in enumerate(WORLDS):
        hits, width = np.zeros(6), np.zeros(6)
        for seed in range(SETS):
            given = answers(world, np.random.default_rng([number, seed]))
            truth = given.pop("truth")
            found = estimate_rate(**given)
            ends = [np.append(end, end[found.recommended]) for end in (found.low, found.high)]
            hits += (ends[0] <= truth) & (truth <= ends[1])
            width += ends[1] - ends[0]
        cells = [
            "–" if np.isnan(w) else f"{100 * h / SETS:.1f} (±{50 * w / SETS:.1f})"
            for h, w in zip(hits, width, strict=True)
        ]
        print(f"| {world} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
