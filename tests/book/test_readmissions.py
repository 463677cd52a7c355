"""The hospital's table is what its script makes, and holds the faults that lessons look for."""

import numpy as np
import pandas as pd
import pytest

from book.experiments import readmissions
from calibkit_course.data.files import SHIPPED


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    stays = pd.read_csv(SHIPPED / "readmissions.csv")
    return stays.merge(pd.read_csv(SHIPPED / "readmissions_truth.csv"), on="stay")


def test_the_stored_tables_are_those_of_the_script(table: pd.DataFrame) -> None:
    rows, truth = readmissions.make()
    made = pd.DataFrame(rows, columns=[*readmissions.COLUMNS]).replace("", np.nan)
    made["risk"] = made.risk.astype(float)
    numbers = pd.DataFrame(truth, columns=[*readmissions.TRUTH]).drop(columns="stay").astype(float)
    assert np.abs(table[["chance", "expected"]] - numbers).to_numpy().max() < 0.0011
    assert np.abs(table.risk - made.risk).max() < 0.0011  # the last digit is another machine's
    same = [name for name in readmissions.COLUMNS if name != "risk"]
    pd.testing.assert_frame_equal(table[same], made[same], check_dtype=False)


def test_it_is_a_hospital_as_one_meets_them(table: pd.DataFrame) -> None:
    assert len(table) == 3000 and table.patient.nunique() < 2200
    assert (table.risk.isna().sum(), table.readmitted.isna().sum()) == (14, 6)
    day = pd.to_datetime(table.discharged)
    assert day.is_monotonic_increasing
    apart = day.groupby(table.patient).diff().dropna()
    assert apart.min() >= pd.Timedelta(days=45)  # no row is the readmission of another


def test_its_model_is_too_bold_and_the_world_has_changed(table: pd.DataFrame) -> None:
    late = table.discharged >= readmissions.CHANGE.isoformat()
    came = table.readmitted.map({"yes": 1.0, "no": 0.0})
    for chosen, size in ((~late, 0.05), (late, 0.12)):
        here = table[chosen]
        assert (here.expected - here.risk).mean() == pytest.approx(size, abs=0.01)
        assert abs((came - table.chance)[chosen].mean()) < 0.02  # nature kept to its chances
    logits = np.log(table.risk / (1 - table.risk))[~late].dropna()
    right = np.log(table.expected / (1 - table.expected))[logits.index]
    slope, level = np.polyfit(logits, right, 1)
    assert (1 / slope, -level / slope) == pytest.approx((1.6, 0.35), abs=0.02)
