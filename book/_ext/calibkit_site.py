"""What the site needs beyond the theme: an API page from docstrings alone, and no other host."""

import importlib
import inspect
import pkgutil
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

import calibkit
import calibkit_audit
from tools.lesson_pages import lesson_pages
from tools.lesson_times import stated

ROOT = Path(__file__).resolve().parent.parent.parent
CODE_CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.MULTILINE | re.DOTALL)
PAGES = ROOT / "book" / "api"  # written at each build, one page per room; not in the repository
FOLDED_SOLUTION = re.compile(
    r'(?P<start><div class="cell [^"]*\btag_solution\b[^"]*">\s*<details[^>]*>\s*<summary)[^>]*>'
    r"\s*<p(?P<closed>[^>]*)>[^<]*</p>\s*<p(?P<opened>[^>]*)>[^<]*</p>"
)
NOTES = "▸ Plan and notes"
COURSE = ("data", "explore", "finite", "learn", "simplex")  # rooms with a page
# Rooms that serve the others: the last table of the API's first page.
INNER = tuple(f"calibkit_audit.{name}" for name in ("doctor", "incoming", "saving"))
INNER += ("calibkit.results", "calibkit_audit.cli")
MENTION = re.compile(r"\b[Ll]essons? \d\d(?:(?:,| and| to|, and) \d\d)*")


@cache
def lessons() -> dict[str, str]:
    """Return the document of each lesson, by its number."""
    paths = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.md"))
    return {path.name[:2]: f"/notebooks/{path.stem}" for path in paths}


@cache
def lesson_code() -> dict[str, str]:
    """Return the code cells of each lesson, by its number."""
    texts = {
        key: "\n".join(page.read_text("utf-8") for page in lesson_pages(key)) for key in lessons()
    }
    return {key: "\n".join(CODE_CELL.findall(text)) for key, text in texts.items()}


def rooms() -> list[str]:
    """Return the public modules of the package, then the machines of the course."""
    houses = (calibkit, calibkit_audit)
    found = [
        (house, module.name) for house in houses for module in pkgutil.iter_modules(house.__path__)
    ]
    public = [f"{house.__name__}.{name}" for house, name in found if not name.startswith("_")]
    return sorted(public) + [f"calibkit_course.{name}" for name in COURSE]


def write_pages(folder: Path = PAGES) -> None:
    """Write one page per room, and forget pages of rooms that are gone.

    A page that has not changed is left alone, so that it is not built again.
    """
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.md"):
        if path.stem not in rooms():
            path.unlink()
    for room in rooms():
        path = folder / f"{room}.md"
        text = f"# {room}\n\n```{{eval-rst}}\n.. room:: {room}\n```\n"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def public_names(module: Any) -> list[str]:
    """Return what a room offers: its `__all__`, or what it defines under a public name.

    A folder without `__all__` serves other rooms, and offers what `calibkit` takes from it.
    """
    if hasattr(module, "__all__"):
        return list(module.__all__)
    inside, taken = f"{module.__name__}.", set(calibkit.__all__) - {"CalibrationWarning"}
    own = [name for name, item in vars(module).items() if is_own(item, module.__name__)
           or (name in taken and getattr(item, "__module__", "").startswith(inside))]  # fmt: skip
    return [name for name in own if not name.startswith("_")]


def is_own(item: Any, module: str) -> bool:
    """Tell whether a function or class was defined in a module."""
    return (inspect.isclass(item) or inspect.isfunction(item)) and item.__module__ == module


def linked(text: str) -> str:
    """Turn the numbers of lessons that exist into links; others are still to come."""

    def link(match: re.Match[str]) -> str:
        number = match.group(0)
        known = lessons().get(number)
        return f":doc:`{number} <{known}>`" if known else number

    return MENTION.sub(lambda match: re.sub(r"\d\d", link, match.group(0)), text)


class Room(SphinxDirective):
    """Show one room of the package: what it is, a table of its names, then each in full."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the room as if its directives had been written out by hand."""
        room = self.arguments[0]
        module = importlib.import_module(room)
        names = [name for name in public_names(module) if not self._is_data(module, name)]
        lines = [f".. automodule:: {room}", ""]
        used = [key for key, code in lesson_code().items() if self._uses(code, room, names)]
        if used:
            links = ", ".join(f":doc:`{key} <{lessons()[key]}>`" for key in used)
            lines += [f"Used in the code of lesson{'s' if len(used) > 1 else ''} {links}.", ""]
        if names:  # a room may hold data alone
            lines += [".. autosummary::", "   :nosignatures:", ""]
            lines += [f"   {name}" for name in names] + [""]
        for name in names:
            kind = self._kind(getattr(module, name))
            lines += [f".. auto{kind}:: {room}.{name}"]
            lines += ["   :members:", ""] if kind in ("class", "exception") else [""]
        holder = nodes.container()
        source = StringList(lines, source=room)
        self.state.nested_parse(source, self.content_offset, holder)
        return holder.children

    @staticmethod
    def _is_data(module: Any, name: str) -> bool:
        item = getattr(module, name)
        return not (callable(item) or inspect.ismodule(item))

    @staticmethod
    def _kind(item: Any) -> str:
        if inspect.ismodule(item):
            return "module"
        if not inspect.isclass(item):
            return "function"
        return "exception" if issubclass(item, BaseException) else "class"

    @staticmethod
    def _uses(code: str, room: str, names: list[str]) -> bool:
        short = room.rpartition(".")[2]
        if re.search(rf"\b{short}\.|\b{re.escape(room)}\b", code):
            return True
        return any(re.search(rf"\b(?:ck|calibkit)\.{name}\b", code) for name in names)


