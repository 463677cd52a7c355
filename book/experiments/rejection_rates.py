"""Measure how often the tests of calibration reject: calibrated models, and five wrong ones.

``python -m book.experiments.rejection_rates`` prints the sizes of the limit laws at the 5 % level;
with ``--redraws`` the same for p-values by redraws (half a minute each); with ``--power`` the
power against five distortions (a minute); with ``--lessons`` how often the last lines of lessons
06 and 07 accuse (a minute).

The tables on the book's page "Measured" were made by this file, with its seeds.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import special

from book.experiments.kernel import KernelRule
from calibkit.bins import EqualMass
from calibkit.calibrators import IsotonicCalibrator, PlattCalibrator
from calibkit.chance.null import redrawn_labels
from calibkit.fakes import LogitDistortion, SyntheticShape
from calibkit.hypothesis_tests import binned, cox, cumulative
from calibkit.hypothesis_tests.p_values import Statistic, chi_squared
from calibkit.inputs import FloatVector

Build = Callable[[FloatVector], Statistic]
Rates = dict[str, dict[str, float]]

LEVEL = 0.05

SCORES: dict[str, Callable[[np.random.Generator, int], FloatVector]] = {
    "uniform": lambda rng, n: rng.random(n),
    "sharp": lambda rng, n: rng.beta(0.3, 0.3, n),
    "rare": lambda rng, n: rng.beta(1.0, 49.0, n),
}


def hosmer_lemeshow(prob: FloatVector, *, pooled: bool) -> Statistic:
    """Return the statistic of ten equal-mass bins."""
    squares = binned.binned_squares(prob, EqualMass(10), pooled=pooled)
    return chi_squared("Hosmer-Lemeshow", *squares)


def kernel(prob: FloatVector, length_scale: float) -> Statistic:
    """Return the kernel calibration error as a statistic."""
    rule = KernelRule(prob, length_scale)

    def of(residual: FloatVector) -> float:
        return float(rule.statistic(residual[np.newaxis])[0])

    return Statistic(
        "kernel", "SKCE", "gamma law", of, lambda value: rule.p_value(np.array([value]))[0]
    )


def sums(build: Callable[..., Statistic], of_path: Callable[[FloatVector], float]) -> Build:
    """Return a test of cumulative differences for predictions without ties."""

    def built(prob: FloatVector) -> Statistic:
        spread = np.sqrt((prob * (1 - prob)).sum())
        return build(lambda r: of_path(np.concatenate(([0.0], np.cumsum(r)))) / spread)

    return built


TESTS: dict[str, Build] = {
    "Hosmer-Lemeshow, bin-mean": lambda p: hosmer_lemeshow(p, pooled=True),
    "Hosmer-Lemeshow, predictions": lambda p: hosmer_lemeshow(p, pooled=False),
    "Spiegelhalter": cox.brier_statistic,
    "Cox, both": cox.cox_statistic,
    "Cox, intercept": lambda p: cox.cox_statistic(p, "intercept"),
    "Cox, slope": lambda p: cox.cox_statistic(p, "slope"),
    "ECCE-MAD": sums(cumulative.largest_statistic, lambda path: float(np.abs(path).max())),
    "ECCE-R": sums(cumulative.range_statistic, lambda path: float(np.ptp(path))),
    "kernel 0.1": lambda p: kernel(p, 0.1),
    "kernel 0.05": lambda p: kernel(p, 0.05),
    "adaptive, Bonferroni": binned.adaptive_statistic,
}


def _logits(prob: FloatVector) -> FloatVector:
    return np.asarray(special.logit(prob))


TRUTHS: dict[str, Callable[[FloatVector], FloatVector]] = {
    "none": lambda p: p,
    "logits too large (0.8)": lambda p: np.asarray(special.expit(0.8 * _logits(p))),
    "logits shifted (-0.2)": lambda p: np.asarray(special.expit(_logits(p) - 0.2)),
    "sine, 2 periods (0.05)": lambda p: np.clip(p + 0.05 * np.sin(4 * np.pi * p), 0, 1),
    "sine, 8 periods (0.10)": lambda p: np.clip(p + 0.10 * np.sin(16 * np.pi * p), 0, 1),
    "only above 0.9 (-0.08)": lambda p: np.where(p > 0.9, p - 0.08, p),
}


def sizes(
    scores: str, n: int, *, models: int = 250, labels: int = 40, seed: int = 1
) -> dict[str, float]:
    """Return how often each limit law rejects calibrated models, `models` times `labels` cases.

    Predictions are drawn anew for each model; labels are drawn from them.
    """
    rng = np.random.default_rng([seed, n, list(SCORES).index(scores)])
    rejected = dict.fromkeys(TESTS, 0)
    for _ in range(models):
        prob = np.sort(SCORES[scores](rng, n))
        residual = (rng.random((labels, n)) < prob) - prob
        for name, build in TESTS.items():
            test = build(prob)
            rejected[name] += sum(float(test.tail(test.of(r))) <= LEVEL for r in residual)
    return {name: count / (models * labels) for name, count in rejected.items()}


def redraw_sizes(
    scores: str, n: int, *, models: int = 250, labels: int = 40, draws: int = 199
) -> dict[str, float]:
    """Return the same for p-values by redraws; the redraws of a model serve all its labels."""
    rng = np.random.default_rng([2, n, list(SCORES).index(scores)])
    rejected = dict.fromkeys(TESTS, 0)
    for _ in range(models):
        prob = np.sort(SCORES[scores](rng, n))
        p_values = _redraw_p_values(prob, prob, labels, draws, rng)
        for name, values in p_values.items():
            rejected[name] += int((values <= LEVEL).sum())
    return {name: count / (models * labels) for name, count in rejected.items()}


def power(n: int, *, models: int = 50, labels: int = 40, draws: int = 999, seed: int = 3) -> Rates:
    """Return how often each test rejects each truth; redraws give the p-values.

    The logits of the predictions are normal with standard deviation 1.5.
    """
    rng = np.random.default_rng([seed, n])
    rates = {name: dict.fromkeys(TRUTHS, 0.0) for name in TESTS}
    for _ in range(models):
        prob = np.sort(special.expit(rng.normal(0, 1.5, n)))
        for truth, change in TRUTHS.items():
            for name, values in _redraw_p_values(prob, change(prob), labels, draws, rng).items():
                rates[name][truth] += float((values <= LEVEL).mean()) / models
    return rates


def _redraw_p_values(
    prob: FloatVector, truth: FloatVector, labels: int, draws: int, rng: np.random.Generator
) -> dict[str, FloatVector]:
    """Test labels that follow `truth` by redraws of labels that follow `prob`."""
    tests = {name: build(prob) for name, build in TESTS.items()}
    residuals = [label - prob for label in redrawn_labels(prob, draws, rng)]
    drawn = {name: np.array([test.size(r) for r in residuals]) for name, test in tests.items()}
    seen = (rng.random((labels, len(prob))) < truth) - prob
    found = {}
    for name, test in tests.items():
        value = np.array([test.size(r) for r in seen])[:, np.newaxis]
        beyond = (drawn[name] >= value * (1 - 1e-9) - 1e-13).sum(axis=1)
        found[name] = (1 + beyond) / (draws + 1)
    return found


def five_bins_hide(fake: LogitDistortion | SyntheticShape, n: int, files: int = 100) -> float:
    """Return how often lesson 06 says that five bins hide an error, at p = 0.05, in `files`."""
    found = 0
    for seed in range(files):
        sample, rng = fake.sample(n, seed), np.random.default_rng([6, seed])
        p, few, many = sample.y_prob, *((k * sample.y_prob).astype(int) for k in (5, 50))
        few, many = np.minimum(few, 4), np.minimum(many, 49)
        count = np.maximum(np.bincount(few, minlength=5), 1)
        like_five = np.clip(p + (np.bincount(few, sample.y_true - p, 5) / count)[few], 0, 1)
        labels = [sample.y_true, *(rng.random((100, n)) < like_five)]
        errors = np.array([np.abs(np.bincount(many, p - y)).sum() for y in labels])
        found += int(np.mean(errors >= errors[0]) <= LEVEL)
    return found / files


def faults_found(fake: LogitDistortion, n: int, files: int = 200) -> tuple[float, float]:
    """Return how often lesson 07 finds a fault in a file: by the two maps alone, and by the bar."""
    alone, barred = 0, 0
    for seed in range(files):
        sample, rng = fake.sample(n, seed), np.random.default_rng([7, seed])
        p = sample.y_prob
        at = np.quantile(p, [0.1, 0.5, 0.9])
        off, apart = [], []
        for y in (sample.y_true, *(rng.random((20, n)) < p)):
            maps = [m.fit(p, y).curve(at) for m in (IsotonicCalibrator(), PlattCalibrator())]
            off.append(np.abs(np.mean(maps, axis=0) - at))
            apart.append(np.abs(maps[0] - maps[1]))
        alone += int((off[0] > 2 * apart[0]).any())
        barred += int((off[0] > np.maximum(2 * apart[0], np.max(off[1:], axis=0))).any())
    return alone / files, barred / files


def last_lines() -> Iterator[str]:
    """Yield, in per cent, how often the last lines of lessons 06 and 07 accuse."""
    perfect, bold = LogitDistortion(), LogitDistortion(slope=0.5)
    fakes: dict[str, Any] = {"perfect": perfect, "bold": bold}
    fakes["stairs"] = SyntheticShape.with_error("stairs", 0.05)
    for name, fake in fakes.items():
        rates = (100 * five_bins_hide(fake, n) for n in (1_000, 5_000, 20_000))
        yield f"06, {name}: " + ", ".join(f"{rate:.0f}" for rate in rates)
    for name in ("perfect", "bold"):
        rates = (100 * rate for n in (1_000, 3_000) for rate in faults_found(fakes[name], n))
        yield f"07, {name}: " + ", ".join(f"{rate:.1f}" for rate in rates)


def table(columns: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield the lines of a table in per cent; its columns are named by the keys."""
    for number, name in enumerate(columns, start=1):
        yield f"({number}) {name}"
    yield f"{'':30}" + "".join(f"{f'({i + 1})':>8}" for i in range(len(columns)))
    for row in TESTS:
        yield f"{row:30}" + "".join(f"{100 * column[row]:8.2f}" for column in columns.values())


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--power", action="store_true", help="power instead of size")
    parser.add_argument("--lessons", action="store_true", help="the last lines of lessons 06, 07")
    parser.add_argument("--redraws", action="store_true", help="redraws instead of limit laws")
    options = parser.parse_args()
    if options.lessons:
        print(*last_lines(), sep="\n")
        return
    if options.power:
        for n in (500, 2000):
            rates = power(n)
            columns = {t: {name: rates[name][t] for name in TESTS} for t in TRUTHS}
            print(f"n = {n}", *table(columns), sep="\n")
        return
    cells = [(scores, n) for scores in SCORES for n in (200, 2000)]
    measure = redraw_sizes if options.redraws else sizes
    print(*table({f"{scores}, n = {n}": measure(scores, n) for scores, n in cells}), sep="\n")


if __name__ == "__main__":
    main()
