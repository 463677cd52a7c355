"""Forecasts: guesses that say how sure they are, kept, moved between places, and looked at."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from calibkit import expected_calibration_error, null_level
from calibkit.calibrators import TemperatureScaling
from calibkit_course import import_forecasts, my_calibration, my_forecasts, open_lesson
from calibkit_course.learn import Forecasts
from calibkit_course.learn.calibration import at_temperature, calibration_of, temperature
from calibkit_course.learn.classroom import class_calibration
from calibkit_course.learn.forecasts import Forecast, Log, as_csv, as_forecasts, read_rows
from calibkit_course.lesson01 import true_or_false

HEAD = "forecast,options,sure,right\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where a fresh workbook keeps its forecasts."""
    monkeypatch.setenv("CALIBKIT_WORKBOOK", str(tmp_path))
    return tmp_path / ".progress" / "forecasts.csv"


def own(right: Any, sure: Any, options: Any = 2) -> Forecasts:
    rows = zip(np.broadcast_to(options, len(right)), sure, right, strict=True)
    return as_forecasts({f"4-{i}": Forecast(*row) for i, row in enumerate(rows)})


# --- guessing ------------------------------------------------------------------------------------


def test_a_guess_with_a_confidence_becomes_a_forecast_once_its_outcome_is_shown(file: Path) -> None:
    lesson = open_lesson("05")
    said = lesson.predict("5a", "slanted", sure=0.7)
    assert said.paragraphs[1:] == ('Noted: "slanted". Run the next cells and compare.',
                                   "You are 70 % sure.")  # fmt: skip
    assert my_forecasts().stand_in, "no outcome is told by the file before it is shown"
    assert file.read_text() == HEAD + "5a,3,0.7,\n"
    lesson.predict("5a", "slanted", sure=0.6)
    lesson.reveal("5a")
    lesson.predict("5b", "about 0.1", sure=0.5)
    open_lesson("05").reveal("5b")  # after a restart
    assert file.read_text() == HEAD + "5a,3,0.6,1\n5b,3,0.5,0\n"
    assert my_forecasts().sure.tolist() == [0.6, 0.5] and not my_forecasts().stand_in
    assert "known" not in lesson.predict("5a", "slanted", sure=0.6).text
    assert "shown before" in lesson.predict("5a", "both", sure=0.99).text
    assert my_forecasts().sure.tolist() == [0.6, 0.5]


def test_a_guess_without_a_confidence_counts_as_before(file: Path) -> None:
    lesson = open_lesson("05")
    assert "`my_calibration()`" in lesson.predict("5a", "both").text
    assert "my_calibration" not in lesson.predict("5b", "about 0.1").text, "said once"
    lesson.reveal("5a")
    assert "shown before" in lesson.predict("5a", "both", sure=0.5).text
    lesson.predict("5b", "about 0.1", sure=0.9)
    lesson.predict("5b", "about 0.05")  # another guess, whose confidence nobody knows
    lesson.reveal("5b")
    lesson.predict("5d", "rises", sure=0.8)
    lesson.predict("5d", "rises", sure=...)
    assert file.read_text() == HEAD + "5d,3,0.8,\n"


@pytest.mark.parametrize(
    ("sure", "words"),
    [
        (70, "`sure=70` looks like per cent; write `sure=0.7`"),
        *((sure, "is more than 0.99, the largest") for sure in (1, 1.2, 100)),
        *((sure, "no probability") for sure in ("70 %", "0.7", True, [0.7])),
        (0.3, "pure guessing among 3 options"),
    ],
)
def test_a_bad_confidence_gets_a_sentence_and_the_guess_is_kept(file, sure, words) -> None:
    lesson = open_lesson("05")
    said = lesson.predict("5a", "slanted", sure=sure)
    assert words in said.text and said.text.endswith("The guess is kept.")
    assert "right" in lesson.reveal("5a").text and not file.exists()


