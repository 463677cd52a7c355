"""The fence around one student's workbook: what its process may see, write and use.

The limits guard against accidents and pranks: where the platform can (`unshare` of Linux), the run
has no network, sees no other process, may write into its own folder only, sees none of the other
workbooks, and leaves no process behind. It is no prison for code that was written to break out.
"""

import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from tools.virtual_environment import ROOT, VENV, environment as all_variables, kernel_environment

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

OUTSIDE = ["unshare", "--user", "--map-root-user", "--net", "--pid", "--mount", "--fork"]
OUTSIDE += ["--kill-child", "--mount-proc"]
LARGEST_FILE = 256 * 2**20
LARGEST_FOLDER = 1024 * 2**20
MOST_PROCESSES = 64
KEPT: tuple[str, ...] = ("PATH", "LANG", "LC_", "SYSTEMROOT", "HOME", "TMP", "TEMP", "VIRTUAL_ENV")
KEPT += ("PYTHON", "JUPYTER", "IPYTHON", "PYDEVD", "MPL", "XDG_CACHE", "CALIBKIT_DATA")
KEPT += ("OMP_", "OPENBLAS_", "MKL_", "NUMEXPR_")
Said = dict[str, Any]


# --- around the process --------------------------------------------------------------------------


@cache
def fence() -> tuple[str, ...]:
    """Return the command that starts a process without a network, if there is one here."""
    if not shutil.which(OUTSIDE[0]):
        return ()
    tried = subprocess.run([*OUTSIDE, "true"], capture_output=True, check=False)
    return tuple(OUTSIDE) if tried.returncode == 0 else ()


def environment(job: Path) -> dict[str, str]:
    """Return the variables of a run: those of lessons, with every folder inside its own."""
    env = kernel_environment() | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    env |= {name: path for name, path in all_variables().items() if name == "CALIBKIT_DATA"}
    for name, place in {"HOME": "here", "TMPDIR": "tmp", "JUPYTER_RUNTIME_DIR": "run"}.items():
        (job / place).mkdir()
        env[name] = str(job / place)
    # What the run needs, and no password that the teacher's shell knows.
    return {name: value for name, value in env.items() if name.upper().startswith(KEPT)}


def hidden(folder: Path, job: Path) -> str:
    """Return the folder that a run must not see, or nothing where it holds what the run needs."""
    needed = [ROOT, VENV, job, Path(sys.prefix), Path(sys.base_prefix), Path(os.devnull)]
    needed += [Path(os.environ[name]) for name in ("CALIBKIT_DATA",) if name in os.environ]
    folder = folder.resolve()
    inside = any(folder == path.resolve() or folder in path.resolve().parents for path in needed)
    return "" if inside else str(folder)


# --- in the process ------------------------------------------------------------------------------


def limit(memory: float) -> list[str]:
    """Set the limits of this process and of those that it starts; return what holds."""
    if resource is None:
        return []
    wanted = {"RLIMIT_FSIZE": LARGEST_FILE, "RLIMIT_CORE": 0, "RLIMIT_AS": int(memory * 2**30)}
    held = []
    for name, value in wanted.items():
        with contextlib.suppress(AttributeError, OSError, ValueError):
            number = getattr(resource, name)
            hard = resource.getrlimit(number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))
            held.append({"RLIMIT_FSIZE": "file size", "RLIMIT_AS": "memory"}.get(name, ""))
    return [name for name in held if name]


def lock_files(job: str, hidden: str) -> bool:
    """Make all folders but one read-only, and hide the other students', in a mount namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    bind, recursive, here, read_only = 4096, 0x8000, -100, 1

    def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> bool:
        words = [word.encode() for word in (source, target, kind)]
        return bool(libc.mount(*words, ctypes.c_ulong(flags), data.encode()) == 0)

    def attributes(target: str, flags: int, add: int, drop: int) -> bool:
        values = (ctypes.c_uint64 * 4)(add, drop, 0, 0)
        call = (442, here, target.encode(), flags, ctypes.byref(values), ctypes.c_size_t(32))
        return bool(libc.syscall(*call) == 0)

    done = mount(job, job, "", bind) and attributes("/", recursive, read_only, 0)
    done = done and attributes(job, 0, 0, read_only)
    if done and hidden:
        done = mount("none", hidden, "tmpfs", read_only)
    if done:
        mount("none", "/dev/shm", "tmpfs", 0, "size=256m")
    for capability in range(64):  # whoever is root in here can undo none of this
        libc.prctl(24, capability, 0, 0, 0)
    return done


def watch(job: Path, memory: float, stop: "Stop") -> None:
    """End the run when it has too many processes, or too much on disk or in memory together."""
    page = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    while True:
        time.sleep(0.25)
        ids = [entry for entry in os.listdir("/proc") if entry.isdigit()] if stop.alone else []
        if len(ids) > MOST_PROCESSES:
            stop(f"The workbook started more than {MOST_PROCESSES} processes.")
        resident = 0
        for entry in ids:
            with contextlib.suppress(OSError, IndexError):
                resident += int(Path("/proc", entry, "statm").read_text("ascii").split()[1]) * page
        if resident > 1.5 * memory * 2**30:
            stop("The processes of the workbook took too much memory together.")
        sizes = (os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(job)
                 for name in names if os.path.lexists(os.path.join(at, name)))  # fmt: skip
        with contextlib.suppress(OSError):
            if sum(sizes) > LARGEST_FOLDER:
                stop("The workbook wrote too much to the disk.")


class Stop:
    """The way out: one line of JSON for `tools.grade`, then the end of the process."""

    def __init__(self, alone: bool) -> None:
        self.alone = alone
        self.channel = os.dup(1)  # no child inherits it
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)

    def __call__(self, problem: str = "", found: Said | None = None) -> None:
        """Report and end; as the first process of a namespace it takes all others along."""
        said = found or {"lesson": "", "problem": problem, "rows": [], "raised": []}
        with os.fdopen(self.channel, "w", encoding="utf-8") as file:
            file.write(json.dumps(said))
        os._exit(0)
