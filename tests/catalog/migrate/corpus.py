"""Catalogs in the old form, made of rows: every kind of source there is, and dependents of each.

The statements are the ones that the old form keeps; kinds of sources that cannot be made here
(any more) are in it too.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from catalog.models import (
    Comment,
    ConnectionDetails,
    Dependency,
    ExportProgress,
    Feed,
    FeedProgress,
    Item,
    ItemColumn,
    Region,
    Role,
    Schema,
    SourceDetails,
    TableDetails,
    ViewDetails,
    ViewVersion,
)
from catalog.sql.render import qualified

REGION = "local/embedded"
DATA = (("id", "integer"), ("note", "text"))
LSN = (("lsn", "uint8"),)


@dataclass
class Corpus:
    """Rows in the making; `make` gives an item and `store` writes what is left."""

    region: Region
    owner: Role
    schema: Schema
    items: dict[str, Item] = field(default_factory=dict)
    later: list[Any] = field(default_factory=list)

    @classmethod
    def empty(cls, region: str = REGION) -> Corpus:
        row = Region.objects.get(name=region)
        owner = Role.objects.filter(region=row).first()
        schema = Schema.objects.get(database__region=row, name="public")
        assert owner is not None
        return cls(row, owner, schema)

    def path(self, name: str) -> str:
        return qualified(("headrace", "public", name))

    def make(
        self,
        kind: str,
        name: str,
        sql: str,
        needs: Iterable[Item] = (),
        columns: Iterable[tuple[str, str]] = (),
        *,
        shard: bool = False,
    ) -> Item:
        number = self.region.next_item
        item = Item(
            region=self.region,
            gid=f"u{number}",
            oid=self.region.next_oid,
            kind=kind,
            schema=self.schema,
            name=name,
            owner=self.owner,
            create_sql=sql,
            shard=f"u{number}-5eed" if shard else "",
            created_at=timezone.now(),
        )
        self.region.next_item += 1
        self.region.next_oid += 1
        self.items[name] = item
        self.later += [Dependency(item=item, needs=needed) for needed in needs]
        self.later += [
            ItemColumn(
                item=item,
                position=position,
                name=column,
                type=type_,
                nullable=False,
                key_position=1 if column == "id" else None,
            )
            for position, (column, type_) in enumerate(columns, 1)
        ]
        return item

    def connection(self, name: str = "pg") -> Item:
        sql = " ".join(("CREATE CONNECTION", self.path(name), "TO POSTGRES (HOST = 'x')"))
        item = self.make("connection", name, sql)
        self.later.append(ConnectionDetails(item=item, type="postgres", options={"host": "x"}))
        return item

    def feed(self, kind: str) -> Feed:
        number = self.region.next_feed
        self.region.next_feed += 1
        feed = Feed.objects.create(
            region=self.region, gid=f"f{number}", kind=kind, identity=f"{kind}-{number}"
        )
        FeedProgress.objects.create(feed=feed, status="running")
        return feed

    def source(self, name: str, rest: str, type_: str = "postgres", **more: Any) -> Item:
        """CREATE SOURCE name FROM rest; `more` are Corpus.make's and SourceDetails' fields."""
        details = {key: more.pop(key) for key in ("connection", "generator") if key in more}
        sql = " ".join(("CREATE SOURCE", self.path(name), "FROM", rest))
        needs = [details["connection"]] if "connection" in details else []
        item = self.make("source", name, sql, [*needs, *more.pop("needs", ())], **more)
        feed = self.feed(type_)
        self.later.append(SourceDetails(item=item, type=type_, feed=feed, **details))
        return item

    def progress(self, source: Item, columns: tuple[tuple[str, str], ...] = LSN) -> Item:
        """The subsource that shows a source's progress."""
        name = f"{source.name}_progress"
        told = ", ".join(" ".join(column) for column in columns)
        words = ("CREATE SUBSOURCE", self.path(name), f"({told})", "WITH (PROGRESS = true)")
        item = self.make("source", name, " ".join(words), columns=columns)
        self.later.append(Dependency(item=source, needs=item))
        return item

    def subsource(self, source: Item, name: str, options: str = "", upstream: str = "") -> Item:
        reference = qualified(("public", upstream or name))
        told = "(id integer NOT NULL, note text)"
        sql = " ".join(("CREATE SUBSOURCE", self.path(name), told, "OF SOURCE"))
        with_ = f"WITH (EXTERNAL REFERENCE = {reference}{options})"
        sql = " ".join((sql, self.path(source.name), with_))
        item = self.make("source", name, sql, [source], DATA, shard=True)
        self._export(item, source, "public", upstream or name)
        return item

    def _export(self, item: Item, source: Item, namespace: str, reference: str) -> None:
        details = TableDetails(
            item=item, source=source, namespace=namespace, reference=reference, key=["id"]
        )
        progress = ExportProgress(
            item=item, status="running", readable_from=7, bytes_staged=1000, rows_known=10
        )
        self.later += [details, progress]

    def single(self, name: str, rest: str, type_: str, reference: tuple[str, str]) -> Item:
        """A source whose primary relation has the data."""
        item = self.source(name, rest, type_, columns=DATA, shard=True)
        self._export(item, item, *reference)
        return item

    def webhook(self, name: str) -> Item:
        rest = "WEBHOOK BODY FORMAT JSON INCLUDE HEADERS CHECK (WITH (BODY) length(body) > 0)"
        item = self.source(name, rest, "webhook", columns=(("body", "jsonb"),), shard=True)
        self._export(item, item, "", "webhook")
        return item

    def table(self, source: Item, name: str) -> Item:
        words = ("CREATE TABLE", self.path(name), "FROM SOURCE", self.path(source.name))
        sql = " ".join((*words, "(REFERENCE = counter.counter)"))
        item = self.make("table", name, sql, [source], DATA, shard=True)
        self._export(item, source, "counter", "counter")
        return item

    def view(self, name: str, *of: Item, column: str = "id") -> Item:
        first = qualified((of[0].name,))
        words = ["CREATE VIEW", self.path(name), "AS SELECT", f"{first}.{column}", "FROM"]
        words.append(" CROSS JOIN ".join(self.path(item.name) for item in of))
        return self.make("view", name, " ".join(words), of, ((column, "integer"),))

    def maintained(self, name: str, of: Item, target: Item | None = None) -> Item:
        """A materialized view, or with a target its replacement."""
        if target is None:
            words = ["CREATE MATERIALIZED VIEW", self.path(name)]
        else:
            words = ["CREATE REPLACEMENT", self.path(name), "FOR MATERIALIZED VIEW"]
            words.append(self.path(target.name))
        words += ["AS SELECT id FROM", self.path(of.name)]
        needs = [of] if target is None else [of, target]
        columns = (("id", "integer"),)
        sql = " ".join(words)
        item = self.make("materialized view", name, sql, needs, columns, shard=True)
        details = ViewDetails(item=item, target=target)
        version = ViewVersion(
            item=item,
            number=1,
            shard=item.shard,
            create_sql=sql,
            needs=[needed.gid for needed in needs],
            made_at=timezone.now(),
        )
        self.later += [details, version]
        return item

    def comment(self, item: Item, text: str, column: int = 0) -> None:
        self.later.append(Comment(item=item, column=column, text=text))

    def store(self) -> None:
        new = [item for item in self.items.values() if item.pk is None]
        Item.objects.bulk_create(new, batch_size=500)
        models: dict[type[Any], list[Any]] = {}
        for row in self.later:
            for name in ("item", "needs", "source", "connection", "target"):
                if getattr(row, f"{name}_id", 0) is None and getattr(row, name, None) is not None:
                    setattr(row, name, getattr(row, name))
            models.setdefault(type(row), []).append(row)
        for model, rows in models.items():
            model.objects.bulk_create(rows, batch_size=500)
        self.later = []
        self.region.stamp = uuid.uuid4()
        self.region.save()


