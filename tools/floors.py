"""The oldest packages that pyproject.toml allows: `python dev.py floors`.

Makes an environment with the lowest allowed version of each direct requirement in `build/floors`
and runs the quick unit tests and all lessons in it, which print what is stored. ``--newest`` takes
the newest versions instead, whatever is pinned. Only uv can choose versions that way; without it,
nothing runs. ``--lessons 03 07`` runs only these.
"""

import argparse
import sys

from tools.virtual_environment import (
    ROOT,
    call,
    environment,
    requirements,
    side_by_side,
    uv,
    uv_environment,
    venv_python,
)

FLOORS = ROOT / "build" / "floors"
NAMES = ["lab", "parquet", "test"]
# What the oldest matplotlib reads its settings with has since begun to warn at that.
CONTEMPORARIES = ("pyparsing>=3.1,<3.3",)
# Old packages warn about older Pythons and about each other; that is not ours to mend.
TESTS = ["-m", "not browser and not slow and not long", "-o", "filterwarnings=default"]
# How a page is laid out is the pinned jupytext's.
TESTS += ["--deselect", "tests/tools/test_notebooks.py::test_the_pair_is_in_sync_run_and_text_only"]


def main(arguments: list[str]) -> int:
    """Install and test."""
    parser = argparse.ArgumentParser(prog="dev.py floors", description=__doc__)
    parser.add_argument("--newest", action="store_true", help="the newest packages instead")
    parser.add_argument("--lessons", nargs="+", default=[], help="these lessons only")
    chosen = parser.parse_args(arguments)
    resolution = "highest" if chosen.newest else "lowest-direct"
    program, python = uv(), venv_python(FLOORS)
    if program is None:
        print("skipped: uv, which can choose the oldest versions, cannot be had here")
        return 0
    install = [program, "pip", "install", "-q", "--python", python]
    tests = [*TESTS, *side_by_side("worksteal"), "tests"]
    # Real predictions that numpy 2 has pickled, numpy 1 cannot read.
    without_data = {k: v for k, v in environment().items() if k != "CALIBKIT_DATA"}
    packages = [*requirements(NAMES)[2:], *([] if chosen.newest else CONTEMPORARIES)]
    commands: list[tuple[list[object], dict[str, str]]] = [
        ([program, "venv", "-q", "--clear", "--python", sys.executable, FLOORS], uv_environment()),
        ([*install, "--resolution", resolution, *packages], uv_environment()),
        ([python, "-m", "pytest", "-q", *tests], without_data),
        ([python, "-m", "tools.notebooks", "same", *chosen.lessons], without_data),
    ]
    for command, env in commands:
        if code := call(*command, env=env):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
