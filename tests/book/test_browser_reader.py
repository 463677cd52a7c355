"""What readers do on a page of the built book: guess, move an explorer, play, search, print."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

import calibkit as ck
from calibkit_course import open_lesson
from calibkit_course.learn import STAND_IN, Drawing, Prediction, messages
from calibkit_course.learn.calibration import calibration_of
from calibkit_course.learn.forecasts import Forecast, as_csv, as_forecasts, read_rows
from calibkit_course.lesson01 import true_or_false
from tests.browser_pages import (
    BLOCKED,
    DESK,
    FURTHER,
    LESSON,
    TELEPHONE,
    Visit,
    asked_on,
    lesson_pages,
    reload_until,
    script,
)
from tests.paths import ROOT

pytestmark = pytest.mark.browser
# The pictures of an explorer have been fetched, in the form of this screen.
HERE = "root => root.dataset[innerWidth > 768 ? 'wide' : 'narrow']"
SHOWN = "image => image.currentSrc"
TEACHERS, HEIGHT = "book/instructors.html", "document.documentElement.scrollHeight"


def test_on_a_telephone_the_controls_stay_in_sight_and_panels_stand_below(browser, site) -> None:
    visit = Visit(browser, site, viewport=TELEPHONE)
    page = visit.open(FURTHER)
    page.evaluate(script("open_all"))
    explorer = page.locator(".ck-explorer").first
    explorer.scroll_into_view_if_needed()
    page.wait_for_function(HERE, arg=explorer.element_handle())
    slider, image = explorer.locator("input[type=range]").first, explorer.locator("img")
    inside, width = explorer.bounding_box(), slider.bounding_box()["width"]
    assert width > 0.85 * inside["width"]
    page.evaluate(f"scrollBy(0, {inside['y'] + inside['height'] / 2})")
    start, seen = image.evaluate(SHOWN), page.evaluate("scrollY")
    slider.press("End")
    moved = image.evaluate(SHOWN)
    assert moved != start and all(one.startswith("data:image/svg+xml,") for one in (start, moved))
    assert all("width%3D%22288pt" in one for one in (start, moved))  # four inches
    header = page.locator(".bd-header-article").bounding_box()
    assert slider.bounding_box()["y"] >= header["y"] + header["height"]
    assert page.evaluate("scrollY") == seen  # the slider was in sight
    page.set_viewport_size(DESK)  # the telephone is turned
    page.wait_for_function("old => document.querySelector('.ck-figure').src !== old", arg=moved)
    assert "width%3D%22288pt" not in image.evaluate(SHOWN) and visit.messages == []
    visit.close()


def test_without_scripts_the_default_state_and_all_text_remain(browser, site, subtests) -> None:
    context = browser.new_context(viewport=TELEPHONE, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/{LESSON}")
    assert page.get_by_text("bin_statistics = ...").is_visible()
    for figure in page.locator("article picture img").all():
        if figure.is_visible():
            box = figure.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= TELEPHONE["width"]
    for shown in page.locator(":is(.ck-explorer, .ck-quiz):not(.ck-fold *)").all():
        with subtests.test(shown=shown):
            assert shown.locator("img").is_visible() and shown.locator("[aria-live]").inner_text()
            assert not shown.locator(".ck-controls").is_visible()
    fold = page.locator(".ck-fold").first
    assert not fold.locator(".ck-verdict ~ .cell").first.is_visible()
    assert page.locator(".ck-guess button.ck-button").first.is_disabled()
    fold.locator("summary").first.click()
    assert fold.locator(".ck-verdict ~ .cell").first.is_visible()
    context.close()


def test_a_solution_is_folded_and_opens_by_keyboard(visit: Visit) -> None:
    page = visit.open(LESSON)
    solution = page.locator(".tag_solution").first
    code = solution.locator(".cell_input")
    assert not code.is_visible()
    solution.locator("summary").press("Enter")
    assert code.is_visible()
    assert solution.locator("summary").inner_text() == "Hide the solution"


@pytest.mark.parametrize("size", [TELEPHONE, DESK], ids=["telephone", "desk"])
def test_code_is_folded_on_a_telephone_and_one_switch_shows_all(browser, site, size) -> None:
    visit = Visit(browser, site, viewport=size)
    page = visit.open(LESSON)
    codes, unread = page.locator(".ck-code .cell_input"), page.locator(".ck-unread")
    task, switch = page.locator(".tag_exercise .cell_input"), page.locator(".ck-all-code")
    assert codes.first.is_visible() == (size == DESK) and task.first.is_visible()
    assert not [one for one in unread.all() if one.is_visible()]
    switch.press("Enter")
    reload_until(page, ".ck-shows-code")
    assert codes.first.is_visible() and unread.first.is_visible()
    assert switch.inner_text() == "Hide code"
    assert page.locator("#q-04-1").is_visible() == (size == DESK)
    visit.close()


@pytest.mark.long
def test_a_core_ends_after_fourteen_telephones(browser: Any, site: str) -> None:
    """As it is met, with what is folded. 00 is three telephones, the teachers' page ten desks."""
    cores = [name for name in lesson_pages() if "further" not in name]
    limits = (TELEPHONE, 14 * 844, cores), (TELEPHONE, 3 * 844, cores[:1]), (DESK, 8000, [TEACHERS])
    for size, most, names in limits:
        visit = Visit(browser, site, viewport=size)
        tall = {name: visit.open(name).evaluate(HEIGHT) for name in names}
        assert max(tall.values()) <= most, tall
        visit.close()


