"""Rows and columns are read by position: an index or names that contradict it are refused."""

import pandas as pd
import pytest

from calibkit_audit import AuditSettings, audit, compare
from tests.helpers import coarse_binary, coarse_classes, refuses

LABELS, PROB = coarse_binary(60, 128, seed=3)
CLASSES, ROWS = coarse_classes(60, 3, 128, seed=4)
QUICK = AuditSettings(n_draws=99, n_resamples=50)
ANIMALS = ["cat", "dog", "owl"]
Y, P = pd.Series(LABELS), pd.Series(PROB)
MIXED = P.sample(frac=1, random_state=0)
FRAME = pd.DataFrame(ROWS)
TURNED = FRAME[FRAME.columns[::-1]]

test_what_contradicts_positions_is_refused = refuses(
    (lambda: compare(Y, {"a": P, "b": MIXED}), "have indexes that name"),
    (lambda: compare(LABELS, {"a": P, "b": MIXED}), "have indexes that name"),
    (lambda: audit(Y, MIXED), "have indexes that name"),
    (lambda: audit(Y, logits=MIXED), "have indexes that name"),
    (
        lambda: audit(LABELS, P, groups=pd.Series(LABELS, index=MIXED.index)),
        "have indexes that name",
    ),
    (lambda: audit(CLASSES, TURNED, settings=QUICK), "the classes in another order"),
    (lambda: audit(CLASSES, logits=TURNED), "the classes in another order"),
    (lambda: compare(CLASSES, {"a": FRAME, "b": TURNED}), "model 'b'.*in another order"),
)


@pytest.mark.parametrize("head", ["", "p_"])
def test_columns_named_like_class_names_are_compared_with_them(head: str) -> None:
    frame = pd.DataFrame(ROWS, columns=[head + name for name in ANIMALS])
    report = audit(CLASSES, frame, class_names=ANIMALS, settings=QUICK)
    assert report.class_names == tuple(ANIMALS)
    for names in (ANIMALS[::-1], ["dog", "owl", "cat"]):
        with pytest.raises(ValueError, match="the classes in another order"):
            audit(CLASSES, frame, class_names=names)
