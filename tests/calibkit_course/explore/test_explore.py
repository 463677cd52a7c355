"""Explorers: pure views, declared controls, the widgets and the page without a kernel."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from importlib import resources
from xml.etree import ElementTree

import numpy as np
import pytest

from calibkit import plot
from calibkit_course import lesson01, lesson04
from calibkit_course.explore import Explorer, Slider
from calibkit_course.explore._image import render
from calibkit_course.explore.lab import explorer_box, quiz_box
from calibkit_course.explore.page import explorer_page, quiz_page
from calibkit_course.lesson01 import figures as figures01
from tests.browser_pages import script
from tests.markup import Page

EXPLORERS = {"forecaster": lesson01.forecaster, "diagram_lab": lesson04.diagram_lab}
HEIGHT = re.compile(r' height="([\d.]+)pt" viewBox="0 0 [\d.]+ \1"')
by_explorer = pytest.mark.parametrize("name", EXPLORERS)

KILOBYTE = 1024


@pytest.fixture(scope="module")
def pages():
    """The twins, rendered once: fewer states, the same machinery."""
    small = {name: replace(build(), controls=reduced(build())) for name, build in EXPLORERS.items()}
    game = replace(lesson04.which_is_perfect(), n_book=2)
    return {
        **{name: (explorer, explorer_page(explorer)) for name, explorer in small.items()},
        "game": (game, quiz_page(game)),
    }


def reduced(explorer):
    """Leave three values of the second last control and two of the last that has several."""
    movable = [control.name for control in explorer.controls if len(control.book) > 1]
    sizes = dict.fromkeys(movable, 1) | {movable[-2]: 3, movable[-1]: 2} | {movable[0]: 2}
    return [with_some_in_book(c, sizes.get(c.name, 1)) for c in explorer.controls]


def with_some_in_book(control, size):
    others = [value for value in control.book if value != control.default]
    return replace(control, book=(control.default, *others[: size - 1]))


def data_of(html: str) -> dict:
    """Return what a page holds for its script."""
    (held,) = (text for tag, text in Page(html).texts if tag == "script")
    return json.loads(held)


class TestControls:
    def test_a_slider_writes_numbers_with_their_unit(self):
        slider = Slider(name="n", label="N", values=(1, 2000), default=1, unit="days")
        assert [slider.text(value) for value in slider.values] == ["1 day", "2,000 days"]

    def test_another_default_may_be_a_new_number_of_a_slider(self):
        slider = Slider(name="n", label="N", values=(1, 2, 9), default=1, book=(1, 9))
        moved = slider.starting_at(5)
        assert (moved.default, moved.values, moved.book) == (5, (1, 2, 5, 9), (5, 9))
        assert slider.starting_at(9).book == (1, 9)

    @pytest.mark.parametrize("bad", [10, -1, "many", True])
    def test_another_default_must_fit(self, bad):
        slider = Slider(name="n", label="N", values=(2, 9), default=2)
        with pytest.raises(ValueError, match="n="):
            slider.starting_at(bad)
        with pytest.raises(ValueError, match="is not offered; choose one of 2, 9"):
            replace(slider, default=bad)


class TestExplorer:
    def test_the_static_figure_takes_other_states(self):
        figure = lesson01.forecaster().static(("A", {"days": 5}), ("B", {"days": 10}), columns=2)
        assert "After 5 days" in plot.alt_text(figure) and "After 10 days" in plot.alt_text(figure)

    def test_what_is_not_offered_or_too_much_is_refused(self):
        lab = lesson04.diagram_lab()
        every = [replace(control, book=control.values) for control in lab.controls]
        for build, words in (
            (lambda: lesson01.forecaster(speed=1), "'speed'.*stated"),
            (lambda: lesson01.forecaster().show(speed=1), "'speed'.*stated"),
            (lambda: lab.show(n=17), "n=17"),
            (lambda: replace(lab, play="speed"), "no control 'speed'; there are n, "),
            (lambda: replace(lab, controls=[*lab.controls, every[0]]), "1 to 5 controls"),
            (lambda: replace(lab, controls=every), "2376 states"),
        ):
            with pytest.raises(ValueError, match=words):
                build()


def test_all_right_and_all_wrong():
    game = lesson04.which_is_perfect()
    perfect, error = game.view(draw=1).perfect, game.view(draw=1).errors[0]
    assert game.answer(1, perfect).right == 6
    wrong = game.answer(1, [not one for one in perfect])
    assert wrong.right == 0
    assert all("wrong, it is " in line for line in wrong.lines)
    assert f"ECE {error.value:.3f}" in wrong.lines[0]
    assert f"show {error.null_mean:.3f} ±" in wrong.lines[0]
    with pytest.raises(ValueError, match="2 ticks for 6 panels"):
        game.answer(1, [True, False])


@pytest.mark.slow
def test_the_panels_do_not_move_when_they_are_revealed():
    game = lesson04.which_is_perfect()
    places = []
    for revealed in (False, True):
        figure = game.static(1, revealed=revealed)
        figure.canvas.draw()
        places.append([ax.get_position().bounds for ax in figure.axes])
    assert np.allclose(places[0], places[1], atol=2e-3)


def toy(*controls, view, title="Toy"):
    """An explorer of the forecaster's record, as `view` makes it."""
    return Explorer(
        name="toy",
        title=title,
        controls=controls,
        view=view,
        draw=lambda record, figure, compact: figures01.forecaster(record, figure.subplots()),
    )


