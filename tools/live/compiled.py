"""Runs inside Pyodide: a wheel with bytecode in place of source, and without what no page needs.

`left_out.toml` says what is left out, and why.
"""

import io
import py_compile
import re
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

LEFT_OUT = tomllib.loads(Path(__file__).with_name("left_out.toml").read_text(encoding="utf-8"))
UNUSED, WITHOUT_DOCSTRINGS, ABSENT_PACKAGES, ABSENT_MODULES = (
    re.compile(LEFT_OUT[name], re.VERBOSE)
    for name in ("unused", "without_docstrings", "absent_packages", "absent_modules")
)
REASON = (
    "{} is left out in the browser, to spare every reader its download; an installed one has it."
)
NOTHING = """
__all__ = {names!r}


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    class Absent:
        def __init__(self, *arguments, **named):
            raise ImportError({reason!r})

    Absent.__name__ = Absent.__qualname__ = name
    return Absent
"""
UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH


def compiled(wheel: Any, only: Iterable[str] | None = None) -> bytes:
    """Return the bytes of a wheel, or zip, whose modules (or some of them) are compiled."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(wheel.to_bytes())) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for info in old.infolist():
            found = stand_in(info.filename, old.read(info))
            if found is None or UNUSED.search(info.filename):
                continue
            whole = only is not None and info.filename not in only
            for name, data in [found] if whole else files(*found):
                dated = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                new.writestr(dated, data, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def stand_in(name: str, data: bytes) -> tuple[str, bytes] | None:
    """Return a file, or what stands for one that is left out; None where nothing does."""
    package, stem = ABSENT_PACKAGES.match(name), name.partition(".")[0]
    module = name.endswith((".so", ".py")) and ABSENT_MODULES.fullmatch(stem)
    if module or (package and name == f"{package[0]}__init__.py"):
        what = package[1].replace("/", ".") if package else f"This part of {stem.split('/')[0]}"
        names = LEFT_OUT["starred"].get(stem, "").split()
        text = NOTHING.format(names=names, reason=REASON.format(what))
        return f"{stem}.py", text.encode()
    return None if package else (name, data)


def files(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a file: a module as bytecode, calibkit's beside its source, which readers look at."""
    if not name.endswith(".py"):
        yield name, data
        return
    source, target = Path("module.py"), Path("module.pyc")
    source.write_bytes(data)
    try:
        py_compile.compile(
            str(source),
            cfile=str(target),
            dfile=f"/lib/python3.12/site-packages/{name}",
            doraise=True,
            invalidation_mode=UNCHECKED,
            optimize=2 if WITHOUT_DOCSTRINGS.match(name) else 0,
        )
    except py_compile.PyCompileError:  # a template, or Python 2
        yield name, data
        return
    if name.startswith(("calibkit/", "calibkit_audit/", "calibkit_course/")):
        yield name, data
        path = Path(name)
        name = str(path.parent / "__pycache__" / f"{path.stem}.cpython-312.py")
    yield name + "c", target.read_bytes()


def with_file(wheel: Any, name: str, data: Any) -> bytes:
    """Return the bytes of a wheel with one more file."""
    packed = io.BytesIO(wheel.to_bytes())
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data.to_bytes())
    return packed.getvalue()
