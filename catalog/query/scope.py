"""What names mean at one place in a query."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace

from sqlglot import exp

from catalog.query.build import UNKNOWN, Bound
from catalog.query.names import AmbiguousColumn, UnknownColumn, UnknownRelation, position
from ingest.contract.types import TEXT, Type


@dataclass(frozen=True)
class Output:
    """One column that a query or a FROM item gives: its name here, and its name in Spark."""

    name: str
    type: Type
    spark: str
    shape: tuple[int, int] | None = None
    months: bool = False


def settled(outputs: tuple[Output, ...]) -> tuple[Output, ...]:
    """The columns with bare literals taken as text."""
    return tuple(replace(o, type=TEXT) if o.type == UNKNOWN else o for o in outputs)


@dataclass
class Source:
    """One FROM item: `alias` is what the user calls it, `spark` what the Spark text does."""

    alias: str
    spark: str
    outputs: tuple[Output, ...]
    hidden: bool = False

    def column(self, output: Output) -> Bound:
        """A reference to one of its columns."""
        node = exp.Column(
            this=exp.to_identifier(output.spark, quoted=True),
            table=exp.to_identifier(self.spark),
        )
        return Bound(node, output.type, output.shape, output.months)


@dataclass
class Scope:
    """The FROM items of one SELECT, its merged USING columns, and the scope around it."""

    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    merged: dict[str, Bound] = field(default_factory=dict)
    windows: dict[str, exp.Window] = field(default_factory=dict)

    def child(self) -> Scope:
        """A scope inside this one: a subquery's or a lateral item's."""
        return Scope(parent=self)

    def column(self, node: exp.Column, table: str, name: str) -> Bound:
        """Resolve `[table.]name`, looking outwards.

        Raises UnknownColumn (42703), AmbiguousColumn (42702) or UnknownRelation (42P01).
        """
        scope: Scope | None = self
        while scope is not None:
            found = scope.here(node, table, name)
            if found is not None:
                return found
            scope = scope.parent
        full = f"{table}.{name}" if table else name
        message = f'column "{full}" does not exist'
        raise UnknownColumn(message, position=position(node), hint=self._similar(name))

    def here(self, node: exp.Column, table: str, name: str) -> Bound | None:
        """Resolve in this scope alone; None when it is not here."""
        if not table and name in self.merged:
            return self.merged[name]
        sources = [s for s in self.sources if not table or s.alias == table]
        hits = [(s, o) for s in sources for o in s.outputs if o.name == name]
        if len(hits) > 1:
            message = f'column reference "{name}" is ambiguous'
            raise AmbiguousColumn(message, position=position(node))
        return hits[0][0].column(hits[0][1]) if hits else None

    def source(self, name: str, node: exp.Expr) -> Source:
        """The FROM item called `name`; raises UnknownRelation (42P01)."""
        scope: Scope | None = self
        while scope is not None:
            for source in scope.sources:
                if source.alias == name:
                    return source
            scope = scope.parent
        message = f'missing FROM-clause entry for table "{name}"'
        raise UnknownRelation(message, position=position(node))

    def star(self) -> list[tuple[str, Bound]]:
        """What `*` expands to: merged columns first, then each item's others."""
        columns = list(self.merged.items())
        for source in self.sources:
            columns += [
                (o.name, source.column(o)) for o in source.outputs if o.name not in self.merged
            ]
        return columns

    def star_names(self, table: str = "") -> list[tuple[str, str]]:
        """The columns of `*`, or of `table.*`, as FROM item's name (or empty) and own name."""
        names = [] if table else [("", name) for name in self.merged]
        for source in self.sources:
            if not table or source.alias == table:
                kept = (o.name for o in source.outputs if table or o.name not in self.merged)
                names += [(source.alias, name) for name in kept]
        return names

    def _similar(self, name: str) -> str | None:
        names = [output.name for source in self.sources for output in source.outputs]
        close = difflib.get_close_matches(name, names, n=1)
        if not close:
            return None
        return f'The similarly named column "{close[0]}" does exist.'