# An index entry of the page for trades makes it the first that is found.
TRADES = ("net benefit", "O/E", "ICI", "calibration slope", "traffic light", "Hosmer–Lemeshow")
TRADES += ("scale_pos_weight",)


def test_the_words_of_readers_lead_to_their_page(visit: Visit, root: Path) -> None:
    """Words of readers and of other sites: four may be lost."""
    lines = (root / "tests" / "book" / "search_words.csv").read_text("utf-8").splitlines()[1:]
    asked = dict(line.split(",") for line in lines)
    page = visit.open("search.html?q=bins")
    page.wait_for_selector("#search-results li:first-child a[href*='06_choose']")
    found = dict(zip(asked, page.evaluate(script("found_first"), [*asked]), strict=True))
    lost = asked.keys() - {
        words
        for words, wanted in asked.items()
        if any(name in place for place in found[words][:3] for name in wanted.split())
    }
    assert len(asked) == 60 and len(lost) <= 4, lost
    for words, places in found.items():
        is_api = [place.startswith("book/api") for place in places]
        assert is_api == sorted(is_api), words
    for places in page.evaluate(script("found_first"), [*TRADES]):
        assert "trades" in places[0]
    assert page.evaluate(script("words_of_no_page")) == visit.messages == visit.elsewhere == []
    page = visit.open("search.html?q=brier_score")
    page.wait_for_selector("#search-results li:first-child a[href*='api']")


# --- guess first ------------------------------------------------------------------------------


def answer(page: Any, pid: str, guess: str, *, by_keyboard: bool) -> None:
    """Guess as a reader does."""
    form = page.locator(f'.ck-guess[data-prediction="{pid}"]')
    field = form.locator("input[type=number]")
    canvas = page.locator(f'.ck-canvas[data-prediction="{pid}"]').first
    if canvas.count():  # a level line, a tenth of the way up
        for key in ["PageUp", *["ArrowRight", "ArrowUp", "ArrowDown"] * 14]:
            canvas.press(key)
        form.get_by_role("button", name="This is my line").press("Enter")
        return
    button = form.locator("button.ck-button" if field.count() else f'button[value="{guess}"]')
    if field.count():
        field.fill(guess)
    if field.count() and by_keyboard:
        field.press("Enter")
    else:
        button.press("Space") if by_keyboard else button.click()
    if form.locator(".ck-three").count():  # the slider was left alone
        page.keyboard.press("Enter")  # the first of three words has the focus


