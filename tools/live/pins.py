"""Every version that the live site is made of: `pins.toml` says which, and why."""

import tomllib
from pathlib import Path
from typing import Any

PINS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("pins.toml").read_text(encoding="utf-8")
)
PYODIDE, PYTHON = str(PINS["PYODIDE"]), str(PINS["PYTHON"])
WHEELS, WHEELS_FOLDER = str(PINS["WHEELS"]), str(PINS["WHEELS_FOLDER"])
BUILDERS, PURE, EDITOR = (tuple(PINS[name]) for name in ("BUILDERS", "PURE", "EDITOR"))
CORE: dict[str, str] = PINS["CORE"]
