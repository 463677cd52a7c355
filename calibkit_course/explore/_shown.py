"""How anything explorable shows itself: by widgets, by a page without a kernel, by a line."""

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

BOOK = "CALIBKIT_BOOK"


class Shell(NamedTuple):
    """What shows one kind of explorable thing, in each place; `_shells` holds them."""

    widget: Callable[[Any], Any]  # ipywidgets, which reach any state
    page: Callable[[Any], str]  # the HTML of the form that needs no kernel
    still: Callable[[Any], str]  # the HTML of the first state alone


class Shown:
    """Base of everything that a reader can set by hand."""

    shell: ClassVar[Shell]

    def widget(self) -> Any:
        """Build the ipywidgets form."""
        return self.shell.widget(self)

    def page(self) -> str:
        """Return the HTML of the form that needs no kernel."""
        return self.shell.page(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        line = {"text/plain": repr(self)}
        if os.environ.get(BOOK) == "1":  # the cell runs for a page that will have no kernel
            return {**line, "text/html": self.page()}
        if find_spec("ipywidgets") is None:
            return {**line, "text/html": self.shell.still(self)}
        return {**self.widget()._repr_mimebundle_(), **line}
