"""Checks and predictions of lesson 06: choose the number of bins."""

from calibkit.learn.exercises import Check, Prediction
from calibkit.lessons.lesson06 import judges as judges

TITLE = "Choose the number of bins"

CHECKS = {
    "6.1": Check(
        task="Compute a null level",
        variable="my_null",
        judge=judges.judge_null,
        hints=(
            "One round: `happened = rng.random(1000) < p`. The file's outcomes play no part.",
            "Collect `ck.expected_calibration_error(happened, p).value` of 500 rounds; take "
            "`np.mean`.",
        ),
        praise="this is what `calibkit.null_level` gives.",
        tolerance=0.0015,
    ),
    "6.2": Check(
        task="Find a sufficient sample size",
        variable="enough",
        judge=judges.judge_enough,
        hints=(
            "Four times as many predictions halve the null level. You know it for n = 1,000.",
            "Solve √(2 · 15 · v / (π n)) = .01 for n, with v = 1/6: the mean of p (1 − p).",
        ),
        praise="fifteen thousand predictions, and a perfect model still shows .01.",
    ),
    "6.3": Check(
        task="Refine bins on a known map",
        variable="my_errors",
        judge=judges.judge_refined,
        hints=(
            "`(p - c).reshape(n_bins, -1)` has one row per bin, because the rows are sorted.",
            "Mean of each row, absolute value, mean over the bins. In this order.",
        ),
        praise="each split can only uncover error. No split hides any.",
        tolerance=2e-4,
    ),
    "6.4": Check(
        task="Apply the 0.1 % rule",
        variable="my_bins",
        judge=judges.judge_choice,
        hints=(
            "A score counts as lowest if it is at most `scores.min() * 1.001`.",
            "`candidates[scores <= scores.min() * 1.001]` are the numbers in question. Which one?",
        ),
        praise="as good as the lowest score, with the simplest map.",
    ),
    "6.5": Check(
        task="Debias a squared error",
        variable="debiased_square",
        judge=judges.judge_debiased,
        hints=(
            "In each bin: `(mean_prob - frequency) ** 2`, minus its surplus by chance.",
            "The surplus is `frequency * (1 - frequency) / (count - 1)`. Weight by "
            "`count / count.sum()`.",
        ),
        praise="on average this is the squared error of the bins, for any number of predictions.",
    ),
    "6.6": Check(
        task="Review a comparison",
        variable="my_review",
        judge=judges.judge_review,
        hints=(
            "Begin with what is missing: with which bins, and in which view?",
            "Then put the gap of .002 beside the spread .0056, and say what follows.",
        ),
        praise="size, chance, missing details and verdict: a fair review.",
    ),
}

PREDICTIONS = {
    "6a": Prediction(
        question="1,000 predictions of a perfect model: how does the ECE grow from 5 to 50 bins?",
        options=("same", "threefold", "tenfold"),
        outcome="threefold",
        why="Ten times as many bins hold a tenth of the predictions each. Frequencies then stray "
        "√10 times as far, about 3.2. The mean ECE grows like √(bins / predictions).",
    ),
    "6b": Prediction(
        question="Endless data, a distorted model. You split each bin in two. The binned error…",
        options=("never falls", "never rises", "can do both"),
        outcome="never falls",
        why="In a bin, errors of opposite sign cancel. A split can separate them; it cannot "
        "create new cancellation. So with endless data, bins show at most the true error.",
    ),
    "6c": Prediction(
        question="Bins by cross-validation instead of 15. What comes closer to the truth?",
        options=("the map", "the ECE", "both", "neither"),
        outcome="the map",
        why="Cross-validation asks which map predicts held-out outcomes best, and finds a better "
        "map. The ECE sums its deviations. There the average error hardly changes.",
    ),
    "6d": Prediction(
        question="You halve the number of predictions. The best number of bins for plain ECE…",
        options=("rises", "falls", "stays"),
        outcome="falls",
        why="Fewer predictions make each bin noisier, and noise costs more the more bins there "
        "are. What the bins hide does not depend on n. So the balance moves to fewer bins.",
    ),
    "6e": Prediction(
        question="A perfect model, 1,000 data sets. How many debiased squares are negative?",
        options=("none", "about half", "nearly all"),
        outcome="about half",
        why="The truth is 0, and the estimates scatter around it. An estimate without bias must "
        "fall below as well as above. Setting these to 0 would bring bias back.",
    ),
}