def widgets_of(explorer):
    """Return the row that is seen, and what is folded."""
    row, fold, _, _ = explorer_box(explorer).children
    return row.children, fold.children[0].children


class TestWidgets:
    @pytest.mark.slow
    def test_the_play_key_moves_its_control_until_another_one_is_moved(self):
        (days, key, reset), (_, truth, _) = widgets_of(lesson01.forecaster())
        assert (key.max, key.value, key.interval) == (11, days.index, 400)
        key.playing, key.value = True, 8
        assert days.value == 200
        days.value = 300  # by hand, which the key follows
        assert key.value == 9 and key.playing
        truth.value = 0.7
        assert not key.playing
        reset.click()
        assert (days.value, key.value, truth.value) == (50, 6, 0.6)

    @pytest.mark.long
    def test_the_game_reveals_counts_and_deals_again(self):
        game = lesson04.which_is_perfect()
        figure, ticks, buttons, feedback = quiz_box(game).children
        reveal, again = buttons.children
        asked = figure.value
        for box, is_one in zip(ticks.children, game.view(draw=1).perfect, strict=True):
            box.value = is_one
        reveal.click()
        assert "Score: 6 of 6 panels." in feedback.value and figure.value != asked
        assert reveal.disabled and all(box.disabled for box in ticks.children)
        again.click()
        assert game.question in feedback.value and "Score: 6 of 6" in feedback.value
        assert not reveal.disabled and not any(box.value for box in ticks.children)
        reveal.click()
        assert "of 12 panels" in feedback.value

    @pytest.mark.slow
    @pytest.mark.parametrize("build", [lesson01.forecaster, lesson04.which_is_perfect])
    def test_the_widget_view_is_shown_and_without_ipywidgets_the_first_state(
        self, build, monkeypatch
    ):
        bundle = build()._repr_mimebundle_()
        assert bundle["text/plain"] == repr(build()) and "text/html" not in bundle
        assert "application/vnd.jupyter.widget-view+json" in bundle
        monkeypatch.setattr("calibkit_course.explore._shown.find_spec", lambda _: None)
        bundle = build()._repr_mimebundle_()
        page = Page(bundle["text/html"])
        assert set(bundle) == {"text/plain", "text/html"}
        assert len(page.all("img")) == 1 and not page.all("input")

    @pytest.mark.long
    def test_importing_explore_does_not_need_ipywidgets(self):
        code = "import sys; sys.modules['ipywidgets'] = None; import calibkit_course.explore"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow  # the first to come renders the pages
