"""The calibration of a class on the teacher's page: pooled, and by student."""

import base64
import io
from collections.abc import Iterable
from html import escape

Row = tuple[str, str, str, str, str]  # student, forecast, options, sure, 1 or 0


def class_section(rows: Iterable[Row]) -> str:
    """Return a figure and what it says, or nothing where nobody made a forecast.

    A line that is no forecast, which only a workbook that meddles can make, is left out.
    """
    from calibkit_course.learn.classroom import class_calibration
    from calibkit_course.learn.forecasts import COLUMNS, Forecast, as_forecasts, read_rows

    found: dict[str, dict[str, Forecast]] = {}
    for student, *line in rows:
        try:
            row = read_rows(f"{','.join(COLUMNS)}\n{','.join(line)}\n")
        except ValueError:
            continue
        found.setdefault(student, {}).update(row)
    if not found:
        return ""
    known = class_calibration({name: as_forecasts(found[name]) for name in sorted(found)})
    picture = io.BytesIO()
    known.draw().savefig(picture, format="png", dpi=110)
    source = base64.b64encode(picture.getvalue()).decode()
    said = escape(known.describe())
    return (
        f'<h2>How well the class knows what it knows</h2><p>{said}</p><div class="scroll">'
        f'<img alt="{said}" src="data:image/png;base64,{source}"></div>'
    )
