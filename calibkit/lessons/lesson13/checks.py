"""Checks and predictions of lesson 13: decide with probabilities."""

from calibkit.learn.exercises import Check, Prediction
from calibkit.lessons.lesson13 import judges as judges

TITLE = "Decide with probabilities"

CHECKS = {
    "13.1": Check(
        task="Write the threshold formula",
        variable="my_threshold",
        judge=judges.judge_threshold,
        hints=(
            "At the threshold, treating wins nothing on average: p B - (1 - p) H = 0.",
            "Solve for p. The harm stands above, the sum of both below.",
        ),
        praise="only the ratio of harm and benefit counts. The model has no say in it.",
    ),
    "13.2": Check(
        task="Compute what a model costs",
        variable="my_cost",
        judge=judges.judge_cost,
        hints=(
            "`treated = y_prob >= c` says who is treated. Each of them costs c, sick or not.",
            "Those who are sick and not treated cost 1: `(y_true == 1) & ~treated`. Take the mean.",
        ),
        praise="the bill needs outcomes, costs and a threshold. Accuracy appears nowhere.",
    ),
    "13.3": Check(
        task="Find the error budget",
        variable="my_budget",
        judge=judges.judge_budget,
        hints=(
            "`Ward().truth(model)` knows `oracle` and `regret`. Try errors from 0 up to 0.2.",
            "`scipy.optimize.brentq` finds where regret minus 1 % of the oracle's value is 0.",
        ),
        praise="about 26 times the error that the bound allows. The bound serves every model, "
        "this budget one kind of model in one ward.",
        tolerance=0.0005,
    ),
    "13.4": Check(
        task="Build two models with one error",
        variable="my_pair",
        judge=judges.judge_pair,
        hints=(
            "`KnobClassifier.with_error(5, 0.8, error, direction)` sets the error exactly.",
            "Which direction makes the ward treat too many, and which too few? They cost "
            "differently.",
        ),
        praise="the ECE adds up distances. The ward pays only for those that cross its threshold.",
    ),
    "13.5": Check(
        task="Know when to pass",
        variable="answer_from",
        judge=judges.judge_abstention,
        hints=(
            "Answering with confidence z costs (1 - z) times the loss, on average.",
            "Answer where this is at most the price, and solve for z.",
        ),
        praise="the dearer a mistake, the surer the model must be. It helps only if it is as sure "
        "as it says.",
    ),
}

PREDICTIONS = {
    "13a": Prediction(
        question="Treating costs .05, missing a patient 1. Which of three models with the same "
        "accuracy costs more than treating everybody without a model?",
        options=("none", "the over-confident one", "the under-confident one", "both of these"),
        outcome="the over-confident one",
        why="It says 1 % where the truth is 10 %. So patients who are worth treating are left "
        "alone, and one missed patient costs as much as twenty treatments.",
    ),
    "13b": Prediction(
        question="Now treating costs .5. Which of the three models is the cheapest?",
        options=("the calibrated one", "the over-confident one", "all cost the same"),
        outcome="all cost the same",
        why="All three put the same patients on the same side of 1/2. So they decide alike, "
        "whatever they say.",
    ),
    "13c": Prediction(
        question="Over-confident model, a bed for each of 10 patients. Now take three beds away. "
        "What trusting it wins per patient…",
        options=("falls", "stays", "rises"),
        outcome="rises",
        why="Over-confidence treats too many. With seven beds only the most confident are treated, "
        "and the ranking of the model is right. Scarcity repairs what confidence spoiled.",
    ),
    "13d": Prediction(
        question="The ward wants a value of 1.0 per patient. The model has an ECE of .10 instead "
        "of 0. How many points of accuracy must make up for it?",
        outcome=3.7,
        unit="points",
        why="A calibrated model needs an accuracy of .838, one with an ECE of .10 needs .875. "
        "This is the sentence that a product owner can use.",
    ),
}