class TestPageWithoutKernel:
    def test_the_environment_variable_asks_for_it(self, monkeypatch):
        monkeypatch.setenv("CALIBKIT_BOOK", "1")
        game = replace(lesson04.which_is_perfect(), n_book=1)
        bundle = game._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html"}
        assert "ck-quiz" in bundle["text/html"]

    @pytest.mark.long
    @by_explorer
    def test_the_first_state_is_plain_html_and_equals_the_default(self, pages, name):
        explorer, html = pages[name]
        picture, text = explorer.show()
        (image,) = Page(html).all("img")
        assert image["alt"] == picture.alt
        assert image["src"] == picture.source
        (narrow,) = Page(html).all("source")
        small = explorer.picture(explorer.view(**explorer.default), narrow=True)
        assert narrow["srcset"] == small.as_tall(int(narrow["height"])).source
        assert small.width == 400 < picture.width
        assert (image["width"], image["height"]) == (str(picture.width), str(picture.height))
        assert f'aria-live="polite">{text}</p>' in html

    @pytest.mark.long
    @by_explorer
    def test_every_state_has_its_own_picture_words_and_sentence(self, pages, name):
        explorer, html = pages[name]
        data = data_of(html)
        states = list(explorer.states())
        assert len(data["states"]) == len(states) == explorer.n_states
        for state, stored in zip(states, data["states"], strict=True):
            assert stored["text"] == explorer.view(**state).describe()
            assert stored["alt"]
        (image,), (narrow,) = Page(html).all("img"), Page(html).all("source")
        for form, first in (("wide", image), ("narrow", narrow)):
            pictures = {stored[form] for stored in data["states"]}
            assert len(pictures) == len(states)
            (tall,) = {HEIGHT.search(one)[1] for one in pictures}  # so that nothing jumps
            assert float(tall) == pytest.approx(0.72 * int(first["height"]))
            assert all(one.startswith("<svg") and one.endswith("</svg>") for one in pictures)

    @by_explorer
    def test_the_index_of_a_state_is_what_the_script_computes(self, pages, name):
        explorer, html = pages[name]
        data = data_of(html)
        movable = [control for control in explorer.controls if len(control.book) > 1]
        assert data["texts"] == [[c.text(v) for v in c.book] for c in movable]
        index = 0
        for start, texts in zip(data["starts"], data["texts"], strict=True):
            index = index * len(texts) + start
        assert data["states"][index]["text"] == explorer.show()[1]

    @by_explorer
    def test_controls_are_real_labelled_and_wait_for_the_script(self, pages, name):
        explorer, html = pages[name]
        page = Page(html)
        movable = [control for control in explorer.controls if len(control.book) > 1]
        sliders = [attrs for attrs in page.all("input") if attrs["type"] == "range"]
        assert len(sliders) + len(page.all("select")) == len(movable)
        assert len(page.all("label")) == len(movable)
        for control in movable:
            assert f"<label>{control.label} <" in html
        assert all(attrs["aria-valuetext"] for attrs in sliders)
        assert '<div class="ck-controls" hidden>' in html
        assert page.elements[0][1]["aria-label"] == explorer.title

    def test_the_play_key_names_its_control_and_the_other_controls_are_folded(self, pages):
        _, html = pages["forecaster"]
        (key,) = (one for one in Page(html).all("button") if one["data-role"] == "play")
        assert (key["data-place"], key["aria-label"]) == ("0", "Play: Length")
        seen, folded = html.split("<summary>More controls</summary>")
        assert seen.count("<label>") == 1 and folded.count("<label>") == 2
        still = [replace(c, book=(c.default,)) for c in lesson01.forecaster().controls]
        alone = explorer_page(replace(lesson01.forecaster(), controls=still))
        assert "<details" not in alone and 'data-role="play"' not in alone

    def test_the_script_is_told_which_page_holds_all_states(self, pages):
        explorer, html = pages["forecaster"]
        whole = [replace(c, values=(c.default,), book=(c.default,)) for c in explorer.controls]
        assert "data-all" in explorer_page(replace(explorer, controls=whole))
        assert "data-all" not in html

    def test_the_game_holds_both_pictures_and_both_lines_of_each_panel(self, pages):
        game, html = pages["game"]
        page = Page(html)
        assert len(page.all("input")) == len(page.all("label")) == 6
        assert len(data_of(html)["draws"]) == 2
        looks = {state["wide"] for state in data_of(html)["states"]}
        assert len(looks) == len(data_of(html)["states"]) == 4  # asked and revealed
        for draw, stored in enumerate(data_of(html)["draws"], start=1):
            perfect = game.view(draw=draw).perfect
            assert stored["right"] == [int(one) for one in perfect]
            for (unticked, ticked), is_one in zip(stored["lines"], perfect, strict=True):
                assert (": right" in ticked, ": right" in unticked) == (is_one, not is_one)

    @pytest.mark.parametrize("name", [*EXPLORERS, "game"])
    def test_no_inline_handler_no_address_and_no_early_end(self, pages, name):
        _, html = pages[name]
        text = re.sub(r"data:image[^\"]*|http://www.w3.org/(2000/svg|1999/xlink)", "", html)
        assert not re.search(r"\son\w+=", text)
        assert "http" not in text and "javascript:" not in text
        assert text.count("</script>") == 1

    @pytest.mark.parametrize("text", ["<!--<script>", "</script>"])
    def test_a_text_ends_no_script_and_hides_no_end(self, text):
        """After "<!--<script>" a browser looks for two ends of the script."""
        days = Slider(name="days", label="<Days>", values=(1,), default=1)
        record = replace(lesson01.forecaster_view(days=5), method=text)
        html = explorer_page(toy(days, view=lambda days: record, title='A "title" & more'))
        page = Page(html)
        assert "<!--" not in html and html.count("</script>") == 1
        assert f"({text})" in data_of(html)["states"][0]["text"]
        assert page.elements[0][1]["aria-label"] == 'A "title" & more'