@pytest.mark.parametrize(
    "sure", [0.7, np.float32(0.7), np.array(0.7), Fraction(7, 10), 1 / 3, 0.33]
)
def test_confidences_of_every_kind_are_taken(file: Path, sure: Any) -> None:
    open_lesson("05").predict("5a", "slanted", sure=sure)
    assert read_rows(file.read_text())["5a"].sure == pytest.approx(float(sure), abs=1e-6)


def test_a_number_is_forecast_to_be_close(file: Path) -> None:
    lesson = open_lesson("03")
    assert "within a factor of 1.25" in lesson.predict("3f", 50, sure=0.2).text
    assert "smallest" in open_lesson("03", keep=False).predict("3f", 50, sure=0.001).text
    lesson.reveal("3f")
    assert file.read_text() == HEAD + "3f,2,0.2,1\n"
    asked = lesson.predictions["3f"]
    assert [asked.is_right(guess, 183) for guess in (183, 147, 228, 146, 229, -183, 0)] == [
        True, True, True, False, False, False, False]  # fmt: skip


def test_the_twenty_statements_join_once(file: Path) -> None:
    true_or_false.sheet()
    assert not file.exists(), "the sample forecaster is nobody's"
    true_or_false.sheet([0.9, 0.2, *[...] * 17, 0.5])
    true_or_false.sheet([0.1, 0.2, 1, *[...] * 16, 0.5])
    assert file.read_text() == HEAD + "1-01,2,0.9,1\n1-02,2,0.8,1\n1-20,2,0.5,1\n1-03,2,1,1\n"
    assert set(my_forecasts().lesson) == {"01"}


# --- files ---------------------------------------------------------------------------------------

RIGHT_ROWS = {"4a": Forecast(2, 0.7, True), "1-03": Forecast(2, 1.0, False), "5a": Forecast(3, 0.4)}
DAMAGED = {
    "": "line 1", "null": "line 1", "[1]": "line 1", "\x00": "line 1", "forecast;options": "line 1",
    HEAD + "4a,2,0.7\n": "line 2 has 3 fields", HEAD + "4a,2,70,1": "`70`",
    HEAD + "4a,1,0.7,1": "`1` options", HEAD + "4a,2,nan,1": "`nan`", HEAD + "4a,2,0,1": "`0`",
    HEAD + "4a,2,0.7,yes": "`yes`", HEAD + "4a,2,0.7,1\n4a,2,0.6,1": "line 3 is called `4a`",
    HEAD + "\n=1+1,2,0.7,1": "line 3 is called `=1+1`", HEAD + "4a,２,0.7,1": "options",
}  # fmt: skip


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    assert read_rows("\ufeff" + as_csv(RIGHT_ROWS).replace("\n", "\r\n")) == RIGHT_ROWS
    as_forecasts(RIGHT_ROWS).to_csv(tmp_path / "mine.csv")
    assert my_forecasts(tmp_path / "mine.csv").name.tolist() == ["4a", "1-03"]


@pytest.mark.slow
@given(st.dictionaries(
    st.from_regex(r"[0-9]{1,2}[a-z]", fullmatch=True),
    st.builds(Forecast, st.integers(2, 20), st.integers(1, 100).map(lambda n: n / 100),
              st.none() | st.booleans()),
))  # fmt: skip
def test_any_forecasts_survive_their_file(rows: dict[str, Forecast]) -> None:
    assert read_rows(as_csv(rows)) == rows


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_or_foreign_file_is_named_and_kept(file, text, capsys) -> None:
    file.parent.mkdir()
    other = file.with_name("given.csv")
    other.write_text(text, encoding="utf-8")
    for read in (my_forecasts, import_forecasts, my_calibration):
        with pytest.raises(ValueError, match="line") as refused:
            read(other)
        assert DAMAGED[text] in str(refused.value)
    for name in ("forecasts.damaged.csv", "forecasts.damaged2.csv"):
        file.write_text(text, encoding="utf-8")
        open_lesson("05").predict("5a", "both", sure=0.5)
        assert f"It is now called {name}" in capsys.readouterr().out
        assert file.with_name(name).read_text(encoding="utf-8") == text
    assert file.read_text() == HEAD + "5a,3,0.5,\n"


