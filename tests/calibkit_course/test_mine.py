"""A table of one's own: what stands in for it, what is brought, and what is kept of it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss

from calibkit_course import add_to_report, bring, mine, my_report, my_table
from tools import notebook_files as files

TABLE = pd.DataFrame({"churned": ["Yes", "No", "No", "Yes"], "score": [0.8, 0.1, 0.3, 0.6]})
NAMES: dict[str, Any] = {"label": "churned", "prob": "score", "positive": "Yes"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a fresh workbook and a file of somebody's own."""
    monkeypatch.setenv("CALIBKIT_WORKBOOK", str(tmp_path))
    TABLE.to_csv(tmp_path / "own.csv", index=False)
    return tmp_path


def test_a_file_is_brought_and_kept_for_the_next_kernel(folder: Path) -> None:
    assert my_report().startswith("My report on readmissions.csv\nno line yet: run")
    add_to_report("01", "of the hospital")
    assert bring(folder / "own.csv", **NAMES) == "own.csv: 4 rows."
    found = my_table()
    assert found.y_true.tolist() == [1, 0, 0, 1] and found.y_prob.tolist() == [0.8, 0.1, 0.3, 0.6]
    assert found.churned.tolist() == TABLE.churned.tolist()
    add_to_report("02", "first")
    add_to_report("02", "second")
    assert bring(folder / "own.csv", **NAMES)  # the same once more
    assert my_report() == "My report on own.csv\n02  second"


@pytest.mark.parametrize(
    ("change", "names", "message"),
    [
        ({"score": [80, 10, 30, 60]}, {}, r"y_prob\[0\] = 80.* Divide percentages by 100"),
        ({}, {"prob": "risk"}, "no column 'risk'; it has 'churned', 'score'"),
        ({}, {"positive": "yes"}, "'yes' never occurs"),
        ({"score": [0.8, None, 0.3, None]}, {}, "2 rows without label or probability, first row 1"),
        ({"churned": ["Yes", "No", None, "No"]}, {}, "1 row without label or probability"),
    ],
)
def test_what_cannot_be_used_is_refused_and_what_was_brought_stays(
    folder: Path, change: Any, names: Any, message: str
) -> None:
    bring(folder / "own.csv", **NAMES)
    TABLE.assign(**change).to_csv(folder / "other.csv", index=False)
    with pytest.raises(ValueError, match=message):
        bring(folder / "other.csv", **NAMES | names)
    assert my_report().startswith("My report on own.csv\n") and len(my_table()) == 4


def test_a_table_in_memory_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r'first: df.to_csv\("my.csv", index=False\)'):
        bring(TABLE, **NAMES)  # type: ignore[arg-type]


def test_missing_values_are_left_out_when_told_and_pandas_reads(folder: Path) -> None:
    text = "churned;score\nYes;0,8\nNo;\nNo;0,3\n"
    (folder / "german.csv").write_text(text, encoding="utf-8")
    how = {"sep": ";", "decimal": ",", "drop_missing": True}
    assert "3" not in bring(folder / "german.csv", **NAMES, **how).partition("rows")[0]
    assert my_table().y_prob.tolist() == [0.8, 0.3]


def test_a_file_that_has_moved_or_a_damaged_record_gives_the_readmissions(folder, capsys) -> None:
    bring(folder / "own.csv", **NAMES)
    (folder / "own.csv").rename(folder / "moved.csv")
    assert len(my_table()) == 2980
    assert (
        "own.csv' Until you bring it again, these are the readmissions" in capsys.readouterr().out
    )
    assert my_report().startswith("My report on own.csv\n")  # nothing is lost
    (folder / ".progress" / "mine.json").write_text('{"source": 3}', encoding="utf-8")
    assert len(my_table()) == 2980 and (folder / ".progress" / "mine.damaged.json").exists()


def test_outside_a_workbook_it_lasts_for_the_session(folder, monkeypatch) -> None:
    monkeypatch.delenv("CALIBKIT_WORKBOOK")
    monkeypatch.setattr(mine, "_SESSION", dict(mine._SESSION))
    bring(folder / "own.csv", **NAMES)
    add_to_report("01", "a line")
    assert len(my_table()) == 4 and my_report().endswith("01  a line")
    assert not (folder / ".progress").exists()


def cells_of(number: str) -> tuple[str, str]:
    """Return the setup of a lesson, and its *Now yours*."""
    (path,) = (
        p for p in files.sources([number]) if p.stem[:3] == f"{number}_" and "further" not in p.stem
    )
    cells = files.read_source(path).cells
    (yours,) = (
        cell.source for cell in cells if "my_table()" in cell.source and cell.cell_type == "code"
    )
    return next(cell.source for cell in cells if "setup" in files.tags(cell)), yours


@pytest.mark.slow
@pytest.mark.parametrize("number", ["08", "09", "10", "11", "12", "13", "14"])
def test_now_yours_runs_on_a_table_of_strangers(folder: Path, number: str) -> None:
    rng = np.random.default_rng(1)
    score = rng.beta(1, 3, 400)
    table = {"churned": np.where(rng.random(400) < score, "Yes", "No"), "score": score}
    pd.DataFrame(table | {"region": rng.choice(["a", "b"], 400)}).to_csv(folder / "own.csv")
    bring(folder / "own.csv", **NAMES)
    setup, yours = cells_of(number)
    names: dict[str, Any] = {"show": print, "ece": brier_score_loss}  # of cells in between
    names["p_value"] = lambda y, p, rng: 0.5
    exec(setup, names)
    if number == "14":
        with pytest.raises(ValueError, match="'ward' is not there. .*'region'"):
            exec(yours, names)
        yours = re.sub("columns = .*", 'columns = {"groups": "region"}', yours)
    exec(yours, names)
    assert number == "14" or my_report().splitlines()[1].startswith(number)
