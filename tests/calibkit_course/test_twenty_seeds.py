"""What a cell prints once is no luck of its seed: each claim of a lesson, on twenty seeds.

A claim is a function of `seed` alone that says whether it holds there. Where it holds in fewer than
19 of 20, its lesson states in how many, and `SHARES` repeats it.
"""

from collections.abc import Callable
from inspect import isfunction, signature
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr, softmax
from sklearn.linear_model import LogisticRegression

import calibkit as ck
from calibkit import calibrators as cal
from calibkit.bins import Pava
from calibkit.calibrators import PiecewiseLinear, TemperatureScaling
from calibkit.decisions import policy_cost
from calibkit.fakes import (
    DirichletFake,
    FakeSample,
    KnobClassifier,
    LogitDistortion,
    SyntheticShape,
)
from calibkit.hypothesis_tests import test_based_calibration_error as tce
from calibkit.inputs import FloatMatrix, FloatVector
from calibkit.scores import corp_decomposition
from calibkit_audit import audit
from calibkit_course import data, lesson06, lesson07, lesson10, lesson12, my_table
from calibkit_course.lesson09 import GaussianDiscriminant
from calibkit_course.lesson14 import VerbalModel
from tests.paths import lesson_text

SEEDS = range(100, 120)
PERFECT, OVER = LogitDistortion(), LogitDistortion(slope=0.7)


def ece(sample: FakeSample, bins: int = 15) -> float:
    return ck.expected_calibration_error(sample.y_true, sample.y_prob, bins=bins).value


def p_value(sample: FakeSample, seed: int, n_draws: int = 199, bins: int = 15) -> float:
    rows, how = (sample.y_true, sample.y_prob), {"n_draws": n_draws, "rng": seed}
    return ck.null_level(ck.expected_calibration_error, *rows, bins=bins, **how).p_value


def rejected(sample: FakeSample, bins: object, alpha: float = 0.05) -> float:
    return tce(sample.y_true, sample.y_prob, bins=bins, alpha=alpha, n_draws=0).value


def off(model: object, sample: FakeSample) -> float:
    """Return how far a map fitted to a sample is from the true one, on this sample."""
    fitted = model.fit(sample.y_prob, sample.y_true).curve(sample.y_prob)  # type: ignore[attr-defined]
    return float(np.abs(fitted - sample.true_prob).mean())


# --- lesson 02 -----------------------------------------------------------------------------------


def renaming_costs_miscalibration_alone(seed: int) -> bool:
    sample = PERFECT.sample(3000, seed)
    bold = expit(logit(sample.y_prob) / 0.33)
    honest, other = (corp_decomposition(sample.y_true, p) for p in (sample.y_prob, bold))
    same = np.isclose(honest.discrimination, other.discrimination)
    return bool(same) and 0.12 < other.miscalibration / np.mean((bold - sample.y_true) ** 2) < 0.18


def five_bins_win_ece_and_lose_log_loss(seed: int) -> bool:
    fit, test = (LogitDistortion(slope=0.8).sample(n, seed) for n in (5000, 20_000))
    inner = np.quantile(fit.y_prob, [0.2, 0.4, 0.6, 0.8])
    group = np.searchsorted(inner, fit.y_prob)
    height = np.array([fit.y_true[group == b].mean() for b in range(5)])
    binned = height[np.searchsorted(inner, test.y_prob)]
    gap, loss = ck.expected_calibration_error, ck.log_loss
    won = gap(test.y_true, binned).value < gap(test.y_true, test.y_prob).value
    return won and loss(test.y_true, binned).value > loss(test.y_true, test.y_prob).value


# --- lesson 03 -----------------------------------------------------------------------------------


def five_bins_give_the_pivot_away_and_two_do_not(seed: int) -> bool:
    pivot = KnobClassifier(10, 0.8, budget_share=0.6, direction="pivot", concentration=2)
    sample = pivot.sample(100_000, rng=seed)
    rows, error = (sample.y_true, sample.y_prob), ck.expected_calibration_error
    two, five = (error(*rows, view="top-label", bins=bins).value for bins in (2, 5))
    return two < 0.01 and 0.1 < five < 0.112


