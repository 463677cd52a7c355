"""Runs inside Pyodide: a wheel with bytecode in place of source, and without what no page needs.

A page loads every library of every wheel before its first cell. So parts of SciPy and scikit-learn
that have nothing to do with calibration give way to stand-ins, which say so when they are used.
"""

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
    r"|^matplotlib/mpl-data/fonts/ttf/(DejaVu(Serif|SansMono-|Sans-BoldO)|STIX\w+(Bol|Ita|BolIta)\.)"
    r"|^matplotlib/(testing|sphinxext|backends/(_backend_|backend_|qt_)(cairo|compat|edit|gtk|mac|nb|pgf"
    r"|qt|tk|web|wx))|^PIL/_(imagingft|webp)\."
    r"|^dateutil/zoneinfo/.*\.tar\.gz$|^IPython/sphinxext/|^prompt_toolkit/contrib/"
    r"|^scipy/(special/_test_|stats/_sobol_direction)"
    r"|\.dist-info/RECORD$"
    r"|^pygments/lexers/(?!(__init__|_mapping|python|special|shell|diff|text)\.py)"
)
# Half of these libraries is documentation, which a page need not carry. The others read theirs,
# as does one module of NumPy.
WITHOUT_DOCSTRINGS = re.compile(
    r"^(numpy(?!/_core/multiarray)|scipy|sklearn|matplotlib|pandas|fontTools|pygments"
    r"|prompt_toolkit|joblib|dateutil|PIL)/"
)
# Whole packages, and compiled modules with the names that others import from them by a star.
ABSENT_PACKAGES = re.compile(
    r"^(numpy/f2py|scipy/(cluster|constants|fftpack|odr|signal)"
    r"|sklearn/(cluster|decomposition|gaussian_process|impute|inspection|manifold|mixture"
    r"|neighbors|neural_network))/"
    r"(?!_quad_tree)"  # which trees need
)
ABSENT_MODULES = re.compile(
    r"scipy/(interpolate/interpnd|io/_fast_matrix_market/_fmm_core|linalg/_decomp_interpolative"
    r"|ndimage/_ni_label|optimize/(_bglu_dense|_highs/_highs_wrapper|_trlib/_trlib)"
    r"|sparse/csgraph/_(flow|matching|min_spanning_tree|reordering|shortest_path|traversal)"
    r"|spatial/(_ckdtree|_qhull|transform/_rotation)|stats/(_sobol|_unuran/unuran_wrapper))"
    r"|sklearn/(datasets/_svmlight_format_fast|metrics/cluster/_expected_mutual_info_fast"
    r"|neighbors/_base|metrics/_pairwise_distances_reduction/_(argkmin(_classmode)?|base"
    r"|datasets_pair|middle_term_computer|radius_neighbors(_classmode)?))"
)
STARRED = {
    "scipy/spatial/_ckdtree": "cKDTree",
    "scipy/spatial/_qhull": "ConvexHull Delaunay HalfspaceIntersection QhullError Voronoi tsearch",
}
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


def compiled(wheel: Any) -> bytes:
    """Return the bytes of a wheel whose modules are compiled."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(wheel.to_bytes())) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for info in old.infolist():
            found = stand_in(info.filename, old.read(info))
            if found is None or UNUSED.search(info.filename):
                continue
            for name, data in files(*found):
                dated = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                new.writestr(dated, data, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def stand_in(name: str, data: bytes) -> tuple[str, bytes] | None:
    """Return a file, or what stands for one that is left out; None where nothing does."""
    package, stem = ABSENT_PACKAGES.match(name), name.partition(".")[0]
    module = name.endswith((".so", ".py")) and ABSENT_MODULES.fullmatch(stem)
    if module or (package and name == f"{package[0]}__init__.py"):
        what = package[1].replace("/", ".") if package else f"This part of {stem.split('/')[0]}"
        names = STARRED.get(stem, "").split()
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
    if name.startswith(("calibkit/", "calibkit_course/")):
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
