"""Rows that belong together, in an audit: what is promised, noted, and summed up in a stream."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibkit.chance.clusters import FEW, robust_sd, score_test
from calibkit.hypothesis_tests.cox import InterceptRule, SlopeRule
from calibkit.inputs import BinaryProblem, FloatMatrix, FloatVector, IntVector, logit
from calibkit_audit.auditing.redraws import ViewTest
from calibkit_audit.auditing.rows import Rows
from calibkit_audit.auditing.settings import AuditSettings
from calibkit_audit.counts import CountTable


def promise_of(clusters: int | None, settings: AuditSettings) -> str:
    """Return what the level of the test means, and what it takes to be true."""
    said, count = settings.promise.removesuffix("."), clusters
    if count is None:
        return f"{said}, if rows are independent."
    few = " They are few: only large errors can be seen." if count < FEW else ""
    return f"{said}, if the {count:,} clusters are independent.{few}"


def by_cluster(rows: Rows) -> tuple[str, ...]:
    """Return what is to be noted of clusters, and of weights."""
    notes = []
    if rows.weight is not None:
        worth = f"{rows.n:,} rows are worth {rows.weight.sum():,.0f} of equal weight (Kish)"
        notes += [f"Weights: what a row stands for; {worth}. In redraws they follow the label."]
    if rows.clusters is None:
        return tuple(notes)
    size = rows.clusters.size
    return (
        *notes,
        f"Clusters: {rows.clusters.count:,}, with {size.min():,} to {size.max():,} rows. Labels "
        "are redrawn so that the rows of a cluster agree as much as they do in the data; folds "
        "hold whole clusters; intervals of gains and costs are Student's, from what the mean "
        "would be without each cluster.",
    )


def scores_of(problems: Sequence[BinaryProblem]) -> FloatVector:
    """Return the residual of each row, plain and times the logit, in every view."""
    residuals = [one.label - one.prob.astype(np.float64) for one in problems]
    pairs = zip(residuals, problems, strict=True)
    return np.column_stack([part for r, one in pairs for part in (r, r * logit(one.prob))])


def by_sums(
    test: ViewTest, table: CountTable, sums: FloatMatrix, size: IntVector, looks: int
) -> ViewTest:
    """Return the test of a view with the sums of clusters in place of independent rows."""
    prob, _, rows = (part.astype(np.float64) for part in table.groups())
    level, slope = InterceptRule(prob, rows), SlopeRule(prob, rows)
    middle = float((logit(prob) - slope.lever)[0])
    # Equal predictions have no slope; what is left of it is rounding.
    scores = np.column_stack([sums[:, 0], sums[:, 1] - middle * sums[:, 0]]) * [1, slope.sd > 0]
    promised = np.array([level.sd, slope.sd])
    z_level, z_slope = scores.sum(axis=0) / np.maximum(robust_sd(promised, scores), 1e-300)
    chance = scores[:, 0] - size * (scores[:, 0].sum() / size.sum())
    return replace(
        test,
        z_level=float(z_level),
        z_slope=float(z_slope),
        p_value=min(1.0, looks * score_test(scores, promised)[2]),
        design=max(1.0, float((chance**2).sum()) / max(level.sd**2, 1e-300)),
    )
