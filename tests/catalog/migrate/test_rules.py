"""The seed's rules, item by item."""

from __future__ import annotations

import dataclasses

import pytest

from catalog import snapshot
from catalog.migrate.plan import Measured, Plan, Step
from catalog.migrate.tables import plan_tables
from catalog.names import dotted
from tests.catalog.migrate.corpus import REGION, Corpus


def _steps(plan: Plan, corpus: Corpus, name: str) -> list[Step]:
    gid = corpus.items[name].gid
    return [step for step in plan.steps if gid in (step.item, step.extra.get("from"))]


def test_nothing_blocks(plan: Plan) -> None:
    assert plan.blockers == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "orders",
            "CREATE TABLE headrace.public.orders FROM SOURCE headrace.public.shop"
            " (REFERENCE = public.orders)",
        ),
        (
            'Odd "name"',
            'CREATE TABLE headrace.public."Odd ""name""" FROM SOURCE headrace.public.shop'
            ' (REFERENCE = public."Upstream Name") WITH (TEXT COLUMNS = (note))',
        ),
        (
            "cut",
            "CREATE TABLE headrace.public.cut FROM SOURCE headrace.public.shop"
            " (REFERENCE = public.cut) WITH (EXCLUDE COLUMNS = (a, b))",
        ),
        (
            "x",
            "CREATE TABLE headrace.public.x FROM SOURCE headrace.public.chosen"
            " (REFERENCE = public.a)",
        ),
        (
            "lineitem",
            "CREATE TABLE headrace.public.lineitem FROM SOURCE headrace.public.tpch"
            " (REFERENCE = public.lineitem)",
        ),
    ],
)
def test_a_subsource_is_a_table_of_the_same_name_id_and_options(
    plan: Plan, corpus: Corpus, name: str, text: str
) -> None:
    (step,) = _steps(plan, corpus, name)
    assert (step.action, step.new_kind, step.after) == ("to table", "table", text)
    assert step.new_item == ""
    assert step.new_path == step.path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "shop",
            "CREATE SOURCE headrace.public.shop FROM POSTGRES CONNECTION headrace.public.pg"
            " (PUBLICATION = 'p')",
        ),
        (
            "chosen",
            "CREATE SOURCE headrace.public.chosen FROM POSTGRES CONNECTION headrace.public.pg"
            " (PUBLICATION = 'p')",
        ),
        ("my", "CREATE SOURCE headrace.public.my FROM MYSQL CONNECTION headrace.public.pg"),
        (
            "tpch",
            "CREATE SOURCE headrace.public.tpch FROM LOAD GENERATOR TPCH (SCALE FACTOR = 0.01)",
        ),
    ],
)
def test_a_source_of_many_keeps_name_and_id_and_loses_its_tables(
    plan: Plan, corpus: Corpus, name: str, text: str
) -> None:
    (step,) = _steps(plan, corpus, name)
    assert (step.action, step.new_kind, step.after) == ("strip", "source", text)
    assert step.new_path == step.path


@pytest.mark.parametrize(
    ("name", "source", "source_text", "table_text"),
    [
        (
            "counter",
            "counter_source",
            "CREATE SOURCE headrace.public.counter_source FROM LOAD GENERATOR COUNTER"
            " (TICK INTERVAL = '1s')",
            "CREATE TABLE headrace.public.counter FROM SOURCE headrace.public.counter_source"
            " (REFERENCE = counter.counter)",
        ),
        (
            "Key Value",
            "Key Value_source",
            'CREATE SOURCE headrace.public."Key Value_source" FROM LOAD GENERATOR KEY VALUE'
            " (KEYS = 4, SEED = 1)",
            'CREATE TABLE headrace.public."Key Value" FROM SOURCE'
            ' headrace.public."Key Value_source" (REFERENCE = key_value.key_value)',
        ),
        (
            "events",
            "events_source_2",
            "CREATE SOURCE headrace.public.events_source_2 FROM KAFKA CONNECTION"
            " headrace.public.pg (TOPIC = 'events') WITH (RETAIN HISTORY = FOR '1h')",
            "CREATE TABLE headrace.public.events FROM SOURCE headrace.public.events_source_2"
            " (REFERENCE = events) KEY FORMAT TEXT VALUE FORMAT JSON INCLUDE KEY AS k, TIMESTAMP"
            " ENVELOPE UPSERT",
        ),
    ],
)
def test_a_source_with_data_gives_its_name_to_a_table_and_keeps_its_id(
    plan: Plan, corpus: Corpus, name: str, source: str, source_text: str, table_text: str
) -> None:
    split, table = _steps(plan, corpus, name)
    assert (split.action, split.new_path[2], split.after) == ("split", source, source_text)
    assert (table.action, table.new_path, table.after) == ("new table", split.path, table_text)
    assert table.needs == (corpus.items[name].gid,)
    assert plan.ids[corpus.items[name].gid] == table.new_item
    taken = {item.gid for item in corpus.items.values()}
    assert table.new_item not in taken


