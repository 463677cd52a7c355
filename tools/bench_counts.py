"""Counting a large log, against merely reading it.

``python -m tools.bench_counts --rows 100000000`` writes a Parquet file with float32 scores and int8
labels (zstd, 100 row groups), then measures each step in a process of its own: reading the two
columns with pyarrow, counting them, the same with two workers and on a cluster of two, and the
calibration error in memory. The file is deleted afterwards. Exit code 1 if a promise is broken.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import calibkit as ck
from calibkit.counts import count_file
from tools.timing import Case, best_ms

LARGEST_RATIO = 2.0
LARGEST_MEMORY = 1024.0  # MB
LARGEST_DIFFERENCE = 1e-12
GROUPS = 100


def write_log(path: Path, n: int, groups: int = GROUPS) -> None:
    """Write scores whose logits are normal, over-confident, with their labels."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("score", pa.float32()), ("label", pa.int8())])
    size = -(-n // groups)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in range(groups):
            rng = np.random.default_rng([20, group])
            rows = min(size, n - group * size)
            if rows <= 0:
                break
            logit = rng.normal(-1, 1.5, rows)
            score = (1 / (1 + np.exp(-logit))).astype(np.float32)
            label = (rng.random(rows) < 1 / (1 + np.exp(-0.7 * logit))).astype(np.int8)
            writer.write_table(pa.table({"score": score, "label": label}, schema=schema), rows)


def read(path: str, jobs: int) -> dict[str, float]:
    """Read the two columns, as pyarrow does it by itself."""
    import pyarrow as pa
    from pyarrow import parquet

    pa.set_cpu_count(jobs)
    parquet.read_table(path, columns=["score", "label"], use_threads=jobs > 1)
    return {}


def count(path: str, jobs: int) -> dict[str, float]:
    """Count the file."""
    table = count_file(path, label="label", prob="score", n_jobs=jobs)
    return {
        "n": table.n,
        "ece": float(table.expected_calibration_error()),
        "adaptive": float(table.adaptive_calibration_error()),
        "mcb": table.corp().miscalibration,
        "ecce": table.cumulative_differences().ecce_mad,
        "brier": float(table.brier_score()),
        "checksum": float(np.bitwise_xor.reduce(table.steps.ravel() * 31 + table.counts.ravel())),
    }


def cluster(path: str, jobs: int) -> dict[str, float]:
    """Count the file on a cluster of local processes."""
    import joblib
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as local,
        Client(local),
        joblib.parallel_config(backend="dask"),
    ):
        start = perf_counter()
        found = count(path, -1)
        return found | {"seconds": perf_counter() - start}


def memory(path: str, jobs: int) -> dict[str, float]:
    """Compute the errors of all rows in memory."""
    from pyarrow import parquet

    table = parquet.read_table(path, columns=["score", "label"])
    score, label = table["score"].to_numpy(), table["label"].to_numpy()
    return {
        "ece": float(ck.expected_calibration_error(label, score)),
        "adaptive": float(ck.adaptive_calibration_error(label, score)),
        "brier": float(ck.brier_score(label, score)),
    }


STEPS: dict[str, Callable[[str, int], dict[str, float]]] = {
    "read": read,
    "count": count,
    "cluster": cluster,
    "memory": memory,
}


def step(name: str, path: str, jobs: int) -> None:
    """Run one step in this process and print what it took, without the time of imports."""
    import pyarrow.parquet  # noqa: F401
    from joblib.externals.loky import get_reusable_executor

    start, cpu = perf_counter(), process_time()
    found = STEPS[name](path, jobs)
    own = {"seconds": perf_counter() - start, "CPU": process_time() - cpu} | found
    if name == "count" and jobs > 1:
        get_reusable_executor().shutdown(wait=True)  # only finished processes are counted
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    unit = 1024 if sys.platform != "darwin" else 2**20
    print(json.dumps(own | {"MB": peak / unit, "MB of a worker": child / unit}))


def measure(name: str, path: Path, jobs: int, repeats: int) -> dict[str, float]:
    """Run a step in processes of its own and return the fastest."""
    command = [sys.executable, "-m", "tools.bench_counts", "--step", name, "--path", str(path)]
    command += ["--jobs", str(jobs)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    runs: list[dict[str, float]] = []
    for _ in range(repeats):
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    best = min(runs, key=lambda run: run["seconds"])
    print(f"{name:<8} {jobs} jobs  {json.dumps(best)}", flush=True)
    return best


def cases(n: int = 4_000_000) -> list[Case]:
    """Time counting a small log in this process, against reading it."""
    try:
        from pyarrow import parquet
    except ImportError:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_log(path, n, groups=4)
        took = best_ms(lambda: count_file(path, label="label", prob="score"))
        columns = ["score", "label"]
        bare = best_ms(lambda: parquet.read_table(path, columns=columns, use_threads=False))
    return [Case(f"count table of {n:.0e} rows", took, "reading them", bare, LARGEST_RATIO)]


def large(n: int, folder: str | None, repeats: int) -> int:
    """Measure everything on one large file and compare it with the promises."""
    with tempfile.TemporaryDirectory(dir=folder) as inside:
        path = Path(inside) / "log.parquet"
        write_log(path, n)
        print(f"{n:,} rows, {path.stat().st_size / 1e6:.0f} MB, load {os.getloadavg()}")
        bare = {jobs: measure("read", path, jobs, repeats) for jobs in (1, 2)}
        counted = {jobs: measure("count", path, jobs, repeats) for jobs in (1, 2)}
        shared = measure("cluster", path, 2, 1)
        direct = measure("memory", path, 1, 1)
        print(f"load {os.getloadavg()}")
    ratio, cpu = (counted[1][key] / bare[1][key] for key in ("seconds", "CPU"))
    peak = max(run[key] for run in counted.values() for key in ("MB", "MB of a worker"))
    off = abs(counted[1]["ece"] - direct["ece"])
    same = all(run["checksum"] == counted[1]["checksum"] for run in (counted[2], shared))
    print(f"time of counting / reading, 1 job: {ratio:.2f} (promise {LARGEST_RATIO:g})")
    print(f"  CPU time: {cpu:.2f}")
    print(f"  2 jobs: {counted[2]['seconds'] / bare[2]['seconds']:.2f}")
    print(f"peak memory: {peak:.0f} MB (promise {LARGEST_MEMORY:g})")
    print(f"error differs by {off:.1e} (promise {LARGEST_DIFFERENCE:g})")
    print(f"adaptive error differs by {abs(counted[1]['adaptive'] - direct['adaptive']):.1e}")
    print(f"the same table with two workers and on the cluster: {same}")
    kept = ratio <= LARGEST_RATIO and peak <= LARGEST_MEMORY and off <= LARGEST_DIFFERENCE
    return int(not (kept and same))


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark, or one of its steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", help="where to write the file (4 MB per million rows)")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    options: Any = parser.parse_args(arguments)
    if options.step:
        step(options.step, options.path, options.jobs)
        return 0
    return large(options.rows, options.folder, options.repeats)


if __name__ == "__main__":
    sys.exit(main())