def guess_for(asked: Prediction, is_right: bool) -> str:
    """Return a right or a wrong guess as it is typed or pressed."""
    if isinstance(asked, Drawing):
        return str(asked.top / 10)
    if asked.options:
        return next(option for option in asked.options if (option == asked.outcome) == is_right)
    return f"{asked.outcome:g}" if is_right else f"{float(asked.outcome) + 7:g}"


def sentence(page: Any, pid: str, asked: Prediction, guess: str) -> str:
    """Return what the page says beside the outcome."""
    if isinstance(asked, Drawing):
        canvas = page.locator(f'.ck-canvas[data-prediction="{pid}"]').last
        truth = json.loads(canvas.get_attribute("data-canvas"))["truth"]
        return asked.compare([float(guess)] * len(asked.x), truth)
    chosen = asked.shown(guess if asked.options else float(guess))
    outcome = asked.shown(asked.outcome)
    return f"You chose {chosen}; {'so it is' if chosen == outcome else f'it is {outcome}'}."


@pytest.mark.long
def test_guesses_open_their_outcomes_and_are_remembered_until_forgotten(
    visit: Visit, subtests: pytest.Subtests
) -> None:
    for name in filter(asked_on, lesson_pages()):
        with subtests.test(name=name):
            page, said = visit.open(name), dict[str, str]()
            assert page.evaluate(script("hidden")), name
            for place, (pid, asked) in enumerate(asked_on(name).items()):
                guess = guess_for(asked, is_right=place % 3 == 2)
                answer(page, pid, guess, by_keyboard=place % 2 == 0)
                said[pid] = sentence(page, pid, asked, guess)
                for ids, is_open in page.evaluate(script("folds")):
                    assert is_open == all(one in said for one in ids or ["never"]), (name, pid, ids)
            assert page.evaluate(script("verdicts")) == said
            page = visit.open(name)
            assert page.evaluate(script("verdicts")) == said
            assert all(is_open for ids, is_open in page.evaluate(script("folds")) if ids)
            page.locator(".ck-forget").last.click()
            assert page.evaluate(script("hidden")), name
            assert page.evaluate("localStorage.getItem('calibkit-guesses')") == "{}"
    assert visit.messages == []


def test_a_number_that_is_none_opens_nothing(visit: Visit) -> None:
    page = visit.open(next(name for name in lesson_pages() if "/12_" in name))
    field = page.locator(".ck-guess input[type=number]").first
    field.press("Enter")
    assert page.evaluate(script("hidden"))


