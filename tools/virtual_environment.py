"""The virtual environment of the tasks in `dev.py`: make it, fill it, know when it is current.

Standard library only: this runs before anything is installed.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "calibkit-installed.json"
SETTINGS = VENV / "calibkit-settings"
# The extras that torch comes with.
WITH_TORCH = ("nets", "maps")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

Command = list[Path | str]


class Failure(Exception):
    """A task that could not be done; the message is for the user."""


def venv_python(venv: Path = VENV, platform: str = os.name) -> Path:
    """Return the interpreter of a virtual environment, on any platform."""
    return venv / ("Scripts/python.exe" if platform == "nt" else "bin/python")


def environment() -> dict[str, str]:
    """Return the variables every task runs with: one thread, a fixed hash seed, UTF-8."""
    env = dict.fromkeys(ONE_THREAD, "1") | {"PYTHONHASHSEED": "0"} | os.environ
    if "CALIBKIT_DATA" in env:  # lessons run in another folder than the person who set it
        env["CALIBKIT_DATA"] = str(Path(env["CALIBKIT_DATA"]).expanduser().resolve())
    env["MPLCONFIGDIR"] = str(SETTINGS / "matplotlib")  # nobody's matplotlibrc
    for name in ("PYTHONUTF8", "PYDEVD_DISABLE_FILE_VALIDATION", "PIP_DISABLE_PIP_VERSION_CHECK"):
        env[name] = "1"
    # No other copy of the package; only the lab keeps progress; uv leaves compiling to an import.
    unwanted = {"PYTHONPATH", "CALIBKIT_WORKBOOK", "PYTHONDONTWRITEBYTECODE"}
    return {name: value for name, value in env.items() if name not in unwanted}


def kernel_environment(*, data: bool) -> dict[str, str]:
    """Return the variables that lessons are executed with, with or without the optional data.

    Nobody's start-up files, caches or data of earlier downloads reach a lesson.
    """
    unwanted = {"CALIBKIT_BOOK", "MPLBACKEND"} | ({"CALIBKIT_DATA"} if not data else set())
    env = {name: value for name, value in environment().items() if name not in unwanted}
    env["PYTHONPATH"] = str(ROOT)  # the package beside the lessons, whichever copy is installed
    env["IPYTHONDIR"] = str(quiet_ipython(SETTINGS / "ipython"))
    env["XDG_CACHE_HOME"] = str(SETTINGS / "cache")
    return env


def book_environment() -> dict[str, str]:
    """Return the variables with which a lesson shows what the book shows, with optional data."""
    return kernel_environment(data=True) | {"CALIBKIT_BOOK": "1"}


def quiet_ipython(folder: Path) -> Path:
    """Return a settings folder for kernels without start-up files, history or log lines.

    In the book they draw twins of wide figures, too.
    """
    profile = folder / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    settings = "c.IPKernelApp.log_level = 40\nc.HistoryManager.enabled = False\nimport os\n"
    extension = 'c.InteractiveShellApp.extensions = ["book._ext.narrow_twins"]\n'
    settings += f'if os.environ.get("CALIBKIT_BOOK") == "1": {extension}'
    (profile / "ipython_kernel_config.py").write_text(settings, encoding="utf-8")
    return folder


def call(*command: object, cwd: Path = ROOT, env: dict[str, str] | None = None) -> int:
    """Run a command in the foreground and return its exit code."""
    sys.stdout.flush()
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, env=env or environment(), check=False).returncode


def quietly(
    *command: object, cwd: Path = ROOT, env: dict[str, str] | None = None, expected: int = 0
) -> str:
    """Run a command and return what it said; Failure, with its last lines, where it went wrong."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env or uv_environment(), capture_output=True)
    said = (done.stdout + done.stderr).decode(errors="replace").strip()
    if done.returncode != expected:
        end = "\n".join(line[:300] for line in said.splitlines()[-15:])
        raise Failure(f"{Path(words[0]).name} {words[1]} ended with {done.returncode}:\n{end}")
    return said


def fresh(folder: Path, *packages: object) -> Path:
    """Make an environment with some packages in it and nothing else; return its interpreter."""
    python, quick = venv_python(folder), uv()
    quietly(sys.executable, "-m", "venv", "--clear", folder)
    pip = [quick, "pip"] if quick else [python, "-m", "pip"]
    here = ["--python", python] if quick else []
    quietly(*pip, "install", "-q", *here, *packages)
    return python


def side_by_side(how: str) -> list[str]:
    """Return the options with which pytest uses the processors, up to four of them."""
    workers = min(os.cpu_count() or 1, 4)
    return ["-n", str(workers), "--dist", how] if workers > 1 else []


