"""Which Chromium do the browser tests drive? Prints its path; installs one where that can be done, or says how."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = """No Chromium was found for the browser tests. One of these brings it:
  apt-get install chromium                       (Debian, as root)
  .venv/bin/python -m playwright install chromium
  make test CHROMIUM=/path/to/chrome             (one that is already there)"""

# Chromium's own sandbox refuses root; the other switches keep it from calling home while a test runs.
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> str | None:
    """The path of a Chromium: CHROMIUM's, the system's or Playwright's own; None if there is none."""
    if named := os.environ.get("CHROMIUM"):
        return shutil.which(named)
    for name in NAMES:
        if path := shutil.which(name):
            return path
    return _of_playwright()


def _of_playwright() -> str | None:
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    home = Path.home()
    folders = [Path(cache)] if cache else [home / ".cache/ms-playwright", home / "Library/Caches/ms-playwright"]
    binaries = ("chrome-linux*/chrome", "chrome-mac*/*.app/Contents/MacOS/*")
    found = [path for folder in folders for binary in binaries for path in folder.glob(f"chromium-*/{binary}")]
    return str(max(found)) if found else None


def _install() -> None:
    if "CHROMIUM" in os.environ:
        return
    script = Path(__file__).parents[2] / "scripts" / "bring"
    subprocess.run([script, "chromium", "fonts-dejavu-core"], stdout=sys.stderr, check=False)


def main() -> None:
    """Print the path of a Chromium that is there now, or end with what to install; with --find, install nothing."""
    if not (path := find()) and "--find" not in sys.argv:
        _install()
        path = find()
    if not path:
        raise SystemExit(MISSING)
    print(path)


if __name__ == "__main__":
    main()
