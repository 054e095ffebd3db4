"""Stored CREATE SOURCE and CREATE SUBSOURCE cut into clauses, whatever kind of source it is.

Works on tokens, so it also takes apart kinds of sources that cannot be made here (any more).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from catalog.errors import SyntaxFailure
from catalog.names import Path
from catalog.sql.lexer import Token, statements
from catalog.sql.render import qualified

DATA_CLAUSES = (
    ("FORMAT",),
    ("KEY", "FORMAT"),
    ("VALUE", "FORMAT"),
    ("INCLUDE",),
    ("ENVELOPE",),
)
_STARTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "cluster": (("IN", "CLUSTER"),),
    "from": (("FROM",),),
    "exports": (("FOR", "ALL"), ("FOR", "TABLES"), ("FOR", "SCHEMAS"), ("FOR", "TABLE")),
    "data": DATA_CLAUSES,
    "progress": (("EXPOSE", "PROGRESS"),),
    "with": (("WITH",),),
}
EXPORT_OPTIONS = ("TEXT COLUMNS", "EXCLUDE COLUMNS", "IGNORE COLUMNS", "DETAILS")
"""Options of a source that belong to what it exports."""


@dataclass(frozen=True)
class Clauses:
    """One statement: its name, its columns if any, and the text of each clause.

    `options` are the ones in parentheses after the connection, `withs` those after WITH.
    """

    noun: str
    name: Path
    columns: str = ""
    source: Path | None = None
    kind: str = ""
    options: tuple[str, ...] = ()
    exports: str = ""
    data: str = ""
    progress: Path | None = None
    withs: tuple[str, ...] = ()
    parts: dict[str, str] = field(default_factory=dict, compare=False)


class _Reader:
    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.tokens = next(statements(sql), [])
        self.index = 0

    def keys(self, *words: str, at: int | None = None) -> bool:
        start = self.index if at is None else at
        found = self.tokens[start : start + len(words)]
        return tuple(token.key for token in found) == words

    def take(self, *words: str) -> bool:
        found = self.keys(*words)
        self.index += len(words) if found else 0
        return found

    def path(self) -> tuple[str, ...]:
        parts = [self._part()]
        while self.take("."):
            parts.append(self._part())
        return tuple(parts)

    def _part(self) -> str:
        token = self.tokens[self.index]
        if token.kind not in {"word", "quoted"}:
            raise SyntaxFailure("Expected identifier", self.sql, token.start)
        self.index += 1
        return token.text

    def skip(self) -> int:
        """The index after the parenthesized list that comes next, or after one token."""
        depth, index = 0, self.index
        while self.tokens[index].kind != "end":
            depth += (self.tokens[index].key == "(") - (self.tokens[index].key == ")")
            index += 1
            if depth == 0:
                return index
        return index

    def text(self, start: int, end: int) -> str:
        if end <= start:
            return ""
        return self.sql[self.tokens[start].start : self.tokens[end - 1].end]

    def list(self) -> tuple[str, ...]:
        """The texts between the commas of the parenthesized list that comes next."""
        end = self.skip()
        items: list[str] = []
        start, depth = self.index + 1, 0
        for index in range(self.index + 1, end):
            key = self.tokens[index].key
            if (key == "," and depth == 0) or index == end - 1:
                items.append(self.text(start, index))
                start = index + 1
            depth += (key == "(") - (key == ")")
        self.index = end
        return tuple(item for item in items if item)


def clauses(sql: str) -> Clauses:
    """The clauses of a CREATE SOURCE or CREATE SUBSOURCE; raises SyntaxFailure for others."""
    reader = _Reader(sql)
    if reader.take("CREATE", "SUBSOURCE"):
        return _subsource(reader)
    if reader.take("CREATE", "SOURCE"):
        return _source(reader)
    raise SyntaxFailure("Expected CREATE SOURCE or CREATE SUBSOURCE", sql, 0)


def _full(parts: tuple[str, ...]) -> Path:
    padded = ("", "", "")[: 3 - len(parts)] + parts
    return padded[0], padded[1], padded[2]


def _subsource(reader: _Reader) -> Clauses:
    reader.take("IF", "NOT", "EXISTS")
    name, columns, source = _full(reader.path()), "", None
    if reader.keys("("):
        start, reader.index = reader.index, reader.skip()
        columns = reader.text(start, reader.index)
    if reader.take("OF", "SOURCE"):
        source = _full(reader.path())
    withs = reader.list() if reader.take("WITH") else ()
    return Clauses("subsource", name, columns, source, withs=withs)


def _source(reader: _Reader) -> Clauses:
    reader.take("IF", "NOT", "EXISTS")
    name = _full(reader.path())
    columns = ""
    if reader.keys("("):
        start, reader.index = reader.index, reader.skip()
        columns = reader.text(start, reader.index)
    parts: dict[str, str] = {}
    found: dict[str, tuple[str, ...]] = {"options": (), "withs": ()}
    progress: Path | None = None
    while reader.tokens[reader.index].kind != "end":
        clause = _clause(reader)
        if clause == "progress":
            reader.index += 3
            progress = _full(reader.path())
            continue
        if clause == "with":
            reader.index += 1
            found["withs"] = reader.list()
            continue
        start = reader.index
        _pass(reader, clause, found)
        text = reader.text(start, reader.index)
        parts[clause] = " ".join(filter(None, (parts.get(clause, ""), text)))
    return Clauses(
        "source",
        name,
        columns,
        kind=parts.get("from", ""),
        options=found["options"],
        exports=parts.get("exports", ""),
        data=parts.get("data", ""),
        progress=progress,
        withs=found["withs"],
        parts=parts,
    )


def _clause(reader: _Reader) -> str:
    for clause, starts in _STARTS.items():
        if any(reader.keys(*words) for words in starts):
            return clause
    token = reader.tokens[reader.index]
    raise SyntaxFailure("Expected a clause of CREATE SOURCE", reader.sql, token.start)


def _pass(reader: _Reader, clause: str, found: dict[str, tuple[str, ...]]) -> None:
    """Go to the next clause; the list of options in FROM is kept apart and ends it."""
    reader.index += 1
    while reader.tokens[reader.index].kind != "end":
        if clause == "from" and reader.keys("("):
            before = reader.index
            found["options"] = reader.list()
            _cut(reader, before)
            return
        if any(reader.keys(*words) for starts in _STARTS.values() for words in starts):
            return
        reader.index = reader.skip()


def _cut(reader: _Reader, start: int) -> None:
    """Leave a list that was read out of the text of its clause."""
    del reader.tokens[start : reader.index]
    reader.index = start


def option(texts: tuple[str, ...], name: str) -> str | None:
    """The text of the option's value, None without it; a list keeps its parentheses."""
    words = tuple(name.split())
    for text in texts:
        tokens: list[Token] = next(statements(text), [])
        if tuple(token.key for token in tokens[: len(words)]) == words:
            rest = tokens[len(words) :]
            if rest and rest[0].key == "=":
                rest = rest[1:]
            return text[rest[0].start : rest[-2].end] if len(rest) > 1 else ""
    return None


