"""The files around the package agree with each other and carry nothing of one machine."""

import ast
import importlib.metadata
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from PIL import Image

import calibkit
import dev
from book.experiments import front_door
from calibkit_course import lessons
from tests.paths import ROOT
from tools import dist

BINARY = {".png", ".npz", ".ico", ".woff2", ".gz"}

# What conda-forge calls differently.
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base", "duckdb": "python-duckdb"}
# What is imported under another name than it is installed under.
PACKAGES = {
    "sklearn": "scikit-learn",
    "PIL": "pillow",
    "markdown_it": "markdown-it-py",
    "bs4": "beautifulsoup4",
    "yaml": "PyYAML",
    "sklego": "scikit-lego",
    "calibration": "uncertainty-calibration",
}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


PYPROJECT: dict[str, Any] = tomllib.loads(read("pyproject.toml"))
PROJECT = PYPROJECT["project"]
KNOWN = {*dev.COMMANDS, *dev.MODULES, "help"}
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
GROUPS: dict[str, list[str]] = PYPROJECT["dependency-groups"]


def requirements(*names: str) -> dict[str, SpecifierSet]:
    """Return the core requirements and those of some extras and groups, by canonical name."""
    lines = [
        *PROJECT["dependencies"],
        *(line for name in names for line in (EXTRAS | GROUPS)[name]),
    ]
    parsed = [Requirement(line) for line in lines]
    return {canonicalize_name(item.name): item.specifier for item in parsed}


PINNED = [line for line in read("constraints.txt").splitlines() if not line.startswith("#")]
PINS = dict(line.split("==") for line in PINNED)


