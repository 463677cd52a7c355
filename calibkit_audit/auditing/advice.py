"""The headline, and the paragraph for who decides: what was promised, what came, what to do.

Natural frequencies ("of 100 cases it expects the event in 15; it came in 23") are understood by
more people than probabilities are (Gigerenzer and Hoffrage, 1995). Each is a plain mean, over all
rows that the sentence names.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.reliability import BinTable
from calibkit.results import spell
from calibkit_audit.auditing.evidence import SIDE, Measurements, directions
from calibkit_audit.auditing.pages import Listing, in_digits
from calibkit_audit.auditing.redraws import TOP
from calibkit_audit.auditing.repairs import REPAIRED
from calibkit_audit.auditing.report import AuditReport
from calibkit_audit.auditing.rows import EVENT
from calibkit_audit.segments import of_so_many

NOT_APART = {
    "no discrimination": "The predictions tell nothing apart, or the labels belong to other rows.",
    "upside down": "The ranking is upside down.",
}
_DOUBTS = {
    "too little data": "Too few rows to say by how much.",
    "alignment unclear": "Whether the labels belong to these rows is unclear.",
}
_AT_COSTS = {
    "worse than ignoring": "it is cheaper to {same} than to follow it",
    "costly": "acting on it costs more than acting on mended probabilities",
    "not costly": "no gain from mending them is shown",
}


def headline_of(report: AuditReport, *, known: bool) -> tuple[str, str]:
    """Return the verdict in one line, with what it rests on, and its light.

    `known`: which rows belong together, or that none do.
    """
    verdicts, measured = _verdicts(report), report.evidence
    alignment, gone = verdicts["alignment"], measured.impossible
    way = f"{verdicts['direction']} ({measured.focus_words})"
    if alignment == "not aligned":
        return "Labels and predictions do not belong together: check the data first.", "bad"
    text, light = {
        "miscalibrated": (f"Miscalibrated beyond chance: {way}.", "bad"),
        "borderline": (f"Borderline; if anything, {way}.", "caution"),
        "cannot say": ("Too little data to say.", "unknown"),
    }.get(verdicts["calibration"], ("No evidence of miscalibration.", "good"))
    if alignment in NOT_APART:  # alone that nothing is told apart
        return NOT_APART[alignment], "bad" if gone.count or light == "bad" else "caution"
    if verdicts["calibration"] != "cannot say":
        text = text if known else f"{text[:-1]}, if no two rows are about the same case."
        # By how much rows are wrong that said 0 or 1 is known.
        open_ = alignment, verdicts["data"] * ("impossible" not in verdicts)
        text = " ".join([text, *(words for one, words in _DOUBTS.items() if one in open_)])
    if apart := [said for said, _ in _apart(report)]:
        text, light = f"{' '.join(apart)} On average: {text[0].lower()}{text[1:]}", "bad"
    return (f"{gone}. {text}", "bad") if gone.count else (text, light)


def _verdicts(report: AuditReport) -> dict[str, str]:
    return {answer.topic: answer.verdict for _, answer in report.numbered}


def frequencies(
    words: str, weighed: bool, said: float, came: float, n: int, *, apart: bool = False
) -> str:
    """Say two means of n rows in natural frequencies: of so few rows as counts, if none weigh more.

    `words` hold places for the numbers, `apart` is that of `of_so_many`.

    >>> frequencies(_words(1, "positive class"), False, 0.15, 0.23, 800)
    'of 100 cases it expects the event in 15; it came in 23'
    >>> frequencies(_words(1, "class fraud"), False, 0.0004, 0.0012, 50_000)
    'of 10,000 cases it expects class fraud in 4; it came in 12'
    >>> frequencies(_words(TOP, ""), False, 0.91, 51 / 60, 60)
    'of 60 answers it expects 54.6 to be right; 51 were'
    """
    of, expected, happened = of_so_many(said, came, apart=apart)
    if n < 100 and not weighed:
        of, expected, happened = f"{n}", f"{n * said:.1f}", f"{n * came:.0f}"
    return words.format(of=of, s="s" * (of != "1"), said=expected, came=happened)


def _words(view: int, name: str) -> str:
    if view == TOP:
        return "of {of} answer{s} it expects {said} to be right; {came} were"
    event = "the event" if name == EVENT else name.replace("{", "{{").replace("}", "}}")
    return f"of {{of}} case{{s}} it expects {event} in {{said}}; it came in {{came}}"


def _apart(report: AuditReport) -> list[tuple[str, str]]:
    """Say why an error on average is not that of all rows, and what to find out first."""
    verdicts, groups, found = _verdicts(report), report.groups, []
    if verdicts.get("time") == "error changes":
        first = "Find out what has changed over time first: an average over all times hides it."
        found = [("The error changes over time.", first)]
    if groups is not None and verdicts.get("groups") == "group miscalibrated":
        many = f"{len(groups.miscalibrated)} of {spell(len(groups.segment), 'group')}"
        first = f"The worst group is {groups.worst}. Find out first what differs there, if "
        first += "anything, and judge a repair in each group: one for all may make others wrong."
        found += [(f"Miscalibrated in {many}, worst in {groups.worst}.", first)]
    return found


def advice_of(report: AuditReport) -> str:
    """Say what verdicts and findings mean for a person who has to decide."""
    verdicts, measured = _verdicts(report), report.evidence
    if verdicts["alignment"] == "not aligned":
        return "Decide nothing on these numbers before labels and columns have been put right."
    view = measured.focus
    words, weighed = _words(view.view, measured.focus_words), measured.problem.weight is not None
    say = partial(frequencies, words, weighed)
    apart = measured.miscalibrated and abs(view.z_level) >= SIDE
    whole = say(view.mean_prob, view.frequency, view.n, apart=apart)
    texts = [f"{whole[0].upper()}{whole[1:]}."]
    if measured.miscalibrated:
        texts += _where(measured, say)
    elif measured.borderline:
        texts += [f"With {spell(view.n, 'row')} an error may still be chance."]
    else:
        texts += ["The difference over all rows is no more than chance makes."]
    if verdicts["costs"] in _AT_COSTS and (measured.miscalibrated or measured.impossible.count):
        same = "treat all cases alike"
        of_all = report["costs"].numbers.get("net_benefit_of_all")
        if of_all is not None:
            same = f"act in {'every' if of_all > 0 else 'no'} case"
        texts += [f"At the given costs {_AT_COSTS[verdicts['costs']].format(same=same)}."]
    if report.times is not None and verdicts.get("time") == "error changes":
        words = _words(measured.first.view, measured.names[0])
        texts += [_step(report.times, measured.first.design, partial(frequencies, words, weighed))]
    return " ".join([*texts, _what_to_do(report, verdicts)])


def _where(measured: Measurements, say: Callable[..., str]) -> list[str]:
    """Say where an error beyond chance lies."""
    view, region = measured.focus, measured.region
    sure = f"It was sure in {spell(view.sure, 'row')} (exactly 0 or 1): {view.wrong:,} wrong."
    texts = [sure] * (view.wrong > 0)
    if measured.only_sure:
        return texts + ["All others together show no error beyond chance."] * (view.sure < view.n)
    if abs(view.z_level) < SIDE:
        texts = ["That much may be chance; that it is wrong in parts is not.", *texts]
    if region is not None:
        inside = say(region.mean_prob, region.frequency, region.n, apart=True)
        texts += [
            f"Most of the error lies in the {spell(region.n, 'row')} to which it says "
            f"{region.low:.2f} to {region.high:.2f}: {inside}."
        ]
    elif view.view != TOP and directions(view)[0].endswith("confident"):
        texts += _sides(measured.band.table, view.mean_prob, say)
    return texts


def _sides(table: BinTable, middle: float, say: Callable[..., str]) -> list[str]:
    """Say what came where it says less than its mean, and where more, by whole bins."""
    used = np.flatnonzero(table.occupied)
    cut = int(np.searchsorted(table.mean_prob[used], middle))
    if cut in (0, len(used)):
        return []
    bins = table.count, table.weight, table.mean_prob, table.frequency
    below, above = (_part(bins, part, say) for part in (used[:cut], used[cut:]))
    cut_off = f"{table.edges[used[cut]]:.2f}"
    return [f"Where it says less than {cut_off}, {below}. Where it says more, {above}."]


def _part(columns: Sequence[NDArray[Any]], part: Any, say: Callable[..., str]) -> str:
    """Say what some bins, or blocks of time, say and what came, of their counts and weights."""
    count, weight, *means = (column[part] for column in columns)
    said, came = (float(np.average(one, weights=weight)) for one in means)
    return say(said, came, int(count.sum()))


def _step(times: Listing, design: float, say: Callable[..., str]) -> str:
    """Say what was promised, and what came, before and after the largest step of the error.

    It is placed between moments, as each block of time whose likelihood ratio lies within the 90 %
    point of Hansen (2000) of the largest may hold it.
    """
    first, last, count, said, came, gap = times.columns.values()
    sums, share = np.cumsum(count * gap), np.cumsum(count) / count.sum()
    step, spread = sums - share * sums[-1], share * (1 - share) * (count @ (said * (1 - said)))
    ratio = step[:-1] ** 2 / (design * spread[:-1])
    near = np.flatnonzero(ratio >= ratio.max() + 2 * np.log(1 - np.sqrt(0.9)))
    parts = slice(None, near[0] + 1), slice(near[-1] + 1, None)
    before, after = (_part((count, count, said, came), part, say) for part in parts)
    return (
        f"The error changes most somewhere from {first[near[0]]} to {last[near[-1] + 1]}. Before "
        f"that, {before}. After it, {after}."
    )


def _what_to_do(report: AuditReport, verdicts: Mapping[str, str]) -> str:
    measured, name, repair = report.evidence, report.repair, ""
    if name is not None:
        how, gloss = REPAIRED.get(name, (name, ""))
        repair = f"mend its probabilities by {how}{gloss and f' ({gloss})'}, then check on new rows"
    apart = [first for _, first in _apart(report)]
    if verdicts["alignment"] in NOT_APART:
        return "See that each label stands in its own row; if so, ask for a model that tells more."
    if measured.impossible.count:
        never = "Never act on a stated 0 or 1 of this model: such statements have been wrong."
        return " ".join([never, *(apart or [f"First {repair}."] * bool(repair))])
    if apart:
        return " ".join(apart)
    if verdicts["costs"] == "worse than ignoring":
        return f"Decide without it{repair and f', or first {repair}'}."
    if measured.miscalibrated:
        other = "ask for a better model, or more data to mend this one"
        remedy = f"first {repair}" if repair else other
        return f"Do not take it at its word; {remedy}."
    if measured.borderline:
        return "Wait for new rows before you rely on these probabilities: they leave a doubt."
    if not measured.power.enough:
        needed = measured.power.needed
        more = f"some {needed:,.0f} are needed" if needed < np.inf else "no number of such rows can"
        return f"These rows cannot tell whether the probabilities may be relied on; {more}."
    return (
        "Leave the probabilities as they are: nothing speaks against them so far. An average "
        f"error of {in_digits(measured.power.smallest)}, beside a mean of "
        f"{in_digits(measured.first.mean_prob)}, would have been seen in nine such files of ten."
    )
