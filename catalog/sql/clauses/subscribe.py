"""SUBSCRIBE."""

from __future__ import annotations

from catalog.sql.clauses.rows import expression_text, query_text
from catalog.sql.clauses.style import Style, name_list, name_of, option_list, when, words
from catalog.sql.layout import Clause, Group
from catalog.sql.nodes.subscribe import Ordering, Subscribe


def subscribe(s: Subscribe, style: Style) -> list[Clause]:
    """Clauses of Subscribe."""
    as_of = s.as_of_text or (expression_text(s.as_of) if s.as_of else "")
    up_to = s.up_to_text or (expression_text(s.up_to) if s.up_to else "")
    return [
        words("SUBSCRIBE", f"({query_text(s.select, style)})" if s.select else name_of(s.name)),
        _output(s),
        option_list("WITH", s.options, style),
        words("AS OF", when(s.at_least, "AT LEAST"), as_of) if as_of else "",
        words("UP TO", up_to) if up_to else "",
    ]


def _output(s: Subscribe) -> Clause:
    if s.envelope != "none":
        key = name_list("KEY", (name.last for name in s.key))
        return Group(f"ENVELOPE {s.envelope.upper()}", (key,))
    if s.order:
        return words("WITHIN TIMESTAMP ORDER BY", ", ".join(map(_ordering, s.order)))
    return ""


def _ordering(one: Ordering) -> str:
    nulls = {None: "", True: "NULLS FIRST", False: "NULLS LAST"}[one.nulls_first]
    return words(name_of(one.column), when(one.descending, "DESC"), nulls)