def test_an_import_adds_and_changes_nothing(file: Path, tmp_path: Path) -> None:
    Log(file).note({"4a": Forecast(2, 0.9, False)})
    (tmp_path / "browser.csv").write_text(as_csv(RIGHT_ROWS))
    assert import_forecasts(tmp_path / "browser.csv").startswith("2 forecasts added; 1 were known")
    rows = read_rows(file.read_text())
    assert rows == RIGHT_ROWS | {"4a": Forecast(2, 0.9, False)}
    open_lesson("05").predict("5b", "about 0.1", sure=0.4)
    assert set(read_rows(file.read_text())) == {*rows, "5b"}
    assert "shown before" in open_lesson("04").predict("4a", "right", sure=0.5).text


# --- what they say -------------------------------------------------------------------------------


def test_without_forecasts_a_stand_in_is_named_as_such(file: Path) -> None:
    said = my_calibration(draw=False)
    assert said.forecasts.stand_in and "stand-in" in said.describe()


@pytest.mark.parametrize(
    ("hits", "sure", "verdict"), [(10, 0.9, "over"), (20, 0.6, "under"), (13, 0.6, "open")]
)
def test_the_verdict_follows_the_interval(hits: int, sure: float, verdict: str) -> None:
    """Wilson's interval holds the shares that a normal test with their own spread accepts."""
    found = calibration_of(own([1] * hits + [0] * (20 - hits), [sure] * 20))
    assert found.verdict == verdict
    assert found.gap == pytest.approx(sure - hits / 20)
    assert f"confidence is {100 * sure:.0f} %, and {5 * hits} % of them" in found.describe()
    for end in (sure - found.low, sure - found.high):
        assert abs(end - hits / 20) == pytest.approx(1.96 * np.sqrt(end * (1 - end) / 20), rel=1e-3)
    assert found.to_frame()["gap"][0] == pytest.approx(found.gap)


def test_scores_are_compared_with_always_saying_one_over_k() -> None:
    found = calibration_of(own([1, 0, 1], [0.5, 0.25, 0.9], [2, 4, 3]))
    assert found.scores[0] == pytest.approx(-np.log([0.5, 0.75, 0.9]).mean())
    assert found.chance[0] == pytest.approx(-np.log([1 / 2, 3 / 4, 1 / 3]).mean())
    assert found.chance[1] == pytest.approx(np.mean([1 / 4, 1 / 16, 4 / 9]))
    assert found.ece == pytest.approx(
        float(expected_calibration_error([1, 0, 1], [0.5, 0.25, 0.9], bins=5))
    )
    wrong = calibration_of(own([1, 0], [0.6, 1.0]))
    assert "Log loss infinite" in wrong.describe()
    with pytest.raises(ValueError, match="no forecast"):
        calibration_of(own([], []))


def test_luck_moves_share_and_error_as_far_as_is_said() -> None:
    sure = np.array([0.4, 0.6, 0.7, 0.7, 0.8, 0.9, 0.9, 0.95, 0.5, 0.5])
    found = calibration_of(own([1] * 10, sure))
    null = null_level(expected_calibration_error, [1] * 10, sure, bins=5, n_draws=20000, rng=1)
    assert found.null == pytest.approx(null.mean, abs=4 * null.sd / np.sqrt(20000))
    rng = np.random.default_rng(0)
    shares = (rng.random((20000, 10)) < sure).mean(axis=1)
    assert (abs(shares - sure.mean()) <= found.reach).mean() == pytest.approx(0.95, abs=0.03)


# --- temperature ---------------------------------------------------------------------------------


