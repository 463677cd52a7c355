"""The command ``calibkit``: audit, compare, monitor or rate what is in files, or check itself."""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from calibkit.decisions.costs import as_costs
from calibkit_audit import Monitor, estimate_rate
from calibkit_audit.auditing import AuditReport, AuditSettings, Comparison, audit, compare
from calibkit_audit.auditing.pages import command_in_words, file_name, list_names
from calibkit_audit.auditing.predictions import (
    by_role,
    keep_rows,
    options_of,
    rows_of_files,
    side_by_side,
)
from calibkit_audit.cli.arguments import CODES_OF, NEEDED_FOR, READING, command_parser
from calibkit_audit.counts import monitor_files
from calibkit_audit.counts.columns import floats_of, numbers_of, words_of
from calibkit_audit.counts.files import Log, open_log
from calibkit_audit.counts.places import quote, quotes
from calibkit_audit.counts.readers import Block, Dialect, column_names
from calibkit_audit.doctor import doctor
from calibkit_audit.saving import place_for, plain, printable, write_whole

OK, CONDITION_MET, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
_MEGABYTE = 2**20
# Where a terminal knows no other signs: "?" would be the sign for what cannot be said.
_SIGNS = str.maketrans({"✓": "+", "✗": "x", "≤": "<=", "…": "...", "–": "-", "±": "+-"})

_SHARES = "They say 0, 1 or a share; of counts name the column with the number of --raters."
# What each row needs in two columns of `rate`.
_NEEDED = {
    "judge": "Each row needs the judge's score: divide by the largest possible one.",
    "chance": "Each row needs the probability, above 0, of being chosen for a label.",
}

Options = argparse.Namespace  # what was asked; it is read, never changed


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (by default those of the process).

    >>> main(["audit", "missing.csv", "--label", "y", "--prob", "p"])
    2
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        options = command_parser().parse_args(words)
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _note  # type: ignore[assignment]
            if options.command in ("audit", "compare"):
                return _judge(options, words)
            return {"monitor": _monitor, "rate": _rate, "doctor": _doctor}[options.command](options)
    except SystemExit as end:  # argparse has said what is wrong
        return int(end.code or 0)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        _print(f"calibkit: {plain(str(error)) or type(error).__name__}", error=True)
        return BAD_INPUT
    except KeyboardInterrupt:
        _print("calibkit: interrupted", error=True)
        return INTERRUPTED


def _doctor(_: Options) -> int:
    """Say what the installation can do."""
    diagnosis = doctor()
    _print(repr(diagnosis))
    return OK if diagnosis.healthy else BAD_INPUT


def _monitor(options: Options) -> int:
    """Show new rows to a monitor, whose state is read before and written after."""
    scores = _scores(options)
    _files(options)
    state, model = Path(options.state), options.model or list_names(scores)
    settings: dict[str, Any] = {"model": model, "view": options.view, "alpha": options.alpha}
    monitor = Monitor.load(state, **settings) if state.exists() else Monitor(**settings)
    evidence = monitor_files(monitor, options.paths, **_columns(options, scores))
    monitor.save(state)
    _put(options, json.dumps(evidence.to_dict(), indent=1), printable(evidence.describe()))
    return OK if evidence.alarm is None else CONDITION_MET


def _rate(options: Options) -> int:
    """Estimate the rate that people would find, by every method."""
    _files(options)
    given, columns = vars(options), ("judge", "label", "raters", "chance", "cluster")
    names = {role: given[role] for role in columns if given[role]}
    scores = [name for role, name in names.items() if role not in ("label", "cluster")]
    log = open_log(options.paths, **_columns(options, scores))
    rows: dict[str, Any] = {}
    for block in log.blocks():
        for role, values in _judged(block, names).items():
            rows.setdefault(role, []).extend(values)
    found = estimate_rate(**rows)
    _put(options, json.dumps(found.to_dict(), indent=1), found.text())
    return OK


def _judged(block: Block, names: dict[str, str]) -> dict[str, Any]:
    """Return a block as `estimate_rate` takes it; of counts and raters the shares."""
    found: dict[str, Any] = {r: words_of(block, n) for r, n in names.items() if r == "cluster"}
    for role in _NEEDED.keys() & names.keys():
        found[role] = numbers_of(block, names[role], remedy=_NEEDED[role])
    label, raters = (
        floats_of(block, names[role]) if role in names else np.ones(block.n)
        for role in ("label", "raters")
    )
    good = (raters >= 1) & (raters == np.rint(raters)) & (label >= 0) & (label <= raters)
    if not (good | np.isnan(label)).all():
        row = int((good | np.isnan(label)).argmin())
        value = f"{quote(names['label'])} = {label[row]:g} of {raters[row]:g}"
        raise block.place.error(f"{value} is no share of people. {_SHARES}", row)
    return found | {"labels": label / raters}


def _judge(options: Options, words: Sequence[str]) -> int:
    """Make an audit or a comparison, write it, and look for the conditions."""
    conditions = _conditions(options)
    scores, files = _scores(options), _files(options)
    report = _report(options, scores)
    paths = [*options.paths, *filter(None, [options.labels]), *files.values()]
    seed = [] if "--seed" in words else ["--seed", str(options.seed)]
    report = replace(report, command=command_in_words(["calibkit", *words, *seed], paths))
    if options.html:
        write_whole(options.html, report.to_html())
    # Names from outside may hold control characters.
    text = "".join(c for c in report.text() if c.isprintable() or c == "\n")
    _put(options, report.to_json() if options.json else "", text)
    met = [code for code in conditions if code in report.codes]
    if met:
        _print(f"calibkit: condition met: {', '.join(met)}", error=True)
    return CONDITION_MET if met else OK


