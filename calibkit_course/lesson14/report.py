"""What a report of the screening may contain: exercise 14.4."""

from calibkit_course.learn.exercises import Rubric

MODEL = (
    "On 2,500 predictions the expected calibration error is 0.105 (90 % interval 0.089 to 0.116), "
    "where a calibrated model would show 0.019. The score is over-confident: if a miss costs as "
    "much as 20 false alarms, trust costs 1.13 per person and no model 0.71. Temperature scaling "
    "gains 0.081 nats in log loss on held-out rows (90 % interval 0.064 to 0.097)."
)
REPORT = Rubric(
    points=(
        "It says how many predictions were looked at: 2,500.",
        "It names the expected calibration error with its interval (0.105, from 0.089 to 0.116), "
        "and what a calibrated model would show (0.019).",
        "It says which way the score is wrong: it is over-confident, its high numbers are too high "
        "and its low ones too low.",
        "It puts what trust costs beside what no model costs, with the prices: a miss costs as "
        "much as 20 false alarms.",
        "It names the repair, and its gain in log loss on held-out rows with an interval.",
        'It claims no more than that: no "perfect", no "proves", no certainty.',
    ),
    model=MODEL,
)
