from __future__ import annotations

from catalog.sql.nodes.names import Name
from catalog.sql.nodes.show import ShowObjects
from catalog.system.run import Session, run
from catalog.system.show import show_query
from tests.catalog.system.conftest import REGION, Maker


def shown(node: ShowObjects) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    answer = run(show_query(node, "headrace", "public"), REGION, Session())
    columns = [column.to_pylist() for column in answer.data.columns]
    return answer.relation.names, list(zip(*columns, strict=True))


def test_tables(seeded: Maker) -> None:
    assert shown(ShowObjects("table")) == (
        ("name", "comment"),
        [("bids", ""), ("notes", "")],
    )
    assert shown(ShowObjects("table", like="b%"))[1] == [("bids", "")]
    assert shown(ShowObjects("table", on_source=Name(("shop",))))[1] == [("bids", "")]
    assert shown(ShowObjects("table", in_schema=Name(("nowhere",))))[1] == []


def test_others(seeded: Maker) -> None:
    assert shown(ShowObjects("source")) == (
        ("name", "type", "cluster", "comment"),
        [("shop", "postgres", "quickstart", "")],
    )
    assert shown(ShowObjects("connection"))[1] == [("pg", "postgres", "")]
    assert shown(ShowObjects("secret"))[1] == [("pw", "")]
    assert shown(ShowObjects("view"))[1] == [("big", "")]
    assert shown(ShowObjects("database")) == (("name", "comment"), [("headrace", "")])
    assert ("public", "") in shown(ShowObjects("schema"))[1]
    assert len(shown(ShowObjects("object"))[1]) == 6


def test_columns(seeded: Maker) -> None:
    assert shown(ShowObjects("column", of=Name(("bids",)))) == (
        ("name", "nullable", "type", "comment"),
        [
            ("id", False, "integer", ""),
            ("amount", True, "numeric(10,2)", ""),
            ("tags", True, "text[]", ""),
        ],
    )
