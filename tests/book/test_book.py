"""The book: what its sources promise, and what a built site holds.

The second half looks at the folder that the variable CALIBKIT_SITE names: `python dev.py test`
sets it after building the book. Without it those tests are skipped.
"""

import gzip
import importlib
import importlib.util
import inspect
import os
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup, Tag

from calibkit_course import open_lesson
from calibkit_course.learn import Drawing, messages
from tests.browser_pages import asked_on, html_pages, squeezed
from tests.helpers import each_case
from tests.paths import ROOT
from tools import notebook_files as files
from tools.lesson_pages import lesson_pages
from tools.lesson_times import stated

BOOK = ROOT / "book"
HEAVIEST_PAGE = 3_000_000
FIRST_VISIT = 400_000  # bytes, with styles, scripts and pictures
ACRONYMS = ("TCE", "MCE", "ACE", "SCE", "ECE")
# What may stand between a prediction and its outcome: code and headings; and a fold's own words.
QUIET = {"pre", "h2", "h3", "summary", "script", "style", "noscript"}
# Rooms of the package and the course that serve others; no lesson teaches them.
SHARED = {"doctor", "inputs", "learn", "progress", "results"}
LOADING = {"stylesheet", "icon", "preload", "modulepreload", "preconnect"}

TABLE_OF_CONTENTS = yaml.safe_load((BOOK / "_toc.yml").read_text(encoding="utf-8"))
CHAPTERS = [chapter for part in TABLE_OF_CONTENTS["parts"] for chapter in part["chapters"]]
LISTED = [chapter for chapter in CHAPTERS if chapter["file"].startswith("notebooks/")]
LESSON_PAGES = [page for item in LISTED for page in (item, *item.get("sections", ()))]
FULL_LESSONS = [Path(item["file"]).name[:2] for item in LISTED if "/00_" not in item["file"]]


def source(name: str) -> str:
    return (BOOK / name).read_text(encoding="utf-8")


@cache
def extension(name: str = "calibkit_site") -> ModuleType:
    """Return one of the book's own Sphinx extensions."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location(name, BOOK / "_ext" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- sources ---------------------------------------------------------------------------------


def test_every_finished_lesson_is_in_the_book_in_its_order() -> None:
    finished = [path.relative_to(ROOT).with_suffix("").as_posix() for path in files.sources()]
    assert finished == [item["file"] for item in LESSON_PAGES]
    for item in LESSON_PAGES:
        assert item["title"].startswith(Path(item["file"]).name[:2] + " "), item


def test_the_introduction_lists_the_same_lessons() -> None:
    cards = source("intro.md").partition("{lesson-cards}")[2]
    named = re.findall(r"\]\(\.\./(notebooks/\d\d_\w+)\.md\) [A-Z].*\?$", cards, re.MULTILINE)
    assert named == [item["file"] for item in LISTED]
    assert f"Start lesson 01 · {stated(ROOT / f'{named[1]}.md')} min" in source("intro.md")


def teaching(number: str) -> str:
    """Return the teacher's notes of a lesson."""
    path = ROOT / "calibkit_course" / f"lesson{number}" / "teaching.md"
    return path.read_text(encoding="utf-8")


def test_the_teachers_page_puts_the_notes_of_all_lessons_together() -> None:
    included = re.findall(r"\{include\} /(\S+)", "\n".join(extension().teaching()))
    assert included == [f"calibkit_course/lesson{number}/teaching.md" for number in FULL_LESSONS]
    assert "\n```{teaching}\n" in source("instructors.md")


@each_case("number", FULL_LESSONS)
def test_teachers_find_two_timings_for_each_lesson(number: str) -> None:
    text = teaching(number)
    assert re.findall(r"^#+ .*", text, re.MULTILINE)[0].startswith(f"# Lesson {number}: ")
    rows = re.findall(r"^\| .+ \| (\w+|–) \| (\d+) \|$", text, re.MULTILINE)
    assert sum(int(short) for short, _ in rows if short.isdigit()) == 45
    assert sum(int(long) for _, long in rows) == 80  # and ten to spare
    assert "**Skip in the short form**" in text and "?" in text.partition("**Discuss.**")[2]


