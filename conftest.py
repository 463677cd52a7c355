"""What tests and the examples in docstrings share: figures are drawn for no window, and closed."""

import importlib.util
import sys
from collections.abc import Iterator

import pytest

if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close what a test has drawn; a test that draws nothing does not pay for matplotlib."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
