"""What a cell prints once is no luck of its seed: each claim of lessons 00 to 08, on twenty seeds.

A claim takes a seed and says whether it holds there. Where it holds in fewer than 19 of 20, its
lesson states the share, and the claim here is that share.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit, logit

import calibkit as ck
from calibkit.bins import Pava
from calibkit.calibrators import (
    CrossValidatedBinning,
    FlatBinning,
    IsotonicCalibrator,
    PlattCalibrator,
    SlopeOneBinning,
)
from calibkit.corp import corp_decomposition
from calibkit.fakes import FakeSample, KnobClassifier, LogitDistortion, SyntheticShape
from calibkit.fit_on_test import fit_on_test
from calibkit.piecewise import PiecewiseLinear
from calibkit.significance import test_based_calibration_error as tce
from calibkit_course import lesson07

SEEDS = range(100, 120)
PERFECT, OVER = LogitDistortion(), LogitDistortion(slope=0.7)


def ece(sample: FakeSample, bins: int = 15) -> float:
    return ck.expected_calibration_error(sample.y_true, sample.y_prob, bins=bins).value


def p_value(sample: FakeSample, seed: int) -> float:
    rows = sample.y_true, sample.y_prob
    return ck.null_level(ck.expected_calibration_error, *rows, n_draws=199, rng=seed).p_value


def rejected(sample: FakeSample, bins: object, alpha: float = 0.05) -> float:
    return tce(sample.y_true, sample.y_prob, bins=bins, alpha=alpha, null_draws=0).value


def off(model: object, sample: FakeSample) -> float:
    """Return how far a map fitted to a sample is from the true one, on this sample."""
    fitted = model.fit(sample.y_prob, sample.y_true).curve(sample.y_prob)  # type: ignore[attr-defined]
    return float(np.abs(fitted - sample.true_prob).mean())


def renaming_costs_miscalibration_alone(seed: int) -> bool:
    sample = PERFECT.sample(3000, seed)
    bold = expit(logit(sample.y_prob) / 0.33)
    honest, other = (corp_decomposition(sample.y_true, p) for p in (sample.y_prob, bold))
    same = np.isclose(honest.discrimination, other.discrimination)
    return bool(same) and other.miscalibration > 3 * honest.miscalibration


def five_bins_win_ece_and_lose_log_loss(seed: int) -> bool:
    fit, test = (LogitDistortion(slope=0.8).sample(n, seed) for n in (5000, 20_000))
    inner = np.quantile(fit.y_prob, [0.2, 0.4, 0.6, 0.8])
    group = np.searchsorted(inner, fit.y_prob)
    height = np.array([fit.y_true[group == b].mean() for b in range(5)])
    binned = height[np.searchsorted(inner, test.y_prob)]
    gap, loss = ck.expected_calibration_error, ck.log_loss
    won = gap(test.y_true, binned).value < gap(test.y_true, test.y_prob).value
    return won and loss(test.y_true, binned).value > loss(test.y_true, test.y_prob).value


def a_sample_gives_the_pivot_away(seed: int) -> bool:
    pivot = KnobClassifier(3, 0.7, budget_share=0.6, direction="pivot", concentration=3)
    sample = pivot.sample(20_000, rng=seed)
    rows = sample.y_true, sample.y_prob
    return ck.expected_calibration_error(*rows, view="top-label").value > 0.08


def the_smooth_diagram_is_the_guilty_one(seed: int) -> bool:
    left, right = PERFECT.sample(300, seed), OVER.sample(10_000, seed)
    return ece(left) > ece(right) and p_value(right, seed) < 0.01


def half_of_perfect_models_have_a_point_outside(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    draws = [PERFECT.sample(300, rng) for _ in range(40)]
    bands = [ck.consistency_band(d.y_true, d.y_prob, n_draws=200, rng=rng) for d in draws]
    return 0.3 < np.mean([band.outside.any() for band in bands]) < 0.75


def flat_tops_report_more(seed: int) -> bool:
    sample = LogitDistortion(slope=0.5).sample(500, seed)
    families = SlopeOneBinning(10), FlatBinning(10)
    slanted, flat = (
        fit_on_test(sample.y_true, sample.y_prob, evaluator=one).value for one in families
    )
    return abs(slanted - ece(sample, 10)) < 1e-12 and flat > slanted


def bins_have_the_worst_map(seed: int) -> bool:
    sample = SyntheticShape("beta2").sample(3000, seed)
    bins, *others = SlopeOneBinning(14), IsotonicCalibrator(), PlattCalibrator()
    return off(bins, sample) > max(off(one, sample) for one in others)


def own_labels_reward_splits(seed: int) -> bool:
    sample = SyntheticShape("beta2").sample(3000, seed)
    maps = [SlopeOneBinning(b).fit(sample.y_prob, sample.y_true) for b in (15, 50, 150, 300)]
    fitted = [one.curve(sample.y_prob) for one in maps]
    own = [np.mean((f - sample.y_true) ** 2) for f in fitted]
    far = [np.mean((f - sample.true_prob) ** 2) for f in fitted]
    return all(a > b for a, b in pairwise(own)) and all(a < b for a, b in pairwise(far))


def cross_validation_gains_the_map_and_not_the_number(seed: int) -> bool:
    shape = SyntheticShape.with_error("stairs", 0.05)
    samples = [shape.sample(1000, 40 * seed + k) for k in range(40)]
    gains = []
    for model in (SlopeOneBinning(ck.EqualMass(15)), CrossValidatedBinning()):
        number = []
        for s in samples:
            map_off = off(model, s)
            number.append((map_off, abs(lesson07.reported(model, s) - lesson07.true_error(s))))
        gains.append(number)
    gain = np.array(gains[0]) - np.array(gains[1])
    z = gain.mean(axis=0) / gain.std(axis=0) * 40**0.5
    return z[0] > 2 > z[1]


def most_perfect_pairs_differ_by_more_than_the_sellers(seed: int) -> bool:
    rng, network = np.random.default_rng(seed), LogitDistortion(scores=(9.5, 0.5))
    errors = np.array([ece(network.sample(1000, rng)) for _ in range(200)]).reshape(2, 100)
    return np.mean(np.abs(errors[0] - errors[1]) >= 0.002) > 0.5


def half_of_debiased_squares_are_negative(seed: int) -> bool:
    rng, negative = np.random.default_rng(seed), []
    for _ in range(100):
        sample = PERFECT.sample(1000, rng)
        error = ck.debiased_calibration_error(sample.y_true, sample.y_prob, bins=15)
        negative.append(error.square < 0)
    return 0.3 < np.mean(negative) < 0.75


def two_pieces_beat_fifteen_bins(seed: int) -> bool:
    sample = SyntheticShape.with_error("square", 0.05).sample(1000, seed)
    return off(PiecewiseLinear(n_pieces=2), sample) < off(SlopeOneBinning(15), sample)


def bins_turn_an_order_around_and_pieces_do_not(seed: int) -> bool:
    sample = SyntheticShape.with_error("square", 0.05).sample(1000, seed)
    stairs, bend = SlopeOneBinning(15), PiecewiseLinear(n_pieces=2)
    for model in (stairs, bend):
        model.fit(sample.y_prob, sample.y_true)
    edges = np.arange(1, 15) / 15
    falls = stairs.curve(edges + 1e-6) < stairs.curve(edges - 1e-6) - 0.01
    return bool(falls.any()) and bool(np.all(np.diff(bend.heights_) > 0))


def one_piece_between_logits_is_enough(seed: int) -> bool:
    sample = LogitDistortion(slope=0.4).sample(3000, seed)
    plain = min(off(PiecewiseLinear(n_pieces=k), sample) for k in (1, 2, 3))
    return off(PiecewiseLinear("logit", 1), sample) < plain


def a_smaller_level_does_not_shrink_the_tce_alike(seed: int) -> bool:
    sample = PERFECT.sample(4000, seed)
    wide, strict = (rejected(sample, ck.EqualMass(10), alpha) for alpha in (0.05, 0.01))
    return strict > 0.3 * wide


def more_data_raise_the_tce_of_a_perfect_model(seed: int) -> bool:
    shares = [rejected(PERFECT.sample(n, seed), ck.EqualMass(10)) for n in (500, 2000, 8000)]
    return shares == sorted(shares) and shares[-1] > 0.35


def remedies_keep_a_perfect_model_below_a_tenth(seed: int) -> bool:
    rng, found = np.random.default_rng(seed), []
    for n in (500, 2000, 8000):
        sets = [PERFECT.sample(n, rng) for _ in range(20)]
        rules = ck.EqualMass(round(n**0.5)), Pava()
        found += [np.mean([rejected(s, rule) for s in sets]) for rule in rules]
    return max(found) < 0.08


def an_honest_model_fails_the_contract(seed: int) -> bool:
    year = PERFECT.sample(8000, seed)
    bill = tce(year.y_true, year.y_prob, bins=ck.EqualMass(10), null_draws=99, rng=seed)
    return bill.value > 0.1 and bill.p_value > 0.05


def the_smooth_error_of_a_perfect_model_falls(seed: int) -> bool:
    sets = [PERFECT.sample(n, seed) for n in (500, 8000)]
    few, many = (ck.smooth_calibration_error(s.y_true, s.y_prob).value for s in sets)
    return many < few


Claim = Callable[[int], bool]
CLAIMS: dict[str, list[Claim]] = {
    "02": [renaming_costs_miscalibration_alone, five_bins_win_ece_and_lose_log_loss],
    "03": [a_sample_gives_the_pivot_away],
    "04": [the_smooth_diagram_is_the_guilty_one, half_of_perfect_models_have_a_point_outside],
    "05": [flat_tops_report_more, bins_have_the_worst_map, own_labels_reward_splits],
    "06": [
        most_perfect_pairs_differ_by_more_than_the_sellers,
        half_of_debiased_squares_are_negative,
        cross_validation_gains_the_map_and_not_the_number,
    ],
    "07": [
        two_pieces_beat_fifteen_bins,
        bins_turn_an_order_around_and_pieces_do_not,
        one_piece_between_logits_is_enough,
    ],
    "08": [
        a_smaller_level_does_not_shrink_the_tce_alike,
        more_data_raise_the_tce_of_a_perfect_model,
        remedies_keep_a_perfect_model_below_a_tenth,
        an_honest_model_fails_the_contract,
        the_smooth_error_of_a_perfect_model_falls,
    ],
}


@pytest.mark.long
@pytest.mark.parametrize(
    "claim",
    [pytest.param(c, id=f"{n} {c.__name__}") for n, claims in CLAIMS.items() for c in claims],
)
def test_a_claim_holds_on_nineteen_of_twenty_seeds(claim: Claim) -> None:
    failed = [seed for seed in SEEDS if not claim(seed)]
    assert len(failed) <= 1, f"not on the seeds {failed}"
