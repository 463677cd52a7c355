"""What an audit by cluster, or by weight, keeps of its promises: false alarms, intervals, power.

``python -m book.experiments.clustered_rows`` measures nine designs of calibrated rows that belong
together (hours; ``--sets 50`` is a quick look): how often they are called miscalibrated with
the clusters named and without, and how often logits said 0.7 too high are found. ``--intervals``
(minutes) measures how often 90 % intervals hold what a repair, fitted to all rows of a set, gains
on new clusters, and the difference of two models' Brier scores. ``--alone``
measures independent rows: false alarms of the audit and of the test over time, how often that test
finds a drift, and how often two equally good models are separated.
``--weights`` measures the first two tables for six designs of weights, beside as many plain rows as
the weights are worth (``--weights --intervals`` for the second).
``--seasons`` tries repairs of three files of forecasts on whole seasons left out, beside rows left
out.

The rates of alarms and power in the Notes of `audit` were made with ``--sets 60``, those
of weights with 200, those of intervals with 300.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from calibkit.inputs import FloatVector, IntVector
from calibkit_audit import audit, compare
from calibkit_audit.auditing.comparison import rows_of_models
from calibkit_audit.auditing.differences import change_of, row_scores
from calibkit_audit.auditing.repairs import repairs_of
from calibkit_audit.auditing.settings import AuditSettings
from calibkit_audit.incoming import kish

SHIFT = 0.7  # of the logits, where power is asked for
WORDS = ("better", "worse")
DRIFT = 0.6  # of the logits, up in the first half of independent rows and down in the second
SETTINGS = AuditSettings(repairs=["Platt"], n_draws=499, n_resamples=50, level=0.9)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Calibrated predictions with their labels; which rows belong together, or what each weighs."""

    y_true: IntVector
    y_prob: FloatVector
    cluster: IntVector | None = None
    weight: FloatVector | None = None

    @property
    def named(self) -> dict[str, Any]:
        """What an audit has to be told of the rows."""
        if self.weight is not None:
            return {"sample_weight": self.weight}
        return {"cluster": self.cluster}


def walk(rng: np.random.Generator, teams: int = 30, dates: int = 40) -> Drawn:
    """Draw what is known of a team's season, date by date; its one outcome ends every row."""
    time = np.sort(rng.uniform(0, 0.9, dates))
    steps = rng.normal(size=(teams, dates)) * np.sqrt(np.diff(time, prepend=0))
    known = rng.normal(0, 0.5, (teams, 1)) + np.cumsum(steps, axis=1)
    won = known[:, -1] + rng.normal(size=teams) * np.sqrt(1 - time[-1]) > 0
    prob = special.ndtr(known / np.sqrt(1 - time))
    return Drawn(np.repeat(won * 1, dates), prob.ravel(), np.repeat(np.arange(teams), dates))


def repeated(rng: np.random.Generator, cases: int = 100, rows: int = 10, mean: float = 0) -> Drawn:
    """Draw one prediction and one outcome per case, and write both down several times."""
    prob = special.expit(rng.normal(mean, 1.2, cases))
    label = (rng.random(cases) < prob) * 1
    return Drawn(*(np.repeat(part, rows) for part in (label, prob, np.arange(cases))))


def effects(rng: np.random.Generator, size: IntVector | list[int], sd: float = 0.8) -> Drawn:
    """Draw rows with an effect of their cluster on the logit, which the predictions average out."""
    cluster = np.repeat(np.arange(len(size)), size)
    score, effect = rng.normal(0, 1.2, len(cluster)), rng.normal(0, sd, len(size))[cluster]
    points, weight = np.polynomial.hermite_e.hermegauss(20)
    prob = special.expit(score[:, np.newaxis] + sd * points) @ weight / weight.sum()
    return Drawn((rng.random(len(score)) < special.expit(score + effect)) * 1, prob, cluster)


def unequal(rng: np.random.Generator, clusters: int = 100) -> Drawn:
    """Draw clusters of 1 to 400 rows, with effects."""
    size = np.minimum(1 + (5 * rng.pareto(1.2, clusters)).astype(np.intp), 400)
    return effects(rng, size)


def classes(rng: np.random.Generator, cases: int = 100, rows: int = 10, k: int = 10) -> Drawn:
    """Draw one vector of probabilities and one class per case, written down several times."""
    prob = rng.dirichlet(np.full(k, 0.5), cases)
    label = np.minimum((rng.random((cases, 1)) > prob.cumsum(axis=1)).sum(axis=1), k - 1)
    return Drawn(*(np.repeat(part, rows, axis=0) for part in (label, prob, np.arange(cases))))


