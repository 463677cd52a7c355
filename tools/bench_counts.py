"""Counting a large log, against merely reading it.

``python -m tools.bench_counts --rows 100000000`` writes a Parquet file with float32 scores and int8
labels (zstd, 100 row groups), then measures each step in a process of its own: reading the two
columns with pyarrow, counting them, both with one worker and with two, and the calibration error in
memory. The file is deleted afterwards. Exit code 1 if a promise is broken.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import calibkit as ck
from calibkit.counts import count_file
from tools.timing import Case, timed, yardstick

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
    checksum = float(np.bitwise_xor.reduce(table.steps.ravel() * 31 + table.counts.ravel()))
    return {"ece": float(table.expected_calibration_error()), "checksum": checksum}


def memory(path: str, _jobs: int) -> dict[str, float]:
    """Compute the error of all rows in memory."""
    from pyarrow import parquet

    table = parquet.read_table(path, columns=["score", "label"])
    score, label = table["score"].to_numpy(), table["label"].to_numpy()
    return {"ece": float(ck.expected_calibration_error(label, score))}


STEPS: dict[str, Callable[[str, int], dict[str, float]]] = {
    "read": read,
    "count": count,
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
    runs: list[dict[str, float]] = []
    for _ in range(repeats):
        done = subprocess.run([*command, "--jobs", str(jobs)], stdout=subprocess.PIPE, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    best = min(runs, key=lambda run: run["seconds"])
    print(f"{name:<8} {jobs} jobs  {json.dumps(best)}", flush=True)
    return best


def cases(n: int = 4_000_000) -> Iterator[Case]:
    """Time counting a small log in this process, against reading it."""
    try:
        from pyarrow import parquet
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_log(path, n, groups=4)
        columns = ["score", "label"]
        bare = partial(parquet.read_table, path, columns=columns, use_threads=False)
        counting = partial(count_file, path, label="label", prob="score")
        stick = yardstick("reading them", bare)
        yield timed(f"count table of {n:.0e} rows", counting, stick, LARGEST_RATIO)


def large(n: int, folder: str | None, repeats: int) -> int:
    """Measure everything on one large file and compare it with the promises."""
    with tempfile.TemporaryDirectory(dir=folder) as inside:
        path = Path(inside) / "log.parquet"
        write_log(path, n)
        print(f"{n:,} rows, {path.stat().st_size / 1e6:.0f} MB, load {os.getloadavg()}")
        bare, shared = (measure("read", path, jobs, repeats) for jobs in (1, 2))
        one, two = (measure("count", path, jobs, repeats) for jobs in (1, 2))
        direct = measure("memory", path, 1, 1)
    peak = max(run[key] for run in (one, two) for key in ("MB", "MB of a worker"))
    found = {
        "time of counting / reading": (one["seconds"] / bare["seconds"], LARGEST_RATIO),
        "peak memory in MB": (peak, LARGEST_MEMORY),
        "difference of the error": (abs(one["ece"] - direct["ece"]), LARGEST_DIFFERENCE),
        "difference between one and two jobs": (abs(one["checksum"] - two["checksum"]), 0),
    }
    for name, (value, promised) in found.items():
        print(f"{name}: {value:.3g} (promise {promised:g})")
    print(f"CPU time: {one['CPU'] / bare['CPU']:.2f}")
    print(f"time with two jobs: {two['seconds'] / shared['seconds']:.2f}")
    return int(any(value > promised for value, promised in found.values()))


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