def test_teachers_read_the_times_that_the_headers_state() -> None:
    assert "\n```{times}\n" in source("instructors.md")
    table = "\n".join(extension().times())
    cells = re.findall(r"^\| (\d\d|all) \| (\d+) \| (\d+|–) \|$", table, re.M)
    *rows, total = [(name, *(int(one) for one in times if one != "–")) for name, *times in cells]
    pages = [lesson_pages(item["file"][10:12]) for item in LISTED]
    assert rows == [(found[0].stem[:2], *map(stated, found)) for found in pages]
    assert total == ("all", *(sum(row[k] for row in rows if row[k:]) for k in (1, 2)))


@each_case("number", FULL_LESSONS)
def test_each_exercise_and_prediction_has_its_place_in_class_or_at_home(number: str) -> None:
    plan = teaching(number).partition("\nThree wrong predictions")[0]
    lesson = open_lesson(number, keep=False)
    known = lesson.checks.keys() | lesson.predictions.keys()
    named = set(re.findall(rf"\b{int(number)}(?:\.\d|[a-z])(?!\w)", plan))
    assert known - set(lesson.second) <= named <= known  # the second notebook is homework


@each_case("number", FULL_LESSONS)
def test_wrong_predictions_of_the_teachers_notes_are_offered_and_wrong(number, subtests) -> None:
    predictions = open_lesson(number, keep=False).predictions
    named = re.findall(rf"^- \*\*({int(number)}[a-z]), (.+?)\.\*\*", teaching(number), re.MULTILINE)
    assert len(named) == 3
    for key, quoted in named:
        with subtests.test(key=key, quoted=quoted):
            prediction = predictions[key]
            for option in re.findall(r'"(.+?)"', quoted):
                value: Any = option
                if not prediction.options:  # a number with its unit
                    number, unit = option.split(" ", 1)
                    value = int(number)
                    assert unit == prediction.unit
                else:
                    assert option in prediction.options
                assert value != prediction.outcome


def test_the_glossary_has_each_term_once_and_in_order() -> None:
    terms = re.findall(r"^([^\s`#].*)\n  \S", source("glossary.md"), re.MULTILINE)
    keys = [term.lower().replace("-", " ") for term in terms]
    assert len(terms) > 30
    assert keys == sorted(set(keys))


@pytest.mark.parametrize("page", ["glossary.md", "notation.md"])
def test_functions_that_a_page_names_exist(page: str) -> None:
    names = re.findall(r"\{py:obj\}`~?(calibkit\w*(?:\.\w+)?)\.(\w+)`", source(page))
    assert len(names) >= 5
    for room, name in names:
        assert hasattr(importlib.import_module(room), name), f"{room}.{name}"
    assert "`calibkit." not in re.sub(r"\{py:obj\}`~?calibkit\.", "", source(page))


def test_every_colliding_acronym_has_two_meanings_and_our_name(subtests: pytest.Subtests) -> None:
    rows = dict(re.findall(r"^\| \*\*([A-Z]+)\*\* \|(.+)\|$", source("notation.md"), re.M))
    assert set(rows) == set(ACRONYMS)
    for row in rows.values():
        with subtests.test(row=row):
            one, another, ours = row.split("|")
            assert one.strip() != another.strip()
            assert "{py:obj}`" in ours


def test_every_article_that_a_lesson_links_is_in_the_bibliography() -> None:
    linked = set()
    for path in files.sources():
        linked |= set(re.findall(r"arxiv\.org/abs/([\d.]+\d)", path.read_text(encoding="utf-8")))
    known = set(re.findall(r"eprint = \{([\d.]+)\}", source("references.bib")))
    assert linked and linked <= known


def test_lessons_in_a_docstring_become_links_if_they_exist() -> None:
    linked = extension().linked
    known = extension().lessons()["04"]
    assert linked("Taught in lesson 04.") == f"Taught in lesson :doc:`04 <{known}>`."
    assert linked("Lessons 04 and 99.") == f"Lessons :doc:`04 <{known}>` and 99."
    assert linked("section 04, 2004, x[04]") == "section 04, 2004, x[04]"


# --- a built site ----------------------------------------------------------------------------

needs_site = pytest.mark.skipif(
    not os.environ.get("CALIBKIT_SITE"),
    reason="CALIBKIT_SITE names no built book; `python dev.py test --only book` builds and checks",
)


