"""Checks and predictions of lesson 14: audit your own predictions."""

from calibkit.learn.exercises import Check, Prediction
from calibkit.lessons.lesson14 import judges as judges

TITLE = "Audit your own predictions"

CHECKS = {
    "14.1": Check(
        task="Plan the sample size",
        variable="rows_needed",
        judge=judges.judge_rows_needed,
        hints=(
            "The mean of n outcomes has the variance mean(p (1 - p)) / n. Half a 90 % interval is "
            "1.645 standard deviations.",
            "Set 1.645 times the square root of mean(p (1 - p)) / n equal to the half-width. Solve "
            "for n, and round up with `math.ceil`.",
        ),
        praise="half the width takes four times the rows. Ask before the data are collected.",
    ),
    "14.2": Check(
        task="Repair a broken file",
        variable="my_rows",
        judge=judges.judge_rows,
        hints=(
            "Print some rows that do not sum to 1. Which column looks odd, and what must it hold?",
            "Fill the empty column with `1 - prob[bad].sum(axis=1)`. Then audit: the answer to "
            "question 1 says how the labels stand, and `np.roll` moves them.",
        ),
        praise="no number was invented: each follows from the others. Dividing by the sum would "
        "have called 22 owls impossible.",
    ),
    "14.3": Check(
        task="Try the repair on rows it has not seen",
        variable="my_gain",
        judge=judges.judge_gain,
        hints=(
            "Audit the first 200 rows only. `report.calibrator.calibrate(...)` repairs the others.",
            "The gain is `log_loss(y, before).value - log_loss(y, after).value`, on the rows from "
            "200 on.",
        ),
        praise="the gain on new rows lies inside the interval that the audit promised.",
        tolerance=0.0005,
    ),
    "14.4": Check(
        task="Write three honest sentences",
        variable="my_report",
        judge=judges.judge_report,
        hints=(
            "First sentence: how many rows, which error with its interval, what a calibrated "
            "model would show. All stand in `report['calibration']`.",
            "Second sentence: which way it is wrong, and what trust costs beside no model. Third: "
            "which repair gains how much on held-out rows, with its interval.",
        ),
        praise="size, uncertainty, consequence and remedy, in a form that a reader can check.",
    ),
}

PREDICTIONS = {
    "14a": Prediction(
        question="300 patients, ECE .090, and a ragged diagram. What does the audit say about "
        "calibration?",
        options=("miscalibrated", "no evidence", "cannot say"),
        outcome="no evidence",
        why="A calibrated model with 300 rows and 15 bins shows .067 on average, and often .09. "
        "The labels are compatible with the predictions, and there was enough data to find a "
        "large error.",
    ),
    "14b": Prediction(
        question="300 rows of the clinic know the average error to ±.037. How many rows know it "
        "to ±.01?",
        outcome=4110,
        unit="rows",
        why="The interval shrinks with the square root of n. 3.7 times as narrow takes 3.7 "
        "squared, about 14 times, as many rows.",
    ),
    "14c": Prediction(
        question="Predictions from one table, labels from another, in another order. The model "
        "was calibrated. Which verdict comes?",
        options=("aligned, no evidence", "aligned, miscalibrated", "not aligned"),
        outcome="not aligned",
        why="Labels in random order fit as well as these. A diagram would call the model "
        "over-confident, and a calibrator would turn every prediction into nearly the base rate.",
    ),
    "14d": Prediction(
        question="A language model says .5, .7, .8, .9, .95 or .99, and is right less often. "
        "Which repair does the audit recommend?",
        options=("temperature", "Platt", "isotonic", "no repair"),
        outcome="Platt",
        why="Temperature cannot move a stated .5, and there the model is right one time in six. "
        "Platt scaling shifts as well. Isotonic regression gains no more, and is less simple.",
    ),
}
