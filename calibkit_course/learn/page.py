"""Exercises in a page without a kernel: what runs before one, and what its check says.

The page holds the code cells of its lesson, and Python runs in the page. An exercise needs few of
the cells above it: those that make the names in its code, and whatever these need in turn. Each
answer runs in a copy of their names, so that a slip spoils nothing for the next one.
"""

import ast
import base64
import contextlib
import io
import symtable
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from calibkit_course.learn import messages
from calibkit_course.learn._lesson import Lesson
from calibkit_course.learn._rendering import Feedback, feedback
from calibkit_course.learn.exercises import MISSING
from calibkit_course.learn.messages import State

LONGEST = 20_000  # letters that a page shows of what was printed


@dataclass(frozen=True)
class Cell:
    """A code cell of a lesson. That of an exercise holds its stub, and the solution beside it."""

    source: str
    always: bool = False  # it sets the lesson up
    exercise: str = ""  # e.g. "4.1"
    solution: str = ""

    @cached_property
    def names(self) -> "Names":
        """The names of its code, and of its solution."""
        return names_in(f"{self.source}\n{self.solution}")


class _AsGenerators(ast.NodeTransformer):
    """Makes comprehensions generators: from Python 3.12 on, names of the others seem outer ones."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.expr:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


@dataclass
class Names:
    """What code, read from its first line to its last, does with the names outside functions."""

    needs: set[str] = field(default_factory=set)  # read before they are assigned here
    assigns: set[str] = field(default_factory=set)  # whatever they were before
    touches: set[str] = field(default_factory=set)  # assigned, perhaps, or changed in place

    def read(self, part: ast.AST) -> None:
        """Take in an expression or a simple statement."""
        part = _AsGenerators().visit(part)
        top = symtable.symtable(ast.unparse(part), "code", "exec")
        self.needs |= {*_used(top)} - self.assigns
        for node in ast.walk(part):
            match node:
                case ast.AugAssign(target=ast.Name(id=name)):
                    self.needs |= {name} - self.assigns
                case (
                    ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
                    | ast.Attribute(value=ast.Name(id=name), ctx=ast.Store())
                    | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))))
                ):
                    self.touches.add(name)
        self.assigns |= {one.get_name() for one in top.get_symbols() if _is_made(one)}
        self.touches |= self.assigns

    def follow(self, statements: Sequence[ast.stmt]) -> None:
        """Take in statements in their order; what a branch assigns may not come to pass."""
        for statement in statements:
            match statement:
                case ast.For(target=target, iter=iterated, body=body):
                    self.read(iterated)
                    self.read(ast.Assign([target], ast.Constant(0), lineno=0))
                    self.follow(body)
                case ast.If() | ast.Try() | ast.While():
                    sure = set(self.assigns)
                    self.read(statement)
                    self.assigns = sure
                case _:
                    self.read(statement)


def names_in(code: str) -> Names:
    """Return what code does with the names outside its functions.

    >>> found = names_in("n = 1; table[0] = [f(x, n) for x in y]; rows.append(n)")
    >>> sorted(found.needs), sorted(found.assigns), sorted(found.touches)
    (['f', 'rows', 'table', 'y'], ['n'], ['n', 'rows', 'table'])
    """
    found = Names()
    try:
        found.follow(ast.parse(code).body)
    except SyntaxError:  # running it will say so
        return Names()
    return found


def _is_made(one: symtable.Symbol) -> bool:
    return one.is_assigned() or one.is_imported()


def _used(scope: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names that a scope, or one inside it, reads."""
    is_top = scope.get_type() == "module"
    for one in scope.get_symbols():
        if one.is_referenced() and (is_top or one.is_global()):
            yield one.get_name()
    for inner in scope.get_children():
        yield from _used(inner)


