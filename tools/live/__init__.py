"""The lessons in the reader's browser: Pyodide, JupyterLite, and the site that carries both.

`python dev.py site` runs `site`; `pins` has every version; `pyodide` fetches, checks and cuts down
what runs Python in a page; `compiled.mjs` runs it in Node, to compile.
"""