def every_kind(corpus: Corpus) -> Corpus:
    """One of everything, with names that are taken and names that need quotes."""
    pg = corpus.connection()
    rest = f"POSTGRES CONNECTION {corpus.path('pg')} (PUBLICATION = 'p'"
    shop = corpus.source(
        "shop", f"{rest}, TEXT COLUMNS = (public.t.a)) FOR ALL TABLES", connection=pg
    )
    corpus.progress(shop)
    corpus.subsource(shop, "orders")
    corpus.subsource(shop, 'Odd "name"', ", TEXT COLUMNS = (note)", "Upstream Name")
    corpus.subsource(shop, "cut", ", EXCLUDE COLUMNS = (a, b)")
    chosen = corpus.source(
        "chosen",
        f"{rest}) FOR TABLES (public.a AS x, public.b) EXPOSE PROGRESS AS "
        + corpus.path("chosen_progress"),
        connection=pg,
    )
    corpus.progress(chosen)
    corpus.subsource(chosen, "x", upstream="a")
    counter = corpus.single(
        "counter",
        "LOAD GENERATOR COUNTER (TICK INTERVAL = '1s')",
        "load-generator",
        ("counter", "counter"),
    )
    corpus.progress(counter, (("offset", "uint8"),))
    corpus.table(counter, "counter_table")
    corpus.single(
        "Key Value",
        "LOAD GENERATOR KEY VALUE (KEYS = 4, SEED = 1)",
        "load-generator",
        ("key_value", "key_value"),
    )
    corpus.single(
        "events",
        "KAFKA CONNECTION headrace.public.pg (TOPIC = 'events') KEY FORMAT TEXT VALUE FORMAT JSON"
        " INCLUDE KEY AS k, TIMESTAMP ENVELOPE UPSERT WITH (RETAIN HISTORY = FOR '1h')",
        "kafka",
        ("", "events"),
    )
    corpus.make("view", "events_source", "CREATE VIEW headrace.public.events_source AS SELECT 1")
    corpus.make(
        "view", "events_source_1", "CREATE VIEW headrace.public.events_source_1 AS SELECT 1"
    )
    mysql = corpus.source(
        "my",
        "MYSQL CONNECTION headrace.public.pg (EXCLUDE COLUMNS = (d.t.c)) FOR SCHEMAS (d)",
        "mysql",
        connection=pg,
    )
    corpus.subsource(mysql, "my_t")
    tpch = corpus.source(
        "tpch",
        "LOAD GENERATOR TPCH (SCALE FACTOR = 0.01) FOR ALL TABLES",
        "load-generator",
        generator="tpch",
    )
    corpus.subsource(tpch, "lineitem")
    corpus.webhook("hooks")
    corpus.source("fresh", f"{rest})", connection=pg)
    dependents(corpus)
    corpus.store()
    return corpus


