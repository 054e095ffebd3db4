"""The layout of lineage graphs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.fragments.graph import COLUMN, layout

NAMES = [f"n{number}" for number in range(12)]
EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda e: e[0] < e[1]))


def test_edges_go_right_and_around_nodes() -> None:
    found = layout(dict.fromkeys("abc", 40), [("a", "b"), ("b", "c"), ("a", "c")])
    assert found.nodes["a"].x < found.nodes["b"].x < found.nodes["c"].x
    around = next(route for route in found.routes if (route.tail, route.head) == ("a", "c"))
    assert len(around.points) == 4
    bend, middle = around.points[1][1], found.nodes["b"]
    assert not middle.y <= bend <= middle.y + middle.height


def test_nothing_to_draw() -> None:
    assert layout({}, []).routes == ()
    assert layout({"a": 30}, [("a", "a"), ("a", "gone")]).routes == ()


@given(EDGES)
def test_nodes_never_overlap(edges: list[tuple[int, int]]) -> None:
    found = layout(dict.fromkeys(NAMES, 50), [(NAMES[a], NAMES[b]) for a, b in edges])
    places = list(found.nodes.values())
    for number, one in enumerate(places):
        assert 0 <= one.x <= found.width - COLUMN
        assert 0 <= one.y <= found.height - one.height
        for other in places[number + 1 :]:
            apart = one.x != other.x or abs(one.y - other.y) >= 50
            assert apart
    for route in found.routes:
        xs = [x for x, _ in route.points]
        assert xs == sorted(xs)
        assert found.nodes[route.tail].x < found.nodes[route.head].x
