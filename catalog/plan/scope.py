"""Where a statement stands: the picture, the search path and the role; how names resolve there."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from catalog.errors import (
    DuplicateItem,
    InvalidStatement,
    NotSupported,
    UnknownItem,
    WrongItemType,
)
from catalog.names import DATABASE, RESERVED_PREFIXES, SCHEMA, SYSTEM_SCHEMAS, Path, dotted
from catalog.plan.picture import Entry, Namespace, Picture
from catalog.results import Notice
from catalog.sql.nodes.names import ItemKind, Name

LONGEST_NAME = 255
_RELATIONS = frozenset(("table", "view", "source", "materialized view"))


@dataclass(frozen=True)
class Scope:
    """A picture seen from a session; `nonce` makes the names of new shards unlike any other's."""

    picture: Picture
    role: str
    database: str = DATABASE
    search_path: tuple[str, ...] = (SCHEMA,)
    nonce: str = ""

    def find(self, name: Name) -> Entry | None:
        """The item that `name` means here, or None."""
        for path in self.candidates(name):
            if (entry := self.picture.by_path.get(path)) is not None:
                return entry
        return None

    def candidates(self, name: Name) -> tuple[Path, ...]:
        """The full names that `name` could mean, in the order they are tried."""
        match name.parts:
            case (item,):
                return tuple((self.database, schema, item) for schema in self.search_path)
            case (schema, item):
                return ((self.database, schema, item),)
            case (database, schema, item):
                return ((database, schema, item),)
            case _:
                message = (
                    f"qualified name did not have between 1 and 3 components: {dotted(name.parts)}"
                )
                raise InvalidStatement(message, sqlstate="42601", position=_at(name))

    def item(self, name: Name, *kinds: ItemKind) -> Entry:
        """The item that `name` means; raises UnknownItem, or WrongItemType for another kind."""
        entry = self.find(name)
        if entry is None:
            raise self.unknown(name, kinds)
        if kinds and entry.kind not in kinds:
            message = f"{entry.name} is {_article(entry.kind)} not {_article(kinds[0])}"
            raise WrongItemType(message, position=_at(name))
        return entry

    def unknown(self, name: Name, kinds: tuple[ItemKind, ...] = ()) -> UnknownItem:
        """The error for a name that resolves to nothing: what is missing, and what is near."""
        at = _at(name)
        for path in self.candidates(name)[:1]:
            if path[:1] not in self.picture.namespaces:
                return UnknownItem(f"unknown database '{path[0]}'", position=at, sqlstate="3D000")
            if len(name.parts) > 1 and not self.has_schema(path[:2]):
                shown = dotted(path[:2]) if len(name.parts) > 2 else path[1]
                return UnknownItem(f"unknown schema '{shown}'", position=at, sqlstate="3F000")
        relation = not kinds or kinds[0] in _RELATIONS
        return UnknownItem(
            f"unknown catalog item '{dotted(name.parts)}'",
            position=at,
            hint=self._nearest(name, kinds),
            sqlstate="42P01" if relation else "42704",
        )

    def has_schema(self, path: tuple[str, ...]) -> bool:
        """Whether the schema exists; system schemas exist in every database."""
        return path in self.picture.namespaces or path[-1] in SYSTEM_SCHEMAS

    def _nearest(self, name: Name, kinds: tuple[ItemKind, ...]) -> str | None:
        names = [
            entry.name
            for entry in self.picture.entries.values()
            if not kinds or entry.kind in kinds
        ]
        near = difflib.get_close_matches(name.last, names[:20_000], n=1)
        return f'Did you mean "{near[0]}"?' if near else None

    def new_path(self, name: Name) -> Path:
        """Where a new item of that name goes; raises for unknown and reserved schemas."""
        path = self.candidates(name)[0] if self.search_path else None
        if path is None:
            message = "no schema has been selected to create in"
            raise InvalidStatement(message, sqlstate="3F000", position=_at(name))
        if path[1] in SYSTEM_SCHEMAS:
            message = f"system schema '{path[1]}' cannot be modified"
            raise InvalidStatement(message, sqlstate="42501", position=_at(name))
        if path[:1] not in self.picture.namespaces or path[:2] not in self.picture.namespaces:
            raise self.unknown(name if len(name.parts) > 1 else Name(path, name.at))
        checked_identifier(path[2], _at(name))
        return path

    def space(self, kind: ItemKind, name: Name) -> Namespace | None:
        """The database or schema that `name` means, or None."""
        return self.picture.namespaces.get(self.space_path(kind, name))

    def space_path(self, kind: ItemKind, name: Name) -> tuple[str, ...]:
        """The full name of a database or schema."""
        if len(name.parts) > (1 if kind == "database" else 2):
            message = f"{kind} name '{dotted(name.parts)}' has too many parts"
            raise InvalidStatement(message, sqlstate="42601", position=_at(name))
        if kind == "database" or len(name.parts) == 2:
            return name.parts
        return (self.database, *name.parts)

    def taken(self, kind: ItemKind, path: Path, *, if_not_exists: bool) -> Notice | None:
        """A notice when the name is taken and may be; raises DuplicateItem when it may not."""
        entry = self.picture.by_path.get(path)
        if entry is None:
            return None
        if if_not_exists:
            return Notice(f'{entry.kind} "{entry.name}" already exists, skipping', "42710")
        relation = entry.kind in _RELATIONS
        message = f'{entry.kind} "{dotted(path)}" already exists'
        raise DuplicateItem(message, sqlstate="42P07" if relation else None)


def checked_identifier(name: str, position: int | None = None) -> str:
    """The name, if it can be one; raises InvalidStatement."""
    if not name:
        message = "zero-length delimited identifier"
        raise InvalidStatement(message, sqlstate="42601", position=position)
    if len(name.encode()) > LONGEST_NAME:
        message = f"identifier is longer than {LONGEST_NAME} bytes"
        raise InvalidStatement(message, sqlstate="42622", position=position)
    return name


def checked_schema(name: str, position: int | None = None) -> str:
    """The name of a new schema; raises InvalidStatement for the prefixes of system schemas."""
    if name.startswith(RESERVED_PREFIXES) or name in SYSTEM_SCHEMAS:
        message = f"unacceptable schema name '{name}'"
        detail = 'The prefixes "mz_" and "pg_" are reserved for system schemas.'
        raise InvalidStatement(message, detail=detail, sqlstate="42939", position=position)
    return checked_identifier(name, position)


def supported_cluster(name: Name | None) -> None:
    """Raises for any cluster but the one there is."""
    if name is not None and name.last != "quickstart":
        message = f"unknown cluster '{name.last}'"
        raise UnknownItem(message, hint='Use the cluster "quickstart".', position=_at(name))


def refused(what: str, hint: str | None = None) -> NotSupported:
    """The error for something that is understood and not done here."""
    return NotSupported(f"{what} is not supported", hint=hint)


def _at(name: Name) -> int | None:
    return name.at if name.at >= 0 else None


def _article(kind: str) -> str:
    return f"a {kind}"
