"""Checks and predictions of lesson 11: choose a calibrator, and verify it."""

from calibkit.learn.exercises import Check, Prediction
from calibkit.lessons.lesson11 import judges as judges

TITLE = "Choose a calibrator"

CHECKS = {
    "11.1": Check(
        task="Find the leak",
        variable="my_repair",
        judge=judges.judge_leak,
        hints=(
            "For each line that looks at labels, write down whose rows they are.",
            "One part is never used. Two steps share another one.",
        ),
        praise="four jobs need four parts: train the model, fit the map, choose, report.",
    ),
    "11.2": Check(
        task="Choose on validation rows, report on test rows",
        variable="my_choice",
        judge=judges.judge_choice,
        hints=(
            "For each map g: `ck.log_loss(validation.y_true, g.calibrate(validation.y_prob))"
            ".value`.",
            "`min(losses, key=losses.get)` is the name of the lowest. Its log loss on `test` is "
            "what you report.",
        ),
        praise="on the test rows another map came out ahead. That is luck you must not use.",
        tolerance=0.0005,
    ),
    "11.3": Check(
        task="Count the certain outputs",
        variable="certain_share",
        judge=judges.judge_certain,
        hints=(
            "`IsotonicCalibrator().fit(p, y).calibrate(p_new)` are the outputs.",
            "`np.mean((out == 0) | (out == 1))` is the share of the two together.",
        ),
        praise="one surprise among these rows makes the log loss infinite. A run of equal labels "
        "at one end is enough.",
    ),
    "11.4": Check(
        task="Write the discretisation",
        variable="discretise",
        judge=judges.judge_discretise,
        hints=(
            "`order = np.argsort(scaled)` sorts. `np.array_split(order, n_bins)` gives the rows "
            "of each bin.",
            "For the rows of each bin: `out[rows] = scaled[rows].mean()`, in an empty array `out`.",
        ),
        praise="no label was looked at. So more bins cost no labels.",
    ),
}

PREDICTIONS = {
    "11a": Prediction(
        question="The map is fitted to the rows that trained the forest. On new rows the ECE "
        "becomes…",
        options=("smaller", "about the same", "larger"),
        outcome="larger",
        why="On its own training rows the forest is nearly always right. So the map learns to "
        "trust it blindly.",
    ),
    "11b": Prediction(
        question="A truth that is bent to and fro, 100 rows. Which of these five is closest to it?",
        options=("left as it is", "Platt", "beta", "isotonic", "histogram"),
        outcome="left as it is",
        why="The error is .04, and 100 rows cannot show its shape. Every map adds more noise than "
        "it removes error.",
    ),
    "11c": Prediction(
        question="The same with 10,000 rows?",
        options=("left as it is", "Platt", "beta", "isotonic", "histogram"),
        outcome="isotonic",
        why="Platt and beta have reached the best curves of their families, and these do not "
        "fit. Isotonic regression can follow every bend that rises. Venn-Abers, which is built "
        "from it, is level.",
    ),
    "11d": Prediction(
        question="Histogram binning with more and more bins. Which one gets the lowest measured "
        "ECE?",
        options=("1 bin", "5 bins", "20 bins", "100 bins"),
        outcome="1 bin",
        why="One bin says the share of events to everybody. That is calibrated, and useless.",
    ),
    "11e": Prediction(
        question="1,000 calibration rows. In which share of predictions does the Venn-Abers "
        "interval hold the true probability?",
        options=("about 20 %", "about 50 %", "about 90 %", "all"),
        outcome="about 20 %",
        why="It is no confidence interval. It says what one more label could change, and with "
        "1,000 rows one label changes little.",
    ),
    "11f": Prediction(
        question="512 bins of 8,000 rows. The plain error is how many times the true one?",
        outcome=4.3,
        unit="times",
        why="A bin of 16 rows strays far from its chance. With 512 bins nearly all of what is "
        "measured is such noise.",
    ),
    "11g": Prediction(
        question="1,000 rows. From 5 bins to 50, the calibration error left by scaling-binning…",
        options=("stays", "doubles", "grows tenfold"),
        outcome="stays",
        why="Its labels fit two numbers, Platt's. The bins average what these two have said, and "
        "averages of predictions have little noise.",
    ),
    "11h": Prediction(
        question="A calibrated model, 60 data sets. How often does the 90 % percentile interval "
        "of its ECE hold the true error?",
        options=("about 90 %", "about 50 %", "never"),
        outcome="never",
        why="The measured ECE is too large, and resampling adds more chance on top. No redraw "
        "comes near the truth, which is 0.",
    ),
}
