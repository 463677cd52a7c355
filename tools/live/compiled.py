"""Runs inside Pyodide: a wheel with bytecode in place of source, and without what no page needs."""

import io
import py_compile
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

UNUSED = re.compile(
    r"(^|/)tests?/|\.(pyi|c|h|pyx|pxd|map|a|jpg)$"
    r"|^scipy/misc/.*\.(dat|npz|bz2)$|^matplotlib/backends/web_backend/"
    r"|^matplotlib/mpl-data/(sample_data|images|plot_directive|fonts/afm|fonts/pdfcorefonts)/"
    r"|^matplotlib/mpl-data/fonts/ttf/(DejaVu(Serif|SansMono-)|STIX\w+(Bol|Ita|BolIta)\.)"
    r"|^pygments/lexers/(?!(__init__|_mapping|python|special|shell|diff|text)\.py)"
)
# Half of these libraries is documentation, which a page need not carry. The others read theirs.
WITHOUT_DOCSTRINGS = re.compile(r"^(scipy|sklearn|matplotlib|pandas|fontTools|pygments)/")
UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH


def compiled(wheel: Any) -> bytes:
    """Return the bytes of a wheel whose modules are compiled."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(wheel.to_bytes())) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for info in old.infolist():
            if UNUSED.search(info.filename):
                continue
            for name, data in files(info.filename, old.read(info)):
                dated = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                new.writestr(dated, data, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


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
    if name.startswith("calibkit/"):
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
