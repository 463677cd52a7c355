"""What the reports say, sentence by sentence: one stored text each, with fractions left out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from calibkit_audit.auditing import AuditSettings, audit, compare
from calibkit_audit.auditing.large import audit_stream
from tests.audit_cases import assert_snapshot, in_blocks, make, predictions

QUICK = AuditSettings(n_draws=199, n_resamples=60)


def report(kind: str, n: int = 500, k: int = 2, **options: Any) -> Any:
    """Audit the first rows of a case."""
    case = make(kind, k, 500, 3)
    return audit(case.y_true[:n], case.y_prob[:n], settings=QUICK, **options)


def with_zeros() -> Any:
    """Audit rows of which five called impossible what happened."""
    case = make("calibrated", 2, 500, 3)
    zeros = np.where(np.cumsum(case.y_true) <= 5, 0.0, case.y_prob)
    return audit(case.y_true, zeros, settings=QUICK)


def two_models() -> Any:
    """Compare a bold model with a fair one."""
    bold, fair = (make(kind, 2, 500, 3) for kind in ("over-confident", "calibrated"))
    models = {"bold": bold.y_prob, "fair": fair.y_prob}
    return compare(fair.y_true, models, costs=(1, 9), groups=np.arange(500) % 2)


def stream() -> Any:
    """Audit rows in blocks by a sample."""
    case = make("over-confident", 3, 900, 3)
    rows = predictions(case.y_true, case.y_prob, class_names=("cat", "dog", "owl"))
    return audit_stream(in_blocks(rows, 400), settings=QUICK, sample=300)


HALVES = np.arange(500) % 2
REPORTS: dict[str, Callable[[], Any]] = {
    "over_confident": lambda: report("over-confident", costs=(1, 5), groups=HALVES),
    "calibrated": lambda: report("calibrated"),
    "classes": lambda: report("under-confident", k=3, class_names=["cat", "dog", "owl"]),
    "shuffled": lambda: report("shuffled"),
    "few_rows": lambda: report("calibrated", n=30),
    "one_row": lambda: report("calibrated", n=1),
    "clusters": lambda: report("over-confident", cluster=np.arange(500) // 5),
    "weights": lambda: report("over-confident", sample_weight=1.0 + np.arange(500) % 3),
    "over_time": lambda: report("over-confident", time=np.arange(500)),
    "impossible_rows": with_zeros,
    "two_models": two_models,
    "stream": stream,
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_says_what_it_said(name: str) -> None:
    found = REPORTS[name]()
    methods = found.to_markdown().partition("## Methods")[2].partition("\n- date:")[0]
    assert_snapshot(name, f"{found.text()}\n\n{methods}")
