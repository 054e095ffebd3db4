"""Files of an inbox: whole or not there, and on disk once written; local or in a store."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pyarrow import fs

from ingest.commits import located


class Files:
    """A folder and its subfolders by name. OSError means that nothing can be said of the file."""

    def __init__(self, path: str) -> None:
        self._system, self._root = located(path)
        self._local = isinstance(self._system, fs.LocalFileSystem)

    def folders(self) -> list[str]:
        """Names of the subfolders."""
        return sorted(
            i.base_name for i in self._list(self._root) if i.type == fs.FileType.Directory
        )

    def names(self, folder: str) -> list[str]:
        """Names of a subfolder's whole files, in order."""
        found = (info.base_name for info in self._list(f"{self._root}/{folder}"))
        return sorted(name for name in found if not name.startswith("."))

    def read(self, folder: str, name: str) -> bytes:
        """A file's bytes. Raises FileNotFoundError."""
        with self._system.open_input_stream(f"{self._root}/{folder}/{name}") as file:
            return bytes(file.read())

    def write(self, folder: str, name: str, content: bytes) -> None:
        """Make a file; it survives whatever happens after this returns."""
        path = f"{self._root}/{folder}/{name}"
        if not self._local:
            with self._system.open_output_stream(path) as file:
                file.write(content)
            return
        place = Path(self._root) / folder
        missing = [one for one in (place, *place.parents) if not one.is_dir()]
        for one in reversed(missing):
            one.mkdir(exist_ok=True)
            _sync(one.parent)
        draft = place / f".{name}"
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
        _sync(place)

    def remove(self, folder: str, names: list[str]) -> None:
        """Remove files for good; what is gone already is fine."""
        for name in names:
            with suppress(FileNotFoundError):
                self._system.delete_file(f"{self._root}/{folder}/{name}")
        if self._local and names:
            _sync(Path(self._root) / folder)

    def changed(self, folder: str) -> float:
        """When a subfolder last changed (seconds since 1970); 0 when that is not known."""
        info = self._system.get_file_info(f"{self._root}/{folder}")
        return float(info.mtime_ns or 0) / 1e9 if info.type == fs.FileType.Directory else 0.0

    def remove_folder(self, folder: str) -> None:
        """Remove a subfolder, if it has no whole files; drafts of a dead writer go with it."""
        if not self._local:
            return
        place = Path(self._root) / folder
        with suppress(OSError):
            for draft in place.glob(".*"):
                draft.unlink()
            place.rmdir()

    def _list(self, path: str) -> list[fs.FileInfo]:
        infos: list[fs.FileInfo] = self._system.get_file_info(
            fs.FileSelector(path, allow_not_found=True)
        )
        return infos


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
