"""Prepared statements and portals: what Parse and Bind leave for later messages."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.parameters import Parameter, Typed
from catalog.results import Description, Result, Stream
from catalog.sql.nodes.statement import ANSWERED
from catalog.sql.parse import parse
from console.execute import UserSession
from console.pgwire.binary import to_text
from console.pgwire.descriptions import spread
from console.pgwire.messages import Fields, ProtocolViolation
from console.pgwire.streaming import Streaming
from ingest.contract.types import TEXT, Type

_TEXT_OIDS = {0, 18, 19, 25, 705, 1042, 1043}
"""Types of parameters that say no more than that the value is text."""


class UnknownStatement(ProtocolViolation):
    """A prepared statement or portal that is not there."""

    sqlstate = "26000"


@dataclass
class Prepared:
    """One prepared statement; `oids` are its parameters' types as the client gave them."""

    sql: str
    oids: tuple[int, ...] = ()
    gives_rows: bool = False
    description: Description | None = None

    @classmethod
    def of(cls, sql: str, oids: tuple[int, ...]) -> Prepared:
        """From the text of at most one statement. Raises StatementError."""
        parsed = parse(sql)
        if len(parsed) > 1:
            message = "cannot insert multiple commands into a prepared statement"
            raise ProtocolViolation(message, sqlstate="42601", position=parsed[1].start)
        return cls(sql, oids, any(isinstance(one.statement, ANSWERED) for one in parsed))

    @property
    def types(self) -> tuple[Type | None, ...]:
        """The parameters' types, None where only their use can tell."""
        return tuple(None if oid in _TEXT_OIDS else _type(oid) for oid in self.oids)

    def describe(self, session: UserSession) -> Description:
        """What the statement takes and gives; looked up once. Raises HeadraceError."""
        if self.description is None:
            self.description = session.describe(self.sql, self.types)
        return self.description

    def bound(self, fields: Fields, session: UserSession) -> tuple[Parameter, ...]:
        """The parameters of a Bind message: formats, then values."""
        formats, raw = fields.shorts(), fields.values()
        kinds = spread(formats, len(raw))
        asked = self.types
        if any(kinds) and len(asked) < len(raw):
            asked = self.describe(session).parameters
        types = (*asked, *(None for _ in raw))
        return tuple(
            _parameter(value, kind == 1, type_)
            for value, kind, type_ in zip(raw, kinds, types, strict=False)
        )


@dataclass
class Portal:
    """A prepared statement with its parameters, and where its rows stand once it runs."""

    prepared: Prepared
    parameters: tuple[Parameter, ...] = ()
    formats: tuple[int, ...] = ()
    result: Result | Stream | None = None
    ran: bool = False
    sent: int = 0
    streaming: Streaming | None = None

    def run(self, session: UserSession) -> Result | Stream | None:
        """The statement's result, None for an empty one; runs it the first time only."""
        if not self.ran:
            self.ran = True
            self.result = next(iter([*session.stream(self.prepared.sql, self.parameters)]), None)
            if isinstance(self.result, Stream):
                self.streaming = Streaming(self.result)
        return self.result

    def close(self) -> None:
        """Nobody asks for its rows any more."""
        if self.streaming is not None:
            self.streaming.close()


def _type(oid: int) -> Type:
    return Type.of_oid(oid) or TEXT


def _parameter(raw: bytes | None, binary: bool, type_: Type | None) -> Parameter:  # noqa: FBT001
    if raw is None:
        return None if type_ is None else Typed(None, type_)
    try:
        text = to_text(raw, type_ or TEXT) if binary else raw.decode()
    except UnicodeDecodeError:
        message = 'invalid byte sequence for encoding "UTF8"'
        raise ProtocolViolation(message, sqlstate="22021") from None
    return text if type_ is None or type_ == TEXT else Typed(text, type_)
