"""The lessons on other processors: every printed number must be the one that is stored.

`python dev.py portable 04 11` executes lessons under several kernels of OpenBLAS, the linear
algebra of numpy and scipy, and compares what they print as nbval does. Without names it runs a
sample under two kernels; `--all` runs every lesson under every kernel that this machine can run,
with one thread and with two. Numpy's own code for newer processors than a kernel's is switched
off with it.
"""

import argparse
import itertools
import platform
import subprocess
import sys
from functools import cache

from tools.lesson_pages import NBVAL
from tools.notebook_files import sources
from tools.virtual_environment import call, environment, kernel_environment

KERNELS = ("Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
BEFORE_AVX2 = ("Nehalem", "Sandybridge")
# Much linear algebra, little time.
SAMPLE = ["02", "11", "12"]

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
    env["OPENBLAS_CORETYPE"] = kernel
    lacking = ("",) if kernel in BEFORE_AVX2 else ("AVX512", "X86_V4")  # Haswell and Zen have less
    newer = [name for name in numpy_code() if name.startswith(lacking)]
    if kernel != KERNELS[-1]:
        env["NPY_DISABLE_CPU_FEATURES"] = " ".join(newer)
    if kernel in BEFORE_AVX2:  # the exponentials of the C library, where it is glibc
        env["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-FMA"
    return env


def main(arguments: list[str]) -> int:
    """Compare lessons under several kernels; 1 where a printed number differs."""
    parser = argparse.ArgumentParser(prog="dev.py portable", description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of file names, e.g. 04")
    parser.add_argument("--all", action="store_true", help="all lessons, kernels, 1 and 2 threads")
    chosen = parser.parse_args(arguments)
    found = kernels()
    if not found:
        print("skipped: numpy uses no OpenBLAS with kernels for other x86 processors here")
        return 0
    others = found[:-1] or found  # the sample: the two furthest from each other, and not its own
    asked = found if chosen.all or chosen.names else dict.fromkeys([others[0], others[-1]])
    pages = sources(chosen.names or ([] if chosen.all else SAMPLE))
    paths = [page.with_suffix(".ipynb") for page in pages]
    failed = 0
    for kernel, threads in itertools.product(asked, [1, 2] if chosen.all else [1]):
        print(f"As {kernel}, threads: {threads}")
        env = kernel_environment() | processor(kernel, threads)
        failed += call(sys.executable, "-m", "pytest", "-q", *NBVAL, *paths, env=env)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