def test_ones_own_temperature_is_that_of_lesson_ten() -> None:
    """With k alike for all, the rest shared: `TemperatureScaling` finds the same T."""
    rng = np.random.default_rng(3)
    sure = rng.choice([0.4, 0.6, 0.8, 0.95], 60)
    right = (rng.random(60) < 0.3 + 0.4 * sure).astype(int)
    mine = own(right, sure, 4)
    table = np.column_stack([sure, *[(1 - sure) / 3] * 3])
    fitted = TemperatureScaling("probabilities").fit(table, np.where(right == 1, 0, 2))
    found = temperature(mine)
    assert found.value == pytest.approx(fitted.temperature_, rel=1e-5)
    assert at_temperature(mine, found.value) == pytest.approx(
        fitted.predict_proba(table)[:, 0], rel=1e-5
    )
    for end in (found.low, found.high):  # where the likelihood ratio leaves 95 %
        losses = [-np.log(np.where(right, p, 1 - p)).sum() for p in
                  (at_temperature(mine, found.value), at_temperature(mine, end))]  # fmt: skip
        assert stats.chi2.sf(2 * (losses[1] - losses[0]), 1) == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize(
    ("right", "sure", "limits"),
    [
        ([1, 1, 1], [0.6, 0.7, 0.8], (0, 0.1)),  # as sure as can be
        ([0, 0, 0, 1], [0.9, 0.9, 0.9, 0.6], (np.inf, np.inf)),  # no better than a coin
        ([1, 0], [0.5, 0.5], (0, np.inf)),  # said nothing
        ([0, 1, 1, 0], [1.0, 0.9, 0.9, 0.9], (0, 10)),  # certainty has no temperature
    ],
)
def test_a_temperature_without_an_optimum_says_so(right, sure, limits) -> None:
    found = temperature(own(right, sure))
    assert limits[0] <= found.value <= limits[1] and found.low <= found.value <= found.high
    assert found.n == sum(0.5 < one < 1 for one in sure)
    assert found.describe() and found.to_frame().shape == (3, 2)


# --- a class ------------------------------------------------------------------------------------


def a_class(rng: np.random.Generator) -> dict[str, Forecasts]:
    """Return forecasts that are too sure by 5 points, in clusters of students and of questions."""
    students, questions = rng.normal(0, 0.15, 12), rng.normal(0, 0.15, 30)
    found = {}
    for number, student in enumerate(students):
        sure = rng.choice([0.5, 0.6, 0.7, 0.8], 30)
        chance = np.clip(sure - 0.05 + student + questions, 0, 1)
        found[f"student {number}"] = own(rng.random(30) < chance, sure)
    return found


def test_the_interval_of_a_class_counts_its_clusters() -> None:
    rng = np.random.default_rng(1)
    found = [class_calibration(a_class(rng)) for _ in range(150)]
    assert np.mean([abs(one.gap - 0.05) <= one.half for one in found]) >= 0.9
    naive = [1.96 * (one.pooled.sure - one.pooled.right).std() / 360**0.5 for one in found]
    hits = [abs(one.gap - 0.05) <= half for one, half in zip(found, naive, strict=True)]
    assert np.mean(hits) <= 0.7
    one = found[0]
    assert one.describe().startswith("360 forecasts of 12 students")
    assert one.to_frame()["each"].mean() == pytest.approx(one.gap)
    assert {"means", "gap"} <= {artist.get_gid() for artist in one.draw().findobj()}
    ends = (one.low > 0).sum(), (one.high < 0).sum()
    assert "taken alone: {}; under-confident: {};".format(*ends) in one.describe()
    two = class_calibration({"Ann": own([0, 0], [0.9, 0.7]), "Bob": own([0, 0], [0.7, 0.5])})
    # Squares of sums: 0.16 of students and 0.16 of questions, of which 0.08 would count twice.
    assert two.half == pytest.approx(stats.t.ppf(0.975, 1) * 0.24**0.5 / 4)
    alone = class_calibration({"Ann": own([1, 0], [0.6, 0.9])})
    assert np.isnan(alone.half) and "of 1 student" in alone.describe()
    with pytest.raises(ValueError, match="no forecast"):
        class_calibration({})
