"""The oldest packages that pyproject.toml allows: `python dev.py floors`.

Makes an environment with the lowest allowed version of each direct requirement in `build/floors`
and runs the quick tests of the three houses and all lessons in it, which print what is stored.
``--newest`` takes the newest versions instead, whatever is pinned. Only uv can choose versions that
way; without it, nothing runs. ``--lessons 03 07`` runs only these.
"""

import argparse
import sys

from tools.lesson_pages import NBVAL
from tools.notebook_files import sources
from tools.virtual_environment import (
    PACKAGES,
    ROOT,
    call,
    kernel_environment,
    side_by_side,
    uv,
    venv_python,
)

FLOORS = ROOT / "build" / "floors"
# The project itself is not packaged: another stage may do so now.
NAMES = ["-r", "pyproject.toml", "--extra", "lab", "--extra", "parquet", "--group", "test"]
# What the oldest matplotlib reads its settings with has since begun to warn at that.
CONTEMPORARIES = ("pyparsing>=3.1,<3.3",)
# Old packages warn about older Pythons and about each other; that is not ours to mend.
TESTS = ["-m", "not browser and not slow and not long", "-o", "filterwarnings=default"]
TESTS += [f"tests/{name}" for name in PACKAGES]


def main(arguments: list[str]) -> int:
    """Install and test."""
    parser = argparse.ArgumentParser(prog="dev.py floors", description=__doc__)
    parser.add_argument("--newest", action="store_true", help="the newest packages instead")
    parser.add_argument("--lessons", nargs="+", default=[], help="these lessons only")
    chosen = parser.parse_args(arguments)
    lessons = [page.with_suffix(".ipynb") for page in sources(chosen.lessons)]
    resolution = "highest" if chosen.newest else "lowest-direct"
    program, python = uv(), venv_python(FLOORS)
    if program is None:
        print("skipped: uv, which can choose the oldest versions, cannot be had here")
        return 0
    install = [program, "pip", "install", "-q", "--python", python, "--resolution", resolution]
    packages = [*NAMES, *([] if chosen.newest else CONTEMPORARIES)]
    env = kernel_environment()  # without real predictions, which numpy 1 cannot read
    for command in (
        [program, "venv", "-q", "--clear", "--python", sys.executable, FLOORS],
        [*install, *packages],
        [python, "-m", "pytest", "-q", *side_by_side("worksteal"), *TESTS],
        [python, "-m", "pytest", "-q", *NBVAL, *lessons],
    ):
        if code := call(*command, env=env):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