def site() -> Path:
    return Path(os.environ.get("CALIBKIT_SITE", ""))


def addresses() -> list[str]:
    """Return the pages that readers visit."""
    return html_pages(site()) if os.environ.get("CALIBKIT_SITE") else []


@cache
def text(name: str) -> str:
    return (site() / name).read_text(encoding="utf-8")


@cache
def page(name: str) -> Any:
    return BeautifulSoup(text(name), "html.parser")


@cache
def ids(name: str) -> set[str]:
    """Return the targets of links to a page."""
    return {item["id"] for item in page(name).select("[id]")}


def each_page() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", addresses())


def each_lesson() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [item["file"] + ".html" for item in LESSON_PAGES])


@needs_site
def test_the_site_has_a_page_for_every_chapter_and_room() -> None:
    wanted = {f"{item['file']}.html" for item in (*CHAPTERS, *LESSON_PAGES)} | {"book/intro.html"}
    wanted |= {f"book/api/{room}.html" for room in extension().rooms()}
    assert wanted == set(addresses())
    assert (site() / "index.html").exists() and (site() / "search.html").exists()


@needs_site
def test_the_notes_of_each_lesson_are_folded() -> None:
    folds = text("book/instructors.html").count(f"<summary>{extension().NOTES}")
    assert folds == len(FULL_LESSONS)


@needs_site
def test_style_sheets_load_nothing_from_another_host() -> None:
    sheets = sorted(site().rglob("*.css"))
    assert any(sheet.name == "book.css" for sheet in sheets)
    for sheet in sheets:
        found = re.search(r"(?:@import|url\()\s*[\"']?\s*(?:https?:)?//", sheet.read_text("utf-8"))
        assert not found, sheet.name


@needs_site
@each_page()
def test_links_inside_the_site_lead_somewhere(name: str) -> None:
    for item in page(name).select("a[href]"):
        address, fragment = urldefrag(unquote(item["href"]))
        if urlsplit(address).scheme or address.startswith("//"):
            continue
        target = (site() / name).parent / address if address else site() / name
        assert target.exists(), f"{name}: {item['href']}"
        if fragment and target.suffix == ".html":
            there = target.resolve().relative_to(site().resolve()).as_posix()
            assert fragment in ids(there), f"{name}: {item['href']}"


@needs_site
@each_page()
def test_a_page_can_be_read_without_seeing_it(name: str) -> None:
    here = page(name)
    assert here.html["lang"] == "en"
    assert len(here.select("article.bd-article h1")) == 1
    for image in here.select("img"):
        if "logo" not in image["src"].rpartition("/")[2]:
            assert len(image.get("alt", "").split()) >= 5, f"{name}: {image['src'][:60]}"


@needs_site
@each_page()
def test_a_page_is_light(name: str) -> None:
    """Its own weight: text with embedded explorers, and the images it shows."""
    here, whole = page(name), text(name)
    images = {one["src"] for one in here.select('img:not([src^="data:"])')}
    parts = [(site() / name).parent / source for source in images]
    weight = len(whole.encode()) + sum(part.stat().st_size for part in parts)
    assert weight <= HEAVIEST_PAGE, f"{weight / 1e6:.1f} MB"
    assert not re.search(r"fontawesome|searchindex|<i class=.fa|<span class=.fa", whole)
    assert ("tex-chtml" in whole) == ('class="math ' in whole)
    shown = {item["href"] for item in here.select("use")}
    drawn = {f"#{item['id']}" for item in here.select("symbol")}
    assert shown == drawn and "#fa-bars" in shown


@needs_site
def test_a_policy_makes_no_page_wait_for_one_script_after_the_other() -> None:
    head = text("book/audit_a_file.html").partition("</head>")[0]
    assert "Content-Security-Policy" in head
    waits = re.findall(r'<script src="[^"]*?([\w.]+)(?:\?[^"]*)?"', head)
    assert waits == ["documentation_options.js"] and head.count("<script defer src=") >= 8


