"""The monitor: exact on small streams, the same for all batches, and its state survives."""

from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp

from calibkit_audit import Monitor
from tests.helpers import binary_data

PROB = np.array([0.3, 0.9, 0.05, 0.5, 0.02, 0.7, 0.98, 0.4])


def wealth_by_the_rule(y: np.ndarray, p: np.ndarray) -> float:
    """Follow the Notes row by row and bet by bet, in plain numbers."""
    shifts, slopes = (0, 0.1, -0.1, 0.2, -0.2, 0.4, -0.4, 0.8, -0.8), (1, 0.5, 0.75, 4 / 3, 2)
    bets = {(a, b): 0.0 for a, b in product(shifts, slopes) if (a, b) != (0, 1)}
    stake = {(a, b): 1 / 128 if a and b != 1 else 1 / 16 for a, b in bets}
    pocket = 1.0
    for t, (label, prob) in enumerate(zip(y, p, strict=True), start=1):
        said, middle = logit(prob), logit(p[:t]).mean()
        left = 1 / (1 + np.log(1 + t))
        for a, b in bets:
            q = expit(said + a + (b - 1) * (said - middle))
            paid = 1 + (q - prob) / (prob * (1 - prob)) * (label - prob)
            bets[a, b] = (bets[a, b] + pocket - left) * paid
        pocket = left
    return float(pocket + sum(stake[bet] * wealth for bet, wealth in bets.items()))


def chance(y: tuple[int, ...], truth: np.ndarray) -> float:
    return float(np.where(y, truth, 1 - truth).prod())


def every_stream(alpha: float) -> Iterator[tuple[tuple[int, ...], list[Any]]]:
    """Yield each stream of labels with the evidence after each row."""
    seen: dict[tuple[int, ...], tuple[Monitor, list[Any]]] = {(): (Monitor(alpha=alpha), [])}
    for t, prob in enumerate(PROB):
        for y, label in product(product((0, 1), repeat=t), (0, 1)):
            monitor, past = deepcopy(seen[y][0]), seen[y][1]
            seen[*y, label] = monitor, [*past, monitor.update([label], [prob])]
    yield from ((y, past) for y, (_, past) in seen.items() if len(y) == len(PROB))


@pytest.mark.long
def test_the_wealth_is_that_of_the_rule_for_any_batches() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    y, off = rng.random(6000) < p, expit(logit(p) + 0.1)
    for size in (1, 7, 300):
        monitor = Monitor()
        for start in range(0, 300, size):
            part = slice(start, min(start + size, 300))
            found = monitor.update(y[part], off[part])
        assert found.e_value == pytest.approx(wealth_by_the_rule(y[:300], off[:300]), rel=1e-11)
    alarm = Monitor().update(y, off).alarm  # later than the rows that are worked on at a time
    assert alarm and alarm > 4096
    before, at = (wealth_by_the_rule(y[:n], off[:n]) for n in (alarm - 1, alarm))
    assert before < 20 <= at


def test_ville_and_the_offsets_hold_exactly_on_all_streams() -> None:
    """The wealth has mean 1; alarms, and offsets outside, stay below alpha."""
    alpha, mean, alarms, accused, astray = 0.9, 0.0, 0.0, 0.0, 0.0
    moved = expit(logit(PROB) + 0.5)
    for y, seen in every_stream(alpha):
        mean += chance(y, PROB) * seen[-1].e_value
        alarms += chance(y, PROB) * (seen[-1].alarm is not None)
        assert (seen[-1].alarm is not None) == (seen[-1].p_value <= alpha)
        late = [one for one in seen if one.alarm is not None]
        accused += chance(y, moved) * bool(late)
        lost = [not one.offset_low <= 0.5 <= one.offset_high for one in late]
        astray += chance(y, moved) * any(lost)
    assert mean == pytest.approx(1, abs=1e-12)
    assert 0.02 < alarms <= alpha
    assert 0 < astray <= alpha * accused


def test_after_an_alarm_the_offset_lies_where_the_rule_has_it() -> None:
    """A shift is named; a slope is refit."""
    offsets = np.append(np.linspace(-3, 3, 61), np.tile(np.linspace(-3, 3, 21), 4))
    slopes = np.append(np.ones(61), np.repeat([0.5, 0.75, 4 / 3, 2], 21))
    rng = np.random.default_rng(0)
    p, chances = rng.random(3000), rng.random(3000)
    z = logit(p)
    y, middle = chances < expit(z + 0.6), z.cumsum() / np.arange(1, 3001)
    found = Monitor().update(y, p)

    def likelihood(a: float, b: float) -> float:
        said = (z + a + (b - 1) * (z - middle))[found.alarm :]
        return float(np.log(expit(np.where(y[found.alarm :], said, -said))).sum())

    every = np.array([likelihood(*one) for one in zip(offsets, slopes, strict=True)])
    least = np.log(0.05) + logsumexp(every, b=np.repeat([1 / 122, 1 / 168], [61, 84]))
    assert found.offset_low < 0.6 < found.offset_high
    for end in (found.offset_low, found.offset_high):
        assert likelihood(end, 1) == pytest.approx(least, abs=1e-3)
    assert likelihood(found.offset, 1) >= max(every[:61])
    for one in (found, Monitor().update(chances < expit(z - 0.6), p)):
        assert "explains them: move the intercept" in one.describe()
    by_parts = Monitor()
    for rows in np.split(np.arange(3000), [100, 101, 2500]):
        again = by_parts.update(y[rows], p[rows])
    assert again.offset_low == pytest.approx(found.offset_low, abs=1e-6)
    assert "explains it (" in Monitor().update(chances < expit(0.6 * z), p).describe()


