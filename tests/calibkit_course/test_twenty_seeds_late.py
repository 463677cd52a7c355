"""Claims of lessons 09 and 11 to 14 on twenty seeds; lessons 00 to 08 have theirs beside this."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import calibkit as ck
from calibkit import calibrators as cal
from calibkit.decisions import policy_cost
from calibkit.fakes import DirichletFake, LogitDistortion, LogLinear, SyntheticShape
from calibkit.multiclass import TemperatureScaling
from calibkit.significance import test_based_calibration_error as tce
from calibkit_course.lesson09 import GaussianDiscriminant, prevalence_dial_view
from calibkit_course.lesson14 import VerbalModel
from tests.calibkit_course.test_twenty_seeds import SEEDS, Claim, ece


def only_the_ratio_says_the_same_in_all_worlds(seed: int) -> bool:
    views = [prevalence_dial_view(made_for=p, seed=seed).values for p in (0.2, 0.05, 0.01)]
    errors, ratios = (np.array([view[k] for view in views]) for k in (0, 3))
    return errors[0] > 3 * errors[1] > 9 * errors[2] and bool(np.all(np.abs(ratios - 1) < 0.45))


def the_model_wrong_by_a_factor_of_two_has_the_smaller_error(seed: int) -> bool:
    means = []
    for said, happens in ((0.5, 0.5), (0.01, 0.02)):
        model = GaussianDiscriminant(said, deployed=happens)
        means.append(np.mean([ece(model.sample(6000, 100 * seed + k), 10) for k in range(100)]))
    return means[1] < means[0]


def more_predictions_prove_the_same_fault(seed: int) -> bool:
    model, found = GaussianDiscriminant(0.01, deployed=0.02), []
    for n in (500, 6000, 60_000):
        sets = [model.sample(n, 20 * seed + k) for k in range(20)]
        found.append(np.mean([tce(s.y_true, s.y_prob, null_draws=0).value for s in sets]))
    return found[0] < 0.25 < 0.4 < found[1] < 0.85 < found[2]


def weights_make_a_model_say_forty_per_cent(seed: int) -> bool:
    world = GaussianDiscriminant(0.05, scale=1)
    old, new = world.sample(10_000, seed), world.sample(10_000, 1000 + seed)
    model = LogisticRegression(class_weight="balanced").fit(old.feature[:, None], old.y_true)
    return 0.35 < model.predict_proba(new.feature[:, None])[:, 1].mean() < 0.45


def a_map_of_training_rows_does_harm(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(7000, 10))
    y = (rng.random(7000) < expit(1.5 * x[:, 0] + x[:, 1] - x[:, 2])).astype(int)
    train, other, test = np.split(np.arange(7000), [1500, 3000])
    trees = GradientBoostingClassifier(n_estimators=300, random_state=0).fit(x[train], y[train])
    p = trees.predict_proba(x)[:, 1]
    maps = [
        cal.PlattCalibrator().fit(p[rows], y[rows]).calibrate(p[test]) for rows in (train, other)
    ]
    error, loss = (
        [measure(y[test], said).value for said in (p[test], *maps)]
        for measure in (ck.expected_calibration_error, ck.log_loss)
    )
    return error[1] > error[0] > error[2] and loss[2] < loss[0]


def distance_of(model: cal.Calibrator, n: int, seed: int) -> float:
    """Return the median distance from the true map that is bent twice, over 20 sets."""
    bent, grid = SyntheticShape("stairs", 0.35), (np.arange(2000) + 0.5) / 2000
    said, far = bent.predict(grid), []
    for k in range(20):
        rows = bent.sample(n, 20 * seed + k)
        far.append(np.abs(model.fit(rows.y_prob, rows.y_true).calibrate(said) - grid).mean())
    return float(np.median(far))


def the_race_ends_as_it_is_told(seed: int) -> bool:
    free = [cal.IsotonicCalibrator(), cal.HistogramBinning(ck.EqualMass(15))]
    rigid = [cal.PlattCalibrator(), cal.BetaCalibrator()]
    few = [distance_of(one, 100, seed) for one in (*rigid, *free)]
    many = [distance_of(one, 10_000, seed) for one in (*free, *rigid)]
    return min(few) > 0.0399 > many[0] == min(many)


def one_bin_has_the_lowest_error_and_the_highest_loss(seed: int) -> bool:
    bold, found = LogitDistortion(slope=0.5, scores=(0.7, 0.7)), []
    for b in (1, 5, 20):
        rows = []
        for k in range(20):
            fit, new = bold.sample(2000, 20 * seed + k), bold.sample(20_000, 10_000 + 20 * seed + k)
            said = cal.HistogramBinning(ck.EqualMass(b)).fit(fit.y_prob, fit.y_true)
            out = new.y_true, said.calibrate(new.y_prob)
            rows.append((ck.expected_calibration_error(*out).value, ck.log_loss(*out).value))
        found.append(np.mean(rows, axis=0))
    errors, losses = np.array(found).T
    return errors.argmin() == 0 == losses.argmax()


def percentiles_never_hold_zero(seed: int) -> bool:
    rng, perfect = np.random.default_rng(seed), LogitDistortion()
    options = {"level": 0.9, "n_resamples": 200, "method": "percentile", "rng": seed}
    sets = [perfect.sample(1000, rng) for _ in range(20)]
    gap = ck.expected_calibration_error
    return min(ck.bootstrap_interval(gap, s.y_true, s.y_prob, **options).low for s in sets) > 0


def one_number_straightens_the_cycle(seed: int) -> bool:
    cycle = [[0.6, 0.4, 0], [0, 0.6, 0.4], [0.4, 0, 0.6]]
    fake = DirichletFake((1, 1, 1), LogLinear(cycle), "confidence-is-base")
    fit, test = fake.sample(5000, seed), fake.sample(50_000, 1000 + seed)
    said = TemperatureScaling("probabilities").fit(fit.y_prob, fit.y_true).calibrate(test.y_prob)
    top = ck.expected_calibration_error(test.y_true, said, view="top-label").value
    each = ck.class_wise_calibration_error(test.y_true, said).value
    return max(top, each) < 0.02 and np.abs(said - test.true_prob).sum(axis=1).mean() > 0.2


def doubled_logits_cost_more_than_no_model(seed: int) -> bool:
    truth = LogitDistortion(scores=(0.6, 1.4)).sample(100_000, seed)
    q = truth.true_prob
    said = q, expit(2 * logit(q)), expit(logit(q) / 2)
    bills = [policy_cost(truth.y_true, p, costs=(1, 19)) for p in said]
    same = {policy_cost(truth.y_true, p, costs=(1, 1)).value for p in said}
    return [bill.value > bill.ignoring for bill in bills] == [False, True, False] and len(same) == 1


def a_small_perfect_clinic_is_not_accused(seed: int) -> bool:
    clinic = LogitDistortion(scores=(0.8, 0.8)).sample(300, seed)
    found = ck.audit(clinic.y_true, clinic.y_prob)["calibration"].verdict
    return found in {"no evidence", "borderline"}


def shuffled_labels_are_not_aligned(seed: int) -> bool:
    rows = LogitDistortion(scores=(1.0, 1.5)).sample(1500, seed)
    mixed = np.random.default_rng(seed).permutation(rows.y_true)
    return ck.audit(mixed, rows.y_prob)["alignment"].verdict == "not aligned"


def favourite_numbers_need_more_than_a_temperature(seed: int) -> bool:
    talk = VerbalModel().sample(2000, rng=seed)
    return ck.audit(talk.y_true, talk.y_prob).repair in {"Platt", "beta"}


CLAIMS: dict[str, list[Claim]] = {
    "09": [
        only_the_ratio_says_the_same_in_all_worlds,
        the_model_wrong_by_a_factor_of_two_has_the_smaller_error,
        more_predictions_prove_the_same_fault,
        weights_make_a_model_say_forty_per_cent,
    ],
    "11": [
        a_map_of_training_rows_does_harm,
        the_race_ends_as_it_is_told,
        one_bin_has_the_lowest_error_and_the_highest_loss,
        percentiles_never_hold_zero,
    ],
    "12": [one_number_straightens_the_cycle],
    "13": [doubled_logits_cost_more_than_no_model],
    "14": [
        a_small_perfect_clinic_is_not_accused,
        shuffled_labels_are_not_aligned,
        favourite_numbers_need_more_than_a_temperature,
    ],
}


@pytest.mark.long
@pytest.mark.parametrize(
    "claim",
    [pytest.param(c, id=f"{n} {c.__name__}") for n, claims in CLAIMS.items() for c in claims],
)
def test_a_late_claim_holds_on_nineteen_of_twenty_seeds(claim: Claim) -> None:
    failed = [seed for seed in SEEDS if not claim(seed)]
    assert len(failed) <= 1, f"not on the seeds {failed}"
