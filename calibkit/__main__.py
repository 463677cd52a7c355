"""``python -m calibkit`` is the command ``calibkit``."""

import sys

from calibkit.audit.cli import main

if __name__ == "__main__":
    sys.exit(main())
