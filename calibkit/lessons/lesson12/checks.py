"""Checks and predictions of lesson 12: go multi-class."""

from calibkit.learn.exercises import Check, Prediction
from calibkit.lessons.lesson12 import fits as fits
from calibkit.lessons.lesson12 import judges as judges

TITLE = "Go multi-class"

CHECKS = {
    "12.1": Check(
        task="Write three views",
        variable="my_view",
        judge=judges.judge_views,
        hints=(
            "Confidence: `p.max(axis=1)`, and the event is `p.argmax(axis=1) == y`.",
            "A group: `p[:, view].sum(axis=1)` and `np.isin(y, view)`. A class is a group of one.",
        ),
        praise="each view asks one question of a prediction that could answer many.",
    ),
    "12.2": Check(
        task="Verify that six wrong vectors look right",
        variable="seen_map",
        judge=judges.judge_seen_map,
        hints=(
            "Class k: `said = stated[:, k]`. For each of `np.unique(said)`, average `true[:, k]`.",
            "Confidence: let `k = stated.argmax(axis=1)`, and take `stated[range(n), k]` and "
            "`true[range(n), k]`.",
        ),
        praise="now call it on the six vectors: every key comes out as its own value.",
    ),
    "12.3": Check(
        task="Build a fraud",
        variable="my_fraud",
        judge=judges.judge_fraud,
        hints=(
            "The ECE reads the confidence, and never asks who gets the rest.",
            "State .75 for the predicted class, always. Give all the rest to the next class.",
        ),
        praise="a smaller ECE than the honest model, and three classes of nonsense.",
    ),
    "12.4": Check(
        task="Fit vector scaling by softmax regression",
        variable="my_map",
        judge=fits.judge_vector,
        hints=(
            "Minimise the mean of `-log_softmax(w * z + b)` at the labels, over six numbers.",
            "`scipy.optimize.minimize(loss, [1, 1, 1, 0, 0, 0])`, with `w, b = v[:3], v[3:]`.",
        ),
        praise="the weights come close to .3, .6 and 1.2, which the fake was made with.",
    ),
    "12.5": Check(
        task="Count the cells in use",
        variable="cells_in_use",
        judge=fits.judge_cells,
        hints=(
            "Each row has one bin per class. Rows with the same bins share a cell.",
            "`np.minimum((p * n_bins).astype(int), n_bins - 1)`, then `np.unique(…, axis=0)`.",
        ),
        praise="nearly as many cells as predictions: there is nothing left to average.",
    ),
}

PREDICTIONS = {
    "12a": Prediction(
        question="The label of the last row changes from 1 to 2. Which notion breaks?",
        options=("confidence", "class-wise", "both"),
        outcome="class-wise",
        why="The row predicts class 3, which was wrong before and is wrong now. But class 2 "
        "happens where 0 was stated for it, and class 1 never where 1/3 was.",
    ),
    "12b": Prediction(
        question="All four diagrams are straight. How far are the vectors from the truth, in the "
        "mean?",
        options=("0", "0.1", "0.8"),
        outcome="0.8",
        why="Each number is stated by several vectors, and their errors cancel. No truth with "
        "these four straight diagrams lies farther away than 0.8.",
    ),
    "12c": Prediction(
        question="Same predicted classes, same confidences. How far apart can two log losses be?",
        options=("not at all", "by 1 at most", "without limit"),
        outcome="without limit",
        why="Confidence is one number out of K. Where the prediction is wrong, the label's own "
        "probability counts. It can be 0.",
    ),
    "12d": Prediction(
        question="Each class is bold in its own way. After temperature scaling, what is straight?",
        options=("confidence", "class-wise", "both", "neither"),
        outcome="confidence",
        why="One number for all classes repairs what is common to them. The confidence pools the "
        "classes, so too much of one and too little of another cancel.",
    ),
    "12e": Prediction(
        question="A random constant is added to the logits of each row. Which map notices?",
        options=("temperature", "matrix", "Dirichlet"),
        outcome="matrix",
        why="Temperature divides the constant, and the softmax forgets it. Dirichlet takes "
        "log-probabilities, where it is gone. A matrix multiplies it by other numbers per class.",
    ),
    "12f": Prediction(
        question="A perfect model with ten classes, ten bins per class, 10,000 predictions. Its "
        "binned strong error is…",
        options=("below 0.1", "about 0.5", "above 1"),
        outcome="above 1",
        why="Nearly every prediction sits alone in its cell. A single label is far from every "
        "honest vector, so the distance is nearly as large as it can be.",
    ),
}
