"""Where a Chromium is."""

from __future__ import annotations

import shutil
from pathlib import Path

INSTALL = "apt-get install --no-install-recommends chromium  (or: playwright install chromium)"


def find() -> str:
    """The path of a Chromium: the system's, else Playwright's; raises LookupError without."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    carried = sorted(Path("~/.cache/ms-playwright").expanduser().glob("chromium-*/*/chrome"))
    if carried:
        return str(carried[-1])
    raise LookupError(INSTALL)
