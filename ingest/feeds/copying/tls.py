"""Certificates and keys as the files that libpq wants."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def tls_files(texts: dict[str, str]) -> Iterator[dict[str, str]]:
    """The PEM texts as private files for as long as the block runs; libpq reads only files."""
    if not texts:
        yield {}
        return
    folder = Path(tempfile.mkdtemp(prefix="headrace-tls-"))
    try:
        for name, text in texts.items():
            path = folder / name
            path.touch(mode=0o600)
            path.write_text(text)
        yield {name: str(folder / name) for name in texts}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
