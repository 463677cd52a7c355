"""Where things stand: the repository, and the programs that tests run in Node."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "tools" / "in_node"
