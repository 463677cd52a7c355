"""The command ``calibkit``: audit, compare or monitor predictions in files, or check itself."""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from calibkit.decisions.costs import as_costs
from calibkit.inputs import View
from calibkit_audit import Monitor
from calibkit_audit.auditing import AuditReport, AuditSettings, Comparison, audit
from calibkit_audit.auditing.large import audit_stream, compare_rows, compare_stream
from calibkit_audit.auditing.pages import plain
from calibkit_audit.auditing.predictions import (
    Predictions,
    TooLarge,
    keep_rows,
    rows_of_files,
    side_by_side,
)
from calibkit_audit.auditing.source import file_name, list_names, source_of_files
from calibkit_audit.cli.arguments import CODES_OF, command_parser
from calibkit_audit.counts import monitor_files
from calibkit_audit.counts.files import Log, open_log
from calibkit_audit.counts.places import listed, quoted
from calibkit_audit.counts.readers import Dialect, column_names
from calibkit_audit.doctor import doctor
from calibkit_audit.saving import printable, write_whole

OK, CONDITION_MET, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
_BESIDE = ("predicted", "group", "cluster", "time", "weight")  # columns that say more of the rows
_MEGABYTE = 2**20
# Where a terminal knows no other signs: "?" would be the sign for what cannot be said.
_SIGNS = str.maketrans({"✓": "+", "✗": "x", "≤": "<=", "…": "...", "–": "-", "±": "+-"})

Options = argparse.Namespace  # what was asked; it is read, never changed


@dataclass(frozen=True)
class Target:
    """One label with its predictions, the title of its report, and the files to write."""

    label: str
    scores: tuple[str, ...]
    title: str
    files: dict[str, str]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (by default those of the process).

    >>> main(["audit", "missing.csv", "--label", "y", "--prob", "p"])
    2
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        options = command_parser().parse_args(words)
        if options.command == "doctor":
            diagnosis = doctor()
            _print(repr(diagnosis))
            return OK if diagnosis.healthy else BAD_INPUT
        if options.command == "monitor":
            return _monitor(options)
        return _judge(options, words)
    except SystemExit as end:  # argparse has said what is wrong
        return int(end.code or 0)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        _print(f"calibkit: {plain(str(error)) or type(error).__name__}", error=True)
        return BAD_INPUT
    except KeyboardInterrupt:
        _print("calibkit: interrupted", error=True)
        return INTERRUPTED


def _monitor(options: Options) -> int:
    """Show new rows to a monitor, whose state is read before and written after."""
    files = {"json": options.json} if options.json else {}
    (target,) = _targets(options, files)
    _check_files(options, [{"state": options.state, **target.files}])
    state, columns = Path(options.state), _columns(options, target.label, target.scores)
    model = options.model or list_names(list(target.scores))
    settings: dict[str, Any] = {"model": model, "view": _view(options), "alpha": options.alpha}
    monitor = Monitor.load(state, **settings) if state.exists() else Monitor(**settings)
    with _warnings_printed():
        evidence = monitor_files(monitor, options.paths, **columns)
    monitor.save(state)
    document = json.dumps(evidence.to_dict(), indent=1)
    if options.json == "-":
        _print(document)
    elif options.json:
        write_whole(options.json, document + "\n")
    if not options.quiet and options.json != "-":
        _print(printable(evidence.describe()))
    return OK if evidence.alarm is None else CONDITION_MET


