"""The columns and the key that a table takes from an upstream reference."""

from __future__ import annotations

from collections import Counter

from catalog.errors import InvalidStatement
from catalog.names import dotted
from catalog.plan.scope import checked_identifier
from catalog.results import Notice
from catalog.sql.nodes.table import CreateTableFromSource
from ingest.contract.commands import ExportColumn
from ingest.contract.types import TEXT
from ingest.contract.upstream import Reference, UpstreamColumn


def export_columns(
    statement: CreateTableFromSource, reference: Reference
) -> tuple[ExportColumn, ...]:
    """The table's columns: upstream's without the excluded, text where asked, renamed in order.

    Raises InvalidStatement for columns that are not there or named twice, for a type that has no
    native form, and when nothing is left.
    """
    _known(statement.text_columns, reference, "TEXT COLUMNS")
    _known(statement.exclude_columns, reference, "EXCLUDE COLUMNS")
    both = sorted({*statement.text_columns} & {*statement.exclude_columns})
    if both:
        raise _duplicated(both)
    excluded = set(statement.exclude_columns)
    kept = [column for column in reference.columns if column.name not in excluded]
    if not kept:
        message = f"Table {_shown(reference)} had all columns excluded"
        raise InvalidStatement(message)
    text = set(statement.text_columns)
    unsupported = [column for column in kept if column.native is None and column.name not in text]
    if unsupported:
        raise _unsupported(reference, unsupported)
    names = _names(statement, kept)
    return tuple(
        _column(name, column, as_text=column.name in text)
        for name, column in zip(names, kept, strict=True)
    )


def _column(name: str, column: UpstreamColumn, *, as_text: bool) -> ExportColumn:
    return ExportColumn(
        name=name,
        type=TEXT if as_text or column.native is None else column.native,
        nullable=column.nullable,
        upstream_name=column.name,
        upstream_position=column.position,
        upstream_oid=column.type_oid,
        upstream_modifier=column.type_modifier,
        as_text=as_text,
    )


def _names(statement: CreateTableFromSource, kept: list[UpstreamColumn]) -> list[str]:
    names = [column.name for column in kept]
    if len(statement.columns) > len(names):
        message = (
            f"{statement.name.last} definition names {len(statement.columns)} columns, "
            f"but the reference has {len(names)}"
        )
        raise InvalidStatement(message, sqlstate="42601")
    names[: len(statement.columns)] = statement.columns
    doubled = [name for name, count in Counter(map(str.lower, names)).items() if count > 1]
    if doubled:
        message = f'column "{doubled[0]}" specified more than once'
        hint = "Names that differ only in case need EXCLUDE COLUMNS or names of their own."
        raise InvalidStatement(message, sqlstate="42701", hint=hint)
    return [checked_identifier(name) for name in names]


def _known(names: tuple[str, ...], reference: Reference, option: str) -> None:
    doubled = sorted(name for name, count in Counter(names).items() if count > 1)
    if doubled:
        raise _duplicated(doubled)
    there = {column.name for column in reference.columns}
    for name in names:
        if name not in there:
            message = f"invalid {option} option value: column {_shown(reference)}.{name} not found"
            hint = f"Its columns are {', '.join(sorted(there))}."
            raise InvalidStatement(message, hint=hint, sqlstate="42703")


def _duplicated(names: list[str]) -> InvalidStatement:
    shown = ", ".join(f'"{name}"' for name in names)
    return InvalidStatement(f"duplicated column name references: [{shown}]", sqlstate="42701")


def _unsupported(reference: Reference, columns: list[UpstreamColumn]) -> InvalidStatement:
    shown = ", ".join(
        f"{_shown(reference)}.{column.name} ({column.type_name})" for column in columns
    )
    return InvalidStatement(
        "referenced tables use unsupported types",
        detail=f"Columns: {shown}",
        hint="Use the TEXT COLUMNS option to ingest the listed columns as text, or EXCLUDE "
        "COLUMNS to leave them out.",
        sqlstate="0A000",
    )


def export_key(reference: Reference, columns: tuple[ExportColumn, ...]) -> tuple[str, ...]:
    """The names of the key's columns here; empty when rows are told apart by value.

    Raises InvalidStatement when a column of the key is left out and upstream logs only the key.
    """
    here = {column.upstream_name: column.name for column in columns}
    left_out = [name for name in reference.key if name not in here]
    if not left_out:
        return tuple(here[name] for name in reference.key)
    if reference.replica_identity == "full" or reference.identity == 0:
        return ()
    message = f"column {_shown(reference)}.{left_out[0]} is part of the key: it cannot be excluded"
    hint = "Keep the column, or set REPLICA IDENTITY FULL upstream."
    raise InvalidStatement(message, hint=hint)


def export_notices(reference: Reference) -> tuple[Notice, ...]:
    """What upstream's description warns of, one notice each."""
    return tuple(
        Notice(
            f"{_shown(reference)}: {problem.summary}",
            "01000",
            "warning",
            problem.cause,
            problem.fix,
        )
        for problem in reference.problems
        if problem.level == "warning"
    )


def _shown(reference: Reference) -> str:
    return dotted((reference.namespace, reference.name))