# --- lesson 04 -----------------------------------------------------------------------------------


def the_smooth_diagram_is_the_guilty_one(seed: int) -> bool:
    left, right = PERFECT.sample(300, seed), OVER.sample(10_000, seed)
    return p_value(right, seed) < 0.01 < p_value(left, seed)


def half_of_perfect_models_have_a_point_outside(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    draws = [PERFECT.sample(300, rng) for _ in range(40)]
    bands = [ck.consistency_band(d.y_true, d.y_prob, n_draws=200, rng=rng) for d in draws]
    return 0.3 < np.mean([band.outside.any() for band in bands]) < 0.75


def the_right_sellers_bill_is_above_both_others(seed: int) -> bool:
    new = OVER.sample(1_000_000, seed)
    stated = new.y_prob, new.true_prob, np.ones(len(new.y_true))
    right, left, everybody = (policy_cost(new.y_true, p, costs=(1, 9)).value for p in stated)
    missed = [np.mean(new.y_true * (p < 0.1)) for p in stated]
    dearer = 0.021 < right - left < 0.027 and 0.005 < right - everybody < 0.011
    return dearer and bool(missed[0] > 3 * missed[1])


def chance_does_not_explain_the_readmissions_by_one_row_per_patient(seed: int) -> bool:
    one = my_table().groupby("patient").sample(1, random_state=seed)
    return p_value(one, seed) < 0.01 and ece(one) > 0.05


# --- lesson 05 -----------------------------------------------------------------------------------


def chance_adds_fifteen_thousandths_to_bins_and_isotonic_is_nearer_for_the_bold(seed: int) -> bool:
    bold, timid = (_off_by(LogitDistortion(slope=slope), seed) for slope in (0.5, 2))
    nearer = [np.mean(np.abs(one[:, 1]) < np.abs(one[:, 0])) for one in (bold, timid)]
    lower = [np.mean(one[:, 1] < one[:, 0]) for one in (bold, timid)]
    added = bold[:, 0].mean()
    return bool(
        0.01 < added < 0.02 and nearer[0] > 0.5 > nearer[1] and lower[0] > 0.9 > 0.3 > lower[1]
    )


def _off_by(model: LogitDistortion, seed: int) -> FloatVector:
    """Return what the ECE and isotonic regression say too much, in a hundred samples."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(100):
        s = model.sample(500, rng)
        curve = cal.IsotonicCalibrator().fit(s.y_prob, s.y_true).curve(s.y_prob)
        truth = np.abs(s.y_prob - s.true_prob).mean()
        found.append([ece(s) - truth, np.abs(s.y_prob - curve).mean() - truth])
    return np.array(found)


def bins_have_the_worst_map(seed: int) -> bool:
    sample = SyntheticShape("beta2").sample(3000, seed)
    bins, *others = cal.SlopeOneBinning(14), cal.IsotonicCalibrator(), cal.PlattCalibrator()
    return off(bins, sample) > max(off(one, sample) for one in others)


def own_labels_reward_splits(seed: int) -> bool:
    sample = SyntheticShape("beta2").sample(3000, seed)
    maps = [cal.SlopeOneBinning(b).fit(sample.y_prob, sample.y_true) for b in (15, 50, 150, 300)]
    fitted = [one.curve(sample.y_prob) for one in maps]
    own = [np.mean((f - sample.y_true) ** 2) for f in fitted]
    far = [np.mean((f - sample.true_prob) ** 2) for f in fitted]
    return all(a > b for a, b in pairwise(own)) and all(a < b for a, b in pairwise(far))


# --- lesson 06 -----------------------------------------------------------------------------------


def cross_validation_gains_the_map_and_not_the_number(seed: int) -> bool:
    shape = SyntheticShape.with_error("stairs", 0.05)
    samples = [shape.sample(1000, 40 * seed + k) for k in range(40)]
    gains = []
    for model in (cal.SlopeOneBinning(ck.EqualMass(15)), cal.CrossValidatedBinning()):
        number = []
        for s in samples:
            map_off = off(model, s)
            number.append((map_off, abs(lesson07.reported(model, s) - lesson07.true_error(s))))
        gains.append(number)
    gain = np.array(gains[0]) - np.array(gains[1])
    z = gain.mean(axis=0) / gain.std(axis=0) * 40**0.5
    return z[0] > 2 > z[1]


def five_bins_meet_the_truth_of_few_and_hide_it_from_many(seed: int) -> bool:
    few, many = (lesson06.bin_tuner_view(n=n, seed=seed) for n in (1000, 5000))
    at = [float(view.plain_mean[list(view.grid).index(5)] / view.truth) for view in (few, many)]
    return 0.89 < at[0] < 1 and at[1] < 0.89


def twelve_bins_beat_five_at_five_thousand(seed: int) -> bool:
    view = [lesson06.bin_tuner_view(n=5000, n_bins=bins, seed=seed) for bins in (5, 12)]
    five, twelve = (one.replicates.mean_error for one in view)
    return bool(twelve < 0.75 * five)


def most_perfect_pairs_differ_by_more_than_the_sellers(seed: int) -> bool:
    one, two = _shown(seed, scores=(0.085, 0.085))
    return bool(np.mean(np.abs(one - two) >= 0.002) > 0.5)


def _shown(seed: int, n: int = 1000, **fake: object) -> FloatMatrix:
    rng, program = np.random.default_rng(seed), LogitDistortion(**fake)
    return np.reshape([ece(program.sample(n, rng)) for _ in range(400)], (2, 200))


def equal_errors_stray_twice_as_far_as_none(seed: int) -> bool:
    apart = np.subtract(*_shown(seed, 25_000, slope=0.7, scores=(0.085, 0.085)))
    return bool(0.0016 < apart.std() < 0.0022 and 0.2 < np.mean(np.abs(apart) >= 0.002) < 0.4)


def what_a_perfect_program_shows_depends_on_its_predictions(seed: int) -> bool:
    half, few = (np.mean(_shown(seed, scores=s) >= 0.021) for s in ((0.085, 0.085), (1, 19)))
    return bool(0.17 < half < 0.32 and few < 0.03)


def half_of_debiased_squares_are_negative(seed: int) -> bool:
    _, debiased = lesson06.squares(slope=1.0, n_sets=100, seed=seed)
    return bool(0.35 < np.mean(debiased.values < 0) < 0.7)


# --- lesson 07 -----------------------------------------------------------------------------------


def fifteen_bins_are_twice_as_far_as_two_pieces(seed: int) -> bool:
    shape, models = SyntheticShape.with_error("square", 0.05), fifteen_and_two()
    samples = [shape.sample(1000, 20 * seed + k) for k in range(20)]
    bins, pieces = (np.array([off(model, s) for s in samples]) for model in models)
    ratio = bins.mean() / pieces.mean()
    return bool(1.5 < ratio < 3) and bool(np.mean(pieces < bins) > 0.9)


def fifteen_and_two() -> tuple[cal.SlopeOneBinning, PiecewiseLinear]:
    return cal.SlopeOneBinning(15), PiecewiseLinear(n_pieces=2)


def bins_turn_an_order_around_and_pieces_do_not(seed: int) -> bool:
    sample = SyntheticShape.with_error("square", 0.05).sample(1000, seed)
    stairs, bend = fifteen_and_two()
    for model in (stairs, bend):
        model.fit(sample.y_prob, sample.y_true)
    edges = np.arange(1, 15) / 15
    jumps, bends = (m.curve(edges + 1e-6) - m.curve(edges - 1e-6) for m in (stairs, bend))
    return 4 <= np.sum(jumps < -0.001) <= 10 and bool(np.abs(bends).max() < 1e-3)


def an_edge_makes_the_order_a_toss_up_and_sends_patients_home(seed: int) -> bool:
    shape, stairs = SyntheticShape.with_error("square", 0.05), cal.SlopeOneBinning(15)
    wrong, home = [], []
    for n in (1000, 10_000):
        samples = [shape.sample(n, 100 * seed + k) for k in range(100)]
        two = [stairs.fit(s.y_prob, s.y_true).curve(np.array([0.66, 0.67])) for s in samples]
        wrong.append(np.mean([first > second for first, second in two]))
        home.append(np.mean(np.array(two) < 0.65))
    return 0.35 < min(wrong) <= max(wrong) < 0.65 and home[0] > 0.04 and home[1] < 0.01


def a_staircase_reads_few_second_patients_higher_and_sends_fewer_home_than_bins(seed: int) -> bool:
    shape, far = SyntheticShape.with_error("square", 0.05), {}
    samples = [shape.sample(1000, 100 * seed + k) for k in range(100)]
    for name, map_ in zip(("S", "stairs", "bins"), _three_maps(), strict=True):
        fitted = (map_.fit(s.y_prob, s.y_true) for s in samples)
        far[name] = np.array([one.curve(np.array([0.66, 0.67])) for one in fitted])
    home = {name: np.mean(read < 0.65) for name, read in far.items()}
    higher = np.mean(np.diff(far["stairs"]) > 1e-9)
    return bool(0.05 < higher < 0.35 and home["S"] == 0 and home["stairs"] < home["bins"])


def _three_maps() -> tuple[cal.PlattCalibrator, cal.IsotonicCalibrator, cal.SlopeOneBinning]:
    return cal.PlattCalibrator(), cal.IsotonicCalibrator(), cal.SlopeOneBinning(15)


def a_truth_that_leaps_makes_the_best_map_the_worst(seed: int) -> bool:
    models = (cal.PlattCalibrator(), *fifteen_and_two()[::-1], cal.IsotonicCalibrator())
    far = []
    for shape in (SyntheticShape.with_error("square", 0.05), SyntheticShape("stairs")):
        samples = [shape.sample(1000, 10 * seed + k) for k in range(10)]
        far.append([np.mean([off(model, s) for s in samples]) for model in models])
    return np.argmin(far, axis=1).tolist() == [0, 3] and int(np.argmax(far[1])) == 0


def held_out_rows_choose_the_smooth_map_for_the_smooth_truth_alone(seed: int) -> bool:
    models, chosen = (cal.PlattCalibrator(), cal.IsotonicCalibrator()), []
    fifth = np.random.default_rng(seed).integers(5, size=1000)
    for shape in (SyntheticShape.with_error("square", 0.05), SyntheticShape("stairs")):
        chosen.append(0)
        for s in (shape.sample(1000, 20 * seed + k) for k in range(20)):
            loss = np.zeros(2)
            for new in (fifth == k for k in range(5)):
                fits = (model.fit(s.y_prob[~new], s.y_true[~new]) for model in models)
                loss += [np.sum((fit.curve(s.y_prob[new]) - s.y_true[new]) ** 2) for fit in fits]
            chosen[-1] += loss[0] < loss[1]
    return chosen[0] >= 15 and chosen[1] == 0


def one_piece_between_logits_is_enough(seed: int) -> bool:
    sample = LogitDistortion(slope=0.4).sample(3000, seed)
    plain = min(off(PiecewiseLinear(n_pieces=k), sample) for k in (1, 2, 3))
    return off(PiecewiseLinear("logit", 1), sample) < plain


# --- lesson 08 -----------------------------------------------------------------------------------


def two_of_five_over_confident_models_get_away(seed: int) -> bool:
    caught = [p_value(OVER.sample(500, 100 * seed + k), k, 99, 10) <= 0.05 for k in range(100)]
    return bool(0.475 < np.mean(caught) < 0.725)


def whole_patients_are_accused_as_rarely_as_promised(seed: int) -> bool:
    rng, who, accused = np.random.default_rng(seed), np.repeat(np.arange(100), 10), np.zeros(2)
    for _ in range(200):
        p = rng.beta(2, 8, size=1000)
        luck = rng.normal(size=100)[who] + rng.normal(size=1000)
        y, bins = ndtr(luck / np.sqrt(2)) < p, np.minimum((10 * p).astype(int), 9)
        coins = [rng.choice([-1, 1], size=100)[who] * (y - p) for _ in range(99)]
        rows = [(rng.random(1000) < p) - p for _ in range(99)]
        own, *rest = [np.abs(np.bincount(bins, gap)).sum() for gap in (y - p, *rows, *coins)]
        higher = np.array(rest).reshape(2, 99) >= own
        accused += 1 + higher.sum(axis=1) <= 5
    return bool(25 <= accused[0] <= 55 and accused[1] <= 20)


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
        found.append([[rejected(s, rule) for s in sets] for rule in rules])
    means, scatter = np.mean(found, axis=2), np.array(found)[:, 1] > 0.08
    return means.max() < 0.08 and bool(0.1 < scatter.mean() < 0.4)


def honest_models_break_the_contract_once_there_are_data(seed: int) -> bool:
    rng, mass, broken = np.random.default_rng(seed), ck.EqualMass(10), []
    for n, sets in ((500, 90), (8000, 40)):
        rows = [LogitDistortion(scores=(2, 18)).sample(n, rng) for _ in range(sets)]
        broken.append(np.mean([rejected(one, mass) > 0.1 for one in rows]))
    return bool(broken[0] < 0.3 and broken[1] > 0.6)


def the_fair_contract_forgives_small_errors_only(seed: int) -> bool:
    """Of 20 years: few of honest suppliers, some of slightly bold ones, nearly all of bold ones."""
    pays, mass = [], ck.EqualMass(10)
    for slope in (1, 0.95, 0.9):
        model = LogitDistortion(scores=(2, 18), slope=slope)
        years = [model.sample(8000, 20 * seed + k) for k in range(20)]
        found = [tce(y.y_true, y.y_prob, bins=mass, n_draws=19, rng=k) for k, y in enumerate(years)]
        pays.append(np.mean([one.p_value <= 0.05 for one in found]))
    return bool(pays[0] < 0.2 < pays[1] < 0.8 and pays[2] >= 0.9)


def the_smooth_error_of_a_perfect_model_falls(seed: int) -> bool:
    sets = [PERFECT.sample(n, seed) for n in (500, 8000)]
    few, many = (ck.smooth_ece(s.y_true, s.y_prob).value for s in sets)
    return many < few


# --- lesson 09 -----------------------------------------------------------------------------------


def only_the_ratio_says_the_same_in_all_worlds(seed: int) -> bool:
    models = [GaussianDiscriminant(p, deployed=2 * p, scale=2) for p in (0.2, 0.05, 0.01)]
    worlds = [model.sample(6000, seed) for model in models]
    errors = [ece(world, 10) for world in worlds]
    ratios = np.array([world.y_true.sum() / world.y_prob.sum() for world in worlds])
    return errors[0] > 3 * errors[1] > 9 * errors[2] and bool(np.all(np.abs(ratios - 2) < 0.45))


def the_model_wrong_by_a_factor_of_two_has_the_smaller_error(seed: int) -> bool:
    pairs = []
    for said, happens in ((0.5, 0.5), (0.01, 0.02)):
        model = GaussianDiscriminant(said, deployed=happens)
        pairs.append([ece(model.sample(6000, 100 * seed + k), 10) for k in range(100)])
    return bool(0.5 < np.mean(np.array(pairs[1]) < pairs[0]) < 0.8)


def who_knows_nothing_beats_who_is_right_about_rare_events(seed: int) -> bool:
    model, found = GaussianDiscriminant(0.005, scale=0.5), []
    for s in (model.sample(6000, 100 * seed + k) for k in range(100)):
        said = np.zeros(s.n), np.full(s.n, 0.005), s.y_prob
        found.append([ck.expected_calibration_error(s.y_true, p, bins=10).value for p in said])
    return int(np.mean(found, axis=0).argmin()) == 1


def bins_with_an_event_stand_too_high(seed: int) -> bool:
    right, mass = GaussianDiscriminant(0.005, scale=1), ck.EqualMass(10)
    sets = [right.sample(2000, 100 * seed + k) for k in range(20)]
    tables = [ck.reliability_table(s.y_true, s.y_prob, bins=mass) for s in sets]
    kept = [t.gap[t.frequency > 0] @ t.count[t.frequency > 0] for t in tables]
    return bool(np.sum(kept) < 0)


def more_predictions_prove_the_same_fault(seed: int) -> bool:
    model, found = GaussianDiscriminant(0.01, deployed=0.02), []
    for n in (500, 6000, 60_000):
        sets = [model.sample(n, 20 * seed + k) for k in range(8)]
        found.append(np.mean([tce(s.y_true, s.y_prob, n_draws=0).value for s in sets]))
    return found[0] < 0.25 < 0.4 < found[1] < 0.85 < found[2]


def weights_spoil_the_level_and_leave_the_slope(seed: int) -> bool:
    world = GaussianDiscriminant(0.05, scale=1)
    old, new = world.sample(10_000, seed), world.sample(10_000, 1000 + seed)
    model = LogisticRegression(class_weight="balanced").fit(old.feature[:, None], old.y_true)
    weighted = model.predict_proba(new.feature[:, None])[:, 1]
    mended = expit(logit(weighted) + logit(old.y_true.mean()))
    ratios = new.y_true.sum() / np.array([weighted.sum(), mended.sum()])
    slope = ck.cox_test(new.y_true, weighted).slope
    level = 0.35 < weighted.mean() < 0.45 and ratios[0] < 0.15
    return bool(level and 0.75 < ratios[1] < 1.25 and 0.8 < slope < 1.2)


# --- lesson 10 -----------------------------------------------------------------------------------


def one_temperature_hardly_leaks_and_a_matrix_does(seed: int) -> bool:
    data, run = lesson10.images(), lesson10.stored()
    z, y = np.vstack([run.validation, run.test]), np.r_[data.validation_y, data.test_y]
    fit, judge = np.split(np.random.default_rng(seed).permutation(len(y)), [1500])
    leaks = []
    for model in (TemperatureScaling("logits"), cal.MatrixScaling("logits")):
        said = [model.fit(z[rows], y[rows]).calibrate(z[judge]) for rows in (fit, judge)]
        honest, cheating = (ck.log_loss(y[judge], one).value for one in said)
        leaks.append(honest - cheating)
    return leaks[0] < 0.004 < 0.015 < leaks[1]


def a_limit_on_raw_numbers_mends_the_bill_nearly_as_well(seed: int) -> bool:
    """A deal: both cost less than looking at all, the limit at most a quarter more than T."""
    data, run = lesson10.images(), lesson10.stored()
    z, y = np.vstack([run.validation, run.test]), np.r_[data.validation_y, data.test_y]
    fit, judge = np.split(np.random.default_rng(seed).permutation(len(y)), [1500])

    def bill(sure: FloatVector, rows: np.ndarray, limit: float) -> float:
        unseen, ok = sure >= limit, z[rows].argmax(axis=1) == y[rows]
        return float(1000 * (np.mean(~unseen) + 20 * np.mean(unseen & ~ok)))

    own, far = (softmax(z[rows], axis=1).max(axis=1) for rows in (fit, judge))
    limits = np.quantile(own, np.linspace(0, 1, 301))
    raw = bill(far, judge, limits[np.argmin([bill(own, fit, one) for one in limits])])
    said = TemperatureScaling("logits").fit(z[fit], y[fit]).calibrate(z[judge]).max(axis=1)
    return bill(said, judge, 0.95) < 1000 and raw < 1000 and raw < 1.25 * bill(said, judge, 0.95)


# --- lesson 11 -----------------------------------------------------------------------------------


def distance_of(model: cal.Calibrator, n: int, seed: int) -> float:
    """Return the median distance from the true map that is bent twice, over 20 sets."""
    bent, grid = SyntheticShape("stairs", 0.35), (np.arange(2000) + 0.5) / 2000
    said, far = bent.predict(grid), []
    for k in range(20):
        rows = bent.sample(n, 20 * seed + k)
        far.append(np.abs(model.fit(rows.y_prob, rows.y_true).calibrate(said) - grid).mean())
    return float(np.median(far))


def a_hundred_rows_halve_a_large_error(seed: int) -> bool:
    doubled, left, off = LogitDistortion(slope=0.5), [], []
    for k in range(20):
        rows = doubled.sample(100, 20 * seed + k)
        out = cal.PlattCalibrator().fit(rows.y_prob, rows.y_true).calibrate(rows.y_prob)
        for found, p in ((left, rows.y_prob), (off, out)):
            found.append(np.abs(p - rows.true_prob).mean())
    return bool(0.35 < np.mean(off) / np.mean(left) < 0.65)


def the_race_ends_as_it_is_told(seed: int) -> bool:
    free = [cal.IsotonicCalibrator(), cal.HistogramBinning(ck.EqualMass(15))]
    rigid = [cal.PlattCalibrator(), cal.BetaCalibrator()]
    few = [distance_of(one, 100, seed) for one in (*rigid, *free)]
    many = [distance_of(one, 10_000, seed) for one in (*free, *rigid)]
    return min(few) > 0.0399 > many[0] == min(many)


def the_log_loss_chooses_as_the_truth_and_the_error_one_bin(seed: int) -> bool:
    bold, found = LogitDistortion(slope=0.5, scores=(0.7, 0.7)), []
    for b in (1, 3, 12, 60):
        rows = []
        for k in range(20):
            fit, new = bold.sample(2000, 20 * seed + k), bold.sample(20_000, 10_000 + 20 * seed + k)
            said = cal.HistogramBinning(ck.EqualMass(b)).fit(fit.y_prob, fit.y_true)
            out = said.calibrate(new.y_prob)
            far, loss = np.abs(out - new.true_prob).mean(), ck.log_loss(new.y_true, out).value
            rows.append((ck.expected_calibration_error(new.y_true, out).value, loss, far))
        found.append(np.mean(rows, axis=0))
    return np.argmin(found, axis=0).tolist() == [0, 2, 2]


def percentiles_never_hold_zero(seed: int) -> bool:
    rng, perfect = np.random.default_rng(seed), LogitDistortion()
    options = {"level": 0.9, "n_draws": 200, "method": "percentile", "rng": seed}
    sets = [perfect.sample(1000, rng) for _ in range(5)]
    gap = ck.expected_calibration_error
    return min(ck.bootstrap_interval(gap, s.y_true, s.y_prob, **options).low for s in sets) > 0


# --- lesson 12 -----------------------------------------------------------------------------------


def one_number_straightens_the_cycle(seed: int) -> bool:
    cycle = [[0.6, 0.4, 0], [0, 0.6, 0.4], [0.4, 0, 0.6]]
    fake = DirichletFake((1, 1, 1), lesson12.LogLinear(cycle), "confidence-is-base")
    fit, test = fake.sample(5000, seed), fake.sample(50_000, 1000 + seed)
    said = TemperatureScaling("probabilities").fit(fit.y_prob, fit.y_true).calibrate(test.y_prob)
    top = ck.expected_calibration_error(test.y_true, said, view="top-label").value
    each = ck.class_wise_calibration_error(test.y_true, said).value
    return max(top, each) < 0.02 and np.abs(said - test.true_prob).sum(axis=1).mean() > 0.2


def one_temperature_leaves_the_dogs_off_and_vector_scaling_hardly(seed: int) -> bool:
    """A deal: far, its dogs, and a dearer bill than by a slope and a shift for each class."""
    net = data.load("cifar10-wideresnet")
    learn, test = np.split(np.random.default_rng(seed).permutation(10_000), 2)
    found = []
    for kind in (TemperatureScaling, cal.VectorScaling):
        one = kind("probabilities").fit(net.y_prob[learn], net.y_true[learn])
        p, y = one.calibrate(net.y_prob[test]), net.y_true[test]
        dogs = ck.expected_calibration_error(y, p, view=5)
        past = p[:, 5] < 0.1
        bill = 9 * np.sum(past & (y == 5)) + np.sum(~past & (y != 5))
        found.append(((dogs.value - dogs.null_mean) / dogs.null_sd, bill))
    return bool(found[0][0] > 8 > 5 > found[1][0] and found[1][1] < found[0][1])


# --- lesson 13 -----------------------------------------------------------------------------------


def doubled_logits_cost_more_than_no_model(seed: int) -> bool:
    truth = LogitDistortion(scores=(0.6, 1.4)).sample(100_000, seed)
    q = truth.true_prob
    said = q, expit(2 * logit(q)), expit(logit(q) / 2)
    bills = [policy_cost(truth.y_true, p, costs=(1, 19)) for p in said]
    same = {policy_cost(truth.y_true, p, costs=(1, 1)).value for p in said}
    return [bill.value > bill.ignoring for bill in bills] == [False, True, False] and len(same) == 1


def regret_is_none_at_one_half_and_larger_at_the_low_end(seed: int) -> bool:
    q = LogitDistortion(scores=(0.6, 1.4)).sample(100_000, seed).true_prob
    t = np.arange(1, 10)[:, None] / 10
    wrong_side = (expit(2 * logit(q)) >= t) != (q >= t)
    few, regret = wrong_side.mean(axis=1), (np.abs(q - t) * wrong_side).mean(axis=1)
    return few[4] == 0 < few[5:].sum() < few[:4].sum() and regret[5:].sum() < regret[:4].sum()


def worse_than_none(q: FloatVector, centre: float, factor: float) -> FloatVector:
    """Return the thresholds at which a model with stretched logits is worth less than none."""
    t = np.arange(2, 99, 4)[:, None] / 100
    worth = (q - t) / (1 - t)
    treated = expit(logit(centre) + factor * (logit(q) - logit(centre))) >= t
    gap = (treated * worth).mean(axis=1) - np.maximum(worth.mean(axis=1), 0)
    return t[gap < -1e-6].ravel()


def timid_is_worse_than_none_where_patients_are_alike(seed: int) -> bool:
    """Towards one half, rare or common, in about the same range; towards the mean never."""
    for scores, ends in (
        ((0.6, 1.4), None),
        ((6, 14), (0.33, 0.42)),
        ((0.1, 1.9), None),
        ((0.5, 9.5), (0.1, 0.43)),
    ):
        q = LogitDistortion(scores=scores).sample(20_000, seed).true_prob
        q = np.clip(q, 1e-9, 1 - 1e-9)
        where = worse_than_none(q, 0.5, 0.5)
        if len(worse_than_none(q, q.mean(), 0.5)) or (ends is None) != (not len(where)):
            return False
        if ends is not None and np.abs(where[[0, -1]] - ends).max() > 0.031:
            return False
    return True


def doubled_logits_are_worse_than_none_at_both_ends(seed: int) -> bool:
    q = LogitDistortion(scores=(0.6, 1.4)).sample(20_000, seed).true_prob
    low, high = (where := worse_than_none(q, 0.5, 2))[where < 0.5], where[where > 0.5]
    timid = [*worse_than_none(q, 0.5, 0.25), *worse_than_none(q, 0.5, 0.5)]
    return low.max() < 0.1 and high.min() > 0.8 and not timid


# --- lesson 14 -----------------------------------------------------------------------------------


def a_small_perfect_clinic_is_not_accused(seed: int) -> bool:
    clinic = LogitDistortion(scores=(0.8, 0.8)).sample(300, seed)
    return audit(clinic.y_true, clinic.y_prob)["calibration"].verdict != "miscalibrated"


def shuffled_labels_are_not_aligned(seed: int) -> bool:
    rows = LogitDistortion(scores=(1.0, 1.5)).sample(1500, seed)
    mixed = np.random.default_rng(seed).permutation(rows.y_true)
    return audit(mixed, rows.y_prob)["alignment"].verdict == "no discrimination"


def favourite_numbers_need_a_shift(seed: int) -> bool:
    talk = VerbalModel().sample(2000, rng=seed)
    return audit(talk.y_true, talk.y_prob).repair == "offset"


Claim = Callable[[int], bool]
CLAIMS: list[Claim] = [
    item for item in [*globals().values()]
    if isfunction(item) and [*signature(item).parameters] == ["seed"]
]  # fmt: skip
SHARES: dict[Claim, tuple[str, str]] = {
    cross_validation_gains_the_map_and_not_the_number: ("06", "in {} of twenty")
}


@pytest.mark.long
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_a_claim_holds_on_nineteen_of_twenty_seeds_or_its_lesson_says_on_how_many(claim) -> None:
    failed = [seed for seed in SEEDS if not claim(seed)]
    if claim in SHARES:
        number, words = SHARES[claim]
        assert words.format(len(SEEDS) - len(failed)) in lesson_text(number)
    else:
        assert len(failed) <= 1, f"not on the seeds {failed}"