def _judge(options: Options, words: Sequence[str]) -> int:
    """Audit each label, or compare models; write the reports, and look for the conditions."""
    conditions = _conditions(options.fail_if, CODES_OF[options.command])
    files = {kind: vars(options)[kind] for kind in ("html", "markdown", "json")}
    targets = _targets(options, {kind: path for kind, path in files.items() if path is not None})
    _check_files(options, [target.files for target in targets])
    make: Callable[[Options, Target], AuditReport | Comparison] = (
        _audit if options.command == "audit" else _compare
    )
    seed = [] if "--seed" in words else ["--seed", str(options.seed)]
    command = ["calibkit", *words, *seed]
    documents, code = [], OK
    for target in targets:
        with _warnings_printed():
            report = make(options, target)
        roles = {"label": [target.label], "predictions": list(target.scores)}
        roles |= {name: [given] for name in _BESIDE if (given := vars(options).get(name))}
        written = [path for path in files.values() if path]
        report = replace(report, source=source_of_files(options.paths, roles, command, written))
        _write(report, target.files)
        if options.json == "-":
            documents.append(report.to_json())
        elif not options.quiet:
            # Names from outside may hold control characters.
            _print("".join(c for c in report.text() if c.isprintable() or c == "\n"))
        if met := [one for one in conditions if one in report.codes]:
            _print(f"calibkit: condition met: {', '.join(met)}", error=True)
            code = CONDITION_MET
    if documents:
        _print(f"[{', '.join(documents)}]" if len(targets) > 1 else documents[0])
    return code


# --- what is asked --------------------------------------------------------------------------------


def _targets(options: Options, files: dict[str, str]) -> list[Target]:
    """Return each label of an audit with its predictions: several are y1,y2 by p1,p2."""
    scores, label = options.prob or [], options.label or ""
    if logits := vars(options).get("logits"):
        if scores:
            raise ValueError("give --prob or --logits, not both.")
        scores = logits
    title = vars(options).get("title")
    several = "," in label and options.command == "audit" and label not in _names(options)
    if not several:
        if options.command == "compare":
            scores = [name for text in scores for name in _parts(text)]
        _refuse_missing(options, scores)
        return [Target(label, tuple(scores), title or _title(options, label, scores), files)]
    labels, scores = _parts(label), _parts(",".join(scores))
    if len(labels) != len(scores) or len(set(labels)) < len(labels):
        raise ValueError(
            f"several labels need as many predictions, e.g. y1,y2 by p1,p2; got {listed(labels)} "
            f"by {listed(scores) or 'none'}. Several models of one label are for compare."
        )
    return [
        Target(
            one,
            (score,),
            f"{title}: {one}" if title else _title(options, one, [score]),
            {kind: _named_after(path, one) for kind, path in files.items()},
        )
        for one, score in zip(labels, scores, strict=True)
    ]


def _named_after(path: str, label: str) -> str:
    if path == "-":
        return path
    return str(Path(path).with_stem(f"{Path(path).stem}-{quote(label, safe='')}"))


def _title(options: Options, label: str, scores: Sequence[str]) -> str:
    given = ",".join(scores) if options.command == "compare" else list_names(scores)
    return f"{list_names(list(map(file_name, options.paths)))}: {label} by {given}"


def _refuse_missing(options: Options, scores: Sequence[str]) -> None:
    if options.label and scores:
        return
    missing, names = "--prob" if options.label else "--label", _names(options)
    raise ValueError(
        f"{missing} is missing. The columns of {quoted(options.paths[0])} are {listed(names)}; "
        f"choose one, e.g. {missing} {quoted(names[0])}."
    )


def _names(options: Options) -> list[str]:
    """Return the columns of the first file."""
    return column_names(options.paths[0], Dialect.checked(options.delimiter, options.decimal))