def test_too_few_rows_since_an_alarm_tell_no_offset() -> None:
    monitor = Monitor()
    first = monitor.update([0], [1.0])
    assert (first.alarm, np.isnan(first.offset)) == (1, True)  # no offset explains a broken promise
    assert "refit" in first.describe()
    found = Monitor().update(np.ones(40), np.full(40, 0.5))
    assert found.offset_high == np.inf and "too few to say" in found.describe()
    assert found.to_dict()["offset_high"] is None
    y = np.append(np.ones(30), np.tile([1, 0], 100))
    found = Monitor().update(y, np.full(len(y), 0.5))
    assert found.offset_low < 0 < found.offset_high and "Wait for more" in found.describe()
    assert np.isnan(Monitor().update([1], [0.5]).offset)


def test_a_contradicted_certainty_is_an_alarm_and_a_kept_one_no_bet() -> None:
    y, p = binary_data(50)
    plain, sure = Monitor(), Monitor()
    wanted = plain.update(y, p).e_value
    sure.update([1, 0, 1], [1.0, 0.0, 1.0])
    assert sure.evidence.e_value == pytest.approx(1)  # nothing was won or lost
    assert sure.update(y, p).e_value != wanted  # the stake was placed three rows earlier
    found = sure.update([0, 0], [0.2, 1.0])
    assert (found.alarm, found.impossible, found.p_value) == (55, 1, 0)
    assert found.e_value == np.inf and "called impossible" in found.describe()
    assert found.to_dict()["e_value"] is None
    assert "no" in Monitor().evidence.describe().lower()


def test_bad_rows_count_nothing_and_one_class_is_a_stream() -> None:
    monitor = Monitor(view=1)
    monitor.update([1, 0], [[0.2, 0.5, 0.3]] * 2)
    before = monitor.evidence.to_dict()
    for bad, words in (
        ([[0.2, 0.5, 0.4]], "sums to 1.1"),
        ([[np.nan, 0.5, 0.5]], "is not a probability"),
    ):
        with pytest.raises(ValueError, match=words):
            monitor.update([1], bad)
    assert monitor.evidence.to_dict() == before
    assert Monitor().update([0, 0, 0], [0.1, 0.2, 0.1]).events == 0
    for alpha in (0, 1, np.nan):
        with pytest.raises(ValueError, match="alpha"):
            Monitor(alpha=alpha)


def test_the_state_survives_to_the_last_bit(tmp_path: Path) -> None:
    y, p = binary_data(500)
    whole, first = Monitor(model="m", alpha=0.01), Monitor(model="m", alpha=0.01)
    first.notes.append("monday")
    first.update(y[:200], p[:200])
    whole.update(y[:200], p[:200])
    again = Monitor.load(first.save(tmp_path / "s.json"), model="m", alpha=0.01, view=None)
    assert again.notes == ["monday"]
    more = again.update(y[200:], p[200:]).to_dict()
    assert more == whole.update(y[200:], p[200:]).to_dict()
    for view in ((0, 1), np.int64(0), "top-label"):
        saved = Monitor(view=view).save(tmp_path / "view.json")
        assert Monitor.load(saved, view=view).view == Monitor(view=view).view
    fresh = Monitor.load(Monitor().save(tmp_path / "new.json"))
    assert fresh.update(y, p).to_dict() == Monitor().update(y, p).to_dict()


@pytest.mark.parametrize(
    ("old", "new", "asked", "words"),
    [
        ("}\n", "", {}, "no state of a monitor .*or damaged. .*left as it is"),
        ('"n": 2', '"n": 3', {}, "or damaged"),
        ('"version": 4', '"version": 9', {}, "of version 4"),
        ("{", "[{", {}, "or damaged"),
        ("", "", {"alpha": 0.01}, "alpha=0.05, not 0.01"),
        ("", "", {"model": "b"}, "begun with model='a', not 'b'"),
        ("", "", {"view": "top-label"}, "view=None, not 'top-label'"),
    ],
)
def test_other_states_are_refused_and_left_alone(
    old: str, new: str, asked: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.json"
    monitor = Monitor(model="a")
    monitor.update([1, 0], [0.5, 0.4])
    text = monitor.save(path).read_text("utf-8").replace(old, new)
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=words) as refused:
        Monitor.load(path, **({"model": "a", "view": None, "alpha": 0.05} | asked))
    assert "name another file to begin anew" in str(refused.value)
    assert path.read_text("utf-8") == text
    path.write_text("[]", "utf-8")  # a file of something else
    with pytest.raises(ValueError, match="no state of a monitor"):
        Monitor.load(path)
