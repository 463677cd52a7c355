"""The command ``calibkit``: audit or compare predictions in files, or check the installation."""

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from calibkit import __version__
from calibkit.auditing import COMPARISON_CODES, AuditReport, Comparison, audit
from calibkit.auditing.large import audit_stream, compare_rows, compare_stream
from calibkit.auditing.pages import plain, write_whole
from calibkit.auditing.predictions import (
    Files,
    Predictions,
    TooLarge,
    keep,
    rows_of_files,
    side_by_side,
)
from calibkit.auditing.provenance import name_of, named, of_files
from calibkit.auditing.settings import CODES, FINDINGS
from calibkit.counts.blocks import listed, quoted
from calibkit.counts.columns import columns_of
from calibkit.counts.csv_files import Dialect
from calibkit.counts.files import column_names, resolve_all
from calibkit.decisions.costs import as_costs
from calibkit.doctor import doctor

_BESIDE = ("predicted", "group", "cluster", "time")  # columns that say more of the rows
OK, CONDITION_MET, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
_MEGABYTE = 2**20
_EPILOG = """\
examples:
  calibkit audit predictions.csv --label y --prob p
  calibkit audit log.csv --label answer --positive yes --prob score --costs 1:20 --html report.html
  calibkit audit animals.parquet --label class --prob 'p_*' --fail-if miscalibrated
  calibkit compare predictions.csv --label y --prob old,new --costs 1:20 --fail-if 'worse cost'

exit codes:
  0  the audit was made, and no condition of --fail-if is met
  1  a condition of --fail-if is met; 'borderline' (a p-value up to twice the limit) is a code of
     its own: --fail-if miscalibrated,borderline stops at either
  2  wrong use, or a file that cannot be used; one sentence on standard error says why
"""


