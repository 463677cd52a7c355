"""What a report of the bets may contain: exercise 14.2."""

from calibkit_course.learn.exercises import Rubric

MODEL = (
    "On 8,886 predictions the expected calibration error is 0.0355 (90 % interval 0.0252 to "
    "0.0409), where a calibrated model would show 0.0097. The forecasts are too high: if a bet "
    "in vain costs 9 and a winner missed 1, trust costs 0.670 per game and no model 0.661, "
    "a difference that may be chance (90 % interval -0.0038 to 0.0223). "
    "Temperature scaling gains 0.0046 nats in log loss on held-out rows (90 % interval 0.0029 "
    "to 0.0064)."
)
REPORT = Rubric(
    points=(
        "It says how many predictions were looked at: 8,886.",
        "It names the expected calibration error with its interval (0.0355, from 0.0252 to "
        "0.0409), and what a calibrated model would show (0.0097).",
        "It says which way the forecasts are wrong: favourites are stated too high.",
        "It puts what trust costs beside what no model costs, with the prices: a bet in vain costs "
        "9, a winner missed 1; and that the difference may be chance, for its interval holds 0.",
        "It names the repair, and its gain in log loss on held-out rows with an interval.",
        'It claims no more than that: no "perfect", no "proves", no certainty.',
    ),
    model=MODEL,
)
