"""What a report of the bets may contain: exercise 14.2."""

from calibkit_course.learn.exercises import Rubric

MODEL = (
    "In 8,886 games the forecasts promised that 69 of 100 favourites win, and 66 did: more than "
    "chance explains (calibration error 0.035, 90 % interval 0.026 to 0.042; a calibrated model "
    "shows 0.010). So they are too high. At 9 to 1 they made you bet 478 times and lose 82; the "
    "interval, from a loss of 198 to a win of 34, leaves open whether no bet is better. Repair "
    "the forecasts, then try them on new games."
)
REPORT = Rubric(
    points=(
        "It says how many predictions were looked at: 8,886.",
        "It gives the size of the error (69 promised and 66 came, or the calibration error "
        "0.035 with its interval, 0.026 to 0.042), and that chance does not explain it.",
        "It says which way the forecasts are wrong: favourites are stated too high.",
        "It says what the bets lost (82), and that the interval, -198 to 34, leaves open whether "
        "no bet is better.",
        'It claims no more than that (no "perfect", no "proves"), and says what to do.',
    ),
    model=MODEL,
)
