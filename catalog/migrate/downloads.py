"""What users must change in their own code after a migration: dbt models, Terraform resources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from catalog.migrate.plan import Step
from catalog.names import dotted
from catalog.plan.picture import Picture
from catalog.sql.render import qualified

_PROVIDERS = (
    ("FROM POSTGRES ", "postgres"),
    ("FROM MYSQL ", "mysql"),
    ("FROM SQL SERVER ", "sqlserver"),
    ("FROM KAFKA ", "kafka"),
    ("FROM LOAD GENERATOR ", "load_generator"),
    ("FROM WEBHOOK ", "webhook"),
)


def dbt_changes(steps: Iterable[Step]) -> str:
    """The models to add or change, as text with one file after the other; empty without any."""
    parts: list[str] = []
    for step in steps:
        if step.action in {"strip", "split"}:
            parts += _model(step, "source", _of_this(step, "CREATE SOURCE"))
        elif step.action in {"to table", "new table"}:
            parts += _model(step, "source_table", _of_this(step, "CREATE TABLE"))
        elif step.action == "progress view":
            parts += _model(step, "view", step.after.partition(" AS ")[2])
    if not parts:
        return ""
    head = (
        "-- Changes to dbt models after the sources became tables.",
        "-- Nothing has to run at once: the objects are there already. Replace the models before",
        "-- the next full build, so that dbt does not create the old ones again.",
        "",
    )
    return "\n".join((*head, *parts))


def _of_this(step: Step, create: str) -> str:
    """The statement with the model's own name, as dbt puts it in."""
    head = " ".join((create, qualified(step.new_path)))
    return " ".join((create, "{{ this }}")) + step.after.removeprefix(head)


def _model(step: Step, materialized: str, body: str) -> Iterator[str]:
    database, schema, name = map(json.dumps, step.new_path)
    yield "-- models/" + "/".join(step.new_path[1:]) + ".sql"
    if step.new_path != step.path:
        yield "-- was models/" + "/".join(step.path[1:]) + ".sql, whose name is the table's now"
    kind = json.dumps(materialized)
    options = f"materialized={kind}, database={database}, schema={schema}, alias={name}"
    yield "{{ config(" + options + ") }}"
    yield body + ";"
    yield ""


def terraform_changes(steps: Iterable[Step], picture: Picture) -> str:
    """Resources, imports and removals as text; empty without any."""
    chosen = [s for s in steps if s.action in {"to table", "new table", "strip", "split"}]
    if not chosen:
        return ""
    sources = {step.item: step for step in chosen if step.action in {"strip", "split"}}
    lines = [
        "# Changes to Terraform after the sources became tables. Ids of sources and of their",
        "# tables are what they were, so nothing is destroyed: import what is new, apply once.",
        "",
    ]
    for step in chosen:
        if step.action in {"strip", "split"}:
            lines += _source(step)
        else:
            lines += _table(step, picture, sources)
    return "\n".join(lines)


def _provider(sql: str) -> str:
    return next((name for words, name in _PROVIDERS if words in sql), "postgres")


def _label(name: str) -> str:
    label = re.sub(r"\W", "_", name)
    return label if re.match(r"[A-Za-z_]", label) else "_" + label


def _source(step: Step) -> Iterator[str]:
    provider = _provider(step.before)
    kind = f"materialize_source_{provider}"
    yield f"# {dotted(step.path)}, id {step.item}"
    if step.action == "split":
        yield f'# resource "{kind}" "{_label(step.path[2])}": name = {_text(step.new_path[2])}'
        yield "#   remove format, include and envelope blocks; they are the table's"
    else:
        yield f'# resource "{kind}" "{_label(step.path[2])}": remove table and text_columns blocks'
    yield ""


def _table(step: Step, picture: Picture, sources: dict[str, Step]) -> Iterator[str]:
    item = step.new_item or step.item
    named = picture.entries.get(step.needs[0]) if step.needs else None
    source_sql = named.create_sql if named is not None else step.before
    provider = _provider(source_sql)
    database, schema, name = map(_text, step.new_path)
    resource, label = f"materialize_source_table_{provider}", _label(step.new_path[2])
    yield f'resource "{resource}" "{label}" {{'
    yield f"  name          = {name}"
    yield f"  schema_name   = {schema}"
    yield f"  database_name = {database}"
    if named is not None:
        renamed = sources.get(named.id)
        database, schema, name = map(_text, renamed.new_path if renamed else named.path)
        yield "  source {"
        yield f"    name          = {name}"
        yield f"    schema_name   = {schema}"
        yield f"    database_name = {database}"
        yield "  }"
    yield "}"
    yield "import {"
    yield f"  to = {resource}.{label}"
    yield f"  id = {_text(':'.join((picture.region, item)))}"
    yield "}"
    yield ""


def _text(value: str) -> str:
    """A string in HCL."""
    return json.dumps(value).replace("${", "$${").replace("%{", "%%{")
