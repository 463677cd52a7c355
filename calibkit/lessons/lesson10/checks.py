"""Checks and predictions of lesson 10: cool a network."""

from calibkit.learn.exercises import Check, Prediction
from calibkit.lessons.lesson10 import judges as judges

TITLE = "Cool a network"

CHECKS = {
    "10.1": Check(
        task="Fit the temperature",
        variable="fit_temperature",
        judge=judges.judge_temperature,
        hints=(
            "Write a function of T first: the log loss of `softmax(logits / T)` with the labels.",
            "`minimize_scalar(loss, bounds=(0.05, 20), method='bounded').x` does the search.",
        ),
        praise="one number, found where the log loss is lowest, from both sides of 1.",
        tolerance=0.001,
    ),
    "10.2": Check(
        task="Fit it again, with torch",
        variable="torch_temperature",
        judge=judges.judge_torch,
        hints=(
            "The steps: a tensor `log_t` with a gradient, `LBFGS([log_t], …)`, and a closure.",
            'Set `max_iter=100` and `line_search_fn="strong_wolfe"`. Return `log_t.exp().item()`.',
        ),
        praise="it went on until the slope was gone. Many published fits stop before.",
        tolerance=0.01,
    ),
    "10.3": Check(
        task="Find the file that was softmaxed twice",
        variable="my_diagnosis",
        judge=judges.judge_diagnosis,
        hints=(
            "All files hold scores of one network. Which one cannot reach the others' log loss?",
            "At best, probabilities are (1, 0, …, 0). Apply the softmax once more, take -ln of it.",
        ),
        praise="no error was raised anywhere. The log loss alone gave it away.",
        tolerance=0.002,
    ),
    "10.4": Check(
        task="Repair a model with smoothed labels",
        variable="my_repair",
        judge=judges.judge_smoothing,
        hints=(
            'Fit with `TemperatureScaling("probabilities")`. Is T above or below 1?',
            "Then `undo_label_smoothing(p_test, amount=0.1)`, and the log loss of both repairs.",
        ),
        praise="the exact inverse wins: cooling is the wrong shape for smoothed labels.",
        tolerance=0.0005,
    ),
    "10.5": Check(
        task="Report without a leak",
        variable="honest_report",
        judge=judges.judge_report,
        hints=(
            "Each split has one job: learn weights, learn T, judge.",
            "Fit T to `validation`, divide the logits of `test` by it, return their log loss.",
        ),
        praise="three splits, three jobs.",
        tolerance=0.0001,
    ),
}

PREDICTIONS = {
    "10a": Prediction(
        question="From epoch 20 on, the network learns its training data by heart. What does the "
        "log loss on validation data do until epoch 60?",
        options=("falls", "stays", "rises"),
        outcome="rises",
        why="It becomes bolder, hardly wiser. Accuracy has found its level, and each wrong answer "
        "is given with more confidence.",
    ),
    "10b": Prediction(
        question="You divide all logits by T. What happens to the accuracy?",
        options=("it falls", "it stays exactly", "it rises"),
        outcome="it stays exactly",
        why="Dividing a row by one positive number keeps the order of its entries. The most "
        "probable class stays the most probable one.",
    ),
    "10c": Prediction(
        question="Label smoothing of .1 has the lowest ECE of all untreated networks. After "
        "temperature scaling its log loss is…",
        options=("the lowest", "in the middle", "the highest"),
        outcome="the highest",
        why="It pulls the logits of a class together, so that they no longer tell how sure the "
        "network should be. No temperature brings this back.",
    ),
    "10d": Prediction(
        question="Real digits, 500 to learn from. How does label smoothing fare against plain "
        "cross-entropy, by the log loss after scaling?",
        options=("it loses again", "it wins here"),
        outcome="it wins here",
        why="Its ECE is the highest and its log loss after scaling the lowest. What a loss costs "
        "depends on the data. The ECE foretold neither outcome.",
    ),
    "10e": Prediction(
        question="You fit T to the training data instead. It is…",
        options=("about the same", "smaller, above 1", "below 1"),
        outcome="below 1",
        why="The network has all training answers right. There, more boldness is always better, "
        "and T falls as far as you let it.",
    ),
}
