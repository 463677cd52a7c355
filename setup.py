"""What pyproject.toml cannot say: on a package index README's links lead to the repository."""

import re
from pathlib import Path

HOME = "https://github.com/calibkit/calibkit"
RELATIVE = re.compile(r"\]\((?!\w+:|#)([^)]+)\)")


def with_addresses(text: str) -> str:
    """Return Markdown whose relative links are absolute: pictures as files, others as pages."""
    return RELATIVE.sub(
        lambda link: f"]({HOME}/{'raw' if link[1].endswith('.png') else 'blob'}/main/{link[1]})",
        text,
    )


if __name__ == "__main__":
    from setuptools import setup

    readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    setup(long_description=with_addresses(readme), long_description_content_type="text/markdown")
