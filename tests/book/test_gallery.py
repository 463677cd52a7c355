"""The gallery: every plot has an entry, whose lines run as they stand and draw its picture."""

import importlib
import pkgutil

import pytest

pytest.importorskip("sphinx")
gallery = importlib.import_module("book._ext.gallery")

LARGEST, MOST_LINES = 40_000, 8  # bytes of a picture, or its twin; lines of an entry


@pytest.mark.slow
def test_every_plot_has_an_entry_that_runs_by_itself(subtests: pytest.Subtests) -> None:
    rooms = [(room, vars(pkgutil.resolve_name(room)).items()) for room in gallery.ROOMS]
    public = [
        (f"{room}.{name}", one) for room, found in rooms for name, one in found if name[0] != "_"
    ]
    draws = [name for name, one in public if "ax" in getattr(one, "__annotations__", ())]
    assert draws and sorted(draws) == sorted(gallery.plots())
    for name in draws:
        with subtests.test(name):
            words, picture, twin = gallery.drawn(name)
            assert gallery.code_of(name).count("\n") <= MOST_LINES
            assert words and all(0 < len(one) <= LARGEST for one in (picture, twin))
