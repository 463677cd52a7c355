"""How anything explorable shows itself: by widgets, by a page without a kernel, by a line."""

import os
from importlib.util import find_spec
from typing import Any

BOOK = "CALIBKIT_BOOK"


def in_book() -> bool:
    """Tell whether the cell runs for a page that will have no kernel."""
    return os.environ.get(BOOK) == "1"


class Shown:
    """Base of everything that a reader can set by hand."""

    def _widget(self) -> Any:
        """Build the ipywidgets form."""
        raise NotImplementedError

    def _page(self) -> str:
        """Return the HTML of the form that needs no kernel."""
        raise NotImplementedError

    def _still(self) -> str:
        """Return the HTML of the first state alone."""
        raise NotImplementedError

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self)}
        if in_book():
            return {**bundle, "text/html": self._page()}
        if find_spec("ipywidgets") is None:
            return {**bundle, "text/html": self._still()}
        return {**self._widget()._repr_mimebundle_(), **bundle}