class Workbook:
    """The exercises of one page: what was run, and what its reader has got right."""

    def __init__(self, lesson: Lesson, cells: Sequence[Mapping[str, Any]]) -> None:
        self.lesson = lesson
        self.cells = [Cell(**cell) for cell in cells]
        self.space: dict[str, Any] = {"__name__": "__main__"}
        self.done: set[int] = set()

    def needed(self, cid: str, code: str) -> list[int]:
        """Return the numbers of the cells that have to run before an answer does, in order."""
        place = self._place(cid)
        wanted = names_in(code).needs
        given = set().union(*(cell.names.assigns for cell in self.cells if cell.always))
        found = []
        for number in reversed(range(place)):
            names = self.cells[number].names
            if self.cells[number].always or names.touches & (wanted - given):
                wanted = (wanted - names.assigns) | names.needs
                found.append(number)
        return [number for number in reversed(found) if number not in self.done]

    def run(self, number: int) -> None:
        """Run a cell silently; one that is an exercise with its solution."""
        cell = self.cells[number]
        with _hidden():
            for code in (cell.source, cell.solution):
                exec(compile(code, f"cell {number}", "exec"), self.space)
        self.done.add(number)

    def check(self, cid: str, code: str, contains: Any = MISSING) -> dict[str, Any]:
        """Run an answer and return what it shows and what the check says, for a page.

        `contains` are the points that a free text makes, by its writer's own reading.
        """
        check = self.lesson.checks[cid]
        space = dict(self.space)
        shown = run_shown(code, space)
        if shown["error"]:
            return {**shown, "state": "", "html": ""}
        said = self.lesson.check(cid, space.get(check.variable, MISSING), contains=contains)
        if said.state in (State.CORRECT, State.COMPARE, State.SELF_ASSESSED):
            place = self._place(cid)
            made = self.cells[place].names.assigns
            self.space |= {name: space[name] for name in made if name in space}
            self.done.add(place)
        points = check.rubric.points if check.rubric and said.state is State.COMPARE else ()
        html = _for_page(said, cid, check.variable)._repr_html_()
        return {**shown, "state": said.state.value, "html": html, "points": points}

    def _place(self, cid: str) -> int:
        return next(k for k, cell in enumerate(self.cells) if cell.exercise == cid)


def _for_page(said: Feedback, cid: str, variable: str) -> Feedback:
    """Put a message that speaks of cells into the words of a page."""
    if said.state is State.NOT_DEFINED:
        return feedback(said.state, messages.PAGE_NO_ANSWER.format(variable=variable))
    if said.paragraphs[0] == messages.BLANK.format(id=cid, variable=variable):
        return feedback(said.state, messages.PAGE_BLANK.format(variable=variable))
    if said.state is State.COMPARE:
        return feedback(said.state, said.paragraphs[0], said.paragraphs[-2], messages.PAGE_TICK)
    return said


def run_shown(code: str, space: dict[str, Any]) -> dict[str, Any]:
    """Run code; return what it printed, what it shows as HTML, and its error as a sentence."""
    printed = io.StringIO()
    shown: list[str] = []
    error = ""
    with _hidden(printed):
        try:
            value = _run(code, space)
            shown = [_shown(value)] if value is not None else []
            shown += _figures()
        except (Exception, SystemExit) as problem:
            error = _error(problem)
    return {"printed": printed.getvalue()[:LONGEST], "shown": shown, "error": error}


def _run(code: str, space: dict[str, Any]) -> Any:
    """Run code and return the value of its last line, if that is an expression."""
    tree = ast.parse(code, messages.PAGE_CODE)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, messages.PAGE_CODE, "exec"), space)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), messages.PAGE_CODE, "eval"), space)
    return None


def _shown(value: Any) -> str:
    html = getattr(value, "_repr_html_", None)
    return (html and html()) or f"<pre>{escape(repr(value)[:LONGEST])}</pre>"


def _error(problem: BaseException) -> str:
    """Say what stopped the code, and in which line of it."""
    lines = [getattr(problem, "lineno", None)] if isinstance(problem, SyntaxError) else []
    step = problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == messages.PAGE_CODE:
            lines.append(step.tb_lineno)
        step = step.tb_next
    text = problem.msg if isinstance(problem, SyntaxError) else str(problem)
    said = ": ".join(filter(None, (type(problem).__name__, text)))
    return messages.PAGE_ERROR.format(line=lines[-1], error=said) if lines else said


def _figures() -> Iterator[str]:
    """Yield the figures that code has left open, as images."""
    plt: Any = sys.modules.get("matplotlib.pyplot")
    for number in plt.get_fignums() if plt else ():
        stream = io.BytesIO()
        plt.figure(number).savefig(stream, format="png", dpi=100, bbox_inches="tight")
        data = base64.b64encode(stream.getvalue()).decode()
        yield f'<img alt="{messages.PAGE_FIGURE}" src="data:image/png;base64,{data}">'


@contextlib.contextmanager
def _hidden(printed: io.StringIO | None = None) -> Iterator[None]:
    """Catch what is printed, and close the figures that are left open."""
    stream = printed or io.StringIO()
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            yield
    finally:
        if plt := sys.modules.get("matplotlib.pyplot"):
            plt.close("all")