def fingerprint() -> str:
    """Return a hash of what the installation depends on."""
    digest = hashlib.sha256(repr(sys.version_info[:3]).encode())
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def installed() -> dict[str, list[str]]:
    """Return which extras the environment has, empty where it is missing or outdated."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if stamp.get("fingerprint") != fingerprint() or not venv_python().exists():
        return {}
    return {"extras": stamp["extras"], "refused": stamp["refused"]}


def make_venv() -> None:
    """Create `.venv`, or make it anew where it belongs to another Python."""
    current, config = f"{sys.version_info[0]}.{sys.version_info[1]}", VENV / "pyvenv.cfg"
    made_with = config.read_text(encoding="utf-8") if config.exists() else ""
    if venv_python().exists() and re.search(rf"^version\w* = {current}\.", made_with, re.MULTILINE):
        return
    print(f"Making the virtual environment {VENV.name} (Python {current}) ...")
    if call(sys.executable, "-m", "venv", "--clear", VENV) != 0:
        raise Failure(
            "Python could not make a virtual environment.\n"
            "On Debian and Ubuntu install the package python3-venv, then run the command again."
        )


def uv() -> Path | None:
    """Return the quick installer in this environment, or None where it cannot be had.

    It reads no settings of pip; `uv_environment` hands on where packages lie.
    """
    program = venv_python().with_name("uv.exe" if os.name == "nt" else "uv")
    if not program.exists() and venv_python().exists():
        pip: Command = [venv_python(), "-m", "pip", "install", "-qq"]
        run([*pip, "-c", "constraints.txt", "uv"], shown=False)
    return program if program.exists() else None


def uv_environment() -> dict[str, str]:
    """Return the variables for uv, with what it would not read from those of pip."""
    env = environment()
    for ours, theirs in (("UV_DEFAULT_INDEX", "INDEX_URL"), ("UV_FIND_LINKS", "FIND_LINKS")):
        if f"PIP_{theirs}" in env:
            env.setdefault(ours, ",".join(env[f"PIP_{theirs}"].split()))
    return env


def run(command: Command, *, shown: bool) -> bool:
    """Run uv or pip, with or without showing what it says; tell whether it worked."""
    sys.stdout.flush()
    words = [str(word) for word in command]
    env = uv_environment()
    return not subprocess.run(words, cwd=ROOT, env=env, capture_output=not shown).returncode


def install(extras: Iterable[str], *, quiet: bool = False) -> bool:
    """Install the package with some extras under the constraints; say whether it worked.

    uv does it in seconds. Where it is not to be had, or fails, pip does it, with its own settings.
    torch is asked for as the build without graphics cards; the others have several gigabytes.
    """
    target: Command = ["-c", "constraints.txt", f"-e.[{','.join(extras)}]"]
    # A person watching wants progress; a log wants errors only.
    watched = sys.stdout.isatty() and not quiet
    if program := uv():
        torch = ["--torch-backend", "cpu"] if set(extras) & set(WITH_TORCH) else []
        asked: Command = [program, "pip", "install", "--python", venv_python(), *torch, *target]
        if run(asked, shown=watched):
            return True
    loudness = [] if watched else ["-qq"]
    return run([venv_python(), "-m", "pip", "install", *loudness, *target], shown=not quiet)


def prepare(extras: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """Bring `.venv` up to date; returns at once where nothing has changed."""
    have = installed()
    wanted = {*extras, *have.get("extras", [])}
    refused = set(have.get("refused", []))
    new_optional = set(optional) - wanted - refused
    if have and wanted == set(have["extras"]) and not new_optional:
        return
    make_venv()
    STAMP.unlink(missing_ok=True)
    started = time.monotonic()
    quick, slow = wanted - set(WITH_TORCH), wanted & set(WITH_TORCH)
    for group in [sorted(quick), *([extra] for extra in sorted(slow))]:
        what = f"calibkit[{','.join(group)}]"
        patience = "torch is large" if slow.issuperset(group) else "about a minute"
        print(f"Installing {what} (once; {patience}) ...")
        if not install(group):
            raise Failure(f"{what} could not be installed; the message stands above.")
    for extra in sorted(new_optional):
        print(f"Installing calibkit[{extra}] (optional) ...")
        if install([extra], quiet=True):
            wanted.add(extra)
        else:
            refused.add(extra)
            print(f"  not installable here; tests that need [{extra}] are skipped")
    # The first import lists the fonts, slowly and with a message that must not enter a lesson.
    call(venv_python(), "-c", "import matplotlib.font_manager")
    refused -= wanted
    stamp = {"fingerprint": fingerprint(), "extras": sorted(wanted), "refused": sorted(refused)}
    STAMP.write_text(json.dumps(stamp), encoding="utf-8")
    print(f"Installed in {time.monotonic() - started:.0f} s.")
