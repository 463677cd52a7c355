"""The controls of an explorer, declared once and built twice: in JupyterLab and in the book."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Control:
    """One thing that the reader can set; the default and all of `book` must be among `values`."""

    name: str  # of the parameter of the explorer's view
    label: str  # what the reader sees beside it
    values: tuple[Any, ...]  # every value that it can take
    _: KW_ONLY
    default: Any  # the value at the start and after a reset
    book: tuple[Any, ...] = ()  # the values that the book's page holds; by default the default

    def __post_init__(self) -> None:
        self.index(self.default)
        book = sorted({self.index(value) for value in self.book or (self.default,)})
        object.__setattr__(self, "book", tuple(self.values[i] for i in book))
        if self.default not in self.book:
            raise ValueError(f"{self.name}: the default {self.default!r} must be among book=….")

    def index(self, value: Any) -> int:
        """Return the position of a value, or say which values there are."""
        if value not in self.values:
            options = ", ".join(map(str, self.values))
            raise ValueError(f"{self.name}={value!r} is not offered; choose one of {options}.")
        return self.values.index(value)

    def text(self, value: Any) -> str:
        """Return a value as the reader sees it."""
        return str(value)

    def starting_at(self, value: Any) -> Self:
        """Return the same control with another default."""
        self.index(value)
        if value in self.book:
            return replace(self, default=value)
        # The new default takes the old one's place, so the book's page does not grow.
        kept = tuple(v for v in self.book if v != self.default)
        return replace(self, default=value, book=(*kept, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Slider(Control):
    """A slider over a list of numbers.

    >>> days = Slider("days", "Days", (10, 1000), default=10, unit="days")
    >>> days.text(1000)
    '1,000 days'
    """

    unit: str = ""  # of the numbers, e.g. "days"
    form: str = "{:,}"  # how a number is written

    def text(self, value: Any) -> str:
        """Return the number with its unit: 1 bin, 2 bins, 50 %."""
        unit = self.unit.removesuffix("s") if value == 1 else self.unit
        return f"{self.form.format(value).replace('%', ' %')} {unit}".strip()

    def starting_at(self, value: Any) -> Self:
        """Return the same slider with another default, which may be a new number."""
        if value in self.values:
            return Control.starting_at(self, value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{self.name}={value!r} must be a number.")
        if not self.values[0] <= value <= self.values[-1]:
            low, high = self.values[0], self.values[-1]
            raise ValueError(f"{self.name}={value!r} must lie between {low} and {high}.")
        wider = replace(self, values=tuple(sorted((*self.values, value))))
        return Control.starting_at(wider, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Control):
    """A list from which one entry is chosen.

    >>> rule = Choice("rule", "Edges", ("width", "mass"), default="width",
    ...               texts={"width": "equal width", "mass": "equal mass"})
    >>> rule.text("mass")
    'equal mass'
    """

    texts: Mapping[str, str] | None = None  # what the reader sees for a value, if not itself

    def text(self, value: Any) -> str:
        """Return the entry as the reader sees it."""
        return (self.texts or {}).get(value, str(value))
