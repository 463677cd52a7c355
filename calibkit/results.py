"""What calibkit gives back: frozen results that carry their own description.

A number never travels alone: a result knows the view, the bins and the number of predictions
behind it, says so in one sentence (`describe`), and turns into a data frame or an HTML table.
"""

from collections.abc import Mapping
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray


def read_only(array: Any) -> NDArray[Any]:
    """Return a read-only array (a view where possible) for storage in a result."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def spell(count: int, singular: str, plural: str | None = None) -> str:
    """Return ``"1 bin"``, ``"15 bins"`` or ``"12,000 bins"``."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def plus_minus(mean: float, sd: float) -> str:
    """Return ``"0.0252 ± 0.0035"``, or only the mean where there is no spread."""
    return f"{mean:.4f}" + ("" if np.isnan(sd) else f" ± {sd:.4f}")


class Frozen:
    """Base of frozen dataclasses: the arrays they are given become read-only views."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[Mapping[str, Any]]

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = value.view()  # what the caller does with his own array stays his business
                value.flags.writeable = False
                object.__setattr__(self, name, value)


class Described(Frozen):
    """Base of what says in a sentence what it is: the states of an explorer, and all results."""

    __slots__ = ()

    def describe(self) -> str:
        """Say in plain words what was found."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.describe()}>"


class Result(Described):
    """Base of every result: a sentence, a table and an HTML form."""

    __slots__ = ()

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        """Return the columns of the table form, in order."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return the table form as a `pandas.DataFrame` (pandas is imported only here)."""
        import pandas as pd

        return pd.DataFrame({name: np.array(column) for name, column in self._columns().items()})

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in columns)
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        body = "".join(f"<tr>{''.join(f'<td>{_cell(v)}</td>' for v in row)}</tr>" for row in rows)
        return (
            f"<p>{escape(self.describe())}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )


class Number(Result):
    """Base of results that stand for one number: ``float(result)`` is its `value`."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(self.value)  # type: ignore[attr-defined]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(float(self), dtype=dtype)  # so that numpy can average a list of results

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)


def listed(result: Result, names: tuple[str, ...], headings: tuple[str, str]) -> dict[str, Any]:
    """Return a table of two columns: names of attributes, and their values."""
    values = np.array([float(getattr(result, name)) for name in names])
    return {headings[0]: np.array(names), headings[1]: values}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.4f}"
    return escape(str(value))
