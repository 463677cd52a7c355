"""Tables of lesson 11: calibrators as a race has measured them."""

from calibkit_course.lesson11.view import RaceView


def standings(race: RaceView) -> str:
    """Return the median of each calibrator for each size of the calibration set."""
    lines = ["rows            " + "".join(f"{size:>8,}" for size in race.sizes)]
    for name in race.methods:
        values = (race.at(name, size) for size in race.sizes)
        lines.append(f"{name:16}" + "".join(f"{value:8.4f}" for value in values))
    lines.append(f"{'left as it is':16}" + f"{race.untouched:8.4f}" * len(race.sizes))
    return "\n".join(lines)
