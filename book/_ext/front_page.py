"""The way in: the exercise and the cards of the landing page, what a link shows, a page for 404."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from book.experiments import front_door, heroes
from calibkit_course import open_lesson
from tools.lesson_pages import lesson_pages
from tools.lesson_times import stated

CARD = "_static/card.png"  # what a link to the site shows; drawn at each build
SAID = {
    "perfect": "Reliability diagram of model A: ten points zigzag around the diagonal.",
    "wrong": "Reliability diagram of model B: ten points lie along a smooth line that rises less "
    "steeply than the diagonal.",
}
ANSWER = (
    "Model B. The ragged one, A, is perfect: chance alone does this to 150 forecasts. B is "
    "over-confident, and 3,000 forecasts show it."
)
MISSING = """<h1>This page does not exist</h1>
<p>The address may be old, or mistyped. Look for what you wanted, or
<a href="index.html">begin at the front door</a>.</p>
<form action="search.html" role="search" class="ck-search">
<label>Search the course <input type="search" name="q"></label>
<button type="submit" class="ck-button">Search</button></form>"""
# What stands at the root sends on to the landing page; a link to it shows the same.
INDEX = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/><title>{title}</title>
{tags}<link rel="icon" href="_static/logo.svg"/>
<meta http-equiv="Refresh" content="0; url={page}.html"/></head>
<body><p><a href="{page}.html">{title}</a></p></body></html>
"""
LOCAL = re.compile(r'((?:href|src|action|data-content_root)=")(?![a-z]+:|[#/])(?:\./)?')


