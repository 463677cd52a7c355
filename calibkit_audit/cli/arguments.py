"""What the command understands: its words, and what ``--help`` says of them (`options.toml`)."""

import argparse
import tomllib
from functools import partial
from importlib.resources import files
from itertools import chain
from typing import Any

from calibkit import __version__
from calibkit.inputs import View
from calibkit_audit.auditing import COMPARISON_CODES
from calibkit_audit.auditing.settings import CODES, FINDINGS

_FILES = "rows with labels and predictions: .csv, .tsv, .txt, .jsonl (and .gz of these), .parquet, "
# What says how rows are read, under the names that `open_log` has for it.
READING = ["predicted", "group", "cluster", "time", "weight", "positive", "labels", "on"]
READING += ["delimiter", "decimal", "percent", "drop_missing", "rescale"]
CODES_OF = {  # the command looks at no column that is not named
    "audit": [x for x in chain.from_iterable((CODES | FINDINGS).values()) if x != "rows agree"],
    "compare": list(COMPARISON_CODES),
}
_PAID = ("better cost", "worse cost", "costly", "not costly", "worse than ignoring")
# Without this option there is no such code.
NEEDED_FOR = dict.fromkeys(_PAID, "costs") | dict.fromkeys(FINDINGS["time"], "time")
NEEDED_FOR |= dict.fromkeys(FINDINGS["groups"], "group")


def command_parser() -> argparse.ArgumentParser:
    """Return what reads the words of a command."""
    said = tomllib.loads(files(__package__).joinpath("options.toml").read_text("utf-8"))
    parser = argparse.ArgumentParser(
        prog="calibkit", description="Judge predicted probabilities.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"calibkit {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = partial(commands.add_parser, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, words in said["commands"].items():
        command = add(name, allow_abbrev=False, **words)
        command.set_defaults(logits=None, classes=None)
        command.add_argument("paths", nargs="+", metavar="FILE", help=f"{_FILES}.npz or .npy")
        for heading, options in said["options"].items():
            _add_options(command.add_argument_group(heading), name, options)
    words = "check the installation; exit code 0 if all is well, else 2"
    add("doctor", help=words, description="Check versions and optional parts. Exit code 0 or 2.")
    return parser


def _add_options(group: Any, command: str, options: list[list[Any]]) -> None:
    """Add the options of a command; what has a number by default is one."""
    known = CODES_OF.get(command, [""])
    codes = f"e.g. '{known[0]}'; codes: {', '.join(known)}"
    for commands, names, how, said in options:
        if isinstance(how.get("default"), int | float):
            how["type"] = type(how["default"])
        if names == "--view":
            how["type"] = _view
        if command in commands.split():
            group.add_argument(*names.split(), **how, help=said.format(codes=codes))


def _view(text: str) -> View:
    return int(text) if text.isdecimal() else text
