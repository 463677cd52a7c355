"""The ledger of the sources, `book/_data/sources.csv`, and the tables that the page makes of it.

``python -m book.experiments.sources`` writes the page's tables anew. A row is one item of a source:
id, section, what it is, verdict, where it stands here, what shows it, and the reason of a verdict
that is not *works*. What shows it is a test, ``file::name``, or a page and a text that stands on
it, ``page#text``; a number of two digits is a lesson.
"""

import csv
import re
from collections import Counter

from book.experiments.pages import filled, markdown
from tools.virtual_environment import ROOT

PAGE = ROOT / "book" / "sources.md"
LEDGER = ROOT / "book" / "_data" / "sources.csv"
SOURCES = {
    "fit": "fit-on-test {cite}`kangsepp2022`",
    "notions": "notions and fakes {cite}`panchenko2021`",
    "tce": "test-based error {cite}`matsubara2023`",
    "verified": "verified {cite}`heli`",
    "slides": "slides and hands-on {cite}`galdranriera`",
}
VERDICTS = ("works", "partly", "missing", "contradicted")
# What a verdict may be partly for; a reason begins with one of them.
PARTS = ("other data", "fewer rows", "fewer methods", "one part")


def ledger() -> list[dict[str, str]]:
    """Return the rows."""
    with LEDGER.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def linked(where: str) -> str:
    """Return the places with links to lessons and pages."""

    def link(found: re.Match[str]) -> str:
        name = found[0]
        if name.isdigit():
            (page,) = (ROOT / "notebooks").glob(f"{name}_*.md")
            return f"[{name}](../notebooks/{page.name})"
        return f"[{name}]({name}.md)" if (PAGE.parent / f"{name}.md").exists() else name

    return re.sub(r"\w+", link, where)


def blocks() -> dict[str, str]:
    """Return the generated parts of the page: the counts, and a table for each source."""
    rows = ledger()
    count = Counter((row["id"].partition("-")[0], row["verdict"]) for row in rows)
    counts = [
        [name, *(count[key, verdict] for verdict in VERDICTS)] for key, name in SOURCES.items()
    ]
    counts.append(["all", *(sum(column) for column in zip(*(c[1:] for c in counts), strict=True))])
    lines = [[line[0], f"{sum(line[1:])}", *map(str, line[1:])] for line in counts]
    found = {"counts": markdown(["source", "items", *VERDICTS], lines)}
    heads = ["id", "section", "what", "verdict", "where", "why"]
    for key in SOURCES:
        own = [row for row in rows if row["id"].startswith(f"{key}-")]
        cells = [
            [*(row[head] for head in heads[:4]), linked(row["where"]), row["reason"]] for row in own
        ]
        found[f"ledger-{key}"] = markdown(heads, cells, heads)
    return found


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks()), encoding="utf-8")
