"""Working copies of the lessons, without outputs: no outcome stands on the page before a guess.

`python dev.py workbook` makes those that are missing, and `--fresh 04` one anew. A learner's copy
is never overwritten: the old one stays beside the new one, under a dated name. Standard library
only, and quick, because every start of the lab comes by.
"""

import hashlib
import json
import platform
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tools.lesson_pages import NOTEBOOKS, lesson_pages
from tools.virtual_environment import ROOT, Failure

WORKBOOK = ROOT / "workbook"
LINK = re.compile(r"(\]\((?:\.\./|further/)?[\w-]+)\.md(?=[)#])")
PICTURE = re.compile(r"!\[[^\]]*\]\(images/\d\d\.png\)\n\n")  # where code runs, it is drawn
NAME = re.compile(r"^\d\d(?:_further)?")
# Neither are glossary and bibliography.
TERM = re.compile(r"\[([^\]]*)\]\((?:\.\./)+book/(?:glossary|bibliography)\.md#[^)]*\)")
KERNEL: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": platform.python_version(),
    },
}
FRESH = "python dev.py workbook --fresh"


def copies(
    fresh: Iterable[str] = (),
    notebooks: Path = NOTEBOOKS,
    workbook: Path = WORKBOOK,
    left_out: str = "install",
) -> tuple[list[str], list[str]]:
    """Make missing copies, and those asked for anew, without the cells that have a certain tag.

    Returns what was done, and what a learner should know: sentences, both.
    """
    pages = lesson_pages(suffix=".ipynb", folder=notebooks)
    wanted = tuple(name.zfill(2) for name in fresh)
    unknown = [name for name in wanted if not any(page.name.startswith(name) for page in pages)]
    if unknown:
        there = ", ".join(map(name_of, pages))
        raise Failure(f"there is no lesson {', '.join(unknown)}; there are {there}.")
    if workbook.exists() and not workbook.is_dir():
        raise Failure(f"{workbook} is a file. Your lessons need a folder there: rename the file.")
    lessons = {page: workbook / page.relative_to(notebooks) for page in pages}
    asked = [page for page in pages if page.name.startswith(wanted)]
    try:
        kept = [(name_of(page), put_aside(lessons[page])) for page in asked]
        made = [
            name_of(page) for page, copy in lessons.items() if make(page, copy, left_out=left_out)
        ]
    except OSError as error:
        raise Failure(f"{error.filename} cannot be written ({error.strerror}).") from None
    done = [f"Lesson {name}: your old copy is now {path}." for name, path in kept if path]
    if made:
        done.append(f"Working copies made in {workbook.name}/: {', '.join(made)}.")
    return done, list(notices(lessons))


def name_of(page: Path) -> str:
    """Return how a page is called: 04, or 04_further."""
    return str(NAME.findall(page.name)[0])


def put_aside(copy: Path) -> str:
    """Give a copy a dated name that no file has yet; return the name, empty without a copy."""
    if not copy.exists():
        return ""
    date, number = time.strftime("%Y-%m-%d_%H%M"), 1
    dated = copy.with_stem(f"{copy.stem}_{date}")
    while dated.exists():
        number += 1
        dated = copy.with_stem(f"{copy.stem}_{date}_{number}")
    copy.rename(dated)
    return f"{dated.parent.name}/{dated.name}"


def make(
    lesson: Path, copy: Path, kernel: Mapping[str, Any] = KERNEL, left_out: str = "install"
) -> bool:
    """Write a copy where there is none; tell whether there was none.

    `kernel` is what the kernel says of itself. Otherwise JupyterLab would write that into a copy
    when it is opened, which then counts as unsaved.
    """
    if copy.exists():
        return False
    notebook = without_outputs(lesson)
    cells, notebook["metadata"] = notebook["cells"], notebook["metadata"] | kernel
    notebook["cells"] = [c for c in cells if left_out not in c["metadata"].get("tags", [])]
    copy.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    with copy.open("x", encoding="utf-8", newline="\n") as stream:
        stream.write(text + "\n")
    return True


def without_outputs(lesson: Path) -> dict[str, Any]:
    """Return a lesson as its readers get it, with a note of what it was made from."""
    notebook: dict[str, Any] = json.loads(lesson.read_text(encoding="utf-8"))
    cells = notebook["cells"]  # where there are copies, the package is installed
    notebook["cells"] = [c for c in cells if "install" not in c["metadata"].get("tags", [])]
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        else:  # the .md files are not beside the copies
            words = PICTURE.sub("", "".join(cell["source"]))
            words = TERM.sub(r"\1", LINK.sub(r"\1.ipynb", words))
            cell["source"] = words.splitlines(True)
    notebook["metadata"].pop("jupytext", None)  # a copy is no pair
    text = json.dumps(notebook["cells"], sort_keys=True).encode()
    notebook["metadata"]["calibkit"] = {"source": hashlib.sha256(text).hexdigest()}
    return notebook


def notices(lessons: Mapping[Path, Path]) -> Iterable[str]:
    """Name the copies whose lessons have changed, and those that nobody can read."""
    changed = []
    for path, copy in lessons.items():
        name = name_of(path)
        try:
            metadata = json.loads(copy.read_text(encoding="utf-8"))["metadata"]
            made_from = metadata.get("calibkit", {}).get("source")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            yield (
                f"{copy.parent.name}/{copy.name} cannot be read as a notebook. "
                f"`{FRESH} {name}` keeps it under a dated name and makes a new one."
            )
            continue
        if made_from != without_outputs(path)["metadata"]["calibkit"]["source"]:
            changed.append(name)
    if changed:
        yield (
            f"Changed since your copies were made: {', '.join(changed)}. "
            f"`{FRESH} {' '.join(changed)}` makes new ones and keeps yours under dated names."
        )
