"""Docstrings of public functions keep numpydoc's rules: `python -m tools.docstrings`.

Asked: every parameter is documented, and no other is; one example; sections are known and in order.
Not asked: the order of parameters, which may follow what a reader needs first, a description where
name and type say all, how sentences are laid out (ruff does), and what a short function can lack.
"""

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from numpydoc.validate import validate

HOUSES = ("calibkit", "calibkit_audit")
ASKED = {"EX01", "GL05", "GL06", "GL07", "GL08", "GL09", "PR01", "PR02", "PR10"}


def functions() -> Iterator[str]:
    """Yield the names of what rooms offer and can be called as a function."""
    for house in HOUSES:
        rooms = [
            name for _, name, _ in iter_modules(import_module(house).__path__) if name[0] != "_"
        ]
        for room in rooms:
            module = import_module(f"{house}.{room}")
            for name in getattr(module, "__all__", ()):
                if inspect.isfunction(getattr(module, name)):
                    yield f"{module.__name__}.{name}"


def main() -> int:
    """Print what breaks a rule; 1 where something does."""
    found = [
        f"{name}: {code} {words}"
        for name in functions()
        for code, words in validate(name)["errors"]
        if code in ASKED
    ]
    print("\n".join(found) or "numpydoc: the docstrings of public functions keep its rules")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