def dependents(corpus: Corpus) -> None:
    """Views, a materialized view, a replacement, and comments on what they read."""
    items = corpus.items
    names = ("orders", 'Odd "name"', "counter", "Key Value", "events", "counter_table", "hooks")
    for name in names:
        corpus.view(f"v_{name}", items[name])
    both = corpus.view("v_both", items["counter"], items["events"])
    corpus.view("v_over", both)
    corpus.view("v_progress", items["counter_progress"], column="offset")
    kept = corpus.maintained("mv", items["counter"])
    corpus.maintained("rp", items["events"], kept)
    corpus.comment(items["counter"], "counts")
    corpus.comment(items["counter"], "the number", 1)
    corpus.comment(items["orders"], "what was ordered")
    corpus.comment(items["shop"], "the shop")


def large(corpus: Corpus, items: int) -> Corpus:
    """A catalog of about so many items: sources with subsources, single ones, and views."""
    pg = corpus.connection()
    left = items
    number = 0
    while left > 0:
        rest = (
            f"POSTGRES CONNECTION {corpus.path('pg')} (PUBLICATION = 'p{number}') FOR ALL TABLES"
        )
        source = corpus.source(f"s{number}", rest, connection=pg)
        corpus.progress(source)
        for table in range(90):
            sub = corpus.subsource(source, f"s{number}_t{table}")
            if table % 3 == 0:
                corpus.view(f"s{number}_v{table}", sub)
        for one in range(10):
            single = corpus.single(
                f"c{number}_{one}",
                "LOAD GENERATOR COUNTER",
                "load-generator",
                ("counter", "counter"),
            )
            corpus.view(f"c{number}_v{one}", single)
        left -= 142
        number += 1
    corpus.store()
    return corpus
