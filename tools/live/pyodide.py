"""The folder that runs Python in a page: official files, checked, cut down to what lessons need.

The official lock file names every package with its SHA-256, and `pins.CORE` has that of the lock
itself. So the files may come from anywhere: one that differs by a bit is refused. Our lock holds
the packages of the lessons, and calibkit; ``import calibkit`` in a cell then finds all it needs.
"""

import email
import gzip
import hashlib
import json
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools.live import pins
from tools.virtual_environment import Failure

Entry = dict[str, Any]

ARCHIVE = "calibkit.tar.gz"
# What the lessons import, with all that it depends on. Parquet files wait until one is opened.
WANTED = ("scikit-learn", "matplotlib", "ipython", "micropip", "pyarrow")
# The kernel asks for these by name: completion by jedi, encryption, a history in a database. No
# lesson uses these 5 MB. Small wheels answer instead; IPython wants the database's errors.
ERRORS = "".join(
    f"class {name}(Exception):\n    pass\n\n\n"
    for name in ("DatabaseError", "IntegrityError", "OperationalError")
)
STAND_INS = {"jedi": "", "ssl": "", "sqlite3": f"{ERRORS}class Connection:\n    pass\n"}
# What a package names but hardly needs; it stays in the folder, for who imports it.
# Matplotlib: fonts inside PDF files, time zones. IPython: its terminal.
RARE = {"matplotlib": {"fonttools", "pytz"}, "ipython": {"prompt_toolkit", "wcwidth"}}
# Pure wheels of our own, with what they need.
DEPENDS: dict[str, tuple[str, ...]] = {
    "comm": ("traitlets",),
    "tqdm": (),
    "ipywidgets": ("comm", "ipython", "traitlets"),
    "ipykernel": (),
    "piplite": ("micropip",),
    "pyodide-kernel": ("ipykernel", "ipython", "comm", "traitlets"),
    "calibkit": ("scikit-learn", "matplotlib", "pillow", "ipywidgets", "ipython", "tqdm"),
}


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def unpack_core(archive: Path, folder: Path) -> Entry:
    """Unpack the core of Pyodide, file by file checked, and return the official lock."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as packed:
        for name in pins.CORE:
            stream = packed.extractfile(f"package/{name}")
            if stream is None:
                raise Failure(f"{archive.name} has no {name}: it is not the core of Pyodide.")
            (folder / name).write_bytes(stream.read())
    for name, expected in pins.CORE.items():
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


def needed(official: Entry, wanted: Iterable[str] = WANTED) -> Iterator[tuple[str, Entry]]:
    """Yield packages with all that they depend on, except what a stand-in answers for."""
    seen, todo = set(STAND_INS), list(wanted)
    while todo:
        key = todo.pop().replace("_", "-")
        if key in seen:
            continue
        seen.add(key)
        entry = official["packages"].get(key)
        if entry is None:
            raise Failure(f"Pyodide {pins.PYODIDE} has no package {key!r}.")
        yield key, entry
        todo += entry["depends"]


def assemble(archive: Path, wheels: Path, ours: Iterable[Path], folder: Path) -> Entry:
    """Make the folder from the core's archive, a folder of official wheels, and our own wheels."""
    shutil.rmtree(folder, ignore_errors=True)
    official = unpack_core(archive, folder)
    packages: dict[str, Entry] = {}
    for key, entry in needed(official):
        source = wheels / entry["file_name"]
        if not source.exists():
            raise Failure(f"{entry['file_name']} is missing in {wheels}.")
        refuse_other(source, entry["sha256"])
        shutil.copy(source, folder)
        spared = RARE.get(key, set()).union(name for name, text in STAND_INS.items() if not text)
        depends = [name for name in entry["depends"] if name not in spared]
        packages[key] = {**entry, "depends": depends, "unvendored_tests": False}
    for wheel in [*ours, *(stand_in(*both, folder) for both in STAND_INS.items())]:
        if wheel.parent != folder:
            shutil.copy(wheel, folder)
        packages |= locked(folder / wheel.name)
    lock = {"info": official["info"], "packages": dict(sorted(packages.items()))}
    write_lock(folder, lock)
    return lock


def write_lock(folder: Path, lock: Entry) -> None:
    """Write our lock, after a look whether each package finds what it depends on."""
    packages = lock["packages"]
    for key, entry in packages.items():
        missing = {name.replace("_", "-") for name in entry["depends"]} - set(packages)
        if missing:
            raise Failure(f"{key} depends on {', '.join(sorted(missing))}, which is not there.")
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def in_one_archive(folder: Path) -> None:
    """Put the wheels that every page needs into one archive, which a browser unpacks at once.

    The lock calls it calibkit; what only Pyodide can load, shared libraries, stays beside it.
    """
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    packages: dict[str, Entry] = lock["packages"]
    inside, todo = set[str](), [*DEPENDS, *STAND_INS]
    while todo:
        name = todo.pop().replace("_", "-")
        if name not in inside and packages[name]["file_name"].endswith(".whl"):
            inside.add(name)
            todo += packages[name]["depends"]
    entries = [packages.pop(name) for name in sorted(inside)]
    with (
        gzip.GzipFile(folder / ARCHIVE, "wb", 9, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for entry in entries:
            move_files(folder / entry["file_name"], archive)
    names = {name.replace("_", "-") for entry in entries for name in entry["depends"]} - inside
    whole = {"name": "calibkit", "version": "0", "file_name": ARCHIVE, "install_dir": "site"}
    whole |= {"sha256": sha256(folder / ARCHIVE), "package_type": "package"}
    whole |= {"imports": sorted({name for entry in entries for name in entry["imports"]})}
    for entry in packages.values():
        left = [name for name in entry["depends"] if name.replace("_", "-") not in inside]
        entry["depends"] = left if left == entry["depends"] else [*left, "calibkit"]
    packages["calibkit"] = whole | {"depends": sorted(names), "unvendored_tests": False}
    write_lock(folder, lock)


def move_files(wheel: Path, archive: tarfile.TarFile) -> None:
    """Move the files of a wheel into an archive."""
    with zipfile.ZipFile(wheel) as packed:
        for name in sorted({*packed.namelist()}):  # of two files of one name the later one counts
            entry = tarfile.TarInfo(name)
            entry.size = packed.getinfo(name).file_size
            archive.addfile(entry, packed.open(name))
    wheel.unlink()


def locked(wheel: Path) -> dict[str, Entry]:
    """Return the lock's entry of a wheel of ours, by name."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        fields = email.message_from_bytes(packed.read(metadata))
    name = str(fields["Name"]).lower().replace("_", "-")
    modules = {Path(part).parts[0].removesuffix(".py") for part in names if part.endswith(".py")}
    return {
        name: {
            "name": name,
            "version": fields["Version"],
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": sha256(wheel),
            "package_type": "package",
            "imports": sorted(modules),
            "depends": list(DEPENDS.get(name, ())),
            "unvendored_tests": False,
        }
    }


def stand_in(name: str, module: str, folder: Path) -> Path:
    """Write a wheel of this name that holds nothing, or one small module."""
    wheel, info = folder / f"{name}-0-py3-none-any.whl", f"{name}-0.dist-info"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
        if module:
            packed.writestr(f"{name}.py", module)
    return wheel