def without(texts: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """The options but for those named."""
    return tuple(text for text in texts if all(option((text,), name) is None for name in names))


def parsed_path(text: str) -> tuple[str, ...]:
    """A dotted name's parts."""
    return _Reader(text).path()


def listed(lead: str, items: tuple[str, ...]) -> str:
    """`lead (item, ..)`, empty without items."""
    return " ".join((lead, "(" + ", ".join(items) + ")")).strip() if items else ""


def source_text(name: Path, found: Clauses) -> str:
    """CREATE SOURCE with nothing in it that belongs to tables."""
    options = without(found.options, EXPORT_OPTIONS)
    from_ = listed(found.kind, options) or found.kind
    withs = listed("WITH", without(found.withs, EXPORT_OPTIONS))
    words = ("CREATE SOURCE", qualified(name), found.parts.get("cluster", ""), from_, withs)
    return " ".join(word for word in words if word)


def table_text(name: Path, source: Path, reference: tuple[str, ...], *rest: str) -> str:
    """CREATE TABLE .. FROM SOURCE; `rest` are its further clauses."""
    referred = listed("", (" ".join(("REFERENCE =", qualified(reference))),)) if reference else ""
    words = ("CREATE TABLE", qualified(name), "FROM SOURCE", qualified(source), referred, *rest)
    return " ".join(word for word in words if word)
