"""What real predictions calibkit knows: where they come from, and how to tell they are the ones."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of predictions with outcomes.

    Parameters
    ----------
    name, file, title, kind : str
        What `load` calls it, the name of its file, what it is in one phrase, how it is read.
    repository, commit, path, licence, sha256 : str
        Origin: a GitHub repository, a commit, the folder in it, the licence there; checksum.
    """

    name: str
    file: str
    kind: str
    title: str
    repository: str
    commit: str
    path: str
    licence: str
    sha256: str

    @property
    def origin(self) -> str:
        """Repository, commit and path in one line."""
        return f"github.com/{self.repository} @ {self.commit[:10]}: {self.path}{self.file}"

    @property
    def url(self) -> str:
        """Where the file can be downloaded."""
        host = "https://raw.githubusercontent.com"
        return f"{host}/{self.repository}/{self.commit}/{self.path}{self.file}"


def _entries() -> Iterator[Entry]:
    text = Path(__file__).with_name("registry.toml").read_text(encoding="utf-8")
    for origin in tomllib.loads(text)["origin"]:
        for name, file in origin.pop("files").items():
            yield Entry(name=name, **origin | file)


REGISTRY: dict[str, Entry] = {entry.name: entry for entry in _entries()}
