"""SUBSCRIBE to plain tables, whose changes the test makes itself."""

from __future__ import annotations

from collections import Counter

import pytest

from catalog.errors import StatementError
from catalog.results import Stream
from catalog.subscribing import follower
from catalog.subscribing.subscription import Subscription
from ingest.errors import HeadraceError
from tests.catalog.subscribing.conftest import Place, Reader

pytestmark = pytest.mark.spark

ITEMS = "CREATE TABLE items (id int PRIMARY KEY, name text, tags text[])"


def test_snapshot_then_changes_are_the_table_at_every_progress(place: Place) -> None:
    place.run(ITEMS)
    place.run("INSERT INTO items VALUES (1, 'a', '{x}'), (2, 'b', NULL)")
    reader = place.subscribe("SUBSCRIBE items WITH (PROGRESS)")
    names = ("mz_timestamp", "mz_progressed", "mz_diff", "id", "name", "tags")
    assert reader.stream.relation.names == names
    reader.until(4)
    assert [row[1] for row in reader.rows] == ["t", "f", "f", "t"]
    start = int(reader.rows[0][0] or 0)
    assert int(reader.rows[3][0] or 0) == start + 1
    times = [place.now("items")]
    for change in (
        "INSERT INTO items VALUES (3, 'c', '{y,z}')",
        "UPDATE items SET name = 'bb' WHERE id = 2",
        "DELETE FROM items WHERE id = 1",
    ):
        place.run(change)
        times.append(place.now("items"))
    reader.until_progress(times[-1])
    for time in times:
        assert reader.state(time + 1) == place.rows(f"SELECT * FROM items AS OF {time}"), time
    changes = Counter(row[2:] for row in reader.rows[4:] if row[1] == "f")
    assert changes == Counter(
        {
            ("1", "3", "c", "{y,z}"): 1,
            ("-1", "2", "b", None): 1,
            ("1", "2", "bb", None): 1,
            ("-1", "1", "a", "{x}"): 1,
        }
    )
    told = [int(row[0] or 0) for row in reader.rows]
    assert told == sorted(told)


def test_resuming_has_no_gap_and_no_repeat(place: Place) -> None:
    place.run("CREATE TABLE n (a int)")
    first = place.subscribe("SUBSCRIBE n WITH (PROGRESS)")
    for number in range(3):
        place.run(f"INSERT INTO n VALUES ({number})")
    cut = first.until_progress(place.now("n")) - 1
    first.close()
    for number in range(3, 6):
        place.run(f"INSERT INTO n VALUES ({number})")
    end = place.now("n")
    again = place.subscribe(f"SUBSCRIBE n WITH (PROGRESS, SNAPSHOT = false) AS OF {cut}")
    again.until_progress(end)
    seen = [row[3] for reader in (first, again) for row in reader.rows if row[1] == "f"]
    assert Counter(seen) == Counter(["0", "1", "2", "3", "4", "5"])


def test_an_end_is_exact_and_a_beginning_too(place: Place) -> None:
    place.run("CREATE TABLE n (a int)")
    times = []
    for number in range(4):
        place.run(f"INSERT INTO n VALUES ({number})")
        times.append(place.now("n"))
    made = [_time_of(place, number) for number in range(4)]
    reader = place.subscribe(f"SUBSCRIBE n AS OF {times[1]} UP TO {made[3]}")
    rows = reader.to_the_end()
    assert [*sorted(rows[:2], key=str), *rows[2:]] == [
        (str(times[1]), "1", "0"),
        (str(times[1]), "1", "1"),
        (str(made[2]), "1", "2"),
    ]
    one_more = place.subscribe(f"SUBSCRIBE n AS OF {times[1]} UP TO {made[3] + 1}")
    assert [row[2] for row in one_more.to_the_end()][2:] == ["2", "3"]
    at_least = place.subscribe(f"SUBSCRIBE n AS OF AT LEAST {times[0]}")
    assert at_least.until(1)[0][0] == str(times[0])
    oldest = place.subscribe("SUBSCRIBE n WITH (SNAPSHOT = false) AS OF AT LEAST 5")
    assert [row[2] for row in oldest.until(4)] == ["0", "1", "2", "3"]
    with pytest.raises(StatementError, match="lower bound"):
        place.subscribe(f"SUBSCRIBE n AS OF {times[2]} UP TO {times[1]}")
    (empty,) = place.session.stream(f"SUBSCRIBE n AS OF {times[2]} UP TO {times[2]}")
    assert "guaranteed to be empty" in empty.notices[0].message
    assert isinstance(empty, Stream)
    assert Reader(empty).to_the_end() == []
    with pytest.raises(HeadraceError, match=r"is not valid for all inputs|history begins"):
        place.subscribe("SUBSCRIBE n AS OF 5").until(1)


def _time_of(place: Place, number: int) -> int:
    reader = place.subscribe("SUBSCRIBE n WITH (SNAPSHOT = false) AS OF 0")
    return int(reader.until(4)[number][0] or 0)


