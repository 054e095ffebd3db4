"""What a page is sent: everything first, then only what changed."""

from __future__ import annotations

from console.fragments.model import Fragment, Group, difference


def _row(name: str, count: int) -> Fragment:
    return Fragment(f"row-{name}", "parts/status.html", {"word": f"{name} {count}"})


def test_the_first_message_carries_everything() -> None:
    change = difference(None, {"rows": Group("rows", (_row("a", 1),)), "status": _row("s", 1)})
    assert set(change.outer) == {"row-s"}
    assert "a 1" in change.inner["rows"]


def test_only_changed_rows_follow() -> None:
    before = {"rows": Group("rows", (_row("a", 1), _row("b", 1)))}
    after = {"rows": Group("rows", (_row("a", 1), _row("b", 2)))}
    change = difference(before, after)
    assert set(change.outer) == {"row-b"}
    assert not change.inner
    assert not difference(after, after)


def test_a_new_order_redraws_the_list() -> None:
    before = {"rows": Group("rows", (_row("a", 1),))}
    after = {"rows": Group("rows", (_row("b", 1), _row("a", 1)))}
    assert set(difference(before, after).inner) == {"rows"}


def test_an_emptied_list_says_so() -> None:
    nothing = Fragment("none", "parts/status.html", {"word": "nothing here"})
    before = {"rows": Group("rows", (_row("a", 1),), nothing)}
    after = {"rows": Group("rows", (), nothing)}
    assert "nothing here" in difference(before, after).inner["rows"]
