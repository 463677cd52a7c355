"""The lessons in the reader's browser: Pyodide, JupyterLite, and the site that carries both.

`python dev.py site` runs `site`; `pins` has every version; `pyodide` checks and cuts down what runs
Python in a page; `compiled.mjs` runs it in Node, to compile.
"""

import tomllib
from pathlib import Path
from types import SimpleNamespace

pins = SimpleNamespace(**tomllib.loads(Path(__file__).with_name("pins.toml").read_text("utf-8")))