@needs_site
def test_a_first_visit_loads_four_tenths_of_a_megabyte() -> None:
    """Compressed, as servers send it."""
    here, parts = page("book/intro.html"), {site() / "book" / "intro.html"}
    loaded = [one["src"] for one in here.select("[src]")]
    loaded += [one["href"] for one in here.select("link") if LOADING & {*one.get("rel", [])}]
    for address in loaded:
        if not address.startswith("data:"):
            parts.add((site() / "book" / address.partition("?")[0]).resolve())
    weight = sum(len(gzip.compress(part.read_bytes())) for part in parts)
    assert weight <= FIRST_VISIT, f"{weight / 1e6:.2f} MB"
    assert "searchindex" in (site() / "search.html").read_text(encoding="utf-8")


@needs_site
@each_lesson()
def test_a_lesson_is_complete_on_its_page(name: str) -> None:
    here, cells = page(name), files.read_source(ROOT / name.replace(".html", ".md")).cells
    tagged = [tag for cell in cells if cell.cell_type == "code" for tag in files.tags(cell)]
    assert len(here.select(".tag_solution")) == tagged.count("solution")
    assert len(here.select(".tag_hide-cell")) == tagged.count("hide-cell")
    explorers = here.select(".ck-explorer, .ck-quiz")
    assert len(explorers) == tagged.count("widget")
    asked = [f"q-{Path(name).name[:2]}-{place}" for place in (1, 2, 3, 4)]
    assert [item["id"] for item in here.select(".ck-item")] == asked * tagged.count("quiz")
    assert all(item["aria-label"] for item in explorers)
    assert not here.select(".traceback, .stderr")
    assert "application/vnd.jupyter.widget" not in text(name) and "require.js" not in text(name)
    static = "../" * name.count("/") + "_static"
    for script in ("question_bank", "explorer"):
        assert len(here.select(f'script[src^="{static}/{script}.js"]')) == 1


def spoilt(article: Any) -> list[str]:
    """Return what is seen between a prediction and its outcome, and what has no outcome."""
    found, pending = [], list[str]()
    for node in article.descendants:
        kinds = node.get("class", []) if isinstance(node, Tag) else []
        if "ck-guess" in kinds:
            pending.append(node["data-prediction"])
        if "ck-verdict" in kinds:
            pending.remove(node["data-prediction"])
        is_seen = node.name in ("img", "table") or (node.name is None and node.strip())
        if pending and is_seen and not may_stay(node, pending[-1]):
            found.append(f"{pending[-1]}: {node}")
    return found + pending


def may_stay(node: Any, pid: str) -> bool:
    """Tell whether something stands in the fold of a prediction, or is quiet, or an exercise."""
    for part in node.parents:
        kinds = {*part.get("class", [])}
        if node.name is None and (part.name in QUIET or kinds & {"ck-guess", "tag_predict"}):
            return True
        if pid in part.get("data-predictions", "").split():
            return True
        if part.get("id", "").startswith("exercise-"):
            return not node.find_parent(class_="tag_solution")
    return False


@cache
def seen(name: str) -> str:
    """Return what stands outside of folds."""
    return squeezed(
        "".join(
            text
            for text in article(name).find_all(string=True)
            if not text.find_parent(class_="ck-fold")
        )
    )


def article(name: str) -> Any:
    return page(name).select_one("article")


def cell(*tags: str, source: str = "") -> Any:
    """Return a cell as the book's builder makes it: code and, except for a prompt, an output."""
    nodes = pytest.importorskip("docutils.nodes")
    code = nodes.container("", nodes.literal_block("", source or "code"))
    output = nodes.container("", nodes.paragraph("", f"output of {source or 'code'}"))
    output["nb_element"] = "cell_code_output"
    kinds = ["cell", *(f"tag_{tag}" for tag in tags)]
    return nodes.container("", code, output, nb_element="cell_code", classes=kinds)


def section(title: str, *children: Any) -> Any:
    nodes = pytest.importorskip("docutils.nodes")
    return nodes.section("", nodes.title("", title), *children)


def outline(node: Any) -> list[str]:
    """Return the text of a section's children; those inside a fold are indented."""
    lines = []
    for child in node.children:
        if type(child).__name__ == "Fold":
            lines += [f"  {line}" for line in outline(child)]
        elif type(child).__name__ == "section":
            lines += outline(child)
        elif type(child).__name__ != "raw":
            lines.append(" | ".join(child.astext().split("\n\n")))
    return lines