def chosen(
    rng: np.random.Generator, chance: Callable[..., Any], mean: float = 0, n: int = 500
) -> Drawn:
    """Choose n rows of a population with chances by prediction, label and luck; weigh them so."""
    prob = special.expit(rng.normal(mean, 1.2, 40 * n))
    label = (rng.random(len(prob)) < prob) * 1
    kept = np.minimum(chance(prob, label, rng.lognormal(0, 1, len(prob))), 1.0)
    row = np.flatnonzero(rng.random(len(prob)) < kept)[:n]
    return Drawn(label[row], prob[row], weight=1 / kept[row] / (1 / kept[row]).mean())


def everybody(prob: FloatVector, *_: Any) -> FloatVector:
    """Choose rows with equal chances."""
    return np.ones(len(prob))


DESIGNS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "random walk, 30 x 40": walk,
    "random walk, 200 x 5": partial(walk, teams=200, dates=5),
    "repeated outcome, 100 x 10": repeated,
    "repeated rare outcome, 300 x 10": partial(repeated, cases=300, mean=-3.5),
    "random effect, 10 x 100": partial(effects, size=[100] * 10),
    "random effect, 60 x 20": partial(effects, size=[20] * 60),
    "random effect, 1000 x 3": partial(effects, size=[3] * 1000),
    "unequal sizes, 100": unequal,
    "ten classes, 100 x 10": classes,
}
WEIGHTS: dict[str, Any] = {
    "chosen by luck": partial(chosen, chance=lambda p, y, luck: luck / 10),
    "chosen by luck, rare events": partial(chosen, chance=lambda p, y, luck: luck / 10, mean=-3),
    "chosen by prediction": partial(chosen, chance=lambda p, y, luck: np.maximum(p**2, 0.01)),
    "a tenth of the others": partial(chosen, chance=lambda p, y, luck: np.where(y, 1, 0.1)),
    "a tenth of the events": partial(chosen, chance=lambda p, y, luck: np.where(y, 0.1, 1)),
    "a twentieth of the others, rare events": partial(
        chosen, chance=lambda p, y, luck: np.where(y, 1, 0.05), mean=-3
    ),
}


def shifted(prob: FloatVector, by: float) -> FloatVector:
    """Return predictions whose logits (of class 0 of several) are said `by` too high."""
    if prob.ndim == 1:
        return np.asarray(special.expit(special.logit(prob) + by))
    change = np.where(np.arange(prob.shape[1]) == 0, by, 0.0)
    return np.asarray(special.softmax(np.log(np.maximum(prob, 1e-300)) + change, axis=1))


def one_set(design: str, number: int) -> dict[str, float]:
    """Return what audits of one set of a design find."""
    draw, rng = (DESIGNS | WEIGHTS)[design], np.random.default_rng([25, number])
    made = draw(rng)
    y, p, told = made.y_true, made.y_prob, made.named
    settings = SETTINGS if p.ndim == 1 else replace(SETTINGS, repairs=["temperature"])
    options: dict[str, Any] = {"settings": settings, "rng": number}
    asked: list[tuple[Any, Any, dict[str, Any]]]
    asked = [(y, p, told), (y, p, {}), (y, shifted(p, SHIFT), told)]
    if made.weight is not None:
        worth = int(kish(made.weight).sum())
        plain = WEIGHTS[design](rng, chance=everybody, n=worth)
        asked.append((plain.y_true, shifted(plain.y_prob, SHIFT), {}))
    codes = [audit(y, said, **named, **options).codes for y, said, named in asked]
    right, by_rows, wrong = ("miscalibrated" in found for found in codes[:3])
    found: dict[str, float] = {"alarm": right, "alarm by rows": by_rows}
    found |= {"repair": "repair" in codes[0], "power": wrong}
    if made.weight is not None:
        found |= {"plain power": "miscalibrated" in codes[3], "worth": worth / 100}
    return found


def expected_loss(truth: FloatVector, prob: FloatVector, *, brier: bool = False) -> float:
    """Return the mean log loss or Brier score of predictions where labels have these chances."""
    truth, prob = (x if x.ndim == 2 else np.column_stack([1 - x, x]) for x in (truth, prob))
    if brier:  # of two classes one counts
        return float(((prob - truth) ** 2).sum(axis=1).mean()) / (2 if prob.shape[1] == 2 else 1)
    return float(-(truth * np.log(np.maximum(prob, 1e-300))).sum(axis=1).mean())


