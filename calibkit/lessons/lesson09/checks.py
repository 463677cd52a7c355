"""Checks and predictions of lesson 09: handle rare events."""

from calibkit.learn.exercises import Check, Prediction
from calibkit.lessons.lesson09 import judges as judges

TITLE = "Handle rare events: imbalance"
SAY = judges.SAY

CHECKS = {
    "9.1": Check(
        task="Compare observed and expected counts",
        variable="my_ratio",
        judge=judges.judge_ratio,
        hints=(
            "The predictions add up to the expected number of events: `p.sum()`.",
            "A round gives `(rng.random(len(p)) < p).sum() / p.sum()`. Then `np.quantile` of all.",
        ),
        praise="23 % too many events, and chance alone does not reach that.",
        tolerance=0.02,
    ),
    "9.2": Check(
        task="Shift probabilities to another prevalence",
        variable="shift",
        judge=judges.judge_shift,
        hints=(
            "In logits: add logit(test) and subtract logit(train). Then go back.",
            "Without logits: `event = p * test / train`, `other = (1 - p) * (1 - test) / "
            "(1 - train)`. The answer is the share of `event` in both.",
        ),
        praise="this is `calibkit.calibrators.shift_prior`.",
    ),
    "9.3": Check(
        task="Repair a model with class weights",
        variable="repaired",
        judge=judges.judge_repaired,
        hints=(
            'For which prevalence was the model made? `"balanced"` gives both classes half.',
            "`shift_prior(p_balanced, train_prevalence=0.5, test_prevalence=old.y_true.mean())`",
        ),
        praise="the weights are gone, and nothing else has changed.",
        tolerance=0.001,
    ),
    "9.4": Check(
        task="Take one step of EM",
        variable="em_step",
        judge=judges.judge_em_step,
        hints=(
            "Two steps: move the predictions from `train` to `now`, then average.",
            "`shift_prior(p, train_prevalence=train, test_prevalence=now).mean()`",
        ),
        praise="repeat this step and the prevalence climbs to its estimate.",
    ),
    "9.5": Check(
        task="Find a misprint by simulation",
        variable="my_errors",
        judge=judges.judge_errors,
        hints=(
            "For each pair of means: `x_fit, y_fit, x_test, y_test = model.source_data()`.",
            "Fit `LogisticRegression(max_iter=1000)` on `x_fit[:, None]`. Then ECE in 10 bins.",
        ),
        praise="only the means of the code give the printed .0963.",
        tolerance=0.001,
    ),
    "9.6": Check(
        task="Choose a measure for a dashboard",
        variable="my_choice",
        judge=judges.judge_dashboard,
        hints=(
            "Begin: “I show … because …” Then say what chance would show.",
            "Every measure is blind to something. Opposite errors cancel in O/E, for example.",
        ),
        praise="a measure, its chance level and its blind spot: this can be defended.",
    ),
}

PREDICTIONS = {
    "9a": Prediction(
        question="Events have a share of 0.005. A model always says 0. What is its ECE?",
        options=("0.005", "0.05", "0.5"),
        outcome="0.005",
        why="All predictions share one bin. Its gap is the share of events, and nothing more. The "
        "model is useless, and no ECE is closer to perfect.",
    ),
    "9b": Prediction(
        question="Events come twice as often as said. Which measure is alike at 40 % and 2 %?",
        options=("ECE", "TCE", "O/E"),
        outcome="O/E",
        why="ECE measures distances, and all distances near zero are short. TCE asks whether the "
        "fault can be *seen*, and few events show little. O/E asks for the factor itself.",
    ),
    "9c": Prediction(
        question="Events come twice as often as predicted. How does this look on log axes?",
        options=("a parallel line", "a steeper line", "a curve"),
        outcome="a parallel line",
        why="On log axes, equal factors are equal distances. So twice as often means a fixed step "
        "upwards, for small and for large predictions.",
    ),
    "9d": Prediction(
        question="5 % events, classes balanced by weights. What does the model predict on average?",
        options=("about 5 %", "about 20 %", "about 40 %"),
        outcome="about 40 %",
        why="With these weights, both classes count as half of the data. The model answers for a "
        "world with 50 % events. Ours has 5 %.",
    ),
    "9e": Prediction(
        question="How precisely can 6,000 weak predictions tell a prevalence of 2 %?",
        options=("± 0.1 points", "± 0.5 points", "± 2 points"),
        outcome="± 2 points",
        why="About 120 events hide among 6,000 rows that look much like them. No label says which. "
        "With a stronger model the same 6,000 rows suffice.",
    ),
    "9f": Prediction(
        question="Twelve random splits of the same data, one method. How far apart are the TCEs?",
        options=("hardly", "by half", "several-fold"),
        outcome="several-fold",
        why="A test set of 1,254 rows has about 117 events. TCE turns small differences into "
        "rejected bins or none. The p-values say that chance explains all twelve.",
    ),
}