def test_a_diagram_in_a_picture_is_clicked_and_judged(visit: Visit, tmp_path: Path) -> None:
    """Axes from pixel 40 to 440; what cannot be is said, and what was clicked stays."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.imsave(tmp_path / "figure.png", np.ones((480, 480)), cmap="gray")
    page = visit.open("book/read_a_diagram.html")
    part = {
        name: page.locator(f"#ck-diagram-{name}") for name in ["canvas", "n", "problem", "verdict"]
    }
    page.set_input_files("#ck-diagram-file", tmp_path / "figure.png")
    part["canvas"].wait_for()

    def click(x: float, y: float) -> None:
        scale = part["canvas"].bounding_box()["width"] / 480
        place = {"x": scale * (40 + 400 * x), "y": scale * (440 - 400 * y)}
        part["canvas"].click(position=place)

    for corner in ((0, 0), (0.5, 0), (1, 1)):
        click(*corner)
        assert ("one line" in part["problem"].inner_text()) == (corner == (0.5, 0))
    for point in ((0.1, 0.14), (0.5, 0.46), (0.9, 0.87), (1.08, 0.5)):
        click(*point)
    assert "outside the axes" in part["problem"].inner_text()
    assert "the counts are missing" in part["verdict"].inner_text()
    for n, words in (("300", "With n = 300 cases"), ("20,000", "Not by chance"), ("-3", "")):
        part["n"].fill(n)
        assert part["verdict"].inner_text().startswith(words)
    assert "n is a whole number" in part["problem"].inner_text()
    table = page.locator("#ck-diagram-table")
    assert len(table.input_value().split("\n")) == 3
    part["n"].fill("")
    (tmp_path / "figure.png").rename(tmp_path / "another.png")
    page.set_input_files("#ck-diagram-file", tmp_path / "another.png")
    page.locator("#ck-diagram-step", has_text="at 0, 0").wait_for()
    assert table.input_value() == ""
    for line, words in (("-0.1 0.2 50", "lies below 0"), ("35 41 50", "divide percentages")):
        table.fill(line)
        assert words in part["problem"].inner_text()
    assert visit.messages == [] and visit.elsewhere == []


@pytest.mark.long
@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_ten_diagrams_of_known_data_are_judged_rightly(browser, site, tmp_path, touch) -> None:
    """Five of calibrated models, five of others: read by a hand that aims at whole pixels."""
    plt = pytest.importorskip("matplotlib.pyplot")
    visit = Visit(browser, site, viewport=TELEPHONE if touch else DESK, has_touch=touch)
    page = visit.open("book/read_a_diagram.html")
    canvas, verdict = page.locator("#ck-diagram-canvas"), page.locator("#ck-diagram-verdict")
    for seed in range(10):
        rng = np.random.default_rng(seed)
        prob = rng.random(1500)
        label = rng.random(1500) < expit((0.6 if seed % 2 else 1) * logit(prob))
        table = ck.reliability_table(label, prob, bins=ck.EqualMass(10))
        points = np.column_stack([table.mean_prob, table.frequency])
        figure, axes = plt.subplots(figsize=(5, 5), dpi=100)
        axes.plot([0, 1], [0, 1], "--")
        axes.plot(*points.T, "o-")
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="mean prediction", ylabel="frequency")
        figure.savefig(tmp_path / f"{seed}.png")
        pixels = axes.transData.transform([(0, 0), (1, 1), *points]) * (1, -1) + (0, 500)
        plt.close(figure)
        page.locator("#ck-diagram-n").fill("")
        page.set_input_files("#ck-diagram-file", tmp_path / f"{seed}.png")
        page.locator("#ck-diagram-step", has_text="at 0, 0").wait_for()
        for pixel in pixels:
            box = canvas.bounding_box()
            x, y = np.rint(pixel * box["width"] / 500).tolist()
            (canvas.tap if touch else canvas.click)(position={"x": x, "y": y})
        assert len(page.locator("#ck-diagram-table").input_value().split("\n")) == 10
        assert "counts are missing" in verdict.inner_text()
        page.locator("#ck-diagram-n").fill("1500")
        said = "Not by chance" if seed % 2 else "With n = 1,500"
        assert verdict.inner_text().startswith(said), seed
    assert visit.messages == []
    visit.close()


# --- the reader's own calibration -----------------------------------------------------------------

OWN = "book/your_calibration.html"
KEPT = "JSON.parse(localStorage.getItem('calibkit-forecasts'))"


def test_a_slider_makes_a_guess_a_forecast_and_the_first_one_stands(visit: Visit) -> None:
    page = visit.open(LESSON)

    def form(pid: str) -> Any:
        return page.locator(f'.ck-guess[data-prediction="{pid}"]')

    slider = form("4a").get_by_role("slider", name="How sure are you?")
    assert [slider.get_attribute(name) for name in ("min", "max", "aria-valuetext")] == [
        "50", "99", "not said"]  # fmt: skip
    for key in ["End", *["ArrowLeft"] * 9]:
        slider.press(key)
    answer(page, "4a", "right", by_keyboard=True)
    answer(page, "4c", "about 10", by_keyboard=True)  # in a word: coin flip
    page = visit.open(FURTHER)
    page.locator('.ck-fold[data-predictions="4f"] > summary').first.click()
    form("4d").get_by_role("slider").press("Home")  # one over k is said, too
    answer(page, "4d", "over-confident", by_keyboard=False)
    said = {"4a": (2, 0.9, False), "4c": (4, 0.5, False), "4d": (3, 0.33, True)}
    kept: dict[str, Any] = {"4f": None}
    for pid, (options, sure, right) in said.items():
        kept[pid] = {"options": options, "sure": sure, "right": right}
    assert page.evaluate(KEPT) == kept
    page = visit.open(FURTHER)
    assert form("4f").locator(".ck-sure").inner_text().endswith("no forecast")
    page = visit.open(LESSON)
    assert slider.is_disabled() and slider.get_attribute("aria-valuetext") == "90 %"
    page.locator(".ck-forget").first.click()
    answer(page, "4a", "left", by_keyboard=False)
    assert page.evaluate(KEPT) == kept
    assert visit.messages == []


def own_page(visit: Visit, rows: Any = None) -> Any:
    """Open the page with these forecasts in the browser, as text or as rows."""
    page = visit.open(OWN)
    if rows is not None:
        text = rows if isinstance(rows, str) else as_json(rows)
        page.evaluate("text => localStorage.setItem('calibkit-forecasts', text)", text)
        page.reload()
    page.wait_for_selector("#ck-own svg")
    return page


def as_json(rows: dict[str, Forecast]) -> str:
    """Return forecasts as the browser keeps them."""
    parts = ("options", "sure", "right")
    return json.dumps({name: {p: getattr(row, p) for p in parts} for name, row in rows.items()})


def said_on(page: Any) -> list[str]:
    """Return the sentences about the forecasts."""
    return list(page.locator("#ck-own > p").all_inner_texts()[1:7])


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_the_page_says_what_python_says_about_the_same_forecasts(visit, seed) -> None:
    rows = read_rows(STAND_IN.read_text(encoding="utf-8"))
    if seed is not None:
        rng = np.random.default_rng(seed)
        sure, options = rng.integers(50, 100, 25) / 100, rng.integers(2, 6, 25)
        drawn = zip(options.tolist(), sure.tolist(), (rng.random(25) < sure).tolist(), strict=True)
        rows = {f"{number}a": Forecast(*row) for number, row in enumerate(drawn)}
    own = as_forecasts(rows, stand_in=seed is None)
    page = own_page(visit, rows if seed else None)
    assert said_on(page) == calibration_of(own).sentences()
    alt = page.locator("#ck-own svg").get_attribute("aria-label")
    assert alt.startswith("A stand-in" if seed is None else "Your calibration: 25 forecasts.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if seed:
        with page.expect_download() as download:
            page.get_by_role("button", name="Export as CSV").click()
        assert download.value.path().read_text(encoding="utf-8") == as_csv(rows)
        drawn = page.locator("#ck-own svg").evaluate("drawn => drawn.outerHTML")
        page.evaluate("localStorage.clear()")
        page = own_page(visit)
        assert "stand-in" in said_on(page)[0]
        page.locator("#ck-own input[type=file]").set_input_files(download.value.path())
        page.get_by_role("status").filter(has_text="25 forecasts added").wait_for()
        assert page.locator("#ck-own svg").evaluate("drawn => drawn.outerHTML") == drawn
        assert said_on(page) == calibration_of(own).sentences()
    assert visit.messages == [] and visit.elsewhere == []


def test_what_another_tab_has_forgotten_stays_forgotten(visit: Visit) -> None:
    page = visit.open(LESSON)
    answer(page, "4a", "right", by_keyboard=True)
    page.evaluate("for (const key of Object.keys(localStorage)) localStorage.setItem(key, '{}')")
    answer(page, "4c", "about 10", by_keyboard=True)
    assert set(page.evaluate(KEPT)) == {"4c"}


def test_files_go_in_and_forecasts_are_forgotten_only_when_asked_twice(visit: Visit) -> None:
    page = own_page(visit, {"4a": Forecast(2, 0.9, False)})

    def give(text: str) -> str:
        file = {"name": "f.csv", "mimeType": "text/csv", "buffer": text.encode()}
        page.locator("#ck-own input[type=file]").set_input_files(file)
        page.wait_for_function("document.querySelector('#ck-own [role=status]').innerText")
        return str(page.locator("#ck-own [role=status]").inner_text())

    rows = {"4a": Forecast(2, 0.6, True), "5a": Forecast(3, 0.4, True), "5b": Forecast(3, 0.5)}
    for text in ("", "null", as_csv(rows).replace("0.4", "40"), as_csv(rows).replace("5a", "=5")):
        with pytest.raises(ValueError, match="line") as refused:
            read_rows(text)
        assert give(text) == str(refused.value)
    assert give(as_csv(rows)) == messages.IMPORTED.format(new=1, known=1)
    assert set(page.evaluate(KEPT)) == {"4a", "5a"} and page.evaluate(KEPT)["4a"]["sure"] == 0.9
    page.get_by_role("button", name="Forget my forecasts").click()
    assert len(page.evaluate(KEPT)) == 2
    page.get_by_role("button", name="Really forget all of them?").click()
    assert page.evaluate(KEPT) == {} and "stand-in" in said_on(page)[0]


@pytest.mark.parametrize("blocked", [False, True], ids=["kept", "blocked"])
def test_twenty_statements_become_the_forecasts_of_a_workbook(
    browser: Any, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocked: bool
) -> None:
    """By keyboard alone; no truth is told before its answer, and an answer stands."""
    visit = Visit(browser, site, viewport=TELEPHONE)
    if blocked:
        visit.page.add_init_script(BLOCKED)
    page = visit.open(OWN)
    card = page.locator("#ck-statements")
    slider = card.get_by_role("slider", name="How probable is it that this is true?")
    skip = card.get_by_role("button", name="Skip")
    skip.press("Enter")
    skip.press("Enter")
    order, steps = [*range(2, 20), 0, 1], [k % 11 * (-1) ** k for k in range(20)]
    for done, place in enumerate(order):
        assert true_or_false.STATEMENTS[place] in card.locator(".ck-claim").inner_text()
        assert card.locator("li").count() == done
        for _ in range(abs(steps[place])):
            slider.press("ArrowRight" if steps[place] > 0 else "ArrowLeft")
        percent = 50 + 5 * steps[place]
        assert slider.get_attribute("aria-valuetext").startswith(f"{percent} %")
        page.keyboard.press("Enter")  # the slider holds the focus, or gets it after an answer
        truth = "True" if true_or_false.TRUTH[place] else "False"
        assert card.get_by_role("status").inner_text().endswith(f"{truth}. You said {percent} %.")
    assert not slider.is_visible() and card.locator("li").count() == 20
    stated = [0.5 + 0.05 * step for step in steps]
    monkeypatch.setenv("CALIBKIT_WORKBOOK", str(tmp_path))
    true_or_false.sheet(stated)
    rows = read_rows((tmp_path / ".progress" / "forecasts.csv").read_text("utf-8"))
    assert said_on(page) == calibration_of(as_forecasts(rows)).sentences()
    if not blocked:
        kept = {name: Forecast(**row) for name, row in page.evaluate(KEPT).items()}
        assert kept == rows and visit.messages == visit.elsewhere == []
        reload_until(page, "#ck-statements li")
        assert card.locator("li").count() == 20 and not slider.is_visible()
        page.get_by_role("button", name="Forget my forecasts").click()
        page.get_by_role("button", name="Really forget all of them?").click()
        assert slider.is_visible() and card.locator("li").count() == 0
    visit.close()


EXERCISE = """<html><head><style>{look}</style></head><body>
<details><summary>Hint 1</summary>A nudge.</details><div class="ck-exercise" data-exercise="0.1">
<div class="tag_exercise"><pre class="cell_input"></pre></div>
<div class="tag_solution"><details><summary>Solution</summary><pre>{code}</pre></details></div>
</div><script id="ck-cells" type="json" data-lesson="00">[]</script></body></html>"""
FAKES = """window.calibkitPython = {};
window.calibkitExercises = {read: () => ({}), note: () => {}}"""
TOTAL = "    # of all\n    y = sum(\n        x)"
LINES = ["def last(x):", TOTAL, "    return y", "print(last([1]))"]


def test_the_lines_of_a_solution_are_put_in_order_by_keys_and_fingers(browser: Any) -> None:
    """After the last hint; what belongs together moves together, and two lines are no task."""
    folder = ROOT / "book" / "_static"
    page = browser.new_context(viewport=TELEPHONE, has_touch=True).new_page()

    def open_with(code: str) -> Any:
        page.set_content(EXERCISE.format(look=(folder / "live.css").read_text(), code=code))
        page.evaluate(FAKES)
        for name in ("shuffled_lines.js", "live_exercises.js"):
            page.evaluate((folder / name).read_text())
        page.get_by_role("button", name="Hint", exact=True).tap()
        return page.locator(".ck-lines li")

    items = open_with("\n".join(LINES))
    assert not items.first.is_visible(), "the hint comes first"
    page.get_by_role("button", name="Hint 2 of 2").tap()
    for box in [item.locator("button").bounding_box() for item in items.all()]:
        assert box["height"] >= 44 and 300 < box["width"] <= 390
    shown = ["    return y", "def last(x):", "print(last([1]))", TOTAL]
    assert items.locator("code").all_text_contents() == shown
    check = page.get_by_role("button", name="Check order")
    said = page.locator(".ck-lines + div [role=status]")
    check.tap()
    assert said.inner_text() == "0 of 4 lines stand where the solution has them."
    for _ in range(2):  # the end stops it
        items.filter(has_text="print").locator("button").press("ArrowDown")
    assert said.inner_text() == "Line 3 of 4, now 4."
    items.filter(has_text="def").locator("code").tap()
    items.first.locator("code").tap()
    assert said.inner_text() == "Line 2 of 4, now 1."
    start = items.filter(has_text="return").locator(".ck-handle").bounding_box()
    end = items.filter(has_text="sum").locator("button").bounding_box()
    page.mouse.move(start["x"] + 9, start["y"] + 9)
    page.mouse.down()
    page.mouse.move(start["x"] + 9, end["y"] + end["height"] - 3, steps=4)
    page.mouse.up()
    check.tap()
    assert items.locator("code").all_text_contents() == LINES
    assert said.inner_text().startswith("All lines stand right.")
    assert open_with("a = 1\nb = 2").count() == 0
    page.context.close()


def test_the_page_counts_the_core_for_itself(browser: Any) -> None:
    page = browser.new_context().new_page()
    page.set_content(open_lesson("04").progress()._repr_html_())
    page.evaluate((ROOT / "book" / "_static" / "predict_first.js").read_text())
    page.evaluate("""() => {
      ["4.1", "4.3"].forEach(id => calibkitExercises.note(id, {code: "", state: "Correct"}));
      calibkitExercises.note("4.2", {code: "", state: "Almost"});
      calibkitWork.add('{"guesses": {"4a": "right"}, "forecasts": {}, "exercises": {}}');
    }""")
    assert page.locator("p").all_text_contents() == [
        "1 of 2 exercises correct, 1 of 3 guesses made.",
        "further: 1 of 2 exercises correct, 0 of 4 guesses made.",
    ]
    page.context.close()
