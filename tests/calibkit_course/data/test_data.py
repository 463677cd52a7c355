"""Real predictions: found where they should be, checked, read right, and refused politely."""

import hashlib
import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import calibkit as ck
from calibkit_course import data
from calibkit_course.data import files
from calibkit_course.data.packed import pack

SHIPPED = {path.stem: path for path in sorted(files.SHIPPED.glob("*.npz"))}
needs_data = pytest.mark.skipif(
    not os.environ.get("CALIBKIT_DATA"), reason="CALIBKIT_DATA is not set: no real predictions"
)


def test_every_entry_names_origin_licence_and_checksum() -> None:
    for name, entry in data.REGISTRY.items():
        assert entry.name == name
        assert (len(entry.sha256), len(entry.commit)) == (64, 40)
        assert entry.licence in {"CC-BY-4.0", "Apache-2.0", "MIT"}
        assert entry.url.startswith("https://raw.githubusercontent.com/")
        assert entry.url.endswith(entry.path + entry.file)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Neither a data folder nor a cache: two empty places."""
    monkeypatch.delenv("CALIBKIT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_offline_says_what_where_and_how(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pooch = pytest.importorskip("pooch")

    monkeypatch.setattr(pooch, "retrieve", Mock(side_effect=OSError("no network")))
    with pytest.raises(data.DataUnavailable) as caught:
        data.load("cifar10-lenet")
    cache, source = str(nowhere / "cache" / "calibkit"), "EFS-OpenSource/calibration-framework"
    for words in ("lenet-5-cifar-10.npz", "CALIBKIT_DATA", cache, source):
        assert words in str(caught.value)
    assert data.available("cifar10-lenet") is False


def test_without_pooch_the_message_says_so(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(data.DataUnavailable, match="pip install pooch"):
        data.load("cifar10-lenet")


WRITTEN = {b"half a fi": "download failed", b"a,b\n": data.REGISTRY["cifar10-lenet"].sha256}


@pytest.mark.parametrize("content", WRITTEN, ids=["cut off", "other"])
def test_a_failed_or_wrong_download_leaves_nothing_behind(content, nowhere, monkeypatch) -> None:
    pooch = pytest.importorskip("pooch")

    class Writes:
        def __init__(self, **options: object) -> None:
            assert options["timeout"] == 10  # a dead line must not hang a lesson

        def __call__(self, url: str, output_file: str, pooch: object) -> None:
            Path(output_file).write_bytes(content)
            if content.startswith(b"half"):
                raise ConnectionError("line cut")

    monkeypatch.setattr(pooch, "HTTPDownloader", Writes)
    with pytest.raises(data.DataUnavailable, match=WRITTEN[content]):
        data.load("cifar10-lenet")
    assert not list((nowhere / "cache").rglob("*.npz"))


def test_changed_contents_are_refused(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIBKIT_DATA", str(nowhere))
    (nowhere / "mlb_games.csv").write_text("prob1,prob1_outcome\n0.5,1\n")
    with pytest.raises(ValueError, match="is not the file that the registry knows as 'mlb'"):
        data.load("mlb", original=True)


def test_the_cache_is_used_after_the_folder(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "prob1,prob1_outcome\n0.5,1\n0.25,0\n0.5,0.5\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    entry = replace(data.REGISTRY["mlb"], name="toy", file="toy.csv", sha256=digest)
    monkeypatch.setitem(data.REGISTRY, "toy", entry)
    cache = nowhere / "cache" / "calibkit"
    cache.mkdir(parents=True)
    (cache / "toy.csv").write_bytes(text.encode())
    toy = data.load("toy")
    assert toy.y_true.tolist() == [1, 0]
    assert toy.y_prob.tolist() == [0.5, 0.25]
    assert "1 tied game left out" in toy.describe()
    assert not toy.y_true.flags.writeable


class _Attack:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("echo attacked > attacked.txt",)


def test_a_pickle_with_code_in_it_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bad.dat"
    path.write_bytes(pickle.dumps(_Attack()))
    with pytest.raises(pickle.UnpicklingError, match="refused to load"):
        files.read(path, "pickle")
    assert not (tmp_path / "attacked.txt").exists()


def test_a_pickle_inside_an_npz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, predictions=np.array([_Attack()], dtype=object), ground_truth=np.array([0]))
    with pytest.raises(ValueError, match="allow_pickle"):
        files.read(path, "npz")


@pytest.mark.slow
@needs_data
def test_every_entry_loads_and_is_valid_input() -> None:
    for name in data.REGISTRY:
        found = data.load(name, original=True)
        view = None if found.y_prob.ndim == 1 else "top-label"
        error = ck.expected_calibration_error(found.y_true, found.y_prob, view=view)
        assert 0 < float(error) < 0.25
        n_classes = 2 if view is None else found.y_prob.shape[1]
        assert set(np.unique(found.y_true)) == set(range(n_classes))
        assert found.y_prob.flags.writeable is found.y_true.flags.writeable is False


# Share of events (of right classes), mean probability of them, and expected calibration error.
SHARE_AND_MEAN = {
    "imagenet-resnext101": (0.7931, 0.8737),
    "imagenet-efficientnet": (0.8187, 0.6950),
}
ERRORS = {  # data, view and number of bins
    ("mlb", None, 10): 0.0070,
    ("nba", None, 10): 0.0484,
    ("nfl", None, 10): 0.0323,
    ("world_cup", 0, 10): 0.0753,
    ("cifar10-wideresnet", "top-label", 15): 0.0537,
    ("cifar10-lenet", "top-label", 15): 0.1079,
    ("cifar100-densenet", "top-label", 15): 0.1422,
    ("cifar10-vgg16", "top-label", 15): 0.0398,
}


@pytest.mark.parametrize(("name", "view", "bins"), ERRORS)
def test_errors_are_those_measured_for_them(name: str, view: Any, bins: int) -> None:
    if not data.available(name):
        pytest.skip(f"{name} is not in CALIBKIT_DATA")
    found = data.load(name)
    error = ck.expected_calibration_error(found.y_true, found.y_prob, view=view, bins=bins)
    assert float(error) == pytest.approx(ERRORS[name, view, bins], abs=5e-5)


@pytest.mark.parametrize("name", SHARE_AND_MEAN)
def test_one_image_net_is_over_confident_and_one_under(name: str) -> None:
    found = data.load(name)
    both = found.y_true.mean(), found.y_prob.mean()
    assert both == pytest.approx(SHARE_AND_MEAN[name], abs=5e-5)


@pytest.mark.parametrize(("name", "ties"), [("mlb", "1 tied game "), ("nfl", "7 tied games ")])
def test_a_tie_is_neither_won_nor_lost_and_the_description_says_so(name: str, ties: str) -> None:
    found = data.load(name)
    assert f"{ties}left out" in found.describe()
    assert found.note in found.describe()


def test_what_is_shipped_is_small_and_the_readme_has_its_checksums() -> None:
    readme = (files.SHIPPED / "README.md").read_text(encoding="utf-8")
    assert sum(path.stat().st_size for path in files.SHIPPED.glob("*.npz")) <= 1_000_000
    for name, path in SHIPPED.items():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert f"{digest}  {path.name}\n" in readme
        entry = data.REGISTRY[name]
        assert f"| `{path.name}` |" in readme
        assert f"| {entry.origin} | {entry.licence} |" in readme


def test_without_originals_the_shipped_files_are_read(nowhere: Path) -> None:
    assert len(SHIPPED) == 8
    for name in SHIPPED:
        found = data.load(name)
        assert data.available(name) and found.n == len(found.y_prob)
        for column in found.columns.values():
            assert len(column) == found.n and not column.flags.writeable
    nfl = data.load("nfl").columns
    assert nfl["date"].dtype == "datetime64[D]" and nfl["season"].min() == 2015
    assert {"Rams", "Bengals"} <= set(nfl["team1"]) & set(nfl["team2"])


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_is_its_original_but_for_the_rounded_logits_of_networks(name: str) -> None:
    original, short = data.load(name, original=True), files.read_shipped(SHIPPED[name])
    y_true, y_prob, note, columns = short
    assert np.array_equal(y_true, original.y_true) and note == original.note
    assert {key: list(column) for key, column in columns.items()} == {
        key: list(column) for key, column in original.columns.items()
    }
    moved = np.abs(y_prob.astype(float) - original.y_prob)
    rounded = data.REGISTRY[name].kind not in ("games", "matches")
    assert moved.max() < 2e-4 * rounded + 1e-300 and y_prob.dtype == original.y_prob.dtype
    assert np.array_equal(y_prob.argmax(-1), original.y_prob.argmax(-1))
    parts = original.y_true, original.y_prob, original.note, original.columns
    packed = pack(parts, rounded=rounded)
    with np.load(SHIPPED[name]) as content:  # the tool would write the same again
        assert {key: part.tobytes() for key, part in packed.items()} == {
            key: part.tobytes() for key, part in content.items()
        }
