"""Columns of a table of the page: mean, standard error, who is ahead, and the source's number."""

from collections.abc import Iterable, Mapping

from book.experiments.compared import Table
from book.experiments.pages import markdown
from book.experiments.pseudo_real import printed
from book.experiments.pseudo_real.study import TITLES


class Column:
    """One column of a page's table: the best in bold, and all that it does not clearly beat."""

    def __init__(
        self,
        title: str,
        table: Table,
        factor: float = 1000,
        digits: int = 2,
        source: tuple[Mapping[str, tuple[float, ...]], str] | None = None,
    ) -> None:
        self.title, self.table, self.factor, self.digits = title, table, factor, digits
        self.source = source
        self.leaders = table.leaders()

    def cell(self, name: str) -> str:
        """Return mean and standard error of an evaluator, and the source's number if any."""
        if name not in self.table.names:
            return "–"
        mean, error = self.table.mean(name), self.table.standard_error(name)
        text = f"{self.factor * mean:.{self.digits}f}"
        text = f"**{text}**" if name in self.leaders else text
        text += f" ± {self.factor * error:.{self.digits}f}"
        value = printed.printed(*self.source, name) if self.source else None
        return text if value is None else f"{text} ({value:.{self.digits}f})"


def written(columns: Iterable[Column], extra: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """Return a table with one row per evaluator; `extra` are columns of ready texts."""
    columns, extra = list(columns), extra or {}
    names = [name for name in TITLES if any(name in column.table.names for column in columns)]
    head = ["evaluator", *(column.title for column in columns), *extra]
    rows = [
        [
            TITLES[name],
            *(c.cell(name) for c in columns),
            *(e.get(name, "–") for e in extra.values()),
        ]
        for name in names
    ]
    return markdown(head, rows)
