"""A table of one's own: the discharges of a hospital, until a learner brings another file.

Each lesson ends with *Now yours*: its open lines run on `my_table`, and one line more goes into the
report that lesson 14 lays beside the audit. What is kept stands in ``.progress/mine.json`` of a
workbook; outside of one it lasts as long as the session.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibkit.inputs import binary_problem
from calibkit.results import spell
from calibkit_course.data.files import SHIPPED
from calibkit_course.learn.record import Store, workbook

if TYPE_CHECKING:
    from pandas import DataFrame

READMISSIONS = SHIPPED / "readmissions.csv"
_STAND_IN: dict[str, Any] = {
    "path": str(READMISSIONS),
    "label": "readmitted",
    "prob": "risk",
    "positive": "yes",
    "drop_missing": True,
    "options": {},
}
_NOTHING: dict[str, Any] = {"source": _STAND_IN, "report": {}}
_SESSION = dict(_NOTHING)  # outside a workbook


def bring(
    path: str | Path,
    *,
    label: str,
    prob: str,
    positive: Any = None,
    drop_missing: bool = False,
    **options: Any,
) -> str:
    """Take a file of your own as the table of all lessons, and say what is in it.

    Parameters
    ----------
    path : str or Path
        A CSV or Parquet file with a row per prediction.
    label, prob : str
        The columns of what happened, and of the stated probability of it.
    positive : label, optional
        The label that means "it happened", where labels are not 0 and 1.
    drop_missing : bool
        Whether to leave out rows that lack the label or the probability; they are counted.
    **options
        Of pandas' reader, e.g. ``sep=";"`` and ``decimal=","``.

    Raises
    ------
    ValueError
        If the table cannot be used as it is, with the row; what you brought before then stays.

    Examples
    --------
    >>> bring(READMISSIONS, label="readmitted", prob="risk", positive="yes", drop_missing=True)
    'readmissions.csv: 2,980 rows; 20 rows without label or probability are left out.'
    """
    if not isinstance(path, str | Path):
        raise ValueError(
            "bring takes the name of a file, which the next lesson reads again. Save the table "
            'first: df.to_csv("my.csv", index=False).'
        )
    given = {"label": label, "prob": prob, "positive": positive, "drop_missing": drop_missing}
    source = {"path": str(Path(path).resolve()), **given, "options": options}
    table, left_out = _read(source)
    kept = _kept()
    report = kept["report"] if kept["source"] == source else {}  # other rows, other lines
    _keep({"source": source, "report": report})
    gone = f"; {spell(left_out, 'row')} without label or probability are left out"
    return f"{Path(path).name}: {spell(len(table), 'row')}{gone if left_out else ''}."


def my_table() -> "DataFrame":
    """Return your table: its own columns, ``y_true`` (1 where it happened) and ``y_prob``.

    It is the table of a hospital that nobody knows until you `bring` another, and also where that
    one is gone or has changed, which is then printed.

    Examples
    --------
    >>> mine = my_table()
    >>> len(mine), f"{mine.y_true.mean():.3f}", f"{mine.y_prob.mean():.3f}"
    (2980, '0.219', '0.157')
    """
    try:
        return _read(_kept()["source"])[0]
    except (OSError, ValueError) as error:
        print(f"{error} Until you bring it again, these are the readmissions.")
        return _read(_STAND_IN)[0]


def add_to_report(lesson: str, line: str) -> str:
    """Put one line on your table into your report, in the place of what this lesson said before."""
    kept = _kept()
    _keep({**kept, "report": {**kept["report"], lesson: line}})
    return f"My report, lesson {lesson}: {line}"


def my_report() -> str:
    """Return your report: the file, and one line of each lesson.

    Examples
    --------
    >>> _ = add_to_report("01", "2,980 rows, of 100 came 22.")
    >>> print(my_report())
    My report on readmissions.csv
    01  2,980 rows, of 100 came 22.
    """
    kept = _kept()
    lines = [f"{lesson}  {line}" for lesson, line in sorted(kept["report"].items())]
    lines = lines or ["no line yet: run *Now yours*, at the end of lessons 01 to 13."]
    return "\n".join([f"My report on {Path(kept['source']['path']).name}", *lines])


def _read(source: dict[str, Any]) -> tuple["DataFrame", int]:
    """Return a checked table, and how many rows were left out."""
    import pandas as pd

    path, label, prob = Path(source["path"]), source["label"], source["prob"]
    read = pd.read_parquet if path.suffix == ".parquet" else pd.read_csv
    table = read(path, **source["options"])
    for name in (label, prob):
        if name not in table:
            names = ", ".join(map(repr, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; it has {names}.")
    missing = table[[label, prob]].isna().any(axis=1).to_numpy()
    if missing.any() and not source["drop_missing"]:
        raise ValueError(
            f"{path.name}: {spell(int(missing.sum()), 'row')} without label or probability, first "
            f"row {int(missing.argmax())}. Fill them in, or leave them out: drop_missing=True."
        )
    table = table[~missing].reset_index(drop=True)
    rows = binary_problem(table[label], table[prob], positive=source["positive"])
    return table.assign(y_true=rows.label, y_prob=rows.prob), int(missing.sum())


def _kept() -> dict[str, Any]:
    folder = workbook()
    if folder is None:
        return _SESSION
    return Store(folder / "mine.json").read(_from_text) or _NOTHING


def _from_text(text: str) -> dict[str, Any]:
    kept = json.loads(text)
    source = {name: kept["source"][name] for name in _STAND_IN}
    if not Path(source["path"]).exists() and Path(source["path"]).name == READMISSIONS.name:
        source["path"] = str(READMISSIONS)  # of an installation that has moved
    return {"source": source, "report": dict(kept["report"])}


def _keep(kept: dict[str, Any]) -> None:
    folder = workbook()
    if folder:
        Store(folder / "mine.json").write(json.dumps(kept, indent=1) + "\n")
    else:
        _SESSION.update(kept)
