"""Do rows say something new? What the promise assumes, and whether neighbouring rows agree."""

from calibkit.auditing.rows import Rows
from calibkit.auditing.settings import AuditSettings
from calibkit.significance.clusters import FEW


def promise_of(clusters: int | None, settings: AuditSettings) -> str:
    """Return what the level of the test means, and what it takes to be true."""
    said, count = settings.promise.removesuffix("."), clusters
    if count is None:
        return f"{said}, if rows are independent."
    few = " They are few: only large errors can be seen." if count < FEW else ""
    return f"{said}, if the {count:,} clusters are independent.{few}"


def by_cluster(rows: Rows) -> tuple[str, ...]:
    """Return what is to be noted of clusters."""
    if rows.clusters is None:
        return ()
    size = rows.clusters.size
    return (
        f"Clusters: {rows.clusters.count:,}, with {size.min():,} to {size.max():,} rows. Labels "
        "are redrawn so that the rows of a cluster agree as much as they do in the data; folds "
        "hold whole clusters; intervals of gains and costs are Student's, from what the mean "
        "would be without each cluster.",
    )
