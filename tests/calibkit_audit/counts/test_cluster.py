"""The same call on a cluster: two workers of `dask.distributed` on this machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from calibkit_audit.counts import CountTable, PredictionFileError, count_files
from tests.audit_cases import same_counts, skewed_log

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.slow,
    # What dask, tornado and asyncio say while workers start, die and close.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Start two worker processes, without a dashboard."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.long
def test_the_same_table_from_two_workers(tmp_path: Path, client: Any) -> None:
    label, prob = skewed_log(200_000, dtype=np.float32)
    path = tmp_path / "log.parquet"
    parquet.write_table(pa.table({"y": label, "p": prob}), path, row_group_size=4000)
    with joblib.parallel_config(backend="dask"):
        table = count_files([path], label="y", prob="p", n_jobs=-1)
    assert same_counts(table, CountTable().update(label, prob))
    alone = count_files([path], label="y", prob="p")
    assert np.array_equal(table.sums, alone.sums)  # to the last bit, for any number of workers


def test_an_error_comes_back_from_the_cluster(tmp_path: Path, client: Any) -> None:
    label, prob = skewed_log(2000)
    prob[1234] = np.nan
    path = tmp_path / "log.parquet"
    parquet.write_table(pa.table({"y": label, "p": prob}), path, row_group_size=100)
    with (
        joblib.parallel_config(backend="dask"),
        pytest.raises(PredictionFileError, match="row group 12.*row 1,235"),
    ):
        count_files([path], label="y", prob="p", n_jobs=-1)