def test_what_is_folded_and_what_stays_in_sight() -> None:
    nodes = pytest.importorskip("docutils.nodes")
    predictions = open_lesson("04").predictions
    ask, tell = 'lesson.predict("4a", ...)', 'lesson.reveal("4a")'
    page = section(
        "Title",
        nodes.paragraph("", "before"),
        cell("predict", source=ask),
        cell(source="one"),
        nodes.paragraph("", "prose"),
        section("Exercise", nodes.paragraph("", "task"), cell("exercise"), cell(source="two")),
        cell("reveal", source=tell),
        nodes.paragraph("", "after"),
        cell(source="three"),
        section("Next", nodes.paragraph("", "free"), cell(source="four")),
    )
    extension("predict_first").Page(predictions).fold(page)
    assert outline(page) == [
        "Title", "before", f"{ask} | output of {ask}",
        "one", "  output of one", "  prose",
        "Exercise", "task", "code | output of code", "two", "  output of two",
        f"  {tell} | output of {tell}", "  after", "  three | output of three",
        "Next", "free", "four | output of four",
    ]  # fmt: skip


@needs_site
@each_lesson()
def test_each_prediction_has_its_answers_as_buttons_and_its_outcome_in_a_fold(
    name: str, subtests: pytest.Subtests
) -> None:
    predictions, here = asked_on(name), article(name)
    forms = {form["data-prediction"]: form for form in here.select(".ck-guess")}
    assert sorted(forms) == sorted(predictions)  # the page has its own order
    for pid, prediction in predictions.items():
        with subtests.test(pid=pid, prediction=prediction):
            is_drawn = isinstance(prediction, Drawing)
            offered = [button["value"] for button in forms[pid].select("button[value]")]
            assert offered == list(prediction.options)
            has_field = bool(forms[pid].select("input:not([type=range])"))
            assert has_field == (not prediction.options and not is_drawn)
            (verdict,) = here.select(f'.ck-verdict[data-prediction="{pid}"]')
            assert verdict in here.select(f'.ck-fold[data-predictions~="{pid}"] .ck-verdict')
            folds = here.select(f'.ck-fold[data-predictions~="{pid}"]')
            held = squeezed("".join(fold.get_text() for fold in folds))
            outcome = "" if is_drawn else prediction.shown(prediction.outcome)
            assert f"Outcome {pid}: {outcome}" in held
            assert (f'data-prediction="{pid}" data-canvas' in text(name)) == is_drawn
            assert squeezed(prediction.why) in held and squeezed(prediction.why) not in seen(name)


@needs_site
@each_lesson()
def test_between_a_prediction_and_its_outcome_only_code_and_headings_are_seen(name: str) -> None:
    here = article(name)
    assert spoilt(here) == []
    # Links from the page's contents meet no closed fold.
    assert here.select(".ck-fold[open], .ck-fold :is(h1, h2, h3)") == []
    assert not re.search(r"\bOutcome\b", seen(name).replace("Outcome of", ""))
    assert messages.NO_GUESS not in text(name)
    assert "A wrong guess costs nothing." not in text(name)  # what to type stands in the code


@needs_site
@each_lesson()
def test_without_scripts_a_fold_is_plain_and_the_answers_sleep(name: str) -> None:
    here, asked = article(name), asked_on(name)
    drawn = sum(isinstance(one, Drawing) for one in asked.values())  # no confidence
    assert len(here.select(".ck-guess input[type=range]")) == len(asked) - drawn
    asleep = here.select(".ck-guess :is(button, input):not([hidden])")
    assert len(asleep) >= 2 * len(asked) and all(one.has_attr("disabled") for one in asleep)
    assert len(here.select("details.ck-fold")) == len(here.select("span.ck-hint"))
    assert text(name).count("<noscript><span>Guess in your mind") == len(asked)


@needs_site
@pytest.mark.parametrize("room", extension().rooms() if addresses() else [])
def test_every_public_name_is_documented_and_its_room_links_a_lesson(room: str) -> None:
    address = f"book/api/{room}.html"
    module = importlib.import_module(room)
    for name in extension().public_names(module):
        if callable(getattr(module, name)) and not inspect.ismodule(getattr(module, name)):
            assert f"{room}.{name}" in ids(address), name
    linked = page(address).select('a.internal.reference[href*="../../notebooks/"]')
    house, _, name = room.partition(".")
    assert linked or house == "calibkit_audit" or name in SHARED, room
