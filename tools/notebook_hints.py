"""The hints that a page shows, folded: written from the package, where they stand once.

The source of every hint is ``calibkit_course/lessonNN/words.toml``. `python dev.py run` writes
them below the headings ``### Exercise N.M``, and `python dev.py check` fails where one differs.
A hint whose words agree keeps its line breaks.
"""

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from calibkit_course import lessons, open_lesson
from tools.lesson_pages import missing

WIDTH = 100
FOLDED = "<details><summary>▸ Hint {level}</summary>\n\n{words}\n\n</details>\n"
BLOCK = re.compile(
    r"<details><summary>▸ Hint \d+</summary>\n\n(.*?)\n\n</details>\n", flags=re.DOTALL
)
EXERCISE = re.compile(r"(?m)^### Exercise (\S+).*?(?=^#{1,3} |\Z)", flags=re.DOTALL)
LIST_LIKE = re.compile(r"(?m)^(?:[-+*>#]|\d+[.)])")  # Markdown would not read such a line as text


def with_hints(path: Path, text: str) -> str:
    """Return the source of a lesson with the hints of the package.

    A page that belongs to no lesson, or to one whose packages are missing, stays as it is.
    """
    name = path.stem[:2]
    if name not in lessons() or missing(path):
        return text
    hints = {cid: check.hints for cid, check in open_lesson(name).checks.items()}
    return EXERCISE.sub(lambda found: _filled(found[0], hints.get(found[1], ())), text)


def _filled(section: str, hints: Sequence[str]) -> str:
    """Return an exercise with its hints; if it has none yet, before its first cell."""
    shown = [_one_line(words) for words in BLOCK.findall(section)]
    if shown == [_one_line(words) for words in hints]:
        return section
    folded = "\n".join(
        FOLDED.format(level=level, words=_wrapped(words))
        for level, words in enumerate(hints, start=1)
    )
    first = BLOCK.search(section)
    place = first.start() if first else section.find("```{code-cell}")
    if place < 0:
        return section
    before, after = section[:place].rstrip("\n"), BLOCK.sub("", section[place:]).lstrip("\n")
    return f"{before}\n\n{folded}\n{after}"


def _wrapped(words: str) -> str:
    lines = textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False)
    return words if LIST_LIKE.search(lines) else lines


def _one_line(words: str) -> str:
    return " ".join(words.split())
