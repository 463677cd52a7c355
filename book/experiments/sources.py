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


def shown(place: str) -> bool:
    """Tell whether a test, or a text on a page, exists."""
    if "::" in place:
        file, _, test = place.partition("::")
        return f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
    page, _, words = place.partition("#")
    pattern = f"notebooks/**/{page}_*.md" if page.isdigit() else f"book/{page}.md"
    return any(words in path.read_text(encoding="utf-8") for path in ROOT.glob(pattern))


def obeys(row: dict[str, str]) -> bool:
    """Tell whether a row obeys the page's rule for its verdict."""
    why, here = row["reason"], row["where"]
    if row["verdict"] == "missing":
        return why != "" and here + row["test"] == ""
    rule = {"works": why == "", "partly": why.startswith(PARTS), "contradicted": why != ""}
    shows = re.match(r"(\w+)#|.*/lesson(\d\d)/", row["test"])  # a page, or a lesson's test
    named = shows is None or (shows[1] or shows[2]) in here
    return rule[row["verdict"]] and here != "" and named and shown(row["test"])


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
    numbers = {name: [count[key, verdict] for verdict in VERDICTS] for key, name in SOURCES.items()}
    numbers["all"] = [sum(column) for column in zip(*numbers.values(), strict=True)]
    lines = [[name, f"{sum(line)}", *map(str, line)] for name, line in numbers.items()]
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
    for broken in (row for row in ledger() if not obeys(row)):
        print("breaks the rule of its verdict, or nothing shows it:", broken)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks()), encoding="utf-8")
