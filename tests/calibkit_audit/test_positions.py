"""Rows and columns are read by position: an index or names that contradict it are refused."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from calibkit_audit import AuditSettings, audit, compare
from tests.helpers import coarse_binary, coarse_classes

LABELS, PROB = coarse_binary(60, 128, seed=3)
CLASSES, ROWS = coarse_classes(60, 3, 128, seed=4)
QUICK = AuditSettings(n_draws=99, n_resamples=50)
ANIMALS = ["cat", "dog", "owl"]
Y, P = pd.Series(LABELS), pd.Series(PROB)
MIXED = P.sample(frac=1, random_state=0)
FRAME = pd.DataFrame(ROWS)
TURNED = FRAME[FRAME.columns[::-1]]

REFUSED: dict[str, tuple[str, Callable[[], Any]]] = {
    "compare": ("have indexes that name", lambda: compare(Y, {"a": P, "b": MIXED})),
    "models": ("have indexes that name", lambda: compare(LABELS, {"a": P, "b": MIXED})),
    "audit": ("have indexes that name", lambda: audit(Y, MIXED)),
    "logits": ("have indexes that name", lambda: audit(Y, logits=MIXED)),
    "groups": (
        "have indexes that name",
        lambda: audit(LABELS, P, groups=pd.Series(LABELS, index=MIXED.index)),
    ),
    "columns": ("the classes in another order", lambda: audit(CLASSES, TURNED, settings=QUICK)),
    "logit columns": ("the classes in another order", lambda: audit(CLASSES, logits=TURNED)),
    "columns of a model": (
        "model 'b'.*in another order",
        lambda: compare(CLASSES, {"a": FRAME, "b": TURNED}),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_contradicts_positions_is_refused(case: str) -> None:
    words, call = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("head", ["", "p_"])
def test_columns_named_like_class_names_are_compared_with_them(head: str) -> None:
    frame = pd.DataFrame(ROWS, columns=[head + name for name in ANIMALS])
    report = audit(CLASSES, frame, class_names=ANIMALS, settings=QUICK)
    assert report.class_names == tuple(ANIMALS)
    for names in (ANIMALS[::-1], ["dog", "owl", "cat"]):
        with pytest.raises(ValueError, match="the classes in another order"):
            audit(CLASSES, frame, class_names=names)
