"""The virtual environment of the tasks in `dev.py`: make it, fill it, know when it is current.

It counts only when it works: a set-up that was broken off leaves no stamp of its end, and the next
one begins anew. Standard library only: this runs before anything is installed.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PACKAGES = ("calibkit", "calibkit_audit", "calibkit_course")
STAMP = VENV / "calibkit-installed.json"
SETTINGS = VENV / "calibkit-settings"
EXTRAS = ("lab", "nets", "audit", "parquet")  # the others are groups
WITH_TORCH = {"nets", "maps"}
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class Failure(SystemExit):
    """A task that could not be done: it ends the program with a message for the user."""


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
    for ours, theirs in (("UV_DEFAULT_INDEX", "INDEX_URL"), ("UV_FIND_LINKS", "FIND_LINKS")):
        if f"PIP_{theirs}" in env:  # uv reads no settings of pip
            env.setdefault(ours, ",".join(env[f"PIP_{theirs}"].split()))
    # No other copy of the package; only the lab keeps progress; uv leaves compiling to an import;
    # with a backend of a terminal, lessons show no figure.
    unwanted = {"PYTHONPATH", "MPLBACKEND", "CALIBKIT_WORKBOOK", "PYTHONDONTWRITEBYTECODE"}
    return {name: value for name, value in env.items() if name not in unwanted}


def kernel_environment() -> dict[str, str]:
    """Return the variables that lessons are executed with.

    Nobody's start-up files, caches, optional data or data of earlier downloads reach a lesson.
    """
    unwanted = {"CALIBKIT_BOOK", "CALIBKIT_DATA"}
    env = {name: value for name, value in environment().items() if name not in unwanted}
    env["PYTHONPATH"] = str(ROOT)  # the package beside the lessons, whichever copy is installed
    env["IPYTHONDIR"] = str(quiet_ipython(SETTINGS / "ipython"))
    env["XDG_CACHE_HOME"] = str(SETTINGS / "cache")
    return env


def book_environment() -> dict[str, str]:
    """Return the variables with which a lesson shows what the book shows."""
    return kernel_environment() | {"CALIBKIT_BOOK": "1"}


def quiet_ipython(folder: Path) -> Path:
    """Return a settings folder for kernels without start-up files, history or log lines.

    In the book they draw twins of wide figures, too.
    """
    profile = folder / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    settings = "c.IPKernelApp.log_level = 40\nc.HistoryManager.enabled = False\nimport os\n"
    extension = 'c.InteractiveShellApp.extensions = ["book._ext.narrow_twins"]\n'
    settings += f'if os.environ.get("CALIBKIT_BOOK") == "1": {extension}'
    path = profile / "ipython_kernel_config.py"
    if not path.exists() or path.read_text("utf-8") != settings:  # another kernel may read it now
        path.write_text(settings, encoding="utf-8")
    return folder


def call(*command: object, cwd: Path = ROOT, env: dict[str, str] | None = None) -> int:
    """Run a command in the foreground and return its exit code."""
    sys.stdout.flush()
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, env=env or environment(), check=False).returncode


def quietly(
    *command: object, cwd: Path = ROOT, env: dict[str, str] | None = None, expected: int = 0
) -> None:
    """Run a command without a word; Failure, with its last lines, where it goes wrong."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env or environment(), capture_output=True)
    if done.returncode != expected:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()
        end = "\n".join(line[:300] for line in said.splitlines()[-15:])
        raise Failure(f"{Path(words[0]).name} {words[1]} ended with {done.returncode}:\n{end}")


def fresh(folder: Path, *packages: object) -> Path:
    """Make an environment with some packages in it and nothing else; return its interpreter."""
    quietly(sys.executable, "-m", "venv", "--clear", folder)
    install(*packages, python=venv_python(folder))
    return venv_python(folder)


def package_files() -> list[Path]:
    """Return the files of our packages that decide what a lesson shows."""
    found = [path for name in PACKAGES for path in (ROOT / name).rglob("*.*")]
    return sorted(path for path in found if path.suffix in (".py", ".js", ".css", ".toml"))


def digest(*paths: Path) -> str:
    """Return a hash of files, whatever ends their lines."""
    texts = (path.read_bytes().replace(b"\r\n", b"\n") for path in paths)
    return hashlib.sha256(b"".join(texts)).hexdigest()


def stamped(stamp: Path, wanted: str) -> bool:
    """Tell whether a stamp says that what it stands beside was made of this."""
    return stamp.exists() and stamp.read_text(encoding="utf-8") == wanted


def side_by_side(how: str) -> list[str]:
    """Return the options with which pytest uses the processors, up to four of them."""
    workers = min(os.cpu_count() or 1, 4)
    return ["-n", str(workers), "--dist", how] if workers > 1 else []