def diagram(name: str, found: dict[str, Any]) -> str:
    """Return one panel: a picture that is a button; the script moves its points."""
    letter = "A" if name == "perfect" else "B"
    places = [
        (40 + 0.27 * x, 238 - 0.23 * y) for x, y in zip(found["across"], found["up"], strict=True)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    points = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5"/>' for x, y in places)
    ticks = "".join(
        f'<g class="ck-tick"><text x="{max(40 + 270 * t, 46)}" y="256" text-anchor="middle">{t:g}'
        f'</text><text x="32" y="{min(242 - 230 * t, 238)}" text-anchor="end">{t:g}</text></g>'
        for t in (0, 0.5, 1)
    )
    return (
        f'<button type="button" class="ck-panel" value="{name}" disabled '
        f'aria-describedby="ck-see-{letter}"><svg viewBox="-14 0 334 288" aria-hidden="true">'
        '<path class="ck-grid" d="M40 8V238H310M40 123H310M175 8V238M310 8V238M40 8H310"/>'
        f'<g class="ck-chance"></g><path class="ck-ideal" d="M40 238L310 8"/>'
        f'<polyline points="{line}"/>{points}{ticks}'
        '<text x="175" y="274" text-anchor="middle">predicted probability</text>'
        '<text transform="translate(-2 123) rotate(-90)" text-anchor="middle">'
        f"observed frequency</text></svg><span>Model {letter}</span></button>"
        f'<span id="ck-see-{letter}" class="visually-hidden">{SAID[name]}</span>'
    )


class FrontDoor(SphinxDirective):
    """Show the first exercise: two diagrams to choose from, computed now, drawn by a script."""

    def run(self) -> list[nodes.Node]:
        """Return the panels before any answer; without scripts the answer is folded."""
        found = front_door.exercise()
        data = json.dumps(found, separators=(",", ":"))
        panels = "".join(
            f'<div class="ck-model" data-model="{name}">{diagram(name, found[name])}</div>'
            for name in ("perfect", "wrong")
        )
        taught, _ = lesson_pages("04")
        html = (
            '<div class="ck-door" role="group" aria-labelledby="ck-ask">'
            f'<p id="ck-ask" class="ck-ask">{front_door.QUESTION} Press one.</p>'
            f'<div class="ck-models">{panels}<div class="ck-verdict-box" hidden>'
            '<p role="status"></p><div class="ck-row"></div>'
            f'<p class="ck-next"><a href="../notebooks/{taught.stem}.html">'
            f"Next: lesson 04 · {stated(taught)} min</a></p>"
            '<svg class="ck-dots" role="img"></svg></div></div>'
            f"<noscript><details><summary>The answer</summary>{ANSWER}</details></noscript>"
            f'<script type="application/json">{data}</script>'
            '<script defer src="../_static/front_door.js"></script></div>'
        )
        return [nodes.raw("", html, format="html")]


class LessonCards(SphinxDirective):
    """Show a list of lessons as cards: the minutes, and the opening state of the explorer."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the list, with a picture in each item that links a lesson."""
        holder = nodes.container(classes=["ck-cards"])
        self.state.nested_parse(self.content, self.content_offset, holder)
        for item in holder.findall(nodes.list_item):
            number = re.match(r"\d\d", item.astext())
            if number:
                minutes = stated(lesson_pages(number[0])[0])
                lesson = open_lesson(number[0], keep=False)
                core = " ".join(id for id in lesson.checks if id not in lesson.second)
                line = f'<p class="ck-minutes" data-lesson="{lesson.id}" data-core="{core}">'
                line += f"{minutes} min</p>"
                item.append(nodes.raw("", line + hero(number[0]), format="html"))
        return [holder]


def hero(number: str) -> str:
    """Return the small picture of a lesson; lesson 00 shows the sign of the course."""
    stored = heroes.path(number, small=True)
    if not stored.exists():
        return '<img class="ck-hero" src="../_static/logo.svg" alt="The sign of this free course">'
    source = b64encode(stored.read_bytes()).decode("ascii")
    return (
        f'<img class="ck-hero" src="data:image/png;base64,{source}" '
        f'alt="The explorer of lesson {number}">'
    )


class LeaveOutHeroes(SphinxTransform):
    """A lesson's page begins with its explorer, so that it needs no picture of it."""

    default_priority = 100

    def apply(self, **_: object) -> None:
        """Remove the picture that a stored notebook shows on GitHub."""
        for image in list(self.document.findall(nodes.image)):
            if image["uri"].startswith("images/"):
                image.parent.remove(image)


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Say in a page's head what a link to it shows: title, first paragraph, picture.

    Addresses are absolute where `html_baseurl` names the site, and relative elsewhere.
    """
    if tree is None:
        return
    base = app.config.html_baseurl.rstrip("/")
    own = f"{base}/{page}.html" if base else ""
    picture = f"{base}/{CARD}" if base else context["pathto"](CARD, resource=True)
    paragraph = next(iter(tree.findall(is_prose)), None)
    words = " ".join(paragraph.astext().split()) if paragraph else app.config.html_title
    said = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": re.sub("<[^>]+>", "", context.get("title", "")),
        "og:description": words if len(words) < 200 else words[:197].rpartition(" ")[0] + " …",
        "og:image": picture,
        "og:image:alt": f"Two reliability diagrams. {front_door.QUESTION}",
        "og:url": own,
        "twitter:card": "summary_large_image",
    }
    said["description"] = said["og:description"]
    tags = "".join(
        f'<meta {"property" if key[:3] == "og:" else "name"}="{key}" content="{escape(text)}"/>\n'
        for key, text in said.items()
        if text
    )
    context["metatags"] = context.get("metatags", "") + tags
    if page == app.config.master_doc:
        (Path(app.outdir) / "index.html").write_text(
            INDEX.format(title=escape(said["og:title"]), tags=tags.replace('"../', '"'), page=page),
            encoding="utf-8",
        )


def is_prose(node: nodes.Node) -> bool:
    """Tell whether a node is a paragraph of a page's own text, no cell, box or table."""
    return isinstance(node, nodes.paragraph) and isinstance(node.parent, nodes.section)


def missing(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Give the site a page for addresses that do not exist, which web servers call 404.html."""
    yield "404", {"title": "This page does not exist", "body": MISSING}, "page.html"


def finish(app: Sphinx, problem: Exception | None) -> None:
    """Draw the picture of links; let the page for 404 find its files from any address."""
    if problem or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    figure, _ = front_door.draw()
    figure.savefig(folder / CARD, dpi=150, metadata={"Software": None})
    plt.close(figure)
    page = folder / "404.html"
    root = re.sub(r"^\w+://[^/]+", "", app.config.html_baseurl).rstrip("/") + "/"
    page.write_text(LOCAL.sub(rf"\g<1>{root}", page.read_text("utf-8")), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect directives and hooks."""
    app.add_directive("front-door", FrontDoor)
    app.add_directive("lesson-cards", LessonCards)
    app.add_transform(LeaveOutHeroes)
    app.connect("html-page-context", describe)
    app.connect("html-collect-pages", missing)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
