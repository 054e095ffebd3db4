"""Tables, views, queries, and what changes rows."""

from __future__ import annotations

from sqlglot import exp

from catalog.sql.clauses.style import Style, name_list, name_of, when, with_columns, words
from catalog.sql.layout import Clause, Group
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.query import ExplainTimestamp, Select
from catalog.sql.nodes.replacement import CreateReplacement
from catalog.sql.nodes.table import (
    ColumnDefinition,
    CreateTable,
    CreateTableFromSource,
    Delete,
    Insert,
    Update,
)
from catalog.sql.nodes.view import CreateView
from catalog.sql.strings import identifier


def create_table_from_source(s: CreateTableFromSource, style: Style) -> list[Clause]:
    """Clauses of CreateTableFromSource."""
    head = words("CREATE TABLE", when(s.if_not_exists, "IF NOT EXISTS"), name_of(s.name))
    reference = f"(REFERENCE{style.equals}{name_of(s.reference)})" if s.reference else ""
    equals = style.equals.rstrip()
    lists = (("TEXT COLUMNS", s.text_columns), ("EXCLUDE COLUMNS", s.exclude_columns))
    given = tuple(name_list(word + equals, names) for word, names in lists if names)
    return [
        with_columns(head, s.columns),
        words(name_of(s.source, "FROM SOURCE"), reference),
        Group("WITH", given) if given else "",
    ]


def create_table(s: CreateTable, _: Style) -> list[Clause]:
    """Clauses of CreateTable."""
    head = words("CREATE TABLE", when(s.if_not_exists, "IF NOT EXISTS"), name_of(s.name))
    items: list[Clause] = [column(one) for one in s.columns]
    if s.primary_key:
        items.append(name_list("PRIMARY KEY", s.primary_key))
    return [Group(head, tuple(items))]


def column(one: ColumnDefinition) -> str:
    """A column's definition."""
    return words(
        identifier(one.name),
        one.type.sql,
        when(not one.nullable, "NOT NULL"),
        f"DEFAULT {one.default}" if one.default is not None else "",
        when(one.primary_key, "PRIMARY KEY"),
    )


def insert(s: Insert, style: Style) -> list[Clause]:
    """Clauses of Insert."""
    return [with_columns(name_of(s.name, "INSERT INTO"), s.columns), query_text(s, style)]


def update(s: Update, style: Style) -> list[Clause]:
    """Clauses of Update."""
    rest = (s.text if style.pretty else "") or s.body
    if not rest:
        assigned = ", ".join(
            f"{identifier(c)} = {expression_text(value)}" for c, value in s.assignments
        )
        rest = words("SET", assigned, f"WHERE {expression_text(s.where)}" if s.where else "")
    return [name_of(s.name, "UPDATE"), rest]


def delete(s: Delete, style: Style) -> list[Clause]:
    """Clauses of Delete."""
    where = f"WHERE {expression_text(s.where)}" if s.where else ""
    text = s.text if style.pretty else ""
    return [name_of(s.name, "DELETE FROM"), text or s.body or where]


def create_view(s: CreateView, style: Style) -> list[Clause]:
    """Clauses of CreateView."""
    create = "CREATE OR REPLACE VIEW" if s.or_replace else "CREATE VIEW"
    head = words(create, when(s.if_not_exists, "IF NOT EXISTS"), name_of(s.name))
    return [with_columns(head, s.columns), f"AS {query_text(s, style)}"]


def select(s: Select, style: Style) -> list[Clause]:
    """Clauses of Select."""
    as_of = s.as_of_text or (expression_text(s.as_of) if s.as_of else "")
    at = when(s.at_least, "AT LEAST")
    return [query_text(s, style), words("AS OF", at, as_of) if as_of else ""]


def explain_timestamp(s: ExplainTimestamp, style: Style) -> list[Clause]:
    """Clauses of ExplainTimestamp."""
    return ["EXPLAIN TIMESTAMP FOR", *select(s.select, style)]


_WithQuery = Select | Insert | CreateView | CreateMaterializedView | CreateReplacement


def query_text(s: _WithQuery, style: Style) -> str:
    """The query as written for the console, else its canonical text.

    A node without `text` was made from a tree, or its tree was changed: the tree is written out.
    """
    if not s.text:
        return expression_text(s.query)
    return s.text if style.pretty else s.body or s.text


def expression_text(tree: exp.Expr) -> str:
    """An expression that has no text of its own."""
    return tree.sql(dialect="materialize")