# --- installing ----------------------------------------------------------------------------------


def installed() -> dict[str, str]:
    """Return of what each extra and group was installed; nothing where that was broken off."""
    try:
        return dict(json.loads(STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def write_stamp(stamps: dict[str, str]) -> None:
    """Write the stamp at one blow: no kill leaves half of it."""
    new = STAMP.with_suffix(".new")
    new.write_text(json.dumps(stamps), encoding="utf-8")
    new.replace(STAMP)


def works() -> bool:
    """Tell whether `.venv` was made to its end, by this version of Python, and has pip."""
    probe = f"import sys, pip._internal; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        done = subprocess.run([str(venv_python()), "-c", probe], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and STAMP.exists()


def make_venv() -> None:
    """Create `.venv` anew; Failure, with what helps, where that cannot be."""
    print(f"Making the virtual environment {VENV.name} (Python {sys.version.split()[0]}) ...")
    try:
        if VENV.is_symlink():
            VENV.unlink()
        VENV.mkdir(exist_ok=True)
        STAMP.unlink(missing_ok=True)  # what is broken off from here on does not count
        quietly(sys.executable, "-m", "venv", "--clear", VENV)
    except OSError as error:
        raise Failure(
            f"{error.filename} cannot be written ({error.strerror}). The set-up needs a folder of "
            "yours: copy the checkout to one, or ask its owner."
        ) from None
    except Failure as failure:
        advice = "On Debian and Ubuntu install the package python3-venv, then run the command again"
        lacking = find_spec("ensurepip") is None
        raise Failure(f"{failure}\n{advice}." if lacking else str(failure)) from None
    write_stamp({})


def uv() -> Path | None:
    """Return the quick installer in this environment, or None where it cannot be had."""
    program = venv_python().with_name("uv.exe" if os.name == "nt" else "uv")
    if not program.exists() and venv_python().exists():
        pip = [str(venv_python()), "-m", "pip", "install", "-qq", "-c", "constraints.txt", "uv"]
        subprocess.run(pip, cwd=ROOT, env=environment(), capture_output=True, check=False)
    return program if program.exists() else None


def install(*packages: object, python: Path | None = None) -> None:
    """Install by uv, which takes seconds; by pip, with its own settings, where uv cannot.

    torch is asked for as the build without graphics cards; the others have several gigabytes.
    """
    python, said = python or venv_python(), ""
    if program := uv():
        target = ["--python", python, "--torch-backend", "cpu", *packages]
        try:
            return quietly(program, "pip", "install", "-q", *target)
        except Failure as failure:
            said = f"\n{failure}"
    try:
        quietly(python, "-m", "pip", "install", "-q", "pip>=25.1")  # an older one knows no groups
        quietly(python, "-m", "pip", "install", "-q", *packages)
    except Failure as failure:
        raise Failure(f"{failure}{said}") from None


def requirements(names: Iterable[str]) -> list[str]:
    """Return what an installer is asked for: the package with extras, and groups of pyproject."""
    extras = [name for name in names if name in EXTRAS]
    groups = [f"--group={name}" for name in names if name not in EXTRAS]
    package = f"-e.[{','.join(extras)}]" if extras else "-e."
    return ["-c", "constraints.txt", package, *groups]


def prepare(wanted: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """Bring what is wanted up to date in `.venv`; returns at once where nothing has changed.

    What is optional may fail: a note, and it is not tried again. Where something wanted fails, the
    environment counts for as much as it did before; what is killed leaves none that counts.
    """
    now = digest(ROOT / "pyproject.toml", ROOT / "constraints.txt")
    if not works():
        make_venv()
    stamps, started = installed(), time.monotonic()
    lacking = [name for name in (*wanted, *optional) if stamps.get(name) != now]
    quick = [name for name in lacking if name in wanted and name not in WITH_TORCH]
    asked = [name for name in lacking if name in wanted or stamps.get(f"no {name}") != now]
    alone = [[name] for name in asked if name not in quick]
    for names in filter(None, [quick, *alone]):
        print(f"Installing {', '.join(names)} (once; torch is large, the others take a minute) ...")
        STAMP.unlink()
        try:
            install(*requirements(names))
            stamps |= dict.fromkeys(names, now)
        except Failure as failure:
            if names[0] in wanted:
                write_stamp(stamps)
                raise Failure(f"{', '.join(names)} could not be installed.\n{failure}") from None
            stamps |= {f"no {names[0]}": now}
            print(f"  not installable here; what needs {names[0]} is skipped")
        # The first import lists the fonts, slowly and with a message that must not enter a lesson.
        call(venv_python(), "-c", "import matplotlib.font_manager")
        write_stamp(stamps)
        print(f"Installed after {time.monotonic() - started:.0f} s.")
