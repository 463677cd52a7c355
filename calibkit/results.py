"""What calibkit gives back: frozen results that carry their own description.

A number never travels alone: a result knows the view, the bins and the number of predictions
behind it, says so in one sentence (`describe`), and turns into a data frame or an HTML table.
"""

import operator
import os
import stat
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
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


def printable(text: str) -> str:
    """Write characters that control a terminal or a page as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


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


class Result(Frozen):
    """Base of every result: a sentence, a table and an HTML form."""

    __slots__ = ()

    def describe(self) -> str:
        """Say in plain words what was found."""
        raise NotImplementedError

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        """Return the columns of the table form, in order."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return the table form as a `pandas.DataFrame` (pandas is imported only here)."""
        import pandas as pd

        return pd.DataFrame({name: np.array(column) for name, column in self._columns().items()})

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.describe()}>"

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in columns)
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        body = "".join(f"<tr>{''.join(f'<td>{_cell(v)}</td>' for v in row)}</tr>" for row in rows)
        return (
            f"<p>{escape(self.describe())}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )


def _forward(operate: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: operate(float(self), other)


def _backward(operate: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: operate(other, float(self))


class Number(Result):
    """Base of results that stand for one number, `value`: wherever a float may stand, they may.

    They format, round, compare, and calculate as ``float(result)`` does; two results are equal only
    if they are the same one. ``json.dumps`` takes ``float(result)`` or ``result.to_dict()``.
    """

    __slots__ = ()

    def __float__(self) -> float:
        return float(self.value)  # type: ignore[attr-defined]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(float(self), dtype=dtype)  # so that numpy can average a list of results

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __neg__(self) -> float:
        return -float(self)

    def __abs__(self) -> float:
        return abs(float(self))

    def to_dict(self) -> dict[str, Any]:
        """Return value, sentence and table as JSON takes them; what is not finite becomes None."""
        table = {name: finite(column.tolist()) for name, column in self._columns().items()}
        return {"value": finite(float(self)), "in words": self.describe(), "table": table}

    __add__, __radd__ = _forward(operator.add), _backward(operator.add)
    __sub__, __rsub__ = _forward(operator.sub), _backward(operator.sub)
    __mul__, __rmul__ = _forward(operator.mul), _backward(operator.mul)
    __truediv__, __rtruediv__ = _forward(operator.truediv), _backward(operator.truediv)
    __pow__, __rpow__ = _forward(operator.pow), _backward(operator.pow)
    __lt__, __le__ = _forward(operator.lt), _forward(operator.le)
    __gt__, __ge__ = _forward(operator.gt), _forward(operator.ge)


def finite(value: Any) -> Any:
    """Return what JSON can hold: a number that is not finite becomes None, also in a list."""
    if isinstance(value, list):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Score(Number):
    """A mean score, or a part of one; smaller is better.

    Parameters
    ----------
    value, name, n : float, str, int
        The mean, its name with convention or unit, and the number of predictions.
    impossible : int
        How many of them gave probability 0 to what happened.
    view : str
        Of which event, in words; empty where all classes count.
    """

    value: float
    name: str
    n: int
    impossible: int = 0
    view: str = ""

    def describe(self) -> str:
        """Say the score, and whether something happened that was called impossible."""
        of = f"{self.view}, " if self.view else ""
        text = f"{self.name} {self.value:.4f} ({of}{spell(self.n, 'prediction')})"
        if self.impossible:
            text += f"; {spell(self.impossible, 'event')} had been given probability 0"
        return text + "."

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"score": np.array([self.name]), "value": np.array([self.value])}


def listed(result: Result, names: tuple[str, ...], headings: tuple[str, str]) -> dict[str, Any]:
    """Return a table of two columns: names of attributes, and their values."""
    values = np.array([float(getattr(result, name)) for name in names])
    return {headings[0]: np.array(names), headings[1]: values}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.4f}"
    return escape(str(value))


def write_whole(path: str | Path, text: str) -> Path:
    """Write a text file under a temporary name and move it: whole or not at all."""
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"{target} is a folder; name a file in it, e.g. report.html.")
    if target.exists() and not target.is_file():
        raise ValueError(f"{target} is a device or a pipe, which a report would replace.")
    if not target.parent.is_dir():
        raise ValueError(f"the folder {target.parent} does not exist; make it first.")
    part = target.with_name(f".calibkit-{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if target.exists():  # who may read the old file may read the new one, and nobody else
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return target
