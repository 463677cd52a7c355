"""What the command understands: its words, and what ``--help`` says of them."""

import argparse
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from calibkit import __version__
from calibkit.inputs import View
from calibkit_audit.auditing import COMPARISON_CODES
from calibkit_audit.auditing.settings import CODES, FINDINGS

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


_DAILY = """\
example:
  calibkit monitor monday.csv --label y --prob p --state state.json
shows new rows to the test that the state belongs to; where there is no such file, it begins one.
How often a calibrated model is ever accused: --alpha, however often you look. One run at a time.

exit codes:
  0  no alarm
  1  an alarm, now or before; after a repair begin a new state, with a new --model
  2  wrong use, or a file that cannot be used; the state is as it was
"""
_JUDGED = """\
example:
  calibkit rate answers.csv --judge score --label human --cluster question
What people say is 0 or 1, a share of several raters, or, with --raters, how many said 1; it may be
missing in most rows.

exit codes:
  0  the rate was estimated
  2  wrong use, or a file that cannot be used; one sentence on standard error says why
"""
ROLES = ("predicted", "group", "cluster", "time", "weight")  # columns that say more of the rows
CODES_OF = {
    "audit": list(chain.from_iterable((CODES | FINDINGS).values())),
    "compare": list(COMPARISON_CODES),
}
_QUESTIONS = "Ask six questions about predictions and answer them in plain words."
_BETS = "Bet against the predictions; an alarm says that they are miscalibrated."
_RATES = "Estimate the rate that people would find, from a judge and the labels of some rows."
_PAIRS = (
    "Compare models on the same rows, each with the first: what differs beyond chance, by how much."
)


def command_parser() -> argparse.ArgumentParser:
    """Return what reads the words of a command."""
    parser = argparse.ArgumentParser(
        prog="calibkit", description="Judge predicted probabilities.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"calibkit {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = partial(commands.add_parser, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, help_, words, epilog in (
        ("audit", "audit predictions in files", _QUESTIONS, _EPILOG),
        ("compare", "compare models on the same rows of files", _PAIRS, _EPILOG),
        ("monitor", "bet against the predictions of each day", _BETS, _DAILY),
        ("rate", "correct a judge's rate by labels of people", _RATES, _JUDGED),
    ):
        command = add(name, help=help_, description=words, epilog=epilog, allow_abbrev=False)
        command.set_defaults(**dict.fromkeys((*ROLES, "logits")))
        if name == "rate":
            _add_judge(command)
        else:
            _add_columns(command, name)
            (_add_bets if name == "monitor" else _add_questions)(command)
        _add_reports(command, name)
    add(
        "doctor",
        help="check the installation; exit code 0 if all is well, else 2",
        description="Check versions and optional parts. Exit code 0 or 2.",
    )
    return parser


def _add_files(parser: argparse.ArgumentParser) -> Callable[..., Any]:
    """Add files, and how they are written; return what adds their columns."""
    kinds = ".csv, .tsv, .txt, .jsonl (and .gz of these), .parquet, .npz or .npy"
    rows = f"rows with labels and predictions: {kinds}"
    parser.add_argument("paths", nargs="+", metavar="FILE", help=rows)
    add = parser.add_argument_group("what the columns hold (never guessed)").add_argument
    add("--labels", metavar="FILE", help="the labels are in this file, found by --on")
    add("--on", metavar="COLUMN", help="the column by which both files belong together")
    marks = "between the columns of a CSV file, e.g. ';', tab, or ' ' for any number of blanks"
    add("--delimiter", metavar="MARK", help=marks)
    add("--decimal", default=".", metavar="MARK", help="the decimal mark of a CSV file (.)")
    return add


def _add_judge(parser: argparse.ArgumentParser) -> None:
    add = _add_files(parser)
    add("--judge", required=True, metavar="COLUMN", help="the judge's scores, in [0, 1]")
    add("--label", required=True, metavar="COLUMN", help="what people say, of some rows")
    add("--cluster", metavar="COLUMN", help="rows that belong together: question, document")
    add("--raters", metavar="COLUMN", help="how many people looked; --label counts those for 1")
    chance = "the probability with which each row was chosen for a label, where scores decided it"
    add("--chance", metavar="COLUMN", help=chance)


def _add_columns(parser: argparse.ArgumentParser, command: str) -> None:
    add = _add_files(parser)
    add("--label", metavar="COLUMN", help="the labels")
    several = "P(y = 1); or once per class; or 'p_*' for all columns that begin with p_"
    if command == "compare":
        several = "P(y = 1) of each model, e.g. old,new; or patterns for classes, e.g. 'a_*,b_*'"
    add("--prob", action="append", metavar="COLUMN", help=several)
    if command != "compare":
        add("--logits", action="append", metavar="COLUMN", help="the same, for logits")
    guess = "the predicted class; --prob is its confidence; true: --label says if it was right"
    add("--predicted", metavar="COLUMN", help=guess)
    add("--positive", metavar="LABEL", help="the label that means y = 1, e.g. yes")
    add("--classes", metavar="A,B", help="the label of each --prob column, in their order")
    if command != "monitor":
        many: Any = {"action": "append", "metavar": "COLUMN"}
        add("--groups", "--group", dest="group", help="groups to compare; again for more", **many)
        together = "rows that belong together: patient, document; twice: one or the other"
        add("--cluster", help=together, **many)
        add("--independent", action="store_true", help="no two rows are about the same case")
        add("--weight", metavar="COLUMN", help="what a row stands for in the population")
    if command == "audit":
        add("--time", metavar="COLUMN", help="when; is the error the same all along?")
    add("--percent", action="store_true", help="predictions are percentages: 30, or 30 %%, is 0.30")
    missing = "leave out, and count, rows without a label or prediction"
    add("--drop-missing", action="store_true", help=missing)
    rounded = "divide rows of classes that sum to 0.9 to 1.1 by their sum, and count them"
    add("--rescale", action="store_true", help=rounded)


def _view(text: str) -> View:
    return int(text) if text.isdecimal() else text


def _add_questions(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what is asked").add_argument
    limit = "all rows are kept up to this size, beyond it a random sample of 100,000 (64)"
    add("--memory-limit", type=int, default=64, metavar="MB", help=limit)
    add("--view", type=_view, help="top-label, class-wise, or the number of a class")
    both = "costs of a false positive and a false negative, e.g. 1:20"
    add("--costs", metavar="FP:FN", help=both)
    add("--bins", type=int, default=15, help="number of equal-width bins (15)")
    add("--seed", type=int, default=0, help="seed of the redraws (0)")


def _add_bets(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what is watched").add_argument
    add("--state", required=True, metavar="FILE", help="what was seen so far; begun if not there")
    add("--model", help="whose predictions these are (the names of the columns)")
    add("--view", type=_view, help="top-label, or the number of a class")
    add("--alpha", type=float, default=0.05, help="how often a calibrated model is accused (0.05)")


def _add_reports(parser: argparse.ArgumentParser, command: str) -> None:
    add = parser.add_argument_group("what comes out").add_argument
    if command in CODES_OF:
        add("--title", help="title of the report (the name of the file)")
        add("--html", metavar="FILE", help="write one self-contained page")
    out = "write JSON; - for standard output, instead of the text"
    add("--json", metavar="FILE", help=out)
    add("--quiet", action="store_true", help="print nothing but errors")
    if command in CODES_OF:
        codes = f"e.g. '{CODES_OF[command][0]}'; codes: {', '.join(CODES_OF[command])}"
        condition = f"exit code 1 if the report has one of these codes, {codes}"
        add("--fail-if", action="append", default=[], metavar="CODES", help=condition)
