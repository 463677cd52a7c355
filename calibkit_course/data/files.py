"""Find a file of the registry, check that it is the right one, and read it."""

import csv
import hashlib
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from calibkit_course.data.packed import Parts, unpack
from calibkit_course.data.registry import Entry

SHIPPED = Path(__file__).parent / "shipped"  # its README says what is in it, and whose it is
VARIABLE = "CALIBKIT_DATA"
_TIMEOUT = 10  # seconds without an answer before a download is given up

_COLUMNS: dict[str, Any] = {"season": int, "date": "datetime64[D]", "team1": str, "team2": str}


class DataUnavailable(OSError):
    """A data set is neither on this machine nor to be had from its origin."""


def find(entry: Entry) -> Path | None:
    """Return the file from ``CALIBKIT_DATA`` or the cache, or None; check its contents."""
    for folder in folders():
        path = folder / entry.file
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if digest != entry.sha256:
                raise ValueError(
                    f"{path} is not the file that the registry knows as {entry.name!r}: its "
                    f"SHA-256 is {digest[:16]}…, expected {entry.sha256[:16]}…. Delete it and "
                    "load again."
                )
            return path
    return None


def shipped(entry: Entry) -> Path | None:
    """Return the compact form of a data set in the package, or None."""
    path = SHIPPED / f"{entry.name}.npz"
    return path if path.is_file() else None


def folders() -> list[Path]:
    """Return where files are looked for, in order."""
    given = os.environ.get(VARIABLE)
    return [Path(given).expanduser(), cache()] if given else [cache()]


def cache() -> Path:
    """Return the user's cache folder of calibkit, without making it."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "calibkit"


def download(entry: Entry) -> Path:
    """Bring the file from its origin into the cache."""
    looked = " and ".join(str(folder) for folder in folders())
    missing = f"The data set {entry.name!r} is not on this machine (looked in {looked})"
    remedy = (
        f"Set {VARIABLE} to a folder that holds {entry.file}, or load it once with a network: "
        f"it comes from {entry.origin}."
    )
    try:
        import pooch
    except ImportError:
        raise DataUnavailable(
            f"{missing}, and downloading needs the package pooch (pip install pooch). {remedy}"
        ) from None
    try:
        # Pooch downloads to a temporary name and moves the file only when its hash is right.
        name = pooch.retrieve(
            entry.url,
            known_hash=f"sha256:{entry.sha256}",
            fname=entry.file,
            path=cache(),
            downloader=pooch.HTTPDownloader(timeout=_TIMEOUT),
        )
    except (OSError, ValueError) as error:
        # Pooch's ValueError names both checksums; the text of a network error is long and vague.
        reason = error if isinstance(error, ValueError) else type(error).__name__
        raise DataUnavailable(f"{missing}, and the download failed ({reason}). {remedy}") from error
    return Path(name)


def read(path: Path, kind: str) -> Parts:
    """Return labels, probabilities, a note on rows that were left out, and further columns."""
    return _READERS[kind](path)


def read_shipped(path: Path) -> Parts:
    """Return the same from a compact file."""
    with np.load(path, allow_pickle=False) as content:
        return unpack(dict(content))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        yield from csv.DictReader(stream)


def _columns(rows: list[dict[str, str]]) -> dict[str, NDArray[Any]]:
    known = {name: kind for name, kind in _COLUMNS.items() if rows and name in rows[0]}
    return {name: np.array([row[name] for row in rows], kind) for name, kind in known.items()}


def _read_games(path: Path) -> Parts:
    """Read P(team 1 wins) and whether it did; a tied game is neither and is left out."""
    every = list(_rows(path))
    rows = [row for row in every if float(row["prob1_outcome"]) != 0.5]
    ties = len(every) - len(rows)
    note = f"{ties} tied {'game' if ties == 1 else 'games'} left out" if ties else ""
    won = np.array([float(row["prob1_outcome"]) for row in rows]).astype(np.int64)
    return won, np.array([float(row["prob1"]) for row in rows]), note, _columns(rows)


def _read_matches(path: Path) -> Parts:
    """Read win, tie and loss of team 1 as classes 0, 1 and 2."""
    columns = ("prob1", "probtie", "prob2")
    rows = list(_rows(path))
    prob = np.array([[float(row[name]) for name in columns] for row in rows])
    outcome = np.array([[float(row[f"{name}_outcome"]) for name in columns] for row in rows])
    return outcome.argmax(axis=1), prob, "", _columns(rows)


def _read_npz(path: Path) -> Parts:
    with np.load(path, allow_pickle=False) as content:
        return content["ground_truth"].astype(np.int64), content["predictions"], "", {}


def _read_top1(path: Path) -> Parts:
    """Read the confidence in the predicted class, and whether that class was right."""
    rows = list(_rows(path))
    names = ("true_label", "pred_label")
    columns = {name: np.array([int(row[name]) for row in rows], np.int16) for name in names}
    right = (columns["true_label"] == columns["pred_label"]).astype(np.int64)
    return right, np.array([float(row["confidence"]) for row in rows]), "", columns


def _read_pickle(path: Path) -> Parts:
    with path.open("rb") as stream:
        prob, labels = _ArraysOnly(stream).load()
    return labels.reshape(-1).astype(np.int64), prob, "", {}


_READERS = {
    "games": _read_games,
    "matches": _read_matches,
    "npz": _read_npz,
    "top-1": _read_top1,
    "pickle": _read_pickle,
}


class _ArraysOnly(pickle.Unpickler):
    """A reader of pickles that builds NumPy arrays only; an ordinary one runs any code."""

    _ALLOWED = frozenset({("multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype")})

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, encoding="latin1")

    def find_class(self, module: str, name: str) -> Any:
        numpy_module = module in ("numpy", "numpy.core.multiarray", "numpy._core.multiarray")
        if not numpy_module or (module.rpartition(".")[2], name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"refused to load {module}.{name}: not a NumPy array.")
        # Old files name NumPy's private module by its former path.
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)