@pytest.mark.slow
def test_a_picture_is_always_the_same_and_holds_letters_lines_and_few_points():
    lab = lesson04.diagram_lab()
    picture, _ = lab.show(model="over-confident", n=1000)
    assert picture == lab.show(model="over-confident", n=1000)[0]
    root = ElementTree.fromstring(picture.svg)
    assert root.get("width") == f"{0.72 * picture.width:g}pt"
    assert "#d55e00" in picture.svg and "DejaVuSans" in picture.svg and "<image" not in picture.svg
    cloud = render(lambda figure: figure.subplots().scatter(range(400), range(400)), (4, 3), "a")
    assert cloud.svg.count("<image") == 1 and cloud.svg.count("<use") < 100


def test_narrow_panels_stand_below_each_other():
    shown = []

    def draw(figure):
        shown.append(figure)
        for ax in figure.subplots(1, 2):
            ax.plot([0, 1], label="a line")

    wide, narrow = (render(draw, (8, 3), "two", narrow=one) for one in (False, True))
    assert (wide.width, wide.height, narrow.width) == (800, 300, 400) and narrow.height > 500
    first, second = (ax.get_position() for ax in shown[1].axes)
    assert first.y0 > second.y1 and first.x0 == pytest.approx(second.x0, abs=0.01)
    assert shown[1].legends[0].get_window_extent().y1 < shown[1].axes[1].get_window_extent().y0


@pytest.fixture(scope="class")
def site(tmp_path_factory, pages):
    folder = tmp_path_factory.mktemp("site")
    for name in ("explorer.js", "explorer.css"):
        text = resources.files("calibkit_course.explore").joinpath(name).read_text("utf-8")
        (folder / name).write_text(text, "utf-8")
    body = "".join(html for _, html in pages.values())
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t</title>'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="explorer.css">'
        f'<script defer src="explorer.js"></script></head><body>{body}</body></html>',
        "utf-8",
    )
    return (folder / "index.html").as_uri()


@pytest.fixture
def page(browser, site):
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.errors = []
    page.on("console", lambda message: page.errors.append(message.text))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(site)
    yield page
    assert page.errors == []
    page.close()


