"""Tables with the size between the two that all other tables average."""

from scipy.stats import rankdata

from book.experiments.compared import Table, at
from book.experiments.pseudo_real import printed
from book.experiments.pseudo_real.clones import TASKS
from book.experiments.pseudo_real.columns import Column, written
from book.experiments.pseudo_real.study import Study


def sizes_table(study: Study) -> str:
    """Return distances of map and error at each size, on the questions that have all sizes."""
    part = Study(study.between)
    columns = [
        Column(f"{what}, n = {n}", table.where(at(n)), source=(source, f"n = {n}"))
        for what, table, source in (
            ("map", part.maps, printed.MAPS),
            ("error", part.errors, printed.ERRORS),
        )
        for n in part.sizes
    ]
    questions = len({d.task for d in part.rows})
    return f"On {questions} of the {len(TASKS)} questions:\n\n{written(columns)}"


def squares_of_maps(study: Study) -> str:
    """Return the squared distance of the map, beside mean ranks by all four distances."""
    part = Study(study.between)
    squares = part.map_squares
    four = {"map": part.maps, "map²": squares, "error": part.errors, "error²": part.squares}
    same = [table.where(squares.draws.__contains__).only(squares.names) for table in four.values()]
    ranks = {f"rank, {what}": mean_ranks(t) for what, t in zip(four, same, strict=True)}
    questions, size = len({d.task for d in squares.draws}), squares.draws[0].n
    head = f"On {questions} of the {len(TASKS)} questions, with {size} predictions each:"
    return f"{head}\n\n{written([Column('map²', squares, 1000, 3)], ranks)}"


def mean_ranks(table: Table) -> dict[str, str]:
    """Return the mean place of each evaluator over the questions, 1 for the smallest distance."""
    places = rankdata(table.averaged(truth="all").values, axis=1).mean(axis=0)
    return {name: f"{place:.1f}" for name, place in zip(table.names, places, strict=True)}