def test_a_webhook_is_a_table_as_it_is(plan: Plan, corpus: Corpus) -> None:
    (step,) = _steps(plan, corpus, "hooks")
    assert (step.action, step.new_kind) == ("to table", "table")
    assert step.after == step.before.replace("CREATE SOURCE", "CREATE TABLE")


def test_readers_of_the_data_follow_it_and_tables_of_the_source_follow_its_name(
    plan: Plan, corpus: Corpus
) -> None:
    counter, events = corpus.items["counter"].gid, corpus.items["events"].gid
    (view,) = _steps(plan, corpus, "v_both")
    assert view.action == "repoint"
    assert view.before == view.after
    assert set(view.needs or ()) == {plan.ids[counter], plan.ids[events]}
    (replacement,) = _steps(plan, corpus, "rp")
    assert set(replacement.needs or ()) == {plan.ids[events], corpus.items["mv"].gid}
    (table,) = _steps(plan, corpus, "counter_table")
    assert table.needs is None
    assert "FROM SOURCE headrace.public.counter_source " in table.after
    assert not _steps(plan, corpus, "v_over")


def test_progress_stays_readable_under_its_name(plan: Plan, corpus: Corpus) -> None:
    (step,) = _steps(plan, corpus, "counter_progress")
    assert (step.new_kind, step.new_path) == ("view", step.path)
    assert step.after.endswith('AS SELECT "offset" FROM headrace.public.counter_source')
    (shop,) = _steps(plan, corpus, "shop_progress")
    assert shop.after.endswith("AS SELECT lsn FROM headrace.public.shop")
    (source,) = _steps(plan, corpus, "shop")
    assert source.needs == (corpus.items["pg"].gid,)


def test_what_is_new_already_is_left_alone(plan: Plan, corpus: Corpus) -> None:
    for name in ("fresh", "pg", "v_orders", "events_source"):
        assert not _steps(plan, corpus, name)


def test_the_plan_says_what_it_touches(plan: Plan, corpus: Corpus) -> None:
    assert len(plan.feeds) == 8
    known = {item.gid: Measured(bytes=1000) for item in corpus.items.values()}
    measured = plan_tables(snapshot.load(REGION)[1], known)
    assert measured.bytes == 1000 * 10
    assert measured.seconds > 0
    names = {corpus.items[name].gid for name in ("v_both", "v_over", "mv", "rp", "v_orders")}
    assert names <= set(plan.dependents)
    for text in (plan.dbt, plan.terraform):
        assert "counter_source" in text
    assert f'id = "{REGION}:{corpus.items["orders"].gid}"' in plan.terraform
    assert 'materialized="source_table"' in plan.dbt


def test_one_that_copies_still_waits(corpus: Corpus) -> None:
    gid = corpus.items["counter"].gid
    picture = snapshot.load(REGION)[1]
    plan = plan_tables(picture, {gid: Measured(readable=False)})
    (blocker,) = plan.blockers
    assert blocker.item == gid
    assert "Wait" in blocker.remedy
    assert gid not in plan.ids


def test_a_name_that_leaves_no_room_is_a_blocker(corpus: Corpus) -> None:
    picture = snapshot.load(REGION)[1]
    entry = picture.entries[corpus.items["counter"].gid]
    long = dataclasses.replace(entry, path=("headrace", "public", "c" * 250))
    plan = plan_tables(picture.with_entries({entry.id: long}))
    assert [blocker.name for blocker in plan.blockers] == [dotted(long.path)]


def test_what_cannot_be_read_is_a_blocker(corpus: Corpus) -> None:
    picture = snapshot.load(REGION)[1]
    entry = picture.entries[corpus.items["tpch"].gid]
    broken = dataclasses.replace(entry, create_sql="CREATE SOURCE a.b.c NONSENSE")
    plan = plan_tables(picture.with_entries({entry.id: broken}))
    assert [blocker.item for blocker in plan.blockers] == [entry.id]


def test_planning_twice_gives_the_same(plan: Plan) -> None:
    assert plan_tables(snapshot.load(REGION)[1]) == plan


def test_new_ids_do_not_change_what_a_plan_does(corpus: Corpus, plan: Plan) -> None:
    picture = snapshot.load(REGION)[1]
    counters = dataclasses.replace(picture.counters, item=picture.counters.item + 5)
    other = plan_tables(dataclasses.replace(picture, counters=counters))
    assert other.ids != plan.ids
    assert other.digest == plan.digest