_CODES = {
    "audit": list(chain.from_iterable((CODES | FINDINGS).values())),
    "compare": list(COMPARISON_CODES),
}
# Where a terminal knows no other signs: "?" would be the sign for what cannot be said.
_SIGNS = str.maketrans({"✓": "+", "✗": "x", "≤": "<=", "…": "...", "–": "-", "±": "+-"})
_QUESTIONS = "Ask six questions about predictions and answer them in plain words."
_PAIRS = (
    "Compare models on the same rows, each with the first: what differs beyond chance, by how much."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (by default those of the process).

    >>> main(["audit", "missing.csv", "--label", "y", "--prob", "p"])
    2
    """
    parser = _parser()
    try:
        options = parser.parse_args(argv)
        if options.command == "doctor":
            found = doctor()
            _say(repr(found))
            return OK if found.healthy else BAD_INPUT
        return _judge(options, sys.argv[1:] if argv is None else argv)
    except SystemExit as end:  # argparse has said what is wrong
        return int(end.code or 0)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        _say(f"calibkit: {plain(str(error)) or type(error).__name__}", error=True)
        return BAD_INPUT
    except KeyboardInterrupt:
        _say("calibkit: interrupted", error=True)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="calibkit", description="Judge predicted probabilities.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"calibkit {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = partial(commands.add_parser, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, help_, words in (
        ("audit", "audit predictions in files", _QUESTIONS),
        ("compare", "compare models on the same rows of files", _PAIRS),
    ):
        command = add(name, help=help_, description=words, epilog=_EPILOG, allow_abbrev=False)
        _add_options(command, name)
    add(
        "doctor",
        help="check the installation; exit code 0 if all is well, else 2",
        description="Check versions, optional parts, and known numbers. Exit code 0 or 2.",
    )
    return parser


def _add_options(parser: argparse.ArgumentParser, command: str) -> None:
    kinds = ".csv, .csv.gz, .tsv, .parquet, .npz or .npy"
    rows = f"rows with labels and predictions: {kinds}"
    parser.add_argument("paths", nargs="+", metavar="FILE", help=rows)
    add = parser.add_argument_group("what the columns hold (never guessed)").add_argument
    add("--label", metavar="COLUMN", help="the labels")
    several = "P(y = 1); or once per class; or 'p_*' for all columns that begin with p_"
    if command == "compare":
        several = "P(y = 1) of each model, e.g. old,new; or patterns for classes, e.g. 'a_*,b_*'"
    add("--prob", action="append", metavar="COLUMN", help=several)
    if command == "audit":
        add("--logits", action="append", metavar="COLUMN", help="the same, for logits")
    add("--predicted", metavar="COLUMN", help="the predicted class; --prob is its confidence")
    add("--positive", metavar="LABEL", help="the label that means y = 1, e.g. yes")
    add("--classes", metavar="A,B", help="the label of each --prob column, in their order")
    add("--group", metavar="COLUMN", help="groups to compare")
    add("--cluster", metavar="COLUMN", help="rows that belong together: patient, document")
    if command == "audit":
        add("--time", metavar="COLUMN", help="when; is the error the same all along?")
    add("--delimiter", metavar="MARK", help="between the columns of a CSV file, e.g. ';' or tab")
    add("--decimal", default=".", metavar="MARK", help="the decimal mark of a CSV file (.)")
    add = parser.add_argument_group("large files").add_argument
    add("--large", action="store_true", help="count in a stream at once, keep a random sample")
    limit = "rows are kept up to this size, beyond it they are counted in a stream (64)"
    add("--memory-limit", type=int, default=64, metavar="MB", help=limit)
    add = parser.add_argument_group("what is asked").add_argument
    add("--view", help="top-label, class-wise, or the number of a class")
    both = "costs of a false positive and a false negative, e.g. 1:20"
    add("--costs", metavar="FP:FN", help=both)
    add("--bins", type=int, default=15, help="number of equal-width bins (15)")
    add("--seed", type=int, default=0, help="seed of the redraws (0)")
    add = parser.add_argument_group("what comes out").add_argument
    add("--title", help="title of the report (the name of the file)")
    add("--html", metavar="FILE", help="write one self-contained page")
    add("--markdown", metavar="FILE", help="write Markdown")
    add("--json", metavar="FILE", help="write JSON; - for standard output, instead of the text")
    add("--quiet", action="store_true", help="print nothing but errors")
    codes = f"e.g. '{_CODES[command][0]}'; codes: {', '.join(_CODES[command])}"
    condition = f"exit code 1 if the report has one of these codes, {codes}"
    add("--fail-if", action="append", default=[], metavar="CODES", help=condition)


def _judge(options: argparse.Namespace, argv: Sequence[str]) -> int:
    conditions = _conditions(options.fail_if, _CODES[options.command])
    _check_outputs(options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        report = _audit(options) if options.command == "audit" else _compare(options)
    command = ["calibkit", *argv, *([] if "--seed" in argv else ["--seed", str(options.seed)])]
    written = [path for path in (options.html, options.markdown, options.json) if path]
    source = of_files(options.paths, _roles(options), command, written)
    report = replace(report, source=source)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        _say(f"calibkit: note: {plain(message)}", error=True)
    _write(report, options)
    met = [code for code in conditions if code in report.codes]
    if met:
        _say(f"calibkit: condition met: {', '.join(met)}", error=True)
    return CONDITION_MET if met else OK


def _conditions(given: Sequence[str], known: Sequence[str]) -> list[str]:
    codes = [code for text in given for code in _parts(text) if code]
    for code in codes:
        if code not in known:
            raise ValueError(f"--fail-if: {quoted(code)} is no code; codes: {', '.join(known)}.")
    if given and not codes:
        raise ValueError(f"--fail-if names no code; codes: {', '.join(known)}.")
    return codes


def _check_outputs(options: argparse.Namespace) -> None:
    """Look before the work whether the reports can be written."""
    places: set[Path] = set()
    for name in ("html", "markdown", "json"):
        target = getattr(options, name)
        if target is None or (target == "-" and name == "json"):
            continue
        path = Path(target)
        nowhere = target in ("", "-") or not path.parent.is_dir()
        if nowhere or (path.exists() and not path.is_file()):
            raise ValueError(f"--{name}: {quoted(target)} names no file in a folder that exists.")
        if not os.access(path.parent, os.W_OK):
            raise ValueError(f"--{name}: nothing may be written beside {quoted(target)}.")
        place = path.resolve()
        if place in map(Path.resolve, map(Path, options.paths)):
            raise ValueError(f"--{name}: {quoted(target)} would overwrite the predictions.")
        if place in places:
            raise ValueError(
                f"--{name}: {quoted(target)} is named for two reports; name two files."
            )
        places.add(place)
    if options.html and find_spec("matplotlib") is None:
        raise ValueError("--html needs matplotlib. Install it: pip install 'calibkit[lab]'.")


def _audit(options: argparse.Namespace) -> AuditReport:
    if options.prob and options.logits:
        raise ValueError("give --prob or --logits, not both.")
    columns = options.prob or options.logits
    files, shared = _files(options, columns, logits=bool(options.logits)), _shared(options)
    rows, stream = _rows_or_stream(options, files)
    return audit_stream(stream, **shared) if rows is None else audit(**rows.arguments, **shared)


def _compare(options: argparse.Namespace) -> Comparison:
    prob = [name for text in options.prob or [] for name in _parts(text)]
    _refuse_missing(options, prob)
    names = [name.replace("*", "").rstrip("_-. ") or name for name in prob]
    if len(prob) < 2 or len(set(names)) < len(names):
        raise ValueError("--prob names two or more different models, e.g. --prob old,new.")
    files, shared = side_by_side([_files(options, [p]) for p in prob]), _shared(options)
    rows, stream = _rows_or_stream(options, files, models=len(prob))
    if rows is None:
        return compare_stream(stream, names, **shared)
    return compare_rows(rows, names, **shared)


def _shared(options: argparse.Namespace) -> dict[str, Any]:
    roles = _roles(options)
    names = f"{named(list(map(name_of, options.paths)))}: {options.label} by "
    names += named(roles["predictions"])
    return {
        "view": int(options.view) if (options.view or "").isdecimal() else options.view,
        # Read before the file is: a slip is told at once.
        "costs": None if options.costs is None else as_costs(options.costs),
        "title": options.title or names,
        "bins": options.bins,
        "rng": options.seed,
    }


def _roles(options: argparse.Namespace) -> dict[str, list[str]]:
    """Return the columns that were named, by what they hold."""
    given = vars(options)
    found = {"label": [options.label], "predictions": options.prob or given.get("logits") or []}
    return found | {k: [given[k]] for k in _BESIDE if given.get(k)}


def _rows_or_stream(
    options: argparse.Namespace, files: Files, models: int = 1
) -> tuple[Predictions | None, Iterator[Predictions]]:
    """Return all rows, or None where they are to be counted in the stream beside them."""
    if options.memory_limit < 0:
        raise ValueError("--memory-limit is a number of megabytes, at least 0.")
    progress = not options.quiet and sys.stderr.isatty()
    rows, stream = None, rows_of_files(files, models=models, progress=progress)
    if not options.large:
        try:
            rows = keep(stream, options.memory_limit * _MEGABYTE)
        except TooLarge:
            note = f"calibkit: note: more than {options.memory_limit} MB of rows; counting them in "
            _say(f"{note}a stream (see --memory-limit)", error=True)
            stream = rows_of_files(files, models=models, progress=progress)
    return rows, stream


def _refuse_missing(options: argparse.Namespace, prob: Sequence[str] | None) -> None:
    if options.label and prob:
        return
    missing = "--prob" if options.label else "--label"
    names = column_names(options.paths[0], Dialect.checked(options.delimiter, options.decimal))
    raise ValueError(
        f"{missing} is missing. The columns of {quoted(options.paths[0])} are {listed(names)}; "
        f"choose one, e.g. {missing} {quoted(names[0])}."
    )


def _files(options: argparse.Namespace, prob: Sequence[str] | None, *, logits: bool = False) -> Any:
    """Return the files with their columns, looked up in each."""
    _refuse_missing(options, prob)
    names = ("positive", "predicted", "group", "cluster", "delimiter", "decimal")
    wanted = columns_of(
        options.label,
        prob or (),
        classes=None if options.classes is None else _parts(options.classes),
        logits=logits,
        time=getattr(options, "time", None),
        **{name: getattr(options, name) for name in names},
    )
    return resolve_all(options.paths, wanted)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _write(report: AuditReport | Comparison, options: argparse.Namespace) -> None:
    if options.html:
        write_whole(options.html, report.to_html())
    if options.markdown:
        write_whole(options.markdown, report.to_markdown())
    content = report.to_json()
    if options.json == "-":
        _say(content)
    elif options.json:
        write_whole(options.json, content + "\n")
    if not options.quiet and options.json != "-":
        # Names from outside may hold control characters.
        _say("".join(c for c in report.text() if c.isprintable() or c == "\n"))


def _say(text: str, *, error: bool = False) -> None:
    """Print text also where the terminal lacks some of its characters."""
    stream = sys.stderr if error else sys.stdout
    try:
        print(text, file=stream, flush=True)
    except UnicodeEncodeError:
        plain_text = text.translate(_SIGNS).encode("ascii", "replace").decode("ascii")
        print(plain_text, file=stream, flush=True)
    except BrokenPipeError:  # its reader has closed it: the exit code still tells the verdict
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
