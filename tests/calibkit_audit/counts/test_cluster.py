"""The same call on a cluster: two workers of `dask.distributed` on this machine."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from calibkit_audit.counts import CountTable, PredictionFileError, count_files, files
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


def write(path: Path, n: int, row_group_size: int) -> tuple[Path, CountTable]:
    label, prob = skewed_log(n, dtype=np.float32)
    parquet.write_table(pa.table({"y": label, "p": prob}), path, row_group_size=row_group_size)
    return path, CountTable().update(label, prob)


@pytest.mark.long
def test_the_same_table_from_two_workers(tmp_path: Path, client: Any) -> None:
    path, whole = write(tmp_path / "log.parquet", 200_000, 4000)
    with joblib.parallel_config(backend="dask"):
        table = count_files([path], label="y", prob="p", n_jobs=-1)
    assert same_counts(table, whole)


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


def slow_piece(*piece: Any) -> Any:
    """Count a piece, slowly enough for a worker to be killed meanwhile."""
    time.sleep(0.15)
    return files._count(*piece)


@pytest.mark.long
def test_a_killed_worker_does_not_change_the_table(tmp_path, client: Any, monkeypatch) -> None:
    path, whole = write(tmp_path / "log.parquet", 64_000, 1000)
    workers = client.run(os.getpid)
    victim = next(iter(workers.values()))
    killed: list[int] = []

    def kill() -> None:
        os.kill(victim, signal.SIGKILL)
        killed.append(victim)

    monkeypatch.setattr(files, "_count", slow_piece)  # here only, not in the workers
    timer = threading.Timer(1.0, kill)
    timer.start()
    with joblib.parallel_config(backend="dask"):
        table = count_files([path], label="y", prob="p", n_jobs=-1)
    timer.cancel()
    assert killed == [victim], "the run was over before the worker was killed"
    assert same_counts(table, whole)
