"""What only all rows of a log can show: words that are misspelt, and a third label."""

from collections import Counter

from calibkit_audit.counts.columns import Columns, Words, plain_word
from calibkit_audit.counts.places import Place, quote

_NAMED = 5  # this many words are named in a message


def check_words(words: Words, columns: Columns, place: Place) -> None:
    """Refuse what only all rows can show: words that are misspelt, and a third label."""
    if columns.predicted:
        true, predicted = (
            Counter({word: n for (name, word), n in words.items() if name == column})
            for column in (columns.label, columns.predicted)
        )
        _check_classes(true, predicted, place)
    if columns.positive is None:
        return
    positive, column = columns.positive.strip(), quote(columns.label)
    others = Counter[str]()
    for (_, word), count in words.items():
        others[word.strip()] += count
    if not others.pop(positive, 0):
        raise place.error(f"the positive label {quote(positive)} never occurs in column {column}.")
    if len(others) > 1:
        raise place.error(
            f"column {column} holds {len(others)} labels beside the positive {quote(positive)}: "
            f"{_counted(others)}. Only one may mean y = 0: drop or rename the others."
        )


def _check_classes(true: Counter[str], predicted: Counter[str], place: Place) -> None:
    """Refuse predicted classes that are no true ones, or true ones in another spelling."""
    if not true & predicted:
        raise place.error(
            f"No predicted class is among the true ones, which are {_counted(true)}; the "
            f"predicted ones are {_counted(predicted)}. Spell both alike."
        )
    spelt: dict[str, str] = {}
    for word in sorted(true | predicted):
        other = spelt.setdefault(plain_word(word), word)
        if other != word and not (word in true and other in true):
            raise place.error(
                f"{quote(other)} and {quote(word)} look like one class, but one is among the "
                "predicted classes only. Spell both columns alike."
            )


def _counted(words: Counter[str]) -> str:
    named = ", ".join(f"{quote(word)} ({n:,} rows)" for word, n in words.most_common(_NAMED))
    return named + (", …" if len(words) > _NAMED else "")
