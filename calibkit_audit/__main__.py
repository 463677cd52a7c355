"""The command ``calibkit``, also as ``python -m calibkit_audit``."""

import sys


def run() -> int:
    """Import and run the command; Ctrl-C while it is imported ends it without a traceback."""
    try:
        from calibkit_audit.cli import main
    except KeyboardInterrupt:
        print("calibkit: interrupted", file=sys.stderr)
        return 130
    return main()


if __name__ == "__main__":
    sys.exit(run())