def test_readers_share_one_computation(place: Place) -> None:
    place.run("CREATE TABLE n (a int)")
    readers = [place.subscribe("SUBSCRIBE n WITH (PROGRESS)") for _ in range(5)]
    for number in range(3):
        place.run(f"INSERT INTO n VALUES ({number})")
        end = place.now("n")
        late = place.subscribe("SUBSCRIBE n WITH (PROGRESS)")
        readers.append(late)
        for reader in readers:
            reader.until_progress(end)
    want = place.rows("SELECT a FROM n")
    for reader in readers:
        assert reader.state(reader.progress) == want, reader.rows
    (following,) = follower.followers()
    assert following.readers == 8
    assert following.computed == 3


def test_envelopes_and_order(place: Place) -> None:
    place.run("CREATE TABLE kv (k int, v text)")
    upsert = place.subscribe("SUBSCRIBE kv ENVELOPE UPSERT (KEY (k))")
    debezium = place.subscribe("SUBSCRIBE kv ENVELOPE DEBEZIUM (KEY (k)) WITH (PROGRESS)")
    ordered = place.subscribe("SUBSCRIBE kv WITHIN TIMESTAMP ORDER BY v DESC, mz_diff")
    place.run("INSERT INTO kv VALUES (1, 'a'), (2, 'b')")
    place.run("UPDATE kv SET v = 'c' WHERE k = 1")
    place.run("DELETE FROM kv WHERE k = 2")
    place.run("INSERT INTO kv VALUES (1, 'again')")
    place.run("INSERT INTO kv VALUES (3, 'x'), (3, 'y')")
    assert upsert.stream.relation.names == ("mz_timestamp", "mz_state", "k", "v")
    assert [row[1:] for row in upsert.until(6)] == [
        ("upsert", "1", "a"),
        ("upsert", "2", "b"),
        ("upsert", "1", "c"),
        ("delete", "2", None),
        ("upsert", "1", "again"),
        ("key_violation", "3", None),
    ]
    names = ("mz_timestamp", "mz_progressed", "mz_state", "k", "before_v", "after_v")
    assert debezium.stream.relation.names == names
    debezium.until_progress(place.now("kv"))
    assert [row[2:] for row in debezium.rows if row[1] == "f"] == [
        ("insert", "1", None, "a"),
        ("insert", "2", None, "b"),
        ("upsert", "1", "a", "c"),
        ("delete", "2", "b", None),
        ("insert", "1", None, "again"),
        ("key_violation", "3", None, None),
    ]
    assert [row[3] for row in ordered.until(8)] == ["b", "a", "c", "a", "b", "again", "y", "x"]


def test_dropping_the_table_ends_it(place: Place) -> None:
    place.run("CREATE TABLE n (a int); CREATE TABLE kept (a int)")
    reader = place.subscribe("SUBSCRIBE n")
    place.run("ALTER TABLE n RENAME TO m; INSERT INTO m VALUES (1)")
    assert reader.until(1)[0][2] == "1"
    place.run("DROP TABLE m")
    with pytest.raises(HeadraceError, match=r'relation "headrace"\."public"\."n" was dropped'):
        reader.to_the_end()


def test_a_slow_reader_reads_for_itself(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog.subscribing.window.MOST_ROWS", 1)
    place.run("CREATE TABLE n (a int)")
    slow = place.subscribe("SUBSCRIBE n WITH (PROGRESS)")
    slow.until(2)
    quick = place.subscribe("SUBSCRIBE n WITH (PROGRESS)")
    for number in range(4):
        place.run(f"INSERT INTO n VALUES ({number})")
        quick.until_progress(place.now("n"))
    assert slow.stream.flow.reads
    slow.until_progress(place.now("n"))
    assert (
        slow.state(slow.progress) == quick.state(quick.progress) == place.rows("SELECT * FROM n")
    )
    assert _own_reads(slow) > 0
    assert _own_reads(quick) == 0


def _own_reads(reader: Reader) -> int:
    flow = reader.stream.flow
    assert isinstance(flow, Subscription)
    return flow.counts.own_reads


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SUBSCRIBE nothing", "unknown catalog item 'nothing'"),
        ("SUBSCRIBE n ENVELOPE UPSERT (KEY (b))", 'column "b" does not exist'),
        ("SUBSCRIBE n WITHIN TIMESTAMP ORDER BY c", 'column "c" does not exist'),
        ("SUBSCRIBE (SELECT a, a FROM n) ENVELOPE UPSERT (KEY (a))", "ambiguous"),
        ("SUBSCRIBE (SELECT z FROM n)", 'column "z" does not exist'),
    ],
)
def test_what_cannot_be_followed(place: Place, sql: str, message: str) -> None:
    place.run("CREATE TABLE n (a int)")
    with pytest.raises(StatementError, match=message) as caught:
        place.subscribe(sql)
    assert caught.value.position is not None
    with pytest.raises(StatementError, match="unsupported via this API: SUBSCRIBE n"):
        place.run("SUBSCRIBE n")