def tracked() -> list[Path]:
    """Return the files of the repository: git's list, or all where git does not know it."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        return [path for path in ROOT.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]


FILES = tracked()


def test_conda_users_get_the_same_packages_and_bounds() -> None:
    environment = yaml.safe_load(read("environment.yml"))
    entries = environment["dependencies"]
    pip = next(entry["pip"] for entry in entries if isinstance(entry, dict))
    lines = [entry for entry in entries if isinstance(entry, str)]
    parsed = [Requirement(line) for line in lines + [line for line in pip if line != "-e ."]]
    conda = {canonicalize_name(item.name): item.specifier for item in parsed}
    assert conda.pop("pip") == SpecifierSet()
    assert conda.pop("python") == SpecifierSet(PROJECT["requires-python"])
    wanted = requirements("lab", "nets", "parquet", "book", "test", "lint")
    assert conda == {CONDA_NAMES.get(name, name): bounds for name, bounds in wanted.items()}
    assert "-e ." in pip


def test_pins_are_sorted_exact_without_addresses_and_in_every_range() -> None:
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in PINNED)
    assert sorted(PINNED) == PINNED
    assert len(PINS) == len(PINNED)
    bounds = requirements(*EXTRAS, *GROUPS)
    outside = [name for name, one in bounds.items() if PINS.get(name, "0") not in one]
    assert outside == []


@pytest.mark.skipif(
    Path(sys.prefix) != ROOT / ".venv"
    or sys.platform != "linux"
    or sys.version_info[:2] != (3, 11),
    reason="speaks about the environment of the continuous integration",
)
def test_every_installed_package_is_pinned() -> None:
    folder = sysconfig.get_paths()["purelib"]
    for package in importlib.metadata.distributions(path=[folder]):
        name = canonicalize_name(package.metadata["Name"])
        if name not in ("calibkit", "pip", "setuptools", "wheel"):
            assert PINS.get(name) == package.version.partition("+")[0], name


def test_users_see_four_extras_and_developers_have_groups() -> None:
    assert set(EXTRAS) == {"lab", "nets", "audit", "parquet"}
    assert {*dev.EVERYTHING, *dev.OPTIONAL, "audit", "compare"} == {*EXTRAS, *GROUPS}


def test_the_pins_allow_the_oldest_python_that_is_promised() -> None:
    """Debian 12 has Python 3.11.2. What a pinned package asks for stands in its metadata."""
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    assert f"Python](https://www.python.org) {oldest[:-2]} or newer" in read("README.md")
    refuse = {}
    for package in importlib.metadata.distributions():
        name, asked = canonicalize_name(package.metadata["Name"]), package.metadata
        bounds = SpecifierSet(asked.get("Requires-Python", ""))
        if PINS.get(name) == package.version and oldest not in bounds:
            refuse[name] = str(bounds)
    assert refuse == {}


@pytest.mark.slow
@pytest.mark.parametrize("folder", [*dist.PACKAGES, "tools", "tests"])
def test_every_imported_package_is_declared(folder: str) -> None:
    declared = requirements(*EXTRAS, *GROUPS)
    ours = {*dist.PACKAGES, "tools", "dev", "tests", "book"}
    ours |= {path.stem for path in (ROOT / "tests").rglob("*.py")}
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for top in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - ours:
                assert canonicalize_name(PACKAGES.get(top, top)) in declared, f"{path.name}: {top}"


@pytest.mark.parametrize(
    ("contract", "house"),
    [("floors", "calibkit"), ("application", "calibkit_audit"), ("course", "calibkit_course")],
)
def test_the_floors_of_contributing_are_those_of_the_contracts(contract: str, house: str) -> None:
    contracts = {one["id"]: one for one in PYPROJECT["tool"]["importlinter"]["contracts"]}
    floors = [set(re.findall(r"\w+", layer)) for layer in contracts[contract]["layers"]]
    _, _, table = read("CONTRIBUTING.md").partition(f"| rooms of `{house}` |")
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", table.partition("\n\n")[0], re.MULTILINE)
    names = [f"`lesson{number}`" for number in lessons()]
    told = [row.replace(f"{names[0]} to {names[-1]}", " ".join(names)) for _, row in rows]
    assert [set(re.findall(r"`(\w+)`", row)) for row in told] == floors
    assert [int(number) for number, _ in rows] == [*range(len(rows), 0, -1)]


def test_changelog_and_citation_know_this_version() -> None:
    headings = re.findall(r"^## \[(.+?)\]", read("CHANGELOG.md"), flags=re.MULTILINE)
    assert headings[0] == "Unreleased" or headings[0] == calibkit.__version__
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == importlib.metadata.version("calibkit") == calibkit.__version__
    assert citation["license"] == PROJECT["license"]


# The bracketed letters keep this file from containing what it looks for.
FOREIGN = {
    "a path of one machine": r"(?<![\w.])/(?:[w]ork|[f]arm|[t]mp)/[\w.-]+",
    "somebody's home": r"(?<![\w.])/(?:[h]ome|[U]sers)/(?!me/)\w+/",
    "the address of a package file": r"https?://\S+\.(?:whl|tgz|tar\.gz|deb)\b",
    "the host of a package registry": r"[p]ythonhosted\.org|registry\.[n]pmjs",
    "a content delivery network": r"[j]sdelivr\.net|[u]npkg\.com|[c]dnjs\.",
}


@pytest.mark.slow
def test_no_file_carries_anything_foreign() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in FILES if path.suffix not in BINARY}
    found = [
        f"{path.relative_to(ROOT)}: {what}, {match[0]}"
        for what, pattern in FOREIGN.items()
        for path, text in texts.items()
        for match in re.finditer(pattern, text)
    ]
    assert found == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no executable bit")
def test_the_script_of_the_integration_is_runnable() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=False).returncode == 0


GITHUB = {path: yaml.safe_load(path.read_text("utf-8")) for path in FILES if path.suffix == ".yml"}
WORKFLOWS = {path.stem: found for path, found in GITHUB.items() if path.parent.name == "workflows"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_a_workflow_runs_can_be_run_at_a_desk(name: str) -> None:
    jobs = WORKFLOWS[name]["jobs"].values()
    for command in [step["run"] for job in jobs for step in job["steps"] if "run" in step]:
        known = re.fullmatch(r"python dev\.py (\w+)( .*)?", command)
        assert command == "bash .ci/run" or (known and known[1] in KNOWN), command
    assert all(job["timeout-minutes"] <= 90 for job in jobs)
    assert WORKFLOWS[name]["permissions"]  # no more than it needs


def test_the_classifiers_name_every_python_between_those_that_run() -> None:
    matrices = [job["strategy"]["matrix"]["python"] for job in WORKFLOWS["test"]["jobs"].values()
                if "strategy" in job]  # fmt: skip
    ran = {int(version.partition(".")[2]) for matrix in matrices for version in matrix}
    named = re.findall(r"Python :: 3\.(\d+)", " ".join(PROJECT["classifiers"]))
    assert [int(minor) for minor in named] == [*range(min(ran), max(ran) + 1)]


def test_the_wheel_carries_the_packages_and_nothing_else() -> None:
    houses = tuple(f"{name}/" for name in dist.PACKAGES)
    ours = [path.relative_to(ROOT).as_posix() for path in FILES]
    packed = [name for name in ours if name.startswith(houses) and "teaching.md" not in name]
    assert dist.check_contents([*packed, "calibkit-0.1.0.dist-info/METADATA"]) == len(packed)
    for name in ("calibkit/data/predictions.csv", "tests/test_errors.py", "calibkit/_draft.py"):
        with pytest.raises(dist.Failure, match=re.escape(f"has ['{name}']")):
            dist.check_contents([*packed, name])
    packed.remove("calibkit_course/lesson04/questions.toml")
    with pytest.raises(dist.Failure, match="lacks .*questions.toml"):
        dist.check_contents(packed)


@pytest.mark.parametrize("number", dist.TRIED)
def test_a_lesson_is_tried_as_far_as_its_first_exercise(number: str) -> None:
    cells = dist.first_cells(number)
    assert any("open_lesson" in source for source in cells)
    assert not any("lesson.check(" in source for source in cells)


def test_readme_lists_the_lessons_that_exist() -> None:
    lessons = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.md"))
    listed = re.findall(r"\[(\d\d [^]]+)\]\(notebooks/(\w+)\.ipynb\)", read("README.md"))
    assert [stem for _, stem in listed] == lessons
    pictures = r"\[!\[[^]]+\]\(notebooks/images/small/(\d\d)\.png\)\]\(notebooks/(\w+)\.ipynb\)"
    shown = re.findall(pictures, read("README.md"))
    assert [stem for _, stem in shown] == lessons[1:]
    assert all(stem.startswith(number) for number, stem in shown)
    for title, stem in listed:
        assert re.sub(r"\W+", "_", title.replace("%", "percent").replace("'", "")).lower() == stem


def test_readme_and_changelog_name_real_commands() -> None:
    named = set(re.findall(r"python3? dev\.py (\w+)", read("README.md")))
    assert {"lab", "test", "book"} <= named <= KNOWN


def test_on_a_package_index_every_link_of_the_readme_leads_somewhere() -> None:
    made = runpy.run_path(str(ROOT / "setup.py"))["with_addresses"](read("README.md"))
    found = re.findall(r"\]\(([^)]+)\)", made)
    assert all(target.startswith("https://") for target in found)
    ours = [target for target in found if target.startswith(PROJECT["urls"]["Source"])]
    parts = [re.fullmatch(r".*/(raw|blob)/main/(.+)", target) for target in ours]
    assert len(ours) > 40 and all(part and (ROOT / part[2]).exists() for part in parts)
    assert all((part[1] == "raw") == part[2].endswith(".png") for part in parts if part)


def test_the_figure_of_the_readme_is_what_the_code_draws() -> None:
    figure, words = front_door.draw()
    plt.close(figure)
    with Image.open(front_door.PATH) as stored:
        assert stored.text["Description"] == words, "run: python -m book.experiments.front_door"
    assert front_door.PATH.stat().st_size <= 40_000
    first = next(iter(read("README.md").split("## Start")))
    assert len(read("README.md").split()) <= 900
    assert front_door.PATH.relative_to(ROOT).as_posix() in first
    perfect, bold = re.findall(r"(\d+) of 10 bins", words)
    assert f"{bold} of 10 bins outside the band" in first
    assert perfect == "0"
    errors = [float(number) for number in re.findall(r"error (0\.\d+)", words)]
    assert all(abs(error - 0.08) < 0.01 for error in errors)
    assert front_door.QUESTION in first


def test_the_code_in_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", read("README.md"), flags=re.DOTALL)
    rng = np.random.default_rng(5)
    exec(code, {"y_true": rng.integers(0, 2, 50), "y_prob": rng.random(50)})
    assert len(plt.get_fignums()) == 1
    plt.close("all")
    assert "50 predictions" in capsys.readouterr().out
