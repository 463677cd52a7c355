"""The command ``calibkit``, also as ``python -m calibkit_audit``."""

import sys

from calibkit_audit.cli import main as run

if __name__ == "__main__":
    sys.exit(run())
