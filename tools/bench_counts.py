"""Counting a large log, against merely reading it.

A Parquet file with float32 scores and int8 labels (zstd) is written for the purpose: small, or with
the rows of ``python dev.py bench --rows 100000000``. Reading is what pyarrow does by itself.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from calibkit.counts import count_file
from tools.timing import Case, Yardstick, timed, yardstick

COLUMNS = ["score", "label"]
ROWS_OF_A_GROUP = 1_000_000
GIGABYTE = Yardstick("1024 MB", 1024.0)
COUNT = "import sys; from calibkit.counts import count_file; count_file(sys.argv[1], **{})"
READ = {"label": "label", "prob": "score"}


def write_log(path: Path, n: int) -> None:
    """Write scores whose logits are normal, over-confident, with their labels."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("score", pa.float32()), ("label", pa.int8())])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for group, first in enumerate(range(0, n, ROWS_OF_A_GROUP)):
            rng = np.random.default_rng([20, group])
            rows = min(ROWS_OF_A_GROUP, n - first)
            logit = rng.normal(-1, 1.5, rows)
            score = (1 / (1 + np.exp(-logit))).astype(np.float32)
            label = (rng.random(rows) < 1 / (1 + np.exp(-0.7 * logit))).astype(np.int8)
            writer.write_table(pa.table({"score": score, "label": label}, schema=schema), rows)


def cases(n: int) -> Iterator[Case]:
    """Time counting, and measure the memory of a process that counts and does nothing else."""
    try:
        from pyarrow import parquet
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_log(path, n)
        read = partial(parquet.read_table, path, columns=COLUMNS, use_threads=False)
        count = partial(count_file, path, **READ)
        yield timed(f"count table of {n:.0e} rows", count, yardstick("reading them", read), 2)
        subprocess.run([sys.executable, "-c", COUNT.format(READ), path], check=True)
    if sys.platform == "win32":
        return
    import resource

    unit = 2**20 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
    yield Case("memory of a process that counts", peak, GIGABYTE, 1.0)
