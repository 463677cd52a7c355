"""What readers do on a page of the built book: guess, move an explorer, play, search, print."""

from pathlib import Path
from typing import Any

import pytest

from calibkit_course import open_lesson
from calibkit_course.learn import Prediction
from tests.browser_pages import DESK, HIDDEN, LESSON, OPEN_ALL, Visit, lesson_pages, number_of

pytestmark = pytest.mark.browser


def test_the_lesson_shows_figures_and_formulas(visit: Visit) -> None:
    page = visit.open(LESSON)
    page.wait_for_selector("mjx-container")
    assert page.locator("mjx-container").count() >= 4
    assert page.locator(".cell_output img").count() >= 8


def test_the_explorer_moves_by_keyboard(visit: Visit) -> None:
    page = visit.open(LESSON)
    explorer = page.locator(".ck-explorer").first
    figure, readout = explorer.locator("img"), explorer.locator("[aria-live]")

    def state() -> tuple[str | None, str | None, str]:
        return figure.get_attribute("src"), figure.get_attribute("alt"), readout.inner_text()

    first = state()
    explorer.locator("input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    moved = state()
    assert all(before != after for before, after in zip(first, moved, strict=True))
    page.keyboard.press("ArrowLeft")
    assert state() == first
    assert visit.messages == [] and visit.elsewhere == []


def test_the_game_is_played_by_keyboard(visit: Visit) -> None:
    page = visit.open(LESSON)
    game = page.locator(".ck-quiz")
    figure, readout = game.locator("img"), game.locator("[aria-live]")
    asked, question = figure.get_attribute("alt"), readout.inner_text()
    first = game.locator("input[type=checkbox]").first
    first.focus()
    page.keyboard.press("Space")
    assert first.is_checked()
    game.get_by_role("button", name="Reveal").focus()
    page.keyboard.press("Enter")
    assert figure.get_attribute("alt") != asked
    assert "Score: " in readout.inner_text()
    again = game.get_by_role("button", name="New draw")
    assert again.evaluate("button => button === document.activeElement")
    page.keyboard.press("Enter")
    assert figure.get_attribute("alt") != asked
    assert question in readout.inner_text()
    assert not first.is_checked()
    assert visit.messages == []


def test_every_control_of_every_explorer_changes_the_page(
    visit: Visit, root: Path, subtests: pytest.Subtests
) -> None:
    """From one end to the other by keyboard, and back by the reset button."""
    for name in lesson_pages(root):
        with subtests.test(name=name):
            page = visit.open(name)
            page.evaluate(OPEN_ALL)
            for explorer in page.locator(".ck-explorer").all():
                figure, readout = explorer.locator("img"), explorer.locator("[aria-live]")
                start = figure.get_attribute("src"), readout.inner_text()
                for control in explorer.locator("input[type=range], select").all():
                    ends = []
                    for key in ("Home", "End"):
                        control.press(key)
                        ends.append(figure.get_attribute("src"))
                    assert ends[0] != ends[1], name
                explorer.get_by_role("button", name="Reset").click()
                assert (figure.get_attribute("src"), readout.inner_text()) == start
    assert visit.messages == []


def test_without_scripts_the_default_state_and_all_text_remain(
    browser: Any, site: str, subtests: pytest.Subtests
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/{LESSON}")
    for shown in page.locator(".ck-explorer, .ck-quiz").all():
        with subtests.test(shown=shown):
            assert shown.locator("img").is_visible()
            assert shown.locator("[aria-live]").inner_text()
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


def test_the_search_finds_a_lesson_without_any_other_host(visit: Visit) -> None:
    page = visit.open("search.html?q=consistency+band")
    page.wait_for_selector("#search-results a[href*='04_read']")
    assert visit.elsewhere == [] and visit.messages == []


def test_the_reader_chooses_light_or_dark(visit: Visit) -> None:
    page = visit.open(LESSON)
    ground = "getComputedStyle(document.body).backgroundColor"
    grounds = {page.evaluate(ground)}
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        grounds.add(page.evaluate(ground))
    assert len(grounds) == 2


# --- guess first ------------------------------------------------------------------------------

FOLDS = """() => [...document.querySelectorAll('details.ck-fold')]
  .map(fold => [fold.dataset.predictions.split(' ').filter(Boolean), fold.open])"""
VERDICTS = """() => Object.fromEntries([...document.querySelectorAll('.ck-verdict')]
  .filter(line => line.checkVisibility()).map(line => [line.dataset.prediction, line.innerText]))"""


def answer(page: Any, pid: str, guess: str, *, by_keyboard: bool) -> None:
    """Guess as a reader does."""
    form = page.locator(f'.ck-guess[data-prediction="{pid}"]')
    field = form.locator("input")
    if field.count():
        field.fill(guess)
        field.press("Enter") if by_keyboard else form.locator("button.ck-button").click()
        return
    button = form.locator(f'button[value="{guess}"]')
    button.press("Space") if by_keyboard else button.click()


def guess_for(asked: Prediction, is_right: bool) -> str:
    """Return a right or a wrong guess as it is typed or pressed."""
    if asked.options:
        return next(option for option in asked.options if (option == asked.outcome) == is_right)
    return f"{asked.outcome:g}" if is_right else f"{float(asked.outcome) + 7:g}"


def sentence(asked: Prediction, guess: str) -> str:
    """Return what the page says beside the outcome."""
    chosen = asked.shown(guess if asked.options else float(guess))
    outcome = asked.shown(asked.outcome)
    return f"You chose {chosen}; {'so it is' if chosen == outcome else f'it is {outcome}'}."


def test_guesses_open_their_outcomes_and_are_remembered_until_forgotten(
    visit: Visit, root: Path, subtests: pytest.Subtests
) -> None:
    for name in lesson_pages(root):
        with subtests.test(name=name):
            page, said = visit.open(name), dict[str, str]()
            for place, (pid, asked) in enumerate(open_lesson(number_of(name)).predictions.items()):
                guess = guess_for(asked, is_right=place % 3 == 2)
                answer(page, pid, guess, by_keyboard=place % 2 == 0)
                said[pid] = sentence(asked, guess)
                for ids, is_open in page.evaluate(FOLDS):
                    assert is_open == all(one in said for one in ids or ["never"]), (name, pid, ids)
            assert page.evaluate(VERDICTS) == said
            page = visit.open(name)
            assert page.evaluate(VERDICTS) == said
            assert all(is_open for ids, is_open in page.evaluate(FOLDS) if ids)
            page.locator(".ck-forget").last.click()
            assert page.evaluate(HIDDEN), name
            assert page.evaluate("localStorage.getItem('calibkit-guesses')") == "{}"
    assert visit.messages == []


def test_a_guess_says_where_its_outcome_is_and_keeps_the_focus(visit: Visit) -> None:
    page = visit.open(LESSON)
    form = page.locator('.ck-guess[data-prediction="4a"]')
    form.get_by_role("button", name="equal", exact=True).press("Enter")
    assert form.get_by_role("status").inner_text() == "The outcome is open below."
    chosen = form.locator('button[aria-pressed="true"]')
    assert chosen.inner_text() == "equal"
    assert chosen.evaluate("button => button === document.activeElement")
    assert form.get_by_role("button", name="different").is_disabled()


def test_a_number_that_is_none_opens_nothing(visit: Visit, root: Path) -> None:
    page = visit.open(lesson_pages(root)[1])
    field = page.locator(".ck-guess input").first
    field.press("Enter")
    assert page.evaluate(HIDDEN)


def test_links_and_hands_open_a_fold(visit: Visit) -> None:
    page = visit.open(f"{LESSON}#fig-same-bars")
    assert page.locator("#fig-same-bars").is_visible()
    assert page.locator("#fig-same-bars").bounding_box()["y"] < DESK["height"]
    page.evaluate("location.hash = '#fig-band-and-null'")
    page.wait_for_function("document.querySelector('#fig-band-and-null').checkVisibility()")
    page.locator(".ck-fold:not([open]) > summary").first.press("Enter")
    assert page.locator(".ck-verdict").evaluate_all("lines => lines.every(line => line.hidden)")


def test_paper_shows_every_outcome(visit: Visit) -> None:
    page = visit.open(LESSON)
    page.emulate_media(media="print")
    shown = "folds => folds.every(fold => fold.lastElementChild.checkVisibility())"
    assert page.locator("details.ck-fold").evaluate_all(shown)
    page.emulate_media(media="screen")
    assert page.evaluate(HIDDEN)


@pytest.mark.parametrize("stored", ["null", "7", "[1]", "{", '{"4a": 3, "4b": "elsewhere"}'])
def test_a_browser_that_stores_rubbish_or_nothing_still_opens_folds(
    visit: Visit, stored: str
) -> None:
    forbid = "Storage.prototype.setItem = () => { throw new DOMException('forbidden'); };"
    visit.page.add_init_script(f"localStorage.setItem('calibkit-guesses', {stored!r}); {forbid}")
    page = visit.open(LESSON)
    assert page.evaluate(HIDDEN)
    answer(page, "4a", "different", by_keyboard=False)
    assert page.locator('.ck-verdict[data-prediction="4a"]').inner_text().endswith("so it is.")
