"""The generated parts of a page: between marks, and in one form of table."""

import re
from collections.abc import Mapping, Sequence

BLOCK = re.compile(
    r"(<!-- (?P<name>[\w-]+): written by dev\.py study -->\n).*?(<!-- end -->)", re.S
)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], texts: Sequence[str] = ()) -> str:
    """Return a table with numbers to the right; the first column and `texts` are words."""
    words = {head[0], *texts}
    ruler = ["---" if name in words else "---:" for name in head]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ruler, *rows])


def filled(text: str, blocks: Mapping[str, str]) -> str:
    """Return the text of a page with its generated parts brought up to date."""
    parts = dict(blocks)

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}\n{parts.pop(match['name'])}\n\n{match[3]}"

    new = BLOCK.sub(fill, text)
    if parts:
        raise ValueError(f"the page has no place for {', '.join(parts)}.")
    return new