def intervals(design: str, n_sets: int) -> dict[str, float]:
    """Return how often intervals hold what a repair gains, and a difference of two models.

    Predictions are calibrated by construction, so they are the chances of fresh labels: that
    leaves out the noise of labels from the truth. Sets without an interval count as missed.
    """
    draw: Callable[..., Drawn] = (DESIGNS | WEIGHTS)[design]
    all_rows = {"chance": everybody} if design in WEIGHTS else {}
    pool = [draw(np.random.default_rng([26, i]), **all_rows).y_prob for i in range(60)]
    fresh = np.concatenate(pool)
    said, hits = shifted(fresh, SHIFT), np.zeros(2)
    before, apart = expected_loss(fresh, said), expected_loss(fresh, said, brier=True)
    for number in range(n_sets):
        made = draw(np.random.default_rng([25, number]))
        off, name = shifted(made.y_prob, SHIFT), "temperature" if fresh.ndim == 2 else "Platt"
        settings = AuditSettings(repairs=[name], level=0.9)
        rows, probs = rows_of_models(made.y_true, {"off": off, "right": made.y_prob}, **made.named)
        view = None if fresh.ndim == 1 else "top-label"
        found = repairs_of(rows, settings, np.random.default_rng(number), view=view)
        gain = before - expected_loss(fresh, found.calibrator.calibrate(said))
        off, right = (row_scores(rows.label, p, None)["Brier score"] for p in probs.values())
        pair = change_of(rows, "Brier score", (off, right), settings.level)
        hits += (found.table.low[0] <= gain <= found.table.high[0], pair.low <= -apart <= pair.high)
    return dict(zip(("gain", "difference"), (hits / n_sets).tolist(), strict=True))


def rates(design: str, n_sets: int) -> dict[str, float]:
    """Return the shares of the table for one design."""
    found = [one_set(design, number) for number in range(n_sets)]
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def alone(design: str, n_sets: int) -> dict[str, float]:
    """Return what audit and compare say of so many independent rows, by shares of data sets."""
    n, found = int(design), []
    for number in range(n_sets):
        rng = np.random.default_rng([27, n, number])
        true, noise = rng.normal(size=n), rng.normal(0, 0.5, (2, n))
        drift, uniform = np.where(np.arange(n) < n // 2, DRIFT, -DRIFT), rng.random(n)
        settings = AuditSettings(repairs=[], n_resamples=50)
        options: dict[str, Any] = {"time": np.arange(n), "rng": number, "settings": settings}
        right, changed = (
            audit(uniform < special.expit(z), special.expit(true), **options).codes
            for z in (true, true + drift)
        )
        models = dict(zip("ab", special.expit(true + noise), strict=True))
        happened = uniform < special.expit(true)
        pair = compare(happened, models, costs=(1, 9), rng=number)
        separated = [m for (_, m), one in pair.changes.items() if one.verdict in WORDS]
        found.append(
            {
                "alarm": "miscalibrated" in right,
                "time": "error changes" in right,
                "drift found": "error changes" in changed,
                "log loss separated": "log loss" in separated,
                "any separated": bool(separated),
                "codes": pair.codes != {"not separated"},
            }
        )
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def seasons(name: str, folds: int = 5) -> dict[str, float]:
    """Return what Platt's map gains in nats on folds of rows, and on folds of whole seasons."""
    from calibkit_course.data import load

    data: Any = load(name)
    season = np.asarray(data.columns["season"])
    found: dict[str, float] = {}
    for words, cluster in (("rows", None), ("seasons", season)):
        settings = AuditSettings(repairs=["Platt"], folds=folds)
        table = audit(data.y_true, data.y_prob, cluster=cluster, settings=settings).repairs
        found |= {f"{words} gain": table.gain[0], f"{words} low": table.low[0]}
        found[f"{words} high"] = table.high[0]
    return {key: float(value) for key, value in found.items()}


def main(arguments: list[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", type=int, default=300, help="data sets per design")
    kinds = parser.add_mutually_exclusive_group()
    parser.add_argument("--weights", action="store_true", help="six designs of weights")
    kinds.add_argument("--intervals", action="store_true", help="coverage of intervals")
    kinds.add_argument("--alone", action="store_true", help="independent rows")
    kinds.add_argument("--seasons", action="store_true", help="forecasts, whole seasons left out")
    options = parser.parse_args(arguments)
    scale, digits, names = 100, 1, tuple(WEIGHTS if options.weights else DESIGNS)
    kind = intervals if options.intervals else rates
    measure: Callable[[str], dict[str, float]] = partial(kind, n_sets=options.sets)
    if options.alone:
        names, measure = ("100", "1000", "4000"), partial(alone, n_sets=options.sets)
    if options.seasons:
        scale, digits, names, measure = 1, 4, ("mlb", "nba", "nfl"), seasons
    for design in names:
        said = (f"{key} {scale * value:.{digits}f}" for key, value in measure(design).items())
        print(f"{design:40}{'  '.join(said)}", flush=True)


if __name__ == "__main__":
    main()