@pytest.mark.browser
class TestBrowser:
    """The pages in a real browser: by keyboard, several explorers at once."""

    def look(self, block):
        image = block.locator("img")
        words = block.locator(".ck-readout").inner_text()
        return image.evaluate("image => image.currentSrc"), image.get_attribute("alt"), words

    @pytest.mark.parametrize("number", [0, 1])
    def test_keys_move_picture_words_and_sentence_of_every_control(self, page, number):
        block = page.locator(".ck-explorer").nth(number)
        start = self.look(block)
        slider = block.locator("input[type=range]").first
        value = slider.get_attribute("aria-valuetext")
        slider.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft" if self.look(block) == start else "ArrowRight")
        moved = self.look(block)
        assert all(now != then for now, then in zip(moved, start, strict=True))
        assert slider.get_attribute("aria-valuetext") != value
        block.evaluate("root => root.querySelectorAll('details').forEach(fold => fold.open = true)")
        for control in block.locator("input[type=range], select").all():
            pictures = []
            for key in ("Home", "End"):
                control.press(key)
                pictures.append(self.look(block)[0])
            assert pictures[0] != pictures[1]
        block.get_by_role("button", name="Reset").focus()
        page.keyboard.press("Enter")
        assert self.look(block) == start

    def test_the_play_key_shows_picture_after_picture_until_it_is_pressed_again(self, page):
        block = page.locator(".ck-explorer").first
        key, readout = block.locator('[data-role="play"]'), block.locator(".ck-readout")
        key.focus()
        page.keyboard.press("Enter")
        assert key.get_attribute("aria-label") == "Pause: Length"
        assert readout.get_attribute("aria-live") == "off"
        page.evaluate(script("three_pictures"))
        page.keyboard.press("Enter")
        assert key.get_attribute("aria-label") == "Play: Length"
        assert readout.get_attribute("aria-live") == "polite"
        stopped = self.look(block)
        page.wait_for_timeout(300)
        assert self.look(block) == stopped

    @pytest.mark.parametrize("how", ["the other control", "reset", "out of sight"])
    def test_play_stops_when_the_reader_turns_elsewhere(self, page, how):
        block = page.locator(".ck-explorer").first
        block.locator('[data-role="play"]').click()
        if how == "the other control":
            block.locator("summary").click()
            block.locator("input").nth(1).focus()
            page.keyboard.press("ArrowRight")
            page.keyboard.press("ArrowLeft")
        elif how == "reset":
            block.get_by_role("button", name="Reset").click()
        else:
            page.evaluate("() => window.scrollTo(0, document.body.scrollHeight)")
        page.wait_for_function(
            "() => document.querySelector('[data-role=play]').textContent === '▶ Play'"
        )

    def test_who_wants_no_motion_gets_single_steps(self, browser, site):
        context = browser.new_context(reduced_motion="reduce")
        page = context.new_page()
        page.goto(site)
        key = page.locator('[data-role="play"]').first
        assert key.inner_text() == "▶ Step"
        start = page.locator(".ck-value").first.inner_text()
        key.click()
        moved = page.locator(".ck-value").first.inner_text()
        page.wait_for_timeout(300)
        assert moved != start and page.locator(".ck-value").first.inner_text() == moved
        context.close()

    def test_one_explorer_moves_no_other_keeps_its_keys_and_fits_a_telephone(self, page):
        first, second = (page.locator(".ck-explorer").nth(i) for i in (0, 1))
        before = self.look(second)
        page.evaluate("() => { window.keys = 0; document.onkeydown = () => { window.keys += 1 } }")
        first.locator("input[type=range]").first.focus()
        page.keyboard.press("ArrowRight")
        assert self.look(second) == before
        assert page.evaluate("() => window.keys") == 0
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 400

    def test_the_game_by_keyboard(self, page, pages):
        game, _ = pages["game"]
        block = page.locator(".ck-quiz")
        for box, is_one in enumerate(game.view(draw=1).perfect):
            if is_one:
                block.locator("input").nth(box).focus()
                page.keyboard.press("Space")
        asked = self.look(block)
        block.get_by_role("button", name="Reveal").focus()
        page.keyboard.press("Enter")
        source, alt, text = self.look(block)
        assert source != asked[0] and alt != asked[1] and "Score: 6 of 6 panels." in text
        page.keyboard.press("Enter")  # the focus has moved to "New draw"
        assert game.question in self.look(block)[2]
        assert not block.locator("input:checked").count()
        assert block.locator("input").first.is_enabled()
