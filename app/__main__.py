"""`python -m app` is `coinche`."""

import sys


def main() -> None:
    """Run the command line. Ctrl-C ends it also while it is still being read in."""
    try:
        from app.cli import cli

        cli()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