class Rooms(SphinxDirective):
    """Show a table of the rooms of one house, or of those that serve the others: `inner`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table as if it had been written out by hand."""
        house = self.arguments[0]
        found = [room for room in rooms() if room.partition(".")[0] == house and room not in INNER]
        found = sorted(INNER) if house == "inner" else found
        # The page has made `calibkit` the current module; its rooms go by their short names.
        names = [f"   {room.removeprefix('calibkit.')}" for room in found]
        lines = [".. autosummary::", "   :nosignatures:", "", *names]
        holder = nodes.container()
        source = StringList(lines, source="calibkit")
        self.state.nested_parse(source, self.content_offset, holder)
        return holder.children


def teaching() -> list[str]:
    """Return lines of MyST that include the teacher's notes of each lesson, in their order.

    A file of notes is a document of its own: its heading goes one level down, and its links to
    other pages, which begin at its own folder, are turned to where they are shown.
    """
    found = sorted((ROOT / "calibkit_course").glob("lesson[0-9][0-9]/teaching.md"))
    options = [":heading-offset: 1", ":relative-docs: ../../"]
    lines = []
    for path in found:
        lines += ["```{include} /" + path.relative_to(ROOT).as_posix(), *options, "```"]
    return lines


def times() -> list[str]:
    """Return a table of the minutes that the headers of all lessons state, as lines of MyST."""
    cores = [path for path in lesson_pages() if path.parent.name != "further"]
    rows = [[stated(page) for page in lesson_pages(core.stem[:2])] for core in cores]
    lines = ["| lesson | core | go further |", "|---|---|---|"]
    for core, minutes in zip(cores, rows, strict=True):
        cells = [*map(str, minutes), "–"][:2]
        lines.append(f"| {core.stem[:2]} | {' | '.join(cells)} |")
    core, further = (sum(row[k] for row in rows if row[k:]) for k in (0, 1))
    return [*lines, f"| all | {core} | {further} |"]


class Teaching(SphinxDirective):
    """Show the teacher's notes of all lessons, each a section. What stands inside is not shown."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Let the notes be included; MyST itself puts sections where their level belongs."""
        source = StringList(teaching(), source="calibkit_course")
        self.state.nested_parse(source, self.content_offset, nodes.container(), match_titles=True)
        return []


class FoldNotes(SphinxTransform):
    """Fold the teacher's notes of each lesson below its heading."""

    default_priority = 520

    def apply(self, **_: object) -> None:
        """Do it, on the teachers' page."""
        if self.env.docname != "book/instructors":
            return
        for section in list(self.document.findall(nodes.section)):
            if re.match(r"Lesson \d\d", section[0].astext()):
                start = f'<details class="ck-notes"><summary>{NOTES}</summary>'
                section.insert(1, nodes.raw("", start, format="html"))
                section.append(nodes.raw("", "</details>", format="html"))


class Times(SphinxDirective):
    """Show the minutes of all lessons. What stands inside is not shown."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        return self.parse_text_to_nodes("\n".join(times()))


def link_lessons(
    app: Sphinx, what: str, name: str, item: Any, options: Any, lines: list[str]
) -> None:
    """Link the lessons that a docstring mentions."""
    lines[:] = linked("\n".join(lines)).split("\n")


def resolve_name(
    app: Sphinx, env: BuildEnvironment, node: nodes.Element, content: nodes.Element
) -> nodes.Node | None:
    """Link a public name that a docstring mentions by a shorter one; a parameter is plain code."""
    if node.get("reftype") != "obj":
        return None
    python, target = env.get_domain("py"), node["reftarget"].removeprefix("calibkit.")
    houses = ("calibkit.", f"{node.get('py:module') or ''}.".partition(".")[0] + ".")
    found = [full for full, _, kind, *_ in python.get_objects()
             if full.endswith(f".{target}") and full.startswith(houses)
             and kind in ("function", "class", "exception")]  # fmt: skip
    if not found:
        return nodes.literal(content.astext(), content.astext())
    best = min(found, key=lambda full: (full.count("."), full))
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", best, node, content)


def skip_routing(app: Sphinx, what: str, name: str, item: Any, skip: bool, options: Any) -> Any:
    """Leave out the methods that scikit-learn adds to each estimator for metadata routing."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def name_solutions(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Say "Show the solution" on a folded solution instead of "Show code cell content".

    The label that hides these words from assistive technology goes too.
    """
    words = r"\g<start>><p\g<closed>>Show the solution</p><p\g<opened>>Hide the solution</p>"
    context["body"] = FOLDED_SOLUTION.sub(words, context.get("body", ""))


def offline(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Drop scripts of other hosts that an extension registers without being asked.

    The lessons hold no widgets of ipywidgets in the book, so no page needs RequireJS.
    """
    files = context.get("script_files", [])
    context["script_files"] = [file for file in files if "://" not in str(file)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect directives and hooks, and write the pages that they fill."""
    write_pages()  # now, because the table of contents looks for them before anything else runs
    app.add_directive("room", Room)
    app.add_directive("rooms", Rooms)
    app.add_directive("teaching", Teaching)
    app.add_directive("times", Times)
    app.add_transform(FoldNotes)
    app.connect("autodoc-process-docstring", link_lessons)
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("missing-reference", resolve_name)
    app.connect("html-page-context", name_solutions)
    app.connect("html-page-context", offline, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
