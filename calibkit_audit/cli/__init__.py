"""The command ``calibkit``: audit, compare or monitor predictions in files, or check itself."""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from calibkit.decisions.costs import as_costs
from calibkit.inputs import View
from calibkit_audit import Monitor
from calibkit_audit.auditing import AuditReport, Comparison, audit
from calibkit_audit.auditing.large import audit_stream, compare_rows, compare_stream
from calibkit_audit.auditing.pages import plain
from calibkit_audit.auditing.predictions import (
    Files,
    Predictions,
    TooLarge,
    keep,
    pairs_of,
    rows_of_files,
    side_by_side,
)
from calibkit_audit.auditing.provenance import name_of, named, of_files
from calibkit_audit.cli.arguments import CODES_OF, command_parser
from calibkit_audit.counts import monitor_files
from calibkit_audit.counts.blocks import listed, quoted
from calibkit_audit.counts.columns import columns_of
from calibkit_audit.counts.csv_files import Dialect
from calibkit_audit.counts.files import column_names, resolve_all
from calibkit_audit.doctor import doctor
from calibkit_audit.saving import printable, write_whole

_BESIDE = ("predicted", "group", "cluster", "time", "weight")  # columns that say more of the rows
_REPORTS = ("html", "markdown", "json")
OK, CONDITION_MET, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
_MEGABYTE = 2**20
# Where a terminal knows no other signs: "?" would be the sign for what cannot be said.
_SIGNS = str.maketrans({"✓": "+", "✗": "x", "≤": "<=", "…": "...", "–": "-", "±": "+-"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (by default those of the process).

    >>> main(["audit", "missing.csv", "--label", "y", "--prob", "p"])
    2
    """
    parser = command_parser()
    try:
        options = parser.parse_args(argv)
        if options.command == "doctor":
            found = doctor()
            _say(repr(found))
            return OK if found.healthy else BAD_INPUT
        options.documents = []  # for standard output: of several targets one array
        options.words = list(sys.argv[1:] if argv is None else argv)
        options.written = [path for kind in _REPORTS if (path := vars(options).get(kind))]
        targets = _targets(options)
        code = max(map(_monitor if options.command == "monitor" else _judge, targets))
        if options.documents:
            document = ", ".join(options.documents)
            _say(f"[{document}]" if len(targets) > 1 else document)
        return code
    except SystemExit as end:  # argparse has said what is wrong
        return int(end.code or 0)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        _say(f"calibkit: {plain(str(error)) or type(error).__name__}", error=True)
        return BAD_INPUT
    except KeyboardInterrupt:
        _say("calibkit: interrupted", error=True)
        return INTERRUPTED


@contextmanager
def _notes_said() -> Iterator[None]:
    """Say each warning once, in a line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        _say(f"calibkit: note: {plain(message)}", error=True)


def _monitor(options: argparse.Namespace) -> int:
    """Show new rows to a monitor, whose state is read before and written after."""
    _check_outputs(options)
    columns, state = _columns(options), Path(options.state)
    model = options.model or named(list(columns["prob"]))
    settings: dict[str, Any] = {"model": model, "view": _view(options), "alpha": options.alpha}
    monitor = Monitor.load(state, **settings) if state.exists() else Monitor(**settings)
    with _notes_said():
        evidence = monitor_files(monitor, options.paths, **columns)
    monitor.save(state)
    if options.json:
        _put(options, json.dumps(evidence.to_dict(), indent=1))
    if not options.quiet and options.json != "-":
        _say(printable(evidence.describe()))
    return OK if evidence.alarm is None else CONDITION_MET


def _targets(options: argparse.Namespace) -> list[argparse.Namespace]:
    """Return the options for each label of an audit: several are y1,y2 by p1,p2."""
    given, labels, found = vars(options), options.label or "", []
    if options.command != "audit" or "," not in labels or labels in _names(options):
        return [options]
    kind, title = "prob" if options.prob else "logits", options.title
    for label, prob in pairs_of(_parts(labels), _parts(",".join(given[kind] or []))):
        own = {"label": label, kind: [prob], "title": title and f"{title}: {label}"}
        for report in _REPORTS:
            if given[report] not in (None, "-"):
                path = Path(given[report])
                own[report] = str(path.with_stem(f"{path.stem}-{quote(label, safe='')}"))
        found.append(argparse.Namespace(**given | own))
    return found


def _judge(options: argparse.Namespace) -> int:
    conditions = _conditions(options.fail_if, CODES_OF[options.command])
    _check_outputs(options)
    with _notes_said():
        report = _audit(options) if options.command == "audit" else _compare(options)
    seed = [] if "--seed" in options.words else ["--seed", str(options.seed)]
    said = ["calibkit", *options.words, *seed]
    source = of_files(options.paths, _roles(options), said, options.written)
    report = replace(report, source=source)
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
    for name in (*_REPORTS, "state"):
        target = getattr(options, name, None)
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
            raise ValueError(f"--{name}: {quoted(target)} is named for two reports; name another.")
        places.add(place)
    if getattr(options, "html", None) and find_spec("matplotlib") is None:
        raise ValueError("--html needs matplotlib. Install it: pip install 'calibkit[lab]'.")


def _audit(options: argparse.Namespace) -> AuditReport:
    files, shared = _files(options), _shared(options)
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
    # Read before the file is: a slip is told at once.
    costs = None if options.costs is None else as_costs(options.costs)
    shared = {"view": _view(options), "costs": costs, "title": options.title or names}
    return shared | {"bins": options.bins, "rng": options.seed}


def _view(options: argparse.Namespace) -> View:
    return int(options.view) if (options.view or "").isdecimal() else options.view


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
    if rows is None and options.weight:
        raise ValueError(
            "--weight: a stream has no weights; leave out --large, or raise --memory-limit."
        )
    return rows, stream


def _refuse_missing(options: argparse.Namespace, prob: Sequence[str] | None) -> None:
    if options.label and prob:
        return
    missing = "--prob" if options.label else "--label"
    names = _names(options)
    raise ValueError(
        f"{missing} is missing. The columns of {quoted(options.paths[0])} are {listed(names)}; "
        f"choose one, e.g. {missing} {quoted(names[0])}."
    )


def _names(options: argparse.Namespace) -> list[str]:
    """Return the columns of the first file."""
    return column_names(options.paths[0], Dialect.checked(options.delimiter, options.decimal))


def _files(options: argparse.Namespace, prob: Sequence[str] | None = None) -> Any:
    """Return the files with their columns, looked up in each."""
    return resolve_all(options.paths, columns_of(**_columns(options, prob)))


def _columns(options: argparse.Namespace, prob: Sequence[str] | None = None) -> dict[str, Any]:
    """Return what each column holds, as `columns_of` takes it."""
    logits = getattr(options, "logits", None)
    if options.prob and logits:
        raise ValueError("give --prob or --logits, not both.")
    prob = prob or options.prob or logits
    _refuse_missing(options, prob)
    given, names = vars(options), (*_BESIDE, "positive", "delimiter", "decimal")
    return {name: given[name] for name in names if given.get(name)} | {
        "label": options.label,
        "prob": prob,
        "classes": None if options.classes is None else _parts(options.classes),
        "logits": bool(logits),
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _write(report: AuditReport | Comparison, options: argparse.Namespace) -> None:
    if options.html:
        write_whole(options.html, report.to_html())
    if options.markdown:
        write_whole(options.markdown, report.to_markdown())
    if options.json:
        _put(options, report.to_json())
    if not options.quiet and options.json != "-":
        # Names from outside may hold control characters.
        _say("".join(c for c in report.text() if c.isprintable() or c == "\n"))


def _put(options: argparse.Namespace, document: str) -> None:
    if options.json == "-":
        options.documents.append(document)
    else:
        write_whole(options.json, document + "\n")


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