def _put(options: Options, document: str, text: str) -> None:
    """Write the JSON document where it is wanted, and print it or the text."""
    if options.json == "-":
        _print(document)
        return
    if options.json:
        write_whole(options.json, document + "\n")
    if not options.quiet:
        _print(text)


# --- what is asked --------------------------------------------------------------------------------


def _scores(options: Options) -> list[str]:
    """Return the columns of the predictions, of a comparison one per model."""
    if options.prob and options.logits:
        raise ValueError("give --prob or --logits, not both.")
    scores: list[str] = options.prob or options.logits or []
    if options.command == "compare":
        scores = [name for text in scores for name in _parts(text)]
    if not options.label or not scores:
        missing = "--prob" if options.label else "--label"
        dialect = Dialect(options.delimiter, options.decimal)
        names = column_names(options.paths[0], dialect)
        raise ValueError(
            f"{missing} is missing. The columns of {quote(options.paths[0])} are {quotes(names)}; "
            f"choose one, e.g. {missing} {quote(names[0])}."
        )
    return scores


def _columns(options: Options, scores: Sequence[str]) -> dict[str, Any]:
    """Return what each column holds, as `open_log` takes it."""
    given = vars(options)
    return {name: given[name] for name in READING if given.get(name)} | {
        "label": options.label,
        "prob": scores,
        "classes": None if options.classes is None else _parts(options.classes),
        "logits": bool(options.logits),
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _conditions(options: Options) -> list[str]:
    known = CODES_OF[options.command]
    codes = [code for text in options.fail_if for code in _parts(text)]
    for code in codes:
        if code not in known:
            raise ValueError(f"--fail-if: {quote(code)} is no code; codes: {', '.join(known)}.")
        if (needed := NEEDED_FOR.get(code)) and getattr(options, needed) is None:
            raise ValueError(f"--fail-if: {quote(code)} needs --{needed}.")
    return codes


def _files(options: Options) -> dict[str, str]:
    """Return what is to be written, after a look whether it can be."""
    given, kinds = vars(options), ("state", "html", "json")
    files = {kind: given[kind] for kind in kinds if given.get(kind) is not None}
    paths = (*options.paths, *filter(None, [options.labels]))
    taken = {Path(path).resolve() for path in paths}
    for name, target in files.items():
        if target == "-" and name == "json":
            continue
        path = place_for(target).resolve()
        if path in taken:
            other = "the predictions or another report; name another file"
            raise ValueError(f"--{name}: {quote(target)} would overwrite {other}.")
        taken.add(path)
    if "html" in files and find_spec("matplotlib") is None:
        raise ValueError("--html needs matplotlib. Install it: pip install 'calibkit[lab]'.")
    return files


# --- what is answered -----------------------------------------------------------------------------


def _report(options: Options, scores: list[str]) -> AuditReport | Comparison:
    """Make an audit, or a comparison of models."""
    comparing = options.command == "compare"
    names = [name.replace("*", "").rstrip("_-. ") or name for name in scores]
    if comparing and (len(names) < 2 or len(set(names)) < len(names)):
        raise ValueError("--prob names two or more different models, e.g. --prob old,new.")
    models = [[name] for name in scores] if comparing else [scores]
    logs = [open_log(options.paths, **_columns(options, model)) for model in models]
    files = list_names(list(map(file_name, options.paths)))
    title = f"{files}: {options.label} by {','.join(scores) if comparing else list_names(scores)}"
    asked = {"view": options.view, "rng": options.seed, "independent": options.independent}
    # Costs are read before the rows are: a slip is told at once.
    asked["costs"] = None if options.costs is None else as_costs(options.costs)
    rows = _rows(options, side_by_side(logs)) | options_of(logs[0]) | asked
    rows["title"], changes = options.title or title, logs[0].changes
    if not comparing:
        return audit(**rows, settings=AuditSettings(bins=options.bins)).with_changes(changes)
    parts = np.split(rows.pop("y_prob"), len(names), axis=1)
    probs = {n: p[:, 0] if p.shape[1] == 1 else p for n, p in zip(names, parts, strict=True)}
    return compare(models=probs, bins=options.bins, **rows).with_changes(changes)


def _rows(options: Options, models: Sequence[Log]) -> dict[str, Any]:
    """Return all rows, or a random sample of those that are too many for the memory."""
    if min(options.memory_limit, options.seed) < 0:
        raise ValueError("--memory-limit, in megabytes, and --seed are at least 0.")
    limit = options.memory_limit * _MEGABYTE
    rows, seen = keep_rows(rows_of_files(models), limit, seed=options.seed)
    if (n := len(rows["y_true"])) < seen:
        if options.cluster:
            raise ValueError("--cluster needs all rows in memory: raise --memory-limit.")
        models[0].changes[f"drawn at random from {seen:,}, and numbered among themselves"] = n
    return by_role(rows)


def _note(message: Warning | str, *_: Any) -> None:
    """Print a warning in a line."""
    _print(f"calibkit: note: {plain(str(message))}", error=True)


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
