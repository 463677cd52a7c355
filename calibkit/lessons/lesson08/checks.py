"""Checks and predictions of lesson 08: test calibration."""

from calibkit.learn.exercises import Check, Prediction
from calibkit.lessons.lesson08 import judges as judges

TITLE = "Test calibration"

CHECKS = {
    "8.1": Check(
        task="Compute a p-value by redrawing",
        variable="my_p_value",
        judge=judges.judge_p_value,
        hints=(
            "One round: `happened = rng.random(400) < p`, then the ECE of `happened` and `p`.",
            "Count the rounds whose ECE is at least that of `y`. Add 1 to this count and to 1,000.",
        ),
        praise="this model is over-confident by construction. 400 predictions do not show it.",
        tolerance=0.04,
    ),
    "8.2": Check(
        task="Test all predictions of a bin",
        variable="p_values",
        judge=judges.judge_p_values,
        hints=(
            "For one probability q: sum the probabilities of all outcomes no more likely than k.",
            "`scipy.stats.binomtest(k, N, q).pvalue` does this. Call it for each q in `probs`.",
        ),
        praise="one bin, one set of events, and a verdict on each prediction.",
    ),
    "8.3": Check(
        task="Run PAVA by hand",
        variable="my_fit",
        judge=judges.judge_fit,
        hints=(
            "Go from left to right. Compare each block with the one before it.",
            "Places 2 to 4 hold 1, 0, 0. Pooled they have the frequency 1/3, above the 0 before.",
        ),
        praise="four blocks with rising frequencies: this is isotonic regression.",
        tolerance=0.005,
    ),
    "8.4": Check(
        task="Check the sizes of blocks",
        variable="keeps_sizes",
        judge=judges.judge_sizes,
        hints=(
            "`np.diff(bounds)` holds the sizes.",
            "All sizes must be at least `n_min` and at most `n_max`; both ends are allowed.",
        ),
        praise="on random labels 10 to 40 holds always, 30 to 40 does not: n_max is below 2 n_min.",
    ),
    "8.5": Check(
        task="Design bins that spare a perfect model",
        variable="my_bins",
        judge=judges.judge_bins,
        hints=(
            "Ten bins are too few for 8,000 predictions. Let their number grow with n.",
            "The number must grow faster than the cube root of n. Try the square root, or PAVA.",
        ),
        praise="narrow enough to spare true predictions, full enough to see false ones.",
    ),
}

PREDICTIONS = {
    "8a": Prediction(
        question="200 perfect models are tested at the 5 % level. How many are rejected, about?",
        outcome=9.0,
        unit="models",
        why="A test at 5 % rejects a true hypothesis in 5 % of all cases: 10 of 200 on average. "
        "Chance moves this count by about 3, and here it came to 9.",
    ),
    "8b": Prediction(
        question="A perfect model in ten bins. You lower α from 5 % to 1 %. Its TCE…",
        options=("falls to a fifth", "falls by less", "stays"),
        outcome="falls by less",
        why="If TCE were a rate of false alarms, it would fall to a fifth. But most rejections "
        "here are no alarms of chance: those predictions really differ from their bin's mean.",
    ),
    "8c": Prediction(
        question="A perfect model in ten bins gets 16 times as many predictions. Its TCE…",
        options=("falls", "stays", "rises"),
        outcome="rises",
        why="The test compares a prediction with the mean of its bin. They differ, and more events "
        "make the test sharper. It then sees a difference that is no miscalibration.",
    ),
    "8d": Prediction(
        question="All logits are shifted, predictions lie evenly about 1/2. Spiegelhalter's test…",
        options=("nearly always sees it", "sees it half the time", "hardly ever sees it"),
        outcome="hardly ever sees it",
        why="It looks at the Brier score alone. A shift makes it worse on one side of 1/2 and "
        "better on the other, compared with what the predictions promise. The two cancel.",
    ),
    "8e": Prediction(
        question="The MLB forecasts have a TCE of 13.7 %, at α = 5 %. Are they miscalibrated?",
        options=("yes", "no evidence"),
        outcome="no evidence",
        why="A calibrated model with these predictions shows 11.5 % on average. With 15,747 games "
        "the test is sharp, and the predictions of a bin differ among themselves.",
    ),
}