def _columns(options: Options, label: str, scores: Sequence[str]) -> dict[str, Any]:
    """Return what each column holds, as `open_log` takes it."""
    given, names = vars(options), (*_BESIDE, "positive", "delimiter", "decimal")
    return {name: given[name] for name in names if given.get(name)} | {
        "label": label,
        "prob": scores,
        "classes": None if options.classes is None else _parts(options.classes),
        "logits": bool(given.get("logits")),
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _view(options: Options) -> View:
    return int(options.view) if (options.view or "").isdecimal() else options.view


def _conditions(given: Sequence[str], known: Sequence[str]) -> list[str]:
    codes = [code for text in given for code in _parts(text) if code]
    for code in codes:
        if code not in known:
            raise ValueError(f"--fail-if: {quoted(code)} is no code; codes: {', '.join(known)}.")
    if given and not codes:
        raise ValueError(f"--fail-if names no code; codes: {', '.join(known)}.")
    return codes


def _check_files(options: Options, wanted: Sequence[dict[str, str]]) -> None:
    """Look before the work whether the reports can be written."""
    inputs, places = {Path(path).resolve() for path in options.paths}, set[Path]()
    for name, target in [pair for files in wanted for pair in files.items()]:
        if target == "-" and name == "json":
            continue
        path = Path(target)
        nowhere = target in ("", "-") or not path.parent.is_dir()
        if nowhere or (path.exists() and not path.is_file()):
            raise ValueError(f"--{name}: {quoted(target)} names no file in a folder that exists.")
        if not os.access(path.parent, os.W_OK):
            raise ValueError(f"--{name}: nothing may be written beside {quoted(target)}.")
        if path.resolve() in inputs:
            raise ValueError(f"--{name}: {quoted(target)} would overwrite the predictions.")
        if path.resolve() in places:
            raise ValueError(f"--{name}: {quoted(target)} is named for two reports; name another.")
        places.add(path.resolve())
    if any("html" in files for files in wanted) and find_spec("matplotlib") is None:
        raise ValueError("--html needs matplotlib. Install it: pip install 'calibkit[lab]'.")


# --- what is answered -----------------------------------------------------------------------------


def _audit(options: Options, target: Target) -> AuditReport:
    log = open_log(options.paths, **_columns(options, target.label, target.scores))
    asked = _asked(options, target) | {"settings": AuditSettings(bins=options.bins)}
    rows, stream = _rows_or_stream(options, [log])
    return audit_stream(stream, **asked) if rows is None else audit(**rows.arguments, **asked)


def _compare(options: Options, target: Target) -> Comparison:
    names = [name.replace("*", "").rstrip("_-. ") or name for name in target.scores]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError("--prob names two or more different models, e.g. --prob old,new.")
    columns = [_columns(options, target.label, [name]) for name in target.scores]
    logs = side_by_side([open_log(options.paths, **one) for one in columns])
    asked = _asked(options, target) | {"bins": options.bins}
    rows, stream = _rows_or_stream(options, logs)
    if rows is None:
        return compare_stream(stream, names, **asked)
    return compare_rows(rows, names, **asked)


def _asked(options: Options, target: Target) -> dict[str, Any]:
    # Costs are read before the file is: a slip is told at once.
    costs = None if options.costs is None else as_costs(options.costs)
    asked = {"view": _view(options), "costs": costs, "title": target.title}
    return asked | {"rng": options.seed}


def _rows_or_stream(
    options: Options, models: Sequence[Log]
) -> tuple[Predictions | None, Iterator[Predictions]]:
    """Return all rows, or None where they are to be counted in the stream beside them."""
    if options.memory_limit < 0:
        raise ValueError("--memory-limit is a number of megabytes, at least 0.")
    progress = not options.quiet and sys.stderr.isatty()
    rows, stream = None, rows_of_files(models, progress=progress)
    if not options.large:
        try:
            rows = keep_rows(stream, options.memory_limit * _MEGABYTE)
        except TooLarge:
            note = f"calibkit: note: more than {options.memory_limit} MB of rows; counting them in "
            _print(f"{note}a stream (see --memory-limit)", error=True)
            stream = rows_of_files(models, progress=progress)
    if rows is None and options.weight:
        raise ValueError(
            "--weight: a stream has no weights; leave out --large, or raise --memory-limit."
        )
    return rows, stream


def _write(report: AuditReport | Comparison, files: dict[str, str]) -> None:
    if "html" in files:
        write_whole(files["html"], report.to_html())
    if "markdown" in files:
        write_whole(files["markdown"], report.to_markdown())
    if files.get("json", "-") != "-":
        write_whole(files["json"], report.to_json() + "\n")


@contextmanager
def _warnings_printed() -> Iterator[None]:
    """Print each warning once, in a line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        _print(f"calibkit: note: {plain(message)}", error=True)


def _print(text: str, *, error: bool = False) -> None:
    """Print text also where the terminal lacks some of its characters."""
    stream = sys.stderr if error else sys.stdout
    try:
        print(text, file=stream, flush=True)
    except UnicodeEncodeError:
        plain_text = text.translate(_SIGNS).encode("ascii", "replace").decode("ascii")
        print(plain_text, file=stream, flush=True)
    except BrokenPipeError:  # its reader has closed it: the exit code still tells the verdict
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
