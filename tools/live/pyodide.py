"""The folder that runs Python in a page: official files, checked, cut down to what lessons need.

The official lock file names every package with its SHA-256, and `pins.CORE` has that of the lock
itself. So the files may come from anywhere: one that differs by a bit is refused. Our lock holds
the packages of the lessons, and calibkit; ``import calibkit`` in a cell then finds all it needs.
"""

import gzip
import hashlib
import json
import shutil
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools.live import pins
from tools.live.pages import closure, files_for
from tools.virtual_environment import Failure

Entry = dict[str, Any]

ARCHIVE = "calibkit.tar.gz"
# What the lessons import, with all that it depends on. Parquet files wait until one is opened.
WANTED = ("scikit-learn", "matplotlib", "ipython", "micropip", "pyarrow")
# The kernel asks for these: completion by jedi, encryption, a history in a database. No lesson uses
# these 5 MB; IPython wants the errors of the database, which `compiled.mjs` gives.
UNWANTED = {"jedi", "ssl", "sqlite3"}
# What a package names but hardly needs; it stays in the folder, for who imports it.
# Matplotlib: fonts inside PDF files, time zones. IPython: its terminal.
RARE = {"matplotlib": {"fonttools", "pytz"}, "ipython": {"prompt-toolkit", "wcwidth"}}
# Pure wheels of our own, with what they need.
DEPENDS: dict[str, tuple[str, ...]] = {
    "comm": ("traitlets",),
    "ipywidgets": ("comm", "ipython", "traitlets"),
    "ipykernel": (),
    "piplite": ("micropip",),
    "pyodide-kernel": ("ipykernel", "ipython", "comm", "traitlets"),
    "calibkit": ("scikit-learn", "matplotlib", "pillow", "ipywidgets", "ipython"),
}


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def unpack_core(archive: Path, folder: Path) -> Entry:
    """Unpack the core of Pyodide, file by file checked, and return the official lock."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as packed:
        for name, expected in pins.CORE.items():
            if stream := packed.extractfile(f"package/{name}"):
                (folder / name).write_bytes(stream.read())
            refuse_other(folder / name, expected)
    lock: Entry = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    return lock


def refuse_other(path: Path, expected: str) -> None:
    """Refuse a file that is not the official one, whatever source it came from."""
    found = sha256(path)
    if found != expected:
        raise Failure(
            f"{path.name} is not the official file of Pyodide {pins.PYODIDE}: its SHA-256 is "
            f"{found[:12]}…, not {expected[:12]}…. Remove {path} and run the command again; "
            "if it comes back, do not trust its source."
        )


def assemble(archive: Path, wheels: Path, ours: Iterable[Path], folder: Path) -> Entry:
    """Make the folder from the core's archive, a folder of official wheels, and our own wheels."""
    shutil.rmtree(folder, ignore_errors=True)
    official = unpack_core(archive, folder)
    packages: dict[str, Entry] = {}
    for key in closure(official, WANTED, UNWANTED):
        entry = official["packages"][key]
        source = wheels / entry["file_name"]
        refuse_other(source, entry["sha256"])
        shutil.copy(source, folder)
        names = {name.replace("_", "-") for name in entry["depends"]}
        depends = sorted(names - UNWANTED - RARE.get(key, set()))
        packages[key] = {**entry, "depends": depends, "unvendored_tests": False}
    for wheel in ours:
        shutil.copy(wheel, folder)
        entry = locked(folder / wheel.name)
        packages[entry["name"]] = entry
    lock = {"info": official["info"], "packages": dict(sorted(packages.items()))}
    write_lock(folder, lock)
    return lock


def write_lock(folder: Path, lock: Entry) -> None:
    """Write our lock."""
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def in_one_archive(folder: Path) -> None:
    """Put the wheels that every page needs into one archive, which a browser unpacks at once.

    The lock calls it calibkit; what only Pyodide can load, shared libraries, stays beside it.
    """
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    files = files_for(lock, DEPENDS)
    wheels = {name for name in files if name.endswith(".whl")}
    with (
        gzip.GzipFile(folder / ARCHIVE, "wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name in sorted(wheels):
            move_files(folder / name, archive)
    left = {key: one for key, one in lock["packages"].items() if one["file_name"] not in wheels}
    for entry in left.values():
        entry["depends"] = sorted({*entry["depends"]} & left.keys())
    beside = [key for key, entry in left.items() if entry["file_name"] in files]
    whole = {"file_name": ARCHIVE, "sha256": sha256(folder / ARCHIVE), "depends": beside}
    left["calibkit"] = lock["packages"]["calibkit"] | whole
    write_lock(folder, lock | {"packages": left})


def move_files(wheel: Path, archive: tarfile.TarFile) -> None:
    """Move the files of a wheel into an archive."""
    with zipfile.ZipFile(wheel) as packed:
        for info in packed.infolist():
            entry = tarfile.TarInfo(info.filename)
            entry.size = info.file_size
            archive.addfile(entry, packed.open(info))
    wheel.unlink()


def locked(wheel: Path) -> Entry:
    """Return the lock's entry of a wheel of ours."""
    name, version = wheel.name.split("-")[:2]
    name = name.lower().replace("_", "-")
    return {
        "name": name,
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": sha256(wheel),
        "package_type": "package",
        "imports": [name.replace("-", "_")],
        "depends": list(DEPENDS.get(name, ())),
    }
