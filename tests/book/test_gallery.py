"""The gallery: every plot has an entry, whose lines run as they stand and draw its picture."""

import importlib
import inspect

import pytest

from book._ext import gallery

LARGEST = 40_000  # bytes of a picture
MOST_LINES = 8


def test_every_public_function_that_draws_on_axes_has_an_entry() -> None:
    found = []
    for room in gallery.ROOMS:
        module = importlib.import_module(room)
        draws = [name for name, one in vars(module).items() if inspect.isfunction(one)
                 and name[0] != "_" and "ax" in inspect.signature(one).parameters]  # fmt: skip
        found += [f"{room}.{name}" for name in draws]
    assert sorted(found) == sorted(gallery.plots())


@pytest.mark.slow
def test_every_entry_runs_by_itself_and_its_picture_is_small_and_said(subtests) -> None:
    for name in gallery.plots():
        with subtests.test(name):
            words, picture = gallery.drawn(name)
            assert gallery.code_of(name).count("\n") <= MOST_LINES
            assert words and len(picture) <= LARGEST
