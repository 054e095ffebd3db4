"""Built-ins between releases: what gets a new id, and in which order it goes and comes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from catalog.migrate.builtins import (
    BuiltinPlan,
    Declared,
    Remembered,
    index_names,
    plan_builtins,
    steps_of,
)

A, B = ("a", "text"), ("b", "bigint")


def _remembered(*declared: Declared) -> tuple[Remembered, ...]:
    return plan_builtins((), declared, 1, 100).creates


def _names(ones: tuple[Remembered, ...]) -> list[str]:
    return [one.name for one in ones]


BASE = Declared("c.base", (A,))
OVER = Declared("c.over", (A,), ("c.base",))
TOP = Declared("c.top", (A,), ("c.over",))
ASIDE = Declared("c.aside", (A,))
OLD = _remembered(BASE, OVER, TOP, ASIDE)


def _to(*declared: Declared) -> BuiltinPlan:
    return plan_builtins(OLD, declared, 5, 104)


def test_nothing_changed() -> None:
    plan = _to(TOP, ASIDE, OVER, BASE)
    assert not plan.changes
    assert {one.name: one.id for one in plan.kept} == {one.name: one.id for one in OLD}


def test_a_changed_one_and_what_reads_it_get_new_ids() -> None:
    for columns in ((A, B), (("a", "bigint"),), (("z", "text"),), ()):
        plan = _to(Declared("c.base", columns), OVER, TOP, ASIDE)
        assert _names(plan.drops) == ["c.top", "c.over", "c.base"]
        assert _names(plan.creates) == ["c.base", "c.over", "c.top"]
        assert [one.id for one in plan.creates] == ["s5", "s6", "s7"]
        assert _names(plan.kept) == ["c.aside"]
        assert plan.reasons["c.over"] == "reads c.base"


def test_reasons_in_words() -> None:
    plan = _to(Declared("c.base", (A, B)), OVER, TOP, Declared("c.aside", (("a", "oid"),)))
    assert plan.reasons["c.base"] == "column b added"
    assert plan.reasons["c.aside"] == "column a is oid, was text"


def test_renamed_is_one_that_goes_and_one_that_comes() -> None:
    plan = _to(BASE, OVER, TOP, Declared("c.beside", (A,)))
    assert (_names(plan.drops), _names(plan.creates)) == (["c.aside"], ["c.beside"])
    assert [step.action for step in steps_of(plan)] == ["drop", "create"]


def test_dependencies_turned_round() -> None:
    plan = _to(Declared("c.base", (A, B), ("c.over",)), Declared("c.over", (A,)), TOP, ASIDE)
    assert _names(plan.drops) == ["c.top", "c.over", "c.base"]
    order = _names(plan.creates)
    assert order.index("c.over") < order.index("c.base")
    assert order.index("c.over") < order.index("c.top")


def test_only_needs_changed_is_no_migration() -> None:
    plan = _to(BASE, Declared("c.over", (A,), ("c.aside",)), TOP, ASIDE)
    assert not plan.changes
    assert {one.name: one.needs for one in plan.kept}["c.over"] == ("c.aside",)


@given(st.data())
def test_any_two_releases(data: st.DataObject) -> None:
    """Dependents go before what they needed and come after what they need; ids are unique."""
    old, new = _remembered(*_release(data)), _release(data)
    plan = plan_builtins(old, new, len(old) + 1, 100 + len(old))
    for ones, before in ((plan.drops, False), (plan.creates, True)):
        place = {one.name: number for number, one in enumerate(ones)}
        for one in ones:
            for needed in one.needs:
                if needed in place:
                    assert (place[needed] < place[one.name]) is before
    ids = [one.id for one in (*plan.creates, *plan.kept)]
    assert len(ids) == len(set(ids)) == len(new)
    assert not {one.id for one in plan.creates} & {one.id for one in old}
    again = plan_builtins((*plan.creates, *plan.kept), new, 900, 900)
    assert not again.changes


def _release(data: st.DataObject) -> tuple[Declared, ...]:
    names = data.draw(st.permutations("abcdef"))[: data.draw(st.integers(1, 6))]
    found = []
    for number, name in enumerate(names):
        needs = data.draw(st.sets(st.sampled_from(names[:number]))) if number else set()
        columns = data.draw(st.sampled_from([(A,), (B,), (A, B)]))
        found.append(Declared(name, columns, tuple(sorted(needs))))
    return tuple(found)


def test_names_of_indexes() -> None:
    taken = ["l-c-primary-idx", "l-c-primary-idx1"]
    assert index_names(["l", "m"], ["c", "d"], taken) == {
        ("l", "c"): "l-c-primary-idx2",
        ("l", "d"): "l-d-primary-idx",
        ("m", "c"): "m-c-primary-idx",
        ("m", "d"): "m-d-primary-idx",
    }
    odd = index_names(["a-b", "a"], ["c", "b-c"], [])
    assert len(set(odd.values())) == 4
