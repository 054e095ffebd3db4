"""Hypothesis strategies: any statement node that the grammars can make, with awkward names."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from catalog.sql import parse_one
from catalog.sql.grammar.connection import POSTGRES_OPTIONS
from catalog.sql.grammar.replacement import GUARD_OPTIONS
from catalog.sql.grammar.source import GENERATOR_OPTIONS, GENERATORS
from catalog.sql.nodes.comment import CommentOn
from catalog.sql.nodes.connection import CreateConnection, ValidateConnection
from catalog.sql.nodes.item import CreateNamespace, Drop, Rename
from catalog.sql.nodes.materialized_view import CreateMaterializedView, Refresh
from catalog.sql.nodes.names import Name, Option, SecretReference
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.replacement import (
    ApplyReplacement,
    CreateReplacement,
    RollbackReplacement,
    SetGuard,
    ShowChanges,
)
from catalog.sql.nodes.secret import AlterSecret, CreateSecret
from catalog.sql.nodes.session import (
    AlterSystem,
    Discard,
    Savepoint,
    SetVariable,
    TransactionControl,
)
from catalog.sql.nodes.show import ShowCreate, ShowObjects, ShowVariable
from catalog.sql.nodes.source import CreateSource, RefreshReferences
from catalog.sql.nodes.statement import Statement
from catalog.sql.nodes.table import ColumnDefinition, CreateTable, CreateTableFromSource
from ingest.contract.types import Type

AWKWARD = [
    *("select", "Order", "if", "not", "exists", "secret", "source", "reference"),
    *("a b", 'qu"ote', "it's", "a.b", ".", "a--b", "/*", "$$", "1a", "$a", "a$1", "_", "\n"),
    *("été", "\u017f", "\u0130", "日本", "x" * 255),
]
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(CHARACTERS, max_size=12)
parts = st.sampled_from(AWKWARD) | st.text(CHARACTERS, min_size=1, max_size=12)
flags = st.booleans()
names = st.lists(parts, min_size=1, max_size=3).map(lambda found: Name(tuple(found)))
part_lists = st.lists(parts, max_size=4).map(tuple)
items = ["secret", "connection", "source", "table", "view", "materialized view"]
kinds = st.sampled_from([*items, "schema", "database"])
numbers = st.integers(-9999, 9999).map(str) | st.sampled_from(["0.01", ".5", "1e3", "many", ""])
types = st.sampled_from(
    [
        "int",
        "text",
        "numeric(12,2)",
        "timestamp(3) ",
        "timestamptz",
        "varchar(5)",
        "int[]",
        "float8",
    ]
).map(Type.parse)
defaults = st.sampled_from(
    [None, "1", "now()", "'x,y'", "-1 + (2)", "a.\"B\"::text || '''' "]
).map(lambda text: text and text.strip())


def _options(allowed: Mapping[str, str]) -> st.SearchStrategy[tuple[Option, ...]]:
    values = {
        "text": texts | names.map(SecretReference),
        "number": numbers,
        "flag": flags,
    }
    option = st.sampled_from(sorted(allowed)).flatmap(
        lambda name: values[allowed[name]].map(lambda value: Option(name, value))
    )
    return st.lists(option, max_size=5, unique_by=lambda found: found.name).map(tuple)


columns = st.builds(
    ColumnDefinition, parts, types, nullable=flags, default=defaults, primary_key=flags
)
queries = st.sampled_from(
    [
        "SELECT 1",
        "select A, \"B\" from t as of at least 5 + 5",
        "INSERT INTO \"T t\" (\"a\"\"\") VALUES (1, - -1), ('x', -a)",
        "UPDATE t SET \"A\" = b [1] . c WHERE x = -1",
        "DELETE FROM t WHERE a <> ALL (ARRAY[1,2])",
        "CREATE OR REPLACE VIEW v (\"X\") AS VALUES (1) UNION ALL (SELECT 2) ORDER BY 1",
        "EXPLAIN TIMESTAMP FOR TABLE \"x\"",
        "SHOW TABLES WHERE name = 'x' AND -1 < 2",
        "SUBSCRIBE (select A from t) WITH (PROGRESS) AS OF AT LEAST 5 UP TO now()",
        "TAIL \"T t\" ENVELOPE DEBEZIUM (KEY (\"a\"\"\", b))",
    ]
).map(lambda sql: parse_one(sql).statement)  # fmt: skip
selected = parse_one("SELECT 1").statement
assert isinstance(selected, Select)
clusters = st.none() | parts.map(lambda part: Name((part,)))
refreshes = st.lists(
    st.builds(Refresh, st.sampled_from(["on commit", "at creation"]))
    | st.builds(Refresh, st.just("at"), texts.filter(bool))
    | st.builds(Refresh, st.just("every"), texts.filter(bool), texts),
    max_size=3,
).map(tuple)
bodies = {
    "query": st.just(selected.query),
    "text": st.just("SELECT 1"),
    "body": st.just("SELECT 1"),
}
maintained = st.builds(
    CreateMaterializedView,
    names,
    columns=part_lists,
    cluster=clusters,
    refresh=refreshes,
    or_replace=flags,
    **bodies,
)
guards = _options({name: kind for name, kind in GUARD_OPTIONS.items() if kind != "text"})
replacements = st.builds(
    CreateReplacement,
    names,
    names,
    columns=part_lists,
    cluster=clusters,
    refresh=refreshes,
    options=guards,
    if_not_exists=flags,
    **bodies,
)
show_where = st.builds(
    ShowObjects,
    st.sampled_from(["secret", "source", "view", "object", "schema"]),
    st.none() | names,
    like=st.none() | texts,
)
statements: st.SearchStrategy[Statement] = st.one_of(
    queries,
    st.builds(CreateSecret, names, texts, flags),
    st.builds(AlterSecret, names, texts, flags),
    st.builds(
        CreateConnection,
        names,
        st.just("postgres"),
        _options(POSTGRES_OPTIONS),
        flags,
        st.none() | flags,
    ),
    st.builds(ValidateConnection, names),
    st.builds(
        CreateSource,
        names,
        st.just("postgres"),
        _options({"PUBLICATION": "text"}),
        names,
        cluster=st.none() | parts.map(lambda part: Name((part,))),
        if_not_exists=flags,
    ),
    st.builds(
        CreateSource,
        names,
        st.just("load generator"),
        _options(GENERATOR_OPTIONS),
        generator=st.sampled_from(GENERATORS).map(str.lower),
    ),
    st.builds(RefreshReferences, names, flags),
    st.builds(
        CreateTableFromSource,
        names,
        names,
        st.none() | names,
        part_lists,
        part_lists,
        part_lists,
        flags,
    ),
    st.builds(CreateTable, names, st.lists(columns, max_size=4).map(tuple), flags, part_lists),
    st.builds(CreateNamespace, st.sampled_from(["schema", "database"]), names, flags),
    st.builds(Drop, kinds, st.lists(names, min_size=1, max_size=3).map(tuple), flags, flags),
    st.builds(Drop, st.just("materialized view"), names.map(lambda n: (n,)), replacement=flags),
    maintained,
    replacements,
    st.builds(ApplyReplacement, names, names, flags),
    st.builds(RollbackReplacement, names, flags),
    st.builds(SetGuard, names, guards, flags),
    st.builds(ShowChanges, names, st.none() | st.integers(0, 99)),
    st.builds(CommentOn, st.sampled_from(items), names, st.none() | texts),
    st.builds(CommentOn, st.none(), names, st.none() | texts, parts),
    st.builds(ShowObjects, st.just("replacement"), of=st.none() | names),
    st.builds(Rename, kinds, names, parts, flags),
    show_where,
    st.builds(ShowObjects, st.just("table"), st.none() | names, st.none() | names),
    st.builds(ShowObjects, st.just("column"), of=names, like=st.none() | texts),
    st.builds(ShowCreate, kinds, names, flags),
    st.builds(ShowVariable, st.just("") | parts),
    st.builds(SetVariable, parts, st.none() | texts, flags),
    st.builds(AlterSystem, parts, st.none() | texts),
    st.builds(Discard, st.sampled_from(["all", "temp"])),
    st.builds(
        TransactionControl,
        st.just("begin"),
        st.none() | st.sampled_from(["serializable", "strict serializable"]),
        st.none() | flags,
    ),
    st.builds(TransactionControl, st.sampled_from(["commit", "rollback"])),
    st.builds(Savepoint, st.sampled_from(["savepoint", "release", "rollback to"]), parts),
)
