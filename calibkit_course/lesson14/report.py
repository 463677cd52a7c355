"""What a report of the bets may contain: exercise 14.2."""

from calibkit_course.learn.exercises import Rubric

MODEL = (
    "On 8,886 rows the expected calibration error is 0.0355, without its share of chance "
    "0.0347 (90 % interval 0.0263 to 0.0419), and a calibrated model shows 0.0097. The forecasts "
    "are too high: at 9 to 1 trust costs 0.670 per game, no model 0.661, perhaps by chance (90 % "
    "interval -0.0038 to 0.0223)."
)
REPORT = Rubric(
    points=(
        "It says how many predictions were looked at: 8,886.",
        "It names the expected calibration error (0.0355), the same without its share of "
        "chance (0.0347) with an interval (0.0263 to 0.0419), and what a calibrated model "
        "would show (0.0097).",
        "It says which way the forecasts are wrong: favourites are stated too high.",
        "It puts what trust costs at 9 to 1 beside what no model costs, and says that the "
        "difference may be chance.",
        'It claims no more than that: no "perfect", no "proves", no certainty.',
    ),
    model=MODEL,
)
