"""The lessons on other processors: every printed number must be the one that is stored.

`python dev.py portable 04 11` executes lessons under several kernels of OpenBLAS, the linear
algebra of numpy and scipy, and compares what they print as nbval does. Without names it runs a
sample under two kernels; `--all` runs every lesson under every kernel that this machine can run,
with one thread and with two. Numpy's own code for newer processors than a kernel's is switched
off with it. `--plain` changes no processor: `tools.floors` compares so with other packages.
`--kernel Haswell` and `--threads 2`, both repeatable, choose; `--jobs` says how many at a time.
"""

import argparse
import itertools
import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from tools import notebook_files as files
from tools.lesson_pages import missing
from tools.notebook_compare import differences
from tools.notebooks import execute
from tools.virtual_environment import environment, kernel_environment

KERNELS = ("Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
PLAIN = "this processor"
BEFORE_AVX2 = ("Nehalem", "Sandybridge")
# Much linear algebra, little time.
SAMPLE = ("02", "11", "12")

# A machine that lacks a kernel's instructions stops here, with an illegal one.
PROBE = """
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
matrix = numpy.random.default_rng(0).normal(size=(200, 200))
scipy.linalg.svd(matrix @ matrix, full_matrices=False)
blas = [found for found in threadpool_info() if found["internal_api"] == "openblas"]
print(*{found["architecture"] for found in blas})
"""
NUMPY_CODE = """
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*(name for name in __cpu_dispatch__ if __cpu_features__[name]))
"""


def answer(code: str, **variables: str) -> str:
    """Return what a short program prints in an interpreter of its own, "" where it fails."""
    command = [sys.executable, "-c", code]
    env = environment() | variables
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False).stdout


def kernels() -> list[str]:
    """Return the kernels that this machine can run, each under the name OpenBLAS gives it.

    The one it chooses by itself comes last.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return []
    shown = [answer(PROBE, OPENBLAS_CORETYPE=name).strip() for name in (*KERNELS, "")]
    found = dict.fromkeys(name for name in shown if name in KERNELS and name != shown[-1])
    return [*found, *(name for name in shown[-1:] if name in KERNELS)]


@cache
def numpy_code() -> list[str]:
    """Return the instruction sets for which numpy brings code that this machine runs."""
    return answer(NUMPY_CODE).split()


def processor(kernel: str, threads: int) -> dict[str, str]:
    """Return the variables under which this machine computes like another one."""
    env = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    if kernel == PLAIN:
        return env
    env["OPENBLAS_CORETYPE"] = kernel
    lacking = ("",) if kernel in BEFORE_AVX2 else ("AVX512", "X86_V4")  # Haswell and Zen have less
    newer = [name for name in numpy_code() if name.startswith(lacking)]
    if kernel != KERNELS[-1]:
        env["NPY_DISABLE_CPU_FEATURES"] = " ".join(newer)
    if kernel in BEFORE_AVX2:  # the exponentials of the C library, where it is glibc
        env["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-FMA"
    return env


def compare(path: Path, kernel: str, threads: int) -> str:
    """Execute one lesson as another processor would; return what it printed differently."""
    try:
        env = kernel_environment(data=False) | processor(kernel, threads)
        executed = execute(files.read_source(path), path.parent, env)
        return "\n  ".join(differences(files.read_stored(path), executed))
    except files.NotebookProblem as problem:
        return str(problem)


def main(arguments: list[str]) -> int:
    """Compare lessons under several kernels; 1 where a printed number differs."""
    parser = argparse.ArgumentParser(prog="portable", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="beginnings of file names, e.g. 04")
    parser.add_argument("--all", action="store_true", help="all lessons, kernels, 1 and 2 threads")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--plain", action="store_true", help="as this processor computes")
    which.add_argument("--kernel", action="append", choices=KERNELS, help="repeatable")
    parser.add_argument("--threads", type=int, action="append", help="repeatable; usually 1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="lessons at a time")
    chosen = parser.parse_args(arguments)
    found = [PLAIN] if chosen.plain else kernels()
    if not found:
        print("skipped: numpy uses no OpenBLAS with kernels for other x86 processors here")
        return 0
    others = found[:-1] or found  # the sample: the two furthest from each other, and not its own
    usual = found if chosen.all or chosen.names else [others[0], others[-1]]
    asked = chosen.kernel or usual
    threads = chosen.threads or ([1, 2] if chosen.all else [1])
    names = chosen.names or (None if chosen.all else list(SAMPLE))
    lessons = [path for path in files.sources(names) if not missing(path)]
    runs = list(itertools.product(lessons, [name for name in found if name in asked], threads))
    failed = 0
    with ThreadPoolExecutor(chosen.jobs) as pool:
        answers = pool.map(lambda run: compare(*run), runs)
        for (path, kernel, number), problem in zip(runs, answers, strict=True):
            failed += bool(problem)
            verdict = f"DIFFERS\n  {problem}" if problem else "same text"
            print(
                f"{path.stem}, {kernel}, {number} thread{'s'[: number - 1]}: {verdict}", flush=True
            )
    print(f"{len(runs) - failed} of {len(runs)} runs print what is stored")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
